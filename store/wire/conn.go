package wire

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// conn is one client's connection. Everything but nc is its goroutine's own.
type conn struct {
	s   *Server
	nc  net.Conn
	in  *bufio.Reader
	out []byte

	software, version string // as ApiVersions told
}

// call is one request with what is known of who sent it.
type call struct {
	ctx     context.Context // ends with the Server
	conn    *conn
	key     kmsg.Key
	version int16
	client  string // client.id, "" for none
	req     kmsg.Request
}

// host returns where the client is, as Kafka's group descriptions write it: "/127.0.0.1".
func (c *call) host() string {
	h, _, err := net.SplitHostPort(c.conn.nc.RemoteAddr().String())
	if err != nil {
		h = c.conn.nc.RemoteAddr().String()
	}
	return "/" + h
}

// errClose closes the connection without a word, as Kafka does.
var errClose = errors.New("connection closed")

func newConn(s *Server, nc net.Conn) *conn {
	return &conn{s: s, nc: nc, in: bufio.NewReaderSize(nc, 64<<10)}
}

// wake ends a read that waits.
func (c *conn) wake() { _ = c.nc.SetReadDeadline(time.Unix(1, 0)) }

// serve serves requests until the client goes, or says what cannot be understood.
func (c *conn) serve() {
	defer c.nc.Close()
	for c.s.ctx.Err() == nil {
		if err := c.one(); err != nil {
			return
		}
	}
}

// one serves one request.
func (c *conn) one() error {
	frame, err := c.read()
	if err != nil {
		return err
	}
	key, version, corr, client, body, err := parseHeader(frame)
	if err != nil {
		return err
	}
	a, ok := c.s.apis[kmsg.Key(key)]
	if !ok {
		return fmt.Errorf("%w: unknown key %d", errClose, key)
	}
	req := kmsg.RequestForKey(key)
	unversioned := kmsg.Key(key) == kmsg.ApiVersions && (version < a.min || version > a.max)
	switch {
	case unversioned:
		// A version of the future has a body that nobody can read.
		return c.write(corr, false, unsupportedApiVersions(a))
	case version < max(a.min, a.floor) || version > a.max:
		return fmt.Errorf("%w: key %d has no version %d", errClose, key, version)
	}
	req.SetVersion(version)
	if req.IsFlexible() {
		if body, err = skipTags(body); err != nil {
			return err
		}
	}
	if err := req.ReadFrom(body); err != nil {
		return fmt.Errorf("%w: key %d version %d: %w", errClose, key, version, err)
	}
	r, err := a.handle(c.s, &call{ctx: c.s.ctx, conn: c, key: kmsg.Key(key), version: version, client: client, req: req})
	if err != nil || r == nil {
		return err
	}
	return c.write(corr, req.IsFlexible() && kmsg.Key(key) != kmsg.ApiVersions, r)
}

// read reads one frame without its length.
func (c *conn) read() ([]byte, error) {
	if err := c.nc.SetReadDeadline(time.Now().Add(c.s.o.IdleTimeout)); err != nil {
		return nil, err
	}
	if c.s.ctx.Err() != nil {
		return nil, errClose
	}
	var head [4]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return nil, err
	}
	n := int32(binary.BigEndian.Uint32(head[:]))
	if n < 8 || int(n) > c.s.o.MaxRequest {
		return nil, fmt.Errorf("%w: a request of %d bytes", errClose, n)
	}
	// Memory follows what has come, not what was announced.
	frame := make([]byte, 0, min(int(n), 64<<10))
	for len(frame) < int(n) {
		if len(frame) == cap(frame) {
			grown := make([]byte, len(frame), min(int(n), 2*cap(frame)))
			copy(grown, frame)
			frame = grown
		}
		m, err := c.in.Read(frame[len(frame):cap(frame)])
		frame = frame[:len(frame)+m]
		if err != nil {
			return nil, err
		}
	}
	return frame, nil
}

// write sends an answer.
func (c *conn) write(corr int32, flexible bool, r reply) error {
	b := append(c.out[:0], 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(corr))
	if flexible {
		b = append(b, 0)
	}
	b = r.AppendTo(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	c.out = b[:0]
	if cap(c.out) > 1<<20 {
		c.out = nil
	}
	if err := c.nc.SetWriteDeadline(time.Now().Add(c.s.o.WriteTimeout)); err != nil {
		return err
	}
	_, err := c.nc.Write(b)
	return err
}

// parseHeader reads a request header up to the client id, which has the same form in all versions.
func parseHeader(b []byte) (key, version int16, corr int32, client string, body []byte, err error) {
	if len(b) < 10 {
		return 0, 0, 0, "", nil, fmt.Errorf("%w: a header of %d bytes", errClose, len(b))
	}
	key, version = int16(binary.BigEndian.Uint16(b)), int16(binary.BigEndian.Uint16(b[2:]))
	corr = int32(binary.BigEndian.Uint32(b[4:]))
	n := int(int16(binary.BigEndian.Uint16(b[8:])))
	b = b[10:]
	if n > len(b) || n < -1 {
		return 0, 0, 0, "", nil, fmt.Errorf("%w: a client id of %d bytes", errClose, n)
	}
	if n > 0 {
		client, b = string(b[:n]), b[n:]
	}
	return key, version, corr, client, b, nil
}

// skipTags skips a header's tag section.
func skipTags(b []byte) ([]byte, error) {
	n, w := binary.Uvarint(b)
	if w <= 0 {
		return nil, fmt.Errorf("%w: no tag section", errClose)
	}
	b = b[w:]
	for ; n > 0; n-- {
		_, w := binary.Uvarint(b)
		if w <= 0 {
			return nil, fmt.Errorf("%w: a tag section cut short", errClose)
		}
		b = b[w:]
		size, w := binary.Uvarint(b)
		if w <= 0 || size > uint64(len(b)-w) {
			return nil, fmt.Errorf("%w: a tag longer than its frame", errClose)
		}
		b = b[w+int(size):]
	}
	return b, nil
}
