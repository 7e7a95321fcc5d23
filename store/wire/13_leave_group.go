package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/coordinator"
)

// leaveGroup takes members out of a classic group (versions 0 to 5): one that says so of itself, and from version 3 on
// any number, each of which is answered on its own.
func (s *Server) leaveGroup(c *call) (reply, error) {
	req := c.req.(*kmsg.LeaveGroupRequest)
	r := req.ResponseKind().(*kmsg.LeaveGroupResponse)
	leavers := []coordinator.Leaver{{Member: req.MemberID}}
	if c.version >= 3 {
		leavers = leavers[:0]
		for _, m := range req.Members {
			leavers = append(leavers, coordinator.Leaver{Member: m.MemberID, Instance: text(m.InstanceID)})
		}
	}
	codes, code := s.b.Coordinator.Leave(c.ctx, req.Group, leavers)
	r.ErrorCode = int16(code)
	if code != groups.None {
		return r, nil
	}
	if c.version < 3 {
		r.ErrorCode = int16(codes[0])
		return r, nil
	}
	for i, m := range req.Members {
		rm := kmsg.NewLeaveGroupResponseMember()
		rm.MemberID, rm.InstanceID, rm.ErrorCode = m.MemberID, m.InstanceID, int16(codes[i])
		r.Members = append(r.Members, rm)
	}
	return r, nil
}
