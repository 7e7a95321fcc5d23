package coordinator

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/strata-kafka/strata/groups/assign"
)

// encodeConsumer encodes what is to survive the process; doc.go draws it.
func encodeConsumer(g *consumerGroup) []byte {
	dst := []byte{kindConsumer}
	dst = binary.BigEndian.AppendUint32(dst, uint32(g.epoch))
	dst = binary.BigEndian.AppendUint32(dst, uint32(g.assigned))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(g.topics)))
	for _, name := range slices.Sorted(maps.Keys(g.topics)) {
		info := g.topics[name]
		dst = putLong(dst, name)
		dst = append(dst, info.id[:]...)
		dst = binary.BigEndian.AppendUint32(dst, uint32(info.partitions))
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(g.members)))
	for _, id := range g.ids() {
		dst = appendConsumerMember(dst, g.members[id])
	}
	return dst
}

func appendConsumerMember(dst []byte, m *consumerMember) []byte {
	for _, s := range []string{m.id, m.instance, m.rack, m.client, m.host, m.pattern, m.assignor} {
		dst = putLong(dst, s)
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.rebalance.Milliseconds()))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(m.names)))
	for _, name := range m.names {
		dst = putLong(dst, name)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(m.epoch))
	dst = binary.BigEndian.AppendUint32(dst, uint32(m.previous))
	dst = append(dst, byte(m.state))
	for _, a := range []assign.Assignment{m.current, m.revoking} {
		dst = appendHeld(dst, a, m.since)
	}
	dst = appendHeld(dst, m.target, nil)
	if m.classic == nil {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.classic.session.Milliseconds()))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(m.classic.protocols)))
	for _, p := range m.classic.protocols {
		dst = putLong(dst, p.Name)
		dst = putLong(dst, p.Metadata)
	}
	return dst
}

// appendHeld encodes partitions, each with the epoch since when it is held, or 0.
func appendHeld(dst []byte, a assign.Assignment, since map[assign.Topic]map[int32]int32) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(a)))
	for _, t := range a.Topics() {
		dst = append(dst, t[:]...)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(a[t])))
		for _, p := range a[t] {
			dst = binary.BigEndian.AppendUint32(dst, uint32(p))
			dst = binary.BigEndian.AppendUint32(dst, uint32(since[t][p]))
		}
	}
	return dst
}

// count takes the number of things that follow, each of at least size bytes.
func (r *reader) count(size int) int {
	n := r.u32()
	if uint64(n) > uint64(len(r.b)/size) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *reader) topic() (t assign.Topic) {
	copy(t[:], r.take(len(t)))
	return t
}

// assignment takes partitions and, where since is not nil, since when they are held.
func (r *reader) assignment(since map[assign.Topic]map[int32]int32) assign.Assignment {
	a := assign.Assignment{}
	for range r.count(28) {
		t := r.topic()
		var ps []int32
		for range r.count(8) {
			p, epoch := int32(r.u32()), int32(r.u32())
			if n := len(ps); p < 0 || n > 0 && ps[n-1] >= p {
				r.bad = true
			}
			ps = append(ps, p)
			if since != nil {
				if since[t] == nil {
					since[t] = map[int32]int32{}
				}
				since[t][p] = epoch
			}
		}
		if len(ps) == 0 || a[t] != nil {
			r.bad = true
		}
		a[t] = ps
	}
	return a
}

// parseConsumer decodes a record. What two members claim, and a pattern that cannot be read, make it none.
func parseConsumer(id string, b []byte) (*consumerGroup, error) {
	r := &reader{b: b}
	if r.u8() != kindConsumer {
		return nil, errState
	}
	epoch, assigned := int32(r.u32()), int32(r.u32())
	if epoch < 1 || assigned < 0 || assigned > epoch {
		return nil, errState
	}
	g := newConsumerGroup(id, epoch)
	g.assigned = assigned
	for range r.count(24) {
		name := string(r.long())
		g.topics[name] = topicInfo{r.topic(), int32(r.u32())}
	}
	for range r.count(1) {
		m := r.consumerMember()
		if r.bad || g.members[m.id] != nil {
			return nil, errState
		}
		for t, ps := range m.since {
			for p := range ps {
				if g.owners[t][p] != nil {
					return nil, errState
				}
				if g.owners[t] == nil {
					g.owners[t] = map[int32]*consumerMember{}
				}
				g.owners[t][p] = m
			}
		}
		g.put(m)
	}
	if r.bad || len(r.b) > 0 || len(g.members) == 0 {
		return nil, errState
	}
	return g, nil
}

func (r *reader) consumerMember() *consumerMember {
	m := &consumerMember{since: map[assign.Topic]map[int32]int32{}}
	for _, s := range []*string{&m.id, &m.instance, &m.rack, &m.client, &m.host, &m.pattern, &m.assignor} {
		*s = string(r.long())
	}
	m.rebalance = r.ms()
	for range r.count(4) {
		m.names = append(m.names, string(r.long()))
	}
	m.epoch, m.previous, m.state = int32(r.u32()), int32(r.u32()), memberState(r.u8())
	m.current, m.revoking = r.assignment(m.since), r.assignment(m.since)
	m.target = r.assignment(nil)
	if r.u8() != 0 {
		m.classic = r.classicSide()
	}
	if m.state > memberUnreleased || m.id == "" || overlap(m.current, m.revoking) || !slices.IsSorted(m.names) || m.epoch < staticLeaveEpoch {
		r.bad = true
	}
	if m.pattern != "" {
		var err error
		if m.regex, err = compile(m.pattern); err != nil {
			r.bad = true
		}
	}
	return m
}

// classicSide takes what makes a member one of the classic protocol.
func (r *reader) classicSide() *classicSide {
	c := &classicSide{session: r.ms()}
	for range r.count(8) {
		c.protocols = append(c.protocols, Protocol{Name: string(r.long()), Metadata: r.long()})
	}
	if len(c.protocols) == 0 {
		r.bad = true
	}
	return c
}
