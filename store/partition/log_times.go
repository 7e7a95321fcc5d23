package partition

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// Dated is a record that was looked for by its time.
type Dated struct {
	Offset int64
	Time   int64 // ms
	Epoch  int32 // of its batch
}

// ByTime returns the first record, in the order of the log, that is dated ms or later; false where there is none.
func (l *Log) ByTime(ctx context.Context, ms int64) (Dated, bool, error) {
	b, err := l.Bounds()
	if err != nil {
		return Dated{}, false, err
	}
	sh, err := l.shaped()
	if err != nil {
		return Dated{}, false, err
	}
	for i := range sh.segs {
		if i+1 < len(sh.segs) {
			if sh.segs[i+1].base <= b.Start {
				continue
			}
			newest, ok, err := l.newest(sh, i)
			if err != nil {
				return Dated{}, false, l.timeError(err)
			}
			if ok && newest.Time < ms {
				continue
			}
		}
		d, found, err := l.inSegment(ctx, sh.segs[i].base, ms, b.Start)
		if err != nil {
			return Dated{}, false, l.timeError(err)
		}
		if found {
			return d, d.Offset < b.End, nil
		}
	}
	return Dated{}, false, nil
}

func (l *Log) timeError(err error) error { return fmt.Errorf("search %s by time: %w", l.o.TP, err) }

// Newest returns the first record with the largest timestamp that the segments know of, which may lie below the log
// start; false where there is none.
func (l *Log) Newest(ctx context.Context) (Dated, bool, error) {
	sh, err := l.shaped()
	if err != nil {
		return Dated{}, false, err
	}
	best, at := Dated{Time: model.NoTime}, -1
	for i := range sh.segs {
		d, ok, err := l.newest(sh, i)
		if err != nil {
			return Dated{}, false, l.timeError(err)
		}
		if ok && d.Time > best.Time {
			best, at = d, i
		}
	}
	if at < 0 {
		return Dated{}, false, nil
	}
	d, found, err := l.inSegment(ctx, sh.segs[at].base, best.Time, 0)
	if err != nil {
		return Dated{}, false, l.timeError(err)
	}
	return d, found, nil
}

// times remembers the largest timestamps of closed segments, which cost an open each.
type times struct {
	mu         sync.Mutex
	generation int64
	by         map[int64]Dated
}

// newest returns the largest timestamp in segment number i, with the last offset of the batch that has it. It is false
// where the segment does not say.
func (l *Log) newest(sh *shape, i int) (Dated, bool, error) {
	base := sh.segs[i].base
	if i+1 == len(sh.segs) && sh.active != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.active != sh.active {
			return Dated{}, false, nil // it was closed meanwhile: look into it
		}
		ms, offset := sh.active.MaxTime()
		return Dated{Time: ms, Offset: offset}, ms >= 0, nil
	}
	l.times.mu.Lock()
	defer l.times.mu.Unlock()
	if l.times.by == nil || l.times.generation != sh.generation {
		l.times.by, l.times.generation = map[int64]Dated{}, sh.generation
	}
	if d, ok := l.times.by[base]; ok {
		return d, d.Time >= 0, nil
	}
	d, err := l.lastEntry(base)
	if err == nil && i+1 < len(sh.segs) {
		l.times.by[base] = d
	}
	return d, d.Time >= 0, err
}

// lastEntry reads the last entry of a closed segment's time index.
func (l *Log) lastEntry(base int64) (Dated, error) {
	none := Dated{Time: model.NoTime}
	defer l.Hold()()
	f, err := segment.OpenFile(l.o.Dir, base, "")
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil // deleted meanwhile
	}
	if err != nil {
		return none, err
	}
	defer f.Close()
	x, err := f.Times()
	if err != nil || x.Len() == 0 {
		return none, nil // the log is read instead
	}
	ms, offset, ok := x.At(x.Len() - 1)
	if !ok {
		return none, x.Err()
	}
	return Dated{Time: ms, Offset: offset}, nil
}

// inSegment returns the first record of a segment that is dated ms or later and not below an offset.
func (l *Log) inSegment(ctx context.Context, base, ms, from int64) (Dated, bool, error) {
	defer l.Hold()()
	f, err := segment.OpenFile(l.o.Dir, base, "")
	if errors.Is(err, fs.ErrNotExist) {
		return Dated{}, false, nil // deleted meanwhile
	}
	if err != nil {
		return Dated{}, false, err
	}
	defer f.Close()
	p, err := f.SeekTime(ms, from, ctx.Err)
	if err != nil || !p.Found {
		return Dated{}, false, err
	}
	r := record.Borrow()
	defer r.Return()
	var buf []byte
	s := p.Scan
	for s.Goto(p.Pos); ; {
		switch s.Next() {
		case segment.End, segment.Torn, segment.Zeros:
			return Dated{}, false, nil
		case segment.Failed:
			return Dated{}, false, s.Err()
		case segment.Damage:
			continue
		}
		h := s.Header()
		if h.MaxTimestamp < ms || h.LastOffset() < from {
			continue
		}
		if int64(cap(buf)) < h.Size() {
			buf = make([]byte, h.Size())
		}
		if _, err := f.Log.ReadAt(buf[:h.Size()], s.Pos()); err != nil {
			return Dated{}, false, err
		}
		d, found, err := inBatch(r, buf[:h.Size()], ms, from)
		if err != nil {
			return Dated{}, false, &model.CorruptError{Path: f.Log.Name(), Pos: s.Pos(), What: "records that cannot be read", Err: err}
		}
		if found {
			d.Epoch = h.LeaderEpoch
			if h.Legacy() {
				d.Epoch = -1
			}
			return d, true, nil
		}
	}
}

// inBatch returns the first record of a batch that is dated ms or later and not below an offset.
func inBatch(r *record.Reader, batch []byte, ms, from int64) (Dated, bool, error) {
	if err := r.Reset(batch); err != nil {
		return Dated{}, false, err
	}
	for r.Next() {
		if x := r.Record(); x.Timestamp >= ms && x.Offset >= from {
			return Dated{Offset: x.Offset, Time: x.Timestamp}, true, nil
		}
	}
	return Dated{}, false, r.Err()
}
