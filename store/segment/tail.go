package segment

import (
	"math"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// Tail is what lies at the end of a segment.
type Tail struct {
	Next     int64 // the offset behind the last batch; the base offset when there is none
	End      int64 // byte behind the last whole batch
	Trailing int64 // bytes behind that
	Zeros    bool  // all of them zero: preallocated
	Need     int64 // bytes that the torn batch there says that it has; 0 unknown
	MaxTime  int64 // ms of the segment's youngest record; model.NoTime for none
	Epoch    int32 // leader epoch of the last batch, -1 for none
	Scanned  int64 // bytes that were read past
	LastPos  int64 // byte of the last batch, -1 for none
	Last     record.Header
	before   int64 // Next before the batch that has raised it
	run      int   // batches that have raised it
	lower    int   // batches since then that lie below it, each behind the other
	lowNext  int64
	Faults   []model.Fault
}

// Tail finds where the segment ends: from its last index entry on by a scan of headers.
func (f *File) Tail(stop func() error) (Tail, error) {
	t := Tail{Next: f.Base, MaxTime: model.NoTime, Epoch: -1, LastPos: -1}
	t.End = f.tailStart(&t)
	return f.tailFrom(t, stop)
}

// TailAfter finds where the segment ends now that it may have grown since prev was found, and reads only what is new.
// Where the last batch of prev is not there any more, it begins anew.
func (f *File) TailAfter(prev Tail, stop func() error) (Tail, error) {
	if prev.LastPos < 0 || prev.End > f.Size || len(prev.Faults) > 0 {
		return f.Tail(stop)
	}
	if h, err := f.Header(prev.LastPos); err != nil || h != prev.Last {
		return f.Tail(stop)
	}
	return f.tailFrom(prev, stop)
}

// tailFrom goes on from t.End.
func (f *File) tailFrom(t Tail, stop func() error) (Tail, error) {
	from := t.End
	t.Trailing, t.Need, t.Zeros = 0, 0, false
	s := f.Scanner(ScanOptions{Headers: true, Buffer: seekBuffer, Stop: stop})
	s.Goto(from)
	for {
		k := s.Next()
		t.Scanned = s.End() - from
		switch k {
		case Failed:
			return t, f.scanError(s)
		case Damage:
			t.Faults = append(t.Faults, f.damageFault(s))
		case End, Torn, Zeros:
			t.Trailing, t.Need = s.End()-t.End, s.Need()
			t.Zeros = k == Zeros && s.Len() == t.Trailing
			return t, nil
		case Batch:
			h := s.Header()
			t.follow(h, f.Base)
			t.MaxTime = max(t.MaxTime, h.MaxTimestamp)
			t.Epoch = h.LeaderEpoch
			t.LastPos, t.Last = s.Pos(), h
			t.End = s.Pos() + s.Len()
		}
	}
}

// follow takes a batch's offsets into account. One batch whose base offset is damaged must not move the end of the log:
// where what follows it goes on from what lies before it, or where it is the first and two batches in order lie below it,
// it does not count.
func (t *Tail) follow(h record.Header, base int64) {
	if h.LastOffset()-base > math.MaxInt32 || h.LastOffset() < base {
		return // no index could hold it
	}
	switch {
	case h.BaseOffset >= t.Next:
		t.before, t.Next, t.lower = t.Next, h.NextOffset(), 0
		t.run++
	case h.BaseOffset >= t.before && t.before > base:
		t.Next, t.lower = h.NextOffset(), 0
	case t.run == 1 && t.lower > 0 && h.BaseOffset >= t.lowNext:
		t.before, t.Next, t.lower, t.run = t.lowNext, h.NextOffset(), 0, 2
	default:
		t.lower, t.lowNext = 1, h.NextOffset()
	}
}

// tailStart returns the byte from which on the segment must be read to know its end, and takes over what the time index
// knows of what lies before.
func (f *File) tailStart(t *Tail) int64 {
	x, err := f.Offsets()
	if err != nil || x.Len() == 0 {
		return 0
	}
	times, err := f.Times()
	if err != nil || times.Len() == 0 {
		return 0
	}
	if i, err := f.timesFault(times); err != nil {
		t.Faults = append(t.Faults, f.indexFault(layout.KindTimeIndex, i*TimeEntrySize, model.Unknown, err.Error()))
		return 0
	}
	i := x.Len() - 1
	for tries := 0; i >= 0 && tries < 8; i, tries = i-1, tries+1 {
		o, pos, _ := x.At(i)
		if err := f.EntryFault(x, i); err != nil {
			t.Faults = append(t.Faults, f.indexFault(layout.KindIndex, i*OffsetEntrySize, o, err.Error()))
			continue
		}
		t.MaxTime, _, _ = times.At(times.Len() - 1)
		return pos
	}
	return 0
}

// MaxTime returns the largest timestamp of a sealed segment, ms, or model.NoTime: the last entry of its time index, or,
// where that is missing, empty or wrong, the largest one of its headers.
func (f *File) MaxTime(stop func() error) (int64, error) {
	if x, err := f.Times(); err == nil && x.Len() > 0 {
		if _, err := f.timesFault(x); err == nil {
			if ms, _, ok := x.At(x.Len() - 1); ok {
				return ms, nil
			}
		}
	}
	s := f.Scanner(ScanOptions{Headers: true, Stop: stop})
	ms := model.NoTime
	for {
		switch s.Next() {
		case Batch:
			ms = max(ms, s.Header().MaxTimestamp)
		case Failed:
			return ms, f.scanError(s)
		case End, Torn, Zeros:
			return ms, nil
		}
	}
}
