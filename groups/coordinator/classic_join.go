package coordinator

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// JoinRequest is a member's wish to be in a group. Its slices are the Coordinator's from then on.
type JoinRequest struct {
	Group        string
	Member       string // "" for one that has no id yet
	Instance     string // group.instance.id; "" for a dynamic member
	Client, Host string
	Session      time.Duration // after which silence is death
	Rebalance    time.Duration // how long others wait for the member to join anew
	ProtocolType string
	Protocols    []Protocol // in the order of preference
	// KnowsID is set for a client that joins a second time with the id that it is given (version 4 and later).
	KnowsID bool
	// CanSkip is set for a client that can be told not to assign although it leads (version 9 and later).
	CanSkip bool
	local   *Member
}

// JoinAnswer is the answer to a JoinRequest.
type JoinAnswer struct {
	Code         groups.Code
	Generation   int32 // -1 on an error
	ProtocolType string
	Protocol     string
	Leader       string
	MemberID     string
	Skip         bool         // the leader is not to assign
	Members      []JoinMember // for the leader

	write *groups.Write // to be waited for before the answer is given
}

// JoinMember is what a leader is told of a member.
type JoinMember struct {
	ID, Instance string
	Metadata     []byte
}

// Join takes a member into a group and returns when the group's members have all joined, or the rebalance's time is over.
func (c *Coordinator) Join(ctx context.Context, r JoinRequest) JoinAnswer {
	a, wait := c.join(r)
	if wait != nil {
		select {
		case a = <-wait:
		case <-ctx.Done():
			a = JoinAnswer{Code: groups.NotCoordinator, MemberID: r.Member}
		}
	}
	if a.write != nil && a.write.Wait(ctx) != nil {
		a = JoinAnswer{Code: groups.CoordinatorNotAvailable, MemberID: r.Member}
	}
	if a.Code != groups.None {
		a.Generation = -1
	}
	return a
}

// join answers at once, or with the channel on which the answer comes.
func (c *Coordinator) join(r JoinRequest) (JoinAnswer, <-chan JoinAnswer) {
	fail := func(code groups.Code) JoinAnswer { return JoinAnswer{Code: code, MemberID: r.Member} }
	switch {
	case r.Group == "" || len(r.Group) > maxGroupID:
		return fail(groups.InvalidGroupID), nil
	case r.local == nil && (r.Session < c.o.MinSession || r.Session > c.o.MaxSession):
		return fail(groups.InvalidSessionTimeout), nil
	}
	if c.isClosed() {
		return fail(groups.NotCoordinator), nil
	}
	var g *group
	if r.Member != "" {
		// Whoever has an id is known.
		if g = c.lock(r.Group); g == nil {
			return fail(groups.UnknownMemberID), nil
		}
	} else {
		var known groups.Known
		var code groups.Code
		if g, known, code = c.lockOrMake(r.Group); code != groups.None {
			return fail(code), nil
		}
		if g.kind == nil {
			g.kind = newClassic(g, known)
		}
	}
	defer c.unlock(g)
	k, ok := g.kind.(*classic)
	if !ok {
		return c.joinOther(g, r), nil
	}
	if code := k.admit(r); code != groups.None {
		return fail(code), nil
	}
	if r.Member == "" {
		return k.joinNew(r)
	}
	return k.joinKnown(r)
}

// maxGroupID is the most bytes of a group's name.
const maxGroupID = 8192

// admit says whether there is room for a member, and whether its protocols suit the group.
func (k *classic) admit(r JoinRequest) groups.Code {
	if limit := k.g.c.o.MaxSize; limit > 0 && k.state != model.GroupEmpty {
		m := k.find(r.Member)
		n := len(k.members)
		if k.state == model.GroupPreparing {
			n = k.waiting
		}
		inside := m != nil && (k.state != model.GroupPreparing || m.joining != nil)
		if _, replaces := k.static[r.Instance]; !inside && !replaces && n >= limit {
			if m != nil {
				k.remove(m, groups.UnknownMemberID)
			}
			return groups.GroupMaxSizeReached
		}
	}
	if !k.supports(r.ProtocolType, r.Protocols) {
		return groups.InconsistentGroupProtocol
	}
	return groups.None
}

