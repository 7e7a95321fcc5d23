package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
)

// producerKind is what a kgo client can be told once only.
type producerKind struct {
	codec       string
	acks        int
	partitioner string
	large       bool // batches may be as large as a request; else as large as topics take by default
}

// largeRecord is the size from which a record is sent in a batch of its own, bytes: a client splits no batch that a topic
// does not take, and few topics take more than their default.
const largeRecord = 900_000

// Produce appends records, those of one partition in the order they are given, and returns where each went, in the order of
// the request. When one fails, others may be written all the same; the records that were not have the offset Unknown.
// Errors wrap ErrNoTopic, ErrNoPartition, ErrInvalid and ErrRefused.
func (c *Client) Produce(ctx context.Context, r model.ProduceRequest) ([]model.Produced, error) {
	if err := c.writing("produce to " + r.Topic); err != nil {
		return nil, err
	}
	ctx, done := c.bound(ctx)
	defer done()
	fail := func(err error) error { return fmt.Errorf("produce to %s: %w", r.Topic, err) }
	recs, kind := records(&r)
	cl, err := c.producer(kind)
	if err != nil {
		return nil, fail(err)
	}
	if err := c.named(ctx, &r); err != nil {
		return nil, fail(err)
	}
	errs := send(ctx, cl, recs, kind.large)
	if again := anew(recs, errs); len(again) > 0 {
		cl.PurgeTopicsFromProducing(r.Topic)
		for _, rec := range again {
			delete(errs, rec)
		}
		maps.Copy(errs, send(ctx, cl, again, kind.large))
	}
	out := make([]model.Produced, len(recs))
	for i, rec := range recs {
		out[i] = model.Produced{Partition: rec.Partition, Offset: model.Unknown, Timestamp: rec.Timestamp.UnixMilli()}
		if rerr := errs[rec]; rerr != nil {
			if err == nil || !errors.Is(err, rerr) {
				err = errors.Join(err, rerr)
			}
		} else if r.Acks != 0 {
			out[i].Offset = rec.Offset
		}
	}
	if err != nil {
		return out, fail(c.unproduced(ctx, err, r.Topic))
	}
	return out, nil
}

// records makes the client's records, and says what kind of client sends them.
func records(r *model.ProduceRequest) ([]*kgo.Record, producerKind) {
	kind := producerKind{codec: r.Codec, acks: r.Acks, partitioner: r.Partitioner}
	now := time.Now()
	recs := make([]*kgo.Record, len(r.Records))
	for i := range r.Records {
		in := &r.Records[i]
		rec := &kgo.Record{Topic: r.Topic, Partition: in.Partition, Key: in.Key, Value: in.Value, Timestamp: now}
		if in.Timestamp != 0 {
			rec.Timestamp = time.UnixMilli(in.Timestamp)
		}
		size := len(in.Key) + len(in.Value)
		for _, h := range in.Headers {
			rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Name, Value: h.Value})
			size += len(h.Name) + len(h.Value)
		}
		kind.large = kind.large || size >= largeRecord
		recs[i] = rec
	}
	return recs, kind
}

// anew returns the records that were not taken because their topic was made anew since the client looked for it.
func anew(recs []*kgo.Record, errs map[*kgo.Record]error) []*kgo.Record {
	var out []*kgo.Record
	for _, rec := range recs {
		if errors.Is(errs[rec], kerr.UnknownTopicID) {
			out = append(out, rec)
		}
	}
	return out
}

// send sends records, large ones one by one, and returns what went wrong with which.
func send(ctx context.Context, cl *kgo.Client, recs []*kgo.Record, large bool) map[*kgo.Record]error {
	errs := map[*kgo.Record]error{}
	step := len(recs)
	if large {
		step = 1
	}
	for ; len(recs) > 0; recs = recs[min(step, len(recs)):] {
		for _, res := range cl.ProduceSync(ctx, recs[:min(step, len(recs))]...) {
			if res.Err != nil {
				errs[res.Record] = res.Err
			}
		}
	}
	return errs
}

