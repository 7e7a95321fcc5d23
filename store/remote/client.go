package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/strata-kafka/strata/model"
)

// Options tunes a Client. The zero value is the default.
type Options struct {
	ClientID string        // client.id; "" means strata
	Version  string        // of this program, as brokers are told; "" means devel
	Timeout  time.Duration // of one call, retries included; 0 means 10 s
	// DialTimeout bounds a connection attempt, TLS included; 0 means 3 s.
	DialTimeout time.Duration
	// Still makes a Cluster answer once, with offsets, and ask for nothing behind: for a command that reads and ends.
	Still bool
	// Dial connects; nil means by TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS encrypts what Dial has connected; nil means not. Without a ServerName it is the host that is dialled.
	TLS *tls.Config
	// SASL says to each broker who the client is; nil means that nobody asks.
	SASL sasl.Mechanism
	// Profile is what the explorer shows of how a Cluster was opened; its ReadOnly is the one below.
	Profile model.Profile
	Notices []string // what a Cluster is to say of itself
	// ReadOnly lets no request out that may change anything: such calls return model.ErrReadOnly.
	ReadOnly bool
}

// Client speaks to the brokers of a cluster. Its methods may be called from any goroutine.
type Client struct {
	addrs []string
	o     Options
	kgo   *kgo.Client
	admin *kadm.Client
	ctx   context.Context // ends with Close, and with it every call
	stop  context.CancelFunc

	nodes nodes // what the brokers have said of themselves

	mu        sync.Mutex
	producers map[producerKind]*kgo.Client
	closed    bool
}

// New returns a Client of the cluster whose brokers, or some of them, are at addrs (HOST:PORT). It connects with the first
// call; Connect does so at once.
func New(addrs []string, o Options) (*Client, error) {
	if o.ClientID == "" {
		o.ClientID = "strata"
	}
	if o.Version == "" {
		o.Version = "devel"
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.DialTimeout == 0 {
		o.DialTimeout = 3 * time.Second
	}
	o.Profile.ReadOnly = o.ReadOnly
	c := &Client{addrs: addrs, o: o, producers: map[producerKind]*kgo.Client{}}
	var err error
	if c.kgo, err = kgo.NewClient(c.base()...); err != nil {
		return nil, fmt.Errorf("connect to %v: %w", addrs, err)
	}
	c.admin = kadm.NewClient(c.kgo)
	c.admin.SetTimeoutMillis(int32(o.Timeout.Milliseconds()))
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c, nil
}

// Connect returns a Client that has reached a broker.
func Connect(ctx context.Context, addrs []string, o Options) (*Client, error) {
	c, err := New(addrs, o)
	if err != nil {
		return nil, err
	}
	if err := c.Ping(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// base are the options that all of a Client's connections share.
func (c *Client) base() []kgo.Opt {
	return append(c.way(),
		kgo.ClientID(c.o.ClientID),
		kgo.SoftwareNameAndVersion("strata", softwareVersion(c.o.Version)),
		kgo.RequestTimeoutOverhead(min(c.o.Timeout, 15*time.Minute)),
		kgo.RetryTimeout(c.o.Timeout),
		kgo.RequestRetries(4),
		kgo.MetadataMinAge(250*time.Millisecond),
		kgo.DisableClientMetrics(),
	)
}

// softwareVersion makes a version one that brokers take: letters, digits, dots and dashes, which also begin and end it.
func softwareVersion(v string) string {
	b := []byte(v)
	for i, c := range b {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '-' && i > 0 && i < len(b)-1) {
			b[i] = '.'
		}
	}
	for len(b) > 0 && b[0] == '.' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return "devel"
	}
	return string(b)
}

// Ping asks whether a broker answers.
func (c *Client) Ping(ctx context.Context) error {
	ctx, done := c.bound(ctx)
	defer done()
	if err := c.kgo.Ping(ctx); err != nil {
		return fmt.Errorf("connect to %v: %w", c.addrs, c.why(ctx, err))
	}
	return nil
}

// Close ends every call, and closes all connections.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	all := c.producers
	c.producers = nil
	c.mu.Unlock()
	c.stop()
	for _, p := range all {
		p.Close()
	}
	c.kgo.Close()
	c.nodes.close()
	return nil
}

// bound bounds a call in time, and by the Client's own end.
func (c *Client) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.within(ctx, c.o.Timeout)
}

func (c *Client) within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, d)
	unhook := context.AfterFunc(c.ctx, cancel)
	return ctx, func() {
		unhook()
		cancel()
	}
}
