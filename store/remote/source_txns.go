package remote

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/strata-kafka/strata/model"
)

// describeTxns is how many transactions are asked for in one go.
const describeTxns = 500

// Transactions implements model.TransactionReader. A transaction that may be listed and not described has what the list
// says.
func (c *Cluster) Transactions(ctx context.Context) ([]model.Transaction, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	c.watch.asked(&c.watch.txns)
	defer c.watch.costs(time.Now())
	ctx, done := c.bound(ctx)
	defer done()
	listed, err := c.admin.ListTransactions(ctx, nil, nil)
	if err != nil && len(listed) == 0 {
		return nil, fmt.Errorf("list transactions: %w", c.why(ctx, err))
	}
	ids := make([]string, 0, len(listed))
	for id := range listed {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	out := make([]model.Transaction, 0, len(ids))
	for chunk := range slices.Chunk(ids, describeTxns) {
		ds, err := c.admin.DescribeTransactions(ctx, chunk...)
		if err != nil && ctx.Err() != nil {
			return nil, fmt.Errorf("describe transactions: %w", c.why(ctx, err))
		}
		for _, id := range chunk {
			l := listed[id]
			t := model.Transaction{ID: id, ProducerID: l.ProducerID, Epoch: -1, State: model.TransactionState(l.State), Started: model.NoTime, Updated: model.NoTime}
			if d, ok := ds[id]; ok && d.Err == nil {
				describe(&t, &d)
			}
			out = append(out, t)
		}
	}
	return out, nil
}

func describe(t *model.Transaction, d *kadm.DescribedTransaction) {
	t.ProducerID, t.Epoch, t.State, t.Timeout = d.ProducerID, d.ProducerEpoch, model.TransactionState(d.State), int64(d.TimeoutMillis)
	if t.State.Open() && d.StartTimestamp > 0 {
		t.Started = d.StartTimestamp
	}
	for topic, ps := range d.Topics {
		for p := range ps {
			t.Partitions = append(t.Partitions, model.TopicPartition{Topic: topic, Partition: p})
		}
	}
	slices.SortFunc(t.Partitions, model.TopicPartition.Compare)
}

// Producers implements model.TransactionReader.
func (c *Cluster) Producers(ctx context.Context, tp model.TopicPartition) ([]model.ProducerState, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	if _, _, err := c.find(ctx, tp); err != nil {
		return nil, err
	}
	ctx, done := c.bound(ctx)
	defer done()
	var set kadm.TopicsSet
	set.Add(tp.Topic, tp.Partition)
	got, err := c.admin.DescribeProducers(ctx, set)
	p := got[tp.Topic].Partitions[tp.Partition]
	if p.Err != nil {
		err = answer(p.Err, p.ErrMessage)
	}
	if err != nil {
		return nil, fmt.Errorf("producers of %s: %w", tp, c.why(ctx, err))
	}
	out := make([]model.ProducerState, 0, len(p.ActiveProducers))
	for _, in := range p.ActiveProducers {
		out = append(out, model.ProducerState{
			TopicPartition: tp, ProducerID: in.ProducerID, Epoch: in.ProducerEpoch, LastSequence: in.LastSequence, LastOffset: model.Unknown,
			LastTimestamp: in.LastTimestamp, CoordinatorEpoch: in.CoordinatorEpoch, TxnFirst: in.CurrentTxnStartOffset,
		})
	}
	slices.SortFunc(out, func(a, b model.ProducerState) int { return cmp.Compare(a.ProducerID, b.ProducerID) })
	return out, nil
}
