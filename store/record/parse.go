package record

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// markCount is how many records are parsed at a time.
const markCount = 256

// parse checks records from pos on and marks where they end, until the marks
// are used up, the records are, or there is damage.
func (r *Reader) parse() {
	b, p := r.section, r.pos
	want := min(markCount, int(r.left))
	r.marks[0] = int32(p)
	n := 0
	for n < want {
		n += quickRecords(b, p, r.marks[n+1:want+1])
		if p = int(r.marks[n]); n == want {
			break
		}
		end := r.slowRecord(b, p)
		if end == 0 {
			r.left = int32(n)
			break
		}
		n++
		r.marks[n] = int32(end)
		p = end
	}
	r.pos, r.n = p, n
	r.left -= int32(n)
}

// quickRecords checks records at b[p:] and writes where they end into marks,
// until these are full or a record is unusual. It gives their number.
//
// The usual record has fields up to the key of 7 bytes together, which are
// looked at as one word; lengths of key and value of 1 or 2 bytes; no headers.
func quickRecords(b []byte, p int, marks []int32) int {
	last := len(b) - 8
	for i := range marks {
		if p > last {
			return i
		}
		w := binary.LittleEndian.Uint64(b[p : p+8])
		u := w & 0x7f
		k := p + 4
		if w&0x80 != 0 {
			u |= w >> 1 & 0x3f80
			k++
			w >>= 8
		}
		end := k - 3 + int(u>>1)
		if w&0xff80 != 0 || u&1 != 0 || end > len(b) {
			return i // a longer or impossible length, or attributes
		}
		// The last bytes of the deltas are those without the high bit.
		for w >>= 16; w&0x80 != 0; w >>= 8 {
			k++
		}
		for w >>= 8; w&0x80 != 0; w >>= 8 {
			k++
		}
		if k > p+7 {
			return i
		}
		n := int(b[k])
		if n >= 0x80 {
			if k++; k >= len(b) || b[k] >= 0x80 {
				return i
			}
			n = n&0x7f | int(b[k])<<7
		}
		if n&1 != 0 && n != 1 {
			return i
		}
		k += n>>1 + 1
		if k >= len(b) {
			return i
		}
		n = int(b[k])
		if n >= 0x80 {
			if k++; k >= len(b) || b[k] >= 0x80 {
				return i
			}
			n = n&0x7f | int(b[k])<<7
		}
		k += n>>1 + 1
		if n&1 != 0 && n != 1 || k != end-1 || b[end-1] != 0 {
			return i
		}
		marks[i] = int32(end)
		p = end
	}
	return len(marks)
}

// slowRecord checks any record at b[p:]. It gives the place after it, or 0 and
// leaves its fault.
func (r *Reader) slowRecord(b []byte, p int) int {
	fail := func(p int, field, what string) int {
		r.fault = r.damage(p, field, what)
		return 0
	}
	at := p
	size, p := varint32(b, at)
	if p < 0 {
		return fail(at, "record length", varintFault(p))
	}
	if size < minRecord-1 {
		return fail(at, "record length", strconv.Itoa(int(size)))
	}
	if int(size) > len(b)-p {
		return fail(at, "record length", overrun(size, len(b)-p))
	}
	end := p + int(size)
	b = b[:end]
	at = p + 1 // behind the attributes
	if _, p = varint64(b, at); p < 0 {
		return fail(at, "timestamp delta", varintFault(p))
	}
	at = p
	if _, p = varint32(b, at); p < 0 {
		return fail(at, "offset delta", varintFault(p))
	}
	at = p
	_, p, what := headerPart(b, at, true)
	if what != "" {
		return fail(at, "key length", what)
	}
	at = p
	if _, p, what = headerPart(b, at, true); what != "" {
		return fail(at, "value length", what)
	}
	at = p
	count, p := varint32(b, at)
	if p < 0 {
		return fail(at, "header count", varintFault(p))
	}
	if count < 0 || int(count) > (len(b)-p)/2 {
		return fail(at, "header count", fmt.Sprintf("%d in %d bytes", count, len(b)-p))
	}
	for range count {
		_, q, what := headerPart(b, p, false)
		if what != "" {
			return fail(p, "header name length", what)
		}
		if _, p, what = headerPart(b, q, true); what != "" {
			return fail(q, "header value length", what)
		}
	}
	if p != end {
		return fail(p, "record length", fmt.Sprintf("%d bytes behind the last field", end-p))
	}
	return end
}

