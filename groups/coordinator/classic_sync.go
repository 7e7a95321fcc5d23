package coordinator

import (
	"context"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// SyncRequest asks for a member's assignment; the leader brings those of all.
type SyncRequest struct {
	Group, Member, Instance string
	Generation              int32
	ProtocolType, Protocol  *string // as the client believes them to be; nil where it does not say
	Assignments             []Assigned
}

// Assigned is what a leader assigns to a member.
type Assigned struct {
	Member     string
	Assignment []byte
}

// SyncAnswer is the answer to a SyncRequest.
type SyncAnswer struct {
	Code                   groups.Code
	ProtocolType, Protocol string
	Assignment             []byte

	write *groups.Write // to be waited for before the answer is given
}

// Sync returns a member's assignment when the leader has brought it and it is on the disk.
func (c *Coordinator) Sync(ctx context.Context, r SyncRequest) SyncAnswer {
	a, wait := c.sync(r)
	if wait != nil {
		select {
		case a = <-wait:
		case <-ctx.Done():
			return SyncAnswer{Code: groups.NotCoordinator}
		}
	}
	if a.write == nil {
		return a
	}
	if err := a.write.Wait(ctx); err != nil {
		c.lost(r.Group, a.write)
		return SyncAnswer{Code: groups.CoordinatorNotAvailable}
	}
	return a
}

// sync answers at once, or with the channel on which the answer comes.
func (c *Coordinator) sync(r SyncRequest) (SyncAnswer, <-chan SyncAnswer) {
	fail := func(code groups.Code) SyncAnswer { return SyncAnswer{Code: code} }
	if r.Group == "" {
		return fail(groups.InvalidGroupID), nil
	}
	g := c.lock(r.Group)
	if g == nil {
		return fail(groups.UnknownMemberID), nil
	}
	defer c.unlock(g)
	k, ok := g.kind.(*classic)
	if !ok {
		return c.syncOther(g, r), nil
	}
	m, code := k.known(r.Member, r.Instance)
	switch {
	case code != groups.None:
		return fail(code), nil
	case r.Generation != k.generation:
		return fail(groups.IllegalGeneration), nil
	case r.ProtocolType != nil && *r.ProtocolType != k.protocolType, r.Protocol != nil && *r.Protocol != k.protocol:
		return fail(groups.InconsistentGroupProtocol), nil
	case k.state == model.GroupPreparing:
		return fail(groups.RebalanceInProgress), nil
	case k.state == model.GroupStable:
		delete(k.unsynced, m.id)
		return k.synced(m), nil
	}
	delete(k.unsynced, m.id)
	answerSync(m, SyncAnswer{Code: groups.RebalanceInProgress}) // of a connection that is lost
	wait := make(chan SyncAnswer, 1)
	m.syncing = wait
	if m.id == k.leader {
		k.settle(r.Assignments)
	}
	return SyncAnswer{}, wait
}

// synced is a member's answer when the group is Stable.
func (k *classic) synced(m *member) SyncAnswer {
	return SyncAnswer{ProtocolType: k.protocolType, Protocol: k.protocol, Assignment: m.assignment, write: k.write}
}

// settle gives all members what the leader has assigned to them; who is not among those has nothing.
func (k *classic) settle(all []Assigned) {
	byID := make(map[string][]byte, len(all))
	for _, a := range all {
		byID[a.Member] = a.Assignment
	}
	for _, m := range k.members {
		m.assignment = byID[m.id]
	}
	k.turn(model.GroupStable)
	state, code := k.blob(), groups.CoordinatorNotAvailable
	w, err := (*groups.Write)(nil), errState
	if len(state) > maxState {
		code = groups.UnknownServerError // as Kafka says of a group that is too large to be stored
	} else {
		w, err = k.g.post(state)
	}
	if err != nil {
		for _, m := range k.members {
			answerSync(m, SyncAnswer{Code: code})
		}
		k.rebalance()
		return
	}
	k.write = w
	for _, m := range k.members {
		answerSync(m, k.synced(m))
		k.touch(m)
	}
}

// lost has a group assign anew when what was assigned could not be stored.
func (c *Coordinator) lost(group string, w *groups.Write) {
	g := c.lock(group)
	if g == nil {
		return
	}
	defer c.unlock(g)
	if k, ok := g.kind.(*classic); ok && k.write == w && k.state == model.GroupStable {
		k.write = nil
		k.rebalance()
	}
}

// Heartbeat is a member's sign of life; the answer tells whether it is to join anew.
func (c *Coordinator) Heartbeat(group, member, instance string, generation int32) groups.Code {
	if group == "" {
		return groups.InvalidGroupID
	}
	g := c.lock(group)
	if g == nil {
		return groups.UnknownMemberID
	}
	defer c.unlock(g)
	k, ok := g.kind.(*classic)
	if !ok {
		return c.heartbeatOther(g, member, instance, generation)
	}
	m, code := k.known(member, instance)
	switch {
	case code == groups.UnknownMemberID && k.pending[member] != nil && instance == "":
		return code
	case code != groups.None:
		return code
	case generation != k.generation:
		return groups.IllegalGeneration
	}
	m.heard = time.Now()
	if k.state == model.GroupPreparing {
		return groups.RebalanceInProgress
	}
	return groups.None
}

// Leaver names a member that leaves.
type Leaver struct {
	Member   string // "" for whoever is the instance now
	Instance string // "" for a dynamic member
}

// Leave takes members out of a group and says of each how that went. code is for the request as a whole.
func (c *Coordinator) Leave(ctx context.Context, group string, leavers []Leaver) (codes []groups.Code, code groups.Code) {
	if group == "" {
		return nil, groups.InvalidGroupID
	}
	codes = make([]groups.Code, len(leavers))
	g := c.lock(group)
	if g == nil {
		for i := range codes {
			codes[i] = groups.UnknownMemberID
		}
		return codes, groups.None
	}
	w := c.leave(g, leavers, codes)
	if w != nil && w.Wait(ctx) != nil {
		return codes, groups.CoordinatorNotAvailable
	}
	return codes, groups.None
}

// leave takes members out and lets go of g; what it returns is to be waited for.
func (c *Coordinator) leave(g *group, leavers []Leaver, codes []groups.Code) (w *groups.Write) {
	defer c.unlock(g)
	k, ok := g.kind.(*classic)
	if !ok {
		return c.leaveOther(g, leavers, codes)
	}
	gone := false
	for i, l := range leavers {
		m, code := k.leaver(l)
		switch {
		case code == groups.None && m == nil:
			k.pending[l.Member].stop()
			delete(k.pending, l.Member)
			k.fewerPending()
		case code == groups.None:
			k.remove(m, groups.UnknownMemberID)
			gone = true
		}
		codes[i] = code
	}
	if !gone {
		return nil
	}
	k.write = nil
	k.fewer()
	if len(k.members) > 0 {
		// Where it cannot be stored, the member's session ends after the next start.
		k.write, _ = k.g.post(k.blob())
	}
	return k.write
}

// leaver finds who is to leave; nil without an error is one that has an id but has not joined with it.
func (k *classic) leaver(l Leaver) (*member, groups.Code) {
	switch {
	case l.Member == "" && l.Instance != "":
		if m := k.find(k.static[l.Instance]); m != nil {
			return m, groups.None
		}
		return nil, groups.UnknownMemberID
	case k.pending[l.Member] != nil && l.Instance == "":
		return nil, groups.None
	}
	return k.known(l.Member, l.Instance)
}
