package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeClientQuotas tells what clients are held to (DescribeClientQuotas 0-1): nothing.
func (s *Server) describeClientQuotas(c *call) (reply, error) {
	req := c.req.(*kmsg.DescribeClientQuotasRequest)
	r := req.ResponseKind().(*kmsg.DescribeClientQuotasResponse)
	seen := map[string]bool{}
	for _, filter := range req.Components {
		f := fault{}
		switch filter.EntityType {
		case "user", "client-id", "ip":
			if seen[filter.EntityType] {
				f = refuse(kerr.InvalidRequest, "Entity type %s cannot appear more than once in the filter.", filter.EntityType)
			}
		case "":
			f = refuse(kerr.InvalidRequest, "Unexpected empty filter component entity type")
		default:
			f = refuse(kerr.UnsupportedVersion, "Unsupported entity type %s", filter.EntityType)
		}
		seen[filter.EntityType] = true
		if f.bad() {
			r.ErrorCode, r.ErrorMessage = f.code, f.message()
			return r, nil
		}
	}
	r.Entries, r.ErrorMessage = []kmsg.DescribeClientQuotasResponseEntry{}, new(string)
	return r, nil
}
