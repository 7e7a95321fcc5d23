package partition

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"sync"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// shape is the segments of a log at one moment. It is never changed.
type shape struct {
	generation int64
	segs       []shaped
	active     *segment.Segment // nil until it is written to
}

// shaped is one of them.
type shaped struct {
	base int64
	size int64 // bytes of whole batches in .log; of the active one as it was when the shape was made
}

// reshape makes readers look at the segments anew, as a new generation does. The log must be locked.
func (l *Log) reshape() { l.shape.Store(nil) }

// holds tells whether a shape is still what the log looks like.
func (l *Log) holds(s *shape) bool { return l.shape.Load() == s && s.generation == l.generation.Load() }

// shaped returns the segments as they are.
func (l *Log) shaped() (*shape, error) {
	if s := l.shape.Load(); s != nil && l.holds(s) {
		return s, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	generation := l.generation.Load()
	if s := l.shape.Load(); s != nil && l.holds(s) {
		return s, nil
	}
	if err := l.list(); err != nil {
		return nil, err
	}
	l.handles.drop(l, func(k handleKey) bool { return k.generation != generation })
	s := &shape{generation: generation, segs: make([]shaped, len(l.segs)), active: l.active}
	for i := range l.segs {
		s.segs[i] = shaped{base: l.segs[i].base, size: l.sizeOf(&l.segs[i])}
	}
	l.shape.Store(s)
	return s, nil
}

// take returns the open files of a segment; nil when the shape is not true any more.
func (l *Log) take(s *shape, base int64) (*handle, error) {
	k := handleKey{l, base, s.generation}
	if h := l.handles.get(k); h != nil {
		return h, nil
	}
	l.names.RLock()
	defer l.names.RUnlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fmt.Errorf("%s: %w", l.o.TP, model.ErrClosed)
	}
	if !l.holds(s) {
		return nil, nil
	}
	return l.handles.open(k)
}

// Query says what to read of a log.
type Query struct {
	Offset int64
	// Max is how many bytes at most.
	Max int64
	// Whole lets the first batch be larger than Max. Without it a first batch that is larger gives nothing.
	Whole bool
	// Committed reads up to the last stable offset only, and asks for the transactions aborted in what is read.
	Committed bool
}

// Slice is what was read of a log: a part of a file that stays open until Close. It begins with the batch that holds the
// offset asked for, and is cut where Max ends, perhaps within a batch.
type Slice struct {
	Bounds
	Size    int64
	Aborted []segment.AbortedTxn

	log  *Log
	h    *handle
	base int64 // of the segment; -1 where nothing was read
	pos  int64
}

// Close lets the file go. It may be called more than once.
func (s *Slice) Close() {
	if s.h != nil {
		s.log.handles.release(s.h)
		s.h = nil
	}
	s.Size = 0
}

// File returns the file, where in it the slice begins. Only reads at a position may be done on it.
func (s *Slice) File() (f *os.File, pos int64) { return s.h.log, s.pos }

// ReadAt implements io.ReaderAt on the bytes of the slice.
func (s *Slice) ReadAt(b []byte, off int64) (int, error) {
	if off >= s.Size {
		return 0, io.EOF
	}
	if int64(len(b)) > s.Size-off {
		n, err := s.h.log.ReadAt(b[:s.Size-off], s.pos+off)
		if err == nil {
			err = io.EOF
		}
		return n, err
	}
	return s.h.log.ReadAt(b, s.pos+off)
}

// Ahead returns how many bytes a reader would find now where the slice begins, or where it would have begun; a number
// larger than any file where the log goes on in another segment.
func (s *Slice) Ahead() int64 {
	b := s.log.known.Load()
	switch {
	case b.End == s.End && s.base < 0:
		return 0
	case s.base < 0 || b.base != s.base:
		return 1 << 40
	}
	return b.size - s.pos
}

// Slice reads a part of the log. It waits for no appender but for the moment it takes to look at the segments. Nothing
// is read at the log's end. Errors wrap model.ErrOutOfRange outside of the log, and are a *model.CorruptError where there
// is no batch to read.
func (l *Log) Slice(q Query) (Slice, error) {
	for {
		s, ok, err := l.slice(q)
		if err != nil {
			s.Close()
			return s, fmt.Errorf("read %s at %d: %w", l.o.TP, q.Offset, err)
		}
		if ok {
			return s, nil
		}
	}
}

