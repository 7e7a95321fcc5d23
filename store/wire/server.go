package wire

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	// CreateTopics and DeleteTopics do so with many at once, and return what became of each.
	CreateTopics(ctx context.Context, specs []model.TopicSpec) []error
	DeleteTopics(ctx context.Context, names []string) []error
}

// Broker is what the listener serves.
type Broker struct {
	Engine      *store.Engine
	Admin       Admin
	Groups      *groups.Service
	Coordinator *coordinator.Coordinator
	Txns        *txn.Coordinator
	Users       UserAdmin
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
	// TLS encrypts the connections, and with its ClientCAs says who may connect; nil means in the clear.
	TLS *tls.Config
	// SASL has clients say who they are; nil means that everybody may do everything.
	SASL *SASL
	// Notice is told what went wrong that no client is told; nil means that nobody wants to know.
	Notice func(line string)
	// Changed is told, at most once a second, that clients have come or gone; nil means that nobody wants to know.
	Changed func()
	// AutoCreate lets Metadata create the topics it is asked for; nil means yes, Kafka's auto.create.topics.enable.
	AutoCreate *bool
}

// Server serves one listener. Its methods may be called from any goroutine.
//
// Invariants:
//   - conns holds every connection whose goroutine runs
//   - held is the sum of the capacities of the frames that connections hold
type Server struct {
	b        Broker
	o        Options
	ln       net.Listener
	apis     map[kmsg.Key]api
	ctx      context.Context // ends with Close: what waits answers at once
	stop     context.CancelFunc
	pool     buffers
	held     atomic.Int64
	large    sync.Mutex // held while a large request is decoded
	altering sync.Mutex // held while configs are changed: what a list grows by depends on what it is
	stats    stats

	sessions fetchSessions
	copying  atomic.Int64 // bytes of the buffers that records are copied through

	mu       sync.Mutex
	conns    map[*conn]struct{}
	refusals []model.Refusal
	refused  int64 // how many there were
	closed   bool
	done     sync.WaitGroup
}

// closeWithin is how long the requests that are being served may take once Close is called.
const closeWithin = 5 * time.Second

// Serve begins to serve ln, which the Server closes.
func Serve(ln net.Listener, b Broker, o Options) *Server { return serve(ln, b, o, apis()) }

func serve(ln net.Listener, b Broker, o Options, all map[kmsg.Key]api) *Server {
	o.settle()
	s := &Server{b: b, o: o, ln: ln, apis: complete(all), conns: map[*conn]struct{}{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.stats.begin(s.apis)
	s.done.Go(s.accept)
	s.done.Go(s.tend)
	s.done.Go(s.learn)
	return s
}

// settle fills the defaults in.
func (o *Options) settle() {
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
		if s.o.TLS != nil {
			nc = tls.Server(nc, s.o.TLS)
		}
		c := newConn(s, nc)
		if !s.add(c) {
			if s.ctx.Err() == nil {
				s.refuse(nc.RemoteAddr().String(), fmt.Errorf("there are %d connections already", s.o.MaxConns))
			}
			c.end()
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
	s.stats.moved.Store(true)
	return true
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.stats.moved.Store(true)
}

// admit says whether a request of n bytes may come in, by the first minFrame of them. Errors wrap errClose.
func (s *Server) admit(b []byte, n int) (api, error) {
	key, version := int16(binary.BigEndian.Uint16(b)), int16(binary.BigEndian.Uint16(b[2:]))
	a, ok := s.apis[kmsg.Key(key)]
	switch {
	case !ok:
		return a, fmt.Errorf("%w: unknown key %d", errClose, key)
	case (version < max(a.min, a.floor) || version > a.max) && kmsg.Key(key) != kmsg.ApiVersions:
		return a, fmt.Errorf("%w: %s has no version %d", errClose, kmsg.Key(key).Name(), version)
	case n > maxOther && kmsg.Key(key) != kmsg.Produce:
		return a, fmt.Errorf("%w: %s of %d bytes", errClose, kmsg.Key(key).Name(), n)
	}
	return a, nil
}

// notice tells what nobody asked for.
func (s *Server) notice(line string) {
	if s.o.Notice != nil {
		s.o.Notice(line)
	}
}

// maxRefusals is how many of the last refused connections are remembered.
const maxRefusals = 32

// refuse remembers why a connection was closed.
func (s *Server) refuse(address string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refusals) == maxRefusals {
		s.refusals = append(s.refusals[:0], s.refusals[1:]...)
	}
	s.refusals = append(s.refusals, model.Refusal{At: time.Now().UnixMilli(), Address: address, Why: strings.TrimPrefix(err.Error(), errClose.Error()+": ")})
	s.refused++
	s.stats.moved.Store(true)
}

// Refused implements model.RefusalReader.
func (s *Server) Refused(ctx context.Context) (last []model.Refusal, all int64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refusals), s.refused, nil
}

// Close stops accepting, answers what waits, and closes every connection. What is being served has closeWithin for it.
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
	if !s.ended(closeWithin) {
		s.mu.Lock()
		for c := range s.conns {
			_ = c.nc.Close()
		}
		s.mu.Unlock()
		if !s.ended(closeWithin) {
			err = errors.Join(err, errors.New("requests are still being served"))
		}
	}
	if err != nil {
		return fmt.Errorf("close listener: %w", err)
	}
	return nil
}

// ended waits for every goroutine, and reports whether all have ended in time.
func (s *Server) ended(within time.Duration) bool {
	all := make(chan struct{})
	go func() { // ends with the last of them
		s.done.Wait()
		close(all)
	}()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-all:
		return true
	case <-timer.C:
		return false
	}
}
