package wire

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
)

// UserAdmin keeps the users. What it has changed is on the disk.
type UserAdmin interface {
	Users
	// List returns the users by name, without salts and keys.
	List() ([]groups.User, error)
	// Set gives a user credentials, in place of those of the same mechanisms. Errors wrap model.ErrInvalid.
	Set(ctx context.Context, name string, credentials ...groups.Credential) error
	// Remove takes credentials away, and reports whether there were any.
	Remove(ctx context.Context, name string, mechanisms ...string) (bool, error)
}

// scramNumber is a mechanism's number in the protocol; 0 for one that has none.
func scramNumber(mechanism string) int8 {
	switch mechanism {
	case scramSHA256:
		return 1
	case scramSHA512:
		return 2
	}
	return 0
}

// scramName is the inverse of scramNumber; "" for what is no mechanism.
func scramName(n int8) string {
	switch n {
	case 1:
		return scramSHA256
	case 2:
		return scramSHA512
	}
	return ""
}

// describeUsers lists users with the mechanisms of their credentials, never the credentials.
func (s *Server) describeUsers(c *call) (reply, error) {
	req := c.req.(*kmsg.DescribeUserSCRAMCredentialsRequest)
	r := req.ResponseKind().(*kmsg.DescribeUserSCRAMCredentialsResponse)
	all, err := s.b.Users.List()
	if err != nil {
		s.notice(err.Error())
		r.ErrorCode = kerr.KafkaStorageError.Code
		return r, nil
	}
	known := map[string]groups.User{}
	var names []string
	for _, u := range all {
		known[u.Name] = u
		names = append(names, u.Name)
	}
	asked := map[string]int{}
	if len(req.Users) > 0 {
		names = names[:0]
		for _, u := range req.Users {
			if asked[u.Name]++; asked[u.Name] == 1 {
				names = append(names, u.Name)
			}
		}
	}
	for _, name := range names {
		out := kmsg.NewDescribeUserSCRAMCredentialsResponseResult()
		out.User = name
		u, ok := known[name]
		switch {
		case asked[name] > 1:
			out.ErrorCode = kerr.DuplicateResource.Code
			out.ErrorMessage = kmsg.StringPtr("the user is named twice")
		case !ok:
			out.ErrorCode = kerr.ResourceNotFound.Code
			out.ErrorMessage = kmsg.StringPtr("there is no such user")
		}
		if out.ErrorCode == 0 {
			for _, cr := range u.Credentials {
				info := kmsg.NewDescribeUserSCRAMCredentialsResponseResultCredentialInfo()
				info.Mechanism, info.Iterations = scramNumber(cr.Mechanism), int32(cr.Iterations)
				out.CredentialInfos = append(out.CredentialInfos, info)
			}
		}
		r.Results = append(r.Results, out)
	}
	return r, nil
}
