package wire

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/bits"
	"net"
	"slices"
	"sync"
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

// served notes a request.
func (t *stats) served(k kmsg.Key, took time.Duration, failed bool) {
	a := t.apis[k]
	if a == nil {
		return
	}
	a.count.Add(1)
	if failed {
		a.errors.Add(1)
	}
	a.times[a.turn.Load()&1].buckets[bucketOf(took)].Add(1)
}

// facts is what is known of a client. The counters are added to without a lock; the rest is guarded by mu and changes
// seldom.
type facts struct {
	since                 int64
	address               string
	lastAt                atomic.Int64 // ms; 0 before the first request
	lastKey               atomic.Int32
	requests, errors      atomic.Int64
	in, out               atomic.Int64
	acks                  atomic.Int32 // of the last Produce; noAcks before
	idempotent            atomic.Bool
	reqRate, inRate, outR rate // guarded by Server.mu

	mu                    sync.Mutex
	id, software, version string
	user, transactional   string
	tls                   bool
	groups                []string
	seenClient, seenTxn   string // the connection's own copies, to know a change without the lock
}

const noAcks = math.MinInt32

func (f *facts) begin(nc net.Conn) {
	f.since, f.address = time.Now().UnixMilli(), nc.RemoteAddr().String()
	f.acks.Store(noAcks)
}

// request notes a request that begins to be served.
func (f *facts) request(c *call, now time.Time, size int) {
	f.lastAt.Store(now.UnixMilli())
	f.lastKey.Store(int32(c.key))
	f.requests.Add(1)
	f.in.Add(int64(size))
	if c.client != f.seenClient {
		f.seenClient = c.client
		f.mu.Lock()
		f.id = c.client
		f.mu.Unlock()
	}
}

// produced notes what a Produce shows of the client's delivery settings.
func (f *facts) produced(acks int16, idempotent bool, transactional []byte) {
	if f.acks.Load() != int32(acks) {
		f.acks.Store(int32(acks))
	}
	if idempotent && !f.idempotent.Load() {
		f.idempotent.Store(true)
	}
	if string(transactional) != f.seenTxn {
		f.seenTxn = string(transactional)
		f.mu.Lock()
		f.transactional = f.seenTxn
		f.mu.Unlock()
	}
}

// named notes how the client names its software.
func (f *facts) named(software, version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.software, f.version = software, version
}

// maxGroups bounds the groups that are remembered of a connection.
const maxGroups = 16

// member notes that the client has been a member of a group.
func (c *call) member(group string) {
	f := &c.conn.facts
	f.mu.Lock()
	defer f.mu.Unlock()
	if i, ok := slices.BinarySearch(f.groups, group); !ok && len(f.groups) < maxGroups {
		f.groups = slices.Insert(f.groups, i, group)
	}
}

// client puts together what is told of a connection. Server.mu is held.
func (f *facts) client() model.Client {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := model.Client{
		ID: f.id, Software: f.software, Version: f.version, Address: f.address, User: f.user, TLS: f.tls,
		Since: f.since, LastAt: model.NoTime, Requests: f.requests.Load(), Errors: f.errors.Load(),
		In: f.in.Load(), Out: f.out.Load(),
		RequestRate: f.reqRate.perSec, InRate: f.inRate.perSec, OutRate: f.outR.perSec,
		Idempotent: f.idempotent.Load(), Transactional: f.transactional, Groups: slices.Clone(f.groups),
	}
	if ms := f.lastAt.Load(); ms != 0 {
		c.LastAt, c.LastAPI = ms, kmsg.Key(f.lastKey.Load()).Name()
	}
	switch f.acks.Load() {
	case 0:
		c.Acks = "0"
	case 1:
		c.Acks = "1"
	case -1:
		c.Acks = "all"
	}
	return c
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
