package transfer

import (
	"fmt"
	"sync"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// maxInflated is how much a batch may inflate to that has to be looked into, bytes.
const maxInflated = 256 << 20

// Bits of a batch's attributes.
const (
	codecBits = 0x07
	// keepBits are the codec alone: a batch that is sent is of no transaction, dates its records itself, and has no delete
	// horizon.
	keepBits = codecBits
)

// batch is a batch in the form in which it is sent, but for its producer and its checksum: at offset 0, with its records
// numbered from 0 without holes. Two batches of the same records, codec and bytes are the same in this form, whatever log
// they were in.
type batch struct {
	buf  []byte
	n    int64 // records
	from int64 // offset of its first record in its log
	next int64 // offset behind it there
	// runs are its records' offsets where these have holes; nil means that they are from, from+1, …
	runs    []run
	recoded bool  // its records were written anew
	lain    int   // bytes that it takes in its log
	newest  int64 // ms, of its records; NoTime for none
}

// run is n offsets from one on.
type run struct{ from, n int64 }

// buffers keeps the bytes of batches for use again.
type buffers struct{ pool sync.Pool }

func (b *buffers) get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return (*p)[:0]
	}
	return nil
}

func (b *buffers) put(buf []byte) {
	if cap(buf) > 0 {
		b.pool.Put(&buf)
	}
}

// shaper brings batches into the form in which they are sent.
type shaper struct {
	*buffers
	rd   record.Reader
	recs []record.Input
	head []record.RecordHeader
}

// shape takes the records with offsets in [from, to) of a batch. It returns nil where there are none that are committed data.
func (s *shaper) shape(raw model.RawBatch, from, to int64) (*batch, error) {
	h, err := record.ParseHeader(raw.Bytes)
	if err != nil {
		return nil, err
	}
	if raw.Aborted || h.Control() || h.Count == 0 {
		return nil, nil
	}
	if passes(h) && h.BaseOffset >= from && h.LastOffset() < to {
		b := &batch{buf: append(s.get(), raw.Bytes[:h.Size()]...), n: int64(h.Count), from: h.BaseOffset, next: h.NextOffset(), lain: int(h.Size()), newest: h.MaxTimestamp}
		plain(b.buf, h)
		return b, nil
	}
	return s.recode(raw.Bytes, h, from, to)
}

// passes reports whether a batch can be sent as it lies.
func passes(h record.Header) bool {
	_, horizon := h.DeleteHorizon()
	return h.Magic == 2 && h.Codec().Known() && h.Count == h.LastOffsetDelta+1 && !h.LogAppendTime() && !horizon
}

// plain writes the header of a batch that says nothing of where it was.
func plain(buf []byte, h record.Header) {
	h.BaseOffset, h.LeaderEpoch, h.CRC = 0, record.NoEpoch, 0
	h.Attributes &= keepBits
	h.ProducerID, h.ProducerEpoch, h.BaseSequence = record.NoProducer, -1, record.NoSequence
	record.AppendHeader(buf[:0], h)
}

// recode writes the records of a batch anew, with its own codec.
func (s *shaper) recode(raw []byte, h record.Header, from, to int64) (*batch, error) {
	s.rd.MaxInflated = maxInflated
	if err := s.rd.Reset(raw); err != nil {
		return nil, fmt.Errorf("batch at offset %d: %w", h.BaseOffset, err)
	}
	b := &batch{next: h.NextOffset(), recoded: true, lain: int(h.Size()), newest: h.MaxTimestamp}
	s.recs, s.head = s.recs[:0], s.head[:0]
	for s.rd.Next() {
		r := s.rd.Record()
		if r.Offset < from || r.Offset >= to {
			continue
		}
		in := record.Input{Timestamp: r.Timestamp, Key: r.Key, Value: r.Value}
		mark := len(s.head)
		var err error
		if s.head, err = r.Headers(s.head); err != nil {
			return nil, fmt.Errorf("record at offset %d: %w", r.Offset, err)
		}
		in.Headers = s.head[mark:len(s.head):len(s.head)]
		if n := len(b.runs); n > 0 && b.runs[n-1].from+b.runs[n-1].n == r.Offset {
			b.runs[n-1].n++
		} else {
			b.runs = append(b.runs, run{r.Offset, 1})
		}
		s.recs = append(s.recs, in)
	}
	if err := s.rd.Err(); err != nil {
		return nil, fmt.Errorf("batch at offset %d: %w", h.BaseOffset, err)
	}
	if len(s.recs) == 0 {
		return nil, nil
	}
	b.n, b.from = int64(len(s.recs)), b.runs[0].from
	return b, s.write(b, h.Codec())
}

// write makes the bytes of a batch of s.recs.
func (s *shaper) write(b *batch, c record.Codec) (err error) {
	b.buf, err = record.AppendBatch(s.get(), record.Spec{Codec: c, LeaderEpoch: record.NoEpoch}, s.recs)
	if err != nil {
		return fmt.Errorf("batch at offset %d: %w", b.from, err)
	}
	h, err := record.ParseHeader(b.buf)
	if err != nil {
		return err
	}
	plain(b.buf, h)
	return nil
}

// spans are the offsets of a batch's records.
func (b *batch) spans() []run {
	if b.runs != nil {
		return b.runs
	}
	return []run{{b.from, b.n}}
}

// stamp makes a batch that of a producer, and sets its checksum.
func stamp(buf []byte, id int64, epoch int16, sequence int32) error {
	h, err := record.ParseHeader(buf)
	if err != nil {
		return err
	}
	h.ProducerID, h.ProducerEpoch, h.BaseSequence = id, epoch, sequence
	record.AppendHeader(buf[:0], h)
	h.CRC = record.CRC(buf[crcFrom:])
	record.AppendHeader(buf[:0], h)
	return nil
}

// crcFrom is where that begins which a batch's checksum covers.
const crcFrom = 21
