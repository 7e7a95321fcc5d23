package remote

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"github.com/twmb/franz-go/pkg/kgo"
)

// way are the options by which a client reaches brokers: where they are, how it connects, and who it is there.
func (c *Client) way() []kgo.Opt {
	opts := []kgo.Opt{kgo.SeedBrokers(c.addrs...), kgo.Dialer(c.dial)}
	if c.o.SASL != nil {
		opts = append(opts, kgo.SASL(c.o.SASL))
	}
	return opts
}

// dial connects to a broker: TCP, then TLS where it is asked for, and over that the guard where nothing may be written.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, done := context.WithTimeout(ctx, c.o.DialTimeout)
	defer done()
	dial := c.o.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if c.o.TLS != nil {
		if conn, err = encrypt(ctx, conn, c.o.TLS, address); err != nil {
			return nil, err
		}
	}
	if c.o.ReadOnly {
		conn = guard{conn}
	}
	return conn, nil
}

// encrypt begins TLS on a connection, which is closed where that fails.
func encrypt(ctx context.Context, conn net.Conn, o *tls.Config, address string) (net.Conn, error) {
	if o.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		o = o.Clone()
		o.ServerName = host
	}
	t := tls.Client(conn, o)
	if err := t.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the handshake's error says more
		return nil, fmt.Errorf("TLS with %s: %w", address, err)
	}
	return t, nil
}
