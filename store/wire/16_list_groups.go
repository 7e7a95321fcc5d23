package wire

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
)

// listGroups lists all groups (versions 0 to 5), by state from version 4 on and by type from version 5 on. Filters count
// in any case; what no group can be matches none.
func (s *Server) listGroups(c *call) (reply, error) {
	req := c.req.(*kmsg.ListGroupsRequest)
	r := req.ResponseKind().(*kmsg.ListGroupsResponse)
	all, err := s.b.Coordinator.List()
	if err != nil {
		r.ErrorCode = int16(groups.CoordinatorNotAvailable)
		return r, nil
	}
	wanted := func(filter []string, have string) bool {
		return len(filter) == 0 || slices.ContainsFunc(filter, func(f string) bool { return strings.EqualFold(f, have) })
	}
	for _, g := range all {
		if !wanted(req.StatesFilter, string(g.State)) || !wanted(req.TypesFilter, g.Type) {
			continue
		}
		rg := kmsg.NewListGroupsResponseGroup()
		rg.Group, rg.ProtocolType, rg.GroupState, rg.GroupType = g.ID, g.ProtocolType, string(g.State), strings.ToLower(g.Type)
		r.Groups = append(r.Groups, rg)
	}
	return r, nil
}
