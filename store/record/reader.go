package record

import (
	"fmt"
	"strconv"
)

// DefaultMaxInflated is the limit of a decompressed records section, 32 MiB.
const DefaultMaxInflated = 32 << 20

// minRecord is the least size of a v2 record: seven one-byte fields.
const minRecord = 7

// Reader walks the records of one batch of any magic. The zero value is ready;
// use it again and again, since it keeps its buffers and decoders. It checks
// the structure of every record, but not the CRC: see Checksum.
//
// Invariants:
//   - a record delivered before an error is good and stays valid
//   - after an error Next is false until the next Reset
//   - section[:pos] has been delivered
type Reader struct {
	// MaxInflated is the most bytes that a batch may decompress to; 0 means
	// DefaultMaxInflated. More is ErrTooLarge, before the memory is taken.
	MaxInflated int64

	hdr      Header
	section  []byte
	inflated bool // section is decompressed, not part of the batch
	start    int  // of the section within the batch, unless inflated
	pos      int
	left     int32 // v2 records still to come
	rec      Record
	err      error
	legacy   legacyState

	buf []byte
	inf inflater
}

// Reset begins to read a batch: it parses the header and decompresses the
// records if need be. batch must hold the whole batch, and may hold more; it
// must not change while the reader is used. The error is ErrShort, or a
// *FormatError, which may wrap ErrCodec or ErrTooLarge. Header is right
// whenever the fixed part could be read.
func (r *Reader) Reset(batch []byte) error {
	r.section, r.inflated, r.start, r.pos, r.left = nil, false, 0, 0, 0
	r.rec = Record{}
	r.legacy = legacyState{}
	r.hdr, r.err = ParseHeader(batch)
	if r.err != nil {
		return r.err
	}
	if size := r.hdr.Size(); int64(len(batch)) < size {
		r.err = fmt.Errorf("%d of %d bytes are here: %w", len(batch), size, ErrShort)
		return r.err
	}
	batch = batch[:r.hdr.Size():r.hdr.Size()]
	if r.hdr.Legacy() {
		r.err = r.resetLegacy(batch)
	} else {
		r.err = r.resetV2(batch)
	}
	if r.err != nil {
		r.section, r.left = nil, 0
	}
	return r.err
}

func (r *Reader) resetV2(batch []byte) error {
	h := &r.hdr
	if h.Count < 0 {
		return &FormatError{Pos: posCount, Field: "record count", What: strconv.Itoa(int(h.Count))}
	}
	if h.LastOffsetDelta < 0 {
		return &FormatError{Pos: posLastDelta, Field: "last offset delta", What: strconv.Itoa(int(h.LastOffsetDelta))}
	}
	r.section, r.start = batch[HeaderSize:], HeaderSize
	if c := h.Codec(); c != None && (h.Count > 0 || len(r.section) > 0) {
		if err := r.inflate(c, r.section, HeaderSize); err != nil {
			return err
		}
	}
	if int64(h.Count)*minRecord > int64(len(r.section)) {
		return &FormatError{Pos: posCount, Field: "record count",
			What: fmt.Sprintf("%d cannot be in %d bytes", h.Count, len(r.section))}
	}
	r.left = h.Count
	return nil
}

// inflate makes section the decompressed src, which lies at pos in the batch.
func (r *Reader) inflate(c Codec, src []byte, pos int) error {
	if !c.Known() || c == Zstd && r.hdr.Legacy() {
		at := posAttributes
		if r.hdr.Legacy() {
			at = legacyAttrs
		}
		return &FormatError{Pos: at, Field: "attributes", What: c.String(), Err: ErrCodec}
	}
	limit := r.MaxInflated
	if limit <= 0 {
		limit = DefaultMaxInflated
	}
	out, err := r.inf.inflate(r.buf[:0], c, r.hdr.Magic, src, limit)
	if err != nil {
		return &FormatError{Pos: pos, Field: c.String() + " records", Err: err}
	}
	r.buf, r.section, r.inflated = out, out, true
	return nil
}

// Header is that of the batch given to Reset.
func (r *Reader) Header() Header { return r.hdr }

// Section is what the records lie in, decompressed: the bytes after the v2
// header, or a legacy message set. It is valid until the next Reset.
func (r *Reader) Section() []byte { return r.section }

// Inflated tells that Section is not part of the batch but decompressed.
func (r *Reader) Inflated() bool { return r.inflated }

