package change

import (
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// minPartition is the least width of the column of partitions, cells.
const minPartition = 12

// preview shows what a change would delete: the segments that go now, and those that go sooner than they would.
type preview struct {
	page.Env
	table kit.Table
	p     model.Preview
}

func newPreview(env page.Env) preview {
	v := preview{Env: env}
	v.table.Theme = env.Theme
	v.table.Columns = []kit.Column{
		{Name: "PARTITION", Grow: true, Min: minPartition},
		{Name: "BASE OFFSET", Right: true},
		{Name: "RECORDS", Right: true, Min: 9},
		{Name: "SIZE", Right: true, Min: 8, Drop: 1},
		{Name: "WRITTEN", Right: true, Min: 16, Drop: 2},
		{Name: "GOES", Min: 14},
	}
	return v
}

// set shows another preview.
func (v *preview) set(p model.Preview) {
	v.p = p
	widest := minPartition
	for _, list := range [][]model.Segment{p.Now, p.Later} {
		for i := range list {
			widest = max(widest, min(48, kit.Width(kit.Safe(list[i].TopicPartition.String(), 200))))
		}
	}
	v.table.Columns[0].Max = widest
	v.table.SetLen(int64(len(p.Now) + len(p.Later)))
}

// deletes reports whether anything would be deleted at once.
func (v *preview) deletes() bool { return len(v.p.Now) > 0 }

// words says in one line what would be deleted.
func (v *preview) words() string {
	t := v.Theme
	if v.p.Runs {
		return v.runs()
	}
	if len(v.p.Now) == 0 {
		if len(v.p.Later) == 0 {
			return "no segment is deleted by this"
		}
		return "nothing is deleted now; " + kit.Plural(len(v.p.Later), "segment") + " will be sooner than before"
	}
	verb := " go within seconds"
	if len(v.p.Now) == 1 {
		verb = " goes within seconds"
	}
	s := kit.Plural(len(v.p.Now), "segment") + " (" + page.CountText(t, v.p.Records) + " records, " + kit.BytesText(v.p.Bytes) + ")" + verb
	if n := len(v.p.Later); n > 0 {
		s += "; " + kit.Number(int64(n)) + " more sooner than before"
	}
	return s
}

// runs is words of a source that does not show segments.
func (v *preview) runs() string {
	if len(v.p.Now) == 0 {
		return "no record is deleted by this, as far as a cluster tells"
	}
	return page.CountText(v.Theme, v.p.Records) + " records of " + kit.Plural(len(v.p.Now), "partition") + " go"
}

// verdict is words with its sign, in w cells.
func (v *preview) verdict(w int) string {
	t := v.Theme
	var l kit.Line
	style, sign := t.Good, t.Glyphs.Good
	switch {
	case v.deletes():
		style, sign = t.Bad, t.Glyphs.Bad
	case len(v.p.Later) > 0:
		style, sign = t.Warn, t.Glyphs.Bad
	}
	return l.Space(1).Add(style, sign+" "+v.words()).Fit(w)
}

// View draws the notes, and the segments below.
func (v *preview) View(w, h int) string {
	var lines []string
	for _, n := range v.p.Notes {
		for i, part := range kit.Wrap(kit.Safe(n, 1000), max(10, w-4)) {
			var l kit.Line
			lead := "  "
			if i == 0 {
				lead = "· "
			}
			lines = append(lines, l.Space(1).Add(v.Theme.Warn, lead+part).Fit(w))
		}
	}
	lines = lines[:min(len(lines), max(0, h/2))]
	if rest := h - len(lines); v.table.Len > 0 && rest > 0 {
		lines = append(lines, v.table.View(w, rest, v.row))
	}
	return kit.Block(strings.Join(lines, "\n"), w, h)
}

func (v *preview) row(i int64) kit.Row {
	t := v.Theme
	s, goes := model.Segment{}, kit.Cell{Text: "now", Style: t.Bad}
	if n := int64(len(v.p.Now)); i < n {
		s = v.p.Now[i]
	} else {
		s = v.p.Later[i-n]
		goes = kit.Cell{Text: "in " + kit.Duration(max(0, -v.Clock.Since(s.Leaves))), Style: t.Warn}
		if s.Leaves == model.NoTime {
			goes = kit.Cell{Text: kit.Safe(s.Rule, 60), Style: t.Dim}
		}
	}
	written := kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	switch {
	case s.FirstTimestamp >= 0:
		written = kit.Cell{Text: v.Clock.Minute(s.FirstTimestamp)}
	case s.LastTimestamp >= 0:
		written = kit.Cell{Text: "until " + v.Clock.Minute(s.LastTimestamp)}
	}
	return kit.Row{Cells: []kit.Cell{
		{Spans: t.SafeSpans(kit.Style{}, s.TopicPartition.String(), 300)},
		{Text: kit.Number(s.Base)}, page.CountCell(t, s.Records), t.BytesCell(s.Bytes), written, goes,
	}}
}
