package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

const (
	maxChunk   = 100 << 20 // bytes: what the largest batch is given
	moves      = 3         // times that a leader is looked for anew
	afterMoved = 100 * time.Millisecond
)

// fetchRequest asks for no more than version 12 where a topic's id is not known: from 13 on topics have no names.
type fetchRequest struct {
	kmsg.FetchRequest
	named bool
}

// MaxVersion implements kmsg.Request.
func (r *fetchRequest) MaxVersion() int16 {
	if r.named {
		return 12
	}
	return r.FetchRequest.MaxVersion()
}

// chunk is a run of whole batches of one partition.
//
// Invariants: next > from where batches is not empty; every batch is at least record.PrefixSize bytes.
type chunk struct {
	batches        [][]byte
	from, next     int64 // next is behind the last batch
	start, hw, lso int64
	stable         bool // the records lie below the last stable offset, and aborted tells those that were aborted
	aborted        []kmsg.FetchResponseTopicPartitionAbortedTransaction
	bytes          int
}

// fetch reads a chunk from an offset on: what is stable, or where from is behind that, what is not. Where nothing lies behind
// from the chunk is empty. It looks for a leader that has moved. Errors: ErrOutOfRange, ErrNoTopic, ErrNoPartition.
func (c *Cluster) fetch(ctx context.Context, cl *kgo.Client, tp model.TopicPartition, from int64, size int) (chunk, error) {
	isolation := int8(1)
	for try := 0; ; try++ {
		m, p, err := c.find(ctx, tp)
		if err != nil {
			return chunk{}, err
		}
		var k chunk
		if p.leader < 0 {
			err = answer(kerr.LeaderNotAvailable, "")
		} else {
			k, err = c.fetchOnce(ctx, cl, m, p, from, size, isolation)
		}
		switch {
		case err == nil && len(k.batches) == 0 && isolation == 1 && k.lso >= 0 && from >= k.lso && from < k.hw:
			isolation = 0
			try--
			continue
		case err == nil || errors.Is(err, model.ErrOutOfRange) || ctx.Err() != nil:
			return k, err
		case errors.Is(err, errTooSmall) && size < maxChunk:
			size = min(4*size, maxChunk)
			try--
			continue
		case try == moves || !moved(err) && try > 0:
			return k, fmt.Errorf("read %s at %d: %w", tp, from, err)
		}
		if err := c.pause(ctx, afterMoved<<try); err != nil {
			return k, err
		}
		if rerr := c.refresh(ctx); rerr != nil {
			return k, fmt.Errorf("read %s at %d: %w", tp, from, errors.Join(err, rerr))
		}
	}
}

// pause waits.
func (c *Cluster) pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ctx.Done():
		return model.ErrClosed
	case <-t.C:
		return nil
	}
}

// errTooSmall says that not even one batch has come whole, as brokers before 0.10.1 send them.
var errTooSmall = errors.New("the answer holds no whole batch")

func (c *Cluster) fetchOnce(ctx context.Context, cl *kgo.Client, m *topicMeta, p *partMeta, from int64, size int, isolation int8) (chunk, error) {
	req := &fetchRequest{FetchRequest: kmsg.NewFetchRequest(), named: m.id == [16]byte{}}
	req.MaxBytes, req.IsolationLevel = int32(size), isolation
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic, rt.TopicID = m.name, m.id
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = p.n, from, int32(size)
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	kresp, err := c.ask(ctx, cl, p.leader, req)
	if err != nil {
		return chunk{}, fmt.Errorf("broker %d: %w", p.leader, err)
	}
	resp := kresp.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return chunk{}, answer(err, "")
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return chunk{}, errors.New("the broker left the partition out of its answer")
	}
	in := &resp.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(in.ErrorCode); err != nil {
		return chunk{}, answer(err, "")
	}
	k := chunk{from: from, next: from, start: in.LogStartOffset, hw: in.HighWatermark, lso: in.LastStableOffset,
		stable: isolation == 1, aborted: in.AbortedTransactions}
	return k, k.split(in.RecordBatches)
}

// split parts what came into batches. The last one may have come in part.
func (k *chunk) split(b []byte) error {
	for len(b) >= record.PrefixSize {
		size, _, err := record.PeekSize(b)
		if err != nil {
			if len(k.batches) > 0 {
				return nil // what can be read is given; the next chunk begins with this
			}
			return fmt.Errorf("batch after offset %d: %w", k.next, err)
		}
		if size > int64(len(b)) {
			break
		}
		batch := b[:size:size]
		h, err := record.ParseHeader(batch)
		if err != nil {
			return fmt.Errorf("batch after offset %d: %w", k.next, err)
		}
		b = b[size:]
		if h.LastOffset() < k.from {
			continue // a compressed batch of old, or one that reaches not far enough
		}
		k.batches = append(k.batches, batch)
		k.bytes += len(batch)
		k.next = max(k.next, h.NextOffset())
	}
	if len(k.batches) == 0 && len(b) > 0 {
		return errTooSmall
	}
	return nil
}
