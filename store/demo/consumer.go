package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/strata-kafka/strata/model"
)

// consumer is a member that reads its partitions, at most perSecond records of them, and commits what it has read.
type consumer struct {
	group, client string
	tps           []model.TopicPartition
	perSecond     int // 0 means as many as there are
}

func partitions(topic string, ids ...int32) []model.TopicPartition {
	tps := make([]model.TopicPartition, 0, len(ids))
	for _, id := range ids {
		tps = append(tps, model.TopicPartition{Topic: topic, Partition: id})
	}
	return tps
}

// crew is who reads what. billing shares orders between two members, as a queue does.
func crew() []consumer {
	return []consumer{
		{group: "billing", client: "billing-1", tps: partitions(topicOrders, 0, 1)},
		{group: "billing", client: "billing-2", tps: partitions(topicOrders, 2)},
		{group: "search", client: "search-1", tps: partitions(topicClicks, 0, 1, 2, 3), perSecond: 60},
	}
}

const (
	pollEvery  = 250 * time.Millisecond
	pollMax    = 5000
	stoppedAt  = 700 // how far reports has come in each partition of payments
	stoppedFor = "reports"
)

func (d *Demo) consumers(ctx context.Context, r Reader, join func(string, string, []model.TopicPartition) (Member, error), fresh bool) error {
	if fresh {
		if err := d.stopped(ctx, join); err != nil {
			return err
		}
	}
	for _, c := range crew() {
		m, err := join(c.group, c.client, c.tps)
		if err != nil {
			return fmt.Errorf("join group %s: %w", c.group, err)
		}
		d.wg.Go(func() { d.consume(ctx, r, c, m) })
	}
	return nil
}

// stopped leaves behind a group that has read a part and gone.
func (d *Demo) stopped(ctx context.Context, join func(string, string, []model.TopicPartition) (Member, error)) error {
	tps := partitions(topicPayments, 0, 1)
	m, err := join(stoppedFor, "reports-1", tps)
	if err != nil {
		return fmt.Errorf("join group %s: %w", stoppedFor, err)
	}
	cs := make([]model.Commit, 0, len(tps))
	for _, tp := range tps {
		cs = append(cs, model.Commit{TopicPartition: tp, Offset: stoppedAt, LeaderEpoch: -1, Metadata: "nightly run"})
	}
	if err := m.Commit(ctx, cs); err != nil {
		return err
	}
	return m.Leave()
}

// consume reads and commits until ctx ends, then leaves its group.
func (d *Demo) consume(ctx context.Context, r Reader, c consumer, m Member) {
	defer func() { d.fail(context.Background(), m.Leave()) }()
	at := make(map[model.TopicPartition]int64, len(c.tps))
	t := time.NewTicker(pollEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if d.paused.Load() {
			continue
		}
		budget := pollMax * len(c.tps)
		if c.perSecond > 0 {
			budget = int(float64(c.perSecond) * pollEvery.Seconds())
		}
		cs := d.poll(ctx, r, c.tps, at, budget)
		if len(cs) > 0 {
			d.fail(ctx, m.Commit(ctx, cs))
		}
	}
}

// poll reads a share of the budget from each partition and returns what is to be committed.
func (d *Demo) poll(ctx context.Context, r Reader, tps []model.TopicPartition, at map[model.TopicPartition]int64, budget int) []model.Commit {
	var cs []model.Commit
	for _, tp := range tps {
		from, seen := at[tp]
		if !seen {
			from = model.FromStart
		}
		// Values are cut: the consumer only counts them.
		page, err := r.Records(ctx, model.RecordQuery{TP: tp, From: from, Max: max(1, budget/len(tps)), ValueLimit: 64})
		if err != nil {
			d.fail(ctx, fmt.Errorf("read %s: %w", tp, err))
			continue
		}
		if seen && page.Next == from {
			continue
		}
		at[tp] = page.Next
		cs = append(cs, model.Commit{TopicPartition: tp, Offset: page.Next, LeaderEpoch: lastEpoch(page.Records)})
	}
	return cs
}

func lastEpoch(rs []model.Record) int32 {
	if len(rs) == 0 {
		return -1
	}
	return rs[len(rs)-1].LeaderEpoch
}
