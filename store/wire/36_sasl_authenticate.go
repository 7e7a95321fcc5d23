package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// failedAuthDelay is how long who has failed to authenticate waits for the answer (Kafka's
// connection.failed.authentication.delay.ms), so that passwords cannot be guessed fast.
const failedAuthDelay = 100 * time.Millisecond

// maxBare bounds a bare message of an authentication, bytes.
const maxBare = 64 << 10

// saslAuthenticate takes a message of an authentication.
func (s *Server) saslAuthenticate(c *call) (reply, error) {
	req := c.req.(*kmsg.SASLAuthenticateRequest)
	r := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
	x := c.conn.sasl
	if s.o.SASL == nil || x == nil {
		r.ErrorCode = kerr.IllegalSaslState.Code
		r.ErrorMessage = kmsg.StringPtr("SaslAuthenticate request received without a SASL exchange under way")
		return r, nil
	}
	answer, user, err := x.step(s.o.SASL, req.SASLAuthBytes)
	if err != nil {
		c.conn.fail(x, err)
		c.waited += failedAuthDelay
		r.ErrorCode = kerr.SaslAuthenticationFailed.Code
		r.ErrorMessage = kmsg.StringPtr("authentication failed: " + errAuth.Error() + " for " + x.mechanism)
		return r, nil
	}
	if r.SASLAuthBytes = answer; answer == nil {
		r.SASLAuthBytes = []byte{}
	}
	c.conn.known(user)
	return r, nil
}

// known notes who the client is, once that is certain.
func (c *conn) known(user string) {
	if user == "" {
		return
	}
	c.user, c.sasl, c.bare = user, nil, false
	c.facts.mu.Lock()
	c.facts.user = user
	c.facts.mu.Unlock()
}

// fail ends an authentication: the connection is closed behind the answer.
func (c *conn) fail(x *exchange, err error) {
	c.sasl, c.bare, c.last = nil, false, true
	c.s.refuse(c.nc.RemoteAddr().String(), fmt.Errorf("it could not authenticate by %s", x.mechanism))
	if !errors.Is(err, errAuth) {
		c.s.notice(fmt.Sprintf("authenticate %s by %s: %v", c.nc.RemoteAddr(), x.mechanism, err))
	}
	timer := time.NewTimer(failedAuthDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
	}
}

// bareSASL serves a message of an authentication that was begun by a handshake of version 0: a length, and the message.
func (c *conn) bareSASL() error {
	if err := c.flush(); err != nil {
		return err
	}
	if err := c.nc.SetReadDeadline(time.Now().Add(c.s.o.IdleTimeout)); err != nil {
		return err
	}
	var head [4]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxBare {
		return fmt.Errorf("%w: a message of %d bytes to authenticate", errClose, n)
	}
	message := make([]byte, n)
	if _, err := io.ReadFull(c.in, message); err != nil {
		return err
	}
	x := c.sasl
	answer, user, err := x.step(c.s.o.SASL, message)
	if err != nil {
		c.fail(x, err)
		return fmt.Errorf("%w: authentication failed", errClose)
	}
	c.known(user)
	b := binary.BigEndian.AppendUint32(nil, uint32(len(answer)))
	return c.send(append(b, answer...))
}
