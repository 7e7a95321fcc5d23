package transactions

import (
	"strconv"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// minSplit is the least height at which the partitions are shown below the list.
const minSplit = 12

func (p *transactions) View(w, h int) string {
	p.seenY = 0
	switch {
	case p.src == nil:
		return kit.Empty(p.Theme, w, h, "this source knows no transactions", "the embedded broker coordinates them, once a producer with a transactional.id connects")
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r reads the transactions again")
	case !p.loaded:
		return kit.Block("", w, h)
	case len(p.all) == 0:
		return kit.Empty(p.Theme, w, h, "no transaction was begun yet", "a producer with a transactional.id begins one; delivery (0) shows what they are good for")
	case len(p.rows) == 0 && p.filter.All():
		return kit.Empty(p.Theme, w, h, "no transaction touches "+kit.Safe(p.topic, 60), "")
	case len(p.rows) == 0:
		return kit.Empty(p.Theme, w, h, "no transaction matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	case p.inside && h > 2:
		return page.Rule(p.Theme, w, p.title()) + "\n" + p.items.View(w, h-1, p.itemRow)
	case h < minSplit:
		return p.list.View(w, h, p.row)
	}
	lower := min(max(int(p.items.Len), 1)+2, h/2)
	upper := min(len(p.rows)+1, h-lower)
	p.seenY = upper
	out := []string{p.list.View(w, upper, p.row), page.Rule(p.Theme, w, p.title()), p.preview(w, h-upper-1)}
	return kit.Block(strings.Join(out, "\n"), w, h)
}

// preview draws the partitions without a cursor.
func (p *transactions) preview(w, h int) string {
	if p.items.Len == 0 {
		x, ok := p.at()
		if ok && len(x.Partitions) == 0 {
			return kit.Block(" "+p.Theme.Dim.Wrap("nothing is held back: it has no open partition"), w, h)
		}
		return kit.Block("", w, h)
	}
	p.items.Theme = p.Theme.Resting()
	s := p.items.View(w, h, p.itemRow)
	p.items.Theme = p.Theme
	return s
}

func (p *transactions) title() string {
	x, ok := p.at()
	if !ok {
		return ""
	}
	return kit.Safe(x.ID, 100) + " holds back"
}

func (p *transactions) row(i int64) kit.Row {
	x, t := &p.all[p.rows[i]], p.Theme
	none := kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	age, out, parts := none, none, none
	state := kit.Cell{Text: string(x.State), Style: t.Dim}
	if x.State.Open() {
		state = kit.Cell{Text: t.Glyphs.Live + " " + string(x.State), Style: t.Good}
		if x.State != model.TxnOngoing {
			state.Style = t.Warn
		}
	}
	if x.Started != model.NoTime && x.State.Open() {
		age = kit.Cell{Text: kit.Duration(p.Clock.Since(x.Started))}
		left := time.Duration(x.Timeout)*time.Millisecond - p.Clock.Since(x.Started)
		out = kit.Cell{Text: "in " + kit.Duration(max(left, 0))}
		if left < 0 {
			out = kit.Cell{Text: "now", Style: t.Warn}
		}
	}
	if n := len(x.Partitions); n > 0 {
		parts = kit.Cell{Text: kit.Number(int64(n))}
	}
	return kit.Row{Cells: []kit.Cell{
		{Spans: p.filter.Spans(t, kit.Style{}, x.ID, 300)}, state, age, out,
		{Text: strconv.FormatInt(x.ProducerID, 10)}, {Text: strconv.Itoa(int(x.Epoch))}, parts,
		{Spans: p.filter.Spans(t, t.Dim, strings.Join(x.Groups, " "), 300)},
	}}
}

func (p *transactions) itemRow(i int64) kit.Row {
	r, t := &p.holds.rows[i], p.Theme
	if r.err != nil {
		return kit.Row{Cells: []kit.Cell{
			{Spans: t.SafeSpans(kit.Style{}, r.TopicPartition.String(), 300)},
			{Text: kit.Safe(r.err.Error(), 200), Style: t.Bad}, {}, {}, {},
		}}
	}
	back := kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	if r.first >= 0 && r.stable >= 0 && r.water > r.stable {
		back = kit.Cell{Text: kit.Number(r.water - r.stable)}
		if r.first == r.stable {
			back.Style = t.Warn // it is this one that readers wait for
		}
	}
	first := kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	if r.first >= 0 {
		first = kit.Cell{Text: kit.Number(r.first)}
	}
	return kit.Row{Cells: []kit.Cell{
		{Spans: t.SafeSpans(kit.Style{}, r.TopicPartition.String(), 300)}, first,
		page.OffsetCell(t, r.stable), page.OffsetCell(t, r.water), back,
	}}
}
