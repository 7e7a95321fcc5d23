package logdir

import (
	"context"

	"github.com/strata-kafka/strata/model"
)

// Records implements model.Source.
func (d *Dir) Records(ctx context.Context, q model.RecordQuery) (model.RecordPage, error) {
	v, err := d.view(ctx, q.TP)
	if err != nil {
		return model.RecordPage{}, err
	}
	return v.Records(ctx, q)
}

// Segments implements model.SegmentReader.
func (d *Dir) Segments(ctx context.Context, tp model.TopicPartition) ([]model.Segment, error) {
	v, err := d.view(ctx, tp)
	if err != nil {
		return nil, err
	}
	return v.Segments(ctx, d.retention(d.image(ctx), tp.Topic), d.o.Now().UnixMilli())
}

// SegmentsBy is Segments as if the topic had another retention.
func (d *Dir) SegmentsBy(ctx context.Context, tp model.TopicPartition, r model.Retention) ([]model.Segment, error) {
	v, err := d.view(ctx, tp)
	if err != nil {
		return nil, err
	}
	return v.Segments(ctx, r, d.o.Now().UnixMilli())
}

// Batches implements model.SegmentReader.
func (d *Dir) Batches(ctx context.Context, q model.BatchQuery) (model.BatchPage, error) {
	v, err := d.view(ctx, q.TP)
	if err != nil {
		return model.BatchPage{}, err
	}
	return v.Batches(ctx, q)
}

// BatchBytes implements model.SegmentReader.
func (d *Dir) BatchBytes(ctx context.Context, tp model.TopicPartition, base, pos int64) ([]byte, []model.Field, error) {
	v, err := d.view(ctx, tp)
	if err != nil {
		return nil, nil, err
	}
	return v.BatchBytes(ctx, base, pos)
}

// IndexEntries implements model.SegmentReader.
func (d *Dir) IndexEntries(ctx context.Context, tp model.TopicPartition, base int64, k model.IndexKind, first int64, limit int) ([]model.IndexEntry, int64, error) {
	v, err := d.view(ctx, tp)
	if err != nil {
		return nil, 0, err
	}
	return v.IndexEntries(ctx, base, k, first, limit)
}

// Lookup implements model.SegmentReader.
func (d *Dir) Lookup(ctx context.Context, tp model.TopicPartition, t model.Target) (model.LookupResult, error) {
	v, err := d.view(ctx, tp)
	if err != nil {
		return model.LookupResult{}, err
	}
	return v.Lookup(ctx, t)
}
