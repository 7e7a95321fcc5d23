package coordinator

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/strata-kafka/strata/groups/assign"
	"github.com/strata-kafka/strata/model"
)

// Topics tells which topics there are, for the groups whose members the coordinator assigns to.
type Topics interface {
	// Version changes whenever a topic comes, goes or grows.
	Version() uint64
	Names() []string
	// Topic returns a topic's id and number of partitions; ok is false where there is none.
	Topic(name string) (id assign.Topic, partitions int32, ok bool)
}

// The member epochs that are no epochs.
const (
	joinEpoch        = 0
	leaveEpoch       = -1
	staticLeaveEpoch = -2 // the member means to be back within its session
)

// memberState is how far a member has come towards its target.
type memberState uint8

const (
	memberStable     memberState = iota // has what it is to have, or is to be told anew
	memberUnrevoked                     // is to give up partitions
	memberUnreleased                    // waits for partitions that others still have
)

// topicInfo is what a group knows of a topic that it subscribes to.
type topicInfo struct {
	id         assign.Topic
	partitions int32
}

// classicSide is what a member of the classic protocol needs in a consumer group.
type classicSide struct {
	session   time.Duration
	protocols []Protocol
	joinBy    time.Time // when it is put out if it has not joined anew; zero while it need not
	syncBy    time.Time // the same for a sync
}

// consumerMember is one member of a consumer group.
//
// Invariants:
//   - current and revoking have no partition in common
//   - since has exactly the partitions of current and revoking
type consumerMember struct {
	id, instance, rack string
	client, host       string
	rebalance          time.Duration
	names              []string // subscribed by name, ascending
	pattern            string   // subscribed by regular expression, or ""
	regex              *regexp.Regexp
	assignor           string // what it prefers, or ""

	epoch    int32
	previous int32 // the epoch before, in case the answer with the new one was lost
	state    memberState
	current  assign.Assignment
	revoking assign.Assignment                // to be given up; still its own
	since    map[assign.Topic]map[int32]int32 // the epoch in which it got a partition
	target   assign.Assignment

	classic *classicSide // how the member is served by the classic protocol; nil for a consumer member

	expires  time.Time // the session's end
	revokeBy time.Time // when it is put out if it has not given up; zero while it need not
}

// reconciled reports whether the member has what the target of an epoch gives it.
func (m *consumerMember) reconciled(epoch int32) bool {
	return m.state == memberStable && m.epoch == epoch
}

// consumerGroup is a group whose members are assigned to by the coordinator (KIP-848). It takes no locks and starts no
// timers: its methods say what follows from a request at a time.
//
// Invariants:
//   - assigned <= epoch; the members' targets are those of assigned
//   - owners has every partition of every member's current and revoking, once
type consumerGroup struct {
	id       string
	epoch    int32
	assigned int32
	members  map[string]*consumerMember
	static   map[string]string // instance → member id
	owners   map[assign.Topic]map[int32]*consumerMember
	topics   map[string]topicInfo // those that are subscribed to and there
	version  uint64               // of Topics, when topics was made
	seen     bool                 // version is one
}

// newConsumerGroup makes a group without members whose epoch is at least 1.
func newConsumerGroup(id string, epoch int32) *consumerGroup {
	epoch = max(epoch, 1)
	return &consumerGroup{
		id: id, epoch: epoch, assigned: epoch, members: map[string]*consumerMember{}, static: map[string]string{},
		owners: map[assign.Topic]map[int32]*consumerMember{}, topics: map[string]topicInfo{},
	}
}

// ids returns the members' ids, ascending.
func (g *consumerGroup) ids() []string { return slices.Sorted(maps.Keys(g.members)) }

// state says how far the group has come.
func (g *consumerGroup) state() model.GroupState {
	if len(g.members) == 0 {
		return model.GroupEmpty
	}
	if g.epoch > g.assigned {
		return model.GroupAssigning
	}
	for _, m := range g.members {
		if !m.reconciled(g.assigned) {
			return model.GroupReconciling
		}
	}
	return model.GroupStable
}

// assignor returns the name that most members prefer, else the default. Of several the first by name.
func (g *consumerGroup) assignor(def string) string {
	votes := map[string]int{}
	for _, m := range g.members {
		if m.assignor != "" {
			votes[m.assignor]++
		}
	}
	best := def
	for _, name := range slices.Sorted(maps.Keys(votes)) {
		if n := votes[name]; best == def && votes[def] == 0 || n > votes[best] {
			best = name
		}
	}
	return best
}

// own makes m the owner of partitions, from an epoch on.
func (g *consumerGroup) own(m *consumerMember, a assign.Assignment, epoch int32) {
	for t, ps := range a {
		if g.owners[t] == nil {
			g.owners[t] = map[int32]*consumerMember{}
		}
		if m.since[t] == nil {
			if m.since == nil {
				m.since = map[assign.Topic]map[int32]int32{}
			}
			m.since[t] = map[int32]int32{}
		}
		for _, p := range ps {
			g.owners[t][p] = m
			m.since[t][p] = epoch
		}
	}
}

// disown frees partitions of m.
func (g *consumerGroup) disown(m *consumerMember, a assign.Assignment) {
	for t, ps := range a {
		for _, p := range ps {
			if g.owners[t][p] == m {
				delete(g.owners[t], p)
			}
			delete(m.since[t], p)
		}
		if len(g.owners[t]) == 0 {
			delete(g.owners, t)
		}
		if len(m.since[t]) == 0 {
			delete(m.since, t)
		}
	}
}

// remove takes a member out; its partitions are free. The group's epoch rises, since the others are to get them.
func (g *consumerGroup) remove(m *consumerMember) {
	g.take(m)
	g.epoch++
}

