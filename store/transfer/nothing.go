package transfer

import (
	"context"

	"github.com/strata-kafka/strata/model"
)

// Nothing is a source in which nothing is yet.
type Nothing struct{}

// ScanBounds implements Reader.
func (Nothing) ScanBounds(_ context.Context, tp model.TopicPartition) (start, stable int64, err error) {
	return model.Unknown, model.Unknown, model.NotFound(model.ErrNoTopic, tp.Topic, nil)
}

// ScanBatches implements Reader.
func (Nothing) ScanBatches(_ context.Context, q model.ScanQuery, _ func(model.RawBatch) error) error {
	return model.NotFound(model.ErrNoTopic, q.TP.Topic, nil)
}

// Partitions implements Reader.
func (Nothing) Partitions(_ context.Context, topic string) ([]model.Partition, error) {
	return nil, model.NotFound(model.ErrNoTopic, topic, nil)
}

// TopicConfig implements Reader.
func (Nothing) TopicConfig(_ context.Context, topic string) ([]model.ConfigEntry, error) {
	return nil, model.NotFound(model.ErrNoTopic, topic, nil)
}

// Groups implements Reader.
func (Nothing) Groups(context.Context) ([]model.Group, error) { return nil, nil }

// Group implements Reader.
func (Nothing) Group(_ context.Context, id string) (model.Group, error) {
	return model.Group{}, model.NotFound(model.ErrNoGroup, id, nil)
}
