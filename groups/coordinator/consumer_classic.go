package coordinator

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/assign"
	"github.com/strata-kafka/strata/model"
)

// joinOther serves a join of a classic client in a consumer group: it is a member like the others, but that it learns of
// a new target by a heartbeat, says what it has by joining, and fetches what it gets by syncing.
func (c *Coordinator) joinOther(g *group, r JoinRequest) JoinAnswer {
	k := g.kind.(*consumerKind)
	a, m := k.joinClassic(&r, *k.o, c.o.Topics, time.Now())
	if m == nil || k.toClassic(m) {
		return a
	}
	k.arm(m.end())
	if err := k.save(); err != nil {
		return JoinAnswer{Code: groups.CoordinatorNotAvailable}
	}
	a.write = k.write
	return a
}

// joinClassic is a step of a classic member: it takes in what it subscribes to and has, and gives it an epoch. m is nil
// where it is not let in.
func (g *consumerGroup) joinClassic(r *JoinRequest, o ConsumerOptions, topics Topics, now time.Time) (a JoinAnswer, m *consumerMember) {
	fail := func(code groups.Code) (JoinAnswer, *consumerMember) { return JoinAnswer{Code: code}, nil }
	if o.full(len(g.members)) && g.members[r.Member] == nil {
		return fail(groups.GroupMaxSizeReached)
	}
	if r.local != nil || !g.supports(r) {
		return fail(groups.InconsistentGroupProtocol)
	}
	if r.Member == "" && r.Instance == "" && r.KnowsID {
		return JoinAnswer{Code: groups.MemberIDRequired, MemberID: newUUID()}, nil
	}
	sub, ok := parseClassicSubscription(r.Protocols[0].Metadata)
	if !ok {
		return fail(groups.InconsistentGroupProtocol)
	}
	m, code := g.findClassic(r)
	if code != groups.None {
		return fail(code)
	}
	renamed := m.updateClassic(r, sub)
	g.put(m)
	if renamed || g.stale(topics) {
		if g.refresh(topics) || renamed {
			g.epoch++
		}
	}
	g.aim(o.Assignors[0])
	g.reconcile(m, byID(sub.owned, topics), true, now)
	m.expires = now.Add(m.classic.session)
	m.classic.joinBy, m.classic.syncBy = time.Time{}, now.Add(m.rebalance)
	return JoinAnswer{Generation: m.epoch, ProtocolType: consumerType, Protocol: m.classic.protocols[0].Name, MemberID: m.id}, m
}

// supports reports whether a classic member's protocols suit the group: one must be known to all its classic members.
func (g *consumerGroup) supports(r *JoinRequest) bool {
	if r.ProtocolType != consumerType {
		return false
	}
	return slices.ContainsFunc(r.Protocols, func(p Protocol) bool {
		for _, m := range g.members {
			if m.classic != nil && !slices.ContainsFunc(m.classic.protocols, func(q Protocol) bool { return p.Name == q.Name }) {
				return false
			}
		}
		return true
	})
}

// findClassic returns the member that joins, making it where it is new.
func (g *consumerGroup) findClassic(r *JoinRequest) (*consumerMember, groups.Code) {
	if r.Instance == "" {
		m := g.members[r.Member]
		if m == nil {
			m = &consumerMember{id: r.Member}
			if m.id == "" {
				m.id = newUUID()
			}
		}
		return m, groups.None
	}
	old := g.members[g.static[r.Instance]]
	switch {
	case r.Member == "" && old == nil:
		return &consumerMember{id: newUUID(), instance: r.Instance}, groups.None
	case r.Member == "":
		return g.replace(old, newUUID()), groups.None
	case old == nil:
		return nil, groups.UnknownMemberID
	case old.id != r.Member:
		return nil, groups.FencedInstanceID
	}
	return old, groups.None
}

// updateClassic takes in what a join says of its member, and reports whether it subscribes to other topics than before.
func (m *consumerMember) updateClassic(r *JoinRequest, sub classicSubscription) (renamed bool) {
	m.client, m.host, m.rebalance = r.Client, r.Host, max(r.Rebalance, 0)
	if sub.rack != "" {
		m.rack = sub.rack
	}
	m.revokeBy = time.Time{}
	m.classic = &classicSide{session: r.Session, protocols: r.Protocols}
	names := slices.Compact(slices.Sorted(slices.Values(sub.topics)))
	renamed = !slices.Equal(names, m.names) || m.pattern != ""
	m.names, m.pattern, m.regex = names, "", nil
	return renamed
}

// byID returns partitions by the ids of their topics; those of topics that are gone are left out. tps are sorted.
func byID(tps []model.TopicPartition, topics Topics) assign.Assignment {
	a := assign.Assignment{}
	for i := 0; i < len(tps); {
		name := tps[i].Topic
		id, _, ok := topics.Topic(name)
		for ; i < len(tps) && tps[i].Topic == name; i++ {
			if ok && tps[i].Partition >= 0 {
				a[id] = append(a[id], tps[i].Partition)
			}
		}
	}
	return a
}

// knownClassic finds a classic member as a request names it.
func (g *consumerGroup) knownClassic(id, instance string) (*consumerMember, groups.Code) {
	if instance != "" {
		switch owner, ok := g.static[instance]; {
		case !ok:
			return nil, groups.UnknownMemberID
		case owner != id:
			return nil, groups.FencedInstanceID
		}
	}
	if m := g.members[id]; m != nil && m.classic != nil {
		return m, groups.None
	}
	return nil, groups.UnknownMemberID
}

// syncOther serves a sync in a consumer group.
func (c *Coordinator) syncOther(g *group, r SyncRequest) SyncAnswer {
	k := g.kind.(*consumerKind)
	a := k.syncClassic(&r, time.Now())
	k.watch(r.Member)
	a.write = k.write
	return a
}

