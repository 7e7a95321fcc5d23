package partition

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/segment"
)

// ViewOptions says what files outside of the partition's folder know of it.
type ViewOptions struct {
	LogStart      int64 // from log-start-offset-checkpoint; model.Unknown where it has no line, and then 0 is the same
	HighWatermark int64 // from replication-offset-checkpoint; model.Unknown means the log end
	EndIsHW       bool  // there is one writer, which is ours: the high watermark is the log end
	Cleaned       int64 // first dirty offset from cleaner-offset-checkpoint; 0 or model.Unknown where nothing was compacted
}

// View is what the files of one partition held at one moment. It is immutable, holds no open file, and may be used by
// many goroutines: each request opens what it reads, and closes it. What costs reading (counts, transactions) is found
// when it is first asked for and then shared by all later Views of the same files.
//
// Files that have changed since are no error as long as they can be read: a View never promises more than its log end,
// and a file that has vanished is an error that names it.
type View struct {
	dir    string
	tp     model.TopicPartition
	state  model.PartitionState
	o      ViewOptions
	layers []*layer // what a broker would read, by base offset
	left   []*layer // deleted, cleaned, replaced
	epochs []layout.Epoch
	snaps  []snapshotFile
	faults []model.Fault // of small files, met when opening
	err    error         // why the end of the log is not known
	bytes  int64
	start  int64
	end    int64
	txns   *txnCache
	below  atomic.Pointer[belowStart]
	times  atomic.Pointer[[]int64] // see youngest
	stamp  string                  // what epochs were read from
}

type snapshotFile struct {
	offset int64
	size   int64
}

// layer is one segment as listed. It is immutable but for facts, which guard themselves.
type layer struct {
	base   int64
	suffix string
	size   int64
	mtime  int64 // ns
	upper  int64 // the next layer's base, or the log end
	active bool
	state  model.SegmentState
	tail   *segment.Tail // where it was looked for
	prev   *segment.Tail // where it was before the file has grown
	facts  *facts
	grew   bool // the facts are those of a smaller file, which had been walked whole
}

// OpenView lists a partition's folder and finds its log end. It never writes. Damage is no error: see Partition.Err,
// RecordPage.Faults and Verify.
func OpenView(dir string, tp model.TopicPartition, state model.PartitionState, o ViewOptions) (*View, error) {
	return openView(nil, dir, tp, state, o)
}

// Refresh looks again. It returns v itself and false when nothing has changed, else a new View, which shares with v what
// is still true. v stays valid.
func (v *View) Refresh(o ViewOptions) (*View, bool, error) {
	n, err := openView(v, v.dir, v.tp, v.state, o)
	if err != nil {
		return nil, false, err
	}
	if v.same(n) {
		return v, false, nil
	}
	return n, true, nil
}

// same tells that n knows nothing that v does not.
func (v *View) same(n *View) bool {
	if v.start != n.start || v.end != n.end || v.o != n.o || v.stamp != n.stamp || (v.err == nil) != (n.err == nil) ||
		!slices.Equal(v.snaps, n.snaps) {
		return false
	}
	eq := func(a, b *layer) bool {
		return a.base == b.base && a.suffix == b.suffix && a.size == b.size && a.mtime == b.mtime && a.state == b.state
	}
	return slices.EqualFunc(v.layers, n.layers, eq) && slices.EqualFunc(v.left, n.left, eq)
}

func openView(old *View, dir string, tp model.TopicPartition, state model.PartitionState, o ViewOptions) (*View, error) {
	v := &View{dir: dir, tp: tp, state: state, o: o}
	if err := v.list(); err != nil {
		return nil, err
	}
	v.adopt(old)
	v.settle()
	v.readEpochs()
	v.txns = newTxnCache(old, v)
	v.keepUp(old)
	return v, nil
}

