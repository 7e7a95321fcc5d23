package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// listPartitionReassignments tells of replicas that are being moved (ListPartitionReassignments 0): there never are any.
func (s *Server) listPartitionReassignments(c *call) (reply, error) {
	r := c.req.ResponseKind().(*kmsg.ListPartitionReassignmentsResponse)
	r.Topics = []kmsg.ListPartitionReassignmentsResponseTopic{}
	return r, nil
}
