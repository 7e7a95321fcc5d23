package wire

import (
	"errors"
	"net"
	"sync"
	"time"
)

// lookEvery is how often a client that is made to wait is looked at: it may have gone.
const lookEvery = 5 * time.Second

// watch looks, while a handler waits, whether the client is still there, and ends c.ctx when it is not. The handler calls
// stop when it no longer waits.
func (c *call) watch() (stop func()) {
	var mu sync.Mutex
	var timer *time.Timer
	stopped := false
	mu.Lock()
	timer = time.AfterFunc(lookEvery, func() {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case stopped:
		case c.conn.gone():
			c.conn.end()
		default:
			timer.Reset(lookEvery)
		}
	})
	mu.Unlock()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// gone reports whether the client has closed the connection. Nobody else may read meanwhile.
func (c *conn) gone() bool {
	if c.in.Buffered() > 0 {
		return false // it has asked more: what follows cannot be seen
	}
	c.reading = time.Time{} // the next read sets its own deadline
	if err := c.nc.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return true
	}
	_, err := c.in.Peek(1)
	var late net.Error
	return err != nil && !(errors.As(err, &late) && late.Timeout())
}
