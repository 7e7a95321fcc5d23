package groups

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/offsets"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *groups) Commands() []page.Command {
	return append([]page.Command{
		{Key: page.Bind("enter l right", "open"), Off: p.whyNone, Run: p.to(page.Group)},
		{Key: page.Bind("R", "reset offsets"), Off: p.whyNoReset, Run: p.to(page.Reset)},
		{Key: page.Bind("s", "sort"), Run: p.nextSort},
		{Key: page.Bind("J", "journal of resets"), Off: p.whyNoJournal, Run: p.journal},
		{Key: page.Bind("D", "delete"), Off: p.whyNoReset, Run: p.askDelete},
		{Key: page.Bind("N", "offsets of a new group"), Off: p.whyNoNew, Run: p.askNew, Quiet: true},
		{Key: page.Bind("S", "turn the order"), Run: func() tea.Cmd { return p.sortBy(p.sorted) }, Quiet: true},
		{Key: page.Bind("y", "copy the name"), Off: p.whyNone, Run: p.copy, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Run: p.reload, Quiet: true},
	}, page.ListCommands(&p.table.VList, nil)...)
}

func (p *groups) whyNone() string {
	if _, ok := p.at(); !ok {
		return "there is no group here"
	}
	return ""
}

func (p *groups) whyNoJournal() string { return offsets.WhyNoJournal(p.Src) }
func (p *groups) whyNoNew() string     { return offsets.WhyNoReset(p.Src, nil) }

func (p *groups) whyNoReset() string {
	g, ok := p.at()
	if !ok {
		return p.whyNone()
	}
	return offsets.WhyNoReset(p.Src, &g.Group)
}

// to opens a screen about the group under the cursor.
func (p *groups) to(k page.Kind) func() tea.Cmd {
	return func() tea.Cmd {
		g, ok := p.at()
		if !ok {
			return nil
		}
		a := model.TopicAddress("")
		a.Group = g.ID
		if k == page.Reset {
			a.Topic = p.topic
		}
		return page.Goto(k, a)
	}
}

func (p *groups) journal() tea.Cmd { return page.Goto(page.Journal, model.TopicAddress("")) }

func (p *groups) copy() tea.Cmd {
	g, ok := p.at()
	if !ok {
		return nil
	}
	return page.Send(page.Copy{Text: g.ID, What: "name of group " + kit.Safe(g.ID, 100)})
}

// askNew asks for the name of a group that shall begin somewhere.
func (p *groups) askNew() tea.Cmd {
	return page.Send(page.Ask{ID: askNew, Prompt: "group", Hint: "the name of a group that shall begin at an offset, a time, the end; then choose topics and place"})
}

func (p *groups) answered(a page.Answered) tea.Cmd {
	name := strings.TrimSpace(a.Text)
	if a.ID != askNew || !a.OK || name == "" {
		return nil
	}
	addr := model.TopicAddress(p.topic)
	addr.Group = name
	return page.Goto(page.Reset, addr)
}

// askDelete asks whether the group under the cursor shall go.
func (p *groups) askDelete() tea.Cmd {
	g, ok := p.at()
	if !ok {
		return nil
	}
	committed := 0
	for i := range g.Offsets {
		if g.Offsets[i].Committed >= 0 {
			committed++
		}
	}
	return page.Send(page.Confirm{
		ID: askDelete + g.ID, Title: "delete group " + kit.Safe(g.ID, 200) + "?", Typed: g.ID,
		Body: []string{
			kit.Plural(committed, "committed offset") + " will be gone: a consumer of this name begins anew, where its auto.offset.reset says",
			"the journal keeps them, so that they can be brought back",
		},
	})
}

func (p *groups) confirmed(c page.Confirmed) tea.Cmd {
	id, mine := strings.CutPrefix(c.ID, askDelete)
	r, ok := p.Src.(model.Resetter)
	if !mine || !c.OK || !ok {
		return nil
	}
	return p.drop.Start(p.Ctx, func(ctx context.Context) (string, error) { return id, r.DeleteGroup(ctx, id) })
}
