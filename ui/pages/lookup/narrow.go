package lookup

import (
	"context"

	"github.com/strata-kafka/strata/model"
)

// maxProbes bounds the bars of one step; a list of 2^40 entries has no more.
const maxProbes = 40

// probe is one comparison of a binary search over n things: those from lo up to hi are still possible, mid is looked at.
type probe struct {
	n, lo, hi, mid int64
	value          int64 // of mid
	goal           int64 // what it is compared with
	right          bool  // mid is not beyond the goal: the search goes on to its right
	time           bool  // value and goal are times
}

// narrow searches the lists of a lookup once more and keeps each comparison. What cannot be read has no bars.
func (p *lookup) narrow(ctx context.Context, t model.Target, r *model.LookupResult) map[string][]probe {
	out := map[string][]probe{}
	if !t.ByTime {
		if segs, err := p.src.Segments(ctx, p.tp); err == nil {
			out["segments"] = overSegments(segs, t.Offset)
		}
	}
	if !r.Found {
		return out
	}
	goal := t.Offset
	if t.ByTime {
		// The time index says up to which offset all is older; the offset index is searched for that.
		goal = r.Segment
		out["timeindex"] = p.overIndex(ctx, r.Segment, model.TimeIndex, t.Time, func(e *model.IndexEntry) int64 {
			if e.Timestamp <= t.Time {
				goal = max(goal, e.Offset)
			}
			return e.Timestamp
		})
		for i := range out["timeindex"] {
			out["timeindex"][i].time = true
		}
	}
	out["index"] = p.overIndex(ctx, r.Segment, model.OffsetIndex, goal, func(e *model.IndexEntry) int64 { return e.Offset })
	return out
}

func overSegments(segs []model.Segment, target int64) []probe {
	bases := make([]int64, 0, len(segs))
	for i := range segs {
		if s := segs[i].State; s == model.SegmentActive || s == model.SegmentSealed {
			bases = append(bases, segs[i].Base)
		}
	}
	return search(int64(len(bases)), target, func(i int64) (int64, bool) { return bases[i], true })
}

func (p *lookup) overIndex(ctx context.Context, base int64, k model.IndexKind, target int64, of func(*model.IndexEntry) int64) []probe {
	_, n, err := p.src.IndexEntries(ctx, p.tp, base, k, 0, 1)
	if err != nil {
		return nil
	}
	return search(n, target, func(i int64) (int64, bool) {
		e, _, err := p.src.IndexEntries(ctx, p.tp, base, k, i, 1)
		if err != nil || len(e) != 1 || ctx.Err() != nil {
			return 0, false
		}
		return of(&e[0]), true
	})
}

// search looks for the last of n ascending values that is not beyond target.
func search(n, target int64, at func(i int64) (int64, bool)) []probe {
	var out []probe
	for lo, hi := int64(0), n; lo < hi && len(out) < maxProbes; {
		mid := lo + (hi-lo)/2
		v, ok := at(mid)
		if !ok {
			return out
		}
		out = append(out, probe{n: n, lo: lo, hi: hi, mid: mid, value: v, goal: target, right: v <= target})
		if v <= target {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return out
}
