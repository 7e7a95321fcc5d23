package coordinator

import (
	"time"

	"github.com/strata-kafka/strata/groups/assign"
)

// reconcile brings a member a step nearer to its target: first it gives up what is no longer its own, and only what
// nobody has any more is given to it. owned is what the member says it has; said is false where it did not say. It
// reports whether anything changed.
func (g *consumerGroup) reconcile(m *consumerMember, owned assign.Assignment, said bool, now time.Time) bool {
	if m.reconciled(g.assigned) {
		return false
	}
	epoch := m.epoch
	if m.state == memberUnrevoked {
		if !said || overlap(m.revoking, owned) {
			return false
		}
		epoch++
		g.disown(m, m.revoking)
		m.revoking = nil
	}
	keep, revoke := m.current.Split(m.target)
	if len(revoke) > 0 && (!said || overlap(revoke, owned)) {
		m.current, m.revoking, m.state = keep, revoke, memberUnrevoked
		m.advance(epoch)
		if m.classic == nil { // those of the classic protocol have their own times
			m.revokeBy = now.Add(m.rebalance)
		}
		return true
	}
	g.disown(m, revoke)
	_, missing := m.target.Split(keep)
	got, waiting := g.free(missing)
	state := memberStable
	if waiting {
		state = memberUnreleased
	}
	if m.state == state && m.epoch == g.assigned && len(got) == 0 && len(revoke) == 0 {
		m.previous = m.epoch
		return false
	}
	m.advance(g.assigned)
	m.state, m.revokeBy = state, time.Time{}
	m.current = keep.Join(got)
	g.own(m, got, m.epoch)
	return true
}

// advance gives the member an epoch.
func (m *consumerMember) advance(epoch int32) {
	m.previous, m.epoch = m.epoch, epoch
}

// free returns those partitions that nobody has; waiting is true where others have some.
func (g *consumerGroup) free(a assign.Assignment) (free assign.Assignment, waiting bool) {
	free = assign.Assignment{}
	for t, ps := range a {
		var got []int32
		for _, p := range ps {
			if g.owners[t][p] == nil {
				got = append(got, p)
			}
		}
		waiting = waiting || len(got) < len(ps)
		if got != nil {
			free[t] = got
		}
	}
	return free, waiting
}

// overlap reports whether two assignments have a partition in common.
func overlap(a, b assign.Assignment) bool {
	for t, ps := range b {
		for _, p := range ps {
			if a.Has(t, p) {
				return true
			}
		}
	}
	return false
}

// within reports whether all of a is in b.
func within(a, b assign.Assignment) bool {
	for t, ps := range a {
		for _, p := range ps {
			if !b.Has(t, p) {
				return false
			}
		}
	}
	return true
}
