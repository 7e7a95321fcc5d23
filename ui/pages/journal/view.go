package journal

import (
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/offsets"
	"github.com/strata-kafka/strata/ui/page"
)

// minSplit is the least height at which the rows are shown below the list.
const minSplit = 12

func (p *journal) View(w, h int) string {
	p.seenY = 0
	switch {
	case p.src == nil:
		return kit.Empty(p.Theme, w, h, "no journal: this source is read-only, offsets cannot be reset here", "resets of the embedded broker's groups are listed here, and can be taken back")
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r reads the journal again")
	case !p.loaded:
		return kit.Block("", w, h)
	case len(p.all) == 0:
		what := "no reset was made yet"
		if p.group != "" {
			what = "no reset of " + kit.Safe(p.group, 100) + " was made yet"
		}
		return kit.Empty(p.Theme, w, h, what, "R on a group plans one; each is kept here, with who, when and the offsets before")
	case len(p.rows) == 0:
		return kit.Empty(p.Theme, w, h, "no reset matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	case p.inside && h > 2:
		return page.Rule(p.Theme, w, p.title()) + "\n" + p.items.View(w, h-1, p.itemRow)
	case h < minSplit:
		return p.list.View(w, h, p.row)
	}
	lower := min(int(p.items.Len)+2, h/2)
	upper := min(len(p.rows)+1, h-lower)
	p.seenY = upper
	out := []string{p.list.View(w, upper, p.row), page.Rule(p.Theme, w, p.title()), p.preview(w, h-upper-1)}
	return kit.Block(strings.Join(out, "\n"), w, h)
}

// preview draws the rows without a cursor.
func (p *journal) preview(w, h int) string {
	p.items.Theme = p.Theme.Resting()
	s := p.items.View(w, h, p.itemRow)
	p.items.Theme = p.Theme
	return s
}

func (p *journal) title() string {
	e, ok := p.at()
	if !ok {
		return ""
	}
	return "reset " + strconv.FormatUint(e.ID, 10) + " of " + kit.Safe(e.Group, 100) + ", " + p.Clock.Stamp(e.At) + " by " + kit.Safe(e.Who, 100)
}

func (p *journal) row(i int64) kit.Row {
	e, t := &p.all[p.rows[i]], p.Theme
	reset := kit.Style{}
	if e.Undone != 0 {
		reset = t.Dim
	}
	return kit.Row{Cells: []kit.Cell{
		{Text: strconv.FormatUint(e.ID, 10), Style: t.Dim},
		{Text: p.Clock.Ago(e.At)},
		{Spans: p.filter.Spans(t, reset, e.Group, 200)},
		{Text: offsets.WhereWords(e.Where), Style: reset},
		{Text: kit.Number(int64(len(e.Rows)))},
		{Spans: p.filter.Spans(t, t.Dim, e.Who, 100)},
		p.stands(e),
	}}
}

// stands says whether an entry was taken back, and what it took back.
func (p *journal) stands(e *model.JournalEntry) kit.Cell {
	t := p.Theme
	switch {
	case e.Undone != 0:
		return kit.Cell{Text: "taken back by " + strconv.FormatUint(e.Undone, 10), Style: t.Dim}
	case e.UndoOf != 0:
		return kit.Cell{Text: t.Glyphs.Good + " took " + strconv.FormatUint(e.UndoOf, 10) + " back", Style: t.Good}
	}
	return kit.Cell{Text: t.Glyphs.Good, Style: t.Good}
}

func (p *journal) itemRow(i int64) kit.Row {
	e, ok := p.at()
	if !ok || i >= int64(len(e.Rows)) {
		return kit.Row{}
	}
	r, t := &e.Rows[i], p.Theme
	return kit.Row{Cells: []kit.Cell{
		{Spans: t.SafeSpans(kit.Style{}, r.TopicPartition.String(), 300)},
		offsets.CommitCell(t, r.From), offsets.TargetCell(t, r), offsets.ChangeCell(t, r),
		{Text: kit.Safe(r.Note, 300), Style: t.Dim},
	}}
}
