package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

const (
	scanChunk = 4 << 20 // bytes that are asked for at a time
	// idleScans is after how many answers without a batch, below the last stable offset, nothing more is expected: what lay
	// there was compacted away.
	idleScans = 3
)

// ScanBounds implements model.BatchScanner.
func (c *Cluster) ScanBounds(ctx context.Context, tp model.TopicPartition) (start, stable int64, err error) {
	if err := c.begin(ctx); err != nil {
		return model.Unknown, model.Unknown, err
	}
	e, err := c.endsNow(ctx, tp)
	return e.start, max(e.lso, e.start), err
}

// TopicBounds returns what ScanBounds returns, of so many partitions of a topic from 0 on, by three requests to each leader.
func (c *Cluster) TopicBounds(ctx context.Context, topic string, partitions int) (starts, stables []int64, err error) {
	if err := c.begin(ctx); err != nil {
		return nil, nil, err
	}
	tps := make([]model.TopicPartition, partitions)
	for i := range tps {
		tps[i] = model.TopicPartition{Topic: topic, Partition: int32(i)}
		if _, _, err := c.find(ctx, tps[i]); err != nil {
			return nil, nil, err
		}
	}
	ctx, done := c.bound(ctx)
	defer done()
	got := c.measure(ctx, tps)
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("offsets of %s: %w", topic, c.why(ctx, err))
	}
	for _, tp := range tps {
		e := got[tp]
		if e.err != nil {
			return nil, nil, fmt.Errorf("offsets of %s: %w", tp, e.err)
		}
		starts, stables = append(starts, e.start), append(stables, max(e.lso, e.start))
	}
	return starts, stables, nil
}

// scanned is what the reader ahead has for ScanBatches.
type scanned struct {
	k   chunk
	err error
}

// ScanBatches implements model.BatchScanner. One answer is read ahead.
func (c *Cluster) ScanBatches(ctx context.Context, q model.ScanQuery, fn func(model.RawBatch) error) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	cl, err := c.bulk()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	chunks := make(chan scanned, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(chunks)
		c.scanAhead(ctx, cl, q, chunks)
	})
	defer wg.Wait()
	defer stop()
	for s := range chunks {
		if s.err != nil {
			return s.err
		}
		if err := s.k.each(q, fn); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// scanAhead reads chunk after chunk.
func (c *Cluster) scanAhead(ctx context.Context, cl *kgo.Client, q model.ScanQuery, out chan<- scanned) {
	give := func(s scanned) bool {
		select {
		case out <- s:
			return s.err == nil
		case <-ctx.Done():
			return false
		}
	}
	idle := 0
	for at := q.From; at < q.To; {
		k, err := c.fetch(ctx, cl, q.TP, at, scanChunk)
		switch {
		case errors.Is(err, model.ErrOutOfRange):
			e, berr := c.endsNow(ctx, q.TP)
			if berr == nil && e.start > at { // what was here has been deleted
				at = e.start
				continue
			}
			give(scanned{err: errors.Join(err, berr)})
			return
		case err != nil:
			give(scanned{err: err})
			return
		case len(k.batches) == 0:
			if idle++; idle == idleScans || k.lso >= 0 && at >= k.lso {
				return
			}
			continue
		}
		idle, at = 0, k.next
		if !give(scanned{k: k}) {
			return
		}
	}
}

// each gives fn the batches of a chunk.
func (k *chunk) each(q model.ScanQuery, fn func(model.RawBatch) error) error {
	aborts := map[int64]bool{} // producers whose transaction is one that was aborted
	left := slices.Clone(k.aborted)
	slices.SortFunc(left, func(a, b kmsg.FetchResponseTopicPartitionAbortedTransaction) int {
		return cmp.Compare(a.FirstOffset, b.FirstOffset)
	})
	for _, b := range k.batches {
		h, err := record.ParseHeader(b)
		if err != nil {
			return err
		}
		if h.BaseOffset >= q.To && !h.Legacy() {
			return nil
		}
		for len(left) > 0 && left[0].FirstOffset <= h.LastOffset() {
			aborts[left[0].ProducerID] = true
			left = left[1:]
		}
		if stored, computed := record.Checksum(b); stored != computed {
			if q.Fault != nil {
				q.Fault(model.Fault{TP: q.TP, Position: model.Unknown, Offset: h.BaseOffset, Kind: "crc", Severity: model.SevDamage,
					What: fmt.Sprintf("the checksum is %08x, and that of its bytes %08x", stored, computed)})
			}
			continue
		}
		aborted := h.Transactional() && aborts[h.ProducerID]
		if h.Control() {
			delete(aborts, h.ProducerID)
		}
		if err := fn(model.RawBatch{Bytes: b, Aborted: aborted && !h.Control()}); err != nil {
			return err
		}
	}
	return nil
}

// NewProducer implements model.BatchSender.
func (c *Cluster) NewProducer(ctx context.Context) (id int64, epoch int16, err error) {
	if err := c.writing("produce"); err != nil {
		return -1, -1, err
	}
	ctx, done := c.bound(ctx)
	defer done()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionTimeoutMillis = int32(c.o.Timeout.Milliseconds())
	resp, err := req.RequestWith(ctx, c.kgo)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		return -1, -1, fmt.Errorf("get a producer's id: %w", c.why(ctx, err))
	}
	return resp.ProducerID, resp.ProducerEpoch, nil
}

// TopicID returns a topic's id; "" from brokers that give none. ErrNoTopic.
func (c *Cluster) TopicID(ctx context.Context, topic string) (string, error) {
	m, err := c.topic(ctx, topic)
	if err != nil {
		return "", err
	}
	return m.idText(), nil
}

// CheckTopic says which configs a topic would have, and makes none. Brokers
// before 2.4 do not tell. ErrExists, ErrInvalid.
func (c *Cluster) CheckTopic(ctx context.Context, s model.TopicSpec) ([]model.ConfigEntry, error) {
	ctx, done := c.bound(ctx)
	defer done()
	configs := map[string]*string{}
	for i := range s.Configs {
		configs[s.Configs[i].Name] = &s.Configs[i].Value
	}
	rs, err := c.admin.ValidateCreateTopics(ctx, max(s.Partitions, -1), -1, configs, s.Name)
	r := rs[s.Name]
	if err = errors.Join(err, r.Err); err != nil {
		return nil, c.told(ctx, err, r.ErrMessage)
	}
	var out []model.ConfigEntry
	for name, k := range r.Configs {
		if k.Value != nil {
			out = append(out, model.ConfigEntry{Name: name, Value: *k.Value})
		}
	}
	slices.SortFunc(out, func(a, b model.ConfigEntry) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
