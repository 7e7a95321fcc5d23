package remote

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// marker is the end of a transaction as met in a chunk.
type marker struct {
	offset int64
	abort  bool
}

// judge says of the batches of a chunk, in order, whether a committed reader is given them.
//
// Invariant: aborted holds the producers whose transaction around the current batch was aborted.
type judge struct {
	stable  bool
	list    []kmsg.FetchResponseTopicPartitionAbortedTransaction // by first offset; those not begun yet
	aborted map[int64]bool
	markers map[int64][]marker // of a chunk that is not stable
}

// judge prepares to go through a chunk's batches.
func (k *chunk) judge() *judge {
	j := &judge{stable: k.stable}
	if k.stable {
		j.list = slices.Clone(k.aborted)
		slices.SortFunc(j.list, func(a, b kmsg.FetchResponseTopicPartitionAbortedTransaction) int {
			return int(min(max(a.FirstOffset-b.FirstOffset, -1), 1))
		})
		return j
	}
	for _, b := range k.batches {
		if h, err := record.ParseHeader(b); err == nil && h.Control() && h.HasProducer() {
			if c, err := controlOf(b); err == nil && c.Type.Marker() {
				if j.markers == nil {
					j.markers = map[int64][]marker{}
				}
				j.markers[h.ProducerID] = append(j.markers[h.ProducerID], marker{h.BaseOffset, c.Type == record.Abort})
			}
		}
	}
	return j
}

// controlOf decodes the control record of a batch.
func controlOf(batch []byte) (record.Control, error) {
	rd := record.Borrow()
	defer rd.Return()
	if err := rd.Reset(batch); err != nil {
		return record.Control{}, err
	}
	if !rd.Next() {
		return record.Control{}, rd.Err()
	}
	r := rd.Record()
	return record.ParseControl(r.Key, r.Value)
}

// of judges the next batch. Control batches are visible to whoever asks for them.
func (j *judge) of(h *record.Header, batch []byte) model.Visibility {
	if j.stable {
		for len(j.list) > 0 && j.list[0].FirstOffset <= h.LastOffset() {
			if j.aborted == nil {
				j.aborted = map[int64]bool{}
			}
			j.aborted[j.list[0].ProducerID] = true
			j.list = j.list[1:]
		}
	}
	switch {
	case !h.Transactional() || !h.HasProducer():
		return model.Visible
	case h.Control():
		if j.aborted[h.ProducerID] {
			if c, err := controlOf(batch); err == nil && c.Type == record.Abort {
				delete(j.aborted, h.ProducerID)
			}
		}
		return model.Visible
	case j.stable && j.aborted[h.ProducerID]:
		return model.Aborted
	case j.stable:
		return model.Visible
	}
	for _, m := range j.markers[h.ProducerID] {
		if m.offset > h.BaseOffset {
			if m.abort {
				return model.Aborted
			}
			return model.Visible
		}
	}
	return model.Undecided
}

// batchRecord is what all records of a batch have in common. Where the batch lies in a file no broker tells.
func batchRecord(tp model.TopicPartition, h *record.Header) model.Record {
	m := model.Record{TopicPartition: tp, LeaderEpoch: h.LeaderEpoch, Batch: h.BaseOffset, BatchPos: model.Unknown, Segment: model.Unknown,
		Transactional: h.Transactional(), ProducerID: model.NoProducer, ProducerEpoch: -1, Sequence: -1, TimestampType: model.CreateTime}
	if h.HasProducer() {
		m.ProducerID, m.ProducerEpoch = h.ProducerID, h.ProducerEpoch
	}
	switch {
	case h.Magic == 0:
		m.TimestampType = model.NoTimestampType
	case h.LogAppendTime():
		m.TimestampType = model.LogAppendTime
	}
	return m
}

// fill adds what is a record's own, copied; keys and values are cut to limit bytes where that is not 0.
func fill(m *model.Record, r *record.Record, h *record.Header, limit int) {
	m.Offset, m.Timestamp, m.Size = r.Offset, r.Timestamp, r.Size
	if h.HasProducer() && h.BaseSequence >= 0 && r.OffsetDelta >= 0 {
		m.Sequence = record.AddSequence(h.BaseSequence, r.OffsetDelta)
	}
	if h.Control() {
		m.Control = "unknown"
		if c, err := record.ParseControl(r.Key, r.Value); err == nil || len(r.Key) >= 4 {
			m.Control = strings.ToLower(c.Type.String())
		}
	}
	key, value := cut(r.Key, limit), cut(r.Value, limit)
	n := len(key) + len(value)
	var hs []record.RecordHeader
	if r.HeaderCount > 0 {
		hs, _ = r.Headers(nil) // the reader has checked them
		for i := range hs {
			n += len(hs[i].Value)
		}
	}
	free := make([]byte, 0, n) // one for all that a record holds
	m.Key, free = keep(free, key)
	m.Value, free = keep(free, value)
	for i := range hs {
		x := model.Header{Name: hs[i].Name}
		x.Value, free = keep(free, hs[i].Value)
		m.Headers = append(m.Headers, x)
	}
}

func cut(b []byte, limit int) []byte {
	if limit > 0 && len(b) > limit {
		return b[:limit]
	}
	return b
}

// keep copies b behind free; nil stays nil.
func keep(free, b []byte) (kept, rest []byte) {
	if b == nil {
		return nil, free
	}
	n := len(free)
	free = append(free, b...)
	return free[n:len(free):len(free)], free
}

// weight is how many bytes of keys, values and headers a record holds.
func weight(r *model.Record) int {
	n := len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += len(r.Headers[i].Name) + len(r.Headers[i].Value)
	}
	return n
}
