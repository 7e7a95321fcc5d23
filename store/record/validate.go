package record

import (
	"errors"
	"fmt"
	"strconv"
)

// DefaultMaxBytes is Kafka's default of max.message.bytes.
const DefaultMaxBytes = 1048588

// Limits is what a topic asks of a batch. The zero value asks what Kafka does
// by default of a batch from a client.
type Limits struct {
	MaxBytes      int   // the whole batch; 0 means DefaultMaxBytes, -1 any
	MaxInflated   int64 // see Reader.MaxInflated
	NeedKeys      bool  // the topic is compacted
	LogAppendTime bool  // the topic dates records itself
	MinTimestamp  int64 // ms, the least allowed; 0 means any
	MaxTimestamp  int64 // ms, the most allowed; 0 means any
	Internal      bool  // the batch is the broker's own: may be a control batch, at any offset
	SkipRecords   bool  // look at the header and CRC only
}

// Verdict is what Validate learned of a good batch.
type Verdict struct {
	Header Header
	// MaxTimestamp is the largest of the records' own times (ms), and
	// MaxTimestampDelta the offset delta of the first record that has it. With
	// SkipRecords they are what the header says, and its last offset delta.
	MaxTimestamp      int64
	MaxTimestampDelta int32
}

// Reason sorts refusals as a broker answers them.
type Reason int8

// The reasons for a refusal.
const (
	Corrupt      Reason = iota // CORRUPT_MESSAGE: CRC, magic above 2, length too low
	Invalid                    // INVALID_RECORD: structure, counts, keys
	BadTimestamp               // INVALID_TIMESTAMP
	TooLarge                   // MESSAGE_TOO_LARGE
	BadCodec                   // UNKNOWN_SERVER_ERROR: unknown or undecodable compression
)

// String names the reason in words.
func (r Reason) String() string {
	switch r {
	case Corrupt:
		return "corrupt batch"
	case Invalid:
		return "invalid record"
	case BadTimestamp:
		return "invalid timestamp"
	case TooLarge:
		return "batch too large"
	case BadCodec:
		return "bad compression"
	}
	return "reason " + strconv.Itoa(int(r))
}

// RefusedError is why a batch is not appended.
type RefusedError struct {
	Reason Reason
	Record int // index within the batch of the first record to blame, -1 none
	What   string
	Err    error // what a parser said, or nil
}

