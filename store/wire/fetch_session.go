package wire

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/layout"
)

const (
	// maxSessions is how many fetch sessions are kept: Kafka's max.incremental.fetch.session.cache.slots.
	maxSessions = 1000
	// maxSessionParts is how many partitions they have together; a client that would make it more gets none.
	maxSessionParts = 1 << 18
	// sessionRest is for how long a session is safe from those that want its place, ms: Kafka's
	// min.incremental.fetch.session.eviction.ms.
	sessionRest = 120_000
)

// Epochs of a session that say what a request wants.
const (
	sessionOpens = 0
	sessionEnds  = -1
)

// fetchKey names a partition in a session: by its topic's name, or its id.
type fetchKey struct {
	topic  string
	id     layout.ID
	number int32
}

func (p *fetchPart) key() fetchKey { return fetchKey{p.topic, p.id, p.number} }

// fetchSession is what a client has asked for and been told, so that it need not be said again.
//
// Invariants:
//   - by and parts hold the same partitions; parts in the order in which they are read
type fetchSession struct {
	id      int32
	byID    bool  // topics are named by their ids
	created int64 // ms

	mu    sync.Mutex // guards what follows
	epoch int32
	by    map[fetchKey]*sessionPart
	parts []*sessionPart

	used int64 // ms; guarded by fetchSessions.mu, as is size
	size int   // partitions, as fetchSessions counts them
}

// sessionPart is a partition of a session.
type sessionPart struct {
	key         fetchKey
	ask         fetchAsk
	water, base int64 // high watermark and log start that the client was told; -1 for none
}

// fetchSessions are the sessions of all clients.
//
// Invariants:
//   - parts is the sum of the sizes of the sessions
type fetchSessions struct {
	mu    sync.Mutex
	by    map[int32]*fetchSession
	parts int
}

// fetchParts goes through the partitions of a request, in order, each once: the last that is said of one counts.
func fetchParts(req *kmsg.FetchRequest) iter.Seq[fetchPart] {
	return func(yield func(fetchPart) bool) {
		n := 0
		for i := range req.Topics {
			n += len(req.Topics[i].Partitions)
		}
		var list []fetchPart
		var seen map[fetchKey]int
		if n > 1 {
			list, seen = make([]fetchPart, 0, n), make(map[fetchKey]int, n)
		}
		for i := range req.Topics {
			t := &req.Topics[i]
			for j := range t.Partitions {
				q := &t.Partitions[j]
				p := fetchPart{topic: t.Topic, number: q.Partition,
					ask: fetchAsk{offset: q.FetchOffset, max: q.PartitionMaxBytes, epoch: q.CurrentLeaderEpoch, last: q.LastFetchedEpoch}}
				if req.Version >= 13 {
					p.topic, p.id = "", t.TopicID
				}
				if n == 1 {
					yield(p)
					return
				}
				if k, ok := seen[p.key()]; ok {
					list[k].ask = p.ask
					continue
				}
				seen[p.key()] = len(list)
				list = append(list, p)
			}
		}
		for _, p := range list {
			if !yield(p) {
				return
			}
		}
	}
}

// sessionUse is what a request does with a session.
type sessionUse struct {
	session *fetchSession // nil for none
	opens   bool          // one is to be begun
	byID    bool
}

// begin finds out what a request asks for. A code other than 0 is the whole answer.
func (c *fetchSessions) begin(req *kmsg.FetchRequest, now int64) (sessionUse, []fetchPart, int16) {
	u := sessionUse{byID: req.Version >= 13}
	if req.Version < 7 || req.SessionEpoch == sessionOpens || req.SessionEpoch == sessionEnds {
		if req.Version >= 7 && req.SessionID != 0 {
			c.remove(req.SessionID)
		}
		u.opens = req.Version >= 7 && req.SessionEpoch == sessionOpens
		return u, slices.Collect(fetchParts(req)), 0
	}
	s := c.get(req.SessionID)
	if s == nil {
		return u, nil, kerr.FetchSessionIDNotFound.Code
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.epoch != req.SessionEpoch:
		return u, nil, kerr.InvalidFetchSessionEpoch.Code
	case s.byID != u.byID:
		return u, nil, kerr.FetchSessionTopicIDError.Code
	case !c.resize(s, s.update(req), now):
		c.remove(s.id)
		return u, nil, kerr.FetchSessionIDNotFound.Code // it has grown too large: the client begins a new one
	}
	if len(s.parts) == 0 {
		c.remove(s.id)
		return u, nil, 0
	}
	s.epoch = nextEpoch(s.epoch)
	u.session = s
	list := make([]fetchPart, len(s.parts))
	for i, p := range s.parts {
		list[i] = fetchPart{topic: p.key.topic, id: p.key.id, number: p.key.number, ask: p.ask}
	}
	return u, list, 0
}

func nextEpoch(e int32) int32 {
	if e == math.MaxInt32 {
		return 1
	}
	return e + 1
}

