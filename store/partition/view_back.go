package partition

import (
	"context"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

const (
	// backSpan is how many bytes a backward read goes back at first; each further step goes back four times as far.
	backSpan = 64 << 10
	// maxRefs is how many batches of a step are remembered at the most.
	maxRefs = 8192
)

// ref is a batch that a backward read will decode.
type ref struct {
	pos  int64
	head record.Header
	vis  model.Visibility
}

// backward reads the records before an offset.
func (g *reading) backward(to int64) error {
	p := &g.page
	p.Next, p.AtEnd = to, to >= p.End
	var parts [][]model.Record // newest first
	full := false
	if to > p.Start && len(g.v.layers) > 0 {
		for n := g.v.layerAt(to - 1); n >= 0 && !full; n-- {
			var err error
			if parts, full, err = g.layerBack(n, to, parts); err != nil {
				return err
			}
		}
	}
	slices.Reverse(parts)
	p.Records = slices.Concat(parts...)
	p.Prev, p.AtStart = p.Start, true
	if full {
		p.Prev = to - 1
		for i := range p.Records {
			p.Prev = min(p.Prev, p.Records[i].Offset) // damaged base offsets may put some out of order
		}
		p.Prev = max(p.Prev, p.Start)
		p.AtStart = p.Prev <= p.Start
	}
	return nil
}

// layerBack adds what layer number n has before an offset.
func (g *reading) layerBack(n int, to int64, parts [][]model.Record) ([][]model.Record, bool, error) {
	l := g.v.layers[n]
	f, err := g.v.open(l)
	if err != nil {
		return parts, false, err
	}
	defer f.Close()
	end := g.v.limit(l, f)
	g.tailFaults(l)
	if to < l.upper {
		p, err := f.SeekOffset(to, g.ctx.Err)
		if err != nil {
			return parts, false, err
		}
		if p.Found {
			end = p.Pos + p.Header.Size()
		}
	}
	for span := int64(backSpan); end > 0; span *= 4 {
		from, err := g.v.batchBefore(g.ctx, l, f, end-span)
		if err != nil {
			return parts, false, err
		}
		refs, cut, err := g.refs(n, f, from, end, to)
		if err != nil {
			return parts, false, err
		}
		var full bool
		if parts, full, err = g.decodeBack(n, f, refs, to, parts); err != nil || full {
			return parts, full, err
		}
		end = from
		if cut && len(refs) > 0 {
			end = refs[0].pos
		}
	}
	return parts, false, nil
}

// batchBefore returns a byte, at most pos, at which a batch begins; 0 will always do.
func (v *View) batchBefore(ctx context.Context, l *layer, f *segment.File, pos int64) (int64, error) {
	if pos <= 0 {
		return 0, nil
	}
	if at, ok := f.Before(pos); ok {
		return at, nil
	}
	if err := v.walk(ctx, l); err != nil {
		return 0, err
	}
	l.facts.mu.Lock()
	defer l.facts.mu.Unlock()
	marks := l.facts.marks
	i, exact := slices.BinarySearchFunc(marks, pos, func(m mark, p int64) int { return cmpOffset(m.pos, p) })
	if !exact {
		i--
	}
	if i < 0 {
		return 0, nil
	}
	return marks[i].pos, nil
}

// refs lists the batches of [from, end) that may hold records before an offset, in file order; cut tells that only the
// last ones of them are listed, which are enough to begin with.
func (g *reading) refs(n int, f *segment.File, from, end, to int64) (list []ref, cut bool, err error) {
	l := g.v.layers[n]
	s := g.v.scanner(l, f, segment.ScanOptions{Headers: true, Buffer: pageBuffer, Stop: g.ctx.Err})
	s.Goto(from)
	for {
		k := s.Next()
		if k == segment.Failed {
			return nil, false, scanError(f, s)
		}
		if k == segment.End || k == segment.Torn || k == segment.Zeros || s.Pos() >= end {
			break
		}
		if k == segment.Damage {
			g.fault(g.v.scanFault(l, s))
			continue
		}
		h := s.Header()
		if h.BaseOffset >= to && !h.Legacy() && !g.stray(l, h) || h.LastOffset() < g.page.Start ||
			h.Control() && !g.q.Control {
			continue
		}
		if len(list) == maxRefs {
			list, cut = append(list[:0], list[maxRefs/2:]...), true
		}
		list = append(list, ref{pos: s.Pos(), head: h})
	}
	for i := range list {
		if list[i].vis, err = g.judge.visible(list[i].head, n, list[i].pos); err != nil {
			return nil, false, err
		}
	}
	return list, cut, nil
}

// decodeBack decodes batches from the last to the first until the page is full.
func (g *reading) decodeBack(n int, f *segment.File, refs []ref, to int64, parts [][]model.Record) (_ [][]model.Record, full bool, _ error) {
	s := g.v.scanner(g.v.layers[n], f, segment.ScanOptions{Check: true, Buffer: seekSize, Stop: g.ctx.Err})
	for _, r := range slices.Backward(refs) {
		if g.q.Committed && r.vis != model.Visible {
			continue
		}
		s.Goto(r.pos)
		switch s.Next() {
		case segment.Failed:
			return parts, false, scanError(f, s)
		case segment.Batch:
		default:
			continue // damage between, listed by refs
		}
		var recs []model.Record
		if _, err := g.batch(n, s, g.page.Start, to, func(m model.Record) bool {
			recs = append(recs, m)
			return false
		}); err != nil {
			return parts, false, err
		}
		var part []model.Record
		for _, m := range slices.Backward(recs) {
			stray := m.Offset >= to // it does not fill the page, as in take
			if stray && (g.odd >= g.max || g.used >= g.bytes) {
				continue
			}
			if stray {
				g.odd++
			} else {
				g.good++
			}
			g.keep(&m)
			part = append(part, m)
			if full = g.good > 0 && (g.good >= g.max || g.used >= g.bytes); full {
				break
			}
		}
		if len(part) > 0 {
			slices.Reverse(part)
			parts = append(parts, part)
		}
		if full {
			return parts, true, nil
		}
	}
	return parts, false, nil
}
