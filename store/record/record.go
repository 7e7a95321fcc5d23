package record

// Record is one record or legacy message. Its slices point into the batch or
// into the Reader's buffer and are valid as long as those.
type Record struct {
	Offset         int64
	Timestamp      int64 // ms, -1 none; the batch's time if it is LogAppendTime
	TimestampDelta int64 // as stored, also if the batch's time overrules it; 0 in legacy
	OffsetDelta    int32 // as stored; 0 in legacy
	HeaderCount    int32
	Attributes     int8
	Key            []byte // nil is null, empty is not
	Value          []byte // nil is null (a tombstone), empty is not
	RawHeaders     []byte // the headers as stored, without their count
	Pos            int    // byte within the (decompressed) records section
	Size           int    // bytes there, with the length field
}

// RecordHeader is one header of a record. Names may repeat; order matters.
type RecordHeader struct {
	Name  string
	Value []byte // nil is null
}

// Headers decodes the headers and appends them to dst. Values point into the
// record's bytes. It fails only on a record not made by a Reader.
func (r *Record) Headers(dst []RecordHeader) ([]RecordHeader, error) {
	b, p := r.RawHeaders, 0
	for i := int32(0); i < r.HeaderCount; i++ {
		name, q, what := headerPart(b, p, false)
		if what != "" {
			return dst, &FormatError{Pos: p, Field: "header name", What: what}
		}
		value, next, what := headerPart(b, q, true)
		if what != "" {
			return dst, &FormatError{Pos: q, Field: "header value", What: what}
		}
		dst = append(dst, RecordHeader{Name: string(name), Value: value})
		p = next
	}
	return dst, nil
}

// headerPart reads a length and that many bytes at b[p:]; next is the place
// after them. what is not empty when that cannot be.
func headerPart(b []byte, p int, nullable bool) (part []byte, next int, what string) {
	n, q := varint32(b, p)
	switch {
	case q < 0:
		return nil, p, varintFault(q)
	case n == -1 && nullable:
		return nil, q, ""
	case n < 0:
		return nil, p, badLength(n)
	case int(n) > len(b)-q:
		return nil, p, overrun(n, len(b)-q)
	}
	end := q + int(n)
	return b[q:end:end], end, ""
}
