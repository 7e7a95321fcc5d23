package wire

import (
	"bytes"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/coordinator"
)

// syncGroup tells a classic member what to read, when the leader has said so (versions 0 to 5). From version 5 on members
// say which protocol they believe to have been chosen.
func (s *Server) syncGroup(c *call) (reply, error) {
	req := c.req.(*kmsg.SyncGroupRequest)
	r := req.ResponseKind().(*kmsg.SyncGroupResponse)
	r.MemberAssignment = []byte{}
	q := coordinator.SyncRequest{Group: req.Group, Member: req.MemberID, Instance: text(req.InstanceID), Generation: req.Generation}
	if c.version >= 5 {
		if req.ProtocolType == nil || req.Protocol == nil {
			r.ErrorCode = int16(groups.InconsistentGroupProtocol)
			return r, nil
		}
		q.ProtocolType, q.Protocol = req.ProtocolType, req.Protocol
	}
	for _, a := range req.GroupAssignment {
		q.Assignments = append(q.Assignments, coordinator.Assigned{Member: a.MemberID, Assignment: bytes.Clone(a.MemberAssignment)})
	}
	a := s.b.Coordinator.Sync(c.ctx, q)
	r.ErrorCode = int16(a.Code)
	if a.Code == groups.None {
		r.ProtocolType, r.Protocol, r.MemberAssignment = &a.ProtocolType, &a.Protocol, a.Assignment
	}
	return r, nil
}
