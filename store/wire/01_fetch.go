package wire

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// maxFetch bounds the records of one answer, bytes: Kafka's fetch.max.bytes. One batch may be larger.
const maxFetch = 55 << 20

const (
	readUncommitted = 0
	readCommitted   = 1
)

// fetchPart is a partition that is fetched: what is asked, and what is answered.
type fetchPart struct {
	topic  string    // "" where the request names the topic by its id
	id     layout.ID // zero where it is named by its name
	number int32
	ask    fetchAsk

	log       *partition.Log // nil when there is none
	virtual   bool           // it has no log, and nothing in it
	absent    bool           // no client can fetch it: it does not end a wait
	code      int16
	slice     partition.Slice
	diverging *layout.Epoch
}

// fetchAsk is what is asked of a partition.
type fetchAsk struct {
	offset int64
	max    int32 // bytes
	epoch  int32 // the leader epoch that the client knows; -1 for none
	last   int32 // the leader epoch of the last record that it has; -1 for none
}

// fetching is one Fetch that is served.
type fetching struct {
	s         *Server
	c         *call
	req       *kmsg.FetchRequest
	parts     []fetchPart
	committed bool
	max, min  int64 // bytes of the answer
	size      int64 // of the records found
	urgent    bool  // there is something that the client must know at once
}

// fetch gives records. It waits for them as long as the client wants, unless there are enough or something is wrong.
func (s *Server) fetch(c *call) (reply, error) {
	req := c.req.(*kmsg.FetchRequest)
	if req.IsolationLevel != readUncommitted && req.IsolationLevel != readCommitted {
		return s.fetchRefused(c, req, kerr.UnknownServerError.Code), nil
	}
	began := time.Now()
	session, parts, code := s.sessions.begin(req, began.UnixMilli())
	if code != 0 {
		r := &fetchReply{version: c.version, code: code}
		r.encode(s, c)
		return r, nil
	}
	f := &fetching{s: s, c: c, req: req, parts: parts, committed: req.IsolationLevel == readCommitted}
	f.max = min(int64(req.MaxBytes), maxFetch)
	f.min = min(int64(req.MinBytes), f.max)
	f.read()
	if wait := time.Duration(req.MaxWaitMillis) * time.Millisecond; wait > 0 && f.waits() {
		from := time.Now()
		f.wait(wait)
		c.waited += time.Since(from)
	}
	r := &fetchReply{version: c.version, parts: f.parts, committed: f.committed}
	r.session = s.sessions.end(session, r, began.UnixMilli())
	r.encode(s, c)
	return r, nil
}

// fetchRefused answers the same error everywhere.
func (s *Server) fetchRefused(c *call, req *kmsg.FetchRequest, code int16) reply {
	r := &fetchReply{version: c.version, code: code}
	for t := range fetchParts(req) {
		t.code = code
		t.forget()
		r.parts = append(r.parts, t)
	}
	r.encode(s, c)
	return r
}

// find looks the partition up.
func (p *fetchPart) find(s *Server, byID bool) {
	name := p.topic
	if byID {
		if p.log, name = s.b.Engine.FindByID(p.id, p.number); name == "" {
			name = s.virtualByID(p.id)
		}
	} else {
		p.log = s.b.Engine.Find([]byte(name), p.number)
	}
	p.virtual = p.log == nil && name == virtual && p.number >= 0 && p.number < virtualPartitions
	p.absent, p.code = p.log == nil && !p.virtual, 0
	switch {
	case p.absent && byID && name == "":
		p.code = kerr.UnknownTopicID.Code
	case p.absent:
		p.code = kerr.UnknownTopicOrPartition.Code
	}
}

// forget leaves nothing of what was read.
func (p *fetchPart) forget() {
	p.slice.Close()
	p.slice = partition.Slice{Bounds: partition.Bounds{Start: -1, HighWatermark: -1, LastStable: -1}}
	p.diverging = nil
}

// read reads what there is of all partitions.
func (f *fetching) read() {
	f.size, f.urgent = 0, false
	left, whole := f.max, true
	for i := range f.parts {
		p := &f.parts[i]
		p.forget()
		if p.find(f.s, f.c.version >= 13); p.absent {
			continue
		}
		code := f.readPart(p, left, whole)
		if code != 0 {
			p.forget()
			p.code = code
		}
		f.urgent = f.urgent || code != 0 || p.diverging != nil
		if n := p.slice.Size; n > 0 {
			f.size += n
			left, whole = max(0, left-n), false
		}
	}
}

