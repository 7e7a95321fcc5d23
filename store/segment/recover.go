package segment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// Cut is something that recovery took away, or found damaged and left.
type Cut struct {
	Path  string
	Pos   int64  // byte where it begins
	Bytes int64  // how many
	What  string // what was found there
	// Kept says that nothing was taken away: the damage lies below the recovery point, where acknowledged data lay.
	Kept bool
}

// String says what was done, in one line.
func (c Cut) String() string {
	if c.Kept {
		return fmt.Sprintf("%s: damage at byte %d kept (%d bytes): %s", c.Path, c.Pos, c.Bytes, c.What)
	}
	return fmt.Sprintf("%s: cut at byte %d (%d bytes): %s", c.Path, c.Pos, c.Bytes, c.What)
}

// RecoverOptions says how Recover works. The zero value trusts nothing below.
type RecoverOptions struct {
	Append AppendOptions
	// Point is the recovery point: what lies below this offset was flushed once and is not cut, however damaged.
	Point int64
	// Batch is told of every whole, good batch in order, and of the transactions that each one aborts it returns the
	// entries for the transaction index. batch is valid until the next call. nil means that nobody wants to know.
	Batch func(h record.Header, batch []byte) ([]AbortedTxn, error)
}

// Recovered is what Recover found and did.
type Recovered struct {
	Segment *Segment // ready to be appended to, suspended
	Cuts    []Cut
	// Sealed says that bytes which are no batches lie at the end and were kept: nothing may be appended behind them.
	Sealed  bool
	Batches int64
}

// Recover reads a segment from its first byte, checks every batch (size, checksum, offsets) and makes its indexes anew.
// At the first bad batch at or past the recovery point .log is cut; damage below it is reported and kept, and reading
// goes on behind it. A partly written index, and the zeros of a preallocation, are no damage.
func Recover(dir string, base int64, o RecoverOptions) (Recovered, error) {
	s := newSegment(dir, base, o.Append)
	s.o.Preallocate = 0
	r := Recovered{Segment: s}
	if err := s.reset(); err != nil {
		return r, err
	}
	err := r.walk(o)
	s.o.Preallocate = o.Append.Preallocate
	return r, errors.Join(err, s.Suspend())
}

// reset opens the segment with empty indexes.
func (s *Segment) reset() error {
	if err := s.Resume(); err != nil {
		return err
	}
	path := s.path(layout.KindTxnIndex)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(fmt.Errorf("remove transaction index: %w", err), s.Suspend())
	}
	return nil
}

// walk goes through .log item by item. good is the end of the last good batch, from which on everything is cut, or kept
// where it was flushed once.
func (r *Recovered) walk(o RecoverOptions) error {
	s := r.Segment
	path := s.path(layout.KindLog)
	fi, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	scan := NewScanner(s.log, fi.Size(), ScanOptions{Check: true, Thorough: true, MaxBatch: math.MaxInt32})
	defer scan.Close()
	for {
		cut := Cut{Path: path}
		kind := scan.Next()
		switch kind {
		case End:
			r.Sealed = s.cur.size < scan.End()
			return nil
		case Failed:
			return fmt.Errorf("recover %s at byte %d: %w", path, scan.Pos(), scan.Err())
		case Batch:
			if cut.What = s.wrong(scan); cut.What == "" {
				if err := r.take(scan.Header(), scan.Bytes(), scan.Pos(), o); err != nil {
					return err
				}
				continue
			}
		case Torn:
			cut.What = fmt.Sprintf("torn batch: has %d of %d bytes", scan.Len(), scan.Need())
			if scan.Need() == 0 {
				cut.What = fmt.Sprintf("torn batch: has %d bytes of its header", scan.Len())
			}
		case Zeros:
			cut.What = "zeros"
		case Damage:
			cut.What = "no batch: " + scan.Why()
		}
		cut.Pos, cut.Bytes = scan.Pos(), scan.Len()
		if s.cur.next >= o.Point {
			return r.cut(cut, scan.End(), kind == Zeros)
		}
		cut.Kept = true
		r.Cuts = append(r.Cuts, cut)
	}
}

// wrong says why a whole batch is not the next one; "" that it is.
func (s *Segment) wrong(scan *Scanner) string {
	h := scan.Header()
	if stored, computed := scan.Sum(); stored != computed {
		return fmt.Sprintf("bad batch at offset %d: checksum is %08x, computed %08x", h.BaseOffset, stored, computed)
	}
	if h.Magic == 2 && h.LastOffsetDelta < 0 || h.BaseOffset < s.cur.next || h.LastOffset()-s.base > MaxRelative {
		return fmt.Sprintf("batch of offsets %d to %d does not follow offset %d", h.BaseOffset, h.LastOffset(), s.cur.next-1)
	}
	return ""
}

