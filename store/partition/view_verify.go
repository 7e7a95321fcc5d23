package partition

import (
	"context"

	"github.com/strata-kafka/strata/model"
)

// Verify checks the files of one segment, or with model.Unknown of all of them and those of the partition, and tells of
// faults and progress on the calling goroutine. Errors wrap model.ErrNoSegment, or are ctx's.
func (v *View) Verify(ctx context.Context, base int64, tell func(model.VerifyEvent)) (model.VerifySummary, error) {
	var sum model.VerifySummary
	layers := v.layers
	if base != model.Unknown {
		l, err := v.layerOf(base)
		if err != nil {
			return sum, err
		}
		layers = []*layer{l}
	}
	for _, l := range layers {
		k, err := v.walk(ctx, l)
		if err != nil {
			return sum, err
		}
		sum.Files++
		sum.Batches += k.batches
		sum.Records += k.records
		sum.Bytes += l.size
		for i := range k.faults {
			sum.Damage++
			tell(model.VerifyEvent{Fault: &k.faults[i]})
		}
	}
	return sum, nil
}