// slice is Slice; it is false when the segments were others before it was done.
func (l *Log) slice(q Query) (Slice, bool, error) {
	s := Slice{log: l, base: -1}
	if _, err := l.Bounds(); err != nil {
		return s, false, err
	}
	b := l.known.Load()
	s.Bounds = b.Bounds
	if q.Offset < b.Start || q.Offset > b.End {
		return s, false, fmt.Errorf("%w: it reaches from %d to %d", model.ErrOutOfRange, b.Start, b.End)
	}
	bound := b.End
	if q.Committed {
		bound = b.LastStable
	}
	if q.Offset >= bound {
		s.base, s.pos = b.base, b.size
		return s, true, nil
	}
	sh, err := l.shaped()
	if err != nil {
		return s, false, err
	}
	if q.Offset < sh.segs[0].base {
		if now := l.known.Load(); now.Start <= q.Offset && l.holds(sh) {
			return s, false, &model.CorruptError{Path: l.o.Dir, What: fmt.Sprintf("no segment holds offset %d", q.Offset)}
		}
		return s, false, nil // deleted meanwhile
	}
	i := sort.Search(len(sh.segs), func(i int) bool { return sh.segs[i].base > q.Offset }) - 1
	for ; i < len(sh.segs); i++ {
		found, ok, err := l.sliceSegment(&s, sh, i, q, b, bound)
		if err != nil || !ok {
			s.Close()
			return s, false, err
		}
		if found {
			break
		}
	}
	if q.Committed {
		aborted, ok, err := l.abortedFor(&s, sh, q.Offset, bound)
		if err != nil || !ok {
			s.Close()
			return s, false, err
		}
		s.Aborted = aborted
	}
	return s, true, nil
}

// sliceSegment reads from one segment; found is false when it holds nothing at or above the offset.
func (l *Log) sliceSegment(s *Slice, sh *shape, i int, q Query, b *bounds, bound int64) (found, ok bool, err error) {
	seg := sh.segs[i]
	end := seg.size
	if seg.base == b.base {
		end = b.size // what has come since is not told of yet
	}
	h, err := l.take(sh, seg.base)
	if err != nil || h == nil {
		return false, false, err
	}
	s.h, s.base = h, seg.base
	sc := scans.Get().(*scan)
	defer scans.Put(sc)
	sc.reset(h, end)
	first, found, err := sc.find(l.floor(sh, h, q.Offset), func(h record.Header) bool { return h.LastOffset() >= q.Offset })
	if err != nil {
		return false, false, err
	}
	if !found || first.BaseOffset >= bound && !first.Legacy() {
		l.handles.release(h)
		s.h, s.base = nil, -1
		return false, true, nil
	}
	s.pos = sc.pos
	if q.Max < first.Size() && !q.Whole {
		return true, true, nil
	}
	if bound < s.End && (i+1 == len(sh.segs) || sh.segs[i+1].base > bound) {
		_, _, err := sc.find(max(s.pos, l.floor(sh, h, bound)), func(h record.Header) bool { return h.BaseOffset >= bound })
		if err != nil {
			return false, false, err
		}
		end = sc.pos
	}
	s.Size = min(max(q.Max, first.Size()), end-s.pos)
	return true, true, nil
}

// floor returns where to begin to look for an offset in a segment.
func (l *Log) floor(sh *shape, h *handle, offset int64) int64 {
	if sh.active != nil && sh.active.Base() == h.key.base {
		if pos, ok := sh.active.Floor(offset); ok {
			return pos
		}
	}
	return h.floor(offset)
}

// scan goes from header to header in a file.
type scan struct {
	h        *handle
	end      int64
	pos      int64 // of the header found
	buf      []byte
	from, to int64 // the part of the file in buf
}

const scanBuffer = 4 << 10

// scans are reused: their buffers are most of what a read would leave behind.
var scans = sync.Pool{New: func() any { return &scan{buf: make([]byte, scanBuffer)} }}

func (c *scan) reset(h *handle, end int64) { c.h, c.end, c.from, c.to = h, end, 0, 0 }

// find goes from a byte on to the first header that is wanted. Without one, pos is the end. A byte that an index has led
// to, and where no batch begins, is not believed: the search begins at the file's first byte then.
func (c *scan) find(pos int64, wanted func(record.Header) bool) (record.Header, bool, error) {
	c.pos = pos
	trusted := pos == 0
	for c.pos < c.end {
		h, err := c.header()
		if err != nil || c.pos+h.Size() > c.end {
			var read *os.PathError
			if !trusted && !errors.As(err, &read) {
				c.pos, trusted = 0, true
				continue
			}
			if err == nil || !errors.As(err, &read) {
				err = &model.CorruptError{Path: c.h.log.Name(), Pos: c.pos, What: "no batch", Err: err}
			}
			return h, false, err
		}
		if wanted(h) {
			return h, true, nil
		}
		c.pos += h.Size()
	}
	c.pos = c.end
	return record.Header{}, false, nil
}

