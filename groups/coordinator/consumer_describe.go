package coordinator

import (
	"slices"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/assign"
	"github.com/strata-kafka/strata/model"
)

// ConsumerDescribed is a consumer group as ConsumerGroupDescribe tells it.
type ConsumerDescribed struct {
	Code            groups.Code
	Message         string // with Code
	Group           string
	State           model.GroupState
	Epoch           int32
	AssignmentEpoch int32
	Assignor        string
	Members         []ConsumerMember
}

// ConsumerMember is a member of a ConsumerDescribed.
type ConsumerMember struct {
	ID, Instance, Rack string
	Client, Host       string
	Epoch              int32
	Topics             []string // subscribed by name
	Pattern            string
	Assigned, Target   []Part
	Classic            bool // it speaks the classic protocol
}

// describe tells what the group is.
func (g *consumerGroup) describe(def string) ConsumerDescribed {
	d := ConsumerDescribed{Group: g.id, State: g.state(), Epoch: g.epoch, AssignmentEpoch: g.assigned, Assignor: g.assignor(def)}
	names := g.names()
	named := func(a assign.Assignment) []Part {
		return slices.DeleteFunc(g.parts(a, names), func(p Part) bool { return p.Name == "" })
	}
	for _, id := range g.ids() {
		m := g.members[id]
		d.Members = append(d.Members, ConsumerMember{
			ID: m.id, Instance: m.instance, Rack: m.rack, Client: m.client, Host: m.host, Epoch: m.epoch,
			Topics: m.names, Pattern: m.pattern, Assigned: named(m.current), Target: named(m.target), Classic: m.classic != nil,
		})
	}
	return d
}

// live is the group as screens, resets and deletes see it.
func (g *consumerGroup) live(def string) groups.Live {
	l := groups.Live{State: g.state(), Type: groups.TypeConsumer, ProtocolType: consumerType, Protocol: g.assignor(def), Generation: g.epoch, Topics: []string{}}
	names := g.names()
	for name := range g.topics {
		l.Topics = append(l.Topics, name)
	}
	slices.Sort(l.Topics)
	for _, id := range g.ids() {
		m := g.members[id]
		member := model.Member{ID: m.id, Instance: m.instance, Client: m.client, Host: hostOf(m.host)}
		for t, ps := range m.current.Join(m.revoking) {
			for _, p := range ps {
				if names[t] != "" {
					member.Assignment = append(member.Assignment, model.TopicPartition{Topic: names[t], Partition: p})
				}
			}
		}
		slices.SortFunc(member.Assignment, model.TopicPartition.Compare)
		l.Members = append(l.Members, member)
	}
	return l
}

// mayCommit says whether offsets may be committed. A member's former epoch will do for partitions that it has had since.
func (g *consumerGroup) mayCommit(r CommitCheck) groups.Code {
	if r.Generation < 0 && len(g.members) == 0 {
		return groups.None
	}
	m := g.members[r.Member]
	stale := groups.StaleMemberEpoch
	switch {
	case m == nil:
		return groups.UnknownMemberID
	case m.classic != nil:
		stale = groups.IllegalGeneration
	case r.Old && !r.Txn:
		return groups.UnsupportedVersion
	}
	if r.Generation == m.epoch {
		return groups.None
	}
	if r.Generation > m.epoch || m.classic != nil || r.Txn && len(r.commits) == 0 {
		return stale
	}
	for _, c := range r.commits {
		since, ok := m.since[g.topics[c.Topic].id][c.Partition]
		if !ok || since > r.Generation {
			return stale
		}
	}
	return groups.None
}

// mayFetch says whether who says to be a member may ask for offsets.
func (g *consumerGroup) mayFetch(member string, epoch int32) groups.Code {
	if member == "" && epoch < 0 {
		return groups.None
	}
	m := g.members[member]
	switch {
	case m == nil:
		return groups.UnknownMemberID
	case m.epoch == epoch:
		return groups.None
	case m.classic != nil:
		return groups.IllegalGeneration
	}
	return groups.StaleMemberEpoch
}
