package groups

import (
	"fmt"
	"slices"
	"sync"

	"github.com/strata-kafka/strata/model"
)

// live is a group's state in memory. Everything but fence is guarded by mu; fence is taken before mu, and held while the
// store is written, so that what was decided by the members is still so when it is on the disk.
type live struct {
	fence sync.Mutex

	mu         sync.Mutex
	state      model.GroupState
	generation int32
	kind       string // Classic, Consumer; "" before the first member
	protocol   string
	members    []*model.Member // in the order of joining
}

// mayFollow reports whether a group may go from one state to another: Kafka's rules for classic groups (a group is
// Preparing until all have joined, Completing until the leader has assigned) and for consumer groups (Assigning,
// Reconciling), and beside them the way of members that bring their assignment along, which need no rebalance.
func mayFollow(from, to model.GroupState) bool {
	if from == to || to == model.GroupDead {
		return true
	}
	switch to {
	case model.GroupEmpty:
		return from == model.GroupPreparing || from == model.GroupStable || from == model.GroupAssigning || from == model.GroupReconciling
	case model.GroupPreparing:
		return from == model.GroupStable || from == model.GroupCompleting || from == model.GroupEmpty
	case model.GroupCompleting:
		return from == model.GroupPreparing
	case model.GroupStable:
		return from == model.GroupCompleting || from == model.GroupReconciling || from == model.GroupAssigning || from == model.GroupEmpty
	case model.GroupAssigning:
		return from == model.GroupEmpty || from == model.GroupStable || from == model.GroupReconciling
	case model.GroupReconciling:
		return from == model.GroupAssigning || from == model.GroupStable
	}
	return false
}

// turn changes the state. l.mu is held.
func (l *live) turn(to model.GroupState) error {
	if !mayFollow(l.state, to) {
		return fmt.Errorf("%w: a group that is %s cannot become %s", model.ErrRefused, l.state, to)
	}
	l.state = to
	return nil
}

// snapshot returns state and members as the caller's own.
func (l *live) snapshot() *model.Group {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := &model.Group{State: l.state, Type: l.kind, Protocol: l.protocol}
	if l.kind != "" {
		g.ProtocolType = protocolConsumer
	}
	for _, m := range l.members {
		c := *m
		c.Assignment = slices.Clone(m.Assignment)
		g.Members = append(g.Members, c)
	}
	return g
}

// record is what is to be stored of the group. l.mu is held.
func (l *live) record(emptySince int64) groupRecord {
	return groupRecord{EmptySince: emptySince, Generation: l.generation, Type: l.kind, ProtocolType: protocolConsumer, Protocol: l.protocol}
}

// end takes all members out and returns what is to be stored of that; ended is false where there were none.
func (l *live) end(now int64) (rec groupRecord, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.members) == 0 {
		return rec, false
	}
	l.members, l.state = nil, model.GroupEmpty
	l.generation++
	return l.record(now), true
}

// group returns the live state of a group, making it where there is none.
func (s *Service) group(id string) *live {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.live[id]
	if l == nil {
		l = &live{state: model.GroupEmpty}
		s.live[id] = l
	}
	return l
}

// lookup returns state and members of a group, Empty where it has none.
func (s *Service) lookup(id string) model.Group {
	s.mu.Lock()
	l := s.live[id]
	s.mu.Unlock()
	g := &model.Group{State: model.GroupEmpty}
	if l != nil {
		g = l.snapshot()
	}
	g.ID = id
	return *g
}
