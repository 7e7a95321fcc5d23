package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteGroups deletes groups that have no members, of either kind (versions 0 to 3).
func (s *Server) deleteGroups(c *call) (reply, error) {
	req := c.req.(*kmsg.DeleteGroupsRequest)
	r := req.ResponseKind().(*kmsg.DeleteGroupsResponse)
	for _, id := range req.Groups {
		g := kmsg.NewDeleteGroupsResponseGroup()
		g.Group, g.ErrorCode = id, int16(s.b.Coordinator.Delete(c.ctx, id))
		r.Groups = append(r.Groups, g)
	}
	return r, nil
}
