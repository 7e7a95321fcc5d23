package index

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *index) Commands() []page.Command {
	return append([]page.Command{
		{Key: page.Bind("enter l right", "batch"), Off: p.whyNone, Run: p.open},
		{Key: page.Bind("tab", "next index"), Off: p.whyNoFiles, Run: p.turn(1)},
		{Key: page.Bind("shift+tab", "previous index"), Off: p.whyNoFiles, Run: p.turn(-1), Quiet: true},
		{Key: page.Bind("n", "next that is wrong"), Off: p.whyNone, Run: p.next},
		{Key: page.Bind("x", "lookup"), Off: p.whyNone, Run: p.lookup},
		{Key: page.Bind("r", "records"), Off: p.whyNone, Run: p.records},
		{Key: page.Bind("v", "verify this segment"), Off: p.whyNoVerify, Run: p.verify},
		{Key: page.Bind("y", "copy the batch's address"), Off: p.whyNone, Run: p.copy, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Off: p.whyNoFiles, Run: p.refresh, Quiet: true},
	}, page.ListCommands(&p.table.VList, p.moved)...)
}

func (p *index) whyNoFiles() string {
	if p.src == nil {
		return page.NoFiles(p.Src, "this source shows no files", "r on a partition shows its records")
	}
	return ""
}

func (p *index) whyNone() string {
	if _, ok := p.at(); !ok && p.src != nil {
		return "there is no entry here"
	}
	return p.whyNoFiles()
}

func (p *index) whyNoVerify() string {
	if _, ok := p.Src.(model.Verifier); !ok {
		return page.NoFiles(p.Src, "this source shows no files to check", "strata DIR checks one of its brokers' files")
	}
	return ""
}

// turn goes to another index.
func (p *index) turn(d int) func() tea.Cmd {
	return func() tea.Cmd {
		p.kind.Move(d)
		p.reset()
		p.lead.Cancel()
		p.hunt.Cancel()
		return p.ask(0)
	}
}

// open goes to the batch to which the entry leads.
func (p *index) open() tea.Cmd { return page.Goto(page.Batches, p.place()) }

// place is the address of the batch to which the entry leads.
func (p *index) place() model.Address {
	e, _ := p.at()
	a := p.Address()
	switch {
	case e.Position >= 0:
		a.Position = e.Position
	case p.to.number == e.Number && p.to.found:
		a.Position = p.to.batch.Position
	default:
		a.Offset = e.Offset
	}
	return a
}

func (p *index) atOffset(k page.Kind) tea.Cmd {
	e, ok := p.at()
	if !ok {
		return nil
	}
	a := model.PartitionAddress(p.tp)
	a.Offset = e.Offset
	return page.Goto(k, a)
}

func (p *index) records() tea.Cmd { return p.atOffset(page.Records) }

// lookup opens the lookup of what the entry is about: its offset, or its time.
func (p *index) lookup() tea.Cmd {
	e, ok := p.at()
	if ok && p.which() == model.TimeIndex && e.Timestamp > 0 {
		return page.Send(page.Open{Kind: page.Lookup, Addr: model.PartitionAddress(p.tp), Args: page.Args{Time: e.Timestamp}})
	}
	return p.atOffset(page.Lookup)
}

func (p *index) verify() tea.Cmd { return page.Goto(page.Check, p.Address()) }

func (p *index) copy() tea.Cmd {
	text := p.place().String()
	return page.Send(page.Copy{Text: text, What: "address " + kit.Safe(text, 200)})
}

// next looks for the next entry that is wrong.
func (p *index) next() tea.Cmd {
	at, k := p.table.Cursor()+1, p.which()
	return p.hunt.Start(p.Ctx, func(ctx context.Context) (window, error) {
		var w window
		for first := at; ; {
			entries, total, err := p.src.IndexEntries(ctx, p.tp, p.base, k, first, 4096)
			if err != nil || ctx.Err() != nil {
				return w, err
			}
			w.total = total
			for i := range entries {
				w.looked++
				if entries[i].Err != nil {
					w.entries = entries[i:min(len(entries), i+chunk)]
					return w, nil
				}
			}
			first += int64(len(entries))
			if len(entries) == 0 || first >= total {
				return w, nil
			}
		}
	})
}

func (p *index) caught(w window, err error) tea.Cmd {
	switch {
	case err != nil:
		return page.Say(page.Bad, kit.Safe(err.Error(), 300))
	case len(w.entries) == 0:
		return page.Say(page.Good, "nothing wrong in the "+kit.Number(w.looked)+" entries behind this one")
	}
	p.store(w)
	p.table.SetCursor(w.entries[0].Number)
	return p.moved()
}

// Mouse chooses an index, scrolls, selects, and opens what is clicked twice.
func (p *index) Mouse(m page.Mouse) tea.Cmd {
	if m.Y == 0 && (m.Kind == page.Click || m.Kind == page.DoubleClick) {
		if i, ok := p.kind.OptionAt(m.X-1, 200); ok {
			return p.turn(i - p.kind.Chosen)()
		}
		return nil
	}
	if hit := page.ListMouse(&p.table, m, headLines); hit.OK && !hit.Head && m.Kind == page.DoubleClick {
		return p.open()
	}
	return p.moved()
}
