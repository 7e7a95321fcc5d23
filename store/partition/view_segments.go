package partition

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

const (
	// countBudget is how many bytes of segments one call of Segments walks to count what is not counted yet; the counts
	// of the others are estimates until Count is asked.
	countBudget = 64 << 20
	// inflateBudget is how many bytes of compressed batches it decompresses.
	inflateBudget = 4 << 20
)

// Segments returns the segments by base offset, then the leftovers. r says when they are due to be deleted, as of now
// (ms), by the rules of a broker. Counts are exact for segments that were walked before or are small, else estimates.
func (v *View) Segments(ctx context.Context, r model.Retention, now int64) ([]model.Segment, error) {
	budget, inflate := int64(countBudget), int64(inflateBudget)
	out := make([]model.Segment, 0, len(v.layers)+len(v.left))
	for i := len(v.layers) - 1; i >= 0; i-- { // the newest first: these are looked at most
		l := v.layers[i]
		if _, whole := l.facts.known(); !whole && l.size <= budget {
			budget -= l.size
			_ = v.walk(ctx, l) // its error comes with the row
		}
		if err := v.inflate(ctx, l, &inflate); err != nil {
			return nil, err
		}
	}
	for _, l := range append(append([]*layer(nil), v.layers...), v.left...) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, v.segmentRow(ctx, l))
	}
	v.leaves(out[:len(v.layers)], r, now)
	for i := len(v.layers); i < len(out); i++ {
		out[i].Rule = string(out[i].State)
		if out[i].State == model.SegmentSealed {
			out[i].Rule = "replaced by .swap"
		}
	}
	return out, nil
}

// segmentRow describes a layer.
func (v *View) segmentRow(ctx context.Context, l *layer) model.Segment {
	s := model.Segment{TopicPartition: v.tp, Base: l.base, Last: model.Unknown, Bytes: l.size, Inflated: model.Unknown,
		FirstTimestamp: model.NoTime, LastTimestamp: model.NoTime, State: l.state, Leaves: model.NoTime,
		Path: filepath.Join(v.dir, v.name(l)), IndexEntries: -1, TimeEntries: -1, TxnEntries: -1}
	f, err := v.open(l)
	if err != nil {
		s.Err = err
		return s
	}
	defer f.Close()
	v.indexCounts(f, &s)
	if k, whole := l.facts.known(); whole {
		s.Records, s.Batches = model.Exactly(k.records), model.Exactly(k.batches)
		s.FirstTimestamp, s.LastTimestamp = k.firstMS, k.maxMS
		s.Trailing, s.TrailingZero = k.tail.trailing, k.tail.zeros
		if k.placed > 0 {
			s.Last = k.last
		}
		if k.unpacked == k.packed {
			s.Inflated = k.plain + k.inflated
		}
		if len(k.faults) > 0 {
			t := k.faults[0]
			s.Err = &model.CorruptError{Path: s.Path, Pos: max(t.Position, 0), What: t.What}
		}
		v.belowRecords(ctx, l, &s)
		return s
	}
	v.estimate(ctx, l, f, &s)
	return s
}

// belowRecords leaves out of a segment's count what lies below the log start.
func (v *View) belowRecords(ctx context.Context, l *layer, s *model.Segment) {
	if v.start <= l.base || l.suffix != "" && l.suffix != layout.SuffixSwap {
		return
	}
	if v.start >= l.upper {
		s.Records = model.Exactly(0)
		return
	}
	if n, err := v.countLayer(ctx, l, v.start, l.upper); err == nil {
		s.Records = model.Exactly(n)
	}
}

// estimate fills a row without reading the segment whole.
func (v *View) estimate(ctx context.Context, l *layer, f *segment.File, s *model.Segment) {
	t := l.tail
	if t == nil {
		found, err := f.Tail(ctx.Err)
		if err != nil {
			s.Err = err
			return
		}
		t = &found
	}
	if t.Next > l.base {
		s.Last = t.Next - 1
		s.Records = model.About(t.Next - max(l.base, v.start))
	}
	s.Trailing, s.TrailingZero, s.LastTimestamp = t.Trailing, t.Zeros, t.MaxTime
	if h, err := f.Header(0); err == nil {
		s.FirstTimestamp = firstTime(h)
	}
}

// indexCounts counts the entries of the indexes that are there.
func (v *View) indexCounts(f *segment.File, s *model.Segment) {
	if x, err := f.Offsets(); err == nil {
		s.IndexEntries = int(x.Len())
	}
	if x, err := f.Times(); err == nil {
		s.TimeEntries = int(x.Len())
	}
	list, err := f.Aborted()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		s.TxnEntries = len(list)
	}
}

