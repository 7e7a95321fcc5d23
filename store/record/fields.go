package record

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MaxFields is the most fields that Fields gives.
const MaxFields = 4096

// Field is a piece of a batch, for a view of its bytes.
type Field struct {
	Name  string // "base offset"; of records "record 3 key"
	Pos   int    // byte within the batch
	Len   int    // bytes
	Value string // as a person reads it; keys and values are not shown
	Note  string // what is remarkable, or ""
}

// Fields lays out a whole batch of any magic: the header, then the records if
// they are not compressed, up to MaxFields or to the first damage. What is
// missing of the batch is left out.
func Fields(batch []byte) []Field {
	s := &sheet{b: batch}
	if len(batch) >= PrefixSize {
		if size, _, err := PeekSize(batch); err == nil && size < int64(len(batch)) {
			s.b = batch[:size]
		}
	}
	s.number("base offset", 0, 8, nil)
	s.number("length", posLength, 4, func(v int64) string { return fmt.Sprintf("%d bytes in all", v+lengthEnd) })
	if len(batch) > posMagic && batch[posMagic] < 2 {
		s.fields[0].Name = "offset"
		s.legacy()
		return s.fields
	}
	s.header()
	return s.fields
}

// RecordFields lays out the records of a v2 batch in its decompressed section,
// as Fields does of a plain batch; a Pos is a byte within the section.
func RecordFields(section []byte, h Header) []Field {
	s := &sheet{b: section}
	s.records(h, 0)
	return s.fields
}

// sheet gathers the fields of a batch.
type sheet struct {
	b      []byte
	fields []Field
}

func (s *sheet) full() bool { return len(s.fields) >= MaxFields }

// add appends a field, if its bytes are there.
func (s *sheet) add(name string, pos, n int, value, note string) {
	if pos+n <= len(s.b) && !s.full() {
		s.fields = append(s.fields, Field{Name: name, Pos: pos, Len: n, Value: value, Note: note})
	}
}

// number appends a big-endian integer of n bytes.
func (s *sheet) number(name string, pos, n int, note func(int64) string) {
	if pos+n > len(s.b) {
		return
	}
	var v int64
	switch n {
	case 1:
		v = int64(int8(s.b[pos]))
	case 2:
		v = int64(int16(binary.BigEndian.Uint16(s.b[pos:])))
	case 4:
		v = int64(int32(binary.BigEndian.Uint32(s.b[pos:])))
	default:
		v = int64(binary.BigEndian.Uint64(s.b[pos:]))
	}
	text := ""
	if note != nil {
		text = note(v)
	}
	s.add(name, pos, n, strconv.FormatInt(v, 10), text)
}

// damage ends the sheet with what cannot be read.
func (s *sheet) damage(name string, pos int, what string) {
	if pos < len(s.b) {
		s.add(name, pos, len(s.b)-pos, "damaged", what)
	}
}

func (s *sheet) header() {
	none := func(v int64) string { return ifNone(v, "none") }
	s.number("leader epoch", posEpoch, 4, none)
	s.number("magic", posMagic, 1, nil)
	s.crc(posCRC)
	h, err := ParseHeader(s.b)
	if err != nil {
		return
	}
	s.number("attributes", posAttributes, 2, func(int64) string { return attributesNote(h) })
	s.number("last offset delta", posLastDelta, 4, func(int64) string { return fmt.Sprintf("last offset %d", h.LastOffset()) })
	base := "base timestamp"
	if _, ok := h.DeleteHorizon(); ok {
		base = "delete horizon"
	}
	s.number(base, posBaseTime, 8, timeNote)
	s.number("max timestamp", posMaxTime, 8, timeNote)
	s.number("producer id", posProducerID, 8, none)
	s.number("producer epoch", posProducerEp, 2, none)
	s.number("base sequence", posSequence, 4, func(v int64) string {
		if !h.HasProducer() {
			return "none"
		}
		return ifNone(v, "none")
	})
	s.number("record count", posCount, 4, func(v int64) string {
		if v == 0 {
			return "emptied by compaction"
		}
		return ""
	})
	if c := h.Codec(); c != None {
		s.add("records", HeaderSize, len(s.b)-HeaderSize, fmt.Sprintf("%d bytes", len(s.b)-HeaderSize), c.String())
		return
	}
	s.records(h, HeaderSize)
}

func (s *sheet) crc(pos int) {
	if pos+4 > len(s.b) {
		return
	}
	note := "not checked: bytes are missing"
	if size, _, err := PeekSize(s.b); err == nil && size == int64(len(s.b)) {
		note = "good"
		if stored, computed := Checksum(s.b); stored != computed {
			note = fmt.Sprintf("bad: computed %08x", computed)
		}
	}
	s.add("crc", pos, 4, fmt.Sprintf("%08x", binary.BigEndian.Uint32(s.b[pos:])), note)
}

