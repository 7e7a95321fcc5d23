package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// incrementalAlterConfigs changes configs one by one (IncrementalAlterConfigs 0-1): set, delete, append to and subtract from a
// list. Of one resource all changes are made or none. An operation that there is not is INVALID_REQUEST, where Kafka's
// controller fails and is gone for a while.
func (s *Server) incrementalAlterConfigs(c *call) (reply, error) {
	req := c.req.(*kmsg.IncrementalAlterConfigsRequest)
	r := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	seen := map[resource]int{}
	for i := range req.Resources {
		seen[resource{req.Resources[i].ResourceType, req.Resources[i].ResourceName}]++
	}
	for i := range req.Resources {
		t := &req.Resources[i]
		res := resource{t.ResourceType, t.ResourceName}
		edits := make([]edit, 0, len(t.Configs))
		for _, e := range t.Configs {
			edits = append(edits, edit{e.Name, e.Op, e.Value})
		}
		f := refuse(kerr.InvalidRequest, "Each resource must appear at most once.")
		if seen[res] == 1 {
			f = s.alter(c, res, edits, false, req.ValidateOnly)
		}
		a := kmsg.NewIncrementalAlterConfigsResponseResource()
		a.ResourceType, a.ResourceName, a.ErrorCode, a.ErrorMessage = t.ResourceType, t.ResourceName, f.code, f.message()
		r.Resources = append(r.Resources, a)
	}
	return r, nil
}
