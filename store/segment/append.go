package segment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// AppendFile is what a segment needs of a file that it writes. *os.File is one.
type AppendFile interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
}

// AppendOptions tunes how a segment is written. The zero value is the broker's default.
type AppendOptions struct {
	IndexInterval int64 // bytes of .log between index entries; 0 means 4096, negative means an entry for every batch
	IndexBytes    int64 // size of each index while it is written to; 0 means 10 MiB
	Preallocate   int64 // bytes that a new .log is given at once, all zero; 0 means none
	// OpenFile opens a file for reading and writing, and makes it when it is missing; nil means os.OpenFile.
	OpenFile func(path string) (AppendFile, error)
}

const (
	defaultIndexInterval = 4096
	defaultIndexBytes    = 10 << 20
	// MaxRelative is how far an offset may lie behind its segment's base offset.
	MaxRelative = math.MaxInt32
)

func (o AppendOptions) interval() int64 {
	switch {
	case o.IndexInterval == 0:
		return defaultIndexInterval
	case o.IndexInterval < 0:
		return -1
	}
	return o.IndexInterval
}

func (o AppendOptions) indexBytes() int64 {
	if o.IndexBytes <= 0 {
		return defaultIndexBytes
	}
	return o.IndexBytes
}

func (o AppendOptions) open(path string) (AppendFile, error) {
	if o.OpenFile != nil {
		return o.OpenFile(path)
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
}

// Segment is the writing side of the files of one base offset. Batches are staged one by one, with Stage, and then
// written by one Commit, so that many small ones cost one write. One goroutine at a time may use it, but for Floor,
// Sync and Size, which may be called by any.
//
// Invariants:
//   - size is the end of the last whole batch, never of a torn one; every byte of .log behind it is to be cut
//   - next == base when the segment is empty
//   - an index entry is written only after its batch
//   - plan is cur and what is staged; they are equal after a Commit, also after one that failed
type Segment struct {
	dir    string
	base   int64
	suffix string // of its files' names
	o      AppendOptions

	log          AppendFile // nil while suspended
	index, times *indexWriter
	txn          AppendFile // nil until the first aborted transaction
	txnSize      int64
	torn         bool // bytes behind size could not be cut yet

	cur, plan   mark
	stagedIndex []byte
	stagedTimes []byte
	stagedErr   error
	files       sync.RWMutex // held while log, index, times and txn are exchanged, and while they are flushed
	state       sync.RWMutex // held while cur changes
}

// mark is how far a segment has come.
type mark struct {
	size, next int64
	since      int64 // bytes since the last index entry
	first      int64 // largest timestamp of the first batch; NoTime when it has none
	max        int64 // largest timestamp so far; NoTime when there is none
	maxOffset  int64 // last offset of the batch that has it
	entries    int64
	lastOffset int64 // of the newest offset index entry
	timed      int64 // entries of the time index
	lastTime   int64 // of the newest time index entry; NoTime for none
}

// Create makes the files of a new, empty segment. What lies there under the same names is removed first.
func Create(dir string, base int64, o AppendOptions) (*Segment, error) {
	return create(newSegment(dir, base, o), o)
}

// CreateCleaned is Create for the output of a compaction: its files' names end with .cleaned.
func CreateCleaned(dir string, base int64, o AppendOptions) (*Segment, error) {
	o.Preallocate = 0
	s := newSegment(dir, base, o)
	s.suffix = layout.SuffixCleaned
	return create(s, o)
}

func create(s *Segment, o AppendOptions) (*Segment, error) {
	for _, kind := range []string{layout.KindLog, layout.KindIndex, layout.KindTimeIndex, layout.KindTxnIndex} {
		if err := os.Remove(s.path(kind)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("create segment: %w", err)
		}
	}
	if err := s.Resume(); err != nil {
		return nil, err
	}
	if o.Preallocate > 0 {
		if err := s.log.Truncate(o.Preallocate); err != nil {
			return nil, errors.Join(fmt.Errorf("preallocate %s: %w", s.path(layout.KindLog), err), s.Suspend())
		}
	}
	return s, nil
}

func newSegment(dir string, base int64, o AppendOptions) *Segment {
	s := &Segment{dir: dir, base: base, o: o}
	s.cur = mark{next: base, first: model.NoTime, max: model.NoTime, maxOffset: base, lastOffset: base, lastTime: model.NoTime}
	s.plan = s.cur
	return s
}

func (s *Segment) path(kind string) string {
	return filepath.Join(s.dir, layout.File{Base: s.base, Epoch: -1, Kind: kind, Suffix: s.suffix}.String())
}

// Path returns the path of one of the segment's files.
func (s *Segment) Path(kind string) string { return s.path(kind) }

// Base returns the base offset.
func (s *Segment) Base() int64 { return s.base }

// Size returns the bytes of whole batches in .log.
func (s *Segment) Size() int64 {
	s.state.RLock()
	defer s.state.RUnlock()
	return s.cur.size
}

// Next returns the offset that follows the last one committed.
func (s *Segment) Next() int64 { return s.cur.next }

// FirstTime returns the largest timestamp of the first batch, staged ones included; NoTime when it has none.
func (s *Segment) FirstTime() int64 { return s.plan.first }

// MaxTime returns the largest timestamp committed, NoTime for none, and the last offset of its batch.
func (s *Segment) MaxTime() (ms, offset int64) { return s.cur.max, s.cur.maxOffset }

// Planned returns the size of .log with what is staged.
func (s *Segment) Planned() int64 { return s.plan.size }

// Full reports whether an index has no room for what the next batch may need. The time index keeps a slot free for
// the entry that closing the segment adds.
func (s *Segment) Full() bool {
	bytes := s.o.indexBytes()
	return s.plan.entries >= bytes/OffsetEntrySize || s.plan.timed >= bytes/TimeEntrySize-1
}

// Stage takes note of a batch that the next Commit will write. The batch's base offset must be at or above the end of
// the one before, and its last offset at most MaxRelative above the segment's base.
func (s *Segment) Stage(h record.Header) {
	p := &s.plan
	last := h.LastOffset()
	if h.BaseOffset < p.next || last-s.base > MaxRelative || last < h.BaseOffset {
		if s.stagedErr == nil {
			s.stagedErr = fmt.Errorf("batch of offsets %d to %d does not fit behind %d in segment %d", h.BaseOffset, last, p.next, s.base)
		}
		return
	}
	if p.size == 0 {
		p.first = h.MaxTimestamp
	}
	if h.MaxTimestamp > p.max {
		p.max, p.maxOffset = h.MaxTimestamp, last
	}
	if p.since > s.o.interval() && p.size > 0 {
		s.stageEntries(last)
	}
	size := h.Size()
	p.since += size
	p.size += size
	p.next = last + 1
}

// stageEntries adds an entry to either index for the batch that ends with offset last.
func (s *Segment) stageEntries(last int64) {
	p := &s.plan
	if s.Full() {
		return // the caller did not ask; without an entry the lookup scans further, and no more
	}
	s.stagedIndex = appendOffsetEntry(s.stagedIndex, last-s.base, p.size)
	p.entries++
	p.lastOffset = last
	if p.max > p.lastTime {
		s.stagedTimes = appendTimeEntry(s.stagedTimes, p.max, p.maxOffset-s.base)
		p.timed++
		p.lastTime = p.max
	}
	p.since = 0
}

// Discard forgets what is staged.
func (s *Segment) Discard() {
	s.plan, s.stagedErr = s.cur, nil
	s.stagedIndex, s.stagedTimes = s.stagedIndex[:0], s.stagedTimes[:0]
}

// Commit writes the staged batches, which raw holds one behind the other, and their index entries. When it fails,
// nothing of them is left: what reached the file is cut off again, and the next Commit may work.
func (s *Segment) Commit(raw []byte) error {
	err := s.commit(raw)
	s.Discard()
	return err
}

func (s *Segment) commit(raw []byte) error {
	switch {
	case s.stagedErr != nil:
		return s.stagedErr
	case int64(len(raw)) != s.plan.size-s.cur.size:
		return fmt.Errorf("append to segment %d: %d bytes are staged, %d given", s.base, s.plan.size-s.cur.size, len(raw))
	case len(raw) == 0:
		return nil
	}
	if s.log == nil {
		if err := s.Resume(); err != nil {
			return err
		}
	}
	if err := s.mend(); err != nil {
		return err
	}
	// Room in the indexes first: once the batches are written nothing may fail any more.
	if err := s.index.reserve(s.cur.entries*OffsetEntrySize + int64(len(s.stagedIndex))); err != nil {
		return fmt.Errorf("append at offset %d: %w", s.cur.next, err)
	}
	if err := s.times.reserve((s.cur.timed+1)*TimeEntrySize + int64(len(s.stagedTimes))); err != nil {
		return fmt.Errorf("append at offset %d: %w", s.cur.next, err)
	}
	if n, err := s.log.WriteAt(raw, s.cur.size); err != nil {
		return s.undo(n, err)
	}
	if err := s.index.put(s.cur.entries*OffsetEntrySize, s.stagedIndex); err != nil {
		return s.undo(len(raw), err)
	}
	if err := s.times.put(s.cur.timed*TimeEntrySize, s.stagedTimes); err != nil {
		return s.undo(len(raw), err)
	}
	s.state.Lock()
	s.cur = s.plan
	s.state.Unlock()
	return nil
}

// undo cuts off what a failed append left, so that size stays true, and says what happened where.
func (s *Segment) undo(n int, cause error) error {
	err := fmt.Errorf("append at offset %d, byte %d of %s: %w", s.cur.next, s.cur.size+int64(n), s.path(layout.KindLog), cause)
	s.torn = true
	s.index.clear(s.cur.entries*OffsetEntrySize, int64(len(s.stagedIndex)))
	s.times.clear(s.cur.timed*TimeEntrySize, int64(len(s.stagedTimes)))
	if merr := s.mend(); merr != nil {
		return errors.Join(err, merr)
	}
	return err
}

// mend cuts .log behind size after an append that failed. As long as that does not work, nothing is appended.
func (s *Segment) mend() error {
	if !s.torn {
		return nil
	}
	if err := s.log.Truncate(s.cur.size); err != nil {
		return fmt.Errorf("undo torn append at byte %d of %s: %w", s.cur.size, s.path(layout.KindLog), err)
	}
	if s.o.Preallocate > s.cur.size {
		if err := s.log.Truncate(s.o.Preallocate); err != nil {
			return fmt.Errorf("preallocate %s: %w", s.path(layout.KindLog), err)
		}
	}
	s.torn = false
	return nil
}

// Mark is a state of a segment, to come back to.
type Mark struct{ m mark }

// Save returns the segment's state, for Restore.
func (s *Segment) Save() Mark { return Mark{s.cur} }

// Restore takes back what was committed since Save, when something that belongs to it could not be written elsewhere.
func (s *Segment) Restore(saved Mark) error {
	if s.cur.size == saved.m.size {
		return nil
	}
	s.state.Lock()
	index, timed := s.cur.entries-saved.m.entries, s.cur.timed-saved.m.timed
	s.cur = saved.m
	s.state.Unlock()
	s.Discard()
	s.torn = true
	s.index.clear(s.cur.entries*OffsetEntrySize, index*OffsetEntrySize)
	s.times.clear(s.cur.timed*TimeEntrySize, timed*TimeEntrySize)
	return s.mend()
}

// AppendAbort adds an entry to the transaction index, which is made with the first one. When it fails, nothing of the
// entry is left.
func (s *Segment) AppendAbort(a AbortedTxn) error {
	path := s.path(layout.KindTxnIndex)
	if s.txn == nil {
		f, err := s.o.open(path)
		if err != nil {
			return fmt.Errorf("append to transaction index: %w", err)
		}
		s.files.Lock()
		s.txn = f
		s.files.Unlock()
	}
	if n, err := s.txn.WriteAt(appendTxnEntry(nil, a), s.txnSize); err != nil {
		err = fmt.Errorf("append aborted transaction of producer %d, byte %d of %s: %w", a.Producer, s.txnSize+int64(n), path, err)
		if terr := s.txn.Truncate(s.txnSize); terr != nil {
			return errors.Join(err, fmt.Errorf("undo torn append at byte %d of %s: %w", s.txnSize, path, terr))
		}
		return err
	}
	s.txnSize += TxnEntrySize
	return nil
}

// Floor returns where to begin to look for an offset: the byte of a batch at or before it. It is false while the segment
// is suspended and only its index file could say.
func (s *Segment) Floor(offset int64) (pos int64, ok bool) {
	s.state.RLock()
	entries := s.cur.entries
	s.state.RUnlock()
	if entries == 0 {
		return 0, true
	}
	s.files.RLock()
	defer s.files.RUnlock()
	if s.index == nil {
		return 0, false
	}
	return s.index.floor(entries, offset-s.base), true
}
