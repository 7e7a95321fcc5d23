package coordinator

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// Listed is a group in a listing.
type Listed struct {
	ID           string
	Type         string // Classic, Consumer
	ProtocolType string
	State        model.GroupState
}

// List returns all groups by name: those with members, and those of which the store has something.
func (c *Coordinator) List() ([]Listed, error) {
	known, err := c.s.AllKnown()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	all := make([]*group, 0, len(c.groups))
	for _, g := range c.groups {
		all = append(all, g)
	}
	c.mu.Unlock()
	out := make([]Listed, 0, len(known)+len(all))
	for _, g := range all {
		g.mu.Lock()
		if !g.dead && g.kind != nil {
			out = append(out, g.listed())
			delete(known, g.id)
		}
		g.mu.Unlock()
	}
	for id, k := range known {
		out = append(out, Listed{ID: id, Type: k.Type, ProtocolType: k.ProtocolType, State: model.GroupEmpty})
	}
	slices.SortFunc(out, func(a, b Listed) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// listed is the group in a listing. g.mu is held.
func (g *group) listed() Listed {
	if k, ok := g.kind.(*classic); ok { // without its members, for a thousand groups are asked for now and then
		return Listed{ID: g.id, Type: groups.TypeClassic, ProtocolType: k.protocolType, State: k.state}
	}
	l := g.kind.live()
	return Listed{ID: g.id, Type: l.Type, ProtocolType: l.ProtocolType, State: l.State}
}

// Described is a classic group in full.
type Described struct {
	Code         groups.Code // None, or GroupIDNotFound where there is no classic group of the name
	State        model.GroupState
	ProtocolType string
	Protocol     string // "" but while the group is Stable
	Members      []DescribedMember
}

// DescribedMember is a member of a classic group as it was told and has told.
type DescribedMember struct {
	ID, Instance, Client, Host string
	Metadata                   []byte // nil but while the group is Stable
	Assignment                 []byte // the last one, also while another is agreed on
}

// Describe returns a classic group.
func (c *Coordinator) Describe(id string) Described {
	g := c.lock(id)
	if g == nil {
		known, err := c.s.Known(id)
		switch {
		case err != nil:
			return Described{Code: groups.CoordinatorNotAvailable}
		case !known.Exists || known.Type == groups.TypeConsumer:
			return Described{Code: groups.GroupIDNotFound, State: model.GroupDead}
		}
		return Described{State: model.GroupEmpty, ProtocolType: known.ProtocolType}
	}
	defer c.unlock(g)
	k, ok := g.kind.(*classic)
	if !ok {
		return Described{Code: groups.GroupIDNotFound, State: model.GroupDead}
	}
	d := Described{State: k.state, ProtocolType: k.protocolType}
	if k.state == model.GroupStable {
		d.Protocol = k.protocol
	}
	for _, m := range k.members {
		x := DescribedMember{ID: m.id, Instance: m.instance, Client: m.client, Host: m.host, Assignment: m.assignment}
		if k.state == model.GroupStable {
			x.Metadata = m.metadata(k.protocol)
		}
		d.Members = append(d.Members, x)
	}
	return d
}

// Delete removes a group that has no members, with its offsets.
func (c *Coordinator) Delete(ctx context.Context, id string) groups.Code {
	if g := c.lock(id); g != nil {
		defer c.unlock(g)
		if l := g.kind.live(); l.Active() {
			return groups.NonEmptyGroup
		}
	}
	known, err := c.s.Known(id)
	if err != nil {
		return groups.CoordinatorNotAvailable
	}
	if !known.Exists {
		return groups.GroupIDNotFound
	}
	switch err := c.s.DeleteGroup(ctx, id); {
	case errors.Is(err, model.ErrNoGroup):
		return groups.GroupIDNotFound
	case errors.Is(err, model.ErrRefused):
		return groups.NonEmptyGroup
	case err != nil:
		return groups.CoordinatorNotAvailable
	}
	return groups.None
}

// DeleteOffsets removes committed offsets, but for those of topics that members subscribe to, and says of each partition
// how that went. code is for the request as a whole; where it is not None, nothing was done.
func (c *Coordinator) DeleteOffsets(ctx context.Context, id string, tps []model.TopicPartition) (codes []groups.Code, code groups.Code) {
	if id == "" {
		return nil, groups.InvalidGroupID
	}
	codes = make([]groups.Code, len(tps))
	gone := make([]model.TopicPartition, 0, len(tps))
	if code := c.choose(id, tps, codes, &gone); code != groups.None {
		return nil, code
	}
	if err := c.s.DropOffsets(ctx, id, gone); err != nil {
		return nil, groups.CoordinatorNotAvailable
	}
	return codes, groups.None
}

// choose picks the partitions whose offsets may be removed.
func (c *Coordinator) choose(id string, tps []model.TopicPartition, codes []groups.Code, gone *[]model.TopicPartition) groups.Code {
	g := c.lock(id)
	if g == nil {
		known, err := c.s.Known(id)
		switch {
		case err != nil:
			return groups.CoordinatorNotAvailable
		case !known.Exists:
			return groups.GroupIDNotFound
		}
		*gone = append(*gone, tps...)
		return groups.None
	}
	defer c.unlock(g)
	l := g.kind.live()
	for i, tp := range tps {
		yes, known := g.kind.subscribes(tp.Topic)
		switch {
		case l.Active() && !known:
			return groups.NonEmptyGroup
		case l.Active() && yes:
			codes[i] = groups.GroupSubscribedToTopic
		default:
			*gone = append(*gone, tp)
		}
	}
	return groups.None
}
