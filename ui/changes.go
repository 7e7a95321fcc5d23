package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
)

// changeEvery is how long changes are gathered by the source after one was taken; the first comes at once.
const changeEvery = 50 * time.Millisecond

// nextChange waits for the next merged change of the source.
func (r *root) nextChange(after time.Duration) tea.Cmd {
	return func() tea.Msg {
		t := time.NewTimer(after)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.ctx.Done():
			return nil
		}
		select {
		case c, open := <-r.src.Changes():
			return changeMsg{c, open}
		case <-r.ctx.Done():
			return nil
		}
	}
}

// changed hands a change to the page on top and keeps it for the covered ones.
func (r *root) changed(m changeMsg) tea.Cmd {
	if !m.open {
		r.say(page.Bad, "the source is closed: what is shown is as it was")
		return nil
	}
	cmds := []tea.Cmd{r.nextChange(changeEvery)}
	if m.change.Info || m.change.Topics || m.change.All {
		cmds = append(cmds, r.askInfo())
	}
	top := r.top()
	for l := range r.layers() {
		if l != top {
			l.missed = merge(l.missed, m.change)
		}
	}
	cmds = append(cmds, r.toLayer(top.id, m.change))
	return tea.Batch(cmds...)
}

// merge adds a change to what was missed before.
func merge(was *model.Change, c model.Change) *model.Change {
	if was == nil {
		return &c
	}
	out := *was
	out.Version = max(was.Version, c.Version)
	out.Topics, out.Groups = was.Topics || c.Topics, was.Groups || c.Groups
	out.Transactions, out.Clients = was.Transactions || c.Transactions, was.Clients || c.Clients
	out.Info, out.All = was.Info || c.Info, was.All || c.All
	if out.Partitions = nil; out.All {
		return &out
	}
	seen := make(map[model.TopicPartition]bool, len(was.Partitions)+len(c.Partitions))
	for _, list := range [][]model.TopicPartition{was.Partitions, c.Partitions} {
		for _, tp := range list {
			if !seen[tp] {
				seen[tp] = true
				out.Partitions = append(out.Partitions, tp)
			}
		}
	}
	if len(out.Partitions) > 1000 {
		out.Partitions, out.All = nil, true
	}
	return &out
}
