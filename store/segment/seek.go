package segment

import (
	"math"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// Place is where a lookup in a segment led, and by which way.
type Place struct {
	Found  bool
	Pos    int64 // byte of the batch
	Header record.Header

	Entries  int64 // in the offset index; -1 without one
	Compared int   // of them
	Entry    int64 // the one that was taken; -1 none
	EntryOff int64
	From     int64 // byte from which the .log was read

	TimeEntries  int64 // as above, of the time index
	TimeCompared int
	TimeEntry    int64
	EntryTime    int64
	TimeOffset   int64

	Batches int64 // looked at
	Scanned int64 // bytes of the .log passed over, the batch found included
	Faults  []model.Fault

	// Scan has read the log, to be used for what is found; set it to a byte by Goto.
	Scan *Scanner
}

// SeekOffset finds the batch that holds an offset, or the first one behind it: the last index entry that is not beyond
// it, then a scan. An entry that is wrong is not believed: the one before it is taken, in the end the first byte.
func (f *File) SeekOffset(target int64, stop func() error) (Place, error) {
	p := Place{Entries: -1, Entry: -1, TimeEntry: -1, TimeEntries: -1}
	s := f.Scanner(ScanOptions{Headers: true, Buffer: seekBuffer, Stop: stop})
	p.Scan = s
	f.enter(&p, target)
	s.Goto(p.From)
	for {
		switch s.Next() {
		case End, Torn, Zeros:
			return p, nil
		case Failed:
			return p, f.scanError(s)
		case Damage:
			p.Faults = append(p.Faults, f.damageFault(s))
			continue
		}
		p.Batches++
		h := s.Header()
		p.Scanned = s.Pos() + s.Len() - p.From
		if h.LastOffset() < target || h.LastOffset()-f.Base > math.MaxInt32 {
			continue // the latter is no offset of this segment
		}
		p.Found, p.Pos, p.Header = true, s.Pos(), h
		if h.BaseOffset > target && p.Entry < 0 && !h.Legacy() {
			f.outOfOrder(&p, s, target)
		}
		return p, nil
	}
}

// enter chooses the byte from which to scan for an offset.
func (f *File) enter(p *Place, target int64) {
	x, err := f.Offsets()
	if err != nil {
		if !missing(err) {
			p.Faults = append(p.Faults, f.indexFault(layout.KindIndex, model.Unknown, model.Unknown, err.Error()))
		}
		if f.Floor != nil {
			p.From = f.Floor(target)
		}
		return
	}
	if p.Entries = x.Len(); p.Entries == 0 && f.Floor != nil {
		p.From = f.Floor(target)
		return
	}
	i, compared := x.Floor(target)
	p.Compared = compared
	for tries := 0; i >= 0 && tries < 8; i, tries = i-1, tries+1 {
		o, pos, _ := x.At(i)
		if err := f.entryFault(x, i, p.Scan.peekHeader); err != nil {
			p.Faults = append(p.Faults, f.indexFault(layout.KindIndex, i*OffsetEntrySize, o, err.Error()))
			continue
		}
		p.Entry, p.EntryOff, p.From = i, o, pos
		return
	}
}

// outOfOrder looks a little further for the offset itself, where a segment begins beyond it: its batches may lie out of
// order.
func (f *File) outOfOrder(p *Place, s *Scanner, target int64) {
	from := s.Pos()
	for range holeLook {
		if k := s.Next(); k != Batch && k != Damage || s.Pos()-from > seekBuffer {
			return
		}
		if h := s.Header(); s.Len() == h.Size() && h.BaseOffset <= target && h.LastOffset() >= target {
			p.Pos, p.Header = s.Pos(), h
			return
		}
	}
}

// SeekTime finds the first batch that may hold a record dated ms or later, not below minOffset.
func (f *File) SeekTime(ms, minOffset int64, stop func() error) (Place, error) {
	p := Place{Entries: -1, Entry: -1, TimeEntry: -1, TimeEntries: -1}
	p.Scan = f.Scanner(ScanOptions{Headers: true, Buffer: seekBuffer, Stop: stop})
	from := f.enterTime(&p, ms)
	if from = max(from, minOffset); from > f.Base {
		f.enter(&p, from)
	}
	ok, err := f.scanTime(&p, ms, minOffset)
	if err != nil || ok {
		return p, err
	}
	// The time index has said something wrong: read the segment from its beginning.
	p.Faults = append(p.Faults, f.indexFault(layout.KindTimeIndex, p.TimeEntry*TimeEntrySize, p.TimeOffset,
		"the log has other times than the index says"))
	p.From, p.Entry, p.Batches, p.Scanned = 0, -1, 0, 0
	p.TimeEntry = -1
	_, err = f.scanTime(&p, ms, minOffset)
	return p, err
}

// enterTime returns the offset up to which the time index knows nothing of ms.
func (f *File) enterTime(p *Place, ms int64) (offset int64) {
	x, err := f.Times()
	if err != nil {
		if !missing(err) {
			p.Faults = append(p.Faults, f.indexFault(layout.KindTimeIndex, model.Unknown, model.Unknown, err.Error()))
		}
		return f.Base
	}
	p.TimeEntries = x.Len()
	if i, err := f.timesFault(x); err != nil {
		p.Faults = append(p.Faults, f.indexFault(layout.KindTimeIndex, i*TimeEntrySize, model.Unknown, err.Error()))
		return f.Base
	}
	// The records that carry an entry's very time lie at or before its offset: step before them.
	i, compared := x.Floor(ms - 1)
	p.TimeCompared = compared
	for _, n := range []int64{i, i + 1} {
		if err := x.Sound(n); err != nil {
			p.Faults = append(p.Faults, f.indexFault(layout.KindTimeIndex, n*TimeEntrySize, model.Unknown, err.Error()))
			return f.Base
		}
	}
	if i < 0 {
		return f.Base
	}
	p.TimeEntry = i
	p.EntryTime, p.TimeOffset, _ = x.At(i)
	return p.TimeOffset
}

// timesFault checks a time index that is small enough to be checked whole, or else its ends.
func (f *File) timesFault(x *TimeIndex) (int64, error) {
	if x.n*TimeEntrySize > smallIndex {
		return x.n - 1, x.Sound(x.n - 1)
	}
	for i := range x.n {
		if err := x.Sound(i); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// scanTime scans for the first batch dated ms or later. It is false when the log contradicts the time index entry that
// led there.
func (f *File) scanTime(p *Place, ms, minOffset int64) (bool, error) {
	s := p.Scan
	s.Goto(p.From)
	for {
		switch s.Next() {
		case End, Torn, Zeros:
			return true, nil
		case Failed:
			return true, f.scanError(s)
		case Damage:
			p.Faults = append(p.Faults, f.damageFault(s))
			continue
		}
		p.Batches++
		h := s.Header()
		p.Scanned = s.Pos() + s.Len() - p.From
		if p.TimeEntry >= 0 && h.LastOffset() <= p.TimeOffset && h.MaxTimestamp > p.EntryTime {
			return false, nil
		}
		if h.MaxTimestamp < ms || h.LastOffset() < minOffset {
			continue
		}
		p.Found, p.Pos, p.Header = true, s.Pos(), h
		return true, nil
	}
}

// scanError wraps what ended a scan.
func (f *File) scanError(s *Scanner) error {
	return &model.CorruptError{Path: f.Log.Name(), Pos: s.Pos(), What: "cannot be read", Err: s.Err()}
}

// damageFault makes a fault of the Damage that a scan is at.
func (f *File) damageFault(s *Scanner) model.Fault {
	t := f.fault(layout.KindLog, s.Pos(), model.Unknown, "length", s.Why(), model.SevDamage)
	t.Follows = s.Follows()
	return t
}

// Before returns a byte, at most pos, at which the offset index says that a batch begins, where it can be believed.
func (f *File) Before(pos int64) (int64, bool) {
	x, err := f.Offsets()
	if err != nil || x.Len() == 0 {
		return 0, false
	}
	i := x.FloorPos(pos)
	if i < 0 {
		_, first, ok := x.At(0)
		return 0, ok && first > 0 && first-pos < 1<<20
	}
	for tries := 0; i >= 0 && tries < 8; i, tries = i-1, tries+1 {
		if f.EntryFault(x, i) == nil {
			_, at, _ := x.At(i)
			return at, true
		}
	}
	return 0, false
}
