package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// conn is one client's connection. Everything but nc, ctx, end, facts and since is its goroutine's own.
type conn struct {
	s   *Server
	nc  net.Conn
	ctx context.Context // ends with the Server, and when the client has gone while it is waited for
	end context.CancelFunc
	in  *bufio.Reader
	out *[]byte // answers not yet sent; nil for none
	err error   // why writing failed

	frame   *[]byte // of the request that is served; nil where it lies in in
	trust   int     // the largest frame that has come whole, bytes
	reading time.Time
	call    call
	facts   facts
	since   atomic.Int64  // ms, when the request began that may be waiting; 0 for none
	user    string        // as authenticated; "" before, and where nobody has to be
	sasl    *exchange     // an authentication under way
	bare    bool          // it goes on without requests; see bareSASL
	last    bool          // the connection ends behind the answer
	produce *produceReply // of the last Produce; nil before the first
}

// call is one request with what is known of who sent it. It is valid until the handler returns.
type call struct {
	ctx     context.Context // ends with the Server, or when the client has gone
	conn    *conn
	key     kmsg.Key
	version int16
	client  string       // client.id, "" for none
	req     kmsg.Request // nil for a raw API
	body    []byte
	// waited is how long the handler has waited for others, as a long poll does: it is not the server's time.
	waited time.Duration
}

// host returns where the client is, as Kafka's group descriptions write it: "/127.0.0.1".
func (c *call) host() string {
	h, _, err := net.SplitHostPort(c.conn.nc.RemoteAddr().String())
	if err != nil {
		h = c.conn.nc.RemoteAddr().String()
	}
	return "/" + h
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{s: s, nc: nc, in: bufio.NewReaderSize(nc, inBuffer)}
	c.ctx, c.end = context.WithCancel(s.ctx)
	c.call.conn, c.call.ctx = c, c.ctx
	c.facts.begin(nc)
	return c
}

// wake ends a read that waits.
func (c *conn) wake() { _ = c.nc.SetReadDeadline(time.Unix(1, 0)) }

// serve serves requests until the client goes, or says what cannot be understood. A panic costs this connection only.
func (c *conn) serve() {
	defer c.end()
	defer func() { _ = c.nc.Close() }() // whatever is wrong with it, it is gone
	defer func() {
		if r := recover(); r != nil {
			c.s.notice(fmt.Sprintf("connection of %s closed: serving %s version %d panicked at %s: %v",
				c.nc.RemoteAddr(), c.call.key.Name(), c.call.version, panicked(), r))
		}
	}()
	if err := c.handshake(); err != nil {
		c.refused(err)
		return
	}
	for c.ctx.Err() == nil && !c.last {
		if err := c.one(); err != nil {
			c.refused(err)
			break
		}
	}
	_ = c.flush()
}

// handshake makes the connection a TLS one, where the Server has it so.
func (c *conn) handshake() error {
	t, ok := c.nc.(*tls.Conn)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, handshakeTimeout)
	defer cancel()
	if err := t.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("%w: TLS: %w", errClose, err)
	}
	c.facts.mu.Lock()
	defer c.facts.mu.Unlock()
	c.facts.tls = true
	if certs := t.ConnectionState().PeerCertificates; len(certs) > 0 {
		c.facts.user = certs[0].Subject.String()
	}
	return nil
}

// handshakeTimeout is how long a client has for TLS's handshake.
const handshakeTimeout = 10 * time.Second

// refused tells why a connection is closed that its client did not end.
func (c *conn) refused(err error) {
	if errors.Is(err, errClose) && c.ctx.Err() == nil {
		c.s.refuse(c.nc.RemoteAddr().String(), err)
	}
}

// one serves one request.
func (c *conn) one() error {
	if c.bare {
		return c.bareSASL()
	}
	frame, err := c.read()
	if err != nil {
		return err
	}
	defer c.letGo()
	h, body, err := parseHeader(frame)
	if err != nil {
		return err
	}
	a := c.s.apis[kmsg.Key(h.key)]
	cl := &c.call
	cl.key, cl.version, cl.body, cl.req, cl.waited = kmsg.Key(h.key), h.version, body, nil, 0
	if cl.client != string(h.client) {
		cl.client = string(h.client)
	}
	if cl.key == kmsg.ApiVersions && (h.version < a.min || h.version > a.max) {
		// A version of the future has a body that nobody can read.
		return c.answer(h.corr, false, unsupportedApiVersions(a))
	}
	if err := c.decode(a); err != nil {
		return err
	}
	if !a.quick {
		if err := c.flush(); err != nil {
			return err
		}
	}
	began := time.Now()
	c.facts.request(cl, began, len(frame)+4)
	if !a.quick {
		c.since.Store(began.UnixMilli())
		defer c.since.Store(0)
	}
	r, err := a.handle(c.s, cl)
	failed := err != nil || isFailed(r)
	took := time.Since(began) - cl.waited
	if a.waits {
		took = -1
	}
	c.s.stats.served(cl.key, took, failed)
	if !failed {
		cl.belongs()
	}
	if failed {
		c.facts.errors.Add(1)
	}
	if err != nil || r == nil {
		return err
	}
	return c.answer(h.corr, h.version >= a.flexible && cl.key != kmsg.ApiVersions, r)
}

// decode reads the request's body, but for raw APIs. Bytes behind it are nobody's.
func (c *conn) decode(a api) (err error) {
	cl := &c.call
	if cl.version >= a.flexible {
		if cl.body, err = skipTags(cl.body); err != nil {
			return err
		}
	}
	if a.raw {
		return nil
	}
	cl.req = kmsg.RequestForKey(int16(cl.key))
	cl.req.SetVersion(cl.version)
	if len(cl.body) > firstFrame {
		// What it is decoded to may be a hundred times as large: one at a time.
		c.s.large.Lock()
		defer c.s.large.Unlock()
	}
	if err := cl.req.ReadFrom(cl.body); err != nil {
		return fmt.Errorf("%w: %s version %d: %w", errClose, cl.key.Name(), cl.version, err)
	}
	return nil
}

// panicked returns the place, FILE:LINE, of the panic that is being recovered from.
func panicked() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for seen := false; ; {
		f, more := frames.Next()
		if seen && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
		}
		if seen = seen || f.Function == "runtime.gopanic"; !more {
			return "an unknown place"
		}
	}
}
