package wire

import "github.com/twmb/franz-go/pkg/kmsg"

func (s *Server) createACLs(c *call) (reply, error) {
	req := c.req.(*kmsg.CreateACLsRequest)
	r := req.ResponseKind().(*kmsg.CreateACLsResponse)
	f := noAuthorizer()
	r.Results = []kmsg.CreateACLsResponseResult{}
	for range req.Creations {
		a := kmsg.NewCreateACLsResponseResult()
		a.ErrorCode, a.ErrorMessage = f.code, f.message()
		r.Results = append(r.Results, a)
	}
	return r, nil
}
