package delivery

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// worker is a process that consumes and works, and may be killed. What it has committed outlives it.
type worker struct {
	x      *run
	killed bool
	turns  int
}

// consumeAll has the consumer work on everything in the topic, with a new process for one that was killed.
func (x *run) consumeAll(ctx context.Context) error {
	w := &worker{x: x}
	for {
		end, err := w.process(ctx)
		if err != nil {
			return fmt.Errorf("consumer: %w", err)
		}
		if end {
			return nil
		}
	}
}

// process is the life of one process: it goes on from the committed offset to the log's end; end says that it got there.
func (w *worker) process(ctx context.Context) (end bool, err error) {
	x := w.x
	l := newLine(model.NoFault, 0, x.step)
	opts := []kgo.Opt{}
	if x.mode == model.ExactlyOnce {
		opts = append(opts, kgo.TransactionalID(x.topic+".consumer"))
	}
	c, err := x.client(l, "consumer", opts...)
	if err != nil {
		return false, err
	}
	defer c.Close()
	if x.mode == model.ExactlyOnce {
		// Fences the process before, and aborts what it had begun.
		if _, _, err := c.ProducerID(ctx); err != nil {
			return false, err
		}
	}
	at, err := w.committed(ctx, c)
	if err != nil {
		return false, err
	}
	records, err := x.read(ctx, x.topic, at)
	if err != nil {
		return false, err
	}
	for len(records) > 0 {
		if err := x.going(ctx); err != nil {
			return false, err
		}
		turn := records[:min(x.chunk, len(records))]
		records = records[len(turn):]
		w.turns++
		die := x.fault == model.KilledConsumer && !w.killed && w.turns == hitAt
		if err := w.turn(ctx, c, turn, die); err != nil {
			return false, err
		}
		if die {
			w.killed = true
			x.step("consumer", "is killed, and started again")
			l.cut()
			return false, nil
		}
	}
	return true, nil
}

// turn works on records and commits the offset behind them, in the order of the mode; die says that the process is
// killed between the two.
func (w *worker) turn(ctx context.Context, c *kgo.Client, turn []*kgo.Record, die bool) error {
	x := w.x
	next := turn[len(turn)-1].Offset + 1
	numbers, err := numbers(turn)
	if err != nil {
		return err
	}
	words := fmt.Sprintf("offsets %d–%d", turn[0].Offset, next-1)
	switch x.mode {
	case model.AtMostOnce:
		if err := w.commit(ctx, c, next); err != nil {
			return err
		}
		x.step("consumer", fmt.Sprintf("commits %d", next))
		if die {
			return nil
		}
		x.worked = append(x.worked, numbers...)
		x.step("consumer", "works on "+words)
	case model.AtLeastOnce:
		x.worked = append(x.worked, numbers...)
		x.step("consumer", "works on "+words)
		if die {
			return nil
		}
		if err := w.commit(ctx, c, next); err != nil {
			return err
		}
		x.step("consumer", fmt.Sprintf("commits %d", next))
	default:
		return w.transact(ctx, c, numbers, next, words, die)
	}
	return nil
}

// transact writes the work and the commit in one transaction.
func (w *worker) transact(ctx context.Context, c *kgo.Client, numbers []int, next int64, words string, die bool) error {
	x := w.x
	if err := c.BeginTransaction(); err != nil {
		return err
	}
	var work []*kgo.Record
	for _, n := range numbers {
		work = append(work, record(x.out, n))
	}
	if err := c.ProduceSync(ctx, work...).FirstErr(); err != nil {
		return err
	}
	x.step("consumer", "works on "+words+", in a transaction")
	if die {
		return nil
	}
	if err := w.commitInside(ctx, c, next); err != nil {
		return err
	}
	if err := c.EndTransaction(ctx, kgo.TryCommit); err != nil {
		return err
	}
	x.step("consumer", fmt.Sprintf("commits work and offset %d together", next))
	return nil
}

// committed returns where the group is to go on.
func (w *worker) committed(ctx context.Context, c *kgo.Client) (int64, error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = w.x.topic
	t := kmsg.NewOffsetFetchRequestGroupTopic()
	t.Topic, t.TopicID, t.Partitions = w.x.topic, w.x.id, []int32{0}
	g.Topics = append(g.Topics, t)
	req.Groups, req.Group, req.RequireStable = append(req.Groups, g), w.x.topic, true
	req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: w.x.topic, Partitions: []int32{0}}}
	for {
		resp, err := req.RequestWith(ctx, c)
		if err != nil {
			return 0, fmt.Errorf("fetch the committed offset: %w", err)
		}
		at, code := int64(-1), resp.ErrorCode
		for _, g := range resp.Groups {
			code = g.ErrorCode
			for _, t := range g.Topics {
				for _, p := range t.Partitions {
					at, code = p.Offset, p.ErrorCode
				}
			}
		}
		switch err := kerr.ErrorForCode(code); {
		case err == nil:
			return max(at, 0), nil
		case !kerr.IsRetriable(err):
			return 0, fmt.Errorf("fetch the committed offset: %w", err)
		}
		select { // a transaction is ending
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// commit commits the next offset to be read.
func (w *worker) commit(ctx context.Context, c *kgo.Client, next int64) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = w.x.topic, -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic, t.TopicID = w.x.topic, w.x.id
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset, p.LeaderEpoch = next, -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return fmt.Errorf("commit %d: %w", next, err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("commit %d: %w", next, err)
			}
		}
	}
	return nil
}

// commitInside commits the next offset as part of the client's transaction.
func (w *worker) commitInside(ctx context.Context, c *kgo.Client, next int64) error {
	id, epoch, err := c.ProducerID(ctx)
	if err != nil {
		return err
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = w.x.topic+".consumer", id, epoch, w.x.topic
	added, err := add.RequestWith(ctx, c)
	if err == nil {
		err = kerr.ErrorForCode(added.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("add the group's offsets to the transaction: %w", err)
	}
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group, req.Generation = w.x.topic+".consumer", id, epoch, w.x.topic, -1
	t := kmsg.NewTxnOffsetCommitRequestTopic()
	t.Topic, t.TopicID = w.x.topic, w.x.id
	p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	p.Offset, p.LeaderEpoch = next, -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return fmt.Errorf("commit %d in the transaction: %w", next, err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("commit %d in the transaction: %w", next, err)
			}
		}
	}
	return nil
}

// numbers reads the numbers that records carry.
func numbers(records []*kgo.Record) ([]int, error) {
	list := make([]int, 0, len(records))
	for _, r := range records {
		n, err := strconv.Atoi(string(r.Value))
		if err != nil {
			return nil, fmt.Errorf("offset %d of %s is none of the experiment's records: %w", r.Offset, r.Topic, err)
		}
		list = append(list, n)
	}
	return list, nil
}
