package profile

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	stepWithin   = 5 * time.Second  // DNS, TCP, TLS and a request may take so long each
	loginWithin  = 60 * time.Second // SASL: a token may have to be got, by whoever is asked
	mostBrokers  = 200              // advertised listeners that are looked at
	besideAtOnce = 16               // of them at once
)

// Step is a step of the way to a cluster, and how it went.
type Step struct {
	Name   string // settings, DNS, TCP, TLS, ApiVersions, SASL, cluster, listener
	Target string // HOST:PORT, or a host; "" where there is none
	OK     bool
	What   string // what was found, or what went wrong
	Next   string // what to do about it; "" where it went well
}

// TestError says at which steps the way to a cluster fails.
type TestError struct{ Steps []Step }

// Error names the first one.
func (e *TestError) Error() string {
	s := e.Steps[0]
	text := fmt.Sprintf("%s %s: %s", s.Name, s.Target, s.What)
	if n := len(e.Steps); n > 1 {
		text += fmt.Sprintf(" (and %d more)", n-1)
	}
	return text
}

// Test goes the way to a cluster step by step: each address of the profile until one lets it in, then what the brokers
// tell clients their addresses are. It tells each step when it is done, on the calling goroutine. A *TestError says that
// some have failed.
func (p Profile) Test(ctx context.Context, tell func(Step)) error {
	t := &tester{tell: tell}
	a, err := p.Open(ctx)
	if err != nil {
		t.step(Step{Name: "settings", Target: p.Name, What: err.Error(), Next: "mend the profile" + from(p.From)})
		return t.end(ctx)
	}
	t.step(Step{Name: "settings", Target: p.Name, OK: true, What: p.Security() + p.inTheClear()})
	t.a = a
	for _, addr := range a.Brokers {
		if t.enter(ctx, addr) {
			break
		}
	}
	return t.end(ctx)
}

// inTheClear says what others on the network can read; "" for nothing that matters.
func (p Profile) inTheClear() string {
	if p.TLS != nil || p.SASL == nil {
		return ""
	}
	switch p.SASL.Mechanism {
	case "PLAIN":
		return "; the password goes unencrypted: add a table tls"
	case "OAUTHBEARER":
		return "; the token goes unencrypted: add a table tls"
	}
	return ""
}

func from(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}

type tester struct {
	a    Access
	tell func(Step)
	bad  []Step
}

func (t *tester) step(s Step) bool {
	if !s.OK {
		t.bad = append(t.bad, s)
	}
	t.tell(s)
	return s.OK
}

func (t *tester) end(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(t.bad) > 0:
		return &TestError{t.bad}
	}
	return nil
}

// enter goes in by one address, and looks around. It reports whether it got in.
func (t *tester) enter(ctx context.Context, addr string) bool {
	conn := t.connect(ctx, addr, t.step)
	if conn == nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // what waits for it ends
	defer func() {
		stop()
		_ = conn.Close() // nothing is lost with it
	}()
	w := &wire{conn: conn, addr: addr}
	apis, s := w.versions(t.a.TLS != nil)
	if !t.step(s) {
		return false
	}
	if t.a.SASL != nil && !t.step(w.login(ctx, t.a.SASL, apis)) {
		return false
	}
	brokers, s := w.cluster(apis, t.a.SASL != nil)
	if !t.step(s) {
		return false
	}
	t.listeners(ctx, brokers)
	return true
}

