package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/coordinator"
)

// ConsumerGroupDescribe, 0-1: what consumer groups are and have; classic ones are not told of. Version 1 tells members of
// the classic protocol from the others.
func (s *Server) consumerGroupDescribe(c *call) (reply, error) {
	req := c.req.(*kmsg.ConsumerGroupDescribeRequest)
	r := req.ResponseKind().(*kmsg.ConsumerGroupDescribeResponse)
	for _, id := range req.Groups {
		d := s.b.Coordinator.ConsumerDescribe(id)
		g := kmsg.NewConsumerGroupDescribeResponseGroup()
		g.Group, g.ErrorCode = id, int16(d.Code)
		if d.Code != groups.None {
			if d.Message != "" {
				g.ErrorMessage = &d.Message
			}
			r.Groups = append(r.Groups, g)
			continue
		}
		if req.IncludeAuthorizedOperations {
			g.AuthorizedOperations = groupOperations
		}
		g.State, g.Epoch, g.AssignmentEpoch, g.AssignorName = string(d.State), d.Epoch, d.AssignmentEpoch, d.Assignor
		for _, m := range d.Members {
			g.Members = append(g.Members, describedMember(m))
		}
		r.Groups = append(r.Groups, g)
	}
	return r, nil
}

func describedMember(m coordinator.ConsumerMember) kmsg.ConsumerGroupDescribeResponseGroupMember {
	x := kmsg.NewConsumerGroupDescribeResponseGroupMember()
	x.MemberID, x.MemberEpoch, x.ClientID, x.ClientHost = m.ID, m.Epoch, m.Client, m.Host
	x.SubscribedTopics, x.SubscribedTopicRegex = m.Topics, &m.Pattern
	if m.Instance != "" {
		x.InstanceID = &m.Instance
	}
	if m.Rack != "" {
		x.RackID = &m.Rack
	}
	x.MemberType = 1
	if m.Classic {
		x.MemberType = 0
	}
	x.Assignment.TopicPartitions = describedParts(m.Assigned)
	x.TargetAssignment.TopicPartitions = describedParts(m.Target)
	return x
}

func describedParts(parts []coordinator.Part) []kmsg.AssignmentTopicPartition {
	var out []kmsg.AssignmentTopicPartition
	for _, p := range parts {
		out = append(out, kmsg.AssignmentTopicPartition{TopicID: p.ID, Topic: p.Name, Partitions: p.Partitions})
	}
	return out
}
