package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// listBudget is how long Groups counts before it gives estimates and counts on behind.
const listBudget = 150 * time.Millisecond

// Groups is the groups of a cluster, with the logs that their lags are counted in. Its methods may be called from any
// goroutine.
type Groups struct {
	c      *Client
	logs   groups.Logs
	counts *groups.Counter
	tell   func()

	mu      sync.Mutex
	filling bool
	wg      sync.WaitGroup
}

// Groups returns the groups. tell is called from any goroutine when lags have been counted that a listing had no time for.
func (c *Client) Groups(logs groups.Logs, tell func()) *Groups {
	return &Groups{c: c, logs: logs, counts: groups.NewCounter(logs, 0, nil), tell: tell}
}

// Close waits for what runs behind; the Client is closed before.
func (g *Groups) Close() error {
	g.wg.Wait()
	return nil
}

// Groups lists all groups by name. Lags that take too long to count are estimates at first.
func (g *Groups) Groups(ctx context.Context) ([]model.Group, error) {
	out, err := g.groups(ctx)
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	f := filler{Groups: g, bounds: map[model.TopicPartition]bounds{}}
	f.prepare(ctx, out)
	short, done := context.WithTimeout(ctx, listBudget)
	defer done()
	for i := range out {
		f.fill(ctx, short, &out[i])
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.countOn(f.late)
	return out, nil
}

// groups asks for all groups, without lags.
func (g *Groups) groups(ctx context.Context) ([]model.Group, error) {
	ctx, done := g.c.bound(ctx)
	defer done()
	listed, err := g.c.admin.ListGroups(ctx)
	if err != nil {
		return nil, g.c.why(ctx, err)
	}
	var out []model.Group
	for _, l := range listed.Sorted() {
		out = append(out, model.Group{ID: l.Group, State: state(l.State), Type: kind(l.GroupType), ProtocolType: l.ProtocolType})
	}
	if len(out) == 0 {
		return nil, nil
	}
	if err := g.describe(ctx, out); err != nil {
		return nil, g.c.why(ctx, err)
	}
	var ids, share []string
	for i := range out {
		if out[i].Type == "Share" {
			share = append(share, out[i].ID)
		} else {
			ids = append(ids, out[i].ID)
		}
	}
	fetched := g.c.admin.FetchManyOffsets(ctx, ids...)
	shared := g.c.shared(ctx, share)
	if ctx.Err() != nil {
		return nil, g.c.why(ctx, ctx.Err())
	}
	for i := range out {
		f := fetched[out[i].ID]
		if out[i].Type == "Share" {
			f = shared[out[i].ID]
		}
		if f.Err != nil {
			out[i].Note = "offsets: " + answer(f.Err, "").Error()
			continue
		}
		out[i].Offsets = rows(&out[i], committed(f.Fetched), unread(f.Fetched))
	}
	return out, nil
}

// Group returns one group with its members and exact lag. ErrNoGroup.
func (g *Groups) Group(ctx context.Context, id string) (model.Group, error) {
	out, stored, err := g.whole(ctx, id)
	if err != nil {
		return out, fmt.Errorf("group %q: %w", id, err)
	}
	if out.State == model.GroupDead && len(stored.list)+len(stored.errs) == 0 {
		return out, g.noGroup(ctx, id)
	}
	out.Offsets = rows(&out, stored.list, stored.errs)
	f := filler{Groups: g, bounds: map[model.TopicPartition]bounds{}}
	f.prepare(ctx, []model.Group{out})
	f.fill(ctx, ctx, &out)
	return out, ctx.Err()
}

// one asks for one group and what it has committed. A group that is not there is Dead, as brokers say.
func (g *Groups) one(ctx context.Context, id string) (model.Group, []groups.Committed, error) {
	out, k, err := g.whole(ctx, id)
	return out, k.list, err
}

// whole is one with what was not told.
func (g *Groups) whole(ctx context.Context, id string) (model.Group, kept, error) {
	ctx, done := g.c.bound(ctx)
	defer done()
	list := []model.Group{{ID: id}}
	if err := g.describe(ctx, list); err != nil {
		return list[0], kept{}, g.c.why(ctx, err)
	}
	if list[0].State == model.GroupDead || list[0].State == "" {
		if again, ok := g.otherKind(ctx, id); ok {
			list[0] = again
		}
	}
	if list[0].Type == "Share" {
		f := g.c.shared(ctx, []string{id})[id]
		return list[0], kept{committed(f.Fetched), unread(f.Fetched)}, g.c.why(ctx, f.Err)
	}
	rs, err := g.c.admin.FetchOffsets(ctx, id)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return list[0], kept{}, g.c.why(ctx, err)
	}
	return list[0], kept{committed(rs), unread(rs)}, nil
}

// noGroup names the groups that resemble one that is not there.
func (g *Groups) noGroup(ctx context.Context, id string) error {
	ctx, done := g.c.bound(ctx)
	defer done()
	listed, err := g.c.admin.ListGroups(ctx)
	if err != nil {
		return fmt.Errorf("%w: %q", model.ErrNoGroup, id)
	}
	return model.NotFound(model.ErrNoGroup, id, listed.Groups())
}

