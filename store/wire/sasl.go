package wire

import (
	"bytes"
	"errors"
	"slices"

	"github.com/strata-kafka/strata/groups"
)

// The mechanisms by which clients can say who they are.
const (
	plain       = "PLAIN"
	scramSHA256 = groups.ScramSHA256
	scramSHA512 = groups.ScramSHA512
)

// Mechanisms are the SASL mechanisms that a Server knows, by name.
func Mechanisms() []string { return []string{plain, scramSHA256, scramSHA512} }

// Users knows who may connect. Its methods may be called from any goroutine.
type Users interface {
	// Credential returns a user's credential of a mechanism; ok is false where there is none.
	Credential(name, mechanism string) (c groups.Credential, ok bool, err error)
}

// SASL has clients say who they are before anything else.
type SASL struct {
	Mechanisms []string // of Mechanisms; nil means all
	Users      Users
}

// errAuth says that a client is not who it says, without saying what was wrong.
var errAuth = errors.New("invalid credentials")

// exchange is an authentication under way.
type exchange struct {
	mechanism string
	scram     conversation
}

// mechanisms returns those that are offered.
func (o *SASL) mechanisms() []string {
	if o.Mechanisms == nil {
		return Mechanisms()
	}
	return o.Mechanisms
}

// begin begins an authentication; ok is false where the mechanism is not offered.
func (o *SASL) begin(mechanism string) (x *exchange, ok bool) {
	if !slices.Contains(o.mechanisms(), mechanism) {
		return nil, false
	}
	return &exchange{mechanism: mechanism}, true
}

// step takes a client's message and returns the answer, and once it is over who the client is. Errors are errAuth, or what
// kept the users from being looked up; no part of a message is in them.
func (x *exchange) step(o *SASL, message []byte) (answer []byte, user string, err error) {
	if x.mechanism == plain {
		user, err = o.plain(message)
		return nil, user, err
	}
	text, err := x.scram.step(o, x.mechanism, string(message))
	if err != nil {
		return nil, "", err
	}
	if x.scram.done {
		user = x.scram.user
	}
	return []byte(text), user, nil
}

// plain checks a PLAIN message (RFC 4616): authorization id, user, password, a zero byte between them.
func (o *SASL) plain(message []byte) (string, error) {
	parts := bytes.Split(message, []byte{0})
	if len(parts) != 3 || len(parts[1]) == 0 || len(parts[2]) == 0 {
		return "", errAuth
	}
	if len(parts[0]) > 0 && !bytes.Equal(parts[0], parts[1]) {
		return "", errAuth // nobody acts for another here
	}
	user, password := string(parts[1]), string(parts[2])
	for _, m := range []string{scramSHA512, scramSHA256} {
		c, ok, err := o.Users.Credential(user, m)
		if err != nil {
			return "", err
		}
		if ok {
			if !c.Matches(password) {
				return "", errAuth
			}
			return user, nil
		}
	}
	return "", errAuth
}
