package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

const (
	// Requests to a broker that may be on their way: so many whatever they hold, and more of them only where waiting would
	// bring no further partition into the next one.
	fewSent, mostSent = 2, 5
	sentBytes         = 4 << 20 // of batches in one request; one is always taken
)

// mail sends batches to the brokers that lead their partitions. The zero value is ready.
type mail struct {
	mu    sync.Mutex
	boxes map[int32]*mailbox // by leader
}

// mailbox is what is to be sent to one broker. Batches of several partitions go in one request.
//
// Invariants:
//   - of a partition, queue and what is on its way are in the order in which they were given
//   - a goroutine sends for as long as sending is set; it ends when nothing may be sent
type mailbox struct {
	c       *Cluster
	leader  int32
	mu      sync.Mutex
	queue   []*parcel
	flying  int // requests
	sending bool
	out     map[model.TopicPartition]int // batches that were given and have no answer, by partition
}

// parcel is a batch on its way.
type parcel struct {
	ctx   context.Context
	tp    model.TopicPartition
	batch []byte
	done  chan struct{}
	base  int64
	err   error
}

func (p *parcel) end(base int64, err error) {
	p.base, p.err = base, err
	close(p.done)
}

// unsent is what has come of a batch, where another try may help.
type unsent struct{ error }

// Again implements what model.BatchSender asks for.
func (unsent) Again() bool { return true }

// Unwrap returns the cause.
func (u unsent) Unwrap() error { return u.error }

// SendBatch implements model.BatchSender.
func (c *Cluster) SendBatch(ctx context.Context, tp model.TopicPartition, batch []byte) (answer func() (base int64, err error)) {
	p := &parcel{ctx: ctx, tp: tp, batch: batch, done: make(chan struct{})}
	if box, err := c.mailbox(ctx, tp); err != nil {
		p.end(model.Unknown, err)
	} else {
		box.give(p)
	}
	return func() (int64, error) {
		<-p.done // a request is bounded in time
		return p.base, p.err
	}
}

// mailbox returns that of a partition's leader.
func (c *Cluster) mailbox(ctx context.Context, tp model.TopicPartition) (*mailbox, error) {
	if err := c.writing("produce"); err != nil {
		return nil, err
	}
	_, p, err := c.find(ctx, tp)
	if err != nil {
		return nil, err
	}
	if p.leader < 0 {
		_ = c.refresh(ctx) // the next try tells what is wrong with that
		return nil, unsent{answer(kerr.LeaderNotAvailable, "")}
	}
	c.mail.mu.Lock()
	defer c.mail.mu.Unlock()
	box := c.mail.boxes[p.leader]
	if box == nil {
		box = &mailbox{c: c, leader: p.leader, out: map[model.TopicPartition]int{}}
		if c.mail.boxes == nil {
			c.mail.boxes = map[int32]*mailbox{}
		}
		c.mail.boxes[p.leader] = box
	}
	return box, nil
}

// give puts a batch behind all others.
func (m *mailbox) give(p *parcel) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, p)
	m.out[p.tp]++
	m.wake()
}

// wake lets a goroutine send, where something may be sent. m.mu is held.
func (m *mailbox) wake() {
	if m.sending || !m.may() {
		return
	}
	m.sending = true
	go m.run()
}

// may reports whether a request may be sent now. m.mu is held.
func (m *mailbox) may() bool {
	if len(m.queue) == 0 || m.flying >= mostSent {
		return false
	}
	if m.flying < fewSent {
		return true
	}
	waiting := map[model.TopicPartition]bool{}
	for _, p := range m.queue {
		waiting[p.tp] = true
	}
	return len(waiting) >= len(m.out)
}

// run sends what may be sent, one request behind the other.
func (m *mailbox) run() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.may() {
		parcels := m.take()
		m.flying++
		m.mu.Unlock()
		m.post(parcels)
		m.mu.Lock()
	}
	m.sending = false
}

// take takes the next request's batches: of each partition one, which is all that brokers accept. m.mu is held.
func (m *mailbox) take() []*parcel {
	var out []*parcel
	kept := m.queue[:0]
	taken := map[model.TopicPartition]bool{}
	size := 0
	for _, p := range m.queue {
		if taken[p.tp] || len(out) > 0 && size+len(p.batch) > sentBytes {
			kept = append(kept, p)
			taken[p.tp] = true // those behind it must not overtake it
			continue
		}
		taken[p.tp] = true
		size += len(p.batch)
		out = append(out, p)
	}
	clear(m.queue[len(kept):])
	m.queue = kept
	return out
}

