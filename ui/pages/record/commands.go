package record

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

func (p *record) Commands() []page.Command {
	cmds := []page.Command{
		{Key: page.Bind("]", "next"), Run: p.step(after)},
		{Key: page.Bind("[", "previous"), Off: p.whyNoBefore, Run: p.step(before)},
		{Key: page.Bind("v", "form"), Off: p.whyOneForm, Run: p.turnForm(1)},
		{Key: page.Bind("tab", "part"), Off: p.whyNone, Run: p.turnPart(1)},
		{Key: page.Bind("y", "copy"), Off: p.whyNone, Run: p.copyShown},
		{Key: page.Bind("enter b l right", "batch"), Off: p.whyNoBatches, Run: p.batch},
		{Key: page.Bind("s", "save"), Off: p.whyNoSave, Run: p.askPath},
		{Key: page.Bind("V", "the form before"), Off: p.whyOneForm, Run: p.turnForm(-1), Quiet: true},
		{Key: page.Bind("shift+tab", "the part before"), Off: p.whyNone, Run: p.turnPart(-1), Quiet: true},
		{Key: page.Bind("space", "fold, unfold"), Off: p.whyNoFold, Run: p.fold((*kit.JSON).Fold), Quiet: true},
		{Key: page.Bind("a", "fold all, unfold all"), Off: p.whyNoFold, Run: p.fold((*kit.JSON).FoldAll), Quiet: true},
		{Key: page.Bind("K", "copy the key"), Off: p.whyNone, Run: p.copyKey, Quiet: true},
		{Key: page.Bind("J", "copy the record as JSON"), Off: p.whyNone, Run: p.copyAll, Quiet: true},
		{Key: page.Bind("|", "show in $PAGER"), Off: p.whyNone, Run: p.pager, Quiet: true},
		{Key: page.Bind("e", "a copy in $EDITOR"), Off: p.whyNone, Run: p.edit, Quiet: true},
		{Key: page.Bind("x", "lookup of this offset"), Off: p.whyNoFiles, Run: p.lookup, Quiet: true},
		{Key: page.Bind("r", "records around it"), Run: p.around, Quiet: true},
		{Key: page.Bind("p", "produce one like it"), Off: p.whyNoProduce, Run: p.produce, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Run: func() tea.Cmd { return p.read(here) }, Quiet: true},
	}
	return append(cmds, page.ListCommands(p.mover(), nil)...)
}

func (p *record) whyNone() string {
	if p.rec == nil {
		return "there is no record here"
	}
	return ""
}

func (p *record) whyNoBefore() string {
	if p.known && p.offset <= p.start {
		return "this is the first record"
	}
	return ""
}

func (p *record) whyOneForm() string {
	switch {
	case p.part == headersPart:
		return "headers are listed: tab goes on to the value"
	case len(p.forms) < 2:
		return "there is no record here"
	}
	return ""
}

func (p *record) whyNoFold() string {
	if p.form() != jsonForm {
		return "only JSON folds"
	}
	return ""
}

func (p *record) whyNoFiles() string {
	if _, ok := p.Src.(model.SegmentReader); !ok {
		return page.NoFiles(p.Src, "this source shows no files", "b shows its batch as Fetch gives it")
	}
	return p.whyNone()
}

func (p *record) whyNoBatches() string {
	if page.ShowsBatches(p.Src) {
		return p.whyNone()
	}
	return p.whyNoFiles()
}

func (p *record) whyNoProduce() string {
	if _, ok := p.Src.(model.Producer); !ok {
		return "this source is read-only: nothing can be produced"
	}
	return p.whyNone()
}

// turnForm goes to another form and keeps to it from record to record.
func (p *record) turnForm(d int) func() tea.Cmd {
	return func() tea.Cmd {
		p.choice.Move(d)
		return p.choseForm()
	}
}

func (p *record) choseForm() tea.Cmd {
	p.chosen = p.form()
	p.retext()
	return page.Send(page.Remember{Key: "form", Value: p.chosen.String()})
}

func (p *record) turnPart(d part) func() tea.Cmd {
	return func() tea.Cmd {
		n := part(3)
		if len(p.rec.Headers) == 0 {
			n = 2
		}
		p.part = ((p.part+d)%n + n) % n
		p.show()
		return p.prepare()
	}
}

func (p *record) fold(f func(*kit.JSON)) func() tea.Cmd {
	return func() tea.Cmd {
		f(&p.json)
		return nil
	}
}

func (p *record) copyShown() tea.Cmd { return p.copy(p.bytes(), p.what()) }
func (p *record) copyKey() tea.Cmd   { return p.copy(p.rec.Key, "key") }

func (p *record) copy(b []byte, what string) tea.Cmd {
	if b == nil {
		return page.Say(page.Warn, "the "+what+" is null: there is nothing to copy")
	}
	return page.Send(page.Copy{Text: string(b), What: what + " of " + kit.Safe(p.Address().String(), 200)})
}

func (p *record) copyAll() tea.Cmd {
	return page.Send(page.Copy{Text: rows.JSON(p.rec), What: "JSON of " + kit.Safe(p.Address().String(), 200)})
}

func (p *record) pager() tea.Cmd {
	text, _ := p.plain()
	return page.Send(page.Pager{Text: text})
}

func (p *record) edit() tea.Cmd {
	text, ext := p.plain()
	return page.Send(page.Edit{ID: p.Address().String(), Text: text, Ext: ext})
}

// edited comes back from the editor: what was changed there was a copy.
func (p *record) edited(e page.Edited) tea.Cmd {
	text, _ := p.plain()
	switch {
	case e.Err != nil:
		return page.Say(page.Bad, "editor: "+kit.Safe(e.Err.Error(), 300))
	case e.ID == p.Address().String() && e.Text != text:
		return page.Say(page.Warn, "the editor had a copy: the record in the log is as it was")
	}
	return nil
}

func (p *record) batch() tea.Cmd {
	a := model.PartitionAddress(p.tp)
	if a.Segment, a.Position = p.rec.Segment, p.rec.BatchPos; a.Segment < 0 {
		a.Offset = p.rec.Offset
	}
	return page.Goto(page.Batches, a)
}

func (p *record) lookup() tea.Cmd { return page.Goto(page.Lookup, p.Address()) }
func (p *record) around() tea.Cmd { return page.Goto(page.Records, p.Address()) }

func (p *record) produce() tea.Cmd {
	return page.Send(page.Open{Kind: page.Produce, Addr: model.PartitionAddress(p.tp), Args: page.Args{Record: p.rec}})
}

// Mouse scrolls the body, folds what is clicked, and goes to the part or the form whose word is clicked.
func (p *record) Mouse(m page.Mouse) tea.Cmd {
	switch m.Kind {
	case page.WheelUp:
		p.mover().Move(-3)
		return nil
	case page.WheelDown:
		p.mover().Move(3)
		return nil
	}
	if p.rec == nil || m.Y < p.top {
		return nil
	}
	switch y := m.Y - p.top; {
	case p.part == headersPart:
		if i, ok := p.headers.RowAt(y); ok {
			p.headers.SetCursor(i)
		}
	case p.form() == jsonForm:
		if i, ok := p.json.RowAt(y); ok {
			p.json.SetCursor(i)
			if m.Kind == page.DoubleClick {
				p.json.Fold()
			}
		}
	}
	return nil
}
