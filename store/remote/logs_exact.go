package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/strata-kafka/strata/model"
)

// maxExact is of how many partitions counts are remembered.
const maxExact = 20_000

// exactRun is a run of offsets whose data records were counted because somebody asked for it.
type exactRun struct {
	id       [16]byte // of the topic
	from, to int64
	n        int64
}

// CountLag implements model.LagCounter.
func (c *Cluster) CountLag(ctx context.Context, group string) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	g, err := c.groups.Group(ctx, group)
	if err != nil {
		return err
	}
	var errs []error
	for i := range g.Offsets {
		r := &g.Offsets[i]
		if r.Lag.State != model.CountEstimate || r.Committed < 0 {
			continue
		}
		m, _, err := c.find(ctx, r.TopicPartition)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		k := exactRun{id: m.id, from: max(r.Committed, r.LogStart), to: r.LogEnd}
		if k.n, err = c.countRun(ctx, r.TopicPartition, k.from, k.to); err != nil {
			errs = append(errs, fmt.Errorf("count records of %s: %w", r.TopicPartition, err))
		} else {
			c.remember(r.TopicPartition, k)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	c.out.tell(&pending{groups: true})
	return errors.Join(errs...)
}

func (c *Cluster) remember(tp model.TopicPartition, k exactRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.exact == nil || len(c.exact) >= maxExact {
		c.exact = map[model.TopicPartition]exactRun{}
	}
	c.exact[tp] = k
}

// remembered counts the data records of [from, to) by a run that was counted, where the two differ by little at both ends.
func (c *Cluster) remembered(ctx context.Context, tp model.TopicPartition, from, to int64) (n int64, ok bool, err error) {
	c.mu.Lock()
	k, have := c.exact[tp]
	m := c.table.topics[tp.Topic]
	c.mu.Unlock()
	if !have || m == nil || m.id != k.id || near(from, k.from) > countOffsets || near(to, k.to) > countOffsets {
		return 0, false, nil
	}
	head, err := c.signedRun(ctx, tp, from, k.from)
	if err != nil {
		return 0, false, err
	}
	tail, err := c.signedRun(ctx, tp, k.to, to)
	if err != nil {
		return 0, false, err
	}
	n = k.n + head + tail
	c.remember(tp, exactRun{k.id, from, to, n})
	return n, true, nil
}

func near(a, b int64) int64 { return max(a-b, b-a) }

// signedRun counts [from, to), or where to lies below, the other way round as a negative number.
func (c *Cluster) signedRun(ctx context.Context, tp model.TopicPartition, from, to int64) (int64, error) {
	if from <= to {
		return c.countRun(ctx, tp, from, to)
	}
	n, err := c.countRun(ctx, tp, to, from)
	return -n, err
}
