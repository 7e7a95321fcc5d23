package coordinator

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// consumerType is the protocol type whose metadata this package can read.
const consumerType = "consumer"

// newMemberTimeout is how long a member that waits in its first join is kept: it cannot be heard of otherwise.
const newMemberTimeout = 5 * time.Minute

// member is a member of a classic group.
type member struct {
	id, instance, client, host string
	rebalance, session         time.Duration
	protocols                  []Protocol // in the order of preference
	assignment                 []byte
	parsed                     []model.TopicPartition // of assignment, where parsedOf is that; nobody changes it
	parsedOf                   []byte
	local                      *Member // the member in this process; nil for one from outside

	fresh   bool // has not been through a join yet
	joining chan JoinAnswer
	syncing chan SyncAnswer
	heard   time.Time // when a session began anew
	expiry  timer
}

// Protocol is an assignor that a member knows, with what the leader is to be told of the member.
type Protocol struct {
	Name     string
	Metadata []byte
}

func (m *member) metadata(protocol string) []byte {
	for i := range m.protocols {
		if m.protocols[i].Name == protocol {
			return m.protocols[i].Metadata
		}
	}
	return nil
}

// partitions returns what the assignment says, for reading only. A group is looked at more often than assigned.
func (m *member) partitions() []model.TopicPartition {
	if len(m.assignment) != len(m.parsedOf) || len(m.assignment) > 0 && &m.assignment[0] != &m.parsedOf[0] {
		m.parsed, m.parsedOf = parseAssignment(m.assignment), m.assignment
	}
	return m.parsed
}

