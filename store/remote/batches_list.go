package remote

import (
	"context"
	"fmt"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

const (
	runBatches = 200     // of a run, where nobody says how many
	runChunk   = 1 << 20 // bytes that are asked for at a time
	runBytes   = 4 << 20 // bytes after which a run ends
)

// ListBatches implements model.BatchLister.
func (c *Cluster) ListBatches(ctx context.Context, tp model.TopicPartition, from int64, most int) (model.BatchRun, error) {
	if most <= 0 {
		most = runBatches
	}
	if err := c.begin(ctx); err != nil {
		return model.BatchRun{}, err
	}
	e, err := c.endsNow(ctx, tp)
	if err != nil {
		return model.BatchRun{}, err
	}
	cl, err := c.bulk()
	if err != nil {
		return model.BatchRun{}, err
	}
	ctx, done := c.bound(ctx)
	defer done()
	run := model.BatchRun{Next: max(from, e.start), Start: e.start, End: e.hw}
	if from == model.FromEnd {
		run.Next = max(e.start, e.hw-int64(most))
	}
	rd := record.Borrow()
	defer rd.Return()
	idle, size := 0, 0
	for run.Next < run.End && len(run.Batches) < most && size < runBytes {
		k, err := c.fetch(ctx, cl, tp, run.Next, runChunk)
		switch {
		case err != nil && len(run.Batches) > 0 && ctx.Err() == nil:
			return run, nil // the next run begins with the error
		case err != nil:
			return run, err
		case len(k.batches) > 0:
			idle = 0
			size += list(&run, &k, rd, most, runBytes-size)
			continue
		}
		if idle++; idle < idleScans {
			continue
		}
		idle = 0
		if run.Next >= k.lso { // up to the end all was compacted away
			run.Next = run.End
		} else { // up to what is not decided it was
			run.Next = k.lso
		}
	}
	return run, nil
}

// list adds batches of a chunk to a run until it has most of them, or room bytes more. It returns how many bytes they have.
func list(run *model.BatchRun, k *chunk, rd *record.Reader, most, room int) (size int) {
	run.End = max(run.End, k.hw)
	for _, raw := range k.batches {
		if len(run.Batches) == most || size >= room {
			return size
		}
		h, err := record.ParseHeader(raw)
		if err != nil {
			return size // a chunk has none such
		}
		run.Batches = append(run.Batches, batchOf(&h, raw, rd))
		run.Next = max(run.Next, h.NextOffset())
		size += len(raw)
	}
	return size
}

// batchOf puts a batch into words.
func batchOf(h *record.Header, raw []byte, rd *record.Reader) model.Batch {
	b := model.Batch{Position: model.Unknown, Base: h.BaseOffset, Last: h.LastOffset(), Count: h.Count, Bytes: h.Size(),
		Inflated: model.Unknown, Codec: h.Codec().String(), Magic: h.Magic, TimestampType: model.CreateTime,
		FirstTimestamp: h.BaseTimestamp, MaxTimestamp: h.MaxTimestamp, ProducerID: model.NoProducer, ProducerEpoch: -1,
		BaseSequence: -1, LeaderEpoch: h.LeaderEpoch, Transactional: h.Transactional(), DeleteHorizon: model.NoTime}
	if h.HasProducer() {
		b.ProducerID, b.ProducerEpoch, b.BaseSequence = h.ProducerID, h.ProducerEpoch, h.BaseSequence
	}
	if ms, ok := h.DeleteHorizon(); ok {
		b.DeleteHorizon = ms
	}
	if b.DeleteHorizon >= 0 || h.LogAppendTime() || h.BaseTimestamp < 0 {
		b.FirstTimestamp = h.MaxTimestamp
	}
	switch {
	case h.Magic == 0:
		b.TimestampType = model.NoTimestampType
	case h.LogAppendTime():
		b.TimestampType = model.LogAppendTime
	}
	b.CRC, b.CRCComputed = record.Checksum(raw)
	b.Valid = b.CRC == b.CRCComputed
	if !h.Codec().Known() {
		b.Err = fmt.Errorf("unknown %s", h.Codec())
		return b
	}
	lookInside(&b, h, raw, rd)
	return b
}

// lookInside adds what only the records of a batch know.
func lookInside(b *model.Batch, h *record.Header, raw []byte, rd *record.Reader) {
	if b.Err = rd.Reset(raw); b.Err != nil {
		return
	}
	b.Inflated = int64(len(rd.Section()))
	n := int32(0)
	for ; rd.Next(); n++ {
		r := rd.Record()
		if n == 0 && h.Wrapper() {
			b.Base, b.FirstTimestamp = r.Offset, r.Timestamp
		}
		if n == 0 && h.Control() {
			b.Control = "unknown"
			if c, err := record.ParseControl(r.Key, r.Value); err == nil || len(r.Key) >= 4 {
				b.Control = strings.ToLower(c.Type.String())
			}
		}
	}
	b.Err = rd.Err()
	if h.Wrapper() {
		b.Count = n
	}
}