// list reads the names in the folder.
func (v *View) list() error {
	entries, err := os.ReadDir(v.dir)
	if err != nil {
		return fmt.Errorf("list partition: %w", err)
	}
	var all []*layer
	for _, e := range entries {
		f, ok := layout.ParseFileName(e.Name())
		if !ok || f.Kind != layout.KindLog && f.Kind != layout.KindSnapshot {
			continue
		}
		info, err := e.Info()
		if err == nil && e.Type()&fs.ModeSymlink != 0 {
			info, err = os.Stat(filepath.Join(v.dir, e.Name()))
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went between listing and looking
		}
		if err != nil {
			v.faults = append(v.faults, v.fault(e.Name(), "read", err.Error(), model.SevWarning))
			continue
		}
		if !info.Mode().IsRegular() {
			v.faults = append(v.faults, v.fault(e.Name(), "odd", "it is no regular file, and is passed over", model.SevWarning))
			continue
		}
		if f.Kind == layout.KindSnapshot {
			if f.Suffix == "" {
				v.snaps = append(v.snaps, snapshotFile{f.Base, info.Size()})
			}
			continue
		}
		all = append(all, &layer{base: f.Base, suffix: f.Suffix, size: info.Size(), mtime: info.ModTime().UnixNano()})
	}
	v.sort(all)
	return nil
}

// sort tells what a broker would read from what it would remove at its next start.
func (v *View) sort(all []*layer) {
	cleaned := int64(-1)
	for _, l := range all {
		if l.suffix == layout.SuffixCleaned && (cleaned < 0 || l.base < cleaned) {
			cleaned = l.base
		}
	}
	var swaps []*layer
	for _, l := range all {
		switch l.suffix {
		case "":
			l.state = model.SegmentSealed
			v.layers = append(v.layers, l)
		case layout.SuffixSwap:
			l.state = model.SegmentSwap
			if cleaned >= 0 && l.base >= cleaned {
				v.left = append(v.left, l) // half of a split
				continue
			}
			swaps = append(swaps, l)
		case layout.SuffixCleaned:
			l.state = model.SegmentCleaned
			v.left = append(v.left, l)
		default:
			l.state = model.SegmentDeleted
			v.left = append(v.left, l)
		}
	}
	byBase := func(a, b *layer) int { return cmpOffset(a.base, b.base) }
	slices.SortFunc(v.layers, byBase)
	slices.SortFunc(v.left, byBase)
	slices.SortFunc(swaps, byBase)
	v.swap(swaps)
}

// swap puts whole outputs of a compaction in the place of the segments that they cover, as a broker's start does.
func (v *View) swap(swaps []*layer) {
	if len(swaps) == 0 {
		return
	}
	from, to := swaps[0].base, swaps[0].base
	for _, s := range swaps {
		t, err := v.tailOf(s, nil)
		if err != nil {
			v.faults = append(v.faults, v.fault(v.name(s), "swap", err.Error(), model.SevWarning))
			t.Next = s.base + 1
		}
		to = max(to, t.Next, s.base+1)
	}
	var kept []*layer
	for _, l := range v.layers {
		if l.base >= from && l.base < to {
			v.left = append(v.left, l)
			continue
		}
		kept = append(kept, l)
	}
	v.layers = append(kept, swaps...)
	byBase := func(a, b *layer) int { return cmpOffset(a.base, b.base) }
	slices.SortFunc(v.layers, byBase)
	slices.SortStableFunc(v.left, byBase)
}

