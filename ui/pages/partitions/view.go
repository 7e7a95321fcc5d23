package partitions

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
	if !p.noted && !p.cluster || body < 6 {
		return p.head(w) + "\n" + page.Rule(p.Theme, w, "") + "\n" + p.table.View(w, body, p.row)
	}
	body -= detailLines
	return p.head(w) + "\n" + page.Rule(p.Theme, w, "") + "\n" + p.table.View(w, body, p.row) + "\n" + p.detail(w)
}

// detail is the whole note of the row under the cursor, which a narrow column cuts.
func (p *partitions) detail(w int) string {
	var l kit.Line
	r, ok := p.at()
	style, text := p.Theme.Warn, p.note(&r)
	switch {
	case p.headless(&r):
		style, text = p.Theme.Bad, text+": it can be neither read nor written"
	case r.Err != nil:
		style = p.Theme.Bad
	case text == "":
		style = p.Theme.Dim
	}
	if p.cluster && len(r.Replicas) > 0 {
		text = strings.TrimPrefix(text+" · "+p.placed(&r), " · ")
	}
	if !ok || text == "" {
		return kit.Block("", w, detailLines)
	}
	lines := kit.Wrap(kit.Safe(r.String()+": "+text, 600), max(10, w-2))
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
	facts = append(p.trouble(), facts...)
	if skew := s.skew(); skew > 0 {
		facts = append(facts, page.Fact{Name: "skew", Value: fmt.Sprintf("%.2f×", skew)})
	}
	if s.leftovers > 0 {
		facts = append(facts, page.Fact{Value: kit.Plural(s.leftovers, "folder") + " left over", Style: t.Warn})
	}
	return page.Facts(t, w, facts...)
}

// trouble is what is wrong with the topic, the worst first.
func (p *partitions) trouble() (facts []page.Fact) {
	s, t := p.sum, p.Theme
	if s.headless > 0 {
		facts = append(facts, page.Fact{Value: t.Glyphs.Bad + " " + kit.Plural(s.headless, "partition") + " without a leader", Style: t.Bad})
	}
	if s.broken > 0 {
		facts = append(facts, page.Fact{Value: t.Glyphs.Bad + " " + kit.Plural(s.broken, "partition") + s.how, Style: t.Bad})
	}
	if s.under > 0 {
		facts = append(facts, page.Fact{Value: t.Glyphs.Down + " " + kit.Plural(s.under, "partition") + " under-replicated", Style: t.Warn})
	}
	return facts
}

// headless reports whether nobody leads a partition, so that it can be neither written nor read.
func (p *partitions) headless(r *model.Partition) bool {
	return p.cluster && r.Leader < 0 && len(r.Replicas) > 0
}

// note says what is odd about a partition; "" for nothing.
func (p *partitions) note(r *model.Partition) string {
	switch {
	case p.headless(r):
		return "no leader"
	case r.Err != nil:
		return r.Err.Error()
	case r.State == model.Future:
		return "future: moving in from another log directory"
	case r.State == model.Deleting:
		return "delete: being removed"
	case r.State == model.Stray:
		return "stray: not in the metadata any more"
	case p.cluster && len(r.ISR) < len(r.Replicas): // the head says what that is called
		return fmt.Sprintf("%d of %d in sync", len(r.ISR), len(r.Replicas))
	case r.Leader >= 0 && len(r.ISR) < len(r.Replicas): // without a leader the broker is stopped, which says nothing
		return fmt.Sprintf("under-replicated: %d of %d in sync", len(r.ISR), len(r.Replicas))
	}
	return ""
}

// placed says which brokers hold a partition, in what state, and in which racks.
func (p *partitions) placed(r *model.Partition) string {
	var parts []string
	for _, id := range r.Replicas {
		s := strconv.Itoa(int(id))
		if rack := p.racks[id]; rack != "" {
			s += " in " + rack
		}
		switch {
		case id == r.Leader:
			s += ", leader"
		case slices.Contains(r.Offline, id):
			s += ", not there"
		case !slices.Contains(r.ISR, id):
			s += ", out of sync"
		}
		parts = append(parts, s)
	}
	word := "replicas "
	if len(parts) == 1 {
		word = "one replica: "
	}
	return word + strings.Join(parts, "; ")
}

func (p *partitions) row(i int64) kit.Row {
	r, t := &p.all[p.rows[i]], p.Theme
	leftover := r.State != model.Live
	cells := [...]kit.Cell{
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
		p.replicasCell(r),
		p.skewCell(r),
		p.dirCell(r),
		p.noteCell(r),
	}
	if r.Err != nil || p.headless(r) {
		cells[colPartition].Text = t.Glyphs.Bad + " " + cells[colPartition].Text
		cells[colPartition].Style = t.Bad
	}
	if leftover {
		for c := range cells[:colNote] {
			cells[c].Style = t.Dim
		}
		cells[colSkew] = kit.Cell{}
	}
	shown := make([]kit.Cell, 0, len(p.cols))
	for _, c := range p.cols {
		shown = append(shown, cells[c])
	}
	return kit.Row{Cells: shown}
}

func (p *partitions) noteCell(r *model.Partition) kit.Cell {
	style := p.Theme.Warn
	if r.Err != nil || p.headless(r) {
		style = p.Theme.Bad
	}
	return kit.Cell{Text: kit.Safe(p.note(r), 500), Style: style}
}

// replicasCell names the brokers that hold a partition, those first that are in sync; the others carry a sign.
func (p *partitions) replicasCell(r *model.Partition) kit.Cell {
	t := p.Theme
	if len(r.Replicas) == 0 {
		return kit.Cell{Text: t.Glyphs.Unknown, Style: t.Dim}
	}
	var in, out []kit.Span
	for _, id := range r.Replicas {
		text := strconv.Itoa(int(id)) + " "
		switch {
		case slices.Contains(r.Offline, id):
			out = append(out, kit.Span{Text: t.Glyphs.Bad + text, Style: t.Bad})
		case !slices.Contains(r.ISR, id):
			out = append(out, kit.Span{Text: t.Glyphs.Down + text, Style: t.Warn})
		default:
			in = append(in, kit.Span{Text: text, Style: t.Dim})
		}
	}
	in = append(in, out...)
	in[len(in)-1].Text = strings.TrimSuffix(in[len(in)-1].Text, " ")
	return kit.Cell{Spans: in}
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
	switch {
	case p.headless(r):
		return kit.Cell{Text: p.Theme.Glyphs.Bad + " none", Style: p.Theme.Bad}
	case p.cluster && r.Leader >= 0:
		return kit.Cell{Spans: []kit.Span{{Text: strconv.Itoa(int(r.Leader))}, {Text: "/" + text, Style: p.Theme.Dim}}}
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
