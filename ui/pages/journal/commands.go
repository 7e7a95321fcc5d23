package journal

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/offsets"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *journal) Commands() []page.Command {
	undo := page.Command{Key: page.Bind("u", "undo"), Off: p.whyNoUndo, Run: p.undo}
	group := page.Command{Key: page.Bind("o", "group"), Off: p.whyNone, Run: p.open}
	if p.inside {
		return append([]page.Command{
			{Key: page.Bind("esc h left", "all resets"), Run: p.leave},
			{Key: page.Bind("enter", "records there"), Off: p.whyNoRecords, Run: p.records},
			undo, group,
		}, page.ListCommands(&p.items.VList, nil)...)
	}
	moved := func() tea.Cmd {
		p.follow()
		return nil
	}
	return append([]page.Command{
		{Key: page.Bind("enter l right", "rows"), Off: p.whyNone, Run: p.enter},
		undo, group,
		{Key: page.Bind("ctrl+r", "read again"), Off: p.whyNoSource, Run: p.reload, Quiet: true},
	}, page.ListCommands(&p.list.VList, moved)...)
}

func (p *journal) whyNoSource() string {
	if p.src == nil {
		return "this source is read-only: it keeps no journal"
	}
	return offsets.WhyNoJournal(p.Src)
}

func (p *journal) whyNone() string {
	if _, ok := p.at(); !ok {
		if why := p.whyNoSource(); why != "" {
			return why
		}
		return "there is no reset here"
	}
	return ""
}

func (p *journal) whyNoUndo() string {
	if e, ok := p.at(); ok && e.Undone != 0 {
		n := strconv.FormatUint(e.Undone, 10)
		return "it was taken back by reset " + n + ": undo " + n + " to have it again"
	}
	return p.whyNone()
}

func (p *journal) whyNoRecords() string {
	e, ok := p.at()
	if i := p.items.Cursor(); !ok || i >= int64(len(e.Rows)) {
		return "there is no row here"
	} else if e.Rows[i].To < 0 {
		return "nothing was committed then"
	}
	return ""
}

// enter gives the rows the screen.
func (p *journal) enter() tea.Cmd {
	p.inside = true
	return nil
}

func (p *journal) leave() tea.Cmd {
	p.inside = false
	return nil
}

// undo plans the taking back of the entry under the cursor.
func (p *journal) undo() tea.Cmd {
	e, ok := p.at()
	if !ok {
		return nil
	}
	a := model.TopicAddress("")
	a.Group = e.Group
	return page.Send(page.Open{Kind: page.Reset, Addr: a, Args: page.Args{Undo: e.ID}})
}

func (p *journal) open() tea.Cmd {
	e, ok := p.at()
	if !ok {
		return nil
	}
	a := model.TopicAddress("")
	a.Group = e.Group
	return page.Goto(page.Group, a)
}

// records opens the records at which the row under the cursor was put.
func (p *journal) records() tea.Cmd {
	e, ok := p.at()
	i := p.items.Cursor()
	if !ok || i >= int64(len(e.Rows)) {
		return nil
	}
	a := model.PartitionAddress(e.Rows[i].TopicPartition)
	a.Offset = e.Rows[i].To
	return page.Goto(page.Records, a)
}
