package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// whole reports whether the next request has come already.
func (c *conn) whole() bool {
	if c.in.Buffered() < 4 {
		return false
	}
	b, err := c.in.Peek(4)
	return err == nil && c.in.Buffered()-4 >= int(binary.BigEndian.Uint32(b))
}

// read reads one frame without its length, which is valid until letGo.
func (c *conn) read() ([]byte, error) {
	if !c.whole() {
		if err := c.flush(); err != nil {
			return nil, err
		}
		if now := time.Now(); now.Sub(c.reading) > c.s.o.IdleTimeout/16 || c.in.Buffered() > 0 {
			if err := c.nc.SetReadDeadline(now.Add(c.s.o.IdleTimeout)); err != nil {
				return nil, err
			}
			c.reading = now
		}
	}
	if c.ctx.Err() != nil {
		return nil, errClose
	}
	head, err := c.in.Peek(4)
	if err != nil {
		return nil, err
	}
	n := int(int32(binary.BigEndian.Uint32(head)))
	if n < minFrame || n > c.s.o.MaxRequest {
		return nil, fmt.Errorf("%w: a request of %d bytes", errClose, n)
	}
	if head, err = c.in.Peek(4 + minFrame); err != nil {
		return nil, err
	}
	a, err := c.s.admit(head[4:], n)
	if err != nil {
		return nil, err
	}
	if c.s.o.SASL != nil && c.user == "" && (!a.early || n > maxBare) {
		return nil, fmt.Errorf("%w: the client has not authenticated", errClose)
	}
	if 4+n <= inBuffer {
		b, err := c.in.Peek(4 + n)
		if err != nil {
			return nil, err
		}
		_, _ = c.in.Discard(4 + n) // the bytes stay until the next read
		b = b[4 : 4+n : 4+n]
		if !a.reuse {
			b = append([]byte(nil), b...)
		}
		return b, nil
	}
	_, _ = c.in.Discard(4)
	return c.readLarge(n, a.reuse)
}

// readLarge reads a frame of n bytes. Memory follows what has come, not what was announced.
func (c *conn) readLarge(n int, reuse bool) ([]byte, error) {
	size := min(n, max(firstFrame, c.trust))
	for at := 0; ; {
		if err := c.grow(size, at); err != nil {
			return nil, err
		}
		b := (*c.frame)[:size]
		if _, err := io.ReadFull(c.in, b[at:]); err != nil {
			c.letGo()
			return nil, err
		}
		*c.frame = b
		if at = size; at == n {
			break
		}
		size = min(n, 8*size)
	}
	c.trust = max(c.trust, n)
	if reuse {
		return *c.frame, nil
	}
	b := *c.frame
	c.s.held.Add(-int64(cap(b)))
	c.frame = nil // it is the request's from now on
	return b, nil
}

// grow makes room for a frame of size bytes, of which the first at are kept.
func (c *conn) grow(size, at int) error {
	next := c.s.pool.get(size)
	if c.s.held.Add(int64(cap(*next))) > maxHeld {
		c.s.held.Add(-int64(cap(*next)))
		c.letGo()
		return fmt.Errorf("%w: too many large requests at once", errClose)
	}
	if c.frame != nil {
		*next = append(*next, (*c.frame)[:at]...)
		c.letGo()
	}
	c.frame = next
	return nil
}

// letGo gives the frame back.
func (c *conn) letGo() {
	if c.frame == nil {
		return
	}
	c.s.held.Add(-int64(cap(*c.frame)))
	c.s.pool.put(c.frame)
	c.frame = nil
}