// records lays out the plain records of a v2 batch, the first one at p.
func (s *sheet) records(h Header, p int) {
	for i := int32(0); i < h.Count && !s.full(); i++ {
		name := "record " + strconv.Itoa(int(i)) + " "
		size, q := varint32(s.b, p)
		if q < 0 || size < minRecord-1 || int(size) > len(s.b)-q {
			s.damage(name+"length", p, "cannot be "+strconv.Itoa(int(size)))
			return
		}
		s.add(name+"length", p, q-p, strconv.Itoa(int(size)), "")
		end := q + int(size)
		if !s.record(h, name, q, end) {
			return
		}
		p = end
	}
	if p < len(s.b) && !s.full() {
		s.damage("rest", p, "bytes behind the last record")
	}
}

// record lays out the record in b[p:end], which has more than minRecord bytes.
func (s *sheet) record(h Header, name string, p, end int) bool {
	b := s.b[:end]
	s.add(name+"attributes", p, 1, strconv.Itoa(int(b[p])), "")
	p++
	ts, q := varint64(b, p)
	if q < 0 {
		s.damage(name+"timestamp delta", p, varintFault(q))
		return false
	}
	note := timeNote(h.BaseTimestamp + ts)
	if h.LogAppendTime() {
		note = "overruled by the append time"
	}
	s.add(name+"timestamp delta", p, q-p, strconv.FormatInt(ts, 10), note)
	p = q
	delta, q := varint32(b, p)
	if q < 0 {
		s.damage(name+"offset delta", p, varintFault(q))
		return false
	}
	s.add(name+"offset delta", p, q-p, strconv.Itoa(int(delta)), fmt.Sprintf("offset %d", h.BaseOffset+int64(delta)))
	p = q
	for _, part := range [...]string{"key", "value"} {
		if p = s.part(b, p, name+part, true); p < 0 {
			return false
		}
	}
	count, q := varint32(b, p)
	if q < 0 || count < 0 {
		s.damage(name+"header count", p, "cannot be "+strconv.Itoa(int(count)))
		return false
	}
	s.add(name+"header count", p, q-p, strconv.Itoa(int(count)), "")
	p = q
	for i := int32(0); i < count && !s.full(); i++ {
		header := name + "header " + strconv.Itoa(int(i)) + " "
		if p = s.part(b, p, header+"name", false); p < 0 {
			return false
		}
		if p = s.part(b, p, header+"value", true); p < 0 {
			return false
		}
	}
	if p < end && !s.full() {
		s.damage(name+"rest", p, "bytes behind the last field")
		return false
	}
	return true
}

// part lays out a length and its bytes, and gives the place after them or -1.
func (s *sheet) part(b []byte, p int, name string, nullable bool) int {
	n, q := varint32(b, p)
	if q < 0 {
		s.damage(name+" length", p, varintFault(q))
		return -1
	}
	part, next, what := headerPart(b, p, nullable)
	if what != "" {
		s.damage(name+" length", p, what)
		return -1
	}
	s.add(name+" length", p, q-p, strconv.Itoa(int(n)), ifNone(int64(n), "null"))
	if len(part) > 0 {
		s.add(name, q, len(part), fmt.Sprintf("%d bytes", len(part)), "")
	}
	return next
}

// legacy lays out the rest of a magic 0 or 1 entry.
func (s *sheet) legacy() {
	s.crc(legacyCRC)
	s.number("magic", posMagic, 1, nil)
	h, err := ParseHeader(s.b)
	if err != nil {
		return
	}
	s.number("attributes", legacyAttrs, 1, func(int64) string { return attributesNote(h) })
	if h.Magic == 1 {
		s.number("timestamp", legacyTime, 8, timeNote)
	}
	at := legacyKeyPos(h.Magic)
	for _, field := range [...]string{"key", "value"} {
		part, next, err := legacyPart(s.b, at, field+" length")
		if err != nil {
			s.damage(field+" length", at, err.What)
			return
		}
		s.number(field+" length", at, 4, func(v int64) string { return ifNone(v, "null") })
		if len(part) > 0 {
			note := ""
			if field == "value" && h.Wrapper() {
				note = "message set in " + h.Codec().String()
			}
			s.add(field, at+4, len(part), fmt.Sprintf("%d bytes", len(part)), note)
		}
		at = next
	}
	if at < len(s.b) {
		s.damage("rest", at, "bytes behind the value")
	}
}

func ifNone(v int64, word string) string {
	if v == -1 {
		return word
	}
	return ""
}

func attributesNote(h Header) string {
	words := []string{h.Codec().String()}
	switch {
	case h.LogAppendTime():
		words = append(words, "LogAppendTime")
	case h.Magic > 0:
		words = append(words, "CreateTime")
	}
	if h.Transactional() {
		words = append(words, "transactional")
	}
	if h.Control() {
		words = append(words, "control")
	}
	if _, ok := h.DeleteHorizon(); ok {
		words = append(words, "delete horizon")
	}
	return strings.Join(words, ", ")
}

// timeNote is the time in UTC where it has four digits for its year.
func timeNote(ms int64) string {
	const year10000 = 253402300800000
	switch {
	case ms == NoTimestamp:
		return "none"
	case ms < 0 || ms >= year10000:
		return "out of range"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}
