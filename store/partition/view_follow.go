package partition

import (
	"context"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// FollowOptions tunes Follow. The zero value gives all data records.
type FollowOptions struct {
	Committed bool // stop at the last stable offset, and leave aborted records out
	Control   bool // give control records too
	// May, when set, looks at a whole records section and says whether any record in it is wanted; the records of a
	// batch of which it says no are not decoded. Passed tells how many those were.
	May    func(section []byte) bool
	Passed func(records int)
	// Fault, when set, is told of damage met on the way.
	Fault func(model.Fault)
}

// Entry is a record that Follow gives: decoded, but not copied.
type Entry struct {
	TP         model.TopicPartition
	Header     record.Header
	Record     *record.Record // valid until the callback returns
	Segment    int64          // base offset
	Position   int64          // of the batch
	Visibility model.Visibility
	Untrusted  bool // the batch fails its checksum
	g          *reading
}

// Model returns the record as the model has it, with bytes of its own.
func (e *Entry) Model() model.Record {
	m := batchRecord(e.TP, e.Header, e.Segment, e.Position)
	m.Visibility, m.Untrusted = e.Visibility, e.Untrusted
	e.g.fill(&m, e.Record, e.Header)
	n := len(m.Key) + len(m.Value)
	for i := range m.Headers {
		n += len(m.Headers[i].Value)
	}
	// Each on its own: what is kept of a stream shall not keep its neighbours.
	e.g.arena.free = make([]byte, n)
	e.g.keep(&m)
	return m
}

// Follow gives fn the records from an offset to the end of the view, in order, and returns the offset to follow on from.
// An error of fn ends it and is returned, with the offset of the record that it was given.
func (v *View) Follow(ctx context.Context, from int64, o FollowOptions, fn func(*Entry) error) (next int64, err error) {
	from = max(from, v.start)
	end := v.end
	g := &reading{v: v, ctx: ctx, q: model.RecordQuery{Committed: o.Committed, Control: o.Control}, seen: map[faultKey]bool{}, rd: record.Borrow()}
	defer g.rd.Return()
	g.judge = v.newJudge(ctx)
	if o.Committed {
		if end, err = v.Stable(ctx); err != nil {
			return from, err
		}
	}
	if from >= end || len(v.layers) == 0 {
		return from, nil
	}
	w := &follower{reading: g, o: o, fn: fn, from: from, to: end, next: from}
	for n := v.layerAt(from); n < len(v.layers) && v.layers[n].base < end; n++ {
		if err := w.layer(n); err != nil {
			return w.next, err
		}
	}
	return end, nil
}

// follower is one run of Follow.
type follower struct {
	*reading
	o              FollowOptions
	fn             func(*Entry) error
	from, to, next int64
	entry          Entry
}

func (w *follower) layer(n int) error {
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
	size := segment.DefaultBuffer
	if rest := f.Size - pos; rest < int64(size) {
		size = int(max(rest, seekSize))
	}
	s := w.v.scanner(l, f, segment.ScanOptions{Check: true, Buffer: size, Stop: w.ctx.Err})
	s.Goto(pos)
	for {
		switch s.Next() {
		case segment.Failed:
			return scanError(f, s)
		case segment.End, segment.Torn, segment.Zeros:
			return nil
		case segment.Damage:
			w.tell(w.v.scanFault(l, s))
			continue
		}
		h := s.Header()
		if h.LastOffset() < w.from || h.BaseOffset >= w.to && !h.Legacy() {
			continue
		}
		if err := w.batch(n, s); err != nil {
			return err
		}
		w.next = max(w.next, min(h.NextOffset(), w.to))
	}
}

func (w *follower) tell(t model.Fault) {
	if w.o.Fault != nil {
		t.TP = w.v.tp
		w.o.Fault(t)
	}
}

// batch gives the records of the batch that s is at.
func (w *follower) batch(n int, s *segment.Scanner) error {
	l, h := w.v.layers[n], s.Header()
	e := &w.entry
	*e = Entry{TP: w.v.tp, Header: h, Segment: l.base, Position: s.Pos(), g: w.reading}
	if stored, computed := s.Sum(); stored != computed {
		e.Untrusted = true
		w.tell(w.v.crcFault(l, s.Pos(), h, stored, computed))
	}
	if h.Control() && !w.o.Control || s.Bytes() == nil {
		return nil
	}
	var err error
	if e.Visibility, err = w.judge.visible(h, n, s.Pos()); err != nil {
		return err
	}
	if w.o.Committed && e.Visibility != model.Visible {
		return nil
	}
	if err := w.rd.Reset(s.Bytes()); err != nil {
		w.tell(w.v.recordFault(l, s.Pos(), h, err))
		return nil
	}
	if w.o.May != nil && h.BaseOffset >= w.from && h.LastOffset() < w.to && !h.Wrapper() && !w.o.May(w.rd.Section()) {
		if w.o.Passed != nil {
			w.o.Passed(int(max(h.Count, 0)))
		}
		return nil
	}
	for w.rd.Next() {
		r := w.rd.Record()
		if r.Offset < w.from || r.Offset >= w.to {
			continue
		}
		w.next = max(w.next, r.Offset)
		e.Record = r
		if err := w.fn(e); err != nil {
			return err
		}
	}
	if err := w.rd.Err(); err != nil {
		w.tell(w.v.recordFault(l, s.Pos(), h, err))
	}
	return nil
}
