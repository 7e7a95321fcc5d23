package offsets

import (
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

// CommitText writes a committed offset whole, – where there is none.
func CommitText(t *kit.Theme, offset int64) string {
	if offset < 0 {
		return t.Glyphs.None
	}
	return kit.Number(offset)
}

// CommitCell is CommitText as a cell.
func CommitCell(t *kit.Theme, offset int64) kit.Cell {
	c := kit.Cell{Text: CommitText(t, offset)}
	if offset < 0 {
		c.Style = t.Dim
	}
	return c
}

// TargetCell writes where a row of a plan goes: → 1,101,000; unchanged; → none.
func TargetCell(t *kit.Theme, r *model.PlanRow) kit.Cell {
	switch {
	case r.Excluded || r.To == r.From:
		return kit.Cell{Text: "unchanged", Style: t.Dim}
	case r.To < 0:
		return kit.Cell{Spans: []kit.Span{{Text: t.Glyphs.To + " ", Style: t.Dim}, {Text: "none", Style: t.Null}}}
	}
	return kit.Cell{Spans: []kit.Span{{Text: t.Glyphs.To + " ", Style: t.Dim}, {Text: kit.Number(r.To), Style: t.Accent}}}
}

// ChangeCell writes what a row of a plan changes: ◂ 103,332 read again, ▸ 12 skipped, new.
func ChangeCell(t *kit.Theme, r *model.PlanRow) kit.Cell {
	none := kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	switch {
	case r.Excluded:
		return kit.Cell{Text: "taken out", Style: t.Dim}
	case r.To == r.From:
		return none
	case r.To < 0:
		return kit.Cell{Text: "taken away", Style: t.Warn}
	case r.From < 0:
		return kit.Cell{Text: t.Glyphs.Right + " new"}
	}
	return countCell(t, r.Change, none)
}

func countCell(t *kit.Theme, c model.Count, none kit.Cell) kit.Cell {
	about := ""
	if c.State == model.CountEstimate {
		about = t.Glyphs.About + " "
	}
	switch {
	case c.State == model.CountUnknown:
		return kit.Cell{Text: t.Glyphs.Unknown, Style: t.Dim}
	case c.State == model.CountNone:
		return none
	case c.N < 0:
		return kit.Cell{Text: t.Glyphs.Left + " " + about + kit.Number(-c.N), Unit: "read again"}
	case c.N > 0:
		return kit.Cell{Text: t.Glyphs.Right + " " + about + kit.Number(c.N), Unit: "skipped", Style: t.Warn}
	}
	return kit.Cell{Text: "no record in between", Style: t.Dim}
}

// FirstSpans draws the first record that will be read: its time, key and value, cut to the first limit bytes.
func FirstSpans(t *kit.Theme, clock *kit.Clock, r *model.Record, limit int) []kit.Span {
	spans := []kit.Span{{Text: clock.Clock(r.Timestamp) + "  ", Style: t.Dim}}
	spans = append(spans, rows.Value(t, t.Key, r.Key, page.Filter{}, min(limit, 100))...)
	spans = append(spans, kit.Span{Text: "  "})
	return append(spans, rows.Value(t, kit.Style{}, r.Value, page.Filter{}, limit)...)
}

// Sum is what a plan changes in all.
type Sum struct {
	Rows    int // that change something
	Again   model.Count
	Skipped model.Count
	New     int // commits where there was none
	Gone    int // commits taken away
	Out     int // rows taken out that would change something
}

// SumUp adds the rows of a plan up.
func SumUp(p *model.ResetPlan) Sum {
	s := Sum{Again: model.NoCount(), Skipped: model.NoCount()}
	for i := range p.Rows {
		r := &p.Rows[i]
		switch {
		case r.To == r.From:
			continue
		case r.Excluded:
			s.Out++
			continue
		case r.To < 0:
			s.Gone++
		case r.From < 0:
			s.New++
		case r.Change.N < 0:
			again := r.Change
			again.N = -again.N
			s.Again = s.Again.Add(again)
		case r.Change.N > 0 || r.Change.State == model.CountUnknown:
			s.Skipped = s.Skipped.Add(r.Change)
		}
		s.Rows++
	}
	return s
}

// Words says what a plan changes: 3 partitions move: 103,332 records read again, 12 skipped.
func (s Sum) Words(t *kit.Theme) string {
	if s.Rows == 0 {
		return "nothing changes"
	}
	out := "1 partition moves"
	if s.Rows != 1 {
		out = kit.Number(int64(s.Rows)) + " partitions move"
	}
	sep := ": "
	add := func(words string) {
		out += sep + words
		sep = ", "
	}
	if s.Again.State != model.CountNone {
		add(count(t, s.Again, "record") + " read again")
	}
	if s.Skipped.State != model.CountNone {
		add(count(t, s.Skipped, "record") + " skipped")
	}
	if s.New > 0 {
		add(count(t, model.Exactly(int64(s.New)), "new commit"))
	}
	if s.Gone > 0 {
		add(count(t, model.Exactly(int64(s.Gone)), "commit") + " taken away")
	}
	return out
}

func count(t *kit.Theme, c model.Count, what string) string {
	n := kit.Number(c.N)
	switch c.State {
	case model.CountUnknown:
		return "an unknown number of " + what + "s"
	case model.CountEstimate:
		n = t.Glyphs.About + " " + n
	}
	if c.N != 1 {
		what += "s"
	}
	return n + " " + what
}