// Record is the one that Next went to, valid until the next call of Next.
// What its slices point to is valid until the next Reset.
func (r *Reader) Record() *Record { return &r.rec }

// Err is what ended the walk: nil at the end of the batch, else a
// *FormatError, or the error of Reset.
func (r *Reader) Err() error { return r.err }

// Next goes to the next record. It is false at the end and on an error.
func (r *Reader) Next() bool {
	if r.left <= 0 {
		return r.nextSlow()
	}
	b, at := r.section, r.pos
	size, p := varint32(b, at)
	if p < 0 {
		return r.fail(at, "record length", varintFault(p))
	}
	if size < minRecord-1 {
		return r.fail(at, "record length", strconv.Itoa(int(size)))
	}
	if int(size) > len(b)-p {
		return r.fail(at, "record length", overrun(size, len(b)-p))
	}
	end := p + int(size)
	if !r.parse(b[:end], p) {
		return false
	}
	r.rec.Pos, r.rec.Size = at, end-at
	r.pos = end
	r.left--
	return true
}

// nextSlow ends a v2 batch or goes on in a legacy one.
func (r *Reader) nextSlow() bool {
	switch {
	case r.err != nil:
		return false
	case r.hdr.Legacy():
		return r.nextLegacy()
	case r.pos < len(r.section):
		return r.fail(r.pos, "records", fmt.Sprintf("%d bytes behind the last", len(r.section)-r.pos))
	}
	return false
}

// parse fills the record with what b[p:] holds, which must be used up.
func (r *Reader) parse(b []byte, p int) bool {
	rec := &r.rec
	rec.Attributes = int8(b[p])
	at := p + 1
	var q int
	if rec.TimestampDelta, q = varint64(b, at); q < 0 {
		return r.fail(at, "timestamp delta", varintFault(q))
	}
	at = q
	if rec.OffsetDelta, q = varint32(b, at); q < 0 {
		return r.fail(at, "offset delta", varintFault(q))
	}
	at = q
	var what string
	if rec.Key, q, what = headerPart(b, at, true); what != "" {
		return r.fail(at, "key length", what)
	}
	at = q
	if rec.Value, q, what = headerPart(b, at, true); what != "" {
		return r.fail(at, "value length", what)
	}
	at = q
	if rec.HeaderCount, q = varint32(b, at); q < 0 {
		return r.fail(at, "header count", varintFault(q))
	}
	if n := rec.HeaderCount; n < 0 || int(n) > (len(b)-q)/2 {
		return r.fail(at, "header count", fmt.Sprintf("%d in %d bytes", n, len(b)-q))
	}
	rec.RawHeaders = b[q:len(b):len(b)]
	if rec.HeaderCount > 0 || q != len(b) {
		if !r.checkHeaders(b, q) {
			return false
		}
	}
	rec.Offset = r.hdr.BaseOffset + int64(rec.OffsetDelta)
	rec.Timestamp = r.hdr.BaseTimestamp + rec.TimestampDelta
	if r.hdr.Attributes&attrLogAppendTime != 0 {
		rec.Timestamp = r.hdr.MaxTimestamp
	}
	return true
}

// checkHeaders steps over the headers in b[p:], which must fill it.
func (r *Reader) checkHeaders(b []byte, p int) bool {
	for i := int32(0); i < r.rec.HeaderCount; i++ {
		_, q, what := headerPart(b, p, false)
		if what != "" {
			return r.fail(p, "header name length", what)
		}
		_, next, what := headerPart(b, q, true)
		if what != "" {
			return r.fail(q, "header value length", what)
		}
		p = next
	}
	if p != len(b) {
		return r.fail(p, "record length", fmt.Sprintf("%d bytes behind the last field", len(b)-p))
	}
	return true
}

// fail ends the walk with damage at byte p of the section.
func (r *Reader) fail(p int, field, what string) bool {
	r.err = &FormatError{Pos: p + r.start, Inflated: r.inflated, Field: field, What: what}
	if r.inflated {
		r.err.(*FormatError).Pos = p
	}
	r.left = 0
	return false
}

func varintFault(code int) string {
	if code == -2 {
		return "varint is too long"
	}
	return "varint is cut"
}

func badLength(n int32) string { return strconv.Itoa(int(n)) }

func overrun(n int32, left int) string { return fmt.Sprintf("%d, but %d bytes are left", n, left) }
