package wire

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
)

// describeGroups describes classic groups (versions 0 to 6). One that is not there is Dead, and from version 6 on an error.
func (s *Server) describeGroups(c *call) (reply, error) {
	req := c.req.(*kmsg.DescribeGroupsRequest)
	r := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
	for _, id := range req.Groups {
		d := s.b.Coordinator.Describe(id)
		g := kmsg.NewDescribeGroupsResponseGroup()
		g.Group, g.State, g.ProtocolType, g.Protocol = id, string(d.State), d.ProtocolType, d.Protocol
		switch {
		case d.Code == groups.GroupIDNotFound && c.version < 6:
		case d.Code == groups.GroupIDNotFound:
			g.ErrorCode, g.ErrorMessage = int16(d.Code), kmsg.StringPtr(fmt.Sprintf("Group %s not found.", id))
		default:
			g.ErrorCode = int16(d.Code)
		}
		if req.IncludeAuthorizedOperations && g.ErrorCode == 0 {
			g.AuthorizedOperations = groupOperations
		}
		for i := range d.Members {
			m := &d.Members[i]
			gm := kmsg.NewDescribeGroupsResponseGroupMember()
			gm.MemberID, gm.ClientID, gm.ClientHost, gm.ProtocolMetadata, gm.MemberAssignment = m.ID, m.Client, m.Host, m.Metadata, m.Assignment
			if m.Instance != "" {
				gm.InstanceID = &m.Instance
			}
			g.Members = append(g.Members, gm)
		}
		r.Groups = append(r.Groups, g)
	}
	return r, nil
}
