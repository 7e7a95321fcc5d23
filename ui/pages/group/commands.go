package group

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/offsets"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *group) Commands() []page.Command {
	var moving kit.Mover = &p.table.VList
	if p.upper {
		moving = &p.members.VList
	}
	return append([]page.Command{
		{Key: page.Bind("enter l right", "records"), Off: p.whyNoRecords, Run: p.records},
		{Key: page.Bind("R", "reset offsets"), Off: p.whyNoReset, Run: p.to(page.Reset)},
		{Key: page.Bind("u", "undo"), Off: p.whyNoUndo, Run: p.undo},
		{Key: page.Bind("J", "journal"), Off: p.whyNoJournal, Run: p.to(page.Journal)},
		{Key: page.Bind("o", "partition"), Off: p.whyNone, Run: p.partition},
		{Key: page.Bind("D", "delete group"), Off: p.whyNoReset, Run: p.ask},
		{Key: page.Bind("T", "reset this topic only"), Off: p.whyNoTopicReset, Run: p.resetTopic, Quiet: true},
		{Key: page.Bind("t", "tail this topic"), Off: p.whyNoTail, Run: p.tail, Quiet: true},
		{Key: page.Bind("#", "count lags exactly"), Off: p.whyNoCount, Run: p.count, Quiet: true},
		{Key: page.Bind("tab", "members or offsets"), Off: p.whyNoMembers, Run: p.turn, Quiet: true},
		{Key: page.Bind("s", "sort"), Run: p.nextSort, Quiet: true},
		{Key: page.Bind("S", "turn the order"), Run: p.turnOrder, Quiet: true},
		{Key: page.Bind("y", "copy the group's name"), Run: p.copy, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Run: p.reload, Quiet: true},
	}, page.ListCommands(moving, nil)...)
}

func (p *group) whyNone() string {
	if _, ok := p.at(); !ok {
		return "there is no partition here"
	}
	return ""
}

func (p *group) whyNoCount() string {
	if _, ok := p.Src.(model.LagCounter); !ok {
		return "the lags are exact here, or become so by themselves"
	}
	return ""
}

// count makes the lags exact that are estimated.
func (p *group) count() tea.Cmd {
	c, ok := p.Src.(model.LagCounter)
	if !ok {
		return nil
	}
	return p.counter.Start(p.Ctx, func(ctx context.Context) (lagsCounted, error) { return lagsCounted{}, c.CountLag(ctx, p.id) })
}

func (p *group) counted(err error) tea.Cmd {
	if err != nil {
		return page.Say(page.Bad, "counting: "+kit.Safe(err.Error(), 200))
	}
	return tea.Batch(page.Say(page.Good, "counted"), p.reload())
}

func (p *group) whyNoRecords() string {
	if o, ok := p.at(); ok && o.Err != nil {
		return "the partition cannot be read: " + kit.Safe(o.Err.Error(), 120)
	}
	return p.whyNone()
}

func (p *group) whyNoReset() string   { return offsets.WhyNoReset(p.Src, &p.g) }
func (p *group) whyNoJournal() string { return offsets.WhyNoJournal(p.Src) }

func (p *group) whyNoUndo() string {
	if why := p.whyNoReset(); why != "" {
		return why
	}
	return p.whyNoJournal()
}

func (p *group) whyNoTopicReset() string {
	if why := p.whyNone(); why != "" {
		return why
	}
	return p.whyNoReset()
}

func (p *group) whyNoMembers() string {
	if len(p.g.Members) == 0 {
		return "the group has no members"
	}
	return ""
}

func (p *group) whyNoTail() string {
	if _, ok := p.Src.(model.Tailer); !ok {
		return "this source cannot be followed"
	}
	return p.whyNone()
}

func (p *group) turn() tea.Cmd {
	p.focus(!p.upper)
	return nil
}

func (p *group) turnOrder() tea.Cmd {
	p.sortBy(p.sorted)
	return nil
}

// to opens a screen about the group.
func (p *group) to(k page.Kind) func() tea.Cmd {
	return func() tea.Cmd { return page.Goto(k, p.Address()) }
}

func (p *group) resetTopic() tea.Cmd {
	o, ok := p.at()
	if !ok {
		return nil
	}
	a := p.Address()
	a.Topic = o.Topic
	return page.Goto(page.Reset, a)
}

