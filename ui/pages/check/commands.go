package check

import (
	"path"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *check) Commands() []page.Command {
	return append([]page.Command{
		{Key: page.Bind("enter l right", "go there"), Off: p.whyNoPlace, Run: p.open},
		{Key: page.Bind("c", "stop"), Off: p.whyNotRunning, Run: p.cancel},
		{Key: page.Bind("tab", "widen"), Off: p.whyOneScope, Run: p.widen(1)},
		{Key: page.Bind("s", "sort"), Run: p.sort},
		{Key: page.Bind("r", "records there"), Off: p.whyNoRecords, Run: p.records},
		{Key: page.Bind("y", "copy"), Off: p.whyNone, Run: p.copy},
		{Key: page.Bind("shift+tab", "narrow"), Off: p.whyOneScope, Run: p.widen(-1), Quiet: true},
		{Key: page.Bind("ctrl+r", "check again"), Off: p.whyNoFiles, Run: p.start, Quiet: true},
	}, page.ListCommands(&p.table.VList, nil)...)
}

func (p *check) whyNoFiles() string {
	if p.src == nil {
		return page.NoFiles(p.Src, "this source shows no files to check", "strata DIR checks one of its brokers' files")
	}
	return ""
}

func (p *check) whyNotRunning() string {
	if p.phase != running {
		return "the check is not running"
	}
	return ""
}

func (p *check) whyOneScope() string {
	if len(p.scope.Options) < 2 {
		return "everything is checked already"
	}
	return p.whyNoFiles()
}

func (p *check) whyNone() string {
	if _, ok := p.under(); !ok {
		return "there is no fault here"
	}
	return ""
}

func (p *check) whyNoPlace() string {
	f, ok := p.under()
	if !ok {
		return "there is no fault here"
	}
	if _, ok := place(&f); !ok {
		return "this file has no screen of its own"
	}
	return ""
}

func (p *check) whyNoRecords() string {
	if f, ok := p.under(); ok && (f.TP.Topic == "" || f.Offset < 0) {
		return "this fault is at no offset"
	}
	return p.whyNone()
}

// widen goes to another scope and checks that.
func (p *check) widen(d int) func() tea.Cmd {
	return func() tea.Cmd {
		p.scope.Move(d)
		return p.start()
	}
}

func (p *check) sort() tea.Cmd {
	p.found = !p.found
	p.arrange()
	if p.found {
		return page.Say(page.Info, "in the order in which they were found")
	}
	return page.Say(page.Info, "the worst first")
}

// place returns the screen that shows where a fault is: the batch at its byte, or the index that it is in.
func place(f *model.Fault) (page.Open, bool) {
	name, ext, _ := strings.Cut(path.Base(f.File), ".")
	base, err := strconv.ParseInt(name, 10, 64)
	if err != nil || len(name) != 20 || f.TP.Topic == "" {
		return page.Open{}, false
	}
	a := model.PartitionAddress(f.TP)
	a.Segment = base
	switch k := model.IndexKind(ext); {
	case ext == "log":
		a.Position = f.Position
		return page.Open{Kind: page.Batches, Addr: a}, true
	case k == model.OffsetIndex || k == model.TimeIndex || k == model.TxnIndex:
		return page.Open{Kind: page.Index, Addr: a, Args: page.Args{Index: k}}, true
	}
	return page.Open{}, false
}

func (p *check) open() tea.Cmd {
	f, _ := p.under()
	o, ok := place(&f)
	if !ok {
		return nil
	}
	return page.Send(o)
}

func (p *check) records() tea.Cmd {
	f, ok := p.under()
	if !ok {
		return nil
	}
	a := model.PartitionAddress(f.TP)
	a.Offset = f.Offset
	return page.Goto(page.Records, a)
}

// copy copies the fault in one line.
func (p *check) copy() tea.Cmd {
	f, ok := p.under()
	if !ok {
		return nil
	}
	text := fullName(&f)
	if f.Position >= 0 {
		text += ": byte " + kit.Number(f.Position)
	}
	return page.Send(page.Copy{Text: text + ": " + sentence(&f), What: "fault"})
}

// Mouse chooses a scope, scrolls, selects, and opens what is clicked twice.
func (p *check) Mouse(m page.Mouse) tea.Cmd {
	if m.Y == 0 && m.Kind == page.Click {
		if i, ok := p.scope.OptionAt(m.X-1, 200); ok && i != p.scope.Chosen {
			return p.widen(i - p.scope.Chosen)()
		}
		return nil
	}
	hit := page.ListMouse(&p.table, m, headLines)
	switch {
	case hit.OK && hit.Head && m.Kind == page.Click && hit.Column == 0:
		return p.sort()
	case hit.OK && !hit.Head && m.Kind == page.DoubleClick && p.whyNoPlace() == "":
		return p.open()
	}
	return nil
}
