package wire

import "github.com/twmb/franz-go/pkg/kmsg"

func (s *Server) deleteACLs(c *call) (reply, error) {
	req := c.req.(*kmsg.DeleteACLsRequest)
	r := req.ResponseKind().(*kmsg.DeleteACLsResponse)
	f := noAuthorizer()
	r.Results = []kmsg.DeleteACLsResponseResult{}
	for range req.Filters {
		a := kmsg.NewDeleteACLsResponseResult()
		a.ErrorCode, a.ErrorMessage = f.code, f.message()
		a.MatchingACLs = []kmsg.DeleteACLsResponseResultMatchingACL{}
		r.Results = append(r.Results, a)
	}
	return r, nil
}