// cut takes everything from the damage on away. The zeros of a preallocation are not worth a word.
func (r *Recovered) cut(c Cut, end int64, zeros bool) error {
	s := r.Segment
	c.Bytes = end - c.Pos
	if !zeros || c.Bytes < preallocated {
		r.Cuts = append(r.Cuts, c)
	}
	if err := s.log.Truncate(c.Pos); err != nil {
		return fmt.Errorf("cut %s at byte %d: %w", c.Path, c.Pos, err)
	}
	s.cur.size = c.Pos
	s.plan = s.cur
	return nil
}

// preallocated is the number of zero bytes at the end of .log from which they are taken for a preallocation.
const preallocated = 4096

// take adopts a good batch that lies at pos.
func (r *Recovered) take(h record.Header, batch []byte, pos int64, o RecoverOptions) error {
	s := r.Segment
	s.plan.size = pos // behind damage that was kept it is more than what was staged
	s.Stage(h)
	if s.stagedErr != nil {
		return s.stagedErr
	}
	if err := s.index.put(s.cur.entries*OffsetEntrySize, s.stagedIndex); err != nil {
		return err
	}
	if err := s.times.put(s.cur.timed*TimeEntrySize, s.stagedTimes); err != nil {
		return err
	}
	s.cur = s.plan
	s.Discard()
	if err := errors.Join(s.index.reserve((s.cur.entries+1)*OffsetEntrySize), s.times.reserve((s.cur.timed+2)*TimeEntrySize)); err != nil {
		return err
	}
	r.Batches++
	if o.Batch == nil {
		return nil
	}
	aborts, err := o.Batch(h, batch)
	if err != nil {
		return err
	}
	for _, a := range aborts {
		if err := s.AppendAbort(a); err != nil {
			return err
		}
	}
	return nil
}

// OpenTail opens a segment for appending without reading it whole: its indexes are believed, and only the batches
// behind the last index entry are looked at, by their headers. It is for what a clean stop left. The segment comes
// suspended. When what lies there is no sequence of whole batches, the error is a *model.CorruptError; the segment
// then says how far it is good.
func OpenTail(dir string, base int64, o AppendOptions) (*Segment, error) {
	s := newSegment(dir, base, o)
	f, err := OpenFile(dir, base, "")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := s.readIndexes(f); err != nil {
		return nil, err
	}
	if h, err := f.Header(0); err == nil {
		s.cur.first = h.MaxTimestamp
	}
	scan := f.Scanner(ScanOptions{Headers: true})
	defer scan.Close()
	scan.Goto(s.cur.size)
	for {
		kind := scan.Next()
		h := scan.Header()
		switch {
		case kind == Failed:
			return nil, fmt.Errorf("open segment: read %s at byte %d: %w", f.Path(layout.KindLog), scan.Pos(), scan.Err())
		case kind == End || kind == Zeros: // zeros are a preallocation that was not trimmed
			s.plan = s.cur
			return s, nil
		case kind != Batch || h.BaseOffset < s.cur.next || h.LastOffset()-base > MaxRelative:
			s.plan = s.cur
			return s, &model.CorruptError{Path: f.Path(layout.KindLog), Pos: scan.Pos(), What: "no whole batch at the end of a cleanly closed log"}
		}
		if h.MaxTimestamp > s.cur.max {
			s.cur.max, s.cur.maxOffset = h.MaxTimestamp, h.LastOffset()
		}
		s.cur.size, s.cur.next = scan.Pos()+scan.Len(), h.NextOffset()
	}
}

// readIndexes takes over how many entries there are, and the last of each.
func (s *Segment) readIndexes(f *File) error {
	x, err := f.Offsets()
	if err == nil {
		if s.cur.entries = x.Len(); s.cur.entries > 0 {
			s.cur.lastOffset, s.cur.size, _ = x.At(s.cur.entries - 1)
		}
		err = x.Err()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	y, err := f.Times()
	if err == nil {
		if s.cur.timed = y.Len(); s.cur.timed > 0 {
			s.cur.lastTime, s.cur.maxOffset, _ = y.At(s.cur.timed - 1)
			s.cur.max = s.cur.lastTime
		}
		err = y.Err()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if fi, err := os.Stat(s.path(layout.KindTxnIndex)); err == nil {
		s.txnSize = fi.Size() / TxnEntrySize * TxnEntrySize
	}
	return nil
}

// EndOf returns the offset behind the last whole batch of a .log of any name, by its headers alone.
func EndOf(path string, base int64) (next int64, err error) {
	next = base
	err = WalkHeaders(path, 0, func(h record.Header, _ int64) bool {
		next = max(next, h.NextOffset())
		return true
	})
	return next, err
}

// WalkHeaders tells of the whole batches of a .log from byte pos on, by their headers alone, until tell says false or
// something else than a whole batch begins. The error is the disk's.
func WalkHeaders(path string, pos int64, tell func(h record.Header, pos int64) bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	var head [record.HeaderSize]byte
	for pos < fi.Size() {
		n, err := f.ReadAt(head[:], pos)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s at byte %d: %w", path, pos, err)
		}
		h, err := record.ParseHeader(head[:n])
		if err != nil || h.Size() > fi.Size()-pos || !tell(h, pos) {
			return nil
		}
		pos += h.Size()
	}
	return nil
}
