package partition

import (
	"errors"
	"fmt"
	"sync"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// AppendOptions says how far the batches given to Append are to be trusted. The zero value is for a client's batches.
type AppendOptions struct {
	// Trusted batches were just made by this process: neither checksum nor records are checked again.
	Trusted bool
	// Internal batches may be control batches.
	Internal bool
	// Records makes every record be looked at, not only where the configs ask for it.
	Records bool
	// Guard is asked before a batch opens a transaction; nil lets all of them. Without it a batch could come in behind
	// the marker of its transaction, and hold back readers for ever.
	Guard TxnGuard
}

// Appended says where batches went.
type Appended struct {
	First, Last int64 // offsets of the first and the last record
	Time        int64 // ms, where the log dates records itself, or of a duplicate's batch; else NoTime
	Start       int64 // log start offset
	Batches     int
	Duplicate   bool // nothing was written: the batches are there already, at these offsets
}

// headers are reused, because an append must not leave garbage behind.
var headers = sync.Pool{New: func() any { return new(scratch) }}

// scratch is what one Append needs.
type scratch struct {
	list   []headerOf
	reader record.Reader
}

// Append appends whole batches, which raw holds one behind the other; it writes offsets, leader epoch and, where the
// log dates records itself, the time into raw. It returns when they are in the file, and after a flush only where
// flush.messages asks for it. All batches that fit the active segment go in one write.
//
// Errors are *record.RefusedError for batches that are not taken (then nothing was written), *ProducerError for a
// sequence or an epoch that is not its producer's next, or say what the disk said. When a write fails, its batches are
// cut off again; batches before a roll that worked stay, and Appended tells of them.
func (l *Log) Append(raw []byte, o AppendOptions) (Appended, error) {
	s, ok := headers.Get().(*scratch)
	if !ok {
		s = new(scratch)
	}
	defer headers.Put(s)
	s.list = s.list[:0]
	cfg := l.cfg.Load()
	if err := l.check(s, raw, o, cfg); err != nil {
		return Appended{First: model.Unknown, Last: model.Unknown, Time: model.NoTime}, err
	}
	l.mu.Lock()
	a, err := l.append(s.list, raw, o, cfg)
	flush := err == nil && cfg.FlushMessages != layout.Unlimited && l.end()-l.point.Load() >= cfg.FlushMessages
	l.mu.Unlock()
	if flush {
		return a, l.flushTo(a.Last+1, false)
	}
	return a, err
}

// check parses and validates the batches. It needs no lock.
func (l *Log) check(s *scratch, raw []byte, o AppendOptions, cfg *layout.TopicConfig) error {
	lim := record.Limits{
		MaxBytes:      int(min(cfg.MaxMessageBytes, segment.DefaultMaxBatch)), // what is written must be readable
		NeedKeys:      cfg.Compact,
		LogAppendTime: cfg.LogAppendTime,
		Internal:      o.Internal,
		SkipRecords:   !o.Records && !cfg.Compact,
	}
	now := l.o.Now()
	l.used.Store(now)
	if !cfg.LogAppendTime && !o.Internal {
		if cfg.TimestampAfterMS != layout.Unlimited {
			lim.MaxTimestamp = layout.After(now, cfg.TimestampAfterMS)
		}
		if cfg.TimestampBeforeMS != layout.Unlimited {
			lim.MinTimestamp = now - cfg.TimestampBeforeMS
			lim.SkipRecords = false
		}
	}
	if lim.MaxBytes == 0 {
		lim.MaxBytes = -1
	}
	for pos := 0; pos < len(raw); {
		var h record.Header
		var v record.Verdict
		var err error
		if o.Trusted {
			h, err = record.ParseHeader(raw[pos:])
		} else {
			v, err = record.Validate(&s.reader, raw[pos:], lim)
			h = v.Header
			if err == nil && lim.MaxTimestamp != 0 && v.MaxTimestamp > lim.MaxTimestamp {
				err = &record.RefusedError{Reason: record.BadTimestamp, Record: -1,
					What: fmt.Sprintf("%d ms is more than %d ms ahead of the clock", v.MaxTimestamp, cfg.TimestampAfterMS)}
			}
		}
		if err == nil && !o.Trusted && !o.Internal && !lim.SkipRecords && !cfg.LogAppendTime {
			settleTime(raw[pos:pos+int(h.Size())], &h, v.MaxTimestamp)
		}
		if err == nil && h.Size() > cfg.SegmentBytes {
			err = &record.RefusedError{Reason: record.TooLarge, Record: -1,
				What: fmt.Sprintf("%d bytes do not fit a segment of %d", h.Size(), cfg.SegmentBytes)}
		}
		if err != nil {
			return fmt.Errorf("append to %s: %w", l.o.TP, err)
		}
		s.list = append(s.list, headerOf{h, pos})
		pos += int(h.Size())
	}
	if len(s.list) == 0 {
		return fmt.Errorf("append to %s: %w", l.o.TP, &record.RefusedError{Reason: record.Invalid, Record: -1, What: "no batch"})
	}
	return nil
}

// settleTime makes a client's header say the truth about the records' times: the largest of them, which indexes and
// retention go by, and that they are the records' own.
func settleTime(batch []byte, h *record.Header, largest int64) {
	switch {
	case h.LogAppendTime():
		record.SetCreateTime(batch, largest)
		if fixed, err := record.ParseHeader(batch); err == nil {
			*h = fixed
		}
	case h.MaxTimestamp != largest:
		record.SetMaxTimestamp(batch, largest)
		h.MaxTimestamp = largest
	}
}

// append stages batch by batch and commits what fits together.
func (l *Log) append(list []headerOf, raw []byte, o AppendOptions, cfg *layout.TopicConfig) (Appended, error) {
	a := Appended{First: model.Unknown, Last: model.Unknown, Time: model.NoTime}
	if err := l.activate(); err != nil {
		return a, err
	}
	if err := l.stamp(); err != nil {
		return a, err
	}
	if cfg.LogAppendTime {
		a.Time = l.o.Now()
	}
	epoch := l.epochs[len(l.epochs)-1].Epoch
	next := l.end()
	begin := -1 // byte of raw where what is staged begins
	for i := range list {
		h := &list[i]
		dup, err := l.producers.check(h.Header, o.Internal)
		if err == nil && dup == nil && o.Guard != nil && l.producers.opens(h.Header) && !o.Guard.MayAppend(l.o.TP, h.ProducerID, h.ProducerEpoch) {
			err = &ProducerError{BadTxnState, h.ProducerID, "the transaction is not open any more"}
		}
		if err != nil || dup != nil || h.Control() {
			if cerr := l.commit(&a, raw, begin, h.pos, next); cerr != nil {
				return a, cerr
			}
			begin = -1
		}
		if err != nil {
			return a, fmt.Errorf("append to %s: %w", l.o.TP, err)
		}
		if dup != nil {
			l.repeated(&a, *dup)
			continue
		}
		batch := raw[h.pos : h.pos+int(h.Size())]
		record.SetBaseOffset(batch, next)
		record.SetLeaderEpoch(batch, epoch)
		h.BaseOffset, h.LeaderEpoch = next, epoch
		if cfg.LogAppendTime && !h.Control() {
			record.SetLogAppendTime(batch, a.Time)
			h.MaxTimestamp = a.Time
		}
		if l.shouldRoll(h.Header, cfg) {
			if err := l.commit(&a, raw, begin, h.pos, next); err != nil {
				return a, err
			}
			begin = -1
			if err := l.roll(next); err != nil {
				return a, err
			}
		}
		if begin < 0 {
			begin = h.pos
		}
		l.active.Stage(h.Header)
		l.producers.stage(h.Header)
		next = h.NextOffset()
		a.Batches++
		if a.First < 0 {
			a.First = h.BaseOffset
		}
		if h.Control() {
			if err := l.marker(&a, raw, *h); err != nil {
				return a, err
			}
			begin = -1
		}
	}
	err := l.commit(&a, raw, begin, len(raw), next)
	a.Start = l.known.Load().Start
	return a, err
}

// repeated notes a batch that is in the log already.
func (l *Log) repeated(a *Appended, d batchMemo) {
	if a.First < 0 {
		a.First, a.Duplicate, a.Time = d.lastOffset-int64(d.offsetDelta), true, d.timestamp
	}
	a.Last = max(a.Last, d.lastOffset)
}

// commit writes what is staged, raw[begin:end], after which the log ends at next.
func (l *Log) commit(a *Appended, raw []byte, begin, end int, next int64) error {
	if begin < 0 {
		return nil
	}
	if err := l.active.Commit(raw[begin:end]); err != nil {
		l.producers.discard()
		if a.Last < 0 {
			a.First = model.Unknown
		}
		return fmt.Errorf("append to %s: %w", l.o.TP, err)
	}
	l.producers.commit()
	a.Last, a.Duplicate = next-1, false
	l.publish(next)
	return nil
}

// marker writes a staged control batch and what follows from a transaction's end.
func (l *Log) marker(a *Appended, raw []byte, h headerOf) error {
	batch := raw[h.pos : h.pos+int(h.Size())]
	end, err := l.producers.stageMarker(h.Header, batch)
	if err != nil {
		l.active.Discard()
		l.producers.discard()
		return fmt.Errorf("append to %s: %w", l.o.TP, err)
	}
	saved := l.active.Save()
	if err := l.active.Commit(batch); err != nil {
		l.producers.discard()
		return fmt.Errorf("append to %s: %w", l.o.TP, err)
	}
	if end.aborted {
		abort := segment.AbortedTxn{Producer: h.ProducerID, First: end.first, Last: h.LastOffset(), Stable: l.producers.stableAfter(h.ProducerID, h.NextOffset())}
		if err := l.active.AppendAbort(abort); err != nil {
			l.producers.discard()
			return fmt.Errorf("append to %s: %w", l.o.TP, errors.Join(err, l.active.Restore(saved)))
		}
	}
	l.producers.commit()
	a.Last, a.Duplicate = h.LastOffset(), false
	l.publish(h.NextOffset())
	return nil
}

// shouldRoll says whether the active segment, with what is staged, must be closed before batch h.
func (l *Log) shouldRoll(h record.Header, cfg *layout.TopicConfig) bool {
	s := l.active
	size := s.Planned()
	if size > cfg.SegmentBytes-h.Size() || s.Full() {
		return true
	}
	if h.LastOffset()-s.Base() > segment.MaxRelative {
		return true
	}
	if size == 0 {
		return false
	}
	wait := cfg.SegmentMS
	if cfg.Compact {
		wait = min(wait, cfg.MaxCompactionLagMS)
	}
	if first := s.FirstTime(); first >= 0 {
		return h.MaxTimestamp-first > wait-l.jitter
	}
	return l.o.Now()-l.openedAt > wait-l.jitter
}

// roll closes the active segment and begins one at base. When anything fails, the old one stays the active one.
func (l *Log) roll(base int64) (err error) {
	old := l.active
	if base == old.Base() && old.Size() == 0 {
		if err := old.Suspend(); err != nil {
			return err
		}
		l.active, err = segment.Create(l.o.Dir, base, l.segmentOptions())
		if err != nil {
			l.active = old
			return err
		}
		l.regenerate()
		l.begin()
		return nil
	}
	if !l.sealed {
		if err := old.Suspend(); err != nil {
			return fmt.Errorf("roll %s at offset %d: %w", l.o.TP, base, err)
		}
	}
	s, err := segment.Create(l.o.Dir, base, l.segmentOptions())
	if err != nil {
		removeSegment(l.o.Dir, base)
		return fmt.Errorf("roll %s at offset %d: %w", l.o.TP, base, err)
	}
	if err := l.takeSnapshot(base); err != nil {
		err = errors.Join(err, s.Suspend())
		removeSegment(l.o.Dir, base)
		return fmt.Errorf("roll %s at offset %d: %w", l.o.TP, base, err)
	}
	last := &l.segs[len(l.segs)-1]
	last.size = old.Size()
	if ms, _ := old.MaxTime(); ms >= 0 {
		last.newest, last.timed = ms, true
	}
	l.segs = append(l.segs[:len(l.segs):len(l.segs)], piece{base: base})
	l.active, l.sealed, l.newFiles = s, false, true
	l.reshape()
	l.unsynced = append(l.unsynced, old)
	l.begin()
	l.opened()
	if l.o.Later != nil {
		l.o.Later(func() { _ = l.flushClosed(base) }) // what fails here is told by the next Flush
	}
	return nil
}