func cmpOffset(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// adopt takes over what old knows of files that have not changed since.
func (v *View) adopt(old *View) {
	for _, list := range [][]*layer{v.layers, v.left} {
		for _, l := range list {
			l.takeOver(old.find(l.base, l.suffix))
		}
	}
}

// takeOver shares what was known of the file, as far as it is still true; was may be nil.
func (l *layer) takeOver(was *layer) {
	switch {
	case was == nil:
	case was.size == l.size && was.mtime == l.mtime:
		l.facts, l.tail = was.facts, was.tail
	case l.size >= was.size:
		_, l.grew = was.facts.known()
		l.facts, l.prev = was.facts.grown(), was.tail
	}
	if l.facts == nil {
		l.facts = new(facts)
	}
}

// find returns the layer of a file, or nil.
func (v *View) find(base int64, suffix string) *layer {
	if v == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(v.layers, base, func(l *layer, b int64) int { return cmpOffset(l.base, b) })
	if ok && v.layers[i].suffix == suffix {
		return v.layers[i]
	}
	for _, l := range v.left {
		if l.base == base && l.suffix == suffix {
			return l
		}
	}
	return nil
}

// settle finds the bounds of the log.
func (v *View) settle() {
	for i, l := range v.layers {
		v.bytes += l.size
		if i+1 < len(v.layers) {
			l.upper = v.layers[i+1].base
		}
	}
	if len(v.layers) == 0 {
		v.start = max(v.o.LogStart, 0)
		v.end = v.start
		return
	}
	last := v.layers[len(v.layers)-1]
	last.active = last.suffix == ""
	if last.active {
		last.state = model.SegmentActive
	}
	v.findEnd(last)
}

// findEnd finds the bounds of the log by its last layer, which no other view knows yet.
func (v *View) findEnd(last *layer) {
	if last.tail == nil {
		t, err := v.tailOf(last, last.prev)
		if err != nil {
			v.err = err
		}
		last.tail = &t
	}
	v.end = max(last.tail.Next, last.base)
	last.upper = v.end
	v.start = max(v.o.LogStart, v.layers[0].base)
}

// tailOf looks for the end of a layer; prev is where it was before, or nil.
func (v *View) tailOf(l *layer, prev *segment.Tail) (segment.Tail, error) {
	none := segment.Tail{Next: l.base, MaxTime: model.NoTime, Epoch: -1, LastPos: -1}
	f, err := segment.OpenFile(v.dir, l.base, l.suffix)
	if err != nil {
		return none, err
	}
	defer f.Close()
	if prev != nil {
		return f.TailAfter(*prev, nil)
	}
	return f.Tail(nil)
}

// maxSmallFile is the largest checkpoint or snapshot that is read, in bytes.
const maxSmallFile = 64 << 20

// readEpochs reads the leader epochs. That there are none is normal in old directories.
func (v *View) readEpochs() {
	b, err := segment.ReadRegular(filepath.Join(v.dir, layout.EpochsFile), maxSmallFile)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			v.faults = append(v.faults, v.fault(layout.EpochsFile, "read", err.Error(), model.SevWarning))
		}
		return
	}
	v.stamp = string(b)
	if v.epochs, err = layout.ParseEpochs(b); err != nil {
		v.faults = append(v.faults, v.fault(layout.EpochsFile, "epochs", err.Error(), model.SevWarning))
	}
}

// fault makes a fault of a whole file.
func (v *View) fault(file, kind, what string, s model.Severity) model.Fault {
	return model.Fault{TP: v.tp, File: file, Position: model.Unknown, Offset: model.Unknown, Kind: kind, What: what, Severity: s}
}

// name returns the base name of a layer's .log.
func (v *View) name(l *layer) string {
	return layout.File{Base: l.base, Epoch: -1, Kind: layout.KindLog, Suffix: l.suffix}.String()
}

// Dir is the partition's folder.
func (v *View) Dir() string { return v.dir }

// TP names the partition.
func (v *View) TP() model.TopicPartition { return v.tp }

// Bounds are the log start offset and the log end offset.
func (v *View) Bounds() (start, end int64) { return v.start, v.end }

// Epochs are the lines of the leader-epoch checkpoint; do not change them.
func (v *View) Epochs() []layout.Epoch { return v.epochs }

