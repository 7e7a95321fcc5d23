package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// alterPartitionReassignments takes orders to move replicas (AlterPartitionReassignments 0-1). There is one broker, where they
// all are: an order that leaves them there is fulfilled, any other is refused, and there is never one to call off.
func (s *Server) alterPartitionReassignments(c *call) (reply, error) {
	req := c.req.(*kmsg.AlterPartitionAssignmentsRequest)
	r := req.ResponseKind().(*kmsg.AlterPartitionAssignmentsResponse)
	r.AllowReplicationFactorChange = req.AllowReplicationFactorChange
	r.Topics = []kmsg.AlterPartitionAssignmentsResponseTopic{}
	for i := range req.Topics {
		asked := &req.Topics[i]
		t := kmsg.NewAlterPartitionAssignmentsResponseTopic()
		t.Topic = asked.Topic
		for _, order := range asked.Partitions {
			f := s.hosted(asked.Topic, order.Partition)
			switch {
			case f.bad():
			case order.Replicas == nil:
				f = fault{code: kerr.NoReassignmentInProgress.Code}
			default:
				f = s.placed(order.Replicas)
			}
			p := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
			p.Partition, p.ErrorCode, p.ErrorMessage = order.Partition, f.code, f.message()
			t.Partitions = append(t.Partitions, p)
		}
		r.Topics = append(r.Topics, t)
	}
	return r, nil
}
