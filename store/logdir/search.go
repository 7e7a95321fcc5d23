package logdir

import (
	"context"
	"fmt"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// together is up to how many bytes of .log two partitions are searched at the same time; a larger one is searched on
// two goroutines by itself.
const together = 2 << 20

// maxSearchFaults bounds the faults that a search brings back, of however many partitions.
const maxSearchFaults = 1000

// Search implements model.Searcher. Partitions are searched in the order of the query, and hits are told in that order.
// Where it ends early, the partition at which it did is in Reason or in the last event.
func (d *Dir) Search(ctx context.Context, q model.SearchQuery, tell func(model.SearchEvent) bool) (model.SearchEnd, error) {
	var end model.SearchEnd
	if err := d.begin(ctx); err != nil {
		return end, err
	}
	if len(q.From) > 0 && len(q.From) != len(q.Partitions) {
		return end, fmt.Errorf("%w search: %d offsets for %d partitions", model.ErrInvalid, len(q.From), len(q.Partitions))
	}
	if len(q.To) > 0 && len(q.To) != len(q.Partitions) {
		return end, fmt.Errorf("%w search: %d bounds for %d partitions", model.ErrInvalid, len(q.To), len(q.Partitions))
	}
	m, err := matcher(q.Pattern, q.Regexp, q.Fold)
	if err != nil {
		return end, err
	}
	if m == nil {
		m = record.NewLiteral(nil, false)
	}
	s := &searchRun{d: d, ctx: ctx, q: q, m: m, tell: tell, left: max(q.MaxHits, 1)}
	for _, tp := range q.Partitions {
		p, err := d.find(tp)
		if err != nil {
			return end, err
		}
		d.mu.Lock()
		size := p.sums.bytes
		d.mu.Unlock()
		s.sizes = append(s.sizes, size)
		s.all += size
	}
	return s.run()
}

// searchRun is a search of some partitions.
type searchRun struct {
	d     *Dir
	ctx   context.Context // of the one request that this is
	q     model.SearchQuery
	m     record.Matcher
	tell  func(model.SearchEvent) bool
	sizes []int64
	all   int64 // bytes
	left  int   // hits still wanted

	done    int64 // bytes of the partitions that are done
	records int64 // looked at in them
	last    int64 // looked at in the one that is being searched
	end     model.SearchEnd
	stopped bool // tell returned false
}

// one is what the search of one partition came to, when it was not told as it went.
type one struct {
	events []model.SearchEvent
	end    model.SearchEnd
	err    error
}

func (s *searchRun) run() (model.SearchEnd, error) {
	for i := 0; i < len(s.q.Partitions); {
		n := i
		for n < len(s.q.Partitions) && n-i < 16*walkers && s.sizes[n] <= together {
			n++
		}
		if n-i < 2 {
			o := s.search(i, s.told)
			if s.over(i, o) {
				return s.end, o.err
			}
			i++
			continue
		}
		results := make([]one, n-i)
		// Whether it ended early shows in each result.
		_ = twice(s.ctx, n-i, func(k int) {
			var events []model.SearchEvent
			o := s.search(i+k, func(e model.SearchEvent) bool {
				if n := len(events); e.Hit == nil && n > 0 && events[n-1].Hit == nil {
					events = events[:n-1] // of several in a row the last one says all
				}
				events = append(events, e)
				return true
			})
			o.events = events
			results[k] = o
		})
		for k := range results {
			o := results[k]
			for _, e := range o.events {
				if !s.told(e) {
					break
				}
			}
			if s.over(i+k, o) {
				return s.end, o.err
			}
		}
		i = n
	}
	s.end.Whole = true
	if s.end.Reason = "end of log"; s.q.Backward {
		s.end.Reason = "start of log"
	}
	return s.end, nil
}

// search searches one partition.
func (s *searchRun) search(i int, tell func(model.SearchEvent) bool) (o one) {
	tp := s.q.Partitions[i]
	v, err := s.d.view(s.ctx, tp)
	if err != nil {
		o.err = err
		o.end.Reason = fmt.Sprintf("error at %s: %v", tp, err)
		if s.ctx.Err() != nil {
			o.err, o.end.Reason = nil, "cancelled"
		}
		return o
	}
	from, bound := model.FromStart, model.FromEnd
	if s.q.Backward {
		from, bound = bound, from
	}
	if s.q.From != nil {
		from = s.q.From[i]
	}
	if s.q.To != nil {
		bound = s.q.To[i]
	}
	q := s.q
	q.MaxHits = s.left
	o.end, o.err = v.Search(s.ctx, q, from, bound, s.m, tell)
	return o
}

// told tells an event of the partition that is being searched, as one of all of them.
func (s *searchRun) told(e model.SearchEvent) bool {
	if s.ctx.Err() != nil {
		s.stopped = true
	}
	if s.stopped || s.left == 0 {
		return false
	}
	if e.Hit != nil {
		s.left--
		s.end.Hits++
	}
	e.BytesDone += s.done
	e.BytesAll = max(s.all, e.BytesDone)
	s.last = e.Records
	e.Records += s.records
	s.stopped = !s.tell(e)
	return !s.stopped && s.left > 0
}

// over takes what a partition came to, and reports whether the search ends there.
func (s *searchRun) over(i int, o one) bool {
	s.done += max(o.end.Bytes, s.sizes[i])
	s.records += s.last
	s.last = 0
	s.end.Bytes += o.end.Bytes
	room := max(0, maxSearchFaults-len(s.end.Faults))
	s.end.Faults = append(s.end.Faults, o.end.Faults[:min(room, len(o.end.Faults))]...)
	switch {
	case s.stopped:
		s.end.Reason = "cancelled"
	case s.left == 0:
		s.end.Reason = "limit reached"
	case !o.end.Whole:
		s.end.Reason = o.end.Reason
	default:
		return false
	}
	return true
}
