package coordinator

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// The kinds of group by the byte that begins their stored state.
const (
	kindClassic  = 1
	kindConsumer = 2
)

const (
	flagRebalancing = 1 // of a group
	flagLocal       = 1 // of a member
)

// maxState is the most bytes of a group's state: what clients send is not to fill the store.
const maxState = 64 << 20

var errState = errors.New("stored members cannot be read")

// restore takes over a group of the broker before. What cannot be read is left out: its members join anew.
func (c *Coordinator) restore(id string, state []byte) {
	if len(state) == 0 {
		return
	}
	g := &group{id: id, c: c, dirty: true}
	g.mu.Lock()
	c.groups[id] = g
	switch state[0] {
	case kindClassic:
		if k, err := parseClassic(g, state); err == nil {
			g.kind = k
			k.resume()
		}
	case kindConsumer:
		if k := c.restoreConsumer(g, state); k != nil {
			g.kind = k
		}
	}
	c.unlock(g)
}

// resume goes on where the broker before has ended: sessions begin anew. Members of a process that is no more are out.
func (k *classic) resume() {
	rebalancing := k.state == model.GroupPreparing
	k.state = model.GroupStable
	members := k.members
	k.members = nil
	for _, m := range members {
		if m.local != nil {
			rebalancing = true
			continue
		}
		k.members = append(k.members, m)
		if m.instance != "" {
			k.static[m.instance] = m.id
		}
	}
	if k.find(k.leader) == nil && len(k.members) > 0 {
		k.leader = k.members[0].id
	}
	for _, m := range k.members {
		k.touch(m)
	}
	if rebalancing || len(k.members) == 0 {
		k.rebalance()
	}
}

// blob is what is stored of a group that has members; see the package comment.
func (k *classic) blob() []byte {
	b := []byte{kindClassic, 0}
	if k.state != model.GroupStable {
		b[1] = flagRebalancing
	}
	b = binary.BigEndian.AppendUint32(b, uint32(k.generation))
	b = putLong(b, k.protocolType)
	b = putLong(b, k.protocol)
	b = putLong(b, k.leader)
	b = binary.BigEndian.AppendUint32(b, uint32(len(k.members)))
	for _, m := range k.members {
		for _, s := range []string{m.id, m.instance, m.client, m.host} {
			b = putLong(b, s)
		}
		b = binary.BigEndian.AppendUint64(b, uint64(m.rebalance.Milliseconds()))
		b = binary.BigEndian.AppendUint64(b, uint64(m.session.Milliseconds()))
		flags := byte(0)
		if m.local != nil {
			flags = flagLocal
		}
		b = append(b, flags)
		b = binary.BigEndian.AppendUint32(b, uint32(len(m.protocols)))
		for _, p := range m.protocols {
			b = putLong(b, p.Name)
			b = putLong(b, p.Metadata)
		}
		b = putLong(b, m.assignment)
	}
	return b
}

// parseClassic is the inverse of blob.
func parseClassic(g *group, b []byte) (*classic, error) {
	r := reader{b: b[1:]}
	flags := r.u8()
	k := newClassic(g, groups.Known{Generation: int32(r.u32())})
	if flags&flagRebalancing != 0 {
		k.state = model.GroupPreparing
	}
	k.protocolType, k.protocol, k.leader = string(r.long()), string(r.long()), string(r.long())
	n := r.u32()
	for i := uint32(0); i < n && !r.bad; i++ {
		m := &member{id: string(r.long()), instance: string(r.long()), client: string(r.long()), host: string(r.long())}
		m.rebalance, m.session = r.ms(), r.ms()
		if r.u8()&flagLocal != 0 {
			m.local = &Member{}
		}
		protocols := r.u32()
		for j := uint32(0); j < protocols && !r.bad; j++ {
			m.protocols = append(m.protocols, Protocol{Name: string(r.long()), Metadata: r.long()})
		}
		m.assignment = r.long()
		k.members = append(k.members, m)
	}
	if r.bad || len(r.b) > 0 || len(k.members) == 0 || k.generation < 0 {
		return nil, errState
	}
	return k, nil
}

func putLong[T ~string | ~[]byte](b []byte, s T) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

// reader takes values from the front of b. After the first that is not there all are zero, and bad is set.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad = true
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u8() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// ms takes a time in milliseconds.
func (r *reader) ms() time.Duration {
	ms := int64(r.u64())
	if ms > math.MaxInt64/int64(time.Millisecond) || ms < -1 {
		r.bad = true
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

func (r *reader) long() []byte { return r.take(int(r.u32())) }

// short takes a string behind a length of two bytes, as Kafka's protocols have it.
func (r *reader) short() string { return string(r.take(int(r.u16()))) }
