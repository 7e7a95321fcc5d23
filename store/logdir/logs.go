package logdir

import (
	"context"
	"fmt"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/partition"
)

// liveView returns the view of a live partition; of what was deleted nothing is counted. That a topic is gone is said
// without the names that resemble it: groups ask that for every partition of it at every look, and nobody has mistyped.
func (d *Dir) liveView(ctx context.Context, tp model.TopicPartition) (*partition.View, error) {
	d.mu.Lock()
	t := d.topics[tp.Topic]
	there := t != nil && len(t.live) > 0
	d.mu.Unlock()
	if err := d.begin(ctx); err != nil {
		return nil, err
	}
	if !there {
		return nil, fmt.Errorf("%w: %q", model.ErrNoTopic, tp.Topic)
	}
	p, v, err := d.viewPart(ctx, tp)
	if err == nil && p.state != model.Live {
		return nil, fmt.Errorf("%w: %s is a leftover (%s)", model.ErrNoPartition, tp, p.state)
	}
	return v, err
}

// Bounds returns a partition's log start and the end of what consumers may read. In a broker's directory that is the
// log end: the high watermark of a checkpoint may lag behind the data.
func (d *Dir) Bounds(ctx context.Context, tp model.TopicPartition) (start, end int64, err error) {
	v, err := d.liveView(ctx, tp)
	if err != nil {
		return model.Unknown, model.Unknown, err
	}
	row := v.Partition()
	return row.LogStart, row.LogEnd, nil
}

// CountBetween counts the data records in [from, to).
func (d *Dir) CountBetween(ctx context.Context, tp model.TopicPartition, from, to int64) (model.Count, error) {
	if from >= to {
		return model.Exactly(0), nil
	}
	v, err := d.liveView(ctx, tp)
	if err != nil {
		return model.Count{}, err
	}
	n, err := v.Count(ctx, from, to)
	if err != nil {
		return model.About(to - from), fmt.Errorf("count records of %s from %d to %d: %w", tp, from, to, err)
	}
	return model.Exactly(n), nil
}

// AtTime returns the offset of the first record at or after ms; control records count, as they do for a broker.
func (d *Dir) AtTime(ctx context.Context, tp model.TopicPartition, ms int64) (offset int64, found bool, err error) {
	v, err := d.liveView(ctx, tp)
	if err != nil {
		return model.Unknown, false, err
	}
	r, err := v.Lookup(ctx, model.Target{ByTime: true, Time: ms})
	return r.Offset, r.Found, err
}

// FirstRecord returns the first data record at or after from, or nil at the end.
func (d *Dir) FirstRecord(ctx context.Context, tp model.TopicPartition, from int64) (*model.Record, error) {
	v, err := d.liveView(ctx, tp)
	if err != nil {
		return nil, err
	}
	from = max(from, v.Partition().LogStart)
	for from < v.Partition().LogEnd {
		page, err := v.Records(ctx, model.RecordQuery{TP: tp, From: from, Max: 1})
		switch {
		case err != nil:
			return nil, err
		case len(page.Records) > 0:
			return &page.Records[0], nil
		case page.AtEnd || page.Next <= from:
			return nil, nil
		}
		from = page.Next
	}
	return nil, nil
}

// PartitionIDs returns a topic's live partitions, ascending.
func (d *Dir) PartitionIDs(ctx context.Context, name string) ([]int32, error) {
	if err := d.begin(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.topics[name]
	if t == nil || len(t.live) == 0 {
		return nil, model.NotFound(model.ErrNoTopic, name, d.listed())
	}
	ids := make([]int32, 0, len(t.live))
	for id := range t.live {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, nil
}