// connect looks the host up, dials it, and begins TLS where it is asked for; nil where a step fails.
func (t *tester) connect(ctx context.Context, addr string, step func(Step) bool) net.Conn {
	host, port, _ := net.SplitHostPort(addr) // it was checked, or a broker's, and fails below then
	lookCtx, done := context.WithTimeout(ctx, stepWithin)
	ips, err := net.DefaultResolver.LookupNetIP(lookCtx, "ip", host)
	done()
	if err != nil {
		step(Step{Name: "DNS", Target: host, What: cause(err),
			Next: "check the name, the VPN and the DNS server of this machine; for a name of your own put it into /etc/hosts"})
		return nil
	}
	var all []string
	for _, ip := range ips {
		if s := ip.Unmap().String(); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	if !step(Step{Name: "DNS", Target: host, OK: true, What: strings.Join(all, " ")}) {
		return nil
	}
	dialCtx, done := context.WithTimeout(ctx, stepWithin)
	conn, err := new(net.Dialer).DialContext(dialCtx, "tcp", addr)
	done()
	if err != nil {
		step(Step{Name: "TCP", Target: addr, What: cause(err), Next: "check that a broker listens on port " + port + ", and that no firewall stands between"})
		return nil
	}
	step(Step{Name: "TCP", Target: addr, OK: true, What: "from " + conn.LocalAddr().String() + " to " + conn.RemoteAddr().String()})
	if t.a.TLS == nil {
		return conn
	}
	return t.encrypt(ctx, conn, host, addr, step)
}

// encrypt begins TLS.
func (t *tester) encrypt(ctx context.Context, conn net.Conn, host, addr string, step func(Step) bool) net.Conn {
	c := t.a.TLS.Clone()
	if c.ServerName == "" {
		c.ServerName = host
	}
	ctx, done := context.WithTimeout(ctx, stepWithin)
	defer done()
	s := tls.Client(conn, c)
	if err := s.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the handshake's error says more
		what, next := whyNoTLS(err, c.ServerName)
		step(Step{Name: "TLS", Target: addr, What: what, Next: next})
		return nil
	}
	st := s.ConnectionState()
	what := tls.VersionName(st.Version)
	if len(st.PeerCertificates) > 0 {
		cert := st.PeerCertificates[0]
		what += ", certificate of " + certName(cert) + " until " + cert.NotAfter.UTC().Format(time.DateOnly)
	}
	switch {
	case t.a.TLS.InsecureSkipVerify && t.a.TLS.VerifyConnection == nil:
		what += ", which is not looked at (insecure)"
	case t.a.TLS.InsecureSkipVerify:
		what += ", whose name is not looked at"
	}
	step(Step{Name: "TLS", Target: addr, OK: true, What: what})
	return s
}

// listeners looks whether the addresses that the brokers tell clients can be reached from here.
func (t *tester) listeners(ctx context.Context, brokers []node) {
	results := make([]Step, min(len(brokers), mostBrokers))
	gate := make(chan struct{}, besideAtOnce)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			results[i] = t.listener(ctx, brokers[i])
		})
	}
	wg.Wait()
	for _, s := range results {
		t.step(s)
	}
	if n := len(brokers) - len(results); n > 0 {
		t.step(Step{Name: "listener", OK: true, What: fmt.Sprintf("%d more brokers were not looked at", n)})
	}
}

// listener connects to one, and hangs up.
func (t *tester) listener(ctx context.Context, n node) Step {
	out := Step{Name: "listener", Target: n.addr, OK: true, What: fmt.Sprintf("broker %d can be reached", n.id)}
	conn := t.connect(ctx, n.addr, func(s Step) bool {
		if !s.OK {
			out = Step{Name: "listener", Target: n.addr, What: fmt.Sprintf("broker %d cannot be reached: %s: %s", n.id, s.Name, s.What), Next: elsewhere(n, s)}
		}
		return s.OK
	})
	if conn != nil {
		_ = conn.Close() // nothing was sent
	}
	return out
}

// elsewhere says what to do where a broker tells clients an address that leads nowhere from here.
func elsewhere(n node, s Step) string {
	host, _, _ := net.SplitHostPort(n.addr) // nothing where it is none
	text := fmt.Sprintf("broker %d tells clients this address in its advertised.listeners", n.id)
	switch ip := net.ParseIP(host); {
	case host == "localhost" || ip != nil && ip.IsLoopback():
		return text + ", which only clients on its own machine can use: set one there that leads to it from here too"
	case s.Name == "TLS":
		return text + "; " + s.Next
	}
	return text + ": set one there that leads to it from here too, or come from where it does (VPN, the same network, ssh)"
}

// cause is what went wrong, without what was being done.
func cause(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host"
	case errors.As(err, &dns) && dns.IsTimeout, errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %v", stepWithin)
	case errors.As(err, &dns):
		return dns.Err
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}