// syncClassic answers with what a classic member has.
func (g *consumerGroup) syncClassic(r *SyncRequest, now time.Time) SyncAnswer {
	m, code := g.knownClassic(r.Member, r.Instance)
	switch {
	case code != groups.None:
		return SyncAnswer{Code: code}
	case r.Generation != m.epoch:
		return SyncAnswer{Code: groups.IllegalGeneration}
	case r.ProtocolType != nil && *r.ProtocolType != consumerType, r.Protocol != nil && *r.Protocol != m.classic.protocols[0].Name:
		return SyncAnswer{Code: groups.InconsistentGroupProtocol}
	case g.epoch > m.epoch && m.state != memberUnrevoked:
		m.rejoin(now)
		return SyncAnswer{Code: groups.RebalanceInProgress}
	}
	m.classic.syncBy = time.Time{}
	m.expires = now.Add(m.classic.session)
	return SyncAnswer{ProtocolType: consumerType, Protocol: m.classic.protocols[0].Name, Assignment: g.classicAssignment(m, m.current)}
}

// rejoin gives a classic member its rebalance's time to join anew.
func (m *consumerMember) rejoin(now time.Time) {
	if m.classic.joinBy.IsZero() {
		m.classic.joinBy = now.Add(m.rebalance)
	}
}

// classicAssignment encodes an assignment as the member's own protocol does.
func (g *consumerGroup) classicAssignment(m *consumerMember, a assign.Assignment) []byte {
	names := g.names()
	var tps []model.TopicPartition
	for t, ps := range a {
		for _, p := range ps {
			if names[t] != "" {
				tps = append(tps, model.TopicPartition{Topic: names[t], Partition: p})
			}
		}
	}
	slices.SortFunc(tps, model.TopicPartition.Compare)
	b := encodeAssignment(tps)
	if meta := m.classic.protocols[0].Metadata; len(meta) >= 2 {
		binary.BigEndian.PutUint16(b, min(binary.BigEndian.Uint16(meta), 3))
	}
	return b
}

// heartbeatOther serves a classic heartbeat in a consumer group.
func (c *Coordinator) heartbeatOther(g *group, member, instance string, generation int32) groups.Code {
	k := g.kind.(*consumerKind)
	code, changed := k.beatClassic(member, instance, generation, *k.o, c.o.Topics, time.Now())
	k.watch(member)
	if changed {
		_ = k.save() // a sign of life does not fail for it: the next step stores it
	}
	return code
}

// beatClassic says whether a classic member is to join anew: when there is a newer target, something to give up, or
// something to be had that others have given up.
func (g *consumerGroup) beatClassic(member, instance string, generation int32, o ConsumerOptions, topics Topics, now time.Time) (code groups.Code, changed bool) {
	m, code := g.knownClassic(member, instance)
	switch {
	case code != groups.None:
		return code, false
	case generation != m.epoch:
		return groups.IllegalGeneration, false
	}
	m.expires = now.Add(m.classic.session)
	if g.stale(topics) && g.refresh(topics) {
		g.epoch++
		changed = true
	}
	changed = g.aim(o.Assignors[0]) || changed
	if m.epoch < g.epoch || m.state == memberUnrevoked || m.state == memberUnreleased && !g.waits(m) {
		m.rejoin(now)
		return groups.RebalanceInProgress, changed
	}
	return groups.None, changed
}

// waits reports whether others still have partitions that a member is to get.
func (g *consumerGroup) waits(m *consumerMember) bool {
	_, missing := m.target.Split(m.current)
	_, waiting := g.free(missing)
	return waiting
}

// leaveOther has classic members leave a consumer group.
func (c *Coordinator) leaveOther(g *group, leavers []Leaver, codes []groups.Code) *groups.Write {
	k := g.kind.(*consumerKind)
	gone := false
	for i, l := range leavers {
		if l.Member == "" && l.Instance != "" {
			l.Member = k.static[l.Instance]
		}
		m, code := k.knownClassic(l.Member, l.Instance)
		if codes[i] = code; code == groups.None {
			k.remove(m)
			gone = true
		}
	}
	if !gone {
		return nil
	}
	// Where it cannot be stored, the members' sessions end after the next start.
	_ = k.left()
	return k.write
}

// classicSubscription is what a classic member of protocol type "consumer" says when it joins.
type classicSubscription struct {
	topics []string
	owned  []model.TopicPartition // sorted
	rack   string
}

// parseClassicSubscription reads a subscription of any version; ok is false where it is none.
//
//	i16 version, i32 count, count × short topic, i32 length and user data,
//	from 1: i32 count, count × (short topic, i32 count, count × i32 partition); from 2: i32 generation; from 3: short rack
func parseClassicSubscription(b []byte) (s classicSubscription, ok bool) {
	r := &reader{b: b}
	version := int16(r.u16())
	for range r.count(2) {
		s.topics = append(s.topics, r.short())
	}
	if n := int32(r.u32()); n > 0 {
		r.take(int(n))
	}
	if version < 0 || r.bad {
		return s, false
	}
	if version >= 1 {
		for range r.count(6) {
			topic := r.short()
			for range r.count(4) {
				s.owned = append(s.owned, model.TopicPartition{Topic: topic, Partition: int32(r.u32())})
			}
		}
	}
	if version >= 2 {
		r.u32()
	}
	if version >= 3 {
		if n := int16(r.u16()); n > 0 {
			s.rack = string(r.take(int(n)))
		}
	}
	slices.SortFunc(s.owned, model.TopicPartition.Compare)
	s.owned = slices.Compact(s.owned)
	return s, !r.bad
}
