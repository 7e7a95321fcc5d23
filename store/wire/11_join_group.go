package wire

import (
	"bytes"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/coordinator"
)

// joinGroup takes a member into a classic group and waits for the others (versions 0 to 9). Version 1 has a time-out for
// that of its own, 4 has members come twice, first for an id, 5 has static members, 9 leaders that are not to assign.
func (s *Server) joinGroup(c *call) (reply, error) {
	req := c.req.(*kmsg.JoinGroupRequest)
	r := req.ResponseKind().(*kmsg.JoinGroupResponse)
	j := coordinator.JoinRequest{
		Group: req.Group, Member: req.MemberID, Client: c.client, Host: c.host(), ProtocolType: req.ProtocolType,
		Session:   time.Duration(req.SessionTimeoutMillis) * time.Millisecond,
		Rebalance: time.Duration(req.RebalanceTimeoutMillis) * time.Millisecond,
		KnowsID:   c.version >= 4, CanSkip: c.version >= 9,
	}
	if c.version == 0 {
		j.Rebalance = j.Session
	}
	if req.InstanceID != nil {
		j.Instance = *req.InstanceID
	}
	for _, p := range req.Protocols {
		j.Protocols = append(j.Protocols, coordinator.Protocol{Name: p.Name, Metadata: bytes.Clone(p.Metadata)})
	}
	a := s.b.Coordinator.Join(c.ctx, j)
	r.ErrorCode, r.Generation, r.LeaderID, r.MemberID, r.SkipAssignment = int16(a.Code), a.Generation, a.Leader, a.MemberID, a.Skip
	if a.Code == groups.None {
		r.ProtocolType, r.Protocol = &a.ProtocolType, &a.Protocol
	} else if c.version < 7 {
		r.Protocol = kmsg.StringPtr("")
	}
	for _, m := range a.Members {
		rm := kmsg.NewJoinGroupResponseMember()
		rm.MemberID, rm.ProtocolMetadata = m.ID, m.Metadata
		if m.Instance != "" {
			rm.InstanceID = &m.Instance
		}
		r.Members = append(r.Members, rm)
	}
	return r, nil
}
