package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// noAuthorizer is what a Kafka without an authorizer answers: there are no rules for who may do what.
func noAuthorizer() fault {
	return refuse(kerr.SecurityDisabled, "No Authorizer is configured.")
}

// describeACLs, createACLs and deleteACLs answer (DescribeAcls, CreateAcls, DeleteAcls 1-3) as a Kafka without an authorizer
// does: who gets in may do everything.
func (s *Server) describeACLs(c *call) (reply, error) {
	r := c.req.ResponseKind().(*kmsg.DescribeACLsResponse)
	f := noAuthorizer()
	r.ErrorCode, r.ErrorMessage = f.code, f.message()
	r.Resources = []kmsg.DescribeACLsResponseResource{}
	return r, nil
}
