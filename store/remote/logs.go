package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// countOffsets is up to how many offsets are read to be counted where nobody has asked for it: what is more is an estimate.
const countOffsets = 50_000

// ledger is a Cluster as the logs that lags are counted in (groups.Logs).
type ledger struct{ c *Cluster }

// Bounds implements groups.Logs.
func (l ledger) Bounds(ctx context.Context, tp model.TopicPartition) (start, end int64, err error) {
	c := l.c
	c.mu.Lock()
	m := c.table.topics[tp.Topic]
	c.mu.Unlock()
	if m == nil { // said without the names that resemble it: nobody has mistyped
		return model.Unknown, model.Unknown, fmt.Errorf("%w: %q", model.ErrNoTopic, tp.Topic)
	}
	e, ok := c.fresh(tp)
	if !ok || e.start < 0 && e.err == nil {
		if e, err = c.endsNow(ctx, tp); err != nil {
			return model.Unknown, model.Unknown, err
		}
	}
	return e.start, e.hw, e.err
}

// Prepare asks for the bounds of many partitions in one go; the asking for each that follows finds them.
func (l ledger) Prepare(ctx context.Context, tps []model.TopicPartition) {
	t := l.c.current()
	known := make([]model.TopicPartition, 0, len(tps))
	for _, tp := range tps {
		if m := t.topics[tp.Topic]; m != nil && m.part(tp.Partition) != nil {
			known = append(known, tp)
		}
	}
	if len(known) == 0 {
		return
	}
	ctx, done := l.c.within(ctx, min(patience, l.c.o.Timeout))
	defer done()
	l.c.measure(ctx, known)
}

// CountBetween implements groups.Logs. It counts where that is cheap, and estimates where it is not.
func (l ledger) CountBetween(ctx context.Context, tp model.TopicPartition, from, to int64) (model.Count, error) {
	switch {
	case from >= to:
		return model.Exactly(0), nil
	case to-from > countOffsets:
		if n, ok, err := l.c.remembered(ctx, tp, from, to); err != nil || ok {
			return model.Exactly(n), err
		}
		return model.About(to - from), nil
	}
	n, err := l.c.countRun(ctx, tp, from, to)
	if err != nil {
		return model.About(to - from), err
	}
	return model.Exactly(n), nil
}

// AtTime implements groups.Logs.
func (l ledger) AtTime(ctx context.Context, tp model.TopicPartition, ms int64) (offset int64, found bool, err error) {
	if _, _, err := l.c.find(ctx, tp); err != nil {
		return model.Unknown, false, err
	}
	p := l.c.list(ctx, []model.TopicPartition{tp}, max(ms, 0), 0)[tp]
	return p.offset, p.offset >= 0, p.err
}

// FirstRecord implements groups.Logs.
func (l ledger) FirstRecord(ctx context.Context, tp model.TopicPartition, from int64) (*model.Record, error) {
	page, err := l.c.Records(ctx, model.RecordQuery{TP: tp, From: from, Max: 1})
	if err != nil || len(page.Records) == 0 {
		return nil, err
	}
	return &page.Records[0], nil
}

// PartitionIDs implements groups.Logs.
func (l ledger) PartitionIDs(ctx context.Context, topic string) ([]int32, error) {
	m, err := l.c.topic(ctx, topic)
	if err != nil {
		return nil, err
	}
	ids := make([]int32, 0, len(m.parts))
	for i := range m.parts {
		ids = append(ids, m.parts[i].n)
	}
	return ids, nil
}

// Topics lists the topics, so that a name that was mistyped is told from what is near.
func (l ledger) Topics(ctx context.Context) ([]model.Topic, error) { return l.c.Topics(ctx) }

// countRun counts the data records of [from, to), by the headers of batches where these lie inside.
func (c *Cluster) countRun(ctx context.Context, tp model.TopicPartition, from, to int64) (int64, error) {
	cl, err := c.bulk()
	if err != nil {
		return 0, err
	}
	n := int64(0)
	s := c.stream(ctx, cl, []run{{tp: tp, from: from, to: to}})
	defer s.stop()
	for {
		k, ok := s.next()
		if !ok {
			return n, s.failed(ctx)
		}
		if errors.Is(k.err, model.ErrOutOfRange) {
			continue // deleted meanwhile
		}
		if k.err != nil {
			return n, k.err
		}
		for _, b := range k.batches {
			more, err := countBatch(b, from, to)
			if err != nil {
				return n, fmt.Errorf("count records of %s: %w", tp, err)
			}
			n += more
		}
	}
}

// countBatch counts the data records of a batch within [from, to).
func countBatch(b []byte, from, to int64) (int64, error) {
	h, err := record.ParseHeader(b)
	switch {
	case err != nil:
		return 0, err
	case h.Control():
		return 0, nil
	case !h.Legacy() && h.BaseOffset >= from && h.LastOffset() < to:
		return int64(h.Count), nil
	}
	rd := record.Borrow()
	defer rd.Return()
	if err := rd.Reset(b); err != nil {
		return 0, err
	}
	n := int64(0)
	for rd.Next() {
		if o := rd.Record().Offset; o >= from && o < to {
			n++
		}
	}
	return n, rd.Err()
}

// fresh returns offsets that were measured just now.
func (c *Cluster) fresh(tp model.TopicPartition) (ends, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.seen[tp]
	return e, ok && sinceFresh(e.at)
}

// Count implements model.Counter: it reads the headers of all batches of the topics, which the cluster has to send whole.
func (c *Cluster) Count(ctx context.Context, topics []string) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	if topics == nil {
		topics = c.current().names()
	}
	var errs []error
	for _, name := range topics {
		m, err := c.topic(ctx, name)
		if err != nil {
			return err
		}
		c.fillIn(ctx, []*topicMeta{m})
		for i := range m.parts {
			if err := c.countPart(ctx, model.TopicPartition{Topic: name, Partition: m.parts[i].n}); err != nil {
				errs = append(errs, err)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return errors.Join(errs...)
}

func (c *Cluster) countPart(ctx context.Context, tp model.TopicPartition) error {
	c.mu.Lock()
	e, ok := c.seen[tp]
	c.mu.Unlock()
	if ok && e.err != nil {
		return fmt.Errorf("%s: %w", tp, e.err)
	}
	if k := e.count(); k.State == model.CountExact {
		return nil
	}
	from, before := e.start, int64(0)
	if k := e.counted; k.ok && k.start == e.start && k.end <= e.hw {
		from, before = k.end, k.n // what has come since
	}
	n, err := c.countRun(ctx, tp, from, e.hw)
	if err != nil {
		return err
	}
	c.mu.Lock()
	now := c.seen[tp]
	now.counted = tally{true, before + n, e.start, e.hw}
	c.seen[tp] = now
	c.mu.Unlock()
	p := pending{topics: true}
	p.touch(tp)
	c.out.tell(&p)
	return nil
}
