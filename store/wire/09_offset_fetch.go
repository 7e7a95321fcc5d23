package wire

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// offsetFetch returns what groups have committed (versions 1 to 10). Version 2 can ask for all topics, 5 has leader epochs,
// 7 asks for what no transaction can still change, 8 for many groups, 9 says which member asks, 10 names topics by id. What
// is not there is offset -1, without an error.
func (s *Server) offsetFetch(c *call) (reply, error) {
	req := c.req.(*kmsg.OffsetFetchRequest)
	r := req.ResponseKind().(*kmsg.OffsetFetchResponse)
	if c.version >= 8 {
		for i := range req.Groups {
			r.Groups = append(r.Groups, s.fetchGroup(c, &req.Groups[i], req.RequireStable))
		}
		return r, nil
	}
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group, g.MemberEpoch = req.Group, -1
	if req.Topics != nil {
		g.Topics = make([]kmsg.OffsetFetchRequestGroupTopic, 0, len(req.Topics))
		for _, t := range req.Topics {
			g.Topics = append(g.Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: t.Topic, Partitions: t.Partitions})
		}
	}
	out := s.fetchGroup(c, &g, req.RequireStable)
	r.ErrorCode = out.ErrorCode
	for _, t := range out.Topics {
		rt := kmsg.NewOffsetFetchResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetFetchResponseTopicPartition()
			rp.Partition, rp.Offset, rp.LeaderEpoch, rp.Metadata, rp.ErrorCode = p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode
			if c.version < 2 && out.ErrorCode != 0 {
				rp.ErrorCode = out.ErrorCode // there is no other place for it
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		r.Topics = append(r.Topics, rt)
	}
	return r, nil
}

// fetchGroup answers for one group.
func (s *Server) fetchGroup(c *call, g *kmsg.OffsetFetchRequestGroup, stable bool) kmsg.OffsetFetchResponseGroup {
	out := kmsg.NewOffsetFetchResponseGroup()
	out.Group = g.Group
	if c.version >= 9 && g.MemberID != nil {
		if code := s.b.Coordinator.MayFetch(g.Group, *g.MemberID, g.MemberEpoch); code != groups.None {
			out.ErrorCode = int16(code)
			return out
		}
	}
	f := groupFetch{s: s, c: c, group: g.Group}
	if stable {
		pending, err := s.b.Groups.PendingIn(g.Group)
		if err != nil {
			out.ErrorCode = int16(groups.CoordinatorNotAvailable)
			return out
		}
		f.pending = pending
	}
	var err error
	if g.Topics == nil {
		out.Topics, err = f.all()
	} else {
		out.Topics, err = f.some(g.Topics)
	}
	if err != nil {
		out.Topics, out.ErrorCode = nil, int16(groups.CoordinatorNotAvailable)
	}
	return out
}

// groupFetch is what is asked of one group.
type groupFetch struct {
	s       *Server
	c       *call
	group   string
	pending map[model.TopicPartition]bool // what transactions may still change; nil where that does not matter
}

// some answers for the topics that are named.
func (f *groupFetch) some(topics []kmsg.OffsetFetchRequestGroupTopic) ([]kmsg.OffsetFetchResponseGroupTopic, error) {
	names := make([]string, len(topics))
	tps := []model.TopicPartition{}
	for i, t := range topics {
		names[i] = t.Topic
		if f.c.version >= 10 {
			names[i] = f.s.topicByID(layout.ID(t.TopicID))
		}
		for _, p := range t.Partitions {
			tps = append(tps, model.TopicPartition{Topic: names[i], Partition: p})
		}
	}
	stored, err := f.stored(tps)
	if err != nil {
		return nil, err
	}
	out := make([]kmsg.OffsetFetchResponseGroupTopic, 0, len(topics))
	for i, t := range topics {
		rt := kmsg.NewOffsetFetchResponseGroupTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := f.partition(model.TopicPartition{Topic: names[i], Partition: p}, stored)
			if f.c.version >= 10 && names[i] == "" {
				rp.ErrorCode = int16(groups.UnknownTopicID)
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		out = append(out, rt)
	}
	return out, nil
}

// stored returns what is committed, by partition.
func (f *groupFetch) stored(tps []model.TopicPartition) (map[model.TopicPartition]groups.Committed, error) {
	all, err := f.s.b.Groups.Fetch(context.WithoutCancel(f.c.ctx), f.group, tps)
	if err != nil {
		return nil, err
	}
	m := make(map[model.TopicPartition]groups.Committed, len(all))
	for _, c := range all {
		m[c.TopicPartition] = c
	}
	return m, nil
}

// all answers for all topics that the group has committed of.
func (f *groupFetch) all() ([]kmsg.OffsetFetchResponseGroupTopic, error) {
	stored, err := f.stored(nil)
	if err != nil {
		return nil, err
	}
	tps := make([]model.TopicPartition, 0, len(stored))
	for tp := range stored {
		tps = append(tps, tp)
	}
	for tp := range f.pending {
		if _, ok := stored[tp]; !ok {
			tps = append(tps, tp)
		}
	}
	slices.SortFunc(tps, model.TopicPartition.Compare)
	out := []kmsg.OffsetFetchResponseGroupTopic{}
	for i, tp := range tps {
		if i == 0 || tps[i-1].Topic != tp.Topic {
			rt := kmsg.NewOffsetFetchResponseGroupTopic()
			rt.Topic = tp.Topic
			if f.c.version >= 10 {
				id, ok := f.s.b.Engine.TopicID(tp.Topic)
				if !ok {
					continue // of a topic that is gone; its partitions find no topic below
				}
				rt.TopicID = id
			}
			out = append(out, rt)
		}
		if n := len(out); n > 0 && out[n-1].Topic == tp.Topic {
			out[n-1].Partitions = append(out[n-1].Partitions, f.partition(tp, stored))
		}
	}
	return out, nil
}

// partition answers for one partition.
func (f *groupFetch) partition(tp model.TopicPartition, stored map[model.TopicPartition]groups.Committed) kmsg.OffsetFetchResponseGroupTopicPartition {
	rp := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	rp.Partition, rp.Offset, rp.LeaderEpoch, rp.Metadata = tp.Partition, -1, -1, kmsg.StringPtr("")
	if f.pending[tp] {
		rp.ErrorCode = int16(groups.UnstableOffsetCommit)
		return rp
	}
	if c, ok := stored[tp]; ok {
		rp.Offset, rp.LeaderEpoch, rp.Metadata = c.Offset, c.LeaderEpoch, &c.Metadata
	}
	return rp
}
