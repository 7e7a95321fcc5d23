package partitions

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *partitions) View(w, h int) string {
	switch {
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r reads it again, esc goes back to the topics")
	case !p.loaded && p.load.Slow():
		return kit.Empty(p.Theme, w, h, "reading the offsets of "+kit.Safe(p.topic, 200), "the ends of its logs are being looked for")
	case !p.loaded:
		return kit.Block("", w, h)
	case len(p.all) == 0:
		return kit.Empty(p.Theme, w, h, "this topic has no partition here", "its folders may lie in another log directory: strata DIR,DIR opens several")
	case len(p.rows) == 0:
		return kit.Empty(p.Theme, w, h, "no partition matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	}
	if h <= headLines {
		return kit.Block(p.head(w), w, h)
	}
	body := h - headLines
	if !p.noted || body < 6 {
		return p.head(w) + "\n" + page.Rule(p.Theme, w, "") + "\n" + p.table.View(w, body, p.row)
	}
	body -= detailLines
	return p.head(w) + "\n" + page.Rule(p.Theme, w, "") + "\n" + p.table.View(w, body, p.row) + "\n" + p.detail(w)
}

// detail is the whole note of the row under the cursor, which a narrow column cuts.
func (p *partitions) detail(w int) string {
	var l kit.Line
	r, ok := p.at()
	if !ok || note(&r) == "" {
		return kit.Block("", w, detailLines)
	}
	style := p.Theme.Warn
	if r.Err != nil {
		style = p.Theme.Bad
	}
	lines := kit.Wrap(kit.Safe(r.String()+": "+note(&r), 600), max(10, w-2))
	out := ""
	for _, text := range lines[:min(len(lines), detailLines)] {
		l.Reset()
		out += l.Space(1).Add(style, text).Fit(w) + "\n"
	}
	return kit.Block(out, w, detailLines)
}

func (p *partitions) head(w int) string {
	s, t := p.sum, p.Theme
	facts := []page.Fact{
		{Value: kit.Plural(s.live, "partition")},
		{Value: page.CountText(t, s.records) + " records"},
		{Value: kit.BytesText(s.bytes)},
	}
	if s.segments > 0 || s.live == 0 {
		facts = append(facts, page.Fact{Value: kit.Plural(s.segments, "segment")})
	}
	if s.broken > 0 {
		facts = append([]page.Fact{{Value: t.Glyphs.Bad + " " + kit.Plural(s.broken, "partition") + s.how, Style: t.Bad}}, facts...)
	}
	if skew := s.skew(); skew > 0 {
		facts = append(facts, page.Fact{Name: "skew", Value: fmt.Sprintf("%.2f×", skew)})
	}
	if s.leftovers > 0 {
		facts = append(facts, page.Fact{Value: kit.Plural(s.leftovers, "folder") + " left over", Style: t.Warn})
	}
	return page.Facts(t, w, facts...)
}

// note says what is odd about a partition; "" for nothing.
func note(r *model.Partition) string {
	switch {
	case r.Err != nil:
		return r.Err.Error()
	case r.State == model.Future:
		return "future: moving in from another log directory"
	case r.State == model.Deleting:
		return "delete: being removed"
	case r.State == model.Stray:
		return "stray: not in the metadata any more"
	case r.Leader >= 0 && len(r.ISR) < len(r.Replicas): // without a leader the broker is stopped, which says nothing
		return fmt.Sprintf("under-replicated: %d of %d in sync", len(r.ISR), len(r.Replicas))
	}
	return ""
}

func (p *partitions) row(i int64) kit.Row {
	r, t := &p.all[p.rows[i]], p.Theme
	leftover := r.State != model.Live
	cells := []kit.Cell{
		{Text: strconv.Itoa(int(r.Partition))},
		page.OffsetCell(t, r.LogStart),
		p.hwCell(r),
		page.OffsetCell(t, r.LastStable),
		page.OffsetCell(t, r.LogEnd),
		page.CountCell(t, r.Records),
		t.BytesCell(r.Bytes),
		page.OffsetCell(t, int64(r.Segments)),
		p.newestCell(r.Newest),
		p.leaderCell(r),
		p.skewCell(r),
		p.dirCell(r),
	}
	if r.Err != nil {
		cells[colPartition].Text = t.Glyphs.Bad + " " + cells[colPartition].Text
		cells[colPartition].Style = t.Bad
	}
	if leftover {
		for c := range cells {
			cells[c].Style = t.Dim
		}
		cells[colSkew] = kit.Cell{}
	}
	if p.noted {
		style := t.Warn
		if r.Err != nil {
			style = t.Bad
		}
		cells = append(cells, kit.Cell{Text: kit.Safe(note(r), 500), Style: style})
	}
	return kit.Row{Cells: cells}
}

func (p *partitions) hwCell(r *model.Partition) kit.Cell {
	c := page.OffsetCell(p.Theme, r.HighWatermark)
	if r.HWFromCheckpoint && r.HighWatermark >= 0 && r.HighWatermark < r.LogEnd {
		c.Text = p.Theme.Glyphs.About + " " + c.Text
	}
	return c
}

func (p *partitions) newestCell(ms int64) kit.Cell {
	if ms < 0 {
		return kit.Cell{Text: p.Theme.Glyphs.None, Style: p.Theme.Dim}
	}
	return kit.Cell{Text: p.Clock.Ago(ms)}
}

func (p *partitions) leaderCell(r *model.Partition) kit.Cell {
	text := p.Theme.Glyphs.Unknown
	if r.LeaderEpoch >= 0 {
		text = strconv.Itoa(int(r.LeaderEpoch))
	}
	if p.leaders {
		leader := p.Theme.Glyphs.None
		if r.Leader >= 0 {
			leader = strconv.Itoa(int(r.Leader))
		}
		text = leader + "/" + text
	}
	return kit.Cell{Text: text, Style: p.Theme.Dim}
}

// dirCell names the log directory, where there are several.
func (p *partitions) dirCell(r *model.Partition) kit.Cell {
	if !p.spread {
		return kit.Cell{}
	}
	return kit.Cell{Text: kit.Safe(filepath.Base(filepath.Dir(r.Dir)), 100), Style: p.Theme.Dim}
}

// skewCell draws how full a partition is beside the fullest, and how it stands to the mean.
func (p *partitions) skewCell(r *model.Partition) kit.Cell {
	if p.sum.bytes == 0 {
		return kit.Cell{Text: p.Theme.Glyphs.None, Style: p.Theme.Dim}
	}
	bar := kit.Bar(p.Theme, float64(r.Bytes)/float64(max(1, p.sum.most)), barCells)
	ratio := float64(r.Bytes) * float64(p.sum.live) / float64(p.sum.bytes)
	return kit.Cell{Text: bar, Unit: fmt.Sprintf("%.2f×", ratio), Style: p.Theme.Dim}
}
