package partition

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// LogOptions says where a log lies and what is known of it. But for Dir and TP the zero value is usable.
type LogOptions struct {
	Dir    string // the partition's folder
	TP     model.TopicPartition
	Config layout.TopicConfig
	Start  int64 // log start offset from its checkpoint; 0 where that has none
	Point  int64 // recovery point from its checkpoint: what lies below was flushed
	// Cleaned is the first dirty offset from its checkpoint: what lies below was compacted; 0 where that has none.
	Cleaned int64
	// Clean says that the last writer stopped cleanly, so that Point is the log's end and nothing needs to be read.
	Clean bool
	Now   func() int64 // the clock, ms; nil means the system's
	// OpenFile opens what is written to; nil means os.OpenFile.
	OpenFile func(path string) (segment.AppendFile, error)
	// ProducerExpiry is after how many ms an idle producer is forgotten; 0 means a day.
	ProducerExpiry int64
	// Later is given work that need not be waited for (the flush of a closed segment), with the log locked; nil means
	// that it is left to the next Flush.
	Later func(work func())
	// Opened is told, with the log locked, that it has opened files to append to.
	Opened func(*Log)
	// Deleted is told of files that have been renamed to .deleted, and when (ms) they are to be removed; nil means that
	// they are removed at once.
	Deleted func(paths []string, due int64)
	// Handles keeps the files open that are read; nil means that the log keeps a few of its own.
	Handles *Handles
	// Notice is told what was found and changed on disk that nobody asked for, one line each; nil means that nobody
	// wants to know.
	Notice func(line string)
}

const defaultProducerExpiry = 24 * 60 * 60 * 1000

// Bounds are the offsets of a log that matter to its readers.
type Bounds struct {
	Start         int64 // log start offset
	End           int64 // LEO
	HighWatermark int64
	LastStable    int64
}

// bounds is what is published with every append.
type bounds struct {
	Bounds
	base int64 // of the active segment; -1 while it has not been written to
	size int64 // of its whole batches, up to End
}

// Log is the writing side of a partition: the segments in its folder, appended to by one at a time. What is looked at
// goes through a View; Log itself reads what an appender must know, and gives clients the bytes they ask for.
//
// It opens nothing before it is used: after a clean stop the end is known from the checkpoint, and ten thousand logs
// cost ten thousand small values, no file and no descriptor.
//
// Invariants:
//   - segs is never empty once listed, ordered by base, and its last one is the active segment
//   - bounds is published after the bytes it tells of were written
//   - point <= End: what lies below was flushed, or its files were found whole after a clean stop
type Log struct {
	o     LogOptions
	cfg   atomic.Pointer[layout.TopicConfig]
	known atomic.Pointer[bounds] // nil until listed

	handles *Handles
	shape   atomic.Pointer[shape] // nil when it must be made anew
	leader  atomic.Int64          // the leader epoch of this run, plus one; 0 until it is known
	waits   watches
	aborts  aborts
	times   times

	mu         sync.Mutex // the appender's; guards all below
	listed     bool
	closed     bool
	segs       []piece
	active     *segment.Segment // nil until it is written to
	sealed     bool             // the last segment ends in what must be kept: roll before the next append
	unsynced   []*segment.Segment
	newFiles   bool // the folder itself needs a flush
	openedAt   int64
	jitter     int64
	epochs     []layout.Epoch
	stamped    bool // the epoch of this run has its line
	epochsLate bool // the file has lines that were trimmed
	producers  *producers
	snapshots  []int64

	// names is held while files of closed segments are renamed, and read-held by who opens some that belong together by
	// their names. It is taken before mu.
	names      sync.RWMutex
	cleaning   sync.Mutex   // held by the one who compacts
	cleaned    atomic.Int64 // first dirty offset; 0 where nothing was cleaned
	generation atomic.Int64 // how often that was done

	flushing sync.Mutex
	unsafe   atomic.Pointer[error] // why a flush failed once: from then on nothing is known to be on the disk
	point    atomic.Int64
	// indexesLate says that what is below point was flushed without the active segment's indexes.
	indexesLate atomic.Bool
	flushedAt   atomic.Int64 // ms
	firstBase   atomic.Int64 // base of the first segment
	used        atomic.Int64 // ms
}