// readPart reads a partition, at most left bytes of it.
func (f *fetching) readPart(p *fetchPart, left int64, whole bool) int16 {
	switch {
	case f.replica() >= 0:
		return kerr.NotLeaderForPartition.Code
	case p.virtual && p.ask.offset != 0:
		return kerr.OffsetOutOfRange.Code
	case p.virtual:
		p.slice.Bounds = partition.Bounds{}
		return 0
	}
	if code := epochCode(p.log, p.ask.epoch); code != 0 && p.ask.epoch >= 0 {
		return code
	}
	if p.ask.last >= 0 {
		epoch, end, err := p.log.EpochEnd(p.ask.last)
		switch {
		case err != nil:
			return readCode(err)
		case epoch < 0 || end < 0:
			return kerr.OffsetOutOfRange.Code
		case epoch < p.ask.last || end < p.ask.offset:
			b, err := p.log.Bounds()
			if err != nil {
				return readCode(err)
			}
			p.slice.Bounds, p.diverging = b, &layout.Epoch{Epoch: epoch, Start: end}
			return 0
		}
	}
	limit := min(int64(p.ask.max), left)
	if limit < 0 {
		return kerr.UnknownServerError.Code
	}
	var err error
	p.slice, err = p.log.Slice(partition.Query{Offset: p.ask.offset, Max: limit, Whole: whole, Committed: f.committed})
	return readCode(err)
}

// replica returns the broker that asks, -1 for a client.
func (f *fetching) replica() int32 {
	if f.c.version >= 15 {
		return f.req.ReplicaState.ID
	}
	return f.req.ReplicaID
}

// epochCode says what is wrong with the leader epoch that a client knows.
func epochCode(l *partition.Log, epoch int32) int16 {
	if epoch == -1 {
		return 0
	}
	now, err := l.LeaderEpoch()
	switch {
	case err != nil:
		return readCode(err)
	case epoch < now:
		return kerr.FencedLeaderEpoch.Code
	case epoch > now:
		return kerr.UnknownLeaderEpoch.Code
	}
	return 0
}

// readCode is the code of what went wrong with reading a log.
func readCode(err error) int16 {
	if err == nil {
		return 0
	}
	var corrupt *model.CorruptError
	switch {
	case errors.Is(err, model.ErrOutOfRange):
		return kerr.OffsetOutOfRange.Code
	case errors.Is(err, model.ErrClosed):
		return kerr.NotLeaderForPartition.Code // its topic is being deleted: the client is to ask again who has it
	case errors.As(err, &corrupt):
		return kerr.CorruptMessage.Code
	}
	return kerr.KafkaStorageError.Code
}

// waits tells whether what was found is not enough for an answer yet.
func (f *fetching) waits() bool {
	if f.urgent || f.size >= f.min {
		return false
	}
	for i := range f.parts {
		if !f.parts[i].absent {
			return true
		}
	}
	return false
}

// wait waits until there is enough, and reads it.
func (f *fetching) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	if d > lookEvery {
		defer f.c.watch()()
	}
	w := partition.NewWaiter()
	defer w.Stop()
	ahead := make([]int64, len(f.parts))
	for i := range f.parts {
		if p := &f.parts[i]; p.log != nil {
			ahead[i] = p.slice.Size
			after := p.slice.HighWatermark
			if f.committed {
				after = p.slice.LastStable
			}
			w.Watch(p.log, i, after, f.committed)
		}
	}
	for total := f.size; ; {
		select {
		case <-timer.C:
			f.read()
			return
		case <-f.c.ctx.Done():
			f.read()
			return
		case <-w.C:
		}
		for _, i := range w.Woken() {
			p := &f.parts[i]
			now := min(p.slice.Ahead(), int64(p.ask.max))
			if p.log.Closed() {
				now = f.min
			}
			total += now - ahead[i]
			ahead[i] = now
		}
		if total < f.min {
			continue
		}
		f.read()
		if !f.waits() {
			return
		}
		total = f.size
		for i := range f.parts {
			ahead[i] = f.parts[i].slice.Size
		}
	}
}