// update takes over what a request changes, and returns how many partitions there are now.
func (s *fetchSession) update(req *kmsg.FetchRequest) int {
	for p := range fetchParts(req) {
		if have := s.by[p.key()]; have != nil {
			have.ask = p.ask
			continue
		}
		s.add(p)
	}
	gone := false
	for i := range req.ForgottenTopics {
		t := &req.ForgottenTopics[i]
		for _, n := range t.Partitions {
			k := fetchKey{topic: t.Topic, number: n}
			if s.byID {
				k = fetchKey{id: t.TopicID, number: n}
			}
			_, ok := s.by[k]
			gone = gone || ok
			delete(s.by, k)
		}
	}
	if gone {
		s.parts = slices.DeleteFunc(s.parts, func(p *sessionPart) bool { return s.by[p.key] != p })
	}
	return len(s.parts)
}

func (s *fetchSession) add(p fetchPart) *sessionPart {
	x := &sessionPart{key: p.key(), ask: p.ask, water: -1, base: -1}
	s.by[x.key] = x
	s.parts = append(s.parts, x)
	return x
}

// end takes note of what is answered, leaves out of it what a client with a session knows, and returns the session's id,
// 0 for none.
func (c *fetchSessions) end(u sessionUse, r *fetchReply, now int64) int32 {
	switch {
	case u.opens:
		return c.open(u.byID, r, now)
	case u.session == nil:
		return 0
	}
	s := u.session
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := r.parts[:0]
	read := map[*sessionPart]bool{}
	for i := range r.parts {
		p := r.parts[i]
		x := s.by[p.key()]
		if x == nil || !x.tell(&p) {
			p.slice.Close()
			continue
		}
		if p.slice.Size > 0 {
			read[x] = true
		}
		kept = append(kept, p)
	}
	clear(r.parts[len(kept):])
	r.parts = kept
	if len(read) > 0 && len(read) < len(s.parts) {
		// What has given something is read last the next time, so that all get their turn.
		order := make([]*sessionPart, 0, len(s.parts))
		for _, last := range []bool{false, true} {
			for _, x := range s.parts {
				if read[x] == last {
					order = append(order, x)
				}
			}
		}
		s.parts = order
	}
	return s.id
}

// tell reports whether a client must be told what is answered of a partition, and takes note of it.
func (x *sessionPart) tell(p *fetchPart) bool {
	must := p.slice.Size > 0 || p.diverging != nil || p.code != 0
	if x.water != p.slice.HighWatermark {
		x.water, must = p.slice.HighWatermark, true
	}
	if x.base != p.slice.Start {
		x.base, must = p.slice.Start, true
	}
	if p.code != 0 {
		x.water = -1 // it is told again when the error is gone
	}
	return must
}

// open begins a session with what is answered in full.
func (c *fetchSessions) open(byID bool, r *fetchReply, now int64) int32 {
	s := &fetchSession{byID: byID, created: now, epoch: nextEpoch(sessionOpens), used: now, size: len(r.parts),
		by: make(map[fetchKey]*sessionPart, len(r.parts))}
	for i := range r.parts {
		s.add(r.parts[i]).tell(&r.parts[i])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parts+s.size > maxSessionParts || len(c.by) >= maxSessions && !c.evict(s, now) {
		return 0
	}
	if c.by == nil {
		c.by = map[int32]*fetchSession{}
	}
	for s.id == 0 || c.by[s.id] != nil {
		s.id = rand.Int32N(math.MaxInt32) + 1
	}
	c.by[s.id] = s
	c.parts += s.size
	return s.id
}

// evict makes room for a session: the one unused for longest goes if it has rested long enough, or else the smallest of
// those that are old enough, if the new one is larger.
func (c *fetchSessions) evict(n *fetchSession, now int64) bool {
	var oldest, least *fetchSession
	for _, s := range c.by {
		if oldest == nil || s.used < oldest.used {
			oldest = s
		}
		if now-s.created > sessionRest && (least == nil || s.size < least.size || s.size == least.size && s.id < least.id) {
			least = s
		}
	}
	switch {
	case oldest != nil && now-oldest.used > sessionRest:
		c.drop(oldest)
	case least != nil && least.size < n.size:
		c.drop(least)
	default:
		return false
	}
	return true
}

func (c *fetchSessions) drop(s *fetchSession) {
	delete(c.by, s.id)
	c.parts -= s.size
}

func (c *fetchSessions) get(id int32) *fetchSession {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[id]
}

func (c *fetchSessions) remove(id int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.by[id]; s != nil {
		c.drop(s)
	}
}

// resize notes that a session is used, and how large it is; false when all together are too large then.
func (c *fetchSessions) resize(s *fetchSession, n int, now int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[s.id] != s {
		return true // evicted meanwhile: this one answer goes on
	}
	c.parts += n - s.size
	s.size, s.used = n, now
	return c.parts <= maxSessionParts
}