// piece is what is known of a segment without opening it.
type piece struct {
	base  int64
	size  int64 // of .log; the active one's is the segment's own
	timed bool  // newest has been looked up
	// newest is the time that retention goes by, ms: the largest timestamp, or else when .log was last written.
	newest int64
	dated  bool  // first has been looked up
	first  int64 // largest timestamp of the first batch, ms; -1 for none
}

// OpenLog returns the log of a folder that exists. It does not touch the disk.
func OpenLog(o LogOptions) *Log {
	l := &Log{o: o}
	if l.o.Now == nil {
		l.o.Now = func() int64 { return time.Now().UnixMilli() }
	}
	if l.o.ProducerExpiry == 0 {
		l.o.ProducerExpiry = defaultProducerExpiry
	}
	if l.handles = o.Handles; l.handles == nil {
		l.handles = NewHandles(ownHandles)
	}
	l.cfg.Store(&o.Config)
	l.point.Store(max(o.Point, 0))
	l.cleaned.Store(max(o.Cleaned, 0))
	l.flushedAt.Store(l.o.Now())
	return l
}

// CreateLog makes the folder of a new, empty log, with its topic's id and epoch 0, and returns it.
func CreateLog(o LogOptions, topic layout.ID) (*Log, error) {
	if err := os.Mkdir(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("create partition: %w", err)
	}
	o.Clean, o.Point, o.Start = true, 0, 0
	l := OpenLog(o)
	if err := l.fill(topic); err != nil {
		return nil, errors.Join(fmt.Errorf("create partition %s: %w", o.TP, err), os.RemoveAll(o.Dir))
	}
	l.segs = []piece{{base: 0}}
	l.listed, l.stamped, l.newFiles = true, true, true
	l.epochs = []layout.Epoch{{Epoch: 0, Start: 0}}
	l.producers = newProducers()
	l.publish(0)
	return l, nil
}

