package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
)

// batchBytes is how large a batch that Produce makes grows, uncompressed, if no record alone is larger: the default of
// the Java client's batch.size.
const batchBytes = 16384

// recordOverhead is about what a record takes beside key, value and headers.
const recordOverhead = 20

// Produce appends records, those of one partition in the order they are given, in one write. It returns where each
// went, in the order of the request. When a partition fails, those before it stay written, and the records that were
// not have the offset Unknown. Errors wrap model.ErrNoTopic, model.ErrNoPartition, model.ErrInvalid, and
// model.ErrRefused for records that the topic does not take.
func (e *Engine) Produce(ctx context.Context, r model.ProduceRequest) ([]model.Produced, error) {
	done, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	t, err := e.topic(r.Topic)
	if err != nil {
		return nil, err
	}
	codec, err := record.ParseCodec(orDefault(r.Codec, "none"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", model.ErrInvalid, err)
	}
	if r.Acks < -1 || r.Acks > 1 {
		return nil, fmt.Errorf("%w acks %d: want 0, 1 or -1 (all)", model.ErrInvalid, r.Acks)
	}
	e.mu.RLock()
	parts := t.parts
	e.mu.RUnlock()
	to, err := e.sticky.choose(r, len(parts))
	if err != nil {
		return nil, err
	}
	out := make([]model.Produced, len(r.Records))
	by := map[int32][]int{}
	now := e.nowMS()
	for i := range r.Records {
		ts := r.Records[i].Timestamp
		if ts == 0 {
			ts = now
		}
		out[i] = model.Produced{Partition: to[i], Offset: model.Unknown, Timestamp: ts}
		by[to[i]] = append(by[to[i]], i)
	}
	for _, p := range slices.Sorted(keys(by)) {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		l := parts[p]
		if l == nil {
			return out, fmt.Errorf("%w: the folder of %s-%d is missing", model.ErrNoPartition, r.Topic, p)
		}
		if err := e.produce(l, r.Records, by[p], codec, out); err != nil {
			return out, refused(err)
		}
	}
	if r.Acks == 0 {
		for i := range out {
			out[i].Offset = model.Unknown
		}
	}
	return out, nil
}

func keys(m map[int32][]int) func(func(int32) bool) {
	return func(yield func(int32) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// refused marks what the topic does not take.
func refused(err error) error {
	var r *record.RefusedError
	var p *partition.ProducerError
	if errors.As(err, &r) || errors.As(err, &p) {
		return fmt.Errorf("%w: %w", model.ErrRefused, err)
	}
	return err
}

// produce appends the records of one partition, which picked names by number.
func (e *Engine) produce(l *partition.Log, all []model.ProduceRecord, picked []int, codec record.Codec, out []model.Produced) error {
	cfg := l.Config()
	spec := record.Spec{Codec: codec}
	if cfg.Compression != "producer" {
		c, err := record.ParseCodec(cfg.Compression)
		if err != nil {
			return err
		}
		spec.Codec, spec.Level = c, cfg.CompressionLevel
	}
	inputs := make([]record.Input, len(picked))
	for i, k := range picked {
		rec := &all[k]
		in := record.Input{Timestamp: out[k].Timestamp, Key: rec.Key, Value: rec.Value}
		for _, h := range rec.Headers {
			in.Headers = append(in.Headers, record.RecordHeader{Name: h.Name, Value: h.Value})
		}
		inputs[i] = in
	}
	var raw []byte
	for begin := 0; begin < len(inputs); {
		end := cut(inputs, begin, int(min(batchBytes, max(cfg.MaxMessageBytes, 1))))
		var err error
		if raw, end, err = appendBatch(raw, spec, inputs, begin, end, cfg); err != nil {
			return fmt.Errorf("produce to %s: %w", l.TP(), err)
		}
		begin = end
	}
	a, err := l.Append(raw, partition.AppendOptions{})
	if a.First >= 0 {
		for i, k := range picked {
			offset := a.First + int64(i)
			if offset > a.Last {
				break
			}
			out[k].Offset = offset
			if a.Time != model.NoTime {
				out[k].Timestamp = a.Time
			}
		}
	}
	return err
}

// cut returns where the batch that begins at a record ends, so that it takes about limit bytes at most.
func cut(inputs []record.Input, begin, limit int) int {
	size := record.HeaderSize
	for i := begin; i < len(inputs); i++ {
		in := &inputs[i]
		size += recordOverhead + len(in.Key) + len(in.Value)
		for _, h := range in.Headers {
			size += len(h.Name) + len(h.Value) + 4
		}
		if size > limit && i > begin {
			return i
		}
	}
	return len(inputs)
}

// appendBatch appends the batch of inputs[begin:end], or of fewer of them where that is more than the topic takes, and
// returns where it has ended.
func appendBatch(raw []byte, spec record.Spec, inputs []record.Input, begin, end int, cfg layout.TopicConfig) ([]byte, int, error) {
	for {
		out, err := record.AppendBatch(raw, spec, inputs[begin:end])
		if err != nil {
			return raw, end, err
		}
		size := int64(len(out) - len(raw))
		if size <= min(cfg.MaxMessageBytes, cfg.SegmentBytes) || end-begin == 1 {
			return out, end, nil // one that is too large alone is refused by the log
		}
		end = begin + (end-begin)/2
	}
}

// AppendBatches appends batches as a client sends them: whole, one behind the other, with base offset 0. Offsets, leader
// epoch and append time are written into raw. See partition.Log.Append.
func (e *Engine) AppendBatches(ctx context.Context, tp model.TopicPartition, raw []byte) (partition.Appended, error) {
	none := partition.Appended{First: model.Unknown, Last: model.Unknown, Time: model.NoTime}
	done, err := e.begin(ctx)
	if err != nil {
		return none, err
	}
	defer done()
	l, err := e.Log(tp)
	if err != nil {
		return none, err
	}
	a, err := l.Append(raw, partition.AppendOptions{})
	return a, refused(err)
}
