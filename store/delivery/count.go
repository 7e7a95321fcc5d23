package delivery

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// read reads a topic from an offset to its end, as a consumer of the mode is shown it.
func (x *run) read(ctx context.Context, topic string, from int64) ([]*kgo.Record, error) {
	level, isolation := kgo.ReadUncommitted(), int8(0)
	if x.mode == model.ExactlyOnce {
		level, isolation = kgo.ReadCommitted(), 1
	}
	c, err := x.client(nil, "reader", kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().At(from)}}),
		kgo.FetchIsolationLevel(level), kgo.FetchMaxWait(50*time.Millisecond), kgo.KeepControlRecords())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	end, err := x.end(ctx, c, topic, isolation)
	if err != nil {
		return nil, err
	}
	var list []*kgo.Record
	for at := from; at < end; {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			return nil, fmt.Errorf("read %s: %w", topic, err)
		}
		var bad error
		fetches.EachError(func(_ string, _ int32, err error) { bad = err })
		if bad != nil {
			return nil, fmt.Errorf("read %s at %d: %w", topic, at, bad)
		}
		moved := false
		fetches.EachRecord(func(r *kgo.Record) {
			at, moved = r.Offset+1, true
			if !r.Attrs.IsControl() {
				list = append(list, r)
			}
		})
		if !moved && level == kgo.ReadCommitted() && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return list, nil
}

// end returns where a reader's log ends: the high watermark, or the last stable offset.
func (x *run) end(ctx context.Context, c *kgo.Client, topic string, isolation int8) (int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.IsolationLevel = -1, isolation
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Timestamp, p.CurrentLeaderEpoch = -1, -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return 0, fmt.Errorf("ask where %s ends: %w", topic, err)
	}
	if len(resp.Topics) == 0 || len(resp.Topics[0].Partitions) == 0 {
		return 0, fmt.Errorf("ask where %s ends: the broker's answer is empty", topic)
	}
	is := resp.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(is.ErrorCode); err != nil {
		return 0, fmt.Errorf("ask where %s ends: %w", topic, err)
	}
	return is.Offset, nil
}

// arriveWithin is how long is waited for what a producer without acks has sent.
const arriveWithin = 5 * time.Second

// arrive waits until the log has all that was sent: the producer has ended without an answer, and the broker may have
// requests before it that it has not read. What has not come in time is lost, and counted as such.
func (x *run) arrive(ctx context.Context) error {
	want := x.n
	if x.fault == model.LostRequest || x.fault == model.KilledProducer {
		want -= x.chunk
	}
	c, err := x.client(nil, "reader")
	if err != nil {
		return err
	}
	defer c.Close()
	late := time.NewTimer(arriveWithin)
	defer late.Stop()
	for {
		end, err := x.end(ctx, c, x.topic, 0)
		if err != nil || end >= int64(want) {
			return err
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-late.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// count finds out what became of the records.
func (x *run) count(ctx context.Context, res *model.DeliveryResult) error {
	log, err := x.read(ctx, x.topic, 0)
	if err != nil {
		return err
	}
	res.InLog = len(log)
	worked := x.worked
	if x.mode == model.ExactlyOnce {
		records, err := x.read(ctx, x.out, 0)
		if err != nil {
			return err
		}
		if worked, err = numbers(records); err != nil {
			return err
		}
	}
	res.Worked = len(worked)
	times := make([]int, x.n)
	for _, n := range worked {
		if n < 0 || n >= x.n {
			return fmt.Errorf("record %d was never sent", n)
		}
		times[n]++
	}
	for n, k := range times {
		switch {
		case k == 0:
			res.Lost = append(res.Lost, n)
		case k > 1:
			res.Doubled = append(res.Doubled, n)
		}
	}
	return nil
}
