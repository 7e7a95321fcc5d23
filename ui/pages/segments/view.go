package segments

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	headLines = 3 // facts, rule, heads
	footLines = 2 // rule, the file under the cursor
	roomy     = 14
)

func (p *segments) View(w, h int) string {
	switch {
	case p.src == nil:
		return kit.Problem(p.Theme, w, h, page.NoFiles(p.Src, "this source shows no files", "its records are near, its batches (b on a partition) and its sizes (8)"), "r reads the records, esc goes back")
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r reads it again, esc goes back to the partitions")
	case !p.loaded && p.load.Slow():
		return kit.Empty(p.Theme, w, h, "reading the segments of "+kit.Safe(p.tp.String(), 200), "the end of each is being looked for")
	case !p.loaded:
		return kit.Block("", w, h)
	case len(p.segs) == 0:
		return kit.Empty(p.Theme, w, h, "this partition has no segment here", "the first record makes one; p produces it")
	}
	head, foot := headLines, footLines
	if h < roomy {
		foot = 0
	}
	if h < headLines+4 {
		head = 1 // only the columns' names: the layers are what the page is for
	}
	p.heads = head
	body := h - head - foot
	if body < 1 {
		return kit.Block(p.facts(w), w, h)
	}
	p.layout(body)
	lines := make([]string, 0, h)
	if head == headLines {
		lines = append(lines, p.facts(w), page.Rule(p.Theme, w, ""))
	}
	lines = append(lines, p.draw(w, body)...)
	if foot > 0 {
		lines = append(lines, page.Rule(p.Theme, w, ""), p.foot(w))
	}
	return strings.Join(lines, "\n")
}

// layout puts the layers on lines for a body of h of them; it does nothing when they stand there already.
func (p *segments) layout(h int) {
	if c := &p.core; c.stale || c.h != h || len(c.starts) == 0 {
		c.lay(p.segs, p.live, h)
		start, end := model.Unknown, model.Unknown
		if p.part.Topic != "" {
			start, end = p.part.LogStart, p.part.LogEnd
		}
		c.stand(p.pegs, p.segs, p.layerOf, start, end)
		c.show(p.cursor)
	}
}

// facts is the head line.
func (p *segments) facts(w int) string {
	t, r := p.Theme, &p.part
	if r.Topic == "" {
		return kit.Blank(w)
	}
	var bytes int64
	for i := range p.live {
		bytes += max(0, p.segs[i].Bytes)
	}
	facts := []page.Fact{
		{Name: "start", Value: page.OffsetText(t, r.LogStart)},
		{Name: "stable", Value: page.OffsetText(t, r.LastStable)},
		{Name: "high watermark", Value: p.watermark()},
		{Value: page.Counted(t, r.Records, "record")},
		{Value: kit.BytesText(bytes)},
	}
	if r.LogEnd != r.HighWatermark {
		facts = append(facts, page.Fact{Name: "end", Value: page.OffsetText(t, r.LogEnd)})
	}
	if p.skew > 0 {
		facts = append(facts, page.Fact{Name: "skew", Value: fmt.Sprintf("%.2f×", p.skew)})
	}
	if r.LeaderEpoch >= 0 {
		facts = append(facts, page.Fact{Name: "epoch", Value: kit.Number(int64(r.LeaderEpoch))})
	}
	if r.Err != nil {
		facts = append([]page.Fact{{Value: t.Glyphs.Bad + " " + kit.Safe(r.Err.Error(), 300), Style: t.Bad}}, facts...)
	}
	return page.Facts(t, w, facts...)
}

// watermark is the high watermark, ≈ where a checkpoint tells it, which may be older than the data.
func (p *segments) watermark() string {
	text := page.OffsetText(p.Theme, p.part.HighWatermark)
	if p.part.HWFromCheckpoint && p.part.HighWatermark >= 0 && p.part.HighWatermark < p.part.LogEnd {
		return p.Theme.Glyphs.About + " " + text
	}
	return text
}

// draw returns the heads and the lines of the core on screen.
func (p *segments) draw(w, h int) []string {
	c, g := &p.core, &p.grid
	to := min(c.top+h, c.lines())
	cells := map[int][]kit.Cell{}
	for line := c.top; line < to; line++ {
		i, nth := c.layerAt(line)
		g.ask(colGroups, kit.SpansWidth(p.pegSpans(c.pegs[line], maxGroups)))
		if i < 0 || nth > 0 {
			continue
		}
		row := p.cells(i)
		cells[i] = row
		for n, cell := range row {
			switch {
			case n == colLeaves:
				g.ask(n, min(fullLeaves, cell.Width()))
			case i < p.live || n != colWritten:
				g.ask(n, cell.Width())
			}
		}
	}
	g.ask(colBase, len(kit.Number(max(0, p.part.LogEnd))))
	g.place(w, len(p.pegs) > 0)

	out := make([]string, 0, h+1)
	var l kit.Line
	for n := range g.cols {
		g.cell(&l, p.Theme, n, kit.Cell{Text: g.cols[n].name, Style: p.Theme.Head})
	}
	out = append(out, l.Fit(w))
	for line := c.top; line < c.top+h; line++ {
		l.Reset()
		out = append(out, p.line(&l, w, line, cells))
	}
	return out
}