// named looks whether the partitions are there that records name.
func (c *Client) named(ctx context.Context, r *model.ProduceRequest) error {
	most := int32(-1)
	for i := range r.Records {
		most = max(most, r.Records[i].Partition)
	}
	if most < 0 {
		return nil
	}
	m, err := c.admin.Metadata(ctx, r.Topic)
	if err != nil {
		return c.why(ctx, err)
	}
	t := m.Topics[r.Topic]
	if t.Err != nil {
		return c.why(ctx, c.nearest(ctx, t.Err, r.Topic, -1))
	}
	if n := len(t.Partitions); int(most) >= n {
		return fmt.Errorf("%w: %s/%d; %s has 0 to %d", model.ErrNoPartition, r.Topic, most, r.Topic, n-1)
	}
	return nil
}

// unproduced puts the errors of a produce into words.
func (c *Client) unproduced(ctx context.Context, err error, topic string) error {
	switch {
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return c.why(ctx, c.nearest(ctx, err, topic, -1))
	case errors.Is(err, kgo.ErrRecordRetries) && ctx.Err() == nil:
		return fmt.Errorf("tried again and again: %w", err)
	}
	return c.why(ctx, err)
}

// producer returns the client for a kind of producing.
func (c *Client) producer(k producerKind) (*kgo.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, model.ErrClosed
	}
	if p := c.producers[k]; p != nil {
		return p, nil
	}
	opts := append(c.base(), kgo.AllowIdempotentProduceCancellation(), kgo.UnknownTopicRetries(1), kgo.RecordRetries(8), kgo.ProducerLinger(0))
	if k.large {
		opts = append(opts, kgo.ProducerBatchMaxBytes(100<<20))
	}
	codec, ok := map[string]kgo.CompressionCodec{
		"": kgo.NoCompression(), "none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}[k.codec]
	if !ok {
		return nil, fmt.Errorf("%w codec %q: want none, gzip, snappy, lz4 or zstd", model.ErrInvalid, k.codec)
	}
	opts = append(opts, kgo.ProducerBatchCompression(codec))
	switch k.acks {
	case 0:
		opts = append(opts, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	case 1:
		opts = append(opts, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite())
	case -1:
		opts = append(opts, kgo.RequiredAcks(kgo.AllISRAcks()))
	default:
		return nil, fmt.Errorf("%w acks %d: want 0, 1 or -1 (all)", model.ErrInvalid, k.acks)
	}
	p, err := partitioner(k.partitioner)
	if err != nil {
		return nil, err
	}
	cl, err := kgo.NewClient(append(opts, kgo.RecordPartitioner(p))...)
	if err != nil {
		return nil, err
	}
	c.producers[k] = cl
	return cl, nil
}

// chosen is a partitioner that leaves records alone which say themselves where they go.
type chosen struct{ kgo.Partitioner }

func partitioner(name string) (kgo.Partitioner, error) {
	switch name {
	case "", "default":
		return chosen{kgo.StickyKeyPartitioner(nil)}, nil
	case "roundrobin":
		return chosen{kgo.RoundRobinPartitioner()}, nil
	case "random":
		return chosen{kgo.BasicConsistentPartitioner(func(string) func(*kgo.Record, int) int {
			return func(_ *kgo.Record, n int) int { return rand.IntN(n) }
		})}, nil
	}
	return nil, fmt.Errorf("%w partitioner %q: want default, roundrobin or random", model.ErrInvalid, name)
}

// ForTopic implements kgo.Partitioner.
func (c chosen) ForTopic(topic string) kgo.TopicPartitioner {
	return chosenOf{c.Partitioner.ForTopic(topic)}
}

type chosenOf struct{ kgo.TopicPartitioner }

// OnNewBatch implements kgo.TopicPartitionerOnNewBatch: the sticky partitioner goes on to another partition then.
func (c chosenOf) OnNewBatch() {
	if p, ok := c.TopicPartitioner.(kgo.TopicPartitionerOnNewBatch); ok {
		p.OnNewBatch()
	}
}

// RequiresConsistency implements kgo.TopicPartitioner: who names a partition means that one, whether it can be written
// now or not.
func (c chosenOf) RequiresConsistency(r *kgo.Record) bool {
	return r.Partition >= 0 || c.TopicPartitioner.RequiresConsistency(r)
}

// Partition implements kgo.TopicPartitioner.
func (c chosenOf) Partition(r *kgo.Record, n int) int {
	if r.Partition >= 0 {
		return int(r.Partition)
	}
	return c.TopicPartitioner.Partition(r, n)
}