// describe fills in states, members and assignors. Groups of the consumer protocol are told by the list, or found out by
// asking in the classic way first, to which they answer that they are not there.
func (g *Groups) describe(ctx context.Context, list []model.Group) error {
	var classic, consumer, share []string
	for i := range list {
		switch list[i].Type {
		case "Consumer":
			consumer = append(consumer, list[i].ID)
		case "Share":
			share = append(share, list[i].ID)
		case "Streams":
			list[i].Note = "the members of a streams group are not shown"
		default:
			classic = append(classic, list[i].ID)
		}
	}
	by := make(map[string]*model.Group, len(list))
	for i := range list {
		by[list[i].ID] = &list[i]
	}
	if len(classic) > 0 {
		ds, err := g.c.admin.DescribeGroups(ctx, classic...)
		if err != nil && len(ds) == 0 {
			return err
		}
		for id, d := range ds {
			if by[id].Type == "" && (d.State == "Dead" || errors.Is(d.Err, kerr.GroupIDNotFound)) {
				by[id].State = model.GroupDead
				consumer = append(consumer, id)
				continue
			}
			classicGroup(by[id], &d)
		}
	}
	g.shares(ctx, share, by)
	if len(consumer) == 0 {
		return nil
	}
	ds, err := g.c.admin.DescribeConsumerGroups(ctx, consumer...)
	if err != nil && len(ds) == 0 && len(list) == len(consumer) && list[0].Type != "" {
		return err
	}
	for id, d := range ds {
		if !errors.Is(d.Err, kerr.GroupIDNotFound) {
			consumerGroup(by[id], &d)
		}
	}
	return nil
}

func classicGroup(g *model.Group, d *kadm.DescribedGroup) {
	if d.Err != nil {
		g.Note = answer(d.Err, d.ErrMessage).Error()
		return
	}
	g.State, g.Type, g.ProtocolType, g.Protocol = state(d.State), "Classic", d.ProtocolType, d.Protocol
	for i := range d.Members {
		in := &d.Members[i]
		m := model.Member{ID: in.MemberID, Client: in.ClientID, Host: in.ClientHost}
		if in.InstanceID != nil {
			m.Instance = *in.InstanceID
		}
		if a, ok := in.Assigned.AsConsumer(); ok {
			for _, t := range a.Topics {
				for _, p := range t.Partitions {
					m.Assignment = append(m.Assignment, model.TopicPartition{Topic: t.Topic, Partition: p})
				}
			}
		}
		slices.SortFunc(m.Assignment, model.TopicPartition.Compare)
		g.Members = append(g.Members, m)
	}
}

func consumerGroup(g *model.Group, d *kadm.DescribedConsumerGroup) {
	if d.Err != nil {
		g.Note = answer(d.Err, "").Error()
		return
	}
	g.State, g.Type, g.ProtocolType, g.Protocol = state(d.State), "Consumer", "consumer", d.AssignorName
	for i := range d.Members {
		in := &d.Members[i]
		m := model.Member{ID: in.MemberID, Client: in.ClientID, Host: in.ClientHost}
		if in.InstanceID != nil {
			m.Instance = *in.InstanceID
		}
		for t, ps := range in.Assignment {
			for p := range ps {
				m.Assignment = append(m.Assignment, model.TopicPartition{Topic: t, Partition: p})
			}
		}
		slices.SortFunc(m.Assignment, model.TopicPartition.Compare)
		g.Members = append(g.Members, m)
	}
}

// state names a state as model does; brokers write them in the same words.
func state(s string) model.GroupState {
	if s == "" {
		return model.GroupUnknown
	}
	return model.GroupState(s)
}

// kind names a group's type as model does.
func kind(s string) string {
	for _, k := range []string{"Classic", "Consumer", "Share", "Streams"} {
		if len(s) == len(k) && s[1:] == k[1:] {
			return k
		}
	}
	return s
}

func committed(rs kadm.OffsetResponses) []groups.Committed {
	var out []groups.Committed
	for _, t := range slices.Sorted(maps.Keys(rs)) {
		for _, p := range slices.Sorted(maps.Keys(rs[t])) {
			o := rs[t][p]
			if o.Err != nil || o.At < 0 {
				continue
			}
			out = append(out, groups.Committed{At: model.NoTime, Expires: model.NoTime, Commit: model.Commit{
				TopicPartition: model.TopicPartition{Topic: t, Partition: p}, Offset: o.At, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata,
			}})
		}
	}
	return out
}

// rows makes a group's rows, without the logs: what it has committed, and what is assigned besides.
func rows(g *model.Group, stored []groups.Committed, errs map[model.TopicPartition]error) []model.GroupOffset {
	owner := map[model.TopicPartition]string{}
	for i := range g.Members {
		for _, tp := range g.Members[i].Assignment {
			owner[tp] = g.Members[i].ID
		}
	}
	out := make([]model.GroupOffset, 0, len(stored))
	add := func(c groups.Committed) {
		row := groups.OffsetRow(c, model.Unknown, model.Unknown, model.Count{})
		row.Member = owner[c.TopicPartition]
		delete(owner, c.TopicPartition)
		out = append(out, row)
	}
	for _, c := range stored {
		add(c)
	}
	for tp := range errs {
		add(groups.Committed{Commit: model.Commit{TopicPartition: tp, Offset: model.Unknown, LeaderEpoch: -1}})
		out[len(out)-1].Err = errs[tp]
	}
	for tp := range owner {
		add(groups.Committed{Commit: model.Commit{TopicPartition: tp, Offset: model.Unknown, LeaderEpoch: -1}})
	}
	slices.SortFunc(out, func(a, b model.GroupOffset) int {
		return cmp.Or(a.Compare(b.TopicPartition), cmp.Compare(a.Committed, b.Committed))
	})
	return out
}
