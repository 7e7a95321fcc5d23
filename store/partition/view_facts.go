package partition

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

const (
	// firstStride is how many batches lie between two marks at first.
	firstStride = 64
	// maxMarks bounds the marks of a segment; beyond it every second one is given up.
	maxMarks = 4096
)

// mark is where a batch begins.
type mark struct {
	pos  int64
	base int64
}

// facts are what a walk over the headers of a segment has found so far. A walk goes on where the last one has stopped,
// also when the file has grown in the meantime.
//
// Invariants:
//   - all of the counts cover the bytes [0, walked) and nothing else
//   - marks[i] is where batch number i*stride begins
type facts struct {
	mu       sync.Mutex
	walked   int64
	whole    bool // walked to the end of the file
	lastPos  int64
	lastHead record.Header
	marks    []mark
	stride   int64

	batches  int64
	placed   int64 // of them with offsets that can be
	records  int64 // data records
	control  int64 // control records
	last     int64 // highest offset; meaningless while placed is 0
	first    int64 // lowest offset, likewise
	firstMS  int64
	maxMS    int64
	plain    int64 // bytes of records uncompressed, where that is known without decompressing
	packed   int64 // compressed batches
	inflated int64 // bytes of these when decompressed, where they have been
	unpacked int64 // compressed batches that have been
	txnData  bool
	disorder bool
	tail     tailFacts
	faults   []model.Fault

	timed   bool // maxTime is known
	maxTime int64
}

type tailFacts struct {
	trailing int64
	zeros    bool
}

// maxFaults bounds the faults that are kept of a segment.
const maxFaults = 1000

// grown returns facts to go on from, now that the file has grown. f stays as it is.
func (f *facts) grown() *facts {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.faults) > 0 || f.disorder {
		return new(facts)
	}
	n := &facts{walked: f.walked, lastPos: f.lastPos, lastHead: f.lastHead, stride: f.stride,
		batches: f.batches, placed: f.placed, records: f.records, control: f.control, last: f.last, first: f.first, firstMS: f.firstMS,
		maxMS: f.maxMS, plain: f.plain, packed: f.packed, inflated: f.inflated, unpacked: f.unpacked, txnData: f.txnData}
	n.marks = f.marks[:len(f.marks):len(f.marks)]
	return n
}

func (f *facts) maxTimeKnown() (int64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.maxTime, f.timed
}

// floor is the last mark that is not beyond an offset, or 0: while a walk goes on, or where offsets do not rise.
func (f *facts) floor(offset int64) int64 {
	if !f.mu.TryLock() {
		return 0
	}
	defer f.mu.Unlock()
	if f.disorder {
		return 0
	}
	i, exact := slices.BinarySearchFunc(f.marks, offset, func(m mark, o int64) int { return cmpOffset(m.base, o) })
	if !exact {
		i--
	}
	if i < 0 {
		return 0
	}
	return f.marks[i].pos
}

// known returns a copy of the counts when the whole segment has been walked.
func (f *facts) known() (segmentFacts, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.copyOut(), f.whole
}

// segmentFacts is what others may read of facts without holding its lock.
type segmentFacts struct {
	placed, batches, records, control, last, first, firstMS, maxMS int64
	plain, packed, inflated, unpacked                              int64
	disorder, txnData                                              bool
	tail                                                           tailFacts
	faults                                                         []model.Fault
}

func (f *facts) copyOut() segmentFacts {
	return segmentFacts{f.placed, f.batches, f.records, f.control, f.last, f.first, f.firstMS, f.maxMS,
		f.plain, f.packed, f.inflated, f.unpacked, f.disorder, f.txnData, f.tail, f.faults[:len(f.faults):len(f.faults)]}
}

// walk reads the headers of a layer to its end, once.
func (v *View) walk(ctx context.Context, l *layer) error {
	f := l.facts
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.whole {
		return nil
	}
	file, err := v.open(l)
	if err != nil {
		return err
	}
	defer file.Close()
	return f.extend(ctx, v, l, file, -1)
}

// extend walks on until batch number upTo has been passed, or with -1 to the end. f.mu is held.
func (f *facts) extend(ctx context.Context, v *View, l *layer, file *segment.File, upTo int64) error {
	if f.whole || upTo >= 0 && f.batches > upTo {
		return nil
	}
	if f.walked > 0 {
		if h, err := file.Header(f.lastPos); err != nil || h != f.lastHead {
			f.restart()
		}
	}
	if f.stride == 0 {
		f.restart()
	}
	s := file.Scanner(segment.ScanOptions{Headers: true, Map: true, Stop: ctx.Err})
	defer s.Close()
	s.Goto(f.walked)
	for upTo < 0 || f.batches <= upTo {
		k := s.Next()
		switch k {
		case segment.Failed:
			return scanError(file, s)
		case segment.Damage:
			f.note(v.scanFault(l, s))
		case segment.End, segment.Torn, segment.Zeros:
			f.whole = true
			f.tail = tailFacts{s.End() - f.walked, k == segment.Zeros}
			return nil
		case segment.Batch:
			if err := f.add(l, s, file); err != nil {
				f.note(v.batchFault(l, s.Pos(), s.Header().BaseOffset, "count", err.Error(), model.SevDamage))
			}
		}
		if k == segment.Batch || k == segment.Damage {
			f.walked = s.Pos() + s.Len()
		}
	}
	return nil
}

