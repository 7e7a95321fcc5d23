package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// fetchedBatches prints the batches of a source that tells of them and not where they lie, up to where the logs end now.
func (a *app) fetchedBatches(ctx context.Context, src model.Source, told model.BatchLister, arg string, from int64) error {
	at, tps, err := resolveAt(ctx, src, arg)
	if err != nil {
		return err
	}
	if at.Segment >= 0 {
		return fmt.Errorf("%w place %q: a cluster shows no segments; want TOPIC/P, with --from OFFSET", model.ErrInvalid, arg)
	}
	var o object
	var t *table
	if !a.opts.json {
		t = newTable(a.out, batchHeads[1:]...)
	}
	for _, tp := range tps {
		end := model.Unknown
		for next := from; end < 0 || next < end; {
			run, err := told.ListBatches(ctx, tp, next, 0)
			if err != nil {
				return err
			}
			if end < 0 {
				end = run.End
			}
			for i := range run.Batches {
				if err := a.printBatch(&run.Batches[i], &o, t); err != nil {
					return err
				}
			}
			if run.Next <= next {
				break
			}
			next = run.Next
		}
	}
	if t != nil {
		return t.flush()
	}
	return nil
}

// printBatch prints a line; without a position where the table has no column for it. t is nil for JSON.
func (a *app) printBatch(b *model.Batch, o *object, t *table) error {
	if !b.Valid || b.Err != nil {
		a.code = exitWrong
	}
	if t == nil {
		_, err := a.out.Write(batchJSON(o, b))
		return err
	}
	row := []string{number(b.Position), number(b.Base), number(b.Last), number(int64(b.Count)), number(b.Bytes), b.Codec,
		a.stamp(b.MaxTimestamp), producer(b), batchKind(b), crc(b)}
	if b.Position < 0 {
		row = row[1:]
	}
	return t.row(row...)
}

func producer(b *model.Batch) string {
	if b.ProducerID < 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d #%d", b.ProducerID, b.ProducerEpoch, b.BaseSequence)
}

func batchKind(b *model.Batch) string {
	switch {
	case b.Control != "":
		return strings.ToUpper(b.Control)
	case b.Torn:
		return "torn"
	case b.Transactional:
		return "transactional"
	}
	return "–"
}

func crc(b *model.Batch) string {
	switch {
	case b.Err != nil && b.CRC == b.CRCComputed:
		return "bad: " + b.Err.Error()
	case b.CRC != b.CRCComputed:
		return fmt.Sprintf("bad: %08x, computed %08x", b.CRC, b.CRCComputed)
	}
	return fmt.Sprintf("%08x", b.CRC)
}
