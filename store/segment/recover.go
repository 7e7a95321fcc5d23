package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

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
	Batch func(h record.Header, batch []byte) ([]Abort, error)
}

// Recovered is what Recover found and did.
type Recovered struct {
	Segment *Segment // ready to be appended to, suspended
	Cuts    []Cut
	// Sealed says that bytes which are no batches lie at the end and were kept: nothing may be appended behind them.
	Sealed  bool
	Batches int64
}

// maxResync bounds how far the search for the next good batch behind damage looks.
const maxResync = 1 << 30

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
	w := &walker{f: s.log, path: s.path(layout.KindLog)}
	if err := w.size(); err != nil {
		return r, errors.Join(err, s.Suspend())
	}
	err := r.walk(w, o)
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

func (r *Recovered) walk(w *walker, o RecoverOptions) error {
	s := r.Segment
	for w.pos < w.end {
		h, batch, what := w.next(s.cur.next, s.base)
		if what == "" {
			if err := r.take(h, batch, w.pos, o); err != nil {
				return err
			}
			w.pos += h.Size()
			continue
		}
		if w.err != nil {
			return w.err
		}
		stop, err := r.damage(w, o, what)
		if stop || err != nil {
			return err
		}
	}
	return nil
}

// take adopts a good batch that lies at pos.
func (r *Recovered) take(h record.Header, batch []byte, pos int64, o RecoverOptions) error {
	s := r.Segment
	s.plan.size = pos // behind damage that was kept it is more than what was staged
	s.Stage(h)
	if s.stagedErr != nil {
		return s.stagedErr
	}
	if err := s.index.put(s.cur.entries*offsetEntrySize, s.stagedIndex); err != nil {
		return err
	}
	if err := s.times.put(s.cur.timed*timeEntrySize, s.stagedTimes); err != nil {
		return err
	}
	s.cur = s.plan
	s.Discard()
	if err := errors.Join(s.index.reserve((s.cur.entries+1)*offsetEntrySize), s.times.reserve((s.cur.timed+2)*timeEntrySize)); err != nil {
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

// damage decides what becomes of what w stands before: kept and stepped over below the recovery point, else cut.
func (r *Recovered) damage(w *walker, o RecoverOptions, what string) (stop bool, err error) {
	s := r.Segment
	zeros, err := w.onlyZeros()
	if err != nil {
		return true, err
	}
	if s.cur.next < o.Point && !zeros {
		next, err := w.resync(s.cur.next, s.base)
		if err != nil {
			return true, err
		}
		cut := Cut{Path: w.path, Pos: w.pos, Bytes: w.end - w.pos, What: what, Kept: true}
		if next < 0 {
			r.Sealed = true
			r.Cuts = append(r.Cuts, cut)
			return true, nil
		}
		cut.Bytes = next - w.pos
		r.Cuts = append(r.Cuts, cut)
		w.pos = next
		return false, nil
	}
	if s.cur.next < o.Point && zeros {
		what = fmt.Sprintf("only zeros where offsets %d to %d lay", s.cur.next, o.Point-1)
		r.Cuts = append(r.Cuts, Cut{Path: w.path, Pos: w.pos, Bytes: w.end - w.pos, What: what, Kept: true})
		r.Sealed = true
		return true, nil
	}
	if !zeros || w.end-w.pos < preallocated {
		r.Cuts = append(r.Cuts, Cut{Path: w.path, Pos: w.pos, Bytes: w.end - w.pos, What: what})
	}
	if err := s.log.Truncate(w.pos); err != nil {
		return true, fmt.Errorf("cut %s at byte %d: %w", w.path, w.pos, err)
	}
	s.cur.size = w.pos
	s.plan = s.cur
	return true, nil
}

// preallocated is the number of zero bytes at the end of .log from which they are taken for a preallocation.
const preallocated = 4096

// walker goes through a .log batch by batch with one buffer.
type walker struct {
	f    io.ReaderAt
	path string
	pos  int64
	end  int64
	buf  []byte
	at   int64 // where buf lies in the file
	err  error // of the disk, not of the data
}

const walkBuffer = 256 << 10

// size finds the end of the file.
func (w *walker) size() error {
	fi, err := os.Stat(w.path)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	w.end = fi.Size()
	return nil
}

// bytes returns n bytes at pos, fewer at the end of the file; nil after an error of the disk.
func (w *walker) bytes(pos, n int64) []byte {
	n = min(n, w.end-pos)
	if pos < w.at || pos+n > w.at+int64(len(w.buf)) {
		want := min(max(n, walkBuffer), w.end-pos)
		if int64(cap(w.buf)) < want {
			w.buf = make([]byte, want)
		}
		w.buf = w.buf[:want]
		got, err := w.f.ReadAt(w.buf, pos)
		if err != nil && !errors.Is(err, io.EOF) {
			w.err = fmt.Errorf("read %s at byte %d: %w", w.path, pos, err)
			return nil
		}
		w.buf, w.at = w.buf[:got], pos
		n = min(n, int64(got))
	}
	return w.buf[pos-w.at : pos-w.at+n]
}

// next returns the batch at w.pos. what says what is wrong with it, "" that all is well.
func (w *walker) next(least, base int64) (h record.Header, batch []byte, what string) {
	head := w.bytes(w.pos, record.HeaderSize)
	if w.err != nil {
		return h, nil, "unreadable"
	}
	size, _, err := record.PeekSize(head)
	switch {
	case errors.Is(err, record.ErrShort):
		return h, nil, fmt.Sprintf("torn batch: %d bytes of its header", len(head))
	case err != nil:
		return h, nil, "no batch: " + err.Error()
	case size > w.end-w.pos:
		return h, nil, fmt.Sprintf("torn batch: has %d of %d bytes", w.end-w.pos, size)
	}
	batch = w.bytes(w.pos, size)
	if w.err != nil {
		return h, nil, "unreadable"
	}
	if int64(len(batch)) < size {
		return h, nil, fmt.Sprintf("torn batch: has %d of %d bytes", len(batch), size)
	}
	if h, err = record.ParseHeader(batch); err != nil {
		return h, nil, "no batch: " + err.Error()
	}
	if stored, computed := record.Checksum(batch); stored != computed {
		return h, nil, fmt.Sprintf("bad batch at offset %d: checksum is %08x, computed %08x", h.BaseOffset, stored, computed)
	}
	if h.Magic == 2 && h.LastOffsetDelta < 0 || h.BaseOffset < least || h.LastOffset()-base > MaxRelative {
		return h, nil, fmt.Sprintf("batch of offsets %d to %d does not follow %d", h.BaseOffset, h.LastOffset(), least-1)
	}
	return h, batch, ""
}

// onlyZeros reports whether there is nothing but zeros from w.pos to the end of the file.
func (w *walker) onlyZeros() (bool, error) {
	for pos := w.pos; pos < w.end; {
		b := w.bytes(pos, walkBuffer)
		if w.err != nil || len(b) == 0 {
			return false, w.err
		}
		for _, c := range b {
			if c != 0 {
				return false, nil
			}
		}
		pos += int64(len(b))
	}
	return true, nil
}

// resync returns where the next good batch lies behind the damage at w.pos, -1 for nowhere.
func (w *walker) resync(least, base int64) (int64, error) {
	saved := w.pos
	defer func() { w.pos = saved }()
	limit := min(w.end, saved+maxResync)
	for pos := saved + 1; pos+record.PrefixSize <= limit; pos++ {
		b := w.bytes(pos, record.PrefixSize)
		if w.err != nil {
			return -1, w.err
		}
		if len(b) < record.PrefixSize || b[16] > 2 || int64(binary.BigEndian.Uint64(b)) < least {
			continue
		}
		if size, _, err := record.PeekSize(b); err != nil || size > w.end-pos {
			continue
		}
		w.pos = pos
		if _, _, what := w.next(least, base); what == "" {
			return pos, nil
		}
		if w.err != nil {
			return -1, w.err
		}
	}
	return -1, nil
}

// OpenTail opens a segment for appending without reading it whole: its indexes are believed, and only the batches
// behind the last index entry are looked at, by their headers. It is for what a clean stop left. The segment comes
// suspended. When what lies there is no sequence of whole batches, the error is a *model.CorruptError; the segment
// then says how far it is good.
func OpenTail(dir string, base int64, o AppendOptions) (*Segment, error) {
	s := newSegment(dir, base, o)
	f, err := os.Open(s.path(layout.KindLog))
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	defer f.Close()
	if err := s.readIndexes(); err != nil {
		return nil, err
	}
	w := &walker{f: f, path: f.Name()}
	if err := w.size(); err != nil {
		return nil, err
	}
	var head [record.HeaderSize]byte
	if n, _ := f.ReadAt(head[:], 0); n > 0 {
		if h, err := record.ParseHeader(head[:n]); err == nil {
			s.cur.first = h.MaxTimestamp
		}
	}
	w.pos = s.cur.size
	for w.pos < w.end {
		n, err := f.ReadAt(head[:], w.pos)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read %s at byte %d: %w", w.path, w.pos, err)
		}
		h, err := record.ParseHeader(head[:n])
		if err != nil || h.Size() > w.end-w.pos || h.BaseOffset < s.cur.next || h.LastOffset()-base > MaxRelative {
			s.plan = s.cur
			if zeros, zerr := w.onlyZeros(); zerr == nil && zeros {
				return s, nil // a preallocation that was not trimmed
			}
			return s, &model.CorruptError{Path: w.path, Pos: w.pos, What: "no whole batch at the end of a cleanly closed log", Err: err}
		}
		if h.MaxTimestamp > s.cur.max {
			s.cur.max, s.cur.maxOffset = h.MaxTimestamp, h.LastOffset()
		}
		w.pos += h.Size()
		s.cur.size, s.cur.next = w.pos, h.NextOffset()
	}
	s.plan = s.cur
	return s, nil
}

// readIndexes takes over how many entries there are, and the last of each.
func (s *Segment) readIndexes() error {
	n, last, err := lastEntry(s.path(layout.KindIndex), offsetEntrySize, func(b []byte) bool { return binary.BigEndian.Uint32(b[4:]) != 0 })
	if err != nil {
		return err
	}
	if s.cur.entries = n; n > 0 {
		s.cur.lastOffset = s.base + int64(binary.BigEndian.Uint32(last))
		s.cur.size = int64(binary.BigEndian.Uint32(last[4:]))
	}
	n, last, err = lastEntry(s.path(layout.KindTimeIndex), timeEntrySize, func(b []byte) bool {
		return binary.BigEndian.Uint64(b) != 0 || binary.BigEndian.Uint32(b[8:]) != 0
	})
	if err != nil {
		return err
	}
	if s.cur.timed = n; n > 0 {
		s.cur.lastTime = int64(binary.BigEndian.Uint64(last))
		s.cur.max, s.cur.maxOffset = s.cur.lastTime, s.base+int64(binary.BigEndian.Uint32(last[8:]))
	}
	if fi, err := os.Stat(s.path(layout.KindTxnIndex)); err == nil {
		s.txnSize = fi.Size() / txnEntrySize * txnEntrySize
	}
	return nil
}

// lastEntry returns how many entries an index file holds and the last one. used tells an entry from the zeros behind
// them. A file that is missing has none.
func lastEntry(path string, size int, used func([]byte) bool) (n int64, last []byte, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, fmt.Errorf("open index: %w", err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return 0, nil, fmt.Errorf("open index: %w", err)
	}
	b := make([]byte, size)
	at := func(i int) bool {
		if _, rerr := f.ReadAt(b, int64(i)*int64(size)); rerr != nil && err == nil {
			err = fmt.Errorf("read index %s: %w", path, rerr)
		}
		return used(b)
	}
	total := int(fi.Size() / int64(size))
	if total > 0 && at(total-1) {
		return int64(total), b, err
	}
	k := sort.Search(total, func(i int) bool { return !at(i) })
	if k == 0 || err != nil {
		return 0, nil, err
	}
	at(k - 1)
	return int64(k), b, err
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
