package partition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// Dirty says how far compaction has been through a log, and what is left for it.
type Dirty struct {
	First      int64 // first dirty offset: below it no key is twice
	Bound      int64 // first offset that may not be cleaned yet: the base of a segment
	CleanBytes int64 // of .log, below First
	DirtyBytes int64 // of .log, from the segment of First up to Bound
	Overdue    bool  // something has been dirty for longer than max.compaction.lag.ms
}

// Ratio is which part of the bytes below Bound is dirty, 0 to 1.
func (d Dirty) Ratio() float64 {
	if d.CleanBytes+d.DirtyBytes == 0 {
		return 0
	}
	return float64(d.DirtyBytes) / float64(d.CleanBytes+d.DirtyBytes)
}

// Due reports whether the log is to be cleaned under its configs.
func (d Dirty) Due(c layout.TopicConfig) bool {
	return c.Compact && d.DirtyBytes > 0 && (d.Overdue || d.Ratio() > c.MinDirtyRatio)
}

// Dirty looks at what is to be cleaned, whatever the cleanup policy is.
func (l *Log) Dirty() (Dirty, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.list(); err != nil {
		return Dirty{}, err
	}
	return l.dirty()
}

// CleanedLine returns the first dirty offset when it is to be remembered, because something was cleaned.
func (l *Log) CleanedLine() (int64, bool) {
	first := l.cleaned.Load()
	return first, first > 0
}

// floorOf returns the number of the segment that holds an offset: the last one whose base is not beyond it, or 0.
func (l *Log) floorOf(offset int64) int { return floorIn(l.segs, offset) }

func floorIn(segs []piece, offset int64) int {
	i, ok := slices.BinarySearchFunc(segs, offset, func(p piece, o int64) int { return cmpOffset(p.base, o) })
	if ok {
		return i
	}
	return max(0, i-1)
}

// dirty is Dirty of a listed log.
func (l *Log) dirty() (Dirty, error) {
	c, b, now := l.cfg.Load(), l.known.Load(), l.o.Now()
	d := Dirty{First: l.cleaned.Load()}
	if d.First < b.Start || d.First > b.End {
		d.First = b.Start
	}
	active := len(l.segs) - 1
	bound := min(b.LastStable, l.segs[active].base)
	earliest := int64(math.MaxInt64)
	for i := l.floorOf(d.First); i < active; i++ {
		p := &l.segs[i]
		if c.MinCompactionLagMS > 0 && p.base < bound {
			newest, err := l.newestOf(p)
			if err != nil {
				return d, err
			}
			if newest > now-c.MinCompactionLagMS {
				bound = p.base
			}
		}
		if c.MaxCompactionLagMS != layout.Unlimited {
			first, err := l.begunAt(p)
			if err != nil {
				return d, err
			}
			if first > 0 {
				earliest = min(earliest, first)
			}
		}
	}
	d.Overdue = earliest < now-c.MaxCompactionLagMS
	top := l.floorOf(max(bound, d.First))
	d.Bound = l.segs[top].base
	for i := range l.segs[:top] {
		if l.segs[i].base < d.First {
			d.CleanBytes += l.segs[i].size
		}
	}
	if d.First < d.Bound {
		for i := l.floorOf(d.First); i < top; i++ {
			d.DirtyBytes += l.segs[i].size
		}
	}
	return d, nil
}

// begunAt returns the largest timestamp of a closed segment's first batch; -1 for an empty segment.
func (l *Log) begunAt(p *piece) (int64, error) {
	if p.dated {
		return p.first, nil
	}
	ms := model.NoTime
	err := segment.WalkHeaders(l.segmentPath(p.base, layout.KindLog, ""), 0, func(h record.Header, _ int64) bool {
		ms = h.MaxTimestamp
		return false
	})
	if err != nil {
		return 0, fmt.Errorf("look at %s: %w", l.o.TP, err)
	}
	p.first, p.dated = ms, true
	return ms, nil
}

// CompactOptions tunes a compaction. The zero value is Kafka's defaults.
type CompactOptions struct {
	Memory int64   // bytes that the keys' last offsets may take; 0 means 128 MiB
	Load   float64 // which part of that is filled; 0 means 0.9
	// Pace is told of bytes before they are read or written, and waits as it likes; its error ends the compaction. nil
	// means as fast as can be.
	Pace func(ctx context.Context, bytes int) error
	// step is called between the steps that change the folder, for tests; its error is what the disk would say.
	step func(what string) error
}

const (
	defaultMemory = 128 << 20
	defaultLoad   = 0.9
)

// Compacted is what a compaction did.
type Compacted struct {
	From, To      int64 // the dirty offsets that were cleaned: [From, To)
	Read, Written int64 // bytes of .log
	Records, Kept int64 // data records that were met and that stay
	Segments      int   // that were replaced
	Left          int   // in their place
	Keys          int   // different ones among the dirty records
	Full          bool  // there were more keys than memory: what lies from To on is for the next time
}

// errMoved says that a segment was deleted while it was being cleaned.
var errMoved = errors.New("the log has changed meanwhile")

