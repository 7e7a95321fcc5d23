package overview

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	// valueCells is the room for a value before its note.
	valueCells = 18
	// nameCells is the room for a name, wideNames where there are wide cells.
	nameCells, wideNames, wide = 33, 60, 140
)

// fit gives names more room on wide screens.
func (p *overview) fit(w int) {
	most := nameCells
	if w >= wide {
		most = wideNames
	}
	if c := &p.table.Columns[0]; c.Max != most {
		c.Max = most
		p.table.Forget()
	}
}

func (p *overview) View(w, h int) string {
	switch {
	case p.src == nil:
		return kit.Problem(p.Theme, w, h, page.NoFiles(p.Src, "this source is no log directory", "B shows its brokers' log directories"), "strata DIR opens one; esc goes back")
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r reads it again, esc goes back")
	case !p.loaded && p.load.Slow():
		return kit.Empty(p.Theme, w, h, "looking at the directory", "its small files are being read")
	case !p.loaded:
		return kit.Block("", w, h)
	case len(p.all) == 0:
		return kit.Empty(p.Theme, w, h, "there is no directory to tell of", "strata DIR opens one")
	case len(p.rows) == 0:
		return kit.Empty(p.Theme, w, h, "nothing matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	}
	p.fit(w)
	if h < footLines+5 {
		return p.table.View(w, h, p.row)
	}
	return p.table.View(w, h-footLines, p.row) + "\n" + page.Rule(p.Theme, w, "") + "\n" + p.foot(w)
}

func (p *overview) row(i int64) kit.Row {
	r, t := &p.all[p.rows[i]], p.Theme
	switch r.kind {
	case blank:
		return kit.Row{}
	case directory:
		return kit.Row{Line: t.Accent.Wrap(kit.Safe(r.name, 400))}
	case section:
		return kit.Row{Line: t.Dim.Wrap(kit.Safe(r.name, 100))}
	}
	name, value, note := t.Dim, kit.Style{}, t.Dim
	switch {
	case r.kind == fault && r.severity == model.SevDamage:
		name, value, note = kit.Style{}, t.Bad, t.Bad
	case r.kind == fault:
		name, value, note = kit.Style{}, t.Warn, t.Warn
	case r.kind == odd:
		name = kit.Style{}
	case r.kind == record:
		value = t.Key
		note = kit.Style{}
	}
	spans := p.spans(value, r.value)
	if r.note != "" {
		// Notes stand below each other where values are short, and run on where they are long.
		spans = append(spans, kit.Span{Text: kit.Blank(max(2, valueCells-kit.SpansWidth(spans)))})
		spans = append(spans, p.spans(note, r.note)...)
	}
	return kit.Row{Cells: []kit.Cell{{Spans: p.spans(name, r.name)}, {Spans: spans}}}
}

// spans makes text from outside safe, with what the filter found.
func (p *overview) spans(s kit.Style, text string) []kit.Span {
	if text == "" {
		return []kit.Span{}
	}
	return p.filter.Spans(p.Theme, s, text, 600)
}

// foot says all of the row under the cursor, which columns cut.
func (p *overview) foot(w int) string {
	r, ok := p.at()
	if !ok || r.kind <= section {
		return kit.Block("", w, footLines-1)
	}
	text := r.name
	for _, more := range [...]string{r.value, r.note} {
		if more != "" {
			text += " · " + more
		}
	}
	var out string
	lines := kit.Wrap(kit.Safe(text, 1500), max(10, w-2))
	for _, s := range lines[:min(len(lines), footLines-1)] {
		out += " " + s + "\n"
	}
	return kit.Block(out, w, footLines-1)
}

func (p *overview) Commands() []page.Command {
	return append([]page.Command{
		{Key: page.Bind("v", "verify everything"), Off: p.whyNoVerify, Run: func() tea.Cmd { return page.Goto(page.Check, model.TopicAddress("")) }},
		{Key: page.Bind("t", "topics"), Run: func() tea.Cmd { return page.Goto(page.Topics, model.TopicAddress("")) }},
		{Key: page.Bind("d", "disk"), Run: func() tea.Cmd { return page.Goto(page.Disk, model.TopicAddress("")) }},
		{Key: page.Bind("y", "copy the value"), Off: p.whyNone, Run: p.copy},
		{Key: page.Bind("ctrl+r", "read again"), Off: p.whyNoDirectory, Run: p.reload, Quiet: true},
	}, page.ListCommands(&p.table.VList, nil)...)
}

func (p *overview) whyNoDirectory() string {
	if p.src == nil {
		return page.NoFiles(p.Src, "this source is no log directory", "B shows its brokers' log directories")
	}
	return ""
}

func (p *overview) whyNone() string {
	if r, ok := p.at(); !ok || r.kind == blank || r.kind == section {
		return "there is no value here"
	}
	return p.whyNoDirectory()
}

func (p *overview) whyNoVerify() string {
	if _, ok := p.Src.(model.Verifier); !ok {
		return page.NoFiles(p.Src, "this source shows no files to check", "strata DIR checks one of its brokers' files")
	}
	return ""
}

func (p *overview) copy() tea.Cmd {
	r, ok := p.at()
	if !ok {
		return nil
	}
	text := r.value
	if text == "" || r.kind == fault || r.kind == directory {
		text = r.name
	}
	return page.Send(page.Copy{Text: text, What: kit.Safe(r.name, 100)})
}

// Mouse scrolls and selects.
func (p *overview) Mouse(m page.Mouse) tea.Cmd {
	page.ListMouse(&p.table, m, 0)
	return nil
}
