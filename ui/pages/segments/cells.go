package segments

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// cells returns the cells of layer i up to LEAVES.
func (p *segments) cells(i int) []kit.Cell {
	s, t := &p.segs[i], p.Theme
	row := []kit.Cell{
		colBase:    {Text: kit.Number(s.Base)},
		colLast:    page.OffsetCell(t, s.Last),
		colRecords: page.CountCell(t, s.Records),
		colBatches: page.CountCell(t, s.Batches),
		colSize:    t.BytesCell(s.Bytes),
		colRatio:   p.ratio(s),
		colIndex:   p.index(s),
		colWritten: p.written(s),
		colLeaves:  p.leaves(i),
	}
	if s.Last < 0 {
		row[colLast] = kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	}
	if i >= p.live {
		if s.Records.State != model.CountExact { // nobody counts what is being removed
			row[colRecords] = kit.Cell{Text: t.Glyphs.Unknown}
		}
		for n := range row {
			row[n].Style = t.Dim
		}
	}
	return row
}

func (p *segments) ratio(s *model.Segment) kit.Cell {
	if s.Bytes == 0 {
		return kit.Cell{Text: p.Theme.Glyphs.None, Style: p.Theme.Dim}
	}
	if s.Inflated < 0 {
		return kit.Cell{Text: p.Theme.Glyphs.Unknown, Style: p.Theme.Dim}
	}
	if s.Inflated <= s.Bytes {
		return kit.Cell{Text: p.Theme.Glyphs.None, Style: p.Theme.Dim} // not compressed: only headers go off
	}
	return kit.Cell{Text: fmt.Sprintf("%.1f×", float64(s.Inflated)/float64(s.Bytes))}
}

func (p *segments) index(s *model.Segment) kit.Cell {
	if s.IndexEntries < 0 {
		return kit.Cell{Text: p.Theme.Glyphs.Unknown, Style: p.Theme.Dim}
	}
	return kit.Cell{Text: kit.Number(int64(s.IndexEntries))}
}

// written says from when to when a segment was written: 06:40 → 09:12, yesterday 23:10 → 23:40.
func (p *segments) written(s *model.Segment) kit.Cell {
	t, c := p.Theme, p.Clock
	if s.FirstTimestamp < 0 {
		return kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	}
	from, to := c.Minute(s.FirstTimestamp), c.Minute(s.LastTimestamp)
	switch {
	case s.State == model.SegmentActive && c.Since(s.LastTimestamp) < time.Minute && c.Since(s.LastTimestamp) > -time.Minute:
		to = "now"
	case c.Form < kit.EpochTime:
		day, clock := cutLast(to)
		if wasDay, _ := cutLast(from); day == wasDay {
			to = clock
		}
	}
	if from == to {
		return kit.Cell{Text: from}
	}
	return kit.Cell{Spans: []kit.Span{{Text: from}, {Text: " " + t.Glyphs.To + " ", Style: t.Dim}, {Text: to}}}
}

// cutLast cuts a written time into its day and its time of day.
func cutLast(s string) (day, clock string) {
	if i := strings.LastIndexByte(s, ' '); i >= 0 {
		return s[:i], s[i+1:]
	}
	return "", s
}

// leaves says when a segment will be deleted, and by which rule, or why not. A rule is named once for a run of layers.
func (p *segments) leaves(i int) kit.Cell {
	s, t := &p.segs[i], p.Theme
	switch {
	case s.Err != nil:
		return kit.Cell{Text: t.Glyphs.Bad + " " + kit.Safe(inShort(s.Err), 200), Style: t.Bad}
	case s.Trailing > 0 && !s.TrailingZero && s.State != model.SegmentActive:
		return kit.Cell{Text: t.Glyphs.Bad + " " + kit.BytesText(s.Trailing) + " torn at its end", Style: t.Bad}
	case i >= p.live:
		return kit.Cell{Text: leftover(s)}
	case s.State == model.SegmentActive && s.Leaves < 0:
		return kit.Cell{Text: joinWords("active", s.Rule, "active"), Style: t.Dim}
	case s.State == model.SegmentActive && p.until(s) > 0:
		// It is rolled first: this is when it leaves at the soonest.
		return kit.Cell{Spans: []kit.Span{{Text: "active", Style: t.Dim}, {Text: ", in " + kit.Duration(p.until(s).Round(time.Second)), Style: t.Dim}}}
	case s.Leaves < 0 && s.Rule == "never":
		return kit.Cell{Text: "never deleted", Style: t.Dim}
	case s.Leaves < 0 && s.Rule == "broker's default":
		return kit.Cell{Text: s.Rule, Style: t.Dim} // which is not in its log directory
	case s.Leaves < 0 && (s.Rule == "" || s.Rule == "unknown"):
		return kit.Cell{Text: t.Glyphs.Unknown, Style: t.Dim}
	case s.Leaves < 0:
		return kit.Cell{Text: "stays (" + kit.Safe(s.Rule, 60) + ")", Style: t.Dim}
	}
	text, style := p.leavesIn(s, i)
	rule := ""
	if s.Rule != "" && (i == 0 || p.segs[i-1].Rule != s.Rule) {
		rule = " (" + kit.Safe(s.Rule, 60) + ")"
	}
	return kit.Cell{Spans: []kit.Span{{Text: text, Style: style}, {Text: rule, Style: t.Dim}}}
}

// inShort says what is wrong where the file is known already.
func inShort(err error) string {
	var c *model.CorruptError
	if errors.As(err, &c) {
		return "damaged at byte " + kit.Number(c.Pos)
	}
	return err.Error()
}

// until is how far away the time is at which a segment leaves.
func (p *segments) until(s *model.Segment) time.Duration {
	return time.Duration(min(s.Leaves-p.Now().UnixMilli(), 1<<42)) * time.Millisecond
}

// leavesIn says how far away the deletion is.
func (p *segments) leavesIn(s *model.Segment, i int) (string, kit.Style) {
	in := p.until(s)
	text, style := "in "+kit.Duration(in.Round(time.Second)), kit.Style{}
	if in <= 0 {
		text, style = "due now", p.Theme.Warn
	}
	if i == p.live-1 && p.live > 1 {
		text = "next, " + text
	}
	return text, style
}

// joinWords adds a rule to a word unless it says the same.
func joinWords(word, rule, same string) string {
	switch rule {
	case "", same, "unknown":
		return word
	case "never":
		return word + ", never deleted"
	}
	return word + ", " + kit.Safe(rule, 60)
}

// leftover says what files are that lie below the log start.
func leftover(s *model.Segment) string {
	switch s.State {
	case model.SegmentDeleted:
		return "deleted: being removed"
	case model.SegmentCleaned:
		return "cleaned: a compaction's unfinished output"
	case model.SegmentSwap:
		return "swap: a compaction's output taking its place"
	}
	return "below the log start"
}
