package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"sort"

	"github.com/strata-kafka/strata/store/layout"
)

func appendOffsetEntry(dst []byte, relative, pos int64) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(relative))
	return binary.BigEndian.AppendUint32(dst, uint32(pos))
}

func appendTimeEntry(dst []byte, ms, relative int64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(ms))
	return binary.BigEndian.AppendUint32(dst, uint32(relative))
}

func appendTxnEntry(dst []byte, a AbortedTxn) []byte {
	dst = binary.BigEndian.AppendUint16(dst, 0) // version
	for _, v := range [...]int64{a.Producer, a.First, a.Last, a.Stable} {
		dst = binary.BigEndian.AppendUint64(dst, uint64(v))
	}
	return dst
}

// reserveStep is how many bytes of an index are given disk blocks at once.
const reserveStep = 16 << 10

// indexWriter writes one index file of a segment that is appended to: it has its full size, is mapped where the system
// can, and zero behind the entries.
//
// A write into a mapped hole of a full disk would kill the process (SIGBUS), so blocks are taken first, by writing
// zeros with pwrite, which says when there is no room.
type indexWriter struct {
	path     string
	f        AppendFile
	m        []byte // nil: written by WriteAt
	size     int64  // of the file
	reserved int64  // bytes that have blocks
}

// openIndex opens an index that holds used bytes of entries and gives it its full size.
func openIndex(o AppendOptions, path string, used int64, entrySize int64) (*indexWriter, error) {
	f, err := o.open(path)
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	w := &indexWriter{path: path, f: f, reserved: used}
	w.size = max(o.indexBytes()/entrySize*entrySize, used+entrySize)
	// Cut first: whatever lies behind the entries must read as zero.
	if err = f.Truncate(used); err == nil {
		err = f.Truncate(w.size)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("size index %s: %w", path, err), f.Close())
	}
	if w.m, err = mapFile(f, w.size); err != nil {
		return nil, errors.Join(fmt.Errorf("map index %s: %w", path, err), f.Close())
	}
	return w, nil
}

// reserve takes disk blocks for the first n bytes.
func (w *indexWriter) reserve(n int64) error {
	if n <= w.reserved || w.m == nil {
		return nil
	}
	n = min((n+reserveStep-1)/reserveStep*reserveStep, w.size)
	if n <= w.reserved {
		return nil
	}
	if _, err := w.f.WriteAt(make([]byte, n-w.reserved), w.reserved); err != nil {
		return fmt.Errorf("take room in index %s: %w", w.path, err)
	}
	w.reserved = n
	return nil
}

// put writes entries at byte pos.
func (w *indexWriter) put(pos int64, entries []byte) error {
	if len(entries) == 0 {
		return nil
	}
	if w.m == nil {
		if _, err := w.f.WriteAt(entries, pos); err != nil {
			return fmt.Errorf("write index %s: %w", w.path, err)
		}
		return nil
	}
	return w.copyMapped(pos, entries)
}

// copyMapped copies into the mapping. A fault there, as when another process has cut the file, becomes an error.
func (w *indexWriter) copyMapped(pos int64, b []byte) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("write mapped index %s at byte %d: %v", w.path, pos, r)
		}
	}()
	if pos+int64(len(b)) > int64(len(w.m)) {
		return fmt.Errorf("index %s is full: %w", w.path, io.ErrShortWrite)
	}
	copy(w.m[pos:], b)
	return nil
}

// clear makes n bytes at pos zero again, as far as that works: an entry left there lies behind the end of .log, which
// readers do not believe.
func (w *indexWriter) clear(pos, n int64) {
	if n > 0 {
		_ = w.put(pos, make([]byte, n))
	}
}

// floor returns the position of the largest of n offset entries that is at or below a relative offset, or 0.
func (w *indexWriter) floor(n, relative int64) int64 {
	entry := func(i int) (rel, pos int64) {
		var buf [OffsetEntrySize]byte
		b := buf[:]
		if w.m != nil {
			b = w.m[i*OffsetEntrySize : (i+1)*OffsetEntrySize]
		} else if _, err := w.f.ReadAt(b, int64(i)*OffsetEntrySize); err != nil {
			return 0, 0
		}
		return int64(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint32(b[4:]))
	}
	i := sort.Search(int(n), func(i int) bool {
		rel, _ := entry(i)
		return rel > relative
	})
	if i == 0 {
		return 0
	}
	_, pos := entry(i - 1)
	return pos
}

// close trims the file to its used bytes and closes it.
func (w *indexWriter) close(used int64) error {
	err := unmapFile(w.m)
	w.m = nil
	if terr := w.f.Truncate(used); terr != nil {
		err = errors.Join(err, fmt.Errorf("trim index %s: %w", w.path, terr))
	}
	return errors.Join(err, w.f.Close())
}

