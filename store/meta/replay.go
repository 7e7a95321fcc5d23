package meta

import (
	"maps"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// GroupRecord is a record of __consumer_offsets with what its batch says of it.
type GroupRecord struct {
	Partition     int32 // of __consumer_offsets
	Offset        int64
	Timestamp     int64 // ms
	Key, Value    []byte
	Transactional bool
	ProducerID    int64
	Control       bool // Key and Value are a control record's
}

// Groups is what __consumer_offsets says once its records were applied in the order of their offsets, partition by
// partition. The zero Groups knows of no group. It is not for use by several goroutines at once.
//
// Invariants:
//   - a group lies in one partition, so what is said in another one does not touch it
//   - an offset in pending counts for nothing until its producer's COMMIT marker
//   - groupState.pending is how many entries of groupPart.pending are the group's
type Groups struct {
	parts map[int32]*groupPart
	share map[shareID]int64
}

// groupPart is a partition of __consumer_offsets.
type groupPart struct {
	groups  map[string]*groupState
	pending map[int64]map[commitID]commitState // by producer id
}

type commitID struct {
	group string
	tp    model.TopicPartition
}

type commitState struct {
	OffsetCommit
	at int64 // offset of the record
}

type groupState struct {
	kind    string // Classic, Consumer, Share, Streams; "" where the group's own record has not come
	seen    string // the kind that the members' records tell of
	classic Group
	epoch   int64 // of the new protocols: a change of the subscriptions raises it
	target  int64 // the epoch that the assignment was made for
	members map[string]*memberState
	offsets map[model.TopicPartition]commitState
	pending int // offsets in open transactions
}

// memberState is a member under one of the new protocols.
type memberState struct {
	known      bool // its metadata has come
	instance   string
	client     string
	host       string
	assignor   string
	epoch      int64
	reconciled bool // it owns what it shall, and nothing is to be revoked
	assigned   []topicIDPartition
}

type topicIDPartition struct {
	topic     layout.ID
	partition int32
}

// The kinds of group, as Kafka's tools print them.
const (
	classicGroup  = "Classic"
	consumerGroup = "Consumer"
	shareGroup    = "Share"
	streamsGroup  = "Streams"
)

// Apply takes a record. An error says why the record could not be understood; the groups are then as before, and the
// next record may be applied. It wraps ErrUnknown where a newer Kafka may be the reason.
func (g *Groups) Apply(r GroupRecord) error {
	p := g.part(r.Partition)
	if r.Control {
		return p.control(r)
	}
	k, err := ParseGroupKey(r.Key)
	if err != nil {
		return err
	}
	if k.Commit() {
		return p.commit(k, r)
	}
	return p.group(k, r.Value)
}

// Forget drops what a partition of __consumer_offsets has said, so that it can be replayed from its start.
func (g *Groups) Forget(partition int32) { delete(g.parts, partition) }

func (g *Groups) part(n int32) *groupPart {
	if g.parts == nil {
		g.parts = map[int32]*groupPart{}
	}
	p := g.parts[n]
	if p == nil {
		p = &groupPart{groups: map[string]*groupState{}, pending: map[int64]map[commitID]commitState{}}
		g.parts[n] = p
	}
	return p
}

// The types of control records that end a transaction.
const (
	controlAbort  = 0
	controlCommit = 1
)

func (p *groupPart) control(r GroupRecord) error {
	m, err := ParseControl(r.Key, r.Value)
	if err != nil {
		return err
	}
	if m.Type != controlAbort && m.Type != controlCommit {
		return nil
	}
	pending := p.pending[r.ProducerID]
	delete(p.pending, r.ProducerID)
	for id, c := range pending {
		s := p.state(id.group)
		s.pending--
		// A plain commit that was written while the transaction was open is the newer one.
		if have, ok := s.offsets[id.tp]; m.Type == controlCommit && (!ok || have.at < c.at) {
			s.offsets[id.tp] = c
		}
		p.prune(id.group, s)
	}
	return nil
}

func (p *groupPart) commit(k GroupKey, r GroupRecord) error {
	id := commitID{k.Group, model.TopicPartition{Topic: k.Topic, Partition: k.Partition}}
	if r.Value == nil {
		if s := p.groups[k.Group]; s != nil {
			delete(s.offsets, id.tp)
			p.prune(k.Group, s)
		}
		return nil
	}
	c, err := ParseOffsetCommit(r.Value)
	if err != nil {
		return err
	}
	s := p.state(k.Group)
	if !r.Transactional || r.ProducerID < 0 {
		s.offsets[id.tp] = commitState{c, r.Offset}
		return nil
	}
	pending := p.pending[r.ProducerID]
	if pending == nil {
		pending = map[commitID]commitState{}
		p.pending[r.ProducerID] = pending
	}
	if _, again := pending[id]; !again {
		s.pending++
	}
	pending[id] = commitState{c, r.Offset}
	return nil
}

// group applies a record that concerns a group as such.
func (p *groupPart) group(k GroupKey, value []byte) error {
	if value == nil {
		p.tombstone(k)
		return nil
	}
	if k.Version == KeyGroup {
		c, err := ParseGroupMetadata(value)
		if err != nil {
			return err
		}
		s := p.state(k.Group)
		s.kind, s.classic = classicGroup, c
		return nil
	}
	m, err := ParseGroupValue(k, value)
	if err != nil {
		return err
	}
	f := m.Fields
	s := p.state(k.Group)
	switch k.Version {
	case KeyConsumerGroup:
		s.kind, s.epoch = consumerGroup, f.number("epoch", 0)
	case KeyShareGroup:
		s.kind, s.epoch = shareGroup, f.number("epoch", 0)
	case KeyStreamsGroup:
		s.kind, s.epoch = streamsGroup, f.number("epoch", 0)
	case KeyConsumerTarget, KeyShareTarget, KeyStreamsTarget:
		s.target = f.number("assignmentEpoch", 0)
	case KeyConsumerMember, KeyShareMember, KeyStreamsMember:
		s.seen = kindOf(k.Version)
		m := s.member(k.Member)
		m.known, m.instance, m.client, m.host = true, f.text("instanceId"), f.text("clientId"), f.text("clientHost")
		m.assignor = f.text("serverAssignor")
	case KeyConsumerCurrentOf, KeyShareCurrentOf, KeyStreamsCurrentOf:
		s.seen = kindOf(k.Version)
		s.member(k.Member).current(f)
	}
	p.prune(k.Group, s) // a record that tells nothing kept makes no group
	return nil
}

// current takes what a member owns.
func (m *memberState) current(f Fields) {
	m.epoch = f.number("memberEpoch", 0)
	m.reconciled = f.number("state", 0) == 0
	m.assigned = nil
	for _, t := range f.parts("assignedPartitions") {
		for _, n := range t.numbers("partitions") {
			m.assigned = append(m.assigned, topicIDPartition{t.id("topicId"), n})
		}
	}
}

func (p *groupPart) tombstone(k GroupKey) {
	s := p.groups[k.Group]
	if s == nil {
		return
	}
	switch kind := kindOf(k.Version); {
	case k.Version == KeyGroup || k.Version == KeyConsumerGroup || k.Version == KeyShareGroup || k.Version == KeyStreamsGroup:
		if s.kind == kind {
			s.kind, s.classic, s.epoch, s.target, s.members = "", Group{}, 0, 0, nil
		}
	case k.Version == KeyConsumerMember || k.Version == KeyShareMember || k.Version == KeyStreamsMember:
		delete(s.members, k.Member)
	case k.Version == KeyConsumerCurrentOf || k.Version == KeyShareCurrentOf || k.Version == KeyStreamsCurrentOf:
		if m := s.members[k.Member]; m != nil {
			m.epoch, m.reconciled, m.assigned = 0, false, nil
			if !m.known {
				delete(s.members, k.Member)
			}
		}
	case k.Version == KeyConsumerTarget || k.Version == KeyShareTarget || k.Version == KeyStreamsTarget:
		s.target = 0
	}
	p.prune(k.Group, s)
}

// kindOf returns the kind of group that a type of record belongs to.
func kindOf(version int16) string {
	switch {
	case version <= KeyGroup:
		return classicGroup
	case version <= KeyConsumerCurrentOf || version == KeyConsumerRegex:
		return consumerGroup
	case version < KeyConsumerRegex:
		return shareGroup
	}
	return streamsGroup
}

// state returns a group's state, made where there is none.
func (p *groupPart) state(group string) *groupState {
	s := p.groups[group]
	if s == nil {
		s = &groupState{offsets: map[model.TopicPartition]commitState{}}
		p.groups[group] = s
	}
	return s
}

// prune forgets a group of which nothing is left.
func (p *groupPart) prune(group string, s *groupState) {
	if s.kind == "" && len(s.members) == 0 && len(s.offsets) == 0 && s.pending == 0 {
		delete(p.groups, group)
	}
}

func (s *groupState) member(id string) *memberState {
	if s.members == nil {
		s.members = map[string]*memberState{}
	}
	m := s.members[id]
	if m == nil {
		m = &memberState{}
		s.members[id] = m
	}
	return m
}

// Len returns how many groups there are.
func (g *Groups) Len() int {
	n := 0
	for _, p := range g.parts {
		n += len(p.groups)
	}
	return n
}

// List returns the groups, by id. name gives the name of a topic by its id, or "" where it is not known; nil stands for
// one that knows none, and a topic without a name is shown by its id. The rows' log starts and ends are Unknown and
// their lags not known: a caller who can see the logs fills them in.
func (g *Groups) List(name func(layout.ID) string) []model.Group {
	list := make([]model.Group, 0, g.Len())
	for _, p := range g.parts {
		for id, s := range p.groups {
			list = append(list, g.view(id, s, name))
		}
	}
	slices.SortFunc(list, func(a, b model.Group) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return list
}

// Group returns one group; ok is false where there is none of that id.
func (g *Groups) Group(id string, name func(layout.ID) string) (group model.Group, ok bool) {
	for _, n := range slices.Sorted(maps.Keys(g.parts)) {
		if s := g.parts[n].groups[id]; s != nil {
			return g.view(id, s, name), true
		}
	}
	return model.Group{}, false
}
