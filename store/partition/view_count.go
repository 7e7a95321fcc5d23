package partition

import (
	"context"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// belowStart is how many data records of the first segment lie below the log start.
type belowStart struct {
	start, base, n int64
}

// Count counts the data records with offsets in [from, to): what a read_uncommitted consumer would be given. Control
// records, holes, emptied batches and what lies below the log start are not counted. Headers are enough for it but
// where a batch reaches over a bound, or is an old one that must be decompressed. from may be model.FromStart, to
// model.FromEnd.
func (v *View) Count(ctx context.Context, from, to int64) (int64, error) {
	if from == model.FromStart || from < v.start {
		from = v.start
	}
	if to == model.FromEnd || to > v.end {
		to = v.end
	}
	if from >= to || len(v.layers) == 0 {
		return 0, nil
	}
	if from == v.start && to == v.end {
		return v.countAll(ctx)
	}
	return v.countSpan(ctx, from, to)
}

// countAll counts the log, and remembers how many records of its first segment do not count.
func (v *View) countAll(ctx context.Context) (int64, error) {
	for _, l := range v.layers {
		if l.upper <= v.start && l.upper > l.base {
			continue
		}
		if err := v.walk(ctx, l); err != nil {
			return 0, err
		}
	}
	if v.below.Load() == nil {
		n := int64(0)
		if first := v.firstLayer(); v.start > first.base {
			var err error
			if n, err = v.countLayer(ctx, first, first.base, v.start); err != nil {
				return 0, err
			}
		}
		v.below.Store(&belowStart{v.start, v.layers[0].base, n})
	}
	n, ok := v.countKnown()
	if !ok {
		return v.countSpan(ctx, v.start, v.end)
	}
	return n, nil
}

// firstLayer is the layer that holds the log start.
func (v *View) firstLayer() *layer { return v.layers[v.layerAt(v.start)] }

// countKnown is the number of all data records, where all segments have been walked.
func (v *View) countKnown() (int64, bool) {
	if v.start >= v.end {
		return 0, v.err == nil
	}
	var n int64
	first := v.firstLayer()
	if v.start > first.base {
		b := v.below.Load()
		if b == nil {
			return 0, false
		}
		n = -b.n
	}
	for _, l := range v.layers[v.layerAt(v.start):] {
		k, whole := l.facts.known()
		if !whole {
			return 0, false
		}
		n += k.records
	}
	return n, true
}

// countSpan counts the records of [from, to).
func (v *View) countSpan(ctx context.Context, from, to int64) (int64, error) {
	var sum int64
	for _, l := range v.layers[v.layerAt(from):] {
		if l.base >= to {
			break
		}
		if k, whole := l.facts.known(); whole && from <= l.base && to >= l.upper && !k.disorder {
			sum += k.records
			continue
		}
		n, err := v.countLayer(ctx, l, from, to)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// countLayer counts the data records that a layer has in [from, to).
func (v *View) countLayer(ctx context.Context, l *layer, from, to int64) (int64, error) {
	var sum int64
	err := v.hopLayer(ctx, l, from, to, func(h record.Header, _ *layer, f *segment.File, pos int64) error {
		switch {
		case h.Control():
		case !h.Wrapper() && h.BaseOffset >= from && h.LastOffset() < to:
			sum += int64(max(h.Count, 0))
		default:
			n, err := countBatch(f, pos, h, from, to)
			if err != nil && !damaged(err) {
				return err
			}
			sum += n
		}
		return nil
	})
	return sum, err
}

// countBatch decodes a batch to count its records in [from, to).
func countBatch(f *segment.File, pos int64, h record.Header, from, to int64) (int64, error) {
	b, err := readBatch(f, pos, h.Size())
	if err != nil {
		return 0, err
	}
	var r record.Reader
	if err := r.Reset(b); err != nil {
		return 0, err
	}
	var n int64
	for r.Next() {
		if o := r.Record().Offset; o >= from && o < to {
			n++
		}
	}
	return n, r.Err()
}

// Scan gives fn the whole batches that reach into [from, to), in file order; seg is the base offset of their segment,
// and batch is valid until fn returns. What is damaged is passed over; checksums are not looked at. An error of fn ends
// the scan and is returned.
func (v *View) Scan(ctx context.Context, from, to int64, fn func(h record.Header, seg, pos int64, batch []byte) error) error {
	if from < v.start {
		from = v.start
	}
	if to == model.FromEnd || to > v.end {
		to = v.end
	}
	if from >= to || len(v.layers) == 0 {
		return nil
	}
	for _, l := range v.layers[v.layerAt(from):] {
		if l.base >= to {
			break
		}
		if err := v.scanLayer(ctx, l, from, to, fn); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) scanLayer(ctx context.Context, l *layer, from, to int64, fn func(h record.Header, seg, pos int64, batch []byte) error) error {
	f, err := v.open(l)
	if err != nil {
		return err
	}
	defer f.Close()
	pos := int64(0)
	if from > l.base {
		p, err := f.SeekOffset(from, ctx.Err)
		if err != nil || !p.Found {
			return err
		}
		pos = p.Pos
	}
	s := v.scanner(l, f, segment.ScanOptions{Stop: ctx.Err})
	s.Goto(pos)
	for {
		switch s.Next() {
		case segment.Failed:
			return scanError(f, s)
		case segment.End, segment.Torn, segment.Zeros:
			return nil
		case segment.Batch:
			h := s.Header()
			if h.LastOffset() < from || h.BaseOffset >= to && !h.Legacy() || s.Bytes() == nil {
				continue
			}
			if err := fn(h, l.base, s.Pos(), s.Bytes()); err != nil {
				return err
			}
		}
	}
}