// fill writes what a new partition's folder holds.
func (l *Log) fill(topic layout.ID) error {
	files := map[string][]byte{
		layout.PartitionMetaFile:                 layout.AppendPartitionMeta(nil, topic),
		layout.EpochsFile:                        layout.AppendEpochs(nil, []layout.Epoch{{Epoch: 0, Start: 0}}),
		layout.FileName(0, layout.KindLog):       nil,
		layout.FileName(0, layout.KindIndex):     nil,
		layout.FileName(0, layout.KindTimeIndex): nil,
	}
	for name, b := range files {
		f, err := l.open(filepath.Join(l.o.Dir, name))
		if err != nil {
			return err
		}
		if _, err := f.WriteAt(b, 0); len(b) > 0 && err != nil {
			return errors.Join(err, f.Close())
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) open(path string) (segment.AppendFile, error) {
	if l.o.OpenFile != nil {
		return l.o.OpenFile(path)
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
}

// Dir returns the folder.
func (l *Log) Dir() string { return l.o.Dir }

// TP returns which partition it is.
func (l *Log) TP() model.TopicPartition { return l.o.TP }

// Config returns the configs the log lives by.
func (l *Log) Config() layout.TopicConfig { return *l.cfg.Load() }

// SetConfig makes the log live by other configs from now on.
func (l *Log) SetConfig(c layout.TopicConfig) { l.cfg.Store(&c) }

// RecoveryPoint returns the offset below which everything has been flushed.
func (l *Log) RecoveryPoint() int64 { return l.point.Load() }

// HighWatermark returns the high watermark, as far as it can be told without a look at the disk.
func (l *Log) HighWatermark() int64 {
	if b := l.known.Load(); b != nil {
		return b.HighWatermark
	}
	return l.point.Load()
}

// StartLine returns the log start offset when it is to be remembered, because records below it are still in the files.
func (l *Log) StartLine() (int64, bool) {
	b := l.known.Load()
	if b == nil {
		return l.o.Start, l.o.Start > 0
	}
	return b.Start, b.Start > l.firstBase.Load()
}

// Clean reports whether the log was opened after a clean stop, so that it need not be recovered.
func (l *Log) Clean() bool { return l.o.Clean }

// Generation counts how often closed segments were removed or replaced by others: what was opened by name before may be
// another file now, with other bytes at the same place. What is open stays readable.
func (l *Log) Generation() int64 { return l.generation.Load() }

// Hold keeps the names of closed segments' files as they are until release is called: who opens a .log and its indexes
// meanwhile gets files that belong together. It must not be called with the log locked.
func (l *Log) Hold() (release func()) {
	l.names.RLock()
	return l.names.RUnlock
}

// Used returns when the log was last appended to, ms; 0 for not yet.
func (l *Log) Used() int64 { return l.used.Load() }

// Bounds returns the log's offsets. The first call lists the folder, later ones wait for nobody.
func (l *Log) Bounds() (Bounds, error) {
	if b := l.known.Load(); b != nil {
		return b.Bounds, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.list(); err != nil {
		return Bounds{}, err
	}
	return l.known.Load().Bounds, nil
}

// Known returns the log's offsets when they can be told without a look at the disk.
func (l *Log) Known() (Bounds, bool) {
	if b := l.known.Load(); b != nil {
		return b.Bounds, true
	}
	return Bounds{}, false
}

// end returns the LEO; the log must be listed.
func (l *Log) end() int64 { return l.known.Load().End }

// publish makes the offsets known whose LEO is end. The log start stays.
func (l *Log) publish(end int64) {
	b := bounds{Bounds: Bounds{Start: l.o.Start, End: end, HighWatermark: end, LastStable: end}, base: -1}
	if old := l.known.Load(); old != nil {
		b.Start = old.Start
	}
	if l.active != nil {
		b.base, b.size = l.active.Base(), l.active.Size()
	}
	if l.producers != nil {
		if first, open := l.producers.firstOpen(); open {
			b.LastStable = min(first, end)
		}
	}
	l.known.Store(&b)
	l.waits.wake(&b)
}

// publishStart moves the log start offset.
func (l *Log) publishStart(start int64) {
	b := *l.known.Load()
	b.Start = start
	l.known.Store(&b)
}

func (l *Log) notice(line string) {
	if l.o.Notice != nil {
		l.o.Notice(line)
	}
}

// Suspend closes the files that the log has open for appending, until it is appended to again. It reports false when
// the log is busy.
func (l *Log) Suspend() (bool, error) {
	if !l.mu.TryLock() {
		return false, nil
	}
	defer l.mu.Unlock()
	if l.active == nil || !l.active.Open() {
		return true, nil
	}
	return true, l.active.Suspend()
}

// Close flushes what was written, takes a snapshot of the producers and closes the files as a clean stop leaves them.
// The log is of no use afterwards.
func (l *Log) Close() error {
	ferr := l.Flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.shut()
	ferr = errors.Join(ferr, l.catchUpEpochs())
	if l.active == nil {
		return ferr
	}
	err := errors.Join(ferr, l.active.Suspend())
	if serr := l.takeSnapshot(l.end()); serr != nil {
		err = errors.Join(err, serr)
	}
	return errors.Join(err, l.dropStraySnapshots())
}

// Abandon closes the files without flushing and without a snapshot, because the folder is about to be deleted.
func (l *Log) Abandon() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut()
	if l.active == nil {
		return nil
	}
	return l.active.Suspend()
}

// shut lets nobody in any more, and sends away who waits. Slices that are read stay open.
func (l *Log) shut() {
	l.closed = true
	l.reshape()
	l.handles.drop(l, func(handleKey) bool { return true })
	l.waits.close()
}

// headerOf is a batch's header with where it lies in the bytes given to Append.
type headerOf struct {
	record.Header
	pos int
}
