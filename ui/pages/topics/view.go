package topics

import (
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *topics) View(w, h int) string {
	switch {
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r reads the topics again")
	case !p.loaded && p.load.Slow():
		return kit.Empty(p.Theme, w, h, "reading the topics", "names come first, figures as they are known")
	case !p.loaded:
		return kit.Block("", w, h)
	case len(p.rows) == 0 && !p.filter.All():
		return kit.Empty(p.Theme, w, h, "no topic matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	case len(p.rows) == 0:
		what, next := p.teach()
		return kit.Empty(p.Theme, w, h, what, next)
	}
	if p.hidden == 0 || h < 4 {
		return p.table.View(w, h, p.row(p.Now()))
	}
	// The line about what is hidden follows the last row, or stands on the last line.
	body := min(h-1, len(p.rows)+1)
	var b strings.Builder
	b.WriteString(p.table.View(w, body, p.row(p.Now())))
	b.WriteByte('\n')
	b.WriteString(kit.Block(p.hiddenLine(w), w, h-body))
	return b.String()
}

func (p *topics) hiddenLine(w int) string {
	var l kit.Line
	return l.Space(2).Add(p.Theme.Dim, "+ "+kit.Number(int64(p.hidden))+" internal (. shows them)").Fit(w)
}

// teach says what an empty list would show and how to make it so.
func (p *topics) teach() (what, next string) {
	what = "there are no topics here"
	if p.hidden > 0 {
		what = "there are no topics here but " + kit.Number(int64(p.hidden)) + " internal ones (. shows them)"
	}
	if _, ok := p.Src.(model.TopicAdmin); ok {
		return what, "c creates one; strata demo shows some with live data"
	}
	return what, "a log directory holds one folder for each partition; strata demo shows some with live data"
}

// row returns the function that draws a row as of now.
func (p *topics) row(now time.Time) func(i int64) kit.Row {
	return func(i int64) kit.Row {
		n := p.rows[i]
		t, m := &p.all[n], &p.meters[n]
		cells := make([]kit.Cell, 0, len(p.table.Columns))
		cells = append(cells,
			kit.Cell{Spans: p.name(t)},
			kit.Cell{Text: kit.Number(int64(t.Partitions))},
			page.CountCell(p.Theme, t.Records),
			p.Theme.BytesCell(t.Bytes),
			p.sparkCell(m), p.rateCell(m, now),
			p.newestCell(t),
			p.keepsCell(t.Retention))
		cells = append(cells, p.readerCells(t)...)
		if p.noted {
			cells = append(cells, kit.Cell{Text: kit.Safe(t.Note, 300), Style: p.Theme.Warn})
		}
		return kit.Row{Cells: cells}
	}
}

func (p *topics) name(t *model.Topic) []kit.Span {
	var style kit.Style
	switch {
	case t.Note != "":
		style = p.Theme.Warn
	case t.Internal:
		style = p.Theme.Dim
	}
	spans := p.filter.Spans(p.Theme, style, t.Name, 300)
	if t.Note != "" {
		spans = append(spans, kit.Span{Text: " " + p.Theme.Glyphs.Bad, Style: p.Theme.Warn})
	}
	return spans
}

func (p *topics) sparkCell(m *meter) kit.Cell {
	if !m.moving() {
		return kit.Cell{}
	}
	var buf [4 * sparkCells]byte
	return kit.Cell{Text: string(m.spark(buf[:0], p.Theme.Glyphs.Spark)), Style: p.Theme.Dim}
}

func (p *topics) rateCell(m *meter, now time.Time) kit.Cell {
	switch rate, ok := m.rate(now); {
	case !ok:
		return kit.Cell{Text: p.Theme.Glyphs.Unknown, Style: p.Theme.Dim}
	case rate <= 0:
		return kit.Cell{Text: p.Theme.Glyphs.None, Style: p.Theme.Dim}
	case rate < 1:
		return kit.Cell{Spans: []kit.Span{{Text: "<1"}, {Text: "/s", Style: p.Theme.Dim}}}
	default:
		return kit.Cell{Spans: []kit.Span{{Text: kit.Short(rate)}, {Text: "/s", Style: p.Theme.Dim}}}
	}
}

func (p *topics) newestCell(t *model.Topic) kit.Cell {
	switch {
	case t.Newest >= 0:
		return kit.Cell{Text: p.Clock.Ago(t.Newest)}
	case t.Records.State == model.CountUnknown:
		return kit.Cell{Text: p.Theme.Glyphs.Unknown, Style: p.Theme.Dim} // not looked at yet
	}
	return kit.Cell{Text: p.Theme.Glyphs.None, Style: p.Theme.Dim}
}

func (p *topics) keepsCell(r model.Retention) kit.Cell {
	switch {
	case r.Unset:
		return kit.Cell{Text: "default", Style: p.Theme.Dim}
	case !r.Known:
		return kit.Cell{Text: p.Theme.Glyphs.Unknown, Style: p.Theme.Dim}
	}
	return kit.Cell{Text: keeps(r)}
}

// keeps says in a few words how long a topic keeps its records.
func keeps(r model.Retention) string {
	var parts []string
	if r.Compact {
		parts = append(parts, "compact")
	}
	if r.Delete && r.MS >= 0 && r.MS < 1<<42 { // beyond that, 139 years, it is for ever
		parts = append(parts, kit.Duration(time.Duration(r.MS)*time.Millisecond))
	}
	if r.Delete && r.Bytes >= 0 {
		parts = append(parts, kit.BytesText(r.Bytes))
	}
	if len(parts) == 0 {
		return "forever"
	}
	return strings.Join(parts, ", ")
}

// readerCells returns the cells of the groups that read a topic. Groups are read after the records beside them were
// counted: no lag is more than those.
func (p *topics) readerCells(topic *model.Topic) []kit.Cell {
	t := p.Theme
	if p.readers == nil {
		unknown := kit.Cell{Text: t.Glyphs.Unknown, Style: t.Dim}
		return []kit.Cell{unknown, unknown}
	}
	r := p.readers[topic.Name]
	if r.groups == 0 {
		none := kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
		return []kit.Cell{none, none}
	}
	if r.lag.Known() && topic.Records.State == model.CountExact {
		r.lag.N = min(r.lag.N, topic.Records.N)
	}
	lag := page.CountCell(t, r.lag)
	switch {
	case r.lost > 0:
		lag.Text, lag.Style = t.Glyphs.Bad+" "+lag.Text, t.Bad
	case r.rising >= 2:
		lag.Text, lag.Style = t.Glyphs.Up+" "+lag.Text, t.Warn
	}
	return []kit.Cell{{Text: kit.Number(int64(r.groups))}, lag}
}
