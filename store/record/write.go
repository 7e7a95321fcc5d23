package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Spec is what AppendBatch must know beyond the records. The zero value is an
// uncompressed batch at offset 0, leader epoch 0, without producer.
type Spec struct {
	BaseOffset  int64
	LeaderEpoch int32
	Codec       Codec
	Level       int // of compression; 0 is the codec's default, see CheckLevel

	// LogAppendTime dates the batch AppendTime (ms) instead of by its records.
	LogAppendTime bool
	AppendTime    int64

	Transactional bool
	Control       bool

	// The producer. ProducerID 0 is a real one and counts only with
	// HasProducer; without a producer all three are written as -1.
	HasProducer   bool
	ProducerID    int64
	ProducerEpoch int16
	BaseSequence  int32

	// Sparse takes the offset deltas from the inputs, and the last one from
	// LastOffsetDelta, as in a compacted batch. Then there may be no records.
	Sparse          bool
	LastOffsetDelta int32
	// DeleteHorizon (ms) is written in place of the base timestamp if
	// HasHorizon.
	HasHorizon    bool
	DeleteHorizon int64
}

// Input is a record to be written.
type Input struct {
	Timestamp   int64  // ms, -1 none
	Key, Value  []byte // nil is null
	Headers     []RecordHeader
	OffsetDelta int32 // used if Spec.Sparse, else the place in the batch
}

// AppendBatch appends a whole valid v2 batch. On an error dst is given back
// as it was. It is safe for concurrent use.
func AppendBatch(dst []byte, s Spec, recs []Input) ([]byte, error) {
	h, err := s.header(recs)
	if err != nil {
		return dst, err
	}
	begin := len(dst)
	out := AppendHeader(dst, h)
	if s.Codec == None {
		out = appendInputs(out, s, h.BaseTimestamp, recs)
	} else {
		scratch := scratches.Get().(*[]byte)
		*scratch = appendInputs((*scratch)[:0], s, h.BaseTimestamp, recs)
		out, err = Compress(out, s.Codec, s.Level, *scratch)
		scratches.Put(scratch)
		if err != nil {
			return dst, err
		}
	}
	if int64(len(out)-begin) > math.MaxInt32 {
		return dst, fmt.Errorf("batch of %d bytes is beyond 2 GiB", len(out)-begin)
	}
	seal(out[begin:])
	return out, nil
}

// seal sets length and CRC of a batch whose other bytes are final.
func seal(batch []byte) {
	binary.BigEndian.PutUint32(batch[posLength:], uint32(len(batch)-lengthEnd))
	sum(batch)
}

// sum recomputes the CRC.
func sum(batch []byte) {
	binary.BigEndian.PutUint32(batch[posCRC:], CRC(batch[posAttributes:]))
}

// header makes the header without length and CRC.
func (s Spec) header(recs []Input) (Header, error) {
	if len(recs) > math.MaxInt32 {
		return Header{}, fmt.Errorf("%d records do not fit a batch", len(recs))
	}
	if len(recs) == 0 && !s.Sparse {
		return Header{}, errors.New("a batch needs a record")
	}
	h := Header{
		BaseOffset:      s.BaseOffset,
		LeaderEpoch:     s.LeaderEpoch,
		Magic:           2,
		Attributes:      int16(s.Codec) & codecMask,
		LastOffsetDelta: int32(len(recs) - 1),
		BaseTimestamp:   NoTimestamp,
		MaxTimestamp:    NoTimestamp,
		ProducerID:      NoProducer,
		ProducerEpoch:   -1,
		BaseSequence:    NoSequence,
		Count:           int32(len(recs)),
	}
	if s.Sparse {
		h.LastOffsetDelta = s.LastOffsetDelta
	}
	if s.HasProducer || s.ProducerID > 0 {
		h.ProducerID, h.ProducerEpoch, h.BaseSequence = s.ProducerID, s.ProducerEpoch, s.BaseSequence
	}
	h.Attributes |= bit(s.LogAppendTime, attrLogAppendTime) | bit(s.Transactional, attrTransactional) |
		bit(s.Control, attrControl) | bit(s.HasHorizon, attrDeleteHorizon)
	for i := range recs {
		if i == 0 {
			h.BaseTimestamp = recs[i].Timestamp
		}
		h.MaxTimestamp = max(h.MaxTimestamp, recs[i].Timestamp)
	}
	if s.LogAppendTime {
		h.MaxTimestamp = s.AppendTime
	}
	if s.HasHorizon {
		h.BaseTimestamp = s.DeleteHorizon
	}
	return h, nil
}

func bit(on bool, mask int16) int16 {
	if on {
		return mask
	}
	return 0
}

func appendInputs(dst []byte, s Spec, base int64, recs []Input) []byte {
	for i := range recs {
		in := &recs[i]
		delta := int32(i)
		if s.Sparse {
			delta = in.OffsetDelta
		}
		rec := Record{TimestampDelta: in.Timestamp - base, OffsetDelta: delta, Key: in.Key, Value: in.Value}
		dst = appendRecord(dst, &rec, in.Headers)
	}
	return dst
}

// AppendRecord appends a record of a v2 batch as its fields say: attributes,
// deltas, key, value and raw headers. It undoes what Reader does.
func AppendRecord(dst []byte, rec *Record) []byte { return appendRecord(dst, rec, nil) }

// appendRecord writes headers, or else the raw ones of rec.
func appendRecord(dst []byte, rec *Record, headers []RecordHeader) []byte {
	count := rec.HeaderCount
	if headers != nil {
		count = int32(len(headers))
	}
	size := 1 + varintSize(rec.TimestampDelta) + varintSize(int64(rec.OffsetDelta)) +
		partSize(rec.Key) + partSize(rec.Value) + varintSize(int64(count))
	if headers == nil {
		size += len(rec.RawHeaders)
	}
	for i := range headers {
		size += varintSize(int64(len(headers[i].Name))) + len(headers[i].Name) + partSize(headers[i].Value)
	}
	dst = appendVarint(dst, int64(size))
	dst = append(dst, byte(rec.Attributes))
	dst = appendVarint(dst, rec.TimestampDelta)
	dst = appendVarint(dst, int64(rec.OffsetDelta))
	dst = appendPart(dst, rec.Key)
	dst = appendPart(dst, rec.Value)
	dst = appendVarint(dst, int64(count))
	if headers == nil {
		return append(dst, rec.RawHeaders...)
	}
	for i := range headers {
		dst = appendVarint(dst, int64(len(headers[i].Name)))
		dst = append(dst, headers[i].Name...)
		dst = appendPart(dst, headers[i].Value)
	}
	return dst
}

func partSize(b []byte) int {
	if b == nil {
		return 1
	}
	return varintSize(int64(len(b))) + len(b)
}

func appendPart(dst, b []byte) []byte {
	if b == nil {
		return appendVarint(dst, -1)
	}
	return append(appendVarint(dst, int64(len(b))), b...)
}
