package change

import (
	"strings"

	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *alter) View(w, h int) string {
	t := p.Theme
	switch {
	case p.reader == nil:
		return kit.Problem(t, w, h, "this source does not say the configs of topics", "esc goes back")
	case !p.loaded && p.err != nil:
		return kit.Problem(t, w, h, p.err.Error(), "ctrl-r reads the configs again")
	case !p.loaded:
		return kit.Block("", w, h)
	case p.ready != nil:
		return p.effectView(w, h)
	case len(p.rows) == 0 && !p.filter.All():
		return kit.Empty(t, w, h, "no config matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	case len(p.rows) == 0:
		return kit.Empty(t, w, h, "nothing is known of this topic's configs", "a broker keeps them in its metadata, which is not in this directory")
	case h < 8:
		return p.table.View(w, h, p.row)
	}
	return p.table.View(w, h-3, p.row) + "\n" + page.Rule(t, w, "") + "\n" + p.doc(w)
}

// effectView shows what the change that was asked for would do.
func (p *alter) effectView(w, h int) string {
	t := p.Theme
	var l kit.Line
	l.Space(1).Add(t.Bold, p.changeWords())
	if h < 4 {
		return kit.Block(l.Fit(w)+"\n"+p.effect.verdict(w), w, h)
	}
	if p.effect.table.Len == 0 && len(p.effect.p.Notes) == 0 {
		return kit.Block(l.Fit(w)+"\n"+p.effect.verdict(w), w, h)
	}
	return l.Fit(w) + "\n" + p.effect.verdict(w) + "\n" + page.Rule(t, w, "what that deletes") + "\n" + p.effect.View(w, h-3)
}

func (p *alter) row(i int64) kit.Row {
	e, t := &p.all[p.rows[i]], p.Theme
	value, by := kit.Style{}, t.Dim
	if e.Source == "default" {
		value = t.Dim
	} else if e.Source == "topic" {
		value, by = t.Accent, t.Accent
	}
	def := kit.Cell{Text: kit.Safe(e.Default, 100), Style: t.Dim}
	if e.Default == "" {
		def.Text = t.Glyphs.None
	}
	shown := kit.Cell{Spans: t.SafeSpans(value, e.Value, 200)}
	if e.Value == "" {
		shown = kit.Cell{Text: `""`, Style: t.Dim}
	}
	return kit.Row{Cells: []kit.Cell{
		{Spans: p.filter.Spans(t, kit.Style{}, e.Name, 200)}, shown, {Text: said(e.Name, e.Value), Style: t.Dim}, {Text: kit.Safe(e.Source, 40), Style: by}, def,
	}}
}

// doc is what the config under the cursor means, in two lines.
func (p *alter) doc(w int) string {
	e, ok := p.at()
	if !ok {
		return kit.Block("", w, 2)
	}
	lines := kit.Wrap(kit.Safe(e.Name+": "+e.Doc, 1000), max(10, w-2))
	out := make([]string, 0, 2)
	for _, text := range lines[:min(2, len(lines))] {
		var l kit.Line
		out = append(out, l.Space(1).Add(p.Theme.Dim, text).Fit(w))
	}
	return kit.Block(strings.Join(out, "\n"), w, 2)
}