// fill makes rec out of the current record, which has been checked.
func (r *Reader) fill() {
	if uint(r.at) >= uint(r.n) {
		return
	}
	r.filled = r.at
	pos, end := int(r.marks[r.at]), int(r.marks[r.at+1])
	b := r.section[pos:end:end]
	h := head(b)
	p := h.size
	var key, value, headers []byte
	n := int(b[p])
	if p++; n >= 0x80 {
		if c := int(b[p]); c < 0x80 {
			n = n&0x7f | c<<7
			p++
		} else {
			n, p = longLength(b, p)
		}
	}
	n = n>>1 ^ -(n & 1)
	if n >= 0 {
		key = b[p : p+n : p+n]
		p += n
	}
	n = int(b[p])
	if p++; n >= 0x80 {
		if c := int(b[p]); c < 0x80 {
			n = n&0x7f | c<<7
			p++
		} else {
			n, p = longLength(b, p)
		}
	}
	n = n>>1 ^ -(n & 1)
	if n >= 0 {
		value = b[p : p+n : p+n]
		p += n
	}
	count := int32(0)
	if b[p] != 0 {
		count, p = varint32(b, p)
		headers = b[p:]
	}
	ts := r.hdr.BaseTimestamp + h.timestamp
	if r.hdr.Attributes&attrLogAppendTime != 0 {
		ts = r.hdr.MaxTimestamp
	}
	rec := &r.rec
	rec.Key, rec.Value, rec.RawHeaders = key, value, headers
	rec.Offset, rec.Timestamp = r.hdr.BaseOffset+int64(h.offset), ts
	rec.TimestampDelta, rec.OffsetDelta = h.timestamp, h.offset
	rec.HeaderCount, rec.Attributes = count, h.attributes
	rec.Pos, rec.Size = pos, end-pos
}

// recordHead is what comes before the key.
type recordHead struct {
	timestamp  int64
	offset     int32
	attributes int8
	size       int
}

// longLength reads a length of more than two bytes at b[p-1:], zigzag as it is.
func longLength(b []byte, p int) (zigzag, next int) {
	v, next := varint32(b, p-1)
	return int(v) << 1, next
}

// head reads what comes before the key of a record that has been checked.
// Usually that is a word of 8 bytes, with none over two bytes.
func head(b []byte) (h recordHead) {
	if len(b) < 8 {
		return slowHead(b)
	}
	w := binary.LittleEndian.Uint64(b)
	h.size = 4
	if w&0x80 != 0 {
		if w&0x8000 != 0 {
			return slowHead(b)
		}
		w >>= 8
		h.size++
	}
	h.attributes = int8(w >> 8)
	w >>= 16
	u := w & 0x7f
	if w&0x80 != 0 {
		if w&0x8000 != 0 {
			return slowHead(b)
		}
		u |= w >> 1 & 0x3f80
		w >>= 8
		h.size++
	}
	h.timestamp = int64(u>>1) ^ -int64(u&1)
	w >>= 8
	u = w & 0x7f
	if w&0x80 != 0 {
		if w&0x8000 != 0 {
			return slowHead(b)
		}
		u |= w >> 1 & 0x3f80
		h.size++
	}
	h.offset = int32(u>>1) ^ -int32(u&1)
	return h
}

// slowHead is head for any record.
func slowHead(b []byte) (h recordHead) {
	_, p := varint32(b, 0)
	h.attributes = int8(b[p])
	h.timestamp, p = varint64(b, p+1)
	h.offset, h.size = varint32(b, p)
	return h
}