// restart forgets all.
func (f *facts) restart() {
	f.walked, f.whole, f.lastPos, f.marks, f.stride = 0, false, 0, nil, firstStride
	f.batches, f.placed, f.records, f.control, f.plain, f.packed, f.inflated, f.unpacked = 0, 0, 0, 0, 0, 0, 0, 0
	f.firstMS, f.maxMS, f.disorder, f.txnData, f.faults = model.NoTime, model.NoTime, false, false, nil
}

func (f *facts) note(t model.Fault) {
	if len(f.faults) < maxFaults {
		f.faults = append(f.faults, t)
	}
}

// add counts the batch that s is at. The error says why its records could not be counted.
func (f *facts) add(l *layer, s *segment.Scanner, file *segment.File) error {
	h := s.Header()
	if f.batches%f.stride == 0 {
		f.marks = append(f.marks, mark{s.Pos(), h.BaseOffset})
		if len(f.marks) > maxMarks {
			f.thin()
		}
	}
	first, count := h.BaseOffset, int64(max(h.Count, 0))
	var err error
	if h.Wrapper() {
		first, count, err = wrapperCount(s, file)
	}
	if f.batches == 0 {
		f.firstMS = firstTime(h)
	}
	switch {
	case first < l.base || h.LastOffset()-l.base > math.MaxInt32:
		f.disorder = true // it has no offset of this segment
	case f.placed == 0:
		f.first, f.last = first, h.LastOffset()
		f.placed++
	default:
		f.placed++
		f.disorder = f.disorder || first <= f.last
		f.first, f.last = min(f.first, first), max(f.last, h.LastOffset())
	}
	f.batches++
	if h.Control() {
		f.control += count
	} else {
		f.records += count
	}
	f.txnData = f.txnData || h.Transactional()
	f.maxMS = max(f.maxMS, h.MaxTimestamp)
	if h.Codec() == record.None {
		f.plain += sectionSize(h)
	} else {
		f.packed++
	}
	f.lastPos, f.lastHead = s.Pos(), h
	return err
}

// thin gives up every second mark.
func (f *facts) thin() {
	kept := make([]mark, 0, maxMarks)
	for i := 0; i < len(f.marks); i += 2 {
		kept = append(kept, f.marks[i])
	}
	f.marks, f.stride = kept, 2*f.stride
}

// sectionSize is how many bytes the records of an uncompressed batch take.
func sectionSize(h record.Header) int64 {
	if h.Legacy() {
		return h.Size()
	}
	return h.Size() - record.HeaderSize
}

// firstTime is the timestamp that a batch begins with, as far as its header knows.
func firstTime(h record.Header) int64 {
	if _, horizon := h.DeleteHorizon(); horizon || h.LogAppendTime() || h.BaseTimestamp < 0 {
		return h.MaxTimestamp
	}
	return h.BaseTimestamp
}

// wrapperCount decompresses a legacy wrapper to count what is in it.
func wrapperCount(s *segment.Scanner, file *segment.File) (first, count int64, err error) {
	h := s.Header()
	b, err := readBatch(file, s.Pos(), h.Size())
	if err != nil {
		return h.BaseOffset, 0, err
	}
	first, n, err := record.LegacyFirst(b)
	if err != nil {
		return h.BaseOffset, 0, err
	}
	return first, int64(n), nil
}

// readBatch reads a batch of at most segment.DefaultMaxBatch bytes.
func readBatch(file *segment.File, pos, size int64) ([]byte, error) {
	if size > segment.DefaultMaxBatch || size > file.Size-pos {
		return nil, errors.New("the batch is too large to be read at once")
	}
	b := make([]byte, size)
	if _, err := file.Log.ReadAt(b, pos); err != nil {
		return nil, &model.CorruptError{Path: file.Log.Name(), Pos: pos, What: "the batch cannot be read", Err: err}
	}
	return b, nil
}

// scanError wraps what ended a scan of a file.
func scanError(file *segment.File, s *segment.Scanner) error {
	if errors.Is(s.Err(), context.Canceled) || errors.Is(s.Err(), context.DeadlineExceeded) {
		return s.Err()
	}
	return &model.CorruptError{Path: file.Log.Name(), Pos: s.Pos(), What: "cannot be read", Err: s.Err()}
}

// scanFault makes a fault of the Damage that a scan is at.
func (v *View) scanFault(l *layer, s *segment.Scanner) model.Fault {
	t := v.batchFault(l, s.Pos(), model.Unknown, "length", s.Why(), model.SevDamage)
	t.Follows = s.Follows()
	return t
}

// batchFault makes a fault at a byte of a layer's .log.
func (v *View) batchFault(l *layer, pos, offset int64, kind, what string, s model.Severity) model.Fault {
	return model.Fault{TP: v.tp, File: v.name(l), Position: pos, Offset: offset, Kind: kind, What: what, Severity: s}
}

// maxTime returns the largest timestamp of a layer: its time index's last word, or what its headers say.
func (v *View) maxTime(ctx context.Context, l *layer) (int64, error) {
	if l.tail != nil {
		return l.tail.MaxTime, nil
	}
	f := l.facts
	f.mu.Lock()
	known, ms := f.timed, f.maxTime
	if !known && f.whole {
		known, ms = true, f.maxMS
	}
	f.mu.Unlock()
	if known {
		return ms, nil
	}
	file, err := v.open(l)
	if err != nil {
		return model.NoTime, err
	}
	defer file.Close()
	ms, err = file.MaxTime(ctx.Err)
	if err != nil {
		return model.NoTime, err
	}
	f.mu.Lock()
	f.timed, f.maxTime = true, ms
	f.mu.Unlock()
	return ms, nil
}