// header reads the header at pos.
func (c *scan) header() (record.Header, error) {
	if c.pos < c.from || c.pos+record.HeaderSize > c.to {
		n, err := c.h.log.ReadAt(c.buf[:min(int64(len(c.buf)), c.end-c.pos)], c.pos)
		if err != nil && !errors.Is(err, io.EOF) {
			return record.Header{}, err
		}
		c.from, c.to = c.pos, c.pos+int64(n)
	}
	return record.ParseHeader(c.buf[c.pos-c.from : c.to-c.from])
}

// abortedFor returns the transactions aborted that a reader of a slice must know: those that lie in it, by the indexes of
// its segment and of the following ones. It is false when the segments are others by now: their indexes may be too.
func (l *Log) abortedFor(s *Slice, sh *shape, offset, bound int64) ([]segment.AbortedTxn, bool, error) {
	if s.Size == 0 {
		return nil, true, nil
	}
	l.names.RLock()
	defer l.names.RUnlock()
	if l.generation.Load() != sh.generation {
		return nil, false, nil
	}
	var list []segment.AbortedTxn
	upper := int64(-1)
	for i := range sh.segs {
		seg := &sh.segs[i]
		if seg.base < s.base {
			continue
		}
		all, err := l.aborts.of(l.o.Dir, seg.base, sh.generation)
		if err != nil {
			return nil, false, err
		}
		if len(all) > 0 && upper < 0 {
			if upper, err = s.upper(bound); err != nil {
				return nil, false, err
			}
		}
		for _, a := range all {
			if a.Last >= offset && a.First < upper {
				list = append(list, a)
			}
			if a.Stable >= upper {
				return list, true, nil
			}
		}
	}
	return list, true, nil
}

// upper returns the offset behind the last batch that begins in a slice, at most bound.
func (s *Slice) upper(bound int64) (int64, error) {
	sc := scans.Get().(*scan)
	defer scans.Put(sc)
	sc.reset(s.h, s.pos+s.Size)
	next := int64(-1)
	for sc.pos = s.pos; sc.pos+record.HeaderSize <= sc.end; {
		h, err := sc.header()
		if err != nil {
			return 0, &model.CorruptError{Path: s.h.log.Name(), Pos: sc.pos, What: "no batch", Err: err}
		}
		next = h.NextOffset()
		sc.pos += h.Size()
	}
	if next < 0 {
		return bound, nil
	}
	return min(next, bound), nil
}

// aborts remembers transaction indexes by what they were when they were read.
type aborts struct {
	mu         sync.Mutex
	generation int64 // of the segments
	by         map[int64]abortList
	n          int // entries kept
}

type abortList struct {
	size int64 // of the file
	list []segment.AbortedTxn
}

// keepAborts is how many entries of a log's transaction indexes are remembered; 40 bytes each.
const keepAborts = 16 << 10

// of returns the entries of the transaction index of a segment, none where it has none.
func (a *aborts) of(dir string, base, generation int64) ([]segment.AbortedTxn, error) {
	path := filepath.Join(dir, layout.FileName(base, layout.KindTxnIndex))
	fi, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read transaction index: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.generation != generation {
		a.generation, a.by, a.n = generation, nil, 0
	}
	if k, ok := a.by[base]; ok && k.size == fi.Size() {
		return k.list, nil
	}
	b, err := segment.ReadRegular(path, maxTxnIndex)
	if err != nil {
		return nil, fmt.Errorf("read transaction index: %w", err)
	}
	list, err := segment.ParseTxnIndex(b[:len(b)/segment.TxnEntrySize*segment.TxnEntrySize])
	if err != nil {
		return nil, &model.CorruptError{Path: path, What: "no transaction index", Err: err}
	}
	if a.by == nil || a.n+len(list) > keepAborts {
		a.by, a.n = map[int64]abortList{}, 0
	}
	a.n += len(list) - len(a.by[base].list)
	a.by[base] = abortList{int64(len(b)), list}
	return list, nil
}

const maxTxnIndex = 34 << 20

// regenerate says that names lead to other files now. Who reads the old ones goes on; new readers open anew. The log must be
// locked.
func (l *Log) regenerate() {
	l.generation.Add(1)
	l.handles.drop(l, func(handleKey) bool { return true })
}
