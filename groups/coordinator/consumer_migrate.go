package coordinator

import (
	"maps"
	"slices"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/assign"
	"github.com/strata-kafka/strata/model"
)

// toConsumer makes a classic group a consumer group, since a consumer member joins; nil where that must not be: its
// members do not speak of subscriptions, or live in this process, or the options say no. Members keep what they were
// assigned, and are told to join anew.
func (k *classic) toConsumer() *consumerKind {
	o := &k.g.c.o.Consumer
	if len(k.members) == 0 {
		k.halt()
		return newConsumerKind(k.g, newConsumerGroup(k.g.id, 0))
	}
	if o.Migration != "bidirectional" && o.Migration != "upgrade" || k.protocolType != consumerType {
		return nil
	}
	subs := make([]classicSubscription, len(k.members))
	for i, m := range k.members {
		if m.local != nil || len(m.protocols) == 0 {
			return nil
		}
		meta := m.metadata(k.protocol)
		if meta == nil {
			meta = m.protocols[0].Metadata
		}
		var ok bool
		if subs[i], ok = parseClassicSubscription(meta); !ok {
			return nil
		}
	}
	g := newConsumerGroup(k.g.id, k.generation)
	for i, m := range k.members {
		c := &consumerMember{
			id: m.id, instance: m.instance, rack: subs[i].rack, client: m.client, host: m.host, rebalance: m.rebalance,
			epoch: g.epoch, previous: g.epoch, classic: &classicSide{session: m.session, protocols: m.protocols},
			names: slices.Compact(slices.Sorted(slices.Values(subs[i].topics))), expires: time.Now().Add(m.session),
		}
		g.put(c)
	}
	g.refresh(k.g.c.o.Topics)
	for _, m := range k.members {
		c := g.members[m.id]
		// What an assignor gave to two goes to the first, and the other is told.
		c.current, _ = g.free(byID(parseAssignment(m.assignment), k.g.c.o.Topics))
		c.target = c.current
		g.own(c, c.current, g.epoch)
	}
	k.halt()
	kind := newConsumerKind(k.g, g)
	kind.watchAll()
	return kind
}

// halt answers all that wait with RebalanceInProgress and stops all timers.
func (k *classic) halt() {
	k.join.stop()
	k.sync.stop()
	for _, t := range k.pending {
		t.stop()
	}
	for _, m := range k.members {
		k.answerJoin(m, JoinAnswer{Code: groups.RebalanceInProgress, MemberID: m.id})
		answerSync(m, SyncAnswer{Code: groups.RebalanceInProgress})
		m.expiry.stop()
	}
}

// toClassic makes the group a classic one when all its members are: the last consumer member has gone. joined is the
// classic member that has just taken its place, or nil; without one the members join anew. It reports whether it did.
func (k *consumerKind) toClassic(joined *consumerMember) bool {
	o := &k.g.c.o
	if len(k.members) == 0 || o.Consumer.Migration != "bidirectional" && o.Consumer.Migration != "downgrade" || o.MaxSize > 0 && len(k.members) > o.MaxSize {
		return false
	}
	for _, m := range k.members {
		if m.classic == nil {
			return false
		}
	}
	if joined != nil && joined.instance == "" {
		return false // it has taken nobody's place
	}
	k.expiry.stop()
	// Not the group's epoch, which has risen with what has just left: members that are up to date are to learn that they
	// must join anew, not that they are out of date.
	c := newClassic(k.g, groups.Known{Generation: k.assigned, ProtocolType: consumerType})
	for _, id := range slices.Sorted(maps.Keys(k.members)) {
		m := k.members[id]
		target := m.target
		if target == nil {
			target = assign.Assignment{}
		}
		c.add(&member{
			id: m.id, instance: m.instance, client: m.client, host: m.host, rebalance: m.rebalance, session: m.classic.session,
			protocols: m.classic.protocols, assignment: k.classicAssignment(m, target),
		}, consumerType)
	}
	c.state, c.protocol = model.GroupStable, c.vote()
	k.g.kind = c
	for _, m := range c.members {
		c.touch(m)
	}
	if joined == nil {
		c.rebalance()
	}
	// Where it cannot be stored, the members find the group as it was after the next start.
	c.write, _ = k.g.post(c.blob())
	k.write = c.write
	return true
}
