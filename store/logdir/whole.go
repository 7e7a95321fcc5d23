package logdir

import (
	"context"
	"errors"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// ScanBounds implements model.BatchScanner.
func (d *Dir) ScanBounds(ctx context.Context, tp model.TopicPartition) (start, stable int64, err error) {
	v, err := d.view(ctx, tp)
	if err != nil {
		return model.Unknown, model.Unknown, err
	}
	start, _ = v.Bounds()
	stable, err = v.Stable(ctx)
	return start, stable, err
}

// ScanBatches implements model.BatchScanner.
func (d *Dir) ScanBatches(ctx context.Context, q model.ScanQuery, fn func(model.RawBatch) error) error {
	from := q.From
	for {
		v, err := d.view(ctx, q.TP)
		if err != nil {
			return err
		}
		stopped := false
		next, err := v.Whole(ctx, from, q.To, q.Fault, func(_ record.Header, batch []byte, vis model.Visibility) error {
			err := fn(model.RawBatch{Bytes: batch, Aborted: vis == model.Aborted})
			stopped = err != nil
			return err
		})
		if err == nil || stopped || !gone(err) {
			return err
		}
		// A segment was deleted or compacted under our hands: what is there now is in another file.
		now, verr := d.view(ctx, q.TP)
		if verr != nil {
			return errors.Join(err, verr)
		}
		if now == v {
			return err
		}
		from = next
	}
}