func (e *RefusedError) Error() string {
	s := e.Reason.String()
	if e.Record >= 0 {
		s += " " + strconv.Itoa(e.Record)
	}
	if e.What != "" {
		s += ": " + e.What
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the parser's error, if there is one.
func (e *RefusedError) Unwrap() error { return e.Err }

func refuse(r Reason, format string, a ...any) error {
	return &RefusedError{Reason: r, Record: -1, What: fmt.Sprintf(format, a...)}
}

// Validate checks the batch that b begins with as a broker does before it
// appends it. Bytes behind the batch are not looked at. r is used to read the
// records; its limit is overruled. The error is a *RefusedError.
//
// It is stricter than Kafka in one thing: offset deltas of an uncompressed
// batch must be 0, 1, 2… too.
func Validate(r *Reader, b []byte, lim Limits) (Verdict, error) {
	h, err := ParseHeader(b)
	if err != nil {
		return Verdict{}, refuseHeader(err)
	}
	v := Verdict{Header: h, MaxTimestamp: h.MaxTimestamp, MaxTimestampDelta: h.LastOffsetDelta}
	if err := checkHeader(h, b, lim); err != nil {
		return v, err
	}
	if lim.SkipRecords {
		return v, nil
	}
	r.MaxInflated = lim.MaxInflated
	if err := r.Reset(b); err != nil {
		if r.hdr.Codec() != None && !onCount(err) {
			return v, &RefusedError{Reason: BadCodec, Record: -1, Err: err}
		}
		return v, &RefusedError{Reason: Invalid, Record: -1, Err: err}
	}
	err = checkRecords(r, &v, lim)
	return v, err
}

// onCount tells the errors of Reset that are about the record count.
func onCount(err error) bool {
	var fe *FormatError
	return errors.As(err, &fe) && fe.Pos == posCount
}

// refuseHeader sorts what ParseHeader said.
func refuseHeader(err error) error {
	reason := Invalid
	var fe *FormatError
	if errors.As(err, &fe) {
		reason = Corrupt
	}
	return &RefusedError{Reason: reason, Record: -1, Err: err}
}

func checkHeader(h Header, b []byte, lim Limits) error {
	most := lim.MaxBytes
	if most == 0 {
		most = DefaultMaxBytes
	}
	switch {
	case h.Magic < 2:
		return refuse(Invalid, "magic %d is too old", h.Magic)
	case h.Size() > int64(len(b)):
		return &RefusedError{Reason: Invalid, Record: -1, What: fmt.Sprintf("length says %d bytes, %d came", h.Size(), len(b)), Err: ErrShort}
	case h.Count <= 0:
		return refuse(Invalid, "record count %d", h.Count)
	case h.LastOffsetDelta != h.Count-1:
		return refuse(Invalid, "last offset delta %d with %d records", h.LastOffsetDelta, h.Count)
	case !lim.Internal && h.BaseOffset != 0:
		return refuse(Invalid, "base offset %d, must be 0", h.BaseOffset)
	case !lim.Internal && h.Control():
		return refuse(Invalid, "a client cannot write control records")
	case !lim.Internal && h.HasProducer() && h.BaseSequence < 0:
		return refuse(Invalid, "base sequence %d of producer %d", h.BaseSequence, h.ProducerID)
	case most > 0 && h.Size() > int64(most):
		return refuse(TooLarge, "%d bytes, the limit is %d", h.Size(), most)
	}
	if stored, computed := Checksum(b[:h.Size()]); stored != computed {
		return refuse(Corrupt, "CRC is %08x, computed %08x", stored, computed)
	}
	if !h.Codec().Known() {
		return &RefusedError{Reason: BadCodec, Record: -1, What: h.Codec().String(), Err: ErrCodec}
	}
	if lim.LogAppendTime && h.LogAppendTime() && !lim.Internal {
		return refuse(BadTimestamp, "a client cannot set the append time")
	}
	return nil
}

// checkRecords walks the records.
func checkRecords(r *Reader, v *Verdict, lim Limits) error {
	v.MaxTimestamp, v.MaxTimestampDelta = NoTimestamp, 0
	base := v.Header.BaseTimestamp
	for i := 0; r.Next(); i++ {
		rec := r.Record()
		if int(rec.OffsetDelta) != i {
			reason := Invalid
			if r.inflated {
				reason = BadCodec
			}
			return &RefusedError{Reason: reason, Record: i, What: fmt.Sprintf("offset delta %d", rec.OffsetDelta)}
		}
		if lim.NeedKeys && rec.Key == nil && !v.Header.Control() {
			return &RefusedError{Reason: Invalid, Record: i, What: "the topic is compacted: a key is needed"}
		}
		ts := base + rec.TimestampDelta
		if i == 0 || ts > v.MaxTimestamp {
			v.MaxTimestamp, v.MaxTimestampDelta = ts, rec.OffsetDelta
		}
		if lim.LogAppendTime || ts == NoTimestamp {
			continue
		}
		if lim.MaxTimestamp != 0 && ts > lim.MaxTimestamp || lim.MinTimestamp != 0 && ts < lim.MinTimestamp {
			return &RefusedError{Reason: BadTimestamp, Record: i, What: strconv.FormatInt(ts, 10) + " ms is out of range"}
		}
	}
	if err := r.Err(); err != nil {
		return &RefusedError{Reason: Invalid, Record: -1, Err: err}
	}
	return nil
}
