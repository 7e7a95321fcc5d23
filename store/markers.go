package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
)

// Marker is the end of a transaction in a partition.
type Marker struct {
	ProducerID       int64
	Epoch            int16
	CoordinatorEpoch int32
	Commit           bool // else the transaction is aborted
}

// WriteMarker ends a producer's transaction in a partition: it appends the control batch that says so, dated by the
// clock, and for an aborted one enters it into the index that readers skip by. Where no transaction is open only the
// marker is written. Readers of stable offsets who wait are woken.
//
// Errors are a *partition.ProducerError for an epoch older than the log knows, and wrap model.ErrNoTopic and
// model.ErrNoPartition.
func (e *Engine) WriteMarker(ctx context.Context, tp model.TopicPartition, m Marker) error {
	done, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	l, err := e.Log(tp)
	if err != nil {
		return err
	}
	batch := record.AppendMarker(make([]byte, 0, record.MarkerSize), record.Marker{
		Commit: m.Commit, Timestamp: e.nowMS(), ProducerID: m.ProducerID, ProducerEpoch: m.Epoch, CoordinatorEpoch: m.CoordinatorEpoch,
	})
	if _, err := l.Append(batch, partition.AppendOptions{Trusted: true, Internal: true}); err != nil {
		return fmt.Errorf("end a transaction: %w", err)
	}
	return nil
}

// HighestProducerID returns the highest producer id that any log knows of, -1 for none. It looks into every log, so it is
// for the one time that a data directory is met whose ids were handed out by somebody else.
func (e *Engine) HighestProducerID() (int64, error) {
	highest := int64(-1)
	for _, l := range e.logs() {
		id, err := l.HighestProducer()
		if err != nil && !errors.Is(err, model.ErrClosed) {
			return highest, err
		}
		highest = max(highest, id)
	}
	return highest, nil
}