// line draws one line of the core.
func (p *segments) line(l *kit.Line, w, line int, cells map[int][]kit.Cell) string {
	c, t := &p.core, p.Theme
	if line >= c.lines() {
		return kit.Blank(w)
	}
	if line == 0 || line == c.logStart {
		return p.edge(l, w, line)
	}
	i, nth := c.layerAt(line)
	selected := i == p.cursor
	if selected {
		l.Add(t.Accent, t.Glyphs.Cursor)
	}
	l.To(gutter)
	p.stratum(l, i)
	core := ""
	if selected && w > gutter+coreCells {
		// The background begins behind the core, whose shades it would change.
		core = l.Fit(gutter + coreCells)
		l.Reset()
		l.Space(gutter + coreCells)
	}
	if nth == 0 {
		for n, cell := range cells[i] {
			p.grid.cell(l, t, n, cell)
		}
	}
	p.grid.cell(l, t, colGroups, kit.Cell{Spans: p.pegSpans(c.pegs[line], p.grid.cols[colGroups].got)})
	text := l.Fit(w)
	if core != "" {
		return core + t.CursorRow(text[gutter+coreCells:], w-gutter-coreCells)
	}
	return text
}

// stratum draws the core's cells of layer i, darker the older it is.
func (p *segments) stratum(l *kit.Line, i int) {
	t := p.Theme
	if i >= p.live {
		l.Add(t.Dim, strings.Repeat(t.Glyphs.BarEmpty, coreCells))
		return
	}
	shades, style := t.Glyphs.Shade, kit.Style{}
	if n := len(t.Ages) * 3 / 4; n > 0 {
		style = t.Ages[i*n/max(p.live, 4)] // not the darkest: the shades darken, too
	}
	if p.segs[i].Err != nil {
		style = t.Bad
	}
	l.Add(style, strings.Repeat(shades[i*len(shades)/max(p.live, 4)], coreCells))
}

// edge draws the log end or the log start, with a thin line up to the groups.
func (p *segments) edge(l *kit.Line, w, line int) string {
	t, g := p.Theme, &p.grid
	// The edges lie against the core: the lower edge of the line above it, the upper edge of the line below.
	glyph, offset, word := t.Glyphs.BottomEdge, p.part.LogEnd, "log end"
	if line != 0 {
		glyph, offset, word = t.Glyphs.TopEdge, p.part.LogStart, "log start"
		if p.live > 0 && offset > p.segs[p.live-1].Base {
			word = "log start, within the layer above"
		}
	}
	if p.part.Topic == "" {
		offset = model.Unknown
	}
	l.To(gutter).Add(t.Dim, strings.Repeat(glyph, coreCells))
	g.cell(l, t, colBase, page.OffsetCell(t, offset))
	right := w
	if g.shown(colGroups) {
		right = g.cols[colGroups].x - gap
	}
	const tail = 2
	if room := right - l.Width() - 1 - kit.Width(word) - 2 - tail; room >= 0 {
		l.Space(1).Add(t.Rule, strings.Repeat(t.Glyphs.Rule, room)).Space(1).Add(t.Dim, word).Space(1).
			Add(t.Rule, strings.Repeat(t.Glyphs.Rule, tail))
	}
	g.cell(l, t, colGroups, kit.Cell{Spans: p.pegSpans(p.core.pegs[line], g.cols[colGroups].got)})
	return l.Fit(w)
}

// foot names the file under the cursor and what the columns have no room for.
func (p *segments) foot(w int) string {
	s, t := p.at(), p.Theme
	if s == nil {
		return kit.Blank(w)
	}
	facts := []page.Fact{{Value: kit.Safe(filepath.Base(s.Path), 80)}}
	add := func(name, value string) { facts = append(facts, page.Fact{Name: name, Value: value}) }
	if s.Err != nil {
		facts = append(facts, page.Fact{Value: t.Glyphs.Bad + " " + kit.Safe(s.Err.Error(), 400), Style: t.Bad})
		return page.Facts(t, w, facts...)
	}
	if s.Trailing > 0 {
		what, style := "torn", t.Warn
		if s.TrailingZero {
			what, style = "zero, preallocated", kit.Style{}
		}
		facts = append(facts, page.Fact{Value: kit.BytesText(s.Trailing) + " behind the last batch, " + what, Style: style})
	}
	if s.Leaves >= 0 && s.Rule != "" && s.Rule != "active" {
		add("leaves by", kit.Safe(s.Rule, 60))
	}
	if s.Last >= 0 {
		add("last", kit.Number(s.Last))
	}
	if s.Batches.Known() {
		add("batches", page.CountText(t, s.Batches))
	}
	for _, x := range []struct {
		name string
		n    int
	}{{"index", s.IndexEntries}, {"timeindex", s.TimeEntries}, {"txnindex", s.TxnEntries}} {
		if x.n >= 0 {
			add(x.name, kit.Number(int64(x.n)))
		} else if x.name != "txnindex" {
			add(x.name, t.Glyphs.Unknown)
		}
	}
	if s.FirstTimestamp >= 0 && s.LastTimestamp > s.FirstTimestamp {
		add("spans", kit.Duration(time.Duration(min(s.LastTimestamp-s.FirstTimestamp, 1<<42))*time.Millisecond))
	}
	return page.Facts(t, w, facts...)
}
