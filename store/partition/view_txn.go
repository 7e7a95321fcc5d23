package partition

import (
	"context"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// cheapScan is up to how many bytes of a log are walked without being asked for, to know its last stable offset.
const cheapScan = 8 << 20

// txnCache knows which transactions are open at the log end. It guards itself.
type txnCache struct {
	mu     sync.Mutex
	done   bool
	open   map[int64]int64 // producer id → first offset
	stable int64
	// where to go on when the log has grown
	upTo int64
}

// newTxnCache takes over what old knows, where the log has only grown since.
func newTxnCache(old, v *View) *txnCache {
	c := &txnCache{upTo: model.Unknown}
	if old == nil {
		return c
	}
	o := old.txns
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done && old.end <= v.end && old.start <= v.start && sameStem(old, v) {
		c.open, c.upTo = maps.Clone(o.open), o.upTo
		if old.end == v.end {
			c.done, c.stable = true, max(o.stable, v.start)
		}
	}
	return c
}

// sameStem tells that v's log is old's, perhaps with more at its end and less at its beginning.
func sameStem(old, v *View) bool {
	if len(old.layers) == 0 || len(v.layers) == 0 {
		return false
	}
	last := old.layers[len(old.layers)-1]
	now := v.find(last.base, last.suffix)
	return now != nil && now.size >= last.size
}

// known returns the last stable offset, or model.Unknown.
func (c *txnCache) known() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		return model.Unknown
	}
	return c.stable
}

// keepUp finds at once what is cheap to find, and what old knew already.
func (v *View) keepUp(old *View) {
	ctx := context.Background()
	if old != nil {
		if b := old.below.Load(); b != nil && b.start == v.start && len(v.layers) > 0 && b.base == v.layers[0].base {
			v.below.Store(b)
		}
		for _, l := range v.layers {
			if l.grew {
				_ = v.walk(ctx, l) // asked for again, and answered with its error, by Count
			}
		}
	}
	if v.err == nil && v.behindSnapshot() <= cheapScan {
		_, _ = v.Stable(ctx)
	}
}

// behindSnapshot estimates how many bytes must be walked to know the last stable offset.
func (v *View) behindSnapshot() int64 {
	v.txns.mu.Lock()
	from := v.txns.upTo
	v.txns.mu.Unlock()
	for _, s := range v.snaps {
		if s.offset <= v.end && s.size > 0 {
			from = max(from, s.offset)
		}
	}
	var n int64
	for _, l := range v.layers {
		if l.upper > from {
			n += l.size
		}
	}
	if len(v.layers) > 0 && from >= v.end {
		return 0
	}
	return n
}

// Stable returns the last stable offset: the first offset of the oldest open transaction, or the log end. It reads the
// newest snapshot that can be used, and the headers behind it.
func (v *View) Stable(ctx context.Context) (int64, error) {
	c := v.txns
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return c.stable, nil
	}
	open, from := c.open, c.upTo
	if from < 0 {
		open, from = v.snapshot()
	} else {
		open = maps.Clone(open)
	}
	if open == nil {
		open = make(map[int64]int64)
	}
	err := v.hop(ctx, from, v.end, func(h record.Header, _ *layer, _ *segment.File, _ int64) error {
		switch {
		case !h.Transactional() || !h.HasProducer():
		case h.Control():
			delete(open, h.ProducerID)
		default:
			if _, ok := open[h.ProducerID]; !ok {
				open[h.ProducerID] = h.BaseOffset
			}
		}
		return nil
	})
	if err != nil {
		return model.Unknown, err
	}
	stable := v.end
	for _, first := range open {
		stable = min(stable, first)
	}
	c.open, c.upTo, c.stable, c.done = open, v.end, max(stable, v.start), true
	return c.stable, nil
}