// inflate decompresses the batches of a small layer to know how large they are.
func (v *View) inflate(ctx context.Context, l *layer, budget *int64) error {
	k, whole := l.facts.known()
	if !whole || k.packed == k.unpacked || l.size > *budget {
		return nil
	}
	*budget -= l.size
	f, err := v.open(l)
	if err != nil {
		return nil // the row says it
	}
	defer f.Close()
	s := f.Scanner(segment.ScanOptions{Stop: ctx.Err})
	var r record.Reader
	var sum, n int64
	for {
		switch s.Next() {
		case segment.Failed:
			return ctx.Err()
		case segment.End, segment.Torn, segment.Zeros:
			l.facts.mu.Lock()
			if l.facts.packed == k.packed {
				l.facts.inflated, l.facts.unpacked = sum, n
			}
			l.facts.mu.Unlock()
			return nil
		case segment.Batch:
			if s.Header().Codec() == record.None || s.Bytes() == nil {
				continue
			}
			if r.Reset(s.Bytes()) == nil {
				sum += int64(len(r.Section()))
				n++
			}
		}
	}
}

// leaves says of each segment, by base offset, when it is due to be deleted and by which rule, as a broker would: from
// the oldest on, stopping at the first one that may stay; what lies below the log start, then what is too much, then
// what is too old.
func (v *View) leaves(rows []model.Segment, r model.Retention, now int64) {
	oversize := int64(-1)
	if r.Delete && r.Bytes >= 0 {
		oversize = v.bytes - r.Bytes
	}
	due := int64(math.MinInt64) // when all before it have gone
	started, sized := true, true
	for i := range rows {
		s := &rows[i]
		last := i == len(rows)-1
		upper := v.layers[i].upper
		started = started && !last && upper <= v.start
		sized = sized && oversize >= s.Bytes && !(last && s.Bytes == 0)
		switch {
		case started:
			s.Leaves, s.Rule = now, "log start"
			continue
		case !r.Known:
			s.Rule = "unknown"
			if r.Unset {
				s.Rule = "broker's default"
			}
			if last {
				s.Rule = "active"
			}
			continue
		case !r.Delete && r.Compact:
			s.Rule = v.compactRule(i, r)
			continue
		case !r.Delete:
			s.Rule = "never"
			continue
		case sized:
			oversize -= s.Bytes
			s.Leaves, s.Rule = now, "retention.bytes"
			due = max(due, now)
			continue
		}
		due = v.byTime(s, i, r, due, last)
		if last && s.Leaves > now {
			s.Rule = "active"
		}
	}
}

// compactRule says of a segment of a compacted topic whether the cleaner has been through it, or when it will come: where
// which part is dirty, and from which part on it cleans.
func (v *View) compactRule(i int, r model.Retention) string {
	last := len(v.layers) - 1
	first := max(v.o.Cleaned, v.start)
	switch {
	case i == last:
		return "active"
	case v.layers[i].upper <= first:
		return "compacted"
	}
	var clean, dirty int64
	for _, l := range v.layers[:last] {
		if l.base < first {
			clean += l.size
		}
		if l.upper > first {
			dirty += l.size
		}
	}
	if dirty == 0 || r.DirtyRatio == 0 {
		return "compact"
	}
	return fmt.Sprintf("dirty %d%%, max %g%%", dirty*100/(clean+dirty), math.Round(r.DirtyRatio*100))
}

// byTime applies retention.ms to a segment and returns when it has gone at the earliest.
func (v *View) byTime(s *model.Segment, i int, r model.Retention, due int64, last bool) int64 {
	if r.MS < 0 {
		s.Rule = "never"
		if r.Bytes >= 0 {
			s.Rule = "retention.bytes"
		}
		if last {
			s.Rule = "active"
		}
		return math.MaxInt64
	}
	s.Rule = "retention.ms"
	ms := s.LastTimestamp
	if ms < 0 {
		ms = v.layers[i].mtime / 1e6
	}
	at := int64(math.MaxInt64)
	if ms < math.MaxInt64-r.MS-1 {
		at = ms + r.MS + 1
	}
	due = max(due, at)
	switch {
	case last && s.Bytes == 0:
		s.Rule = "active"
	case due == math.MaxInt64:
		s.Rule = "never"
	default:
		s.Leaves = due
	}
	return due
}
