package lookup

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *lookup) Commands() []page.Command {
	if p.TakesText() {
		rows := []page.Command{{Key: page.Bind("enter", "look up"), Run: p.start}}
		if p.known {
			rows = append(rows, page.Command{Key: page.Bind("tab", "steps"), Run: p.focus(false)},
				page.Command{Key: page.Bind("esc", "leave the input"), Run: p.focus(false)},
				page.Command{Key: page.Bind("down", "to the steps"), Run: p.focus(false), Quiet: true})
		}
		return rows
	}
	return append([]page.Command{
		{Key: page.Bind("enter l right", "go there"), Off: p.whyNone, Run: p.open},
		{Key: page.Bind("/ tab e", "another offset or time"), Off: p.whyNoFiles, Run: p.focus(true)},
		{Key: page.Bind("r", "the record"), Off: p.whyNotFound, Run: p.record},
		{Key: page.Bind("n", "the next offset"), Off: p.whyNotFound, Run: p.further(1)},
		{Key: page.Bind("N", "the offset before"), Off: p.whyNotFound, Run: p.further(-1), Quiet: true},
		{Key: page.Bind("y", "copy the record's address"), Off: p.whyNotFound, Run: p.copy, Quiet: true},
		{Key: page.Bind("ctrl+r", "look up again"), Off: p.whyNoFiles, Run: p.start, Quiet: true},
	}, page.ListCommands(&p.list, nil)...)
}

func (p *lookup) focus(typed bool) func() tea.Cmd {
	return func() tea.Cmd {
		p.typed = typed
		return nil
	}
}

func (p *lookup) whyNoFiles() string {
	if p.src == nil {
		return page.NoFiles(p.Src, "this source shows no files to look into", "r on a partition, then o finds an offset or a time")
	}
	return ""
}

func (p *lookup) whyNone() string {
	if !p.known || len(p.lines) == 0 {
		return "nothing was looked up yet"
	}
	return p.whyNoFiles()
}

func (p *lookup) whyNotFound() string {
	if p.known && !p.last.result.Found {
		return "nothing was found"
	}
	return p.whyNone()
}

// open goes to where the step under the cursor looked.
func (p *lookup) open() tea.Cmd {
	i := p.list.Cursor()
	if i >= int64(len(p.lines)) {
		return nil
	}
	step, r := p.last.result.Steps[p.lines[i].step].Step, &p.last.result
	a := model.PartitionAddress(p.tp)
	if k, ok := indexOf(step); ok {
		if r.Segment < 0 {
			return page.Say(page.Warn, "that index led to no record")
		}
		a.Segment = r.Segment
		if r.Found {
			a.Offset = r.Offset // the index page begins at the entry below it
		}
		return page.Send(page.Open{Kind: page.Index, Addr: a, Args: page.Args{Index: k}})
	}
	switch {
	case step == "scan" && r.Found:
		a.Segment, a.Position = r.Segment, r.Position
		return page.Goto(page.Batches, a)
	case step == "batch" && r.Found:
		return p.record()
	}
	if r.Found {
		a.Offset = r.Offset
	}
	return page.Goto(page.Segments, a)
}

// record opens the records from what was found on.
func (p *lookup) record() tea.Cmd { return page.Goto(page.Records, p.Address()) }

// further looks up the offset behind or before what was found.
func (p *lookup) further(d int64) func() tea.Cmd {
	return func() tea.Cmd {
		p.input.SetValue(kit.Number(max(0, p.last.result.Offset+d)))
		return p.start()
	}
}

func (p *lookup) copy() tea.Cmd {
	text := p.Address().String()
	return page.Send(page.Copy{Text: text, What: "address " + kit.Safe(text, 200)})
}

// Mouse gives the focus to what is clicked, and opens a step that is clicked twice.
func (p *lookup) Mouse(m page.Mouse) tea.Cmd {
	switch m.Kind {
	case page.WheelUp:
		p.list.Scroll(-3)
	case page.WheelDown:
		p.list.Scroll(3)
	default:
		if m.Y == 0 {
			p.typed = true
			return nil
		}
		if i, ok := p.list.RowAt(m.Y - headLines); ok && p.known {
			p.typed = false
			p.list.SetCursor(i)
			if m.Kind == page.DoubleClick {
				return p.open()
			}
		}
	}
	return nil
}
