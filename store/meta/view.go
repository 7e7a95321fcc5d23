package meta

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// defaultAssignor is what a broker uses where no member of a group of the new protocol asks for one.
const defaultAssignor = "uniform"

// view makes a group as the screens want it.
func (g *Groups) view(id string, s *groupState, name func(layout.ID) string) model.Group {
	v := model.Group{ID: id, Type: s.groupType(), State: s.state()}
	switch v.Type {
	case classicGroup:
		v.Protocol, v.ProtocolType = s.classic.Protocol, s.classic.ProtocolType
		v.Members, v.Note = classicMembers(s.classic)
	default:
		v.Members, v.ProtocolType = s.newMembers(name), strings.ToLower(v.Type)
		if v.Type == consumerGroup {
			v.Protocol = s.assignor()
		}
	}
	owner := map[model.TopicPartition]string{}
	if v.Type != shareGroup { // a share group's partition has no owner
		for _, m := range v.Members {
			for _, tp := range m.Assignment {
				owner[tp] = m.ID
			}
		}
	}
	for tp, c := range s.offsets {
		v.Offsets = append(v.Offsets, model.GroupOffset{
			TopicPartition: tp, Committed: c.Offset, LeaderEpoch: c.LeaderEpoch, Metadata: c.Metadata, CommittedAt: c.CommittedAt,
			ExpiresAt: c.ExpiresAt, LogStart: model.Unknown, LogEnd: model.Unknown, Member: owner[tp],
		})
	}
	if v.Type == shareGroup {
		v.Offsets = append(v.Offsets, g.shareRows(id, name)...)
	}
	slices.SortFunc(v.Offsets, func(a, b model.GroupOffset) int { return a.TopicPartition.Compare(b.TopicPartition) })
	if s.pending > 0 {
		v.Note = join(v.Note, count(s.pending, "offset")+" pending in an open transaction")
	}
	return v
}

// groupType is the kind of the group's own record. Without one it is what the members tell, or else a group that only
// commits.
func (s *groupState) groupType() string {
	switch {
	case s.kind != "":
		return s.kind
	case len(s.members) > 0:
		return s.seen
	}
	return classicGroup
}

// state is what a broker that has just read the log would say.
func (s *groupState) state() model.GroupState {
	kind := s.groupType()
	if kind == classicGroup {
		if len(s.classic.Members) > 0 {
			return model.GroupStable
		}
		return model.GroupEmpty
	}
	switch {
	case len(s.members) == 0:
		return model.GroupEmpty
	case kind == shareGroup:
		return model.GroupStable
	case s.epoch > s.target:
		return model.GroupAssigning
	}
	for _, m := range s.members {
		if !m.reconciled || m.epoch != s.target {
			return model.GroupReconciling
		}
	}
	return model.GroupStable
}

// assignor is the one that most members ask for.
func (s *groupState) assignor() string {
	votes := map[string]int{}
	for _, m := range s.members {
		if m.assignor != "" {
			votes[m.assignor]++
		}
	}
	best := ""
	for _, a := range slices.Sorted(maps.Keys(votes)) {
		if best == "" || votes[a] > votes[best] {
			best = a
		}
	}
	return cmp.Or(best, defaultAssignor)
}

// classicMembers returns a classic group's members, and what is odd about them.
func classicMembers(g Group) (members []model.Member, note string) {
	for _, m := range g.Members {
		v := model.Member{ID: m.ID, Instance: m.Instance, Client: m.Client, Host: m.Host}
		if g.ProtocolType == "consumer" {
			a, err := ParseAssignment(m.Assignment)
			if err != nil {
				note = fmt.Sprintf("the assignment of %s is not readable: %v", plain(m.ID), err)
			}
			v.Assignment = a.Partitions
			slices.SortFunc(v.Assignment, model.TopicPartition.Compare)
		}
		members = append(members, v)
	}
	if g.ProtocolType != "consumer" && g.ProtocolType != "" {
		note = join(note, "of type "+plain(g.ProtocolType))
	}
	return members, note
}

// newMembers returns the members of a group of the new protocols, by id.
func (s *groupState) newMembers(name func(layout.ID) string) []model.Member {
	var members []model.Member
	for _, id := range slices.Sorted(maps.Keys(s.members)) {
		m := s.members[id]
		v := model.Member{ID: id, Instance: m.instance, Client: m.client, Host: m.host}
		for _, a := range m.assigned {
			v.Assignment = append(v.Assignment, model.TopicPartition{Topic: topicName(name, a.topic), Partition: a.partition})
		}
		slices.SortFunc(v.Assignment, model.TopicPartition.Compare)
		members = append(members, v)
	}
	return members
}

func topicName(name func(layout.ID) string, id layout.ID) string {
	if name != nil {
		if s := name(id); s != "" {
			return s
		}
	}
	return id.String()
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
