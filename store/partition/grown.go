package partition

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// Grown is Refresh for a caller who knows that no file of the folder was made, renamed or removed since v was made: it
// looks at the segment only that is written to, through one open file, and reads what has come to it.
func (v *View) Grown(o ViewOptions) (*View, bool, error) {
	k := len(v.layers) - 1
	if k < 0 || v.err != nil || o != v.o {
		return v.Refresh(o)
	}
	last := v.layers[k]
	info, err := os.Stat(filepath.Join(v.dir, v.name(last)))
	if err != nil || info.Size() <= last.size || !last.active || last.tail == nil {
		return v.Refresh(o)
	}
	f, err := v.open(last)
	if err != nil {
		return v.Refresh(o)
	}
	defer f.Close()
	if h, err := f.Header(last.tail.LastPos); last.tail.LastPos >= 0 && (err != nil || h != last.tail.Last) {
		return v.Refresh(o) // it was truncated meanwhile
	}
	tail, err := f.TailAfter(*last.tail, nil)
	if err != nil || tail.End < last.tail.End || tail.Next < last.tail.Next {
		return v.Refresh(o)
	}
	l := &layer{base: last.base, suffix: last.suffix, size: f.Size, mtime: info.ModTime().UnixNano(), active: true,
		state: last.state, tail: &tail, facts: last.facts.grown()}
	n := &View{dir: v.dir, tp: v.tp, state: v.state, o: o, left: v.left, epochs: v.epochs, snaps: v.snaps, faults: v.faults,
		stamp: v.stamp, bytes: v.bytes + l.size - last.size, start: v.start, end: max(tail.Next, l.base)}
	n.layers = append(slices.Clone(v.layers[:k]), l)
	l.upper = n.end
	if b := v.below.Load(); b != nil {
		n.below.Store(b)
	}
	n.grownFacts(last, l, f)
	n.txns = v.txns.grown(n, f, last.tail.End)
	return n, true, nil
}

// grownFacts walks on through what has come to a segment that was walked whole before.
func (v *View) grownFacts(was, l *layer, f *segment.File) {
	if _, whole := was.facts.known(); !whole {
		return
	}
	l.grew = true
	l.facts.mu.Lock()
	defer l.facts.mu.Unlock()
	_ = l.facts.extend(context.Background(), v, l, f, -1) // asked for again, and answered with its error, by Count
}

// grown takes the transactions of what has come to the log, from a byte of its newest segment on, into account.
func (c *txnCache) grown(v *View, f *segment.File, from int64) *txnCache {
	n := &txnCache{upTo: model.Unknown}
	c.mu.Lock()
	done, open := c.done, maps.Clone(c.open)
	c.mu.Unlock()
	if !done {
		return n
	}
	if k, whole := v.layers[len(v.layers)-1].facts.known(); len(open) == 0 && whole && !k.txnData {
		// The walk over the same headers has met no transaction.
		n.open, n.upTo, n.stable, n.done = open, v.end, v.end, true
		return n
	}
	s := f.Scanner(segment.ScanOptions{Headers: true, Buffer: 64 << 10})
	s.Goto(from)
	for k := s.Next(); k == segment.Batch || k == segment.Damage; k = s.Next() {
		if k == segment.Batch {
			open = openedBy(open, s.Header())
		}
	}
	if s.Err() != nil {
		return n
	}
	stable := v.end
	for _, first := range open {
		stable = min(stable, first)
	}
	n.open, n.upTo, n.stable, n.done = open, v.end, max(stable, v.start), true
	return n
}

// openedBy adds what a batch opens or ends to the open transactions.
func openedBy(open map[int64]int64, h record.Header) map[int64]int64 {
	switch {
	case !h.Transactional() || !h.HasProducer():
	case h.Control():
		delete(open, h.ProducerID)
	default:
		if open == nil {
			open = map[int64]int64{}
		}
		if _, ok := open[h.ProducerID]; !ok {
			open[h.ProducerID] = h.BaseOffset
		}
	}
	return open
}

// FollowAt is Follow for a caller who knows a batch of the newest segment that lies at or before the offset to follow
// from, by its byte, and that it is still there: nothing is looked up.
func (v *View) FollowAt(ctx context.Context, pos, from int64, o FollowOptions, fn func(*Entry) error) (next int64, err error) {
	n := len(v.layers) - 1
	if n < 0 || from < v.layers[n].base {
		return v.Follow(ctx, from, o, fn)
	}
	l, end := v.layers[n], v.end
	g := &reading{v: v, ctx: ctx, q: model.RecordQuery{Committed: o.Committed, Control: o.Control}, seen: map[faultKey]bool{}, rd: record.Borrow()}
	defer g.rd.Return()
	g.judge = v.newJudge(ctx)
	if o.Committed {
		if end, err = v.Stable(ctx); err != nil {
			return from, err
		}
	}
	if from = max(from, v.start); from >= end {
		return from, nil
	}
	f, err := v.open(l)
	if err != nil {
		return from, err
	}
	defer f.Close()
	w := &follower{reading: g, o: o, fn: fn, from: from, to: end, next: from}
	s := f.Scanner(segment.ScanOptions{Check: true, Buffer: segment.DefaultBuffer, Stop: ctx.Err})
	for s.Goto(pos); ; {
		switch s.Next() {
		case segment.Failed:
			return w.next, scanError(f, s)
		case segment.End, segment.Torn, segment.Zeros:
			return end, nil
		case segment.Damage:
			w.tell(v.scanFault(l, s))
		case segment.Batch:
			h := s.Header()
			if h.LastOffset() < from || h.BaseOffset >= end && !h.Legacy() {
				continue
			}
			if err := w.batch(n, s); err != nil {
				return w.next, err
			}
			w.next = max(w.next, min(h.NextOffset(), end))
		}
	}
}
