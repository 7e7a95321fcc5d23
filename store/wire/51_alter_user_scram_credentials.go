package wire

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// userChange is what a request wants of one user.
type userChange struct {
	set    []groups.Credential
	remove []string
	code   *kerr.Error // why nothing is done
	why    string
}

func (u *userChange) refuse(code *kerr.Error, why string) {
	if u.code == nil {
		u.code, u.why = code, why
	}
}

// alterUsers gives credentials to users and takes some away: all that is asked for a user, or nothing.
func (s *Server) alterUsers(c *call) (reply, error) {
	req := c.req.(*kmsg.AlterUserSCRAMCredentialsRequest)
	r := req.ResponseKind().(*kmsg.AlterUserSCRAMCredentialsResponse)
	changes := map[string]*userChange{}
	var names []string
	at := func(name string) *userChange {
		if changes[name] == nil {
			changes[name] = &userChange{}
			names = append(names, name)
		}
		return changes[name]
	}
	seen := map[string]bool{}
	once := func(u *userChange, name, mechanism string) {
		if k := name + "\x00" + mechanism; seen[k] {
			u.refuse(kerr.DuplicateResource, "a credential is named twice")
		} else {
			seen[k] = true
		}
	}
	for _, d := range req.Deletions {
		u, m := at(d.Name), scramName(d.Mechanism)
		once(u, d.Name, m)
		if m == "" {
			u.refuse(kerr.UnsupportedSaslMechanism, "unknown SCRAM mechanism")
			continue
		}
		_, ok, err := s.b.Users.Credential(d.Name, m)
		switch {
		case err != nil:
			s.notice(err.Error())
			u.refuse(kerr.KafkaStorageError, "the users cannot be read")
		case !ok:
			u.refuse(kerr.ResourceNotFound, "there is no such credential")
		}
		u.remove = append(u.remove, m)
	}
	for _, x := range req.Upsertions {
		u, m := at(x.Name), scramName(x.Mechanism)
		once(u, x.Name, m)
		if m == "" {
			u.refuse(kerr.UnsupportedSaslMechanism, "unknown SCRAM mechanism")
			continue
		}
		cr, err := groups.SaltedCredential(m, x.SaltedPassword, x.Salt, int(x.Iterations))
		if err != nil {
			u.refuse(kerr.UnacceptableCredential, err.Error())
		}
		u.set = append(u.set, cr)
	}
	for _, name := range names {
		u := changes[name]
		if u.code == nil {
			s.changeUser(c, name, u)
		}
		out := kmsg.NewAlterUserSCRAMCredentialsResponseResult()
		out.User = name
		if u.code != nil {
			out.ErrorCode, out.ErrorMessage = u.code.Code, kmsg.StringPtr(u.why)
		}
		r.Results = append(r.Results, out)
	}
	return r, nil
}

// changeUser does what is asked for a user.
func (s *Server) changeUser(c *call, name string, u *userChange) {
	var err error
	if len(u.set) > 0 {
		err = s.b.Users.Set(c.ctx, name, u.set...)
	}
	if err == nil && len(u.remove) > 0 {
		_, err = s.b.Users.Remove(c.ctx, name, u.remove...)
	}
	switch {
	case errors.Is(err, model.ErrInvalid):
		u.refuse(kerr.UnacceptableCredential, err.Error())
	case err != nil:
		s.notice(err.Error())
		u.refuse(kerr.KafkaStorageError, "the user cannot be stored")
	}
}