// joinNew serves a join without a member id.
func (k *classic) joinNew(r JoinRequest) (JoinAnswer, <-chan JoinAnswer) {
	if r.Instance != "" {
		if old := k.find(k.static[r.Instance]); old != nil {
			return k.replace(old, r)
		}
		return k.admitNew(memberIDOf(r.Instance), r)
	}
	id := memberIDOf(r.Client)
	if !r.KnowsID {
		return k.admitNew(id, r)
	}
	t := &timer{}
	t.set(k.g, r.Session, func() { // it has gone without a word
		delete(k.pending, id)
		k.fewerPending()
	})
	k.pending[id] = t
	return JoinAnswer{Code: groups.MemberIDRequired, MemberID: id}, nil
}

// fewerPending goes on after somebody who was waited for has joined or given up.
func (k *classic) fewerPending() {
	if k.state == model.GroupPreparing {
		k.tryComplete()
	}
}

// memberIDOf makes an id as Kafka's brokers do: a name, and 128 random bits.
func memberIDOf(name string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	x := hex.EncodeToString(b[:])
	return name + "-" + x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

// admitNew makes a member that waits for the join to complete.
func (k *classic) admitNew(id string, r JoinRequest) (JoinAnswer, <-chan JoinAnswer) {
	m := &member{
		id: id, instance: r.Instance, client: r.Client, host: r.Host, rebalance: r.Rebalance, session: r.Session,
		protocols: r.Protocols, local: r.local, fresh: true, heard: time.Now(),
	}
	if m.local == nil {
		m.expiry.set(k.g, newMemberTimeout, func() { k.expire(m) })
	} else {
		m.local.named(id)
	}
	k.more = true
	k.add(m, r.ProtocolType)
	wait := k.park(m)
	k.rebalanceOrComplete()
	return JoinAnswer{}, wait
}

// park has a member's join wait.
func (k *classic) park(m *member) <-chan JoinAnswer {
	if m.joining != nil { // of a connection that is lost
		k.answerJoin(m, JoinAnswer{Code: groups.RebalanceInProgress, MemberID: m.id})
	}
	wait := make(chan JoinAnswer, 1)
	m.joining = wait
	k.waiting++
	return wait
}

// joinKnown serves a join with a member id.
func (k *classic) joinKnown(r JoinRequest) (JoinAnswer, <-chan JoinAnswer) {
	if t := k.pending[r.Member]; t != nil && r.Instance == "" {
		t.stop()
		delete(k.pending, r.Member)
		return k.admitNew(r.Member, r)
	}
	m, code := k.known(r.Member, r.Instance)
	if code != groups.None {
		return JoinAnswer{Code: code, MemberID: r.Member}, nil
	}
	same := m.matches(r.Protocols)
	switch {
	case k.state == model.GroupCompleting && same, k.state == model.GroupStable && same && m.id != k.leader:
		// The answer was lost, or the client asks needlessly.
		return k.joined(m), nil
	}
	m.protocols, m.session, m.rebalance, m.client, m.host = r.Protocols, r.Session, r.Rebalance, r.Client, r.Host
	wait := k.park(m)
	k.rebalanceOrComplete()
	return JoinAnswer{}, wait
}

// joined is a member's answer in the generation that there is.
func (k *classic) joined(m *member) JoinAnswer {
	a := JoinAnswer{Generation: k.generation, ProtocolType: k.protocolType, Protocol: k.protocol, Leader: k.leader, MemberID: m.id}
	if m.id == k.leader && k.state != model.GroupStable {
		a.Members = k.listed()
	}
	return a
}

// listed is what the leader is told of the members.
func (k *classic) listed() []JoinMember {
	out := make([]JoinMember, 0, len(k.members))
	for _, m := range k.members {
		out = append(out, JoinMember{m.id, m.instance, m.metadata(k.protocol)})
	}
	return out
}

// replace lets a static member come back: it has a new id, its former self is fenced, and as long as the protocol stays
// the one chosen nobody else notices.
func (k *classic) replace(old *member, r JoinRequest) (JoinAnswer, <-chan JoinAnswer) {
	k.answerJoin(old, JoinAnswer{Code: groups.FencedInstanceID, MemberID: old.id})
	answerSync(old, SyncAnswer{Code: groups.FencedInstanceID})
	old.expiry.stop()
	m := &member{
		id: memberIDOf(r.Instance), instance: r.Instance, client: r.Client, host: r.Host, rebalance: r.Rebalance, session: r.Session,
		protocols: r.Protocols, assignment: old.assignment, fresh: old.fresh,
	}
	k.members[slices.Index(k.members, old)] = m
	k.static[r.Instance] = m.id
	if k.unsynced[old.id] {
		delete(k.unsynced, old.id)
		k.unsynced[m.id] = true
	}
	leader := k.leader
	if leader == old.id {
		k.leader = m.id
	}
	k.g.dirty = true
	k.touch(m)
	if k.state == model.GroupStable && k.vote() == k.protocol {
		w, err := k.g.post(k.blob())
		if err != nil {
			return JoinAnswer{Code: groups.CoordinatorNotAvailable, MemberID: r.Member}, nil
		}
		a := k.joined(m)
		a.Leader, a.write = leader, w
		if r.CanSkip {
			a.Leader = k.leader
			if m.id == k.leader {
				a.Skip, a.Members = true, k.listed()
			}
		}
		return a, nil
	}
	wait := k.park(m)
	k.rebalanceOrComplete()
	return JoinAnswer{}, wait
}

// rebalanceOrComplete goes on after a member has joined.
func (k *classic) rebalanceOrComplete() {
	if k.state == model.GroupPreparing {
		k.tryComplete()
		return
	}
	k.rebalance()
}

// rebalance has all members join anew. The first members of a group are given a while to come together.
func (k *classic) rebalance() {
	for _, m := range k.members {
		answerSync(m, SyncAnswer{Code: groups.RebalanceInProgress})
		if k.state == model.GroupCompleting {
			k.touch(m)
		}
	}
	k.sync.stop()
	first := k.state == model.GroupEmpty
	k.turn(model.GroupPreparing)
	for _, m := range k.members {
		if m.local != nil && m.joining == nil {
			m.local.wake()
		}
	}
	if first {
		if delay := k.g.c.o.InitialDelay; delay > 0 {
			k.gathering, k.more = true, false
			k.gather(delay, k.patience()-delay)
			return
		}
		k.complete()
		return
	}
	k.tryComplete()
}

// gather waits for more members, and again as long as some come and there is time left.
func (k *classic) gather(delay, left time.Duration) {
	k.join.set(k.g, delay, func() {
		if k.more && left > 0 {
			k.more = false
			k.gather(min(delay, left), left-delay)
			return
		}
		k.complete()
	})
}

// patience is how long members are waited for: as long as the most patient of them asks.
func (k *classic) patience() time.Duration {
	var d time.Duration
	for _, m := range k.members {
		d = max(d, m.rebalance)
	}
	return d
}

// tryComplete completes the join when all are there, and sees to it that it is completed some time.
func (k *classic) tryComplete() {
	switch {
	case k.gathering:
	case k.waiting == len(k.members) && len(k.pending) == 0:
		k.complete()
	case !k.join.on():
		k.join.set(k.g, k.patience(), k.complete)
	}
}

// complete begins a new generation with those who have joined. Dynamic members that have not are out; static ones are
// expected back within their session.
func (k *classic) complete() {
	k.join.stop()
	k.gathering = false
	for _, m := range slices.Clone(k.members) {
		if m.joining == nil && m.instance == "" {
			k.remove(m, groups.UnknownMemberID)
		}
	}
	if len(k.members) > 0 && !k.electJoined() {
		k.join.set(k.g, k.patience(), k.complete) // until sessions end
		return
	}
	k.generation++
	clear(k.unsynced)
	if len(k.members) == 0 {
		k.protocol = ""
		k.turn(model.GroupEmpty)
		// Where nothing can be stored, the members' sessions end after the next start.
		k.write, _ = k.g.post([]byte{})
		return
	}
	k.protocol = k.vote()
	k.turn(model.GroupCompleting)
	for _, m := range k.members {
		k.unsynced[m.id] = true
		k.answerJoin(m, k.joined(m))
		m.fresh = false
		m.expiry.stop()
		k.touch(m)
	}
	generation := k.generation
	k.sync.set(k.g, k.patience(), func() { k.expireSync(generation) })
}

// electJoined makes a member that has joined the leader, where the leader has not; false where nobody has.
func (k *classic) electJoined() bool {
	if l := k.find(k.leader); l != nil && l.joining != nil {
		return true
	}
	for _, m := range k.members {
		if m.joining != nil {
			k.leader = m.id
			return true
		}
	}
	return false
}

// expireSync takes out the members that have not synced in time.
func (k *classic) expireSync(generation int32) {
	if generation != k.generation || len(k.unsynced) == 0 || k.state != model.GroupCompleting && k.state != model.GroupStable {
		return
	}
	for _, m := range slices.Clone(k.members) {
		if k.unsynced[m.id] {
			k.remove(m, groups.UnknownMemberID)
		}
	}
	k.rebalance()
}
