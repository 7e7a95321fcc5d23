package wire

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kerr"
)

// fetchReply is the answer to a Fetch: what kmsg would encode, but for the records, which lie in files until they are
// sent.
type fetchReply struct {
	version   int16
	code      int16
	session   int32
	committed bool
	parts     []fetchPart // those with records have open files until release

	pool *buffers
	head *[]byte // all but the records
	cuts []cut
	n    int
}

// cut says that the records of a part stand behind byte at of head.
type cut struct{ at, part int }

// failed implements failing.
func (r *fetchReply) failed() bool {
	if r.code != 0 {
		return true
	}
	for i := range r.parts {
		if r.parts[i].code != 0 {
			return true
		}
	}
	return false
}

// size implements streamed.
func (r *fetchReply) size() int { return r.n }

// release implements streamed.
func (r *fetchReply) release() {
	for i := range r.parts {
		r.parts[i].slice.Close()
	}
	r.pool.put(r.head)
	r.head = nil
}

// AppendTo implements reply. It is not called.
func (r *fetchReply) AppendTo(dst []byte) []byte { return dst }

// stream implements streamed.
func (r *fetchReply) stream(w *sink) error {
	head, from := *r.head, 0
	for _, c := range r.cuts {
		if _, err := w.Write(head[from:c.at]); err != nil {
			return err
		}
		from = c.at
		if err := w.slice(&r.parts[c.part].slice); err != nil {
			return err
		}
	}
	_, err := w.Write(head[from:])
	return err
}

// encode writes everything but the records.
func (r *fetchReply) encode(s *Server, c *call) {
	r.pool = &s.pool
	r.head = r.pool.get(64 + 96*len(r.parts))
	b := binary.BigEndian.AppendUint32(*r.head, 0) // throttle time
	flexible := r.version >= 12
	if r.version >= 7 {
		b = binary.BigEndian.AppendUint16(b, uint16(r.code))
		b = binary.BigEndian.AppendUint32(b, uint32(r.session))
	}
	topics := 0
	for i := range r.parts {
		if i == 0 || !r.parts[i].sameTopic(&r.parts[i-1]) {
			topics++
		}
	}
	b = appendCount(b, flexible, topics)
	for i := 0; i < len(r.parts); {
		n := i + 1
		for n < len(r.parts) && r.parts[n].sameTopic(&r.parts[i]) {
			n++
		}
		if r.version >= 13 {
			b = append(b, r.parts[i].id[:]...)
		} else {
			b = appendString(b, r.parts[i].topic, flexible)
		}
		b = appendCount(b, flexible, n-i)
		for ; i < n; i++ {
			b = r.encodePart(b, i, s)
		}
		if flexible {
			b = append(b, 0)
		}
	}
	if flexible {
		b = r.encodeBrokers(b, s, c)
	}
	r.n += len(b)
	if cap(b) != cap(*r.head) {
		r.pool.put(r.head)
		r.head = &b
	} else {
		*r.head = b
	}
}

func (p *fetchPart) sameTopic(o *fetchPart) bool { return p.topic == o.topic && p.id == o.id }

// encodePart writes what stands before and behind the records of a part.
func (r *fetchReply) encodePart(b []byte, i int, s *Server) []byte {
	p := &r.parts[i]
	flexible := r.version >= 12
	b = binary.BigEndian.AppendUint32(b, uint32(p.number))
	b = binary.BigEndian.AppendUint16(b, uint16(p.code))
	b = binary.BigEndian.AppendUint64(b, uint64(p.slice.HighWatermark))
	b = binary.BigEndian.AppendUint64(b, uint64(p.slice.LastStable))
	if r.version >= 5 {
		b = binary.BigEndian.AppendUint64(b, uint64(p.slice.Start))
	}
	if !r.committed || p.code != 0 {
		b = appendCount(b, flexible, -1)
	} else {
		b = appendCount(b, flexible, len(p.slice.Aborted))
		for _, a := range p.slice.Aborted {
			b = binary.BigEndian.AppendUint64(b, uint64(a.Producer))
			b = binary.BigEndian.AppendUint64(b, uint64(a.First))
			if flexible {
				b = append(b, 0)
			}
		}
	}
	if r.version >= 11 {
		b = binary.BigEndian.AppendUint32(b, ^uint32(0)) // preferred read replica: none
	}
	n := int(p.slice.Size)
	b = appendCount(b, flexible, n)
	if n > 0 {
		r.cuts = append(r.cuts, cut{len(b), i})
		r.n += n
	}
	if flexible {
		b = r.encodeTags(b, p, s)
	}
	return b
}

// encodeTags writes a part's tag section.
func (r *fetchReply) encodeTags(b []byte, p *fetchPart, s *Server) []byte {
	epoch, leads := r.leader(p)
	tags := byte(0)
	if p.diverging != nil {
		tags++
	}
	if leads {
		tags++
	}
	b = append(b, tags)
	if d := p.diverging; d != nil {
		b = append(b, 0, 4+8+1) // tag, its length
		b = binary.BigEndian.AppendUint32(b, uint32(d.Epoch))
		b = binary.BigEndian.AppendUint64(b, uint64(d.Start))
		b = append(b, 0)
	}
	if leads {
		b = append(b, 1, 4+4+1)
		b = binary.BigEndian.AppendUint32(b, uint32(s.b.Engine.NodeID()))
		b = binary.BigEndian.AppendUint32(b, uint32(epoch))
		b = append(b, 0)
	}
	return b
}

// leader returns the leader epoch of a partition whose client has an old one.
func (r *fetchReply) leader(p *fetchPart) (epoch int32, ok bool) {
	if r.version < 16 || p.log == nil || p.code != kerr.FencedLeaderEpoch.Code && p.code != kerr.NotLeaderForPartition.Code {
		return 0, false
	}
	epoch, err := p.log.LeaderEpoch()
	return epoch, err == nil
}

// encodeBrokers writes the tag section of the answer, where the leader's address stands when a part names it.
func (r *fetchReply) encodeBrokers(b []byte, s *Server, c *call) []byte {
	for i := range r.parts {
		if _, ok := r.leader(&r.parts[i]); !ok {
			continue
		}
		host, port := c.conn.endpoint()
		t := appendCount(nil, true, 1)
		t = binary.BigEndian.AppendUint32(t, uint32(s.b.Engine.NodeID()))
		t = appendString(t, host, true)
		t = binary.BigEndian.AppendUint32(t, uint32(port))
		t = append(t, 0, 0) // no rack, no tags
		b = append(b, 1, 0)
		b = binary.AppendUvarint(b, uint64(len(t)))
		return append(b, t...)
	}
	return append(b, 0)
}

func appendString(b []byte, v string, flexible bool) []byte {
	if flexible {
		return append(binary.AppendUvarint(b, uint64(len(v)+1)), v...)
	}
	return append(binary.BigEndian.AppendUint16(b, uint16(len(v))), v...)
}