// Partition returns the row of the partitions page. It reads nothing: what has not been looked for yet is unknown (see
// Stable, Count, Newest).
//
// The high watermark of a directory comes from a checkpoint that may lag behind the data; the last stable offset is that
// of the data, so it may be the larger of the two.
func (v *View) Partition() model.Partition {
	p := model.Partition{
		TopicPartition: v.tp, LogStart: v.start, HighWatermark: v.end, LastStable: v.txns.known(), LogEnd: v.end,
		Bytes: v.bytes, Segments: len(v.layers), Newest: v.newestKnown(), Leader: -1, LeaderEpoch: -1,
		Dir: v.dir, State: v.state, Err: v.err, Records: model.About(max(0, v.end-v.start)),
	}
	if hw := v.o.HighWatermark; !v.o.EndIsHW && hw >= 0 && hw < v.end {
		p.HighWatermark, p.HWFromCheckpoint = max(hw, v.start), true
	}
	if n := len(v.epochs); n > 0 {
		p.LeaderEpoch = v.epochs[n-1].Epoch
	} else if n := len(v.layers); n > 0 && v.layers[n-1].tail != nil {
		p.LeaderEpoch = v.layers[n-1].tail.Epoch
	}
	if n, ok := v.countKnown(); ok {
		p.Records = model.Exactly(n)
	}
	if p.Err == nil && len(v.faults) > 0 {
		t := v.faults[0]
		p.Err = &model.CorruptError{Path: filepath.Join(v.dir, t.File), Pos: t.Position, What: t.What}
	}
	if n := len(v.layers); p.Err == nil && n > 0 && v.layers[n-1].tail != nil {
		for _, t := range v.layers[n-1].tail.Faults {
			if t.Severity == model.SevDamage {
				p.Err = &model.CorruptError{Path: filepath.Join(v.dir, t.File), Pos: t.Position, What: t.What}
				break
			}
		}
	}
	return p
}

// Newest returns the timestamp of the youngest record, ms, or model.NoTime.
func (v *View) Newest(ctx context.Context) (int64, error) {
	newest := model.NoTime
	for _, l := range v.layers {
		ms, err := v.maxTime(ctx, l)
		if err != nil {
			return newest, err
		}
		newest = max(newest, ms)
	}
	return newest, nil
}

// newestKnown is Newest of what has been looked at.
func (v *View) newestKnown() int64 {
	newest := model.NoTime
	for _, l := range v.layers {
		if l.tail != nil {
			newest = max(newest, l.tail.MaxTime)
		}
		if ms, ok := l.facts.maxTimeKnown(); ok {
			newest = max(newest, ms)
		}
	}
	return newest
}

// layerAt returns the number of the layer that may hold an offset: the last one whose base is not beyond it, or 0.
func (v *View) layerAt(offset int64) int {
	n := len(v.layers)
	lo, hi := 0, n
	for lo < hi {
		mid := lo + (hi-lo)/2
		if v.layers[mid].base > offset {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return max(0, lo-1)
}

// open opens a layer for reading.
func (v *View) open(l *layer) (*segment.File, error) {
	f, err := segment.OpenFile(v.dir, l.base, l.suffix)
	if err == nil && l.facts != nil {
		f.Floor = l.facts.floor
	}
	return f, err
}

// limit is up to which byte of a layer the view reaches: what was written since is not its own.
func (v *View) limit(l *layer, f *segment.File) int64 {
	if l.tail != nil && v.err == nil && l == v.layers[len(v.layers)-1] {
		return min(f.Size, l.tail.End)
	}
	return f.Size
}

// scanner returns a scanner of what a layer held when the view was made.
func (v *View) scanner(l *layer, f *segment.File, o segment.ScanOptions) *segment.Scanner {
	return segment.NewScanner(f.Log, v.limit(l, f), o)
}

// layerOf returns the layer with a base offset, leftovers included. Errors wrap model.ErrNoSegment.
func (v *View) layerOf(base int64) (*layer, error) {
	for _, list := range [][]*layer{v.layers, v.left} { // each by base offset
		if i, ok := slices.BinarySearchFunc(list, base, func(l *layer, base int64) int { return cmpOffset(l.base, base) }); ok {
			return list[i], nil
		}
	}
	return nil, fmt.Errorf("%w: %s in %s", model.ErrNoSegment, layout.FileName(base, layout.KindLog), v.tp)
}