// sending is a Produce request that says when its turn to be written has come. What is asked for from then on is written
// behind it.
type sending struct {
	kmsg.ProduceRequest
	turn func()
}

// MaxVersion implements kmsg.Request: from 13 on topics have no names, and 12 is for transactions.
func (*sending) MaxVersion() int16 { return 11 }

// AppendTo implements kmsg.Request.
func (s *sending) AppendTo(dst []byte) []byte {
	s.turn()
	return s.ProduceRequest.AppendTo(dst)
}

// post sends one request. It returns once that has its place on the connection.
func (m *mailbox) post(parcels []*parcel) {
	turn, done := make(chan struct{}), make(chan struct{})
	s := &sending{ProduceRequest: kmsg.NewProduceRequest(), turn: sync.OnceFunc(func() { close(turn) })}
	s.Acks, s.TimeoutMillis = -1, int32(m.c.o.Timeout.Milliseconds())
	at := map[string]int{}
	for _, p := range parcels {
		i, ok := at[p.tp.Topic]
		if !ok {
			i = len(s.Topics)
			at[p.tp.Topic] = i
			t := kmsg.NewProduceRequestTopic()
			t.Topic = p.tp.Topic
			s.Topics = append(s.Topics, t)
		}
		part := kmsg.NewProduceRequestTopicPartition()
		part.Partition, part.Records = p.tp.Partition, p.batch
		s.Topics[i].Partitions = append(s.Topics[i].Partitions, part)
	}
	go func() { // it ends with the request, which is bounded in time
		defer close(done)
		m.ask(parcels, s)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.flying--
		m.wake()
	}()
	select {
	case <-turn:
	case <-done:
	}
}

// ask sends a request and gives each of its batches its answer.
func (m *mailbox) ask(parcels []*parcel, s *sending) {
	c := m.c
	ctx, done := c.bound(parcels[0].ctx)
	defer done()
	kresp, err := c.kgo.Broker(int(m.leader)).Request(ctx, s)
	answers := map[model.TopicPartition]*kmsg.ProduceResponseTopicPartition{}
	if err != nil {
		err = c.why(ctx, err)
	} else {
		resp := kresp.(*kmsg.ProduceResponse)
		for i := range resp.Topics {
			for j := range resp.Topics[i].Partitions {
				a := &resp.Topics[i].Partitions[j]
				answers[model.TopicPartition{Topic: resp.Topics[i].Topic, Partition: a.Partition}] = a
			}
		}
	}
	stale := false
	for _, p := range parcels {
		base, perr := model.Unknown, err
		if a := answers[p.tp]; perr == nil && a == nil {
			perr = unsent{errors.New("the broker left the partition out of its answer")}
		} else if perr == nil {
			base, perr = sent(a)
		} else {
			perr = unsent{perr}
		}
		var u unsent
		stale = stale || errors.As(perr, &u)
		if perr != nil {
			perr = fmt.Errorf("broker %d: %w", m.leader, perr)
		}
		m.mu.Lock()
		if m.out[p.tp]--; m.out[p.tp] == 0 {
			delete(m.out, p.tp)
		}
		m.mu.Unlock()
		defer p.end(base, perr) // once the leaders are known anew
	}
	if stale && ctx.Err() == nil {
		_ = c.refresh(ctx) // the next try tells what is wrong with that
	}
}

// sent is what has come of one batch.
func sent(a *kmsg.ProduceResponseTopicPartition) (base int64, err error) {
	err = kerr.ErrorForCode(a.ErrorCode)
	message := ""
	if a.ErrorMessage != nil {
		message = *a.ErrorMessage
	}
	switch {
	case err == nil:
		return a.BaseOffset, nil
	case errors.Is(err, kerr.DuplicateSequenceNumber):
		return model.Unknown, nil
	case moved(err), kerr.IsRetriable(err), errors.Is(err, kerr.OutOfOrderSequenceNumber):
		return model.Unknown, unsent{answer(err, message)}
	}
	return model.Unknown, answer(err, message)
}
