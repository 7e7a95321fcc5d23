package record

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// legacyState is what a Reader needs beyond the header for magic 0 and 1.
type legacyState struct {
	base  int64 // added to inner offsets
	count int32 // messages
	first int64 // offset of the first
}

func parseLegacyHeader(b []byte, magic int8) (Header, error) {
	fixed := legacyKeyPos(magic)
	if len(b) < fixed {
		return Header{}, ErrShort
	}
	h := Header{
		BaseOffset:    int64(binary.BigEndian.Uint64(b)),
		Length:        int32(binary.BigEndian.Uint32(b[posLength:])),
		LeaderEpoch:   NoEpoch,
		Magic:         magic,
		CRC:           binary.BigEndian.Uint32(b[legacyCRC:]),
		Attributes:    int16(b[legacyAttrs]),
		BaseTimestamp: NoTimestamp,
		ProducerID:    NoProducer,
		ProducerEpoch: -1,
		BaseSequence:  NoSequence,
		Count:         1,
	}
	if magic == 1 {
		h.BaseTimestamp = int64(binary.BigEndian.Uint64(b[legacyTime:]))
	}
	h.MaxTimestamp = h.BaseTimestamp
	if h.Codec() != None {
		h.Count = -1
	}
	return h, nil
}

// legacyKeyPos is where the key length of a legacy entry is.
func legacyKeyPos(magic int8) int {
	if magic == 1 {
		return legacyKeyPosV1
	}
	return legacyKeyPosV0
}

// LegacyFirst decompresses a magic 0 or 1 entry to find the offset of its
// first message and how many it has. It is safe for concurrent use.
func LegacyFirst(entry []byte) (offset int64, count int32, err error) {
	r := Borrow()
	defer r.Return()
	if err := r.Reset(entry); err != nil {
		return 0, 0, err
	}
	if !r.hdr.Legacy() {
		return r.hdr.BaseOffset, r.hdr.Count, nil
	}
	return r.legacy.first, r.legacy.count, nil
}

func (r *Reader) resetLegacy(batch []byte) error {
	if !r.hdr.Wrapper() {
		r.section = batch
		r.legacy = legacyState{count: 1, first: r.hdr.BaseOffset}
		return nil
	}
	_, value, ferr := legacyKeyValue(batch, legacyKeyPos(r.hdr.Magic))
	if ferr != nil {
		return ferr
	}
	if value == nil {
		return &FormatError{Pos: legacyKeyPos(r.hdr.Magic) + 4, Field: "value length", What: "null in a compressed message"}
	}
	if err := r.inflate(r.hdr.Codec(), value, len(batch)-len(value)); err != nil {
		return err
	}
	return r.scanInner()
}

// scanInner hops over the inner messages to learn their number and, from the
// last one, what must be added to the relative offsets of magic 1.
func (r *Reader) scanInner() error {
	var first, last int64
	var n int32
	for p := 0; ; {
		size, err := r.innerSize(p)
		if err != nil {
			return err
		}
		if size == 0 {
			r.section = r.section[:p]
			break
		}
		last = int64(binary.BigEndian.Uint64(r.section[p:]))
		if n == 0 {
			first = last
		}
		n++
		p += size
	}
	if n == 0 {
		return &FormatError{Field: "inner messages", What: "none", Inflated: true}
	}
	st := legacyState{count: n}
	// Old librdkafka writes 0 to a wrapper that it produces.
	if r.hdr.Magic == 1 && r.hdr.BaseOffset != 0 {
		if last < 0 || r.hdr.BaseOffset < last {
			return &FormatError{Field: "inner offset", Inflated: true,
				What: fmt.Sprintf("last is %d, beyond the wrapper's %d", last, r.hdr.BaseOffset)}
		}
		st.base = r.hdr.BaseOffset - last
	}
	st.first = first + st.base
	r.legacy = st
	return nil
}

// innerSize gives the size of the message at p of the section, 0 when the
// rest is no whole message, which ends a message set.
func (r *Reader) innerSize(p int) (int, error) {
	b := r.section[p:]
	if len(b) < PrefixSize {
		return 0, nil
	}
	size, magic, err := PeekSize(b)
	var fe *FormatError
	if errors.As(err, &fe) {
		fe.Pos, fe.Inflated = fe.Pos+p, true
		return 0, fe
	}
	if size > int64(len(b)) {
		return 0, nil
	}
	if magic != r.hdr.Magic {
		return 0, &FormatError{Pos: p + posMagic, Inflated: true, Field: "magic",
			What: fmt.Sprintf("%d in a message set of %d", magic, r.hdr.Magic)}
	}
	return int(size), nil
}

// nextLegacy goes to the next message of a message set, or to the only one.
func (r *Reader) nextLegacy() bool {
	at := r.pos
	if at >= len(r.section) {
		return false
	}
	size := len(r.section) - at
	if r.inflated {
		n, err := r.innerSize(at)
		if err != nil {
			r.err = err
			return false
		}
		if n == 0 {
			return false
		}
		size = n
	}
	msg := r.section[at : at+size : at+size]
	h, err := parseLegacyHeader(msg, r.hdr.Magic)
	if err != nil {
		return r.fail(at, "length", "too short for its magic")
	}
	if r.inflated && h.Codec() != None {
		return r.fail(at+legacyAttrs, "attributes", "compressed message inside a compressed one")
	}
	key, value, ferr := legacyKeyValue(msg, legacyKeyPos(h.Magic))
	if ferr != nil {
		return r.fail(at+ferr.Pos, ferr.Field, ferr.What)
	}
	rec := Record{Offset: h.BaseOffset, Timestamp: h.BaseTimestamp, Attributes: int8(h.Attributes),
		Key: key, Value: value, Pos: at, Size: size}
	if r.inflated {
		rec.Offset += r.legacy.base
		if r.hdr.LogAppendTime() {
			rec.Timestamp = r.hdr.MaxTimestamp
		}
	}
	r.rec = rec
	r.pos = at + size
	return true
}

// legacyKeyValue reads key and value of a legacy entry, which must fill it
// from p on.
func legacyKeyValue(entry []byte, p int) (key, value []byte, err *FormatError) {
	key, p, err = legacyPart(entry, p, "key length")
	if err != nil {
		return nil, nil, err
	}
	value, p, err = legacyPart(entry, p, "value length")
	if err != nil {
		return nil, nil, err
	}
	if p != len(entry) {
		return nil, nil, &FormatError{Pos: p, Field: "value", What: fmt.Sprintf("%d bytes behind it", len(entry)-p)}
	}
	return key, value, nil
}

func legacyPart(b []byte, p int, field string) (part []byte, next int, err *FormatError) {
	if len(b)-p < 4 {
		return nil, p, &FormatError{Pos: p, Field: field, What: "is cut"}
	}
	n := int32(binary.BigEndian.Uint32(b[p:]))
	left := len(b) - p - 4
	switch {
	case n == -1:
		return nil, p + 4, nil
	case n < 0:
		return nil, p, &FormatError{Pos: p, Field: field, What: badLength(n)}
	case int(n) > left:
		return nil, p, &FormatError{Pos: p, Field: field, What: overrun(n, left)}
	}
	end := p + 4 + int(n)
	return b[p+4 : end : end], end, nil
}
