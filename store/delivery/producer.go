package delivery

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
)

// sender is a process that produces, and may be killed. What it has kept of its progress outlives it.
type sender struct {
	x        *run
	progress int // numbers below were dealt with, as it has written down
	killed   bool
}

// produceAll has the producer send all records, with a new process for one that was killed.
func (x *run) produceAll(ctx context.Context) error {
	s := &sender{x: x}
	l := newLine(x.fault, hitAt, x.step)
	l.again = x.mode != model.AtMostOnce && (x.fault == model.LostRequest || x.fault == model.LostAck)
	for s.progress < x.n {
		if err := s.process(ctx, l); err != nil {
			return fmt.Errorf("producer: %w", err)
		}
	}
	return nil
}

// settings are those by which producers of a mode differ.
func (x *run) settings() []kgo.Opt {
	switch x.mode {
	case model.AtMostOnce:
		return []kgo.Opt{kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite(), kgo.RecordRetries(0)}
	case model.AtLeastOnce:
		return []kgo.Opt{kgo.RequiredAcks(kgo.AllISRAcks()), kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(1)}
	}
	return []kgo.Opt{kgo.RequiredAcks(kgo.AllISRAcks()), kgo.TransactionalID(x.topic + ".producer")}
}

// process is the life of one process: it goes on from where the one before had got to, until all is sent or it is killed.
func (s *sender) process(ctx context.Context, l *line) error {
	x := s.x
	c, err := x.client(l, "producer", x.settings()...)
	if err != nil {
		return err
	}
	defer c.Close()
	for s.progress < x.n {
		if err := x.going(ctx); err != nil {
			return err
		}
		from := s.progress
		to := min(from+x.chunk, x.n)
		die := x.fault == model.KilledProducer && !s.killed && from/x.chunk+1 == hitAt
		if err := s.send(ctx, c, from, to, die); err != nil {
			return err
		}
		if die {
			s.killed = true
			x.step("producer", fmt.Sprintf("is killed, and started again from what it wrote down: %d", s.progress))
			l.cut()
			return nil
		}
	}
	return nil
}

// send sends the records of [from, to); die says that the process is killed between the two halves of that.
func (s *sender) send(ctx context.Context, c *kgo.Client, from, to int, die bool) error {
	x := s.x
	x.step("producer", "sends "+span(from, to))
	switch x.mode {
	case model.AtMostOnce:
		s.progress = to // written down before: never again
		if die {
			return nil
		}
		// What cannot be sent is not sent again; an error would be looked at by nobody.
		_ = c.ProduceSync(ctx, batch(x.topic, from, to)...)
	case model.AtLeastOnce:
		if err := c.ProduceSync(ctx, batch(x.topic, from, to)...).FirstErr(); err != nil {
			return err
		}
		if die {
			return nil
		}
		s.progress = to // written down behind: again, rather than not at all
	default:
		if err := c.BeginTransaction(); err != nil {
			return err
		}
		if err := c.ProduceSync(ctx, batch(x.topic, from, to)...).FirstErr(); err != nil {
			return err
		}
		if die {
			return nil
		}
		if err := c.EndTransaction(ctx, kgo.TryCommit); err != nil {
			return err
		}
		x.step("producer", "commits "+span(from, to))
		s.progress = to
	}
	return nil
}
