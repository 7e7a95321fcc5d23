package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/strata-kafka/strata/model"
)

// consumer is a member that reads what its group assigns to it, at most perSecond records of it, and commits what it has
// read.
type consumer struct {
	group, client, topic string
	perSecond            int // 0 means as many as there are
}

// crew is who reads what. billing shares orders between two members, as a queue does.
func crew() []consumer {
	return []consumer{
		{group: "billing", client: "billing-1", topic: topicOrders},
		{group: "billing", client: "billing-2", topic: topicOrders},
		{group: "search", client: "search-1", topic: topicClicks, perSecond: 60},
	}
}

const (
	pollEvery  = 250 * time.Millisecond
	pollMax    = 5000
	stoppedAt  = 700 // how far reports has come in each partition of payments
	stoppedFor = "reports"
)

func (d *Demo) consumers(ctx context.Context, r Reader, join func(string, string, []string) (Member, error), fresh bool) error {
	if fresh {
		if err := d.stopped(ctx, join); err != nil {
			return err
		}
	}
	for _, c := range crew() {
		m, err := join(c.group, c.client, []string{c.topic})
		if err != nil {
			return fmt.Errorf("join group %s: %w", c.group, err)
		}
		d.wg.Go(func() { d.consume(ctx, r, c, m) })
	}
	return nil
}

// stopped leaves behind a group that has read a part and gone.
func (d *Demo) stopped(ctx context.Context, join func(string, string, []string) (Member, error)) error {
	m, err := join(stoppedFor, "reports-1", []string{topicPayments})
	if err != nil {
		return fmt.Errorf("join group %s: %w", stoppedFor, err)
	}
	var cs []model.Commit
	for p := range int32(2) {
		tp := model.TopicPartition{Topic: topicPayments, Partition: p}
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
	var mine []model.TopicPartition
	at := map[model.TopicPartition]int64{}
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
		if now := m.Assignment(); !slices.Equal(now, mine) {
			// Another member may have read on meanwhile.
			committed, err := m.Committed(ctx)
			if err != nil {
				d.fail(ctx, err)
				continue
			}
			mine = now
			clear(at)
			for _, c := range committed {
				at[c.TopicPartition] = c.Offset
			}
		}
		budget := pollMax * len(mine)
		if c.perSecond > 0 {
			budget = int(float64(c.perSecond) * pollEvery.Seconds())
		}
		cs := d.poll(ctx, r, mine, at, budget)
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
