package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/layout"
)

// DefaultListen as Options.Listen means where the server.properties says, and 127.0.0.1:9092 where it does not.
const DefaultListen = "default"

const defaultAddress = "127.0.0.1:9092"

// place is where Kafka clients are to be served.
type place struct {
	listen     string // HOST:PORT; "" for nowhere
	advertised string // HOST:PORT that clients are told; "" for what they have dialled
	security   Security
	notices    []string
}

// TakenError says that another process serves an address.
type TakenError struct {
	Address string
	Known   bool // who it is, or at least that it is no strata
	PID     int  // of the strata that serves it; 0 where it is another program
	Dir     string
}

// Error says who has the address, and what to do.
func (e *TakenError) Error() string {
	who := "another program"
	switch {
	case e.PID > 0:
		who = fmt.Sprintf("strata, process %d, for %s", e.PID, e.Dir)
	case e.Known:
		who += " (not strata)"
	}
	return fmt.Sprintf("%s is taken by %s. Start with --listen 127.0.0.1:0, or --no-listen.", e.Address, who)
}

// place finds out where to listen. Errors wrap model.ErrInvalid.
func (o Options) place(b layout.Broker) (place, error) {
	p := place{listen: o.Listen, advertised: o.Wire.Advertised, security: o.Security}
	if o.Listen == DefaultListen {
		var err error
		if p, err = o.fromProperties(b); err != nil {
			return p, err
		}
	}
	if p.listen == "" {
		return p, nil
	}
	host, _, err := net.SplitHostPort(p.listen)
	if err != nil {
		return p, fmt.Errorf("%w --listen %q: want HOST:PORT, as %s", model.ErrInvalid, p.listen, defaultAddress)
	}
	err = loopback(p.listen, host)
	if err == nil || !p.security.Safe() {
		return p, err
	}
	if gap := p.security.gap(); gap != "" && errors.Is(err, model.ErrInvalid) {
		p.notices = append(p.notices, p.listen+": "+gap)
	}
	return p, nil
}

// fromProperties takes the place from the server.properties. One listener is served; the others are told.
func (o Options) fromProperties(b layout.Broker) (place, error) {
	p := place{listen: defaultAddress, advertised: o.Wire.Advertised, security: o.Security}
	name := "PLAINTEXT"
	for i, l := range b.Listeners {
		if i == 0 {
			p.listen, name = l.Address(), l.Name
			if err := p.security.take(l.Protocol, b.Secured); err != nil {
				return p, fmt.Errorf("listener %s://%s in %s: %w", l.Name, l.Address(), o.Engine.Properties, err)
			}
			continue
		}
		p.notices = append(p.notices, fmt.Sprintf("%s: listener %s://%s is not served: the first is, and no other", o.Engine.Properties, l.Name, l.Address()))
	}
	for _, l := range b.Advertised {
		if l.Name == name && p.advertised == "" {
			p.advertised = l.Address()
		}
	}
	return p, nil
}

// loopback refuses an address that other machines can reach.
func loopback(address, host string) error {
	if host != "" {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", address, err)
		}
		outside := false
		for _, ip := range ips {
			outside = outside || !ip.Unmap().IsLoopback()
		}
		if !outside {
			return nil
		}
	}
	_, port, _ := net.SplitHostPort(address) // it was split before
	return fmt.Errorf("%w --listen %s: other machines could reach it, and would be asked nothing. Add --sasl, after strata user add NAME, "+
		"and --tls-cert FILE; or start with --listen 127.0.0.1:%s and go through ssh -L %s:127.0.0.1:%s",
		model.ErrInvalid, address, port, port, port)
}

// bind begins to listen, before anything is opened: who cannot serve its clients changes nothing, and who finds the lock
// of the directories finds the address in it. Connections wait until they are served.
func (o Options) bind(p *place, dirs []string) (net.Listener, error) {
	if p.listen == "" {
		return nil, nil
	}
	ln, err := net.Listen("tcp", p.listen)
	if err == nil || !taken(err) {
		return ln, wrap(err, "listen on %s", p.listen)
	}
	if err := inUse(dirs); err != nil {
		return nil, err // it has just been opened by the one who has the address
	}
	who := whose(p.listen)
	if !o.AnyPort {
		return nil, who
	}
	host, _, _ := net.SplitHostPort(p.listen) // place has split it
	if ln, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", host, err)
	}
	text, _, _ := strings.Cut(who.Error(), ". ")
	p.notices = append(p.notices, fmt.Sprintf("%s: Kafka clients are served at %s", text, ln.Addr()))
	return ln, nil
}

func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// inUse returns a *store.LockedError where another process has a directory open for writing.
func inUse(dirs []string) error {
	for _, dir := range dirs {
		if h, held := store.LockHolder(dir); held {
			return &store.LockedError{Dir: dir, Holder: h}
		}
	}
	return nil
}

// taken reports whether listening has failed because somebody else does.
func taken(err error) bool {
	const wsaAddrInUse = syscall.Errno(10048) // what Windows says
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, wsaAddrInUse)
}

// Holder says which process has the data directory open for writing, if any has.
func Holder(o Options) (store.Holder, bool) {
	broker, err := o.broker()
	if err != nil {
		return store.Holder{}, false // whoever opens it is told
	}
	for _, dir := range broker.LogDirs {
		if h, held := store.LockHolder(dir); held {
			return h, true
		}
	}
	return store.Holder{}, false
}