// take takes a member out of all tables.
func (g *consumerGroup) take(m *consumerMember) {
	g.disown(m, m.current)
	g.disown(m, m.revoking)
	delete(g.members, m.id)
	if g.static[m.instance] == m.id {
		delete(g.static, m.instance)
	}
}

// put adds a member, or gives it its instance.
func (g *consumerGroup) put(m *consumerMember) {
	g.members[m.id] = m
	if m.instance != "" {
		g.static[m.instance] = m.id
	}
}

// replace lets a static member come back under another id: what it had is its own at once.
func (g *consumerGroup) replace(old *consumerMember, id string) *consumerMember {
	if other := g.members[id]; other != nil && other != old {
		g.remove(other)
	}
	m := *old
	m.id, m.epoch, m.previous = id, joinEpoch, joinEpoch
	m.revokeBy, m.classic = time.Time{}, nil
	delete(g.members, old.id)
	for t := range m.since {
		for p := range m.since[t] {
			g.owners[t][p] = &m
		}
	}
	g.put(&m)
	return &m
}

// resolve looks up what the members subscribe to.
func (g *consumerGroup) resolve(topics Topics) map[string]topicInfo {
	wanted := map[string]bool{}
	patterns := map[string]*regexp.Regexp{}
	var before []string // most members subscribe to the same
	for _, m := range g.members {
		if !slices.Equal(m.names, before) {
			for _, name := range m.names {
				wanted[name] = true
			}
			before = m.names
		}
		if m.regex != nil {
			patterns[m.pattern] = m.regex
		}
	}
	if len(patterns) > 0 {
		for _, name := range topics.Names() {
			for _, r := range patterns {
				if wanted[name] || r.MatchString(name) {
					wanted[name] = true
					break
				}
			}
		}
	}
	found := make(map[string]topicInfo, len(wanted))
	for name := range wanted {
		if id, n, ok := topics.Topic(name); ok {
			found[name] = topicInfo{id, n}
		}
	}
	return found
}

// refresh looks at the topics anew and reports whether what the group subscribes to is no longer what it was.
func (g *consumerGroup) refresh(topics Topics) bool {
	// The version is read first: what changes while the topics are looked at is seen the next time.
	g.version, g.seen = topics.Version(), true
	found := g.resolve(topics)
	if maps.Equal(found, g.topics) {
		return false
	}
	g.topics = found
	return true
}

// subscribed returns the ids of the topics that a member subscribes to, ascending. matched remembers patterns' topics; it
// may be nil.
func (g *consumerGroup) subscribed(m *consumerMember, matched map[string][]assign.Topic) []assign.Topic {
	ids := make([]assign.Topic, 0, len(m.names))
	for _, name := range m.names {
		if info, ok := g.topics[name]; ok {
			ids = append(ids, info.id)
		}
	}
	if m.regex == nil {
		slices.SortFunc(ids, assign.CompareTopics)
		return ids
	}
	more, ok := matched[m.pattern]
	if !ok {
		for name, info := range g.topics {
			if m.regex.MatchString(name) {
				more = append(more, info.id)
			}
		}
		if matched != nil {
			matched[m.pattern] = more
		}
	}
	ids = append(ids, more...)
	slices.SortFunc(ids, assign.CompareTopics)
	return slices.Compact(ids)
}

// subscribes reports whether any member subscribes to a topic.
func (g *consumerGroup) subscribes(topic string) bool {
	for _, m := range g.members {
		if _, ok := slices.BinarySearch(m.names, topic); ok || m.regex != nil && m.regex.MatchString(topic) {
			return true
		}
	}
	return false
}

// stale reports whether topics may have changed since they were looked at.
func (g *consumerGroup) stale(topics Topics) bool {
	return !g.seen || topics.Version() != g.version
}

// aim makes the targets of the group's epoch, and reports whether they were not made yet.
func (g *consumerGroup) aim(def string) bool {
	if g.epoch == g.assigned {
		return false
	}
	f, ok := assign.ByName(g.assignor(def))
	if !ok {
		f = assign.Uniform
	}
	ids := g.ids()
	members := make([]assign.Member, len(ids))
	matched := map[string][]assign.Topic{}
	for i, id := range ids {
		m := g.members[id]
		members[i] = assign.Member{ID: id, Instance: m.instance, Target: m.target}
		if i > 0 && m.pattern == g.members[ids[i-1]].pattern && slices.Equal(m.names, g.members[ids[i-1]].names) {
			members[i].Topics = members[i-1].Topics
			continue
		}
		members[i].Topics = g.subscribed(m, matched)
	}
	partitions := make(map[assign.Topic]int32, len(g.topics))
	for _, info := range g.topics {
		partitions[info.id] = info.partitions
	}
	for i, target := range f(members, partitions) {
		g.members[ids[i]].target = target
	}
	g.assigned = g.epoch
	return true
}

// Part is a topic's partitions in what a member is told to have.
type Part struct {
	ID         assign.Topic
	Name       string // "" where the topic is gone
	Partitions []int32
}

// parts returns an assignment by topic, with names where they are known.
func (g *consumerGroup) parts(a assign.Assignment, names map[assign.Topic]string) []Part {
	parts := make([]Part, 0, len(a))
	for _, t := range a.Topics() {
		parts = append(parts, Part{ID: t, Name: names[t], Partitions: slices.Clone(a[t])})
	}
	return parts
}

// names returns the names of the topics that the group subscribes to.
func (g *consumerGroup) names() map[assign.Topic]string {
	names := make(map[assign.Topic]string, len(g.topics))
	for name, info := range g.topics {
		names[info.id] = name
	}
	return names
}
