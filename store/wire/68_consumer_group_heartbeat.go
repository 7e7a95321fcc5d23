package wire

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/assign"
	"github.com/strata-kafka/strata/groups/coordinator"
)

// ConsumerGroupHeartbeat, 0-1: a member of a consumer group joins, lives and leaves by it, and is told what to read. Version
// 1 knows subscriptions by regular expression, and has the member bring its own id.
func (s *Server) consumerGroupHeartbeat(c *call) (reply, error) {
	req := c.req.(*kmsg.ConsumerGroupHeartbeatRequest)
	r := req.ResponseKind().(*kmsg.ConsumerGroupHeartbeatResponse)
	b := coordinator.ConsumerBeat{
		Version: c.version, Group: req.Group, Member: req.MemberID, Epoch: req.MemberEpoch, Instance: req.InstanceID, Rack: req.RackID,
		Rebalance: time.Duration(req.RebalanceTimeoutMillis) * time.Millisecond, Topics: req.SubscribedTopicNames,
		Pattern: req.SubscribedTopicRegex, Assignor: req.ServerAssignor, Owned: owned(req.Topics), Client: c.client, Host: c.host(),
	}
	out := s.b.Coordinator.ConsumerHeartbeat(c.ctx, b)
	if out.Code != groups.None {
		r.ErrorCode, r.ErrorMessage = int16(out.Code), &out.Message
		return r, nil
	}
	r.MemberID, r.MemberEpoch, r.HeartbeatIntervalMillis = &out.Member, out.Epoch, int32(out.Heartbeat.Milliseconds())
	if out.Assigned {
		r.Assignment = &kmsg.ConsumerGroupHeartbeatResponseAssignment{}
		for _, p := range out.Parts {
			r.Assignment.Topics = append(r.Assignment.Topics, kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic{TopicID: p.ID, Partitions: p.Partitions})
		}
	}
	return r, nil
}

// owned returns what a member says that it has; nil where it does not say.
func owned(topics []kmsg.ConsumerGroupHeartbeatRequestTopic) assign.Assignment {
	if topics == nil {
		return nil
	}
	a := assign.Assignment{}
	for _, t := range topics {
		ps := slices.Concat(a[t.TopicID], t.Partitions)
		slices.Sort(ps)
		if ps = slices.Compact(ps); len(ps) > 0 {
			a[t.TopicID] = ps
		}
	}
	return a
}
