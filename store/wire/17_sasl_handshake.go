package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// saslHandshake begins an authentication. What follows version 0 is no request any more but the mechanism's bare messages;
// see bareSASL.
func (s *Server) saslHandshake(c *call) (reply, error) {
	req := c.req.(*kmsg.SASLHandshakeRequest)
	r := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
	if s.o.SASL == nil || c.conn.user != "" {
		r.ErrorCode = kerr.IllegalSaslState.Code
		return r, nil
	}
	r.SupportedMechanisms = s.o.SASL.mechanisms()
	x, ok := s.o.SASL.begin(req.Mechanism)
	if !ok {
		r.ErrorCode = kerr.UnsupportedSaslMechanism.Code
		c.conn.last = true
		return r, nil
	}
	c.conn.sasl = x
	c.conn.bare = c.version == 0
	return r, nil
}
