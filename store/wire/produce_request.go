package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/strata-kafka/strata/store/layout"
)

// produceRequest is a Produce request as it lies in its frame. It is used again for the next one of a connection.
//
// Invariants:
//   - no topic is in topics twice, and no partition of a topic twice in parts
//   - parts of a topic follow each other, in the order of topics
type produceRequest struct {
	transactional []byte // transactional id; nil for none
	acks          int16
	topics        []produceTopic
	parts         []producePart

	many map[partKey]int // places in parts, where there are too many to look through
}

// produceTopic is a topic of a request.
type produceTopic struct {
	name  []byte // up to version 12
	id    layout.ID
	count int // parts
}

// producePart is a partition of a request, with what became of it.
type producePart struct {
	topic   int // in topics
	number  int32
	records []byte // nil for null
	producePartAnswer
}

// partKey is where a partition's records go to.
type partKey struct {
	topic  int
	number int32
}

// fewParts is up to how many partitions are looked through to find one that is there already.
const fewParts = 16

// Versions of Produce from which on something differs.
const (
	produceFlexible = 9
	produceByID     = 13
)

// parse reads a request's body, in which names and records stay. Errors wrap errClose.
func (p *produceRequest) parse(body []byte, version int16) error {
	p.topics, p.parts, p.many = p.topics[:0], p.parts[:0], nil
	r := wireReader{b: body, flexible: version >= produceFlexible}
	p.transactional = r.nullableString()
	p.acks = r.int16()
	r.int32() // the time-out: there is no other replica to wait for
	sorted := true
	for n := r.array(); n > 0 && !r.bad; n-- {
		t, known := p.topic(&r, version)
		sorted = sorted && (!known || t == len(p.topics)-1)
		for n := r.array(); n > 0 && !r.bad; n-- {
			part := producePart{topic: t, number: r.int32(), records: r.nullableBytes()}
			r.tags()
			p.add(part)
		}
		r.tags()
	}
	r.tags()
	if r.bad {
		return fmt.Errorf("%w: Produce version %d cut short", errClose, version)
	}
	if !sorted {
		p.sort()
	}
	return nil
}

// topic reads which topic follows, and returns its place and whether it had come before.
func (p *produceRequest) topic(r *wireReader, version int16) (place int, known bool) {
	var t produceTopic
	if version >= produceByID {
		copy(t.id[:], r.take(len(t.id)))
	} else {
		t.name = r.string()
	}
	for i := len(p.topics) - 1; i >= 0; i-- {
		if o := &p.topics[i]; o.id == t.id && bytes.Equal(o.name, t.name) {
			return i, true
		}
		if len(p.topics)-i > maxLookBack {
			break
		}
	}
	p.topics = append(p.topics, t)
	return len(p.topics) - 1, false
}

// maxLookBack bounds the work that a request of very many topics makes: one that comes again after so many others is
// answered on its own.
const maxLookBack = 1024

// add takes a partition; of one that is there already the later records count.
func (p *produceRequest) add(part producePart) {
	if i := p.find(part.topic, part.number); i >= 0 {
		p.parts[i].records = part.records
		return
	}
	p.topics[part.topic].count++
	p.parts = append(p.parts, part)
	if p.many != nil {
		p.many[partKey{part.topic, part.number}] = len(p.parts) - 1
	}
}

// find returns a partition's place in parts, -1 for none.
func (p *produceRequest) find(topic int, number int32) int {
	if len(p.parts) <= fewParts {
		for i := range p.parts {
			if p.parts[i].topic == topic && p.parts[i].number == number {
				return i
			}
		}
		return -1
	}
	if p.many == nil {
		p.many = make(map[partKey]int, 2*len(p.parts))
		for i := range p.parts {
			p.many[partKey{p.parts[i].topic, p.parts[i].number}] = i
		}
	}
	if i, ok := p.many[partKey{topic, number}]; ok {
		return i
	}
	return -1
}

// sort puts the partitions of each topic together.
func (p *produceRequest) sort() {
	by := make([][]producePart, len(p.topics))
	for _, part := range p.parts {
		by[part.topic] = append(by[part.topic], part)
	}
	p.parts = p.parts[:0]
	for _, parts := range by {
		p.parts = append(p.parts, parts...)
	}
}

// wireReader reads the protocol's types from a request. What it returns lies in the request. Once something is missing
// it is bad, and all it returns is empty.
type wireReader struct {
	b        []byte
	flexible bool
	bad      bool
}

func (r *wireReader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *wireReader) int16() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *wireReader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *wireReader) uvarint() uint32 {
	n, w := binary.Uvarint(r.b)
	if w <= 0 || n > 1<<32-1 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[w:]
	return uint32(n)
}

// array returns how many elements follow; null is none. A count that the bytes left cannot hold is bad.
func (r *wireReader) array() int {
	var n int
	if r.flexible {
		n = int(r.uvarint()) - 1
	} else {
		n = int(r.int32())
	}
	if n > len(r.b) {
		r.bad, r.b = true, nil
		return 0
	}
	return max(n, 0)
}

// nullableString returns nil for null.
func (r *wireReader) nullableString() []byte {
	if r.flexible {
		return r.compact()
	}
	n := int(r.int16())
	if n < 0 {
		return nil
	}
	return r.take(n)
}

func (r *wireReader) string() []byte {
	s := r.nullableString()
	if s == nil {
		r.bad = true
	}
	return s
}

// nullableBytes returns nil for null.
func (r *wireReader) nullableBytes() []byte {
	if r.flexible {
		return r.compact()
	}
	n := int(r.int32())
	if n < 0 {
		return nil
	}
	return r.take(n)
}

func (r *wireReader) compact() []byte {
	n := int(r.uvarint()) - 1
	if n < 0 {
		return nil
	}
	return r.take(n)
}

// tags skips a tag section.
func (r *wireReader) tags() {
	if !r.flexible || r.bad {
		return
	}
	b, err := skipTags(r.b)
	if err != nil {
		r.bad, r.b = true, nil
		return
	}
	r.b = b
}
