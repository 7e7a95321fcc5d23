package groups

import (
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/offsets"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *groups) View(w, h int) string {
	switch {
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r reads the groups again")
	case !p.loaded && p.load.Slow():
		return kit.Empty(p.Theme, w, h, "reading the groups", "committed offsets are looked up, lags are counted")
	case !p.loaded:
		return kit.Block("", w, h)
	case len(p.rows) == 0 && !p.filter.All():
		return kit.Empty(p.Theme, w, h, "no group matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	case len(p.rows) == 0:
		what, next := p.teach()
		return kit.Empty(p.Theme, w, h, what, next)
	}
	return p.table.View(w, h, p.row)
}

// teach says why there are no groups here and what would make some.
func (p *groups) teach() (what, next string) {
	_, moves := p.Src.(model.Resetter)
	switch {
	case p.topic != "" && len(p.last.groups) > 0:
		return "no group has committed an offset of " + kit.Safe(p.topic, 100), "2 lists all groups"
	case p.last.info.Kind == model.Directory && !p.last.stored:
		return "no groups: there is no __consumer_offsets here, the topic in which a broker keeps what groups commit",
			"it may lie in another of the broker's log.dirs: strata DIR,DIR opens several"
	case p.last.info.Kind == model.Directory:
		return "no groups: __consumer_offsets is here and holds no commit that still counts",
			"groups without members lose their offsets after offsets.retention.minutes, a week by default"
	case moves:
		return "no groups: nothing has read as a group here yet",
			"a group begins with its first commit; N puts a new one where you want it; strata demo shows some at work"
	}
	return "no groups: this source keeps none", "groups are what consumers that share topics commit their offsets under"
}

func (p *groups) row(i int64) kit.Row {
	g, t := &p.all[p.rows[i]], p.Theme
	cells := make([]kit.Cell, 0, len(p.table.Columns))
	cells = append(cells,
		kit.Cell{Spans: p.filter.Spans(t, kit.Style{}, g.ID, 300)},
		kit.Cell{Text: kit.Safe(string(g.State), 40), Style: offsets.StateStyle(t, g.State)},
		p.word(g.Type), p.word(g.Protocol),
		p.number(len(g.Members)), p.number(g.topics),
		page.CountCell(t, g.Lag),
		p.meter(g.ID).Cell(t))
	if p.noted {
		cells = append(cells, p.note(g))
	}
	return kit.Row{Cells: cells}
}

func (p *groups) word(s string) kit.Cell {
	if s == "" {
		return kit.Cell{Text: p.Theme.Glyphs.None, Style: p.Theme.Dim}
	}
	return kit.Cell{Text: kit.Safe(s, 60), Style: p.Theme.Dim}
}

func (p *groups) number(n int) kit.Cell {
	if n == 0 {
		return kit.Cell{Text: p.Theme.Glyphs.None, Style: p.Theme.Dim}
	}
	return kit.Cell{Text: kit.Number(int64(n))}
}

// note says what is odd about a group.
func (p *groups) note(g *group) kit.Cell {
	t := p.Theme
	switch {
	case g.lost > 0:
		return kit.Cell{Text: t.Glyphs.Bad + " " + kit.Number(g.lost) + " lost", Style: t.Bad}
	case g.ahead > 0:
		return kit.Cell{Text: kit.Number(g.ahead) + " past the end", Style: t.Warn}
	case g.broken > 0:
		return kit.Cell{Text: kit.Plural(g.broken, "partition") + " cannot be read", Style: t.Warn}
	}
	return kit.Cell{Text: kit.Safe(g.Note, 300), Style: t.Warn}
}
