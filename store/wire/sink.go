package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"
)

// answer sends a reply, or keeps it for the next one where that follows at once.
func (c *conn) answer(corr int32, flexible bool, r reply) error {
	st, stream := r.(streamed)
	if stream {
		defer st.release()
	}
	if c.out == nil {
		c.out = c.s.pool.get(inBuffer)
	}
	at := len(*c.out)
	b := append(*c.out, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(corr))
	if flexible {
		b = append(b, 0)
	}
	if stream {
		n := len(b) - at - 4 + st.size()
		binary.BigEndian.PutUint32(b[at:], uint32(n))
		c.hold(b)
		c.facts.out.Add(int64(n + 4))
		w := &sink{c: c, left: st.size()}
		if err := st.stream(w); err != nil {
			return err
		}
		if w.left != 0 {
			return fmt.Errorf("%w: an answer that is %d bytes short", errClose, w.left)
		}
	} else {
		b = r.AppendTo(b)
		binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
		c.hold(b)
		c.facts.out.Add(int64(len(b) - at))
	}
	if c.out != nil && len(*c.out) >= coalesce {
		return c.flush()
	}
	return nil
}

// hold keeps what is to be sent, in the slice that it was appended to or a larger one.
func (c *conn) hold(b []byte) {
	if cap(b) != cap(*c.out) {
		c.s.pool.put(c.out)
		grown := b // b itself stays off the heap
		c.out = &grown
		return
	}
	*c.out = b
}

// flush sends the answers that wait.
func (c *conn) flush() error {
	if c.out == nil {
		return nil
	}
	err := c.send(*c.out)
	c.s.pool.put(c.out)
	c.out = nil
	return err
}

// send writes bytes. A client that takes less than writeStep in the time of WriteTimeout is given up.
func (c *conn) send(b []byte) error {
	if c.err != nil {
		return c.err
	}
	for len(b) > 0 {
		step := b[:min(len(b), writeStep)]
		if err := c.progress(); err != nil {
			return err
		}
		if _, err := c.nc.Write(step); err != nil {
			return c.broken(err)
		}
		b = b[len(step):]
	}
	return nil
}

// progress gives the client its time for the next step.
func (c *conn) progress() error {
	if err := c.nc.SetWriteDeadline(time.Now().Add(c.s.o.WriteTimeout)); err != nil {
		return c.broken(err)
	}
	return nil
}

// broken notes that nothing can be written any more.
func (c *conn) broken(err error) error {
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		err = fmt.Errorf("%w: it takes no answer: %w", errClose, err)
	}
	c.err = err
	return err
}

// sink is where a streamed reply goes.
type sink struct {
	c    *conn
	left int // bytes that the reply has still to write
}

// Write writes bytes of the body.
func (w *sink) Write(b []byte) (int, error) {
	if len(b) > w.left {
		return 0, fmt.Errorf("%w: an answer longer than it said", errClose)
	}
	w.left -= len(b)
	if w.c.out != nil && len(*w.c.out)+len(b) <= coalesce {
		w.c.hold(append(*w.c.out, b...))
		return len(b), nil
	}
	if err := w.c.flush(); err != nil {
		return 0, err
	}
	return len(b), w.c.send(b)
}

// direct gives the connection itself to fn, which writes exactly n bytes of the body to it, as sendfile does: in steps of
// at most writeStep, with w.c.progress before each.
func (w *sink) direct(n int, fn func(nc net.Conn) error) error {
	if n > w.left {
		return fmt.Errorf("%w: an answer longer than it said", errClose)
	}
	w.left -= n
	if err := w.c.flush(); err != nil {
		return err
	}
	if err := fn(w.c.nc); err != nil {
		return w.c.broken(err)
	}
	return nil
}
