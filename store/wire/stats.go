package wire

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

const (
	sampleEvery = time.Second
	// histogramTurn is how many samples a histogram is filled for; what is told goes over this one and the one before.
	histogramTurn = 30
	// smooth is the weight of the newest sample in a rate.
	smooth = 0.4
)

// stats is how the APIs do. What serves requests adds to it without a lock.
type stats struct {
	apis  map[kmsg.Key]*apiStats // fixed from begin on
	moved atomic.Bool            // someone has come or gone since Changed was told
}

// apiStats is how one API does.
type apiStats struct {
	count, errors atomic.Int64
	turn          atomic.Uint32 // which histogram is filled, the lowest bit of it
	times         [2]histogram
	rate          rate // guarded by Server.mu
}

// rate follows a counter; it is sampled every sampleEvery.
type rate struct {
	last   int64
	perSec float64
}

func (r *rate) sample(now int64, d time.Duration) {
	v := float64(now-r.last) / d.Seconds()
	if r.last = now; r.perSec == 0 {
		r.perSec = v
	} else {
		r.perSec += smooth * (v - r.perSec)
	}
	if r.perSec < 0.05 {
		r.perSec = 0
	}
}

// histogram counts durations by size: four buckets to each doubling, from a microsecond on.
type histogram struct {
	buckets [4 * 36]atomic.Uint32
}

// bucketOf returns the bucket of a duration.
func bucketOf(d time.Duration) int {
	us := uint64(max(d/time.Microsecond, 0))
	if us < 4 {
		return int(us)
	}
	top := bits.Len64(us) - 1 // >= 2
	i := 4*(top-1) + int(us>>(top-2)&3)
	return min(i, 4*36-1)
}

// bucketEnd returns the least duration above a bucket.
func bucketEnd(i int) time.Duration {
	if i < 4 {
		return time.Duration(i+1) * time.Microsecond
	}
	top := i/4 + 1
	return time.Duration(uint64(4+i%4+1)<<(top-2)) * time.Microsecond
}

func (h *histogram) clear() {
	for i := range h.buckets {
		h.buckets[i].Store(0)
	}
}

// quantiles returns the durations that p50 and p99 of what two histograms counted stay below.
func quantiles(hs *[2]histogram) (p50, p99 time.Duration) {
	var sums [4 * 36]uint64
	var n uint64
	for i := range sums {
		sums[i] = uint64(hs[0].buckets[i].Load()) + uint64(hs[1].buckets[i].Load())
		n += sums[i]
	}
	at := func(q float64) time.Duration {
		want, seen := uint64(math.Ceil(q*float64(n))), uint64(0)
		for i, c := range sums {
			if seen += c; seen >= want && c > 0 {
				return bucketEnd(i)
			}
		}
		return 0
	}
	return at(0.50), at(0.99)
}

func (t *stats) begin(all map[kmsg.Key]api) {
	t.apis = map[kmsg.Key]*apiStats{}
	for k := range all {
		t.apis[k] = &apiStats{}
	}
}

// served notes a request. A time below 0 is not counted.
func (t *stats) served(k kmsg.Key, took time.Duration, failed bool) {
	a := t.apis[k]
	if a == nil {
		return
	}
	a.count.Add(1)
	if failed {
		a.errors.Add(1)
	}
	if took >= 0 {
		a.times[a.turn.Load()&1].buckets[bucketOf(took)].Add(1)
	}
}

// Clients implements model.ClientReader.
func (s *Server) Clients(ctx context.Context) ([]model.Client, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]model.Client, 0, len(s.conns))
	for c := range s.conns {
		list = append(list, c.facts.client())
	}
	slices.SortFunc(list, func(a, b model.Client) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Address, b.Address))
	})
	return list, nil
}

// APIs implements model.ClientReader.
func (s *Server) APIs(ctx context.Context) ([]model.APIStat, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []model.APIStat
	for _, k := range slices.Sorted(maps.Keys(s.stats.apis)) {
		a := s.stats.apis[k]
		if a.count.Load() == 0 {
			continue
		}
		st := model.APIStat{Name: k.Name(), Key: int16(k), Count: a.count.Load(), Errors: a.errors.Load(), Rate: a.rate.perSec}
		st.P50, st.P99 = quantiles(&a.times)
		list = append(list, st)
	}
	return list, nil
}

// tend samples the rates, tells of changes, and lets go of clients that have gone while they were waited for, until
// Close.
func (s *Server) tend() {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	last := time.Now()
	for n := 1; ; n++ {
		select {
		case <-s.ctx.Done():
			return
		case now := <-tick.C:
			s.sample(now.Sub(last), n%histogramTurn == 0)
			s.letGo(now)
			last = now
			if s.o.Changed != nil && s.stats.moved.Swap(false) {
				s.o.Changed()
			}
		}
	}
}

// waitUnseen is how long a request may wait before its client is looked after.
const waitUnseen = 2 * time.Second

// letGo ends the waits for clients that have gone: a long poll, or a member's join, would hold their connections for as
// long as they had asked for.
func (s *Server) letGo(now time.Time) {
	var waiting []*conn
	s.mu.Lock()
	for c := range s.conns {
		if ms := c.since.Load(); ms != 0 && now.Sub(time.UnixMilli(ms)) > waitUnseen {
			waiting = append(waiting, c)
		}
	}
	s.mu.Unlock()
	for _, c := range waiting {
		if hasGone(c.nc) {
			c.end()
		}
	}
}

// sample brings the rates up to date; turn has the histograms change.
func (s *Server) sample(d time.Duration, turn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		f := &c.facts
		f.reqRate.sample(f.requests.Load(), d)
		f.inRate.sample(f.in.Load(), d)
		f.outR.sample(f.out.Load(), d)
	}
	for _, a := range s.stats.apis {
		a.rate.sample(a.count.Load(), d)
		if turn {
			next := a.turn.Load() + 1
			a.times[next&1].clear()
			a.turn.Store(next)
		}
	}
}
