package partition

import (
	"context"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// Whole gives fn the whole, sound batches that reach into [from, to), in file order, with what became of their
// transactions. Damage is told to fault and passed over. A batch is valid until fn returns; an error of fn ends it and is
// returned, with the offset to go on from.
func (v *View) Whole(ctx context.Context, from, to int64, fault func(model.Fault), fn func(h record.Header, batch []byte, vis model.Visibility) error) (next int64, err error) {
	from, to = max(from, v.start), min(to, v.end)
	next = from
	if from >= to || len(v.layers) == 0 {
		return next, nil
	}
	if fault == nil {
		fault = func(model.Fault) {}
	}
	w := wholes{v: v, ctx: ctx, judge: v.newJudge(ctx), from: from, to: to, next: from, fn: fn, fault: func(f model.Fault) {
		f.TP = v.tp
		fault(f)
	}}
	for n := v.layerAt(from); n < len(v.layers) && v.layers[n].base < to; n++ {
		if err := w.layer(n); err != nil {
			return w.next, err
		}
	}
	return to, nil
}

// wholes is one run of Whole.
type wholes struct {
	v              *View
	ctx            context.Context
	judge          *judge
	from, to, next int64
	fault          func(model.Fault)
	fn             func(h record.Header, batch []byte, vis model.Visibility) error
}

func (w *wholes) layer(n int) error {
	l := w.v.layers[n]
	f, err := w.v.open(l)
	if err != nil {
		return err
	}
	defer f.Close()
	pos := int64(0)
	if w.from > l.base {
		p, err := f.SeekOffset(w.from, w.ctx.Err)
		if err != nil || !p.Found {
			return err
		}
		pos = p.Pos
	}
	s := w.v.scanner(l, f, segment.ScanOptions{Check: true, Stop: w.ctx.Err})
	s.Goto(pos)
	for {
		switch s.Next() {
		case segment.Failed:
			return scanError(f, s)
		case segment.End, segment.Torn, segment.Zeros:
			return nil
		case segment.Damage:
			w.fault(w.v.scanFault(l, s))
			continue
		}
		h := s.Header()
		if h.LastOffset() < w.from || h.BaseOffset >= w.to && !h.Legacy() {
			continue
		}
		if stored, computed := s.Sum(); stored != computed || s.Bytes() == nil {
			w.fault(w.v.crcFault(l, s.Pos(), h, stored, computed))
			continue
		}
		vis, err := w.judge.visible(h, n, s.Pos())
		if err != nil {
			return err
		}
		if err := w.fn(h, s.Bytes(), vis); err != nil {
			return err
		}
		w.next = max(w.next, min(h.NextOffset(), w.to))
	}
}
