package wire

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// listConfigResources names what has configs (ListConfigResources 0-1): topics, the broker, and groups that were given some.
// Version 0 asks for subscriptions of client metrics alone, of which there are none.
func (s *Server) listConfigResources(c *call) (reply, error) {
	req := c.req.(*kmsg.ListConfigResourcesRequest)
	r := req.ResponseKind().(*kmsg.ListConfigResourcesResponse)
	r.ConfigResources = []kmsg.ListConfigResourcesResponseConfigResource{}
	if c.version == 0 {
		return r, nil
	}
	asked := map[kmsg.ConfigResourceType]bool{}
	for _, t := range req.ResourceTypes {
		switch k := kmsg.ConfigResourceType(t); k {
		case kmsg.ConfigResourceTypeTopic, kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger, clientMetrics,
			kmsg.ConfigResourceTypeGroupConfig:
			asked[k] = true
		default:
			r.ErrorCode = kerr.UnsupportedVersion.Code
			return r, nil
		}
	}
	add := func(k kmsg.ConfigResourceType, names ...string) {
		if len(asked) > 0 && !asked[k] {
			return
		}
		for _, name := range names {
			a := kmsg.NewListConfigResourcesResponseConfigResource()
			a.Name, a.Type = name, int8(k)
			r.ConfigResources = append(r.ConfigResources, a)
		}
	}
	add(kmsg.ConfigResourceTypeGroupConfig, s.b.Engine.ConfiguredGroups()...)
	add(kmsg.ConfigResourceTypeTopic, append(s.b.Engine.Topics(), virtual)...)
	add(kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(s.b.Engine.NodeID())))
	return r, nil
}