// snapshot returns the open transactions of the newest snapshot that can be read, and the offset it reaches to.
func (v *View) snapshot() (map[int64]int64, int64) {
	snaps := slices.Clone(v.snaps)
	slices.SortFunc(snaps, func(a, b snapshotFile) int { return cmpOffset(b.offset, a.offset) })
	for _, s := range snaps {
		if s.offset > v.end || s.size > maxSmallFile {
			continue
		}
		b, err := segment.ReadRegular(filepath.Join(v.dir, layout.FileName(s.offset, layout.KindSnapshot)), maxSmallFile)
		if err != nil {
			continue
		}
		list, err := layout.ParseSnapshot(b)
		if err != nil {
			continue
		}
		open := make(map[int64]int64)
		for _, p := range list {
			if p.TxnFirst >= 0 {
				open[p.ProducerID] = p.TxnFirst
			}
		}
		return open, s.offset
	}
	return make(map[int64]int64), 0
}

// hop gives fn the headers of the batches that reach into [from, to), in file order. Damage is passed over.
func (v *View) hop(ctx context.Context, from, to int64, fn func(h record.Header, l *layer, f *segment.File, pos int64) error) error {
	if from >= to || len(v.layers) == 0 {
		return nil
	}
	for _, l := range v.layers[v.layerAt(from):] {
		if l.base >= to {
			return nil
		}
		if err := v.hopLayer(ctx, l, from, to, fn); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) hopLayer(ctx context.Context, l *layer, from, to int64, fn func(h record.Header, l *layer, f *segment.File, pos int64) error) error {
	f, err := v.open(l)
	if err != nil {
		return err
	}
	defer f.Close()
	pos := int64(0)
	if from > l.base {
		p, err := f.SeekOffset(from, ctx.Err)
		if err != nil || !p.Found {
			return err
		}
		pos = p.Pos
	}
	s := v.scanner(l, f, segment.ScanOptions{Headers: true, Map: true, Buffer: 64 << 10, Stop: ctx.Err})
	defer s.Close()
	s.Goto(pos)
	for {
		switch s.Next() {
		case segment.Failed:
			return scanError(f, s)
		case segment.End, segment.Torn, segment.Zeros:
			return nil
		case segment.Batch:
			h := s.Header()
			if h.LastOffset() < from || h.BaseOffset >= to && !h.Legacy() {
				continue
			}
			if err := fn(h, l, f, s.Pos()); err != nil {
				return err
			}
		}
	}
}

// judge says who may see a record. It serves one request.
type judge struct {
	v     *View
	ctx   context.Context
	open  map[int64]int64
	memo  map[int64]verdict
	lists map[*layer]map[int64][]segment.AbortedTxn // by producer
	marks map[*layer]*markers
}

// verdict holds for what a producer wrote within [from, to].
type verdict struct {
	from, to int64
	is       model.Visibility
}

// markers are those that have been met in the bytes [from, to) of a layer.
type markers struct {
	from, to int64
	whole    bool
	n        int
	list     map[int64][]marker // by producer
}

type marker struct {
	offset int64
	abort  bool
}

// maxMarkers bounds what a judge remembers: of a long run it forgets what it has passed.
const maxMarkers = 1 << 16

func (v *View) newJudge(ctx context.Context) *judge {
	return &judge{v: v, ctx: ctx, memo: map[int64]verdict{}, lists: map[*layer]map[int64][]segment.AbortedTxn{}, marks: map[*layer]*markers{}}
}

// visible judges the batch at pos of layer number n.
func (j *judge) visible(h record.Header, n int, pos int64) (model.Visibility, error) {
	if !h.Transactional() || h.Control() || !h.HasProducer() {
		return model.Visible, nil
	}
	if j.open == nil { // only who meets a transaction needs to know which are open
		if _, err := j.v.Stable(j.ctx); err != nil {
			return model.Visible, err
		}
		j.open = j.v.txns.open
	}
	if first, ok := j.open[h.ProducerID]; ok && first <= h.BaseOffset {
		return model.Undecided, nil
	}
	if m, ok := j.memo[h.ProducerID]; ok && m.from <= h.BaseOffset && h.BaseOffset <= m.to {
		return m.is, nil
	}
	d, err := j.decide(h, n, pos)
	if err == nil {
		if len(j.memo) >= maxMarkers {
			clear(j.memo)
		}
		j.memo[h.ProducerID] = d
	}
	return d.is, err
}

// decide looks for the end of the transaction that a batch belongs to, from its layer on: in the index of aborted
// transactions, which may be missing, or behind where its log is still written to; else at the producer's next marker.
func (j *judge) decide(h record.Header, n int, pos int64) (verdict, error) {
	at := h.BaseOffset
	for i, l := range j.v.layers[n:] {
		a, err := j.aborted(l)
		if err != nil {
			return verdict{}, err
		}
		list := a[h.ProducerID]
		k := sort.Search(len(list), func(k int) bool { return list[k].Last >= at })
		if k < len(list) && list[k].First <= at {
			return verdict{list[k].First, list[k].Last, model.Aborted}, nil
		}
		from := int64(0)
		if i == 0 {
			from = pos
		}
		m, found, err := j.marker(l, from, h.ProducerID, at)
		if err != nil {
			return verdict{}, err
		}
		if found && m.abort {
			return verdict{at, m.offset, model.Aborted}, nil
		}
		if found {
			return verdict{at, m.offset, model.Visible}, nil
		}
	}
	return verdict{at, math.MaxInt64, model.Visible}, nil
}

// aborted is a layer's index of aborted transactions by producer, as far as it can be read.
func (j *judge) aborted(l *layer) (map[int64][]segment.AbortedTxn, error) {
	if a, ok := j.lists[l]; ok {
		return a, nil
	}
	f, err := j.v.open(l)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.Aborted()
	if err != nil {
		list = nil // missing or damaged: the markers know
	}
	by := make(map[int64][]segment.AbortedTxn)
	for _, t := range list {
		by[t.Producer] = append(by[t.Producer], t)
	}
	if len(j.lists) > 4 {
		clear(j.lists) // a long run does not come back
	}
	j.lists[l] = by
	return by, nil
}

// marker finds the first marker of a producer behind an offset, in a layer from a byte on.
func (j *judge) marker(l *layer, from, producer, offset int64) (marker, bool, error) {
	m := j.marks[l]
	if m == nil || from < m.from || from > m.to || m.n >= maxMarkers {
		if len(j.marks) > 4 {
			clear(j.marks)
		}
		m = &markers{from: from, to: from, list: map[int64][]marker{}}
		j.marks[l] = m
	}
	list := m.list[producer]
	if k := sort.Search(len(list), func(k int) bool { return list[k].offset > offset }); k < len(list) {
		return list[k], true, nil
	}
	if m.whole {
		return marker{}, false, nil
	}
	f, err := j.v.open(l)
	if err != nil {
		return marker{}, false, err
	}
	defer f.Close()
	s := j.v.scanner(l, f, segment.ScanOptions{Headers: true, Buffer: 16 << 10, Stop: j.ctx.Err})
	s.Goto(m.to)
	for {
		k := s.Next()
		if k == segment.Failed {
			return marker{}, false, scanError(f, s)
		}
		if k == segment.End || k == segment.Torn || k == segment.Zeros {
			m.whole = true
			return marker{}, false, nil
		}
		m.to = s.Pos() + s.Len()
		h := s.Header()
		if k != segment.Batch || !h.Control() || !h.Transactional() || h.Count == 0 {
			continue
		}
		found := marker{h.LastOffset(), isAbort(f, s.Pos(), h)}
		m.list[h.ProducerID] = append(m.list[h.ProducerID], found)
		m.n++
		if h.ProducerID == producer && found.offset > offset {
			return found, true, nil
		}
	}
}

// isAbort reads the control record of a batch.
func isAbort(f *segment.File, pos int64, h record.Header) bool {
	b, err := readBatch(f, pos, min(h.Size(), 64<<10))
	if err != nil {
		return false
	}
	var r record.Reader
	if r.Reset(b) != nil || !r.Next() {
		return false
	}
	c, err := record.ParseControl(r.Record().Key, r.Record().Value)
	return err == nil && c.Type == record.Abort
}
