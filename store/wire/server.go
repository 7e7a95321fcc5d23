package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/coordinator"
	"github.com/strata-kafka/strata/groups/txn"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
)

// Admin is what changes topics, so that everything that hangs on them (committed offsets, configs) changes with them.
type Admin interface {
	model.TopicAdmin
	model.RecordDeleter
}

// Broker is what the listener serves.
type Broker struct {
	Engine      *store.Engine
	Admin       Admin
	Groups      *groups.Service
	Coordinator *coordinator.Coordinator
	Txns        *txn.Coordinator
}

// Options tunes a Server. The zero value is Kafka's defaults.
type Options struct {
	// Advertised is the HOST:PORT that clients are told; "" means what they have dialled.
	Advertised string
	// MaxConns bounds the connections; 0 means 4096.
	MaxConns int
	// MaxRequest bounds a request, bytes; 0 means 100 MiB, Kafka's socket.request.max.bytes.
	MaxRequest int
	// IdleTimeout is after how long a silent connection is closed; 0 means 10 minutes, Kafka's connections.max.idle.ms.
	IdleTimeout time.Duration
	// WriteTimeout is how long a client may take no byte of an answer; 0 means 30 s.
	WriteTimeout time.Duration
	// AutoCreate lets Metadata create the topics it is asked for; nil means yes, Kafka's auto.create.topics.enable.
	AutoCreate *bool
}

// Server serves one listener. Its methods may be called from any goroutine.
//
// Invariants:
//   - conns holds every connection whose goroutine runs
type Server struct {
	b    Broker
	o    Options
	ln   net.Listener
	apis map[kmsg.Key]api
	ctx  context.Context // ends with Close: what waits answers at once
	stop context.CancelFunc

	mu     sync.Mutex
	conns  map[*conn]struct{}
	closed bool
	done   sync.WaitGroup
}

// Serve begins to serve ln, which the Server closes.
func Serve(ln net.Listener, b Broker, o Options) *Server {
	if o.MaxConns == 0 {
		o.MaxConns = 4096
	}
	if o.MaxRequest == 0 {
		o.MaxRequest = 100 << 20
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = 10 * time.Minute
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 30 * time.Second
	}
	s := &Server{b: b, o: o, ln: ln, apis: apis(), conns: map[*conn]struct{}{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.done.Go(s.accept)
	return s
}

// Address returns where the Server listens, HOST:PORT.
func (s *Server) Address() string { return s.ln.Addr().String() }

// accept takes connections until Close.
func (s *Server) accept() {
	for {
		nc, err := s.ln.Accept()
		if err != nil {
			if s.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			select { // out of descriptors, as a rule: it passes
			case <-time.After(50 * time.Millisecond):
			case <-s.ctx.Done():
				return
			}
			continue
		}
		c := newConn(s, nc)
		if !s.add(c) {
			_ = nc.Close() // there are too many, or the end has come
			continue
		}
		s.done.Go(func() {
			defer s.remove(c)
			c.serve()
		})
	}
}

func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.conns) >= s.o.MaxConns {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// Close stops accepting, answers what waits, and closes every connection.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	err := s.ln.Close()
	s.stop()
	for c := range s.conns {
		c.wake()
	}
	s.mu.Unlock()
	s.done.Wait()
	if err != nil {
		return fmt.Errorf("close listener: %w", err)
	}
	return nil
}
