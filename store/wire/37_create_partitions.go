package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/layout"
)

// createPartitions gives topics more partitions (CreatePartitions 0-3). All that are asked for are there or none. Left out:
// controller mutation quotas.
func (s *Server) createPartitions(c *call) (reply, error) {
	req := c.req.(*kmsg.CreatePartitionsRequest)
	r := req.ResponseKind().(*kmsg.CreatePartitionsResponse)
	seen := map[string]int{}
	for i := range req.Topics {
		seen[req.Topics[i].Topic]++
	}
	answered := map[string]bool{}
	more := 0
	for i := range req.Topics {
		t := &req.Topics[i]
		if seen[t.Topic] == 1 {
			more = min(maxChanges+1, more+max(int(t.Count)-s.b.Engine.PartitionCount(t.Topic), 0))
		}
	}
	for i := range req.Topics {
		t := &req.Topics[i]
		if answered[t.Topic] {
			continue
		}
		answered[t.Topic] = true
		var f fault
		switch {
		case seen[t.Topic] > 1:
			f = refuse(kerr.InvalidRequest, "Duplicate topic name.")
		case more > maxChanges:
			f = refuse(kerr.PolicyViolation, "Excessively large number of additional partitions per request: at most %d.", maxChanges)
		default:
			f = s.growTopic(c, t, req.ValidateOnly)
		}
		a := kmsg.NewCreatePartitionsResponseTopic()
		a.Topic, a.ErrorCode, a.ErrorMessage = t.Topic, f.code, f.message()
		r.Topics = append(r.Topics, a)
	}
	return r, nil
}

// growTopic adds a topic's partitions, or only says whether it could.
func (s *Server) growTopic(c *call, t *kmsg.CreatePartitionsRequestTopic, validateOnly bool) fault {
	have := s.b.Engine.PartitionCount(t.Topic)
	if have == 0 && isVirtual(t.Topic) {
		have = virtualPartitions
	}
	count := int(t.Count)
	switch {
	case have == 0:
		return fault{code: kerr.UnknownTopicOrPartition.Code}
	case count == have:
		return refuse(kerr.InvalidPartitions, "Topic already has %d partition(s).", have)
	case count < have:
		return refuse(kerr.InvalidPartitions, "The topic %s currently has %d partition(s); %d would not be an increase.", t.Topic, have, count)
	case layout.Internal(t.Topic):
		return refuse(kerr.InvalidTopicException, "The topic %s is the broker's own.", t.Topic)
	}
	if t.Assignment != nil {
		if len(t.Assignment) != count-have {
			return refuse(kerr.InvalidReplicaAssignment,
				"Attempted to add %d additional partition(s), but only %d assignment(s) were specified.", count-have, len(t.Assignment))
		}
		for _, a := range t.Assignment {
			if f := s.placed(a.Replicas); f.bad() {
				return f
			}
		}
	}
	if validateOnly {
		return fault{}
	}
	return faultOf(s.b.Admin.GrowTopic(c.ctx, t.Topic, t.Count))
}