// Compact cleans the log once, by the rules of Kafka's cleaner: of the records that lie below the last stable offset
// and the active segment, and that are old enough, the last one of each key stays. Appends and reads go on meanwhile.
// One Compact at a time works on a log; another returns at once, with nothing done.
//
// The error is a *model.CorruptError where a segment is damaged, which then stays as it is. After any error the log is
// as it was before, or cleaned in part.
func (l *Log) Compact(ctx context.Context, o CompactOptions) (Compacted, error) {
	if !l.cleaning.TryLock() {
		return Compacted{}, nil
	}
	defer l.cleaning.Unlock()
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	if o.Load == 0 {
		o.Load = defaultLoad
	}
	c := &compaction{l: l, ctx: ctx, o: o}
	defer c.scan.Close()
	err := c.begin()
	if err == nil {
		err = c.run()
	}
	switch {
	case errors.Is(err, errMoved) || err != nil && l.isClosed():
		return c.done, nil // it is looked at again
	case err != nil:
		return c.done, fmt.Errorf("compact %s: %w", l.o.TP, err)
	}
	if c.done.To > c.done.From {
		l.cleaned.Store(c.done.To)
	}
	return c.done, nil
}

// compaction is one run of Compact.
type compaction struct {
	l    *Log
	ctx  context.Context // for as long as Compact runs
	o    CompactOptions
	cfg  layout.TopicConfig
	d    Dirty
	segs []piece // of the whole log
	now  int64   // ms

	keys      *offsetMap
	byMarkers bool // the transaction indexes are not to be believed
	txns      *cleanedTxns
	active    map[int64]lastOf
	legacy    int64 // tombstones in old entries go from files that were last written at or before this, ms
	mtime     int64 // of the file that is cleaned, ms
	scan      segment.Scanner
	reader    record.Reader
	hashes    []hashed // of the records of a batch
	verdicts  []bool   // likewise: which stay
	out       output
	done      Compacted
}

// hashed is a record with its key's hash.
type hashed struct {
	hash   [2]uint64
	offset int64
	value  bool // it is no tombstone
}

// lastOf is what is remembered of a producer: its newest data batch, or without one its epoch.
type lastOf struct {
	offset int64 // last one of the batch; -1 for none
	epoch  int16
}

// maxInflated bounds what a batch may decompress to, in bytes.
const maxInflated = 256 << 20

// begin takes down how the log is.
func (c *compaction) begin() error {
	l := c.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.activate(); err != nil { // the last stable offset is known from now on
		return err
	}
	var err error
	if c.d, err = l.dirty(); err != nil {
		return err
	}
	c.cfg, c.now, c.segs = *l.cfg.Load(), l.o.Now(), slices.Clone(l.segs)
	c.reader.MaxInflated = maxInflated
	c.done.From, c.done.To = c.d.First, c.d.First
	return nil
}

// run goes through the dirty part for the keys, and then through all below its end for the records.
func (c *compaction) run() error {
	if c.d.DirtyBytes == 0 {
		return nil
	}
	err := c.index()
	if errors.Is(err, errTxnIndex) {
		c.byMarkers = true
		err = c.index()
	}
	if err != nil {
		return err
	}
	end := c.keys.latest + 1
	if err := c.clean(end); errors.Is(err, errTxnIndex) && !c.byMarkers {
		c.byMarkers = true
		if err := c.clean(end); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	c.done.To, c.done.Keys = max(end, c.d.First), c.keys.n
	return nil
}

// clean rewrites the segments that begin below end.
func (c *compaction) clean(end int64) error {
	c.l.mu.Lock()
	c.segs = slices.Clone(c.l.segs) // a run before this one may have replaced some
	c.l.mu.Unlock()
	n := 0
	for n < len(c.segs) && c.segs[n].base < min(end, c.d.Bound) {
		n++
	}
	if n == 0 || n == len(c.segs) {
		return nil
	}
	list := c.segs[:n]
	// The last segment may be cleaned in part only, but all of it is gone through.
	aborted, err := c.aborted(list[0].base, c.segs[n].base)
	if err != nil {
		return err
	}
	c.txns = newCleanedTxns(aborted)
	if err := c.setHorizon(); err != nil {
		return err
	}
	groups, err := c.groups(list)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if err := c.cleanGroup(g); err != nil {
			return err
		}
	}
	return nil
}

func (c *compaction) aborted(from, to int64) ([]segment.AbortedTxn, error) {
	if c.byMarkers {
		return c.l.abortedByMarkers(c.segs)
	}
	return c.l.abortedIn(c.segs, from, to)
}

// setHorizon finds how old a file of old entries must be for its tombstones to go.
func (c *compaction) setHorizon() error {
	c.legacy = 0
	for i := len(c.segs) - 1; i >= 0; i-- {
		if c.segs[i].base < c.d.First {
			ms, err := modified(c.l.segmentPath(c.segs[i].base, layout.KindLog, ""))
			c.legacy = ms - c.cfg.DeleteRetentionMS
			return moved(err)
		}
	}
	return nil
}

// pace tells of work to come.
func (c *compaction) pace(bytes int) error {
	if err := c.ctx.Err(); err != nil || c.o.Pace == nil {
		return err
	}
	return c.o.Pace(c.ctx, bytes)
}

func (c *compaction) step(what string) error {
	if c.o.step == nil {
		return nil
	}
	return c.o.step(what)
}