// Resume opens the files of a suspended segment, its indexes at their full size.
func (s *Segment) Resume() error {
	if s.log != nil {
		return nil
	}
	log, err := s.o.open(s.path(layout.KindLog))
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	index, err := openIndex(s.o, s.path(layout.KindIndex), s.cur.entries*OffsetEntrySize, OffsetEntrySize)
	if err != nil {
		return errors.Join(err, log.Close())
	}
	times, err := openIndex(s.o, s.path(layout.KindTimeIndex), s.cur.timed*TimeEntrySize, TimeEntrySize)
	if err != nil {
		return errors.Join(err, log.Close(), index.close(s.cur.entries*OffsetEntrySize))
	}
	var txn AppendFile
	if s.txnSize > 0 {
		if txn, err = s.o.open(s.path(layout.KindTxnIndex)); err != nil {
			return errors.Join(fmt.Errorf("open transaction index: %w", err), log.Close(),
				index.close(s.cur.entries*OffsetEntrySize), times.close(s.cur.timed*TimeEntrySize))
		}
	}
	s.files.Lock()
	s.log, s.index, s.times, s.txn = log, index, times, txn
	s.files.Unlock()
	return nil
}

// Open reports whether the segment holds open files.
func (s *Segment) Open() bool { return s.log != nil }

// FloorOf returns where to begin to look for an offset in a segment that nobody writes to: by its offset index the byte
// of a batch at or before it, 0 where the index does not say.
func FloorOf(dir string, base, offset int64) (pos int64) {
	f, err := OpenFile(dir, base, "")
	if err != nil {
		return 0
	}
	defer f.Close()
	x, err := f.Offsets()
	if err != nil {
		return 0
	}
	i, _ := x.Floor(offset)
	if i < 0 {
		return 0
	}
	_, pos, _ = x.At(i)
	return pos
}

// Sync makes what was committed before the call survive a power loss.
func (s *Segment) Sync() error {
	s.files.RLock()
	defer s.files.RUnlock()
	if s.log == nil {
		return s.syncClosed()
	}
	err := errors.Join(s.log.Sync(), s.index.f.Sync(), s.times.f.Sync())
	if s.txn != nil {
		err = errors.Join(err, s.txn.Sync())
	}
	if err != nil {
		return fmt.Errorf("flush segment %d in %s: %w", s.base, s.dir, err)
	}
	return nil
}

// SyncRecords is Sync without the indexes, which recovery makes anew.
func (s *Segment) SyncRecords() error {
	s.files.RLock()
	defer s.files.RUnlock()
	if s.log == nil {
		return s.syncClosed()
	}
	if err := s.log.Sync(); err != nil {
		return fmt.Errorf("flush segment %d in %s: %w", s.base, s.dir, err)
	}
	return nil
}

// syncClosed flushes the files of a suspended segment.
func (s *Segment) syncClosed() error {
	for _, kind := range []string{layout.KindLog, layout.KindIndex, layout.KindTimeIndex, layout.KindTxnIndex} {
		f, err := os.OpenFile(s.path(kind), os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue // no aborted transaction, or deleted meanwhile
		}
		if err != nil {
			return fmt.Errorf("flush segment %d: %w", s.base, err)
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("flush segment %d in %s: %w", s.base, s.dir, err)
		}
	}
	return nil
}

// seal adds the last entry of the time index, which holds the largest timestamp of all.
func (s *Segment) seal() error {
	if s.cur.max <= s.cur.lastTime {
		return nil
	}
	if err := s.times.reserve((s.cur.timed + 1) * TimeEntrySize); err != nil {
		return err
	}
	if err := s.times.put(s.cur.timed*TimeEntrySize, appendTimeEntry(nil, s.cur.max, s.cur.maxOffset-s.base)); err != nil {
		return err
	}
	s.state.Lock()
	s.cur.timed++
	s.cur.lastTime = s.cur.max
	s.state.Unlock()
	s.Discard()
	return nil
}

// Suspend closes the files as a clean stop leaves them: the time index ends with the largest timestamp, the indexes and
// .log are cut to what they hold. Resume, or the next Commit, opens them again.
func (s *Segment) Suspend() error {
	if s.log == nil {
		return nil
	}
	err := errors.Join(s.mend(), s.seal())
	s.files.Lock()
	defer s.files.Unlock()
	if s.o.Preallocate > 0 {
		if terr := s.log.Truncate(s.cur.size); terr != nil {
			err = errors.Join(err, fmt.Errorf("trim %s: %w", s.path(layout.KindLog), terr))
		}
	}
	err = errors.Join(err, s.index.close(s.cur.entries*OffsetEntrySize), s.times.close(s.cur.timed*TimeEntrySize), s.log.Close())
	if s.txn != nil {
		err = errors.Join(err, s.txn.Close())
	}
	s.log, s.index, s.times, s.txn = nil, nil, nil, nil
	if err != nil {
		return fmt.Errorf("close segment %d in %s: %w", s.base, s.dir, err)
	}
	return nil
}
