package records

import (
	"strconv"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

func (p *records) View(w, h int) string {
	switch {
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r reads it again, esc goes back")
	case !p.loaded && p.Busy():
		return kit.Empty(p.Theme, w, h, "reading "+kit.Safe(p.tp.Topic, 200), "esc goes back")
	case !p.loaded:
		return kit.Block("", w, h)
	case h <= headLines:
		return kit.Block(p.head(w), w, h)
	}
	frame := p.head(w) + "\n" + page.Rule(p.Theme, w, "") + "\n"
	body := h - headLines
	below := ""
	if p.bare() {
		what, next := p.teach()
		if len(p.items) == 0 {
			return frame + kit.Empty(p.Theme, w, body+1, what, next)
		}
		if body > len(p.items) {
			below = "\n" + kit.Empty(p.Theme, w, body-len(p.items), what, next)
			body = len(p.items)
		}
	}
	frame += kit.Pad(kit.Blank(kit.Gutter)+p.table.Head(max(0, w-kit.Gutter)), w) + "\n"
	return frame + p.list.View(w, body, func(i int64) string { return p.line(i, w-kit.Gutter) }) + below
}

// bare reports whether nothing but groups' positions is there.
func (p *records) bare() bool {
	for i := range p.items {
		if p.items[i].kind != aGroup {
			return false
		}
	}
	return true
}

// line draws a row in w cells.
func (p *records) line(i int64, w int) string {
	if w <= 0 {
		return ""
	}
	it := &p.items[i]
	if it.kind != aRecord {
		return p.mark(i, w)
	}
	r := &p.span.recs[it.rec]
	if r.Control != "" {
		return p.table.Mark(w, rows.Mark{Offset: r.Offset, Before: it.n, Text: controlText(r), Style: p.Theme.Null, Ruled: true})
	}
	return p.table.Row(w, r, it.n)
}

// head says where the log begins and ends, or while something is searched for how far that has come.
func (p *records) head(w int) string {
	t := p.Theme
	if f := &p.find; f.stream.Busy() && p.Now().Sub(f.began) > 150*time.Millisecond {
		way := "finding "
		if f.backward {
			way = "finding backwards "
		}
		return rows.Progress(t, f.event, p.Now().Sub(f.began), way+kit.Safe(f.pattern.Text, 60), w)
	}
	var facts []page.Fact
	if p.committed {
		facts = append(facts, page.Fact{Value: "committed only", Style: t.Warn})
	}
	if p.many > 1 {
		facts = append(facts, page.Fact{Name: "partition", Value: strconv.Itoa(int(p.tp.Partition)) + " of " + strconv.Itoa(p.many)})
	}
	facts = append(facts, page.Fact{Name: "start", Value: kit.Number(p.span.start)})
	q := &p.part
	end := p.span.end
	if q.Topic != "" {
		end = max(end, q.LogEnd)
	}
	facts = append(facts, page.Fact{Name: "end", Value: kit.Number(end)})
	if q.Topic != "" {
		facts = append(facts, page.Fact{Value: page.Counted(t, q.Records, "record")})
		if q.LastStable >= 0 && q.LastStable < q.LogEnd {
			facts = append(facts, page.Fact{Name: "stable", Value: kit.Number(q.LastStable)})
		}
		if q.HighWatermark >= 0 && q.HighWatermark < q.LogEnd {
			hw := kit.Number(q.HighWatermark)
			if q.HWFromCheckpoint {
				hw = t.Glyphs.About + " " + hw // as of the last checkpoint
			}
			facts = append(facts, page.Fact{Name: "high watermark", Value: hw})
		}
		facts = append(facts, page.Fact{Value: kit.BytesText(q.Bytes)})
	}
	return page.Facts(t, w, facts...)
}

// teach says what an empty list would show and how to make it so.
func (p *records) teach() (what, next string) {
	next = "they appear here as they are written"
	if _, ok := p.Src.(model.Producer); ok {
		next = "p produces one; they appear here as they are written"
	}
	if p.many > 1 {
		next += "; ] goes to the next partition"
	}
	switch {
	case p.committed && p.span.start < p.span.end:
		return "no record here is committed", "c shows the others too"
	case p.span.start > 0 && p.span.start >= p.span.end:
		return "all records were deleted: the log starts where it ends, at " + kit.Number(p.span.end), next
	}
	return "there are no records in " + kit.Safe(p.tp.String(), 200), next
}

// Status says where the cursor is.
func (p *records) Status() string {
	if !p.loaded {
		return ""
	}
	if it := p.row(); it != nil && it.kind == aFault {
		return kit.Safe(p.faultText(it), 400)
	}
	s := ""
	switch at := p.offsetOf(p.list.Cursor()); {
	case p.follow:
		s = "following the end"
	case at >= 0 && p.span.end > p.span.start:
		part := min(100, 100*(at-p.span.start)/max(1, max(p.span.end, p.part.LogEnd)-p.span.start))
		s = "offset " + kit.Number(at) + " · " + strconv.FormatInt(max(0, part), 10) + " %"
	}
	if it := p.row(); it != nil && it.kind == aRecord && it.n > 0 {
		s += " · " + p.goneText(it.n, false) + " before it"
	}
	switch {
	case p.err != nil:
		s = kit.Safe(p.err.Error(), 100) + " · " + s
	case p.pegErr != nil:
		s = "groups: " + kit.Safe(p.pegErr.Error(), 80) + " · " + s
	case len(p.span.faults) > 0:
		s = kit.Number(int64(len(p.span.faults))) + " faults near · " + s
	}
	return s
}
