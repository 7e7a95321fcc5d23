package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// alterConfigs replaces all configs of resources (AlterConfigs 0-2): what is not named falls back to its default.
func (s *Server) alterConfigs(c *call) (reply, error) {
	req := c.req.(*kmsg.AlterConfigsRequest)
	r := req.ResponseKind().(*kmsg.AlterConfigsResponse)
	seen := map[resource]int{}
	for i := range req.Resources {
		seen[resource{req.Resources[i].ResourceType, req.Resources[i].ResourceName}]++
	}
	for i := range req.Resources {
		t := &req.Resources[i]
		res := resource{t.ResourceType, t.ResourceName}
		edits := make([]edit, 0, len(t.Configs))
		for _, e := range t.Configs {
			edits = append(edits, edit{e.Name, kmsg.IncrementalAlterConfigOpSet, e.Value})
		}
		f := refuse(kerr.InvalidRequest, "Each resource must appear at most once.")
		if seen[res] == 1 {
			f = s.alter(c, res, edits, true, req.ValidateOnly)
		}
		a := kmsg.NewAlterConfigsResponseResource()
		a.ResourceType, a.ResourceName, a.ErrorCode, a.ErrorMessage = t.ResourceType, t.ResourceName, f.code, f.message()
		r.Resources = append(r.Resources, a)
	}
	return r, nil
}