// records opens the records where the group goes on: at its committed offset, or the log start where that is lost.
func (p *group) records() tea.Cmd {
	o, ok := p.at()
	if !ok {
		return nil
	}
	a := model.PartitionAddress(o.TopicPartition)
	a.Offset = max(o.Committed, o.LogStart)
	if o.Committed < 0 {
		a.Offset = model.Unknown
	}
	return page.Goto(page.Records, a)
}

// partition opens the core sample of the partition, or where the source shows no files its row among the others.
func (p *group) partition() tea.Cmd {
	o, ok := p.at()
	if !ok {
		return nil
	}
	kind := page.Partitions
	if _, files := p.Src.(model.SegmentReader); files {
		kind = page.Segments
	}
	return page.Goto(kind, model.PartitionAddress(o.TopicPartition))
}

func (p *group) tail() tea.Cmd {
	o, ok := p.at()
	if !ok {
		return nil
	}
	return page.Goto(page.Tail, model.TopicAddress(o.Topic))
}

func (p *group) copy() tea.Cmd {
	return page.Send(page.Copy{Text: p.id, What: "name of group " + kit.Safe(p.id, 100)})
}

// undo looks for the last reset of this group that stands.
func (p *group) undo() tea.Cmd {
	r, ok := p.Src.(model.Resetter)
	if !ok {
		return nil
	}
	return p.find.Start(p.Ctx, func(ctx context.Context) (undoable, error) {
		all, err := r.Journal(ctx)
		for i := range all {
			if all[i].Group == p.id && all[i].Undone == 0 {
				return undoable(all[i].ID), err
			}
		}
		return 0, err
	})
}

func (p *group) found(entry undoable, err error) tea.Cmd {
	switch {
	case err != nil:
		return page.Say(page.Bad, err.Error())
	case entry == 0:
		return page.Say(page.Info, "no reset of this group to undo")
	}
	return page.Send(page.Open{Kind: page.Reset, Addr: p.Address(), Args: page.Args{Undo: uint64(entry)}})
}

// ask asks whether the group shall be deleted.
func (p *group) ask() tea.Cmd {
	return page.Send(page.Confirm{
		ID: confirm, Title: "delete group " + kit.Safe(p.id, 200) + "?", Typed: p.id,
		Body: []string{
			kit.Plural(p.sum.committed, "committed offset") + " will be gone: a consumer of this name begins anew, where its auto.offset.reset says",
			"the journal keeps them, so that they can be brought back",
		},
	})
}

func (p *group) confirmed(c page.Confirmed) tea.Cmd {
	r, ok := p.Src.(model.Resetter)
	if c.ID != confirm || !c.OK || !ok {
		return nil
	}
	return p.drop.Start(p.Ctx, func(ctx context.Context) (deleted, error) { return deleted{}, r.DeleteGroup(ctx, p.id) })
}

func (p *group) gone(err error) tea.Cmd {
	if err != nil {
		return page.Say(page.Bad, err.Error())
	}
	// The page must be there until its word is said.
	return tea.Batch(page.Say(page.Good, "deleted group "+kit.Safe(p.id, 100)+"; the journal can bring its offsets back"),
		page.Send(page.TickIn{After: 20 * time.Millisecond, ID: leave}))
}

// Mouse scrolls and selects in both tables, sorts by the head that is clicked and opens what is clicked twice.
func (p *group) Mouse(m page.Mouse) tea.Cmd {
	if p.upper && (m.Kind == page.WheelUp || m.Kind == page.WheelDown) {
		page.ListMouse(&p.members, m, 0)
		return nil
	}
	if m.Kind >= page.WheelUp {
		page.ListMouse(&p.table, m, 0)
		return nil
	}
	if from, n := p.seen.membersY, p.seen.members; n > 0 && m.Y >= from && m.Y < from+n {
		p.focus(true)
		page.ListMouse(&p.members, m, from)
		return nil
	}
	if m.Y < p.seen.tableY {
		return nil
	}
	hit := page.ListMouse(&p.table, m, p.seen.tableY)
	switch {
	case !hit.OK:
	case hit.Head && m.Kind == page.Click:
		p.sortBy(p.cols[hit.Column])
	case !hit.Head:
		p.focus(false)
		if m.Kind == page.DoubleClick && p.whyNoRecords() == "" {
			return p.records()
		}
	}
	return nil
}