// matches reports whether the member would join with the same protocols.
func (m *member) matches(protocols []Protocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(a, b Protocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

// classic is a group whose members agree among themselves who reads what. Its methods are called with the group's mutex
// held.
//
// Invariants:
//   - leader is "" exactly when there are no members
//   - waiting is the number of members with a join that is not answered
//   - a member has a join that waits only while the group is Preparing, a sync only while it is Completing
//   - the generation never falls
type classic struct {
	g *group

	state        model.GroupState
	generation   int32
	protocolType string
	protocol     string // chosen; "" while there is none
	leader       string // member id
	members      []*member
	static       map[string]string // instance → member id
	pending      map[string]*timer // ids given to those who have not joined with them yet
	unsynced     map[string]bool   // members that have not synced in this generation
	waiting      int

	gathering bool // the initial delay runs
	more      bool // members have come during it
	join      timer
	sync      timer
	write     *groups.Write // of what was stored last; nil for nothing yet
}

func newClassic(g *group, known groups.Known) *classic {
	if known.Type == groups.TypeConsumer {
		known = groups.Known{} // epochs are no generations
	}
	return &classic{
		g: g, state: model.GroupEmpty, generation: known.Generation, protocolType: known.ProtocolType,
		static: map[string]string{}, pending: map[string]*timer{}, unsynced: map[string]bool{},
	}
}

// turn changes the state: along the arrows of the package comment.
func (k *classic) turn(to model.GroupState) {
	k.state = to
	k.g.dirty = true
}

func (k *classic) find(id string) *member {
	for _, m := range k.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

// known finds a member as a request names it, and says what is wrong where there is none.
func (k *classic) known(id, instance string) (*member, groups.Code) {
	if instance != "" {
		switch owner, ok := k.static[instance]; {
		case !ok:
			return nil, groups.UnknownMemberID
		case owner != id:
			return nil, groups.FencedInstanceID
		}
	}
	if m := k.find(id); m != nil {
		return m, groups.None
	}
	return nil, groups.UnknownMemberID
}

// idle implements kind.
func (k *classic) idle() bool { return len(k.members) == 0 && len(k.pending) == 0 }

// live implements kind.
func (k *classic) live() groups.Live {
	l := groups.Live{State: k.state, Type: groups.TypeClassic, ProtocolType: k.protocolType, Protocol: k.protocol, Generation: k.generation}
	if k.protocolType == consumerType && k.state == model.GroupStable {
		l.Topics = k.topics()
	}
	for _, m := range k.members {
		x := model.Member{ID: m.id, Instance: m.instance, Client: m.client, Host: hostOf(m.host)}
		if k.protocolType == consumerType {
			x.Assignment = m.partitions()
		}
		l.Members = append(l.Members, x)
	}
	return l
}

// topics returns what the members subscribe to, sorted, or nil where one of them does not say it in a way that can be
// read.
func (k *classic) topics() []string {
	all := []string{}
	for _, m := range k.members {
		topics, ok := parseSubscription(m.metadata(k.protocol))
		if !ok {
			return nil
		}
		all = append(all, topics...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// subscribes implements kind.
func (k *classic) subscribes(topic string) (yes, known bool) {
	if k.protocolType != consumerType {
		return false, false
	}
	topics := k.topics()
	_, yes = slices.BinarySearch(topics, topic)
	return yes || topics == nil, true
}

// mayCommit implements kind.
func (k *classic) mayCommit(r CommitCheck) groups.Code {
	switch {
	case r.Generation < 0 && k.state == model.GroupEmpty:
		return groups.None
	case r.member():
		m, code := k.known(r.Member, r.Instance)
		switch {
		case code != groups.None:
			return code
		case r.Generation != k.generation:
			return groups.IllegalGeneration
		case r.Txn:
			return groups.None
		case k.state == model.GroupCompleting:
			return groups.RebalanceInProgress
		}
		m.heard = time.Now()
	case !r.Txn && k.state != model.GroupEmpty:
		return groups.UnknownMemberID
	}
	return groups.None
}

// vote chooses the protocol: of those that all know, the one that most members put first, and of several of those the one
// that the first member likes best.
func (k *classic) vote() string {
	common := k.common()
	votes := map[string]int{}
	for _, m := range k.members {
		for i := range m.protocols {
			if name := m.protocols[i].Name; common[name] {
				votes[name]++
				break
			}
		}
	}
	best := ""
	for _, m := range k.members {
		for i := range m.protocols {
			if name := m.protocols[i].Name; votes[name] > votes[best] {
				best = name
			}
		}
	}
	return best
}

// common returns the protocols that all members know.
func (k *classic) common() map[string]bool {
	known := map[string]int{} // by how many members
	for n, m := range k.members {
		for i := range m.protocols {
			if name := m.protocols[i].Name; known[name] == n {
				known[name]++ // and not again for a protocol that is named twice
			}
		}
	}
	common := map[string]bool{}
	for name, n := range known {
		if n == len(k.members) {
			common[name] = true
		}
	}
	return common
}

// supports reports whether a member with these protocols can be in the group.
func (k *classic) supports(protocolType string, protocols []Protocol) bool {
	if protocolType == "" || len(protocols) == 0 {
		return false
	}
	if len(k.members) == 0 {
		return true
	}
	if protocolType != k.protocolType {
		return false
	}
	common := k.common()
	return slices.ContainsFunc(protocols, func(p Protocol) bool { return common[p.Name] })
}

// add takes a member in.
func (k *classic) add(m *member, protocolType string) {
	if len(k.members) == 0 {
		k.protocolType, k.leader = protocolType, m.id
	}
	k.members = append(k.members, m)
	if m.instance != "" {
		k.static[m.instance] = m.id
	}
	k.g.dirty = true
}

// remove takes a member out, and answers what it waits for. What follows from it is the caller's: fewer or rebalance.
func (k *classic) remove(m *member, code groups.Code) {
	k.answerJoin(m, JoinAnswer{Code: code, MemberID: m.id})
	answerSync(m, SyncAnswer{Code: code})
	m.expiry.stop()
	if i := slices.Index(k.members, m); i >= 0 {
		k.members = slices.Delete(k.members, i, i+1)
	}
	if k.static[m.instance] == m.id {
		delete(k.static, m.instance)
	}
	delete(k.unsynced, m.id)
	if k.leader == m.id {
		k.leader = ""
		if len(k.members) > 0 {
			k.leader = k.members[0].id
		}
	}
	if m.local != nil {
		m.local.removed()
	}
	k.g.dirty = true
}

// answerJoin answers a join that waits, if one does.
func (k *classic) answerJoin(m *member, a JoinAnswer) {
	if m.joining != nil {
		m.joining <- a
		m.joining = nil
		k.waiting--
	}
}

func answerSync(m *member, a SyncAnswer) {
	if m.syncing != nil {
		m.syncing <- a
		m.syncing = nil
	}
}

// touch begins a member's session anew, with its timer where that does not run.
func (k *classic) touch(m *member) {
	m.heard = time.Now()
	if m.local == nil && !m.expiry.on() {
		m.expiry.set(k.g, m.session, func() { k.expire(m) })
	}
}

// expire takes out a member that was not heard of for a session. Whoever waits in a join or a sync is alive as far as
// anybody knows, but for the first join.
func (k *classic) expire(m *member) {
	limit := m.session
	if m.fresh {
		limit = newMemberTimeout
	}
	if left := limit - time.Since(m.heard); left > 0 {
		m.expiry.set(k.g, left, func() { k.expire(m) })
		return
	}
	if !m.fresh && (m.joining != nil || m.syncing != nil) {
		return // its session begins anew with the answer
	}
	k.remove(m, groups.UnknownMemberID)
	k.fewer()
}

// fewer goes on after members were taken out.
func (k *classic) fewer() {
	switch k.state {
	case model.GroupStable, model.GroupCompleting:
		k.rebalance()
	case model.GroupPreparing:
		k.tryComplete()
	}
}

// close implements kind.
func (k *classic) close() error {
	k.join.stop()
	k.sync.stop()
	for _, t := range k.pending {
		t.stop()
	}
	var local []*member
	for _, m := range k.members {
		k.answerJoin(m, JoinAnswer{Code: groups.NotCoordinator, MemberID: m.id})
		answerSync(m, SyncAnswer{Code: groups.NotCoordinator})
		m.expiry.stop()
		if m.local != nil {
			local = append(local, m)
		}
	}
	if len(local) == 0 {
		return nil
	}
	for _, m := range local {
		k.remove(m, groups.NotCoordinator)
	}
	if len(k.members) == 0 {
		k.generation++
		k.state, k.protocol = model.GroupEmpty, ""
		w, err := k.g.post([]byte{})
		if err != nil {
			return err
		}
		return w.Wait(context.Background())
	}
	// The others find a rebalance to be made when they are taken over.
	k.state = model.GroupPreparing
	w, err := k.g.post(k.blob())
	if err != nil {
		return err
	}
	return w.Wait(context.Background())
}
