package delivery

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// errBroken is what a client meets whose connection was broken on purpose.
var errBroken = errors.New("the connection was broken on purpose")

// line dials for a client, and breaks its connection at the chosen Produce. Its methods may be called from any
// goroutine.
type line struct {
	fault model.DeliveryFault // LostRequest, LostAck, or none of them
	at    int                 // the number, from 1, of the Produce that is hit
	again bool                // the client sends again what is not answered
	tell  func(who, what string)

	mu    sync.Mutex
	seen  int // Produce requests that were to leave
	conns map[*wire]struct{}
}

func newLine(fault model.DeliveryFault, at int, tell func(who, what string)) *line {
	return &line{fault: fault, at: at, tell: tell, conns: map[*wire]struct{}{}}
}

// dial is a kgo.Dialer.
func (l *line) dial(ctx context.Context, network, host string) (net.Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, network, host)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: nc, line: l}
	l.mu.Lock()
	l.conns[w] = struct{}{}
	l.mu.Unlock()
	return w, nil
}

// cut breaks all connections at once, as the death of a process does.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.conns {
		_ = w.Conn.Close() // it was only read from
	}
}

// produce takes note of a Produce that is to leave, and says whether it is the one to be hit.
func (l *line) produce() (n int, hit bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen++
	return l.seen, l.seen == l.at
}

// wire is a connection that understands as much of what passes as it takes to find a Produce and its answer. A client
// writes from one goroutine and reads from another.
type wire struct {
	net.Conn
	line *line

	out  []byte // what is written of a request that is not whole yet
	in   []byte // what was read and not passed on
	left int    // bytes of the answer that is being passed on

	mu   sync.Mutex
	lose bool  // the answer to corr is to be lost
	corr int32 // of the Produce that is hit
}

// Write passes on whole requests.
func (w *wire) Write(p []byte) (int, error) {
	w.out = append(w.out, p...)
	for len(w.out) >= 4 {
		n := 4 + int(binary.BigEndian.Uint32(w.out))
		if len(w.out) < n {
			break
		}
		if err := w.request(w.out[:n]); err != nil {
			return 0, err
		}
		w.out = append(w.out[:0], w.out[n:]...)
	}
	return len(p), nil
}

// request passes one request on, unless it is to be lost.
func (w *wire) request(frame []byte) error {
	if len(frame) >= 12 && kmsg.Key(binary.BigEndian.Uint16(frame[4:])) == kmsg.Produce {
		if n, hit := w.line.produce(); hit {
			switch w.line.fault {
			case model.LostRequest:
				// Who awaits no answer is told nothing: the bytes were taken, as a socket takes them.
				w.line.tell("network", fmt.Sprintf("the connection breaks: Produce number %d never arrives", n))
				return w.Conn.Close()
			case model.LostAck:
				w.mu.Lock()
				w.lose, w.corr = true, int32(binary.BigEndian.Uint32(frame[8:]))
				w.mu.Unlock()
			}
		} else if n == w.line.at+1 && w.line.again {
			w.line.tell("producer", "has no answer, and sends the same again")
		}
	}
	_, err := w.Conn.Write(frame)
	return err
}

// Read passes on answers, but for the one that is to be lost.
func (w *wire) Read(p []byte) (int, error) {
	for {
		n, err := w.pass(p)
		if n > 0 || err != nil {
			return n, err
		}
		var buf [16 << 10]byte
		if n, err = w.Conn.Read(buf[:]); err != nil {
			return 0, err
		}
		w.in = append(w.in, buf[:n]...)
	}
}

// pass gives out what has come of the answer that is being read, or begins the next one.
func (w *wire) pass(p []byte) (int, error) {
	if w.left == 0 {
		if len(w.in) < 8 {
			return 0, nil
		}
		corr := int32(binary.BigEndian.Uint32(w.in[4:]))
		w.mu.Lock()
		lose := w.lose && corr == w.corr
		w.mu.Unlock()
		if lose {
			w.line.tell("network", "the connection breaks: the broker has answered, and its answer never arrives")
			return 0, errors.Join(errBroken, w.Conn.Close())
		}
		w.left = 4 + int(binary.BigEndian.Uint32(w.in))
	}
	n := copy(p, w.in[:min(w.left, len(w.in))])
	w.in, w.left = append(w.in[:0], w.in[n:]...), w.left-n
	return n, nil
}
