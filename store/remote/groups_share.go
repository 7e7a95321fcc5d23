package remote

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// shares describes share groups; one that cannot be described says why.
func (g *Groups) shares(ctx context.Context, ids []string, by map[string]*model.Group) {
	if len(ids) == 0 {
		return
	}
	ds, err := g.c.admin.DescribeShareGroups(ctx, ids...)
	for _, id := range ids {
		d, ok := ds[id]
		if ok && d.Err == nil {
			shareGroup(by[id], &d)
			continue
		}
		if ok {
			err = d.Err
		}
		if err != nil {
			by[id].Note = "members: " + answer(err, "").Error()
		}
	}
}

func shareGroup(g *model.Group, d *kadm.DescribedShareGroup) {
	g.State, g.Type, g.ProtocolType, g.Protocol = state(d.GroupState), "Share", "share", d.Assignor
	for i := range d.Members {
		in := &d.Members[i]
		m := model.Member{ID: in.MemberID, Client: in.ClientID, Host: in.ClientHost}
		for t, ps := range in.Assignment {
			for p := range ps {
				m.Assignment = append(m.Assignment, model.TopicPartition{Topic: t, Partition: p})
			}
		}
		slices.SortFunc(m.Assignment, model.TopicPartition.Compare)
		g.Members = append(g.Members, m)
	}
}

// kept is what a group has committed, and of which partitions it was not told.
type kept struct {
	list []groups.Committed
	errs map[model.TopicPartition]error
}

// otherKind looks whether a group which does not answer as those of consumers do is of another kind.
func (g *Groups) otherKind(ctx context.Context, id string) (model.Group, bool) {
	listed, err := g.c.admin.ListGroups(ctx)
	l, ok := listed[id]
	if err != nil && len(listed) == 0 || !ok {
		return model.Group{}, false
	}
	out := []model.Group{{ID: id, State: state(l.State), Type: kind(l.GroupType), ProtocolType: l.ProtocolType}}
	if out[0].Type != "Share" && out[0].Type != "Streams" {
		return model.Group{}, false
	}
	return out[0], g.describe(ctx, out) == nil
}

// shared asks for the offsets of share groups, in the form of those of others.
func (c *Client) shared(ctx context.Context, ids []string) kadm.FetchOffsetsResponses {
	out := kadm.FetchOffsetsResponses{}
	if len(ids) == 0 {
		return out
	}
	ds, err := c.admin.DescribeShareGroupOffsets(ctx, ids...)
	for _, id := range ids {
		r := kadm.FetchOffsetsResponse{Group: id, Fetched: kadm.OffsetResponses{}, Err: err}
		if d, ok := ds[id]; ok {
			r.Err = d.Err
			for t, ps := range d.Offsets {
				for p, o := range ps {
					if r.Fetched[t] == nil {
						r.Fetched[t] = map[int32]kadm.OffsetResponse{}
					}
					r.Fetched[t][p] = kadm.OffsetResponse{Err: o.Err, Offset: kadm.Offset{Topic: t, Partition: p, At: o.StartOffset, LeaderEpoch: o.LeaderEpoch}}
				}
			}
		}
		out[id] = r
	}
	return out
}

// unread returns the partitions of which what is committed was not told, and why.
func unread(rs kadm.OffsetResponses) map[model.TopicPartition]error {
	var errs map[model.TopicPartition]error
	for t, ps := range rs {
		for p, o := range ps {
			if o.Err != nil {
				if errs == nil {
					errs = map[model.TopicPartition]error{}
				}
				errs[model.TopicPartition{Topic: t, Partition: p}] = fmt.Errorf("committed offset: %w", answer(o.Err, ""))
			}
		}
	}
	return errs
}
