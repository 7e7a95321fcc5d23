package partition

import (
	"fmt"
	"math"
	"path/filepath"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// Planned is a segment with what retention has in mind for it.
type Planned struct {
	Segment model.Segment // Base, Last, Records (by offsets), Bytes, LastTimestamp, Leaves, Rule, State and Path are set
	Now     bool          // the next look of the retention deletes it
}

// Plan says what Retain would do with other configs and another log start, and when the segments that stay are due by
// age. It changes nothing.
func (l *Log) Plan(c layout.TopicConfig, start int64) ([]Planned, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.list(); err != nil {
		return nil, err
	}
	b := l.known.Load()
	if start == model.FromEnd {
		start = b.HighWatermark
	}
	rules := l.rules(c, max(start, b.Start))
	var plan []Planned
	for _, r := range rules {
		gone, err := l.due(r, len(plan))
		if err != nil {
			return nil, err
		}
		for range gone {
			s, err := l.planned(len(plan), r.name)
			if err != nil {
				return nil, err
			}
			s.Leaves = l.o.Now()
			plan = append(plan, Planned{Segment: s, Now: true})
		}
	}
	leaves := model.NoTime
	for len(plan) < len(l.segs) {
		s, err := l.planned(len(plan), "")
		if err != nil {
			return nil, err
		}
		newest, err := l.newestOf(&l.segs[len(plan)])
		if err != nil {
			return nil, err
		}
		switch {
		case c.Delete && c.RetentionMS >= 0:
			// A segment waits for those before it, and goes when it is older than allowed, not when it is as old.
			leaves = max(leaves, layout.After(layout.After(newest, c.RetentionMS), 1))
			s.Leaves, s.Rule = leaves, "retention.ms"
			if leaves == math.MaxInt64 {
				s.Leaves, s.Rule = model.NoTime, "never"
			}
		case c.Delete:
			s.Rule = "retention.bytes"
		case c.Compact:
			s.Rule = "compact"
		}
		if s.State == model.SegmentActive && s.Bytes == 0 {
			s.Leaves, s.Rule = model.NoTime, "active"
		}
		plan = append(plan, Planned{Segment: s})
	}
	return plan, nil
}

// planned describes segment number i.
func (l *Log) planned(i int, rule string) (model.Segment, error) {
	p := &l.segs[i]
	next, state := l.end(), model.SegmentActive
	if i+1 < len(l.segs) {
		next, state = l.segs[i+1].base, model.SegmentSealed
	}
	newest, err := l.newestOf(p)
	if err != nil {
		return model.Segment{}, err
	}
	last := next - 1
	if next == p.base {
		last = model.Unknown
	}
	return model.Segment{
		TopicPartition: l.o.TP, Base: p.base, Last: last, Records: model.About(next - max(p.base, min(l.known.Load().Start, next))),
		Bytes: l.sizeOf(p), Inflated: model.Unknown, IndexEntries: -1, TimeEntries: -1, TxnEntries: -1,
		FirstTimestamp: model.NoTime, LastTimestamp: newest, State: state, Leaves: model.NoTime, Rule: rule,
		Path: filepath.Join(l.o.Dir, layout.FileName(p.base, layout.KindLog)),
	}, nil
}

// Count counts the data records of a segment that are not below the log start, by its batches' headers. It is an
// estimate where a batch reaches over the log start, or is an old one that does not say how many it holds.
func (l *Log) Count(s model.Segment) (model.Count, error) {
	start, state := l.known.Load().Start, model.CountExact
	var n int64
	err := segment.WalkHeaders(s.Path, 0, func(h record.Header, _ int64) bool {
		switch {
		case h.Control() || h.LastOffset() < start:
			return true
		case h.BaseOffset < start:
			n += h.LastOffset() - start + 1
			state = model.CountEstimate
		case h.Count < 0:
			n++
			state = model.CountEstimate
		default:
			n += int64(h.Count)
		}
		return true
	})
	if err != nil {
		return model.Count{}, fmt.Errorf("count records of %s: %w", l.o.TP, err)
	}
	return model.Count{N: n, State: state}, nil
}
