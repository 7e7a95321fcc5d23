// Strata is an explorer of Kafka data for the terminal: it shows topics, partitions, segments, batches, records and
// bytes, and consumer groups with their lag, of its own embedded broker or of a Kafka log directory.
//
// This file opens sources and hands them to the explorer or to the command line; it holds no logic.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/delivery"
	"github.com/strata-kafka/strata/store/demo"
	"github.com/strata-kafka/strata/store/embedded"
	"github.com/strata-kafka/strata/store/logdir"
	"github.com/strata-kafka/strata/store/profile"
	"github.com/strata-kafka/strata/store/remote"
	"github.com/strata-kafka/strata/store/transfer"
	"github.com/strata-kafka/strata/ui"
	"github.com/strata-kafka/strata/ui/cli"
	"github.com/strata-kafka/strata/ui/early"
)

func main() {
	early.Restore()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a closed stdout is an error of writing, and no sudden end
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := cli.Run(ctx, os.Args[1:], version(), cli.IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, OutTTY: terminal(os.Stdout), ErrTTY: terminal(os.Stderr),
	}, cli.Engines{OpenDirs: openDirs, OpenData: openData, OpenCluster: openCluster, OpenDemo: openDemo, Explore: explore, Copier: copier,
		Profiles: profiles, TestProfile: testProfile})
	stop()
	os.Exit(code)
}

func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}

func terminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// openDirs opens a Kafka broker's log directories, or one .log file.
func openDirs(_ context.Context, paths []string, o cli.DirOptions) (model.Source, error) {
	lo := logdir.Options{Still: o.Still}
	if st, err := os.Stat(paths[0]); err == nil && !st.IsDir() {
		if len(paths) > 1 {
			return nil, fmt.Errorf("%w: %s is a file; give one file, or directories", model.ErrInvalid, paths[0])
		}
		return logdir.OpenFile(paths[0], lo)
	}
	for _, p := range paths {
		if err := logdir.Recognize(p); err != nil {
			return nil, err
		}
	}
	return logdir.Open(paths, lo)
}

// openCluster opens a cluster by the addresses of some of its brokers, or as it is written down how it is reached.
func openCluster(ctx context.Context, addrs []string, o cli.ClusterOptions) (model.Source, error) {
	p, err := known(addrs, o.Known)
	if err != nil {
		return nil, err
	}
	a, err := p.Open(ctx)
	if err != nil {
		return nil, err
	}
	c, err := remote.OpenCluster(ctx, a.Brokers, remote.Options{
		ClientID: a.ClientID, Version: version(), Still: o.Still, TLS: a.TLS, SASL: a.SASL, ReadOnly: p.ReadOnly,
		Profile: model.Profile{Name: p.Name, Colour: p.Colour}, Notices: p.Warnings,
	})
	if err != nil {
		return nil, err
	}
	if a.Registry == nil && p.ReadOnly {
		return c.Reading(), nil
	} else if a.Registry == nil {
		return c, nil
	}
	r, err := remote.NewRegistry(remote.RegistryOptions{URL: a.Registry.URL, User: a.Registry.User, Password: a.Registry.Password.Reveal, TLS: a.Registry.TLS})
	switch {
	case err != nil:
		return nil, errors.Join(err, c.Close())
	case p.ReadOnly:
		return readWithSchemas{c.Reading(), r}, nil
	}
	return withSchemas{c, r}, nil
}

// withSchemas is a cluster with a schema registry.
type withSchemas struct {
	*remote.Cluster
	*remote.Registry
}

// readWithSchemas is what withSchemas is, where the cluster is only read.
type readWithSchemas struct {
	remote.Reading
	*remote.Registry
}

// known returns how a cluster is reached.
func known(addrs []string, k cli.Known) (profile.Profile, error) {
	switch {
	case k.Properties != "":
		return profile.ReadProperties(k.Properties)
	case k.Profile == "":
		return profile.Bare(addrs)
	}
	f, err := profile.Load(k.Settings)
	if err != nil {
		return profile.Profile{}, err
	}
	for _, p := range f.Profiles {
		if p.Name == k.Profile {
			return p, nil
		}
	}
	return profile.Profile{}, fmt.Errorf("%w: no profile %q in %s", model.ErrInvalid, k.Profile, k.Settings)
}

// profiles lists the profiles of a settings file.
func profiles(settings string) ([]cli.ProfileRow, []string, error) {
	f, err := profile.Load(settings)
	var rows []cli.ProfileRow
	for _, p := range f.Profiles {
		r := cli.ProfileRow{Name: p.Name, Brokers: p.Brokers, Security: p.Security(), Colour: p.Colour, ReadOnly: p.ReadOnly, Warnings: p.Warnings}
		r.User, r.Registry = p.Who(), p.RegistryURL()
		if p.Err != nil {
			r.Problem = p.Err.Error()
		}
		rows = append(rows, r)
	}
	return rows, f.Warnings, err
}

// testProfile goes the way to a cluster step by step.
func testProfile(ctx context.Context, addrs []string, k cli.Known, tell func(cli.ProfileStep)) error {
	p, err := known(addrs, k)
	if err != nil {
		return err
	}
	return p.Test(ctx, func(s profile.Step) { tell(cli.ProfileStep(s)) })
}

// shop is a broker with the demo's traffic.
type shop struct {
	lab
	*demo.Demo
	remove string // the temporary directory
}

func openDemo(ctx context.Context, o cli.DemoOptions) (model.Source, error) {
	s := &shop{}
	dir := o.Keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "strata-demo-"); err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		s.remove = dir
	}
	var err error
	s.Broker, err = embedded.Open(embedded.Options{
		Dir: dir, Engine: store.Options{RetentionEvery: 2 * time.Second, Properties: o.Properties}, Listen: listen(o.Listen), AnyPort: o.Listen == cli.DefaultListen,
	})
	if err != nil {
		return nil, errors.Join(err, s.sweep())
	}
	s.Runner = delivery.New(delivery.Options{Address: s.Address})
	s.Demo, err = demo.Start(ctx, s.Engine, s.Dir, demo.Options{Rate: o.Rate, Join: s.join})
	if err != nil {
		return nil, errors.Join(err, s.Broker.Close(), s.sweep())
	}
	return s, nil
}

func (s *shop) join(group, client string, topics []string) (demo.Member, error) {
	return s.JoinHere(group, embedded.MemberInfo{Client: client, Host: "in this process", Topics: topics})
}

func (s *shop) sweep() error {
	if s.remove == "" {
		return nil
	}
	return os.RemoveAll(s.remove)
}

func (s *shop) Close() error {
	return errors.Join(s.Demo.Close(), s.Broker.Close(), s.sweep())
}

// explore shows a source until the user leaves it, and closes it.
func explore(ctx context.Context, src model.Source, o cli.ExploreOptions) error {
	err := ui.Run(ctx, ui.Options{
		Source: src, Open: o.At, Theme: o.Theme, ASCII: o.ASCII, NoColor: o.NoColor, Zone: o.Zone, StatePath: o.StatePath, Version: o.Version,
	})
	return errors.Join(err, src.Close())
}

// openData opens the embedded broker's directory, for what it is needed. Where another process has it open and listens,
// that one is asked for what cannot be read from the files.
func openData(_ context.Context, o cli.DataOptions) (model.Source, error) {
	eo := embedded.Options{Dir: o.Dir, Still: o.Still, Engine: store.Options{Properties: o.Properties}, Listen: listen(o.Listen),
		Security: embedded.Security{SASL: o.Security.SASL, Cert: o.Security.Cert, Key: o.Security.Key, ClientCA: o.Security.ClientCA}}
	if o.Access == cli.Own {
		return own(eo)
	}
	h, held := embedded.Holder(eo)
	switch {
	case held && h.Address != "":
		return attach(eo, h)
	case held && o.Access == cli.Prefer:
		return embedded.Look(eo, besides(h))
	case o.Access == cli.Look:
		return embedded.Look(eo, "")
	case o.Access == cli.Users:
		if err := os.MkdirAll(o.Dir, 0o755); err != nil {
			return nil, fmt.Errorf("make data directory: %w", err)
		}
		return embedded.Offsets(eo)
	case o.Access == cli.Offsets:
		return embedded.Offsets(eo)
	case o.Access == cli.Member:
		eo.Listen = "127.0.0.1:0"
	}
	src, err := own(eo)
	var locked *store.LockedError
	switch {
	case !errors.As(err, &locked):
	case locked.Holder.Address != "": // it was quicker
		return attach(eo, locked.Holder)
	case o.Access == cli.Prefer:
		return embedded.Look(eo, besides(locked.Holder))
	}
	if err != nil || o.Access != cli.Member {
		return src, err
	}
	return join(src)
}

// own opens the broker.
func own(o embedded.Options) (model.Source, error) {
	b, err := embedded.Open(o)
	if err != nil {
		return nil, err
	}
	return lab{b, delivery.New(delivery.Options{Address: b.Address})}, nil
}

// lab is a broker on which deliveries can be tried.
type lab struct {
	*embedded.Broker
	*delivery.Runner
}

// attach opens the files of a broker that is another process, and speaks to that one.
func attach(o embedded.Options, h store.Holder) (model.Source, error) {
	a, err := embedded.Attach(o, h, meet)
	if err != nil {
		return nil, err
	}
	return guest{a, delivery.New(delivery.Options{Address: a.Address}), h}, nil
}

// guest is what lab is, where the broker is another process.
type guest struct {
	*embedded.Attached
	*delivery.Runner
	holder store.Holder // as it was when it was opened
}

// listen puts the command line's word for the usual place into the broker's.
func listen(word string) string {
	if word == cli.DefaultListen {
		return embedded.DefaultListen
	}
	return word
}

// besides says who writes to the directory that is only looked at, short enough for the line at the top.
func besides(h store.Holder) string {
	if h.PID == 0 {
		return "another process writes here"
	}
	return fmt.Sprintf("process %d writes here", h.PID)
}

// meet speaks to the broker that holds a directory.
func meet(h store.Holder, logs groups.Logs, tell func()) (embedded.Owner, error) {
	network, address := "tcp", h.Address
	if h.Door != "" {
		network, address = "unix", h.Door
	}
	c, err := client(network, address)
	if err != nil {
		return embedded.Owner{}, err
	}
	gs := c.Groups(logs, tell)
	return embedded.Owner{
		Topics: c, Configs: c, Groups: gs, Records: c, Members: joiner{c},
		Close: func() error { return errors.Join(c.Close(), gs.Close()) },
	}, nil
}

// client speaks to the one broker at an address, whatever address that tells clients: it may be one for others.
func client(network, address string) (*remote.Client, error) {
	return remote.New(seed(network, address), only(network, address, 5*time.Second))
}

// only are the options by which nothing but one address is dialled.
func only(network, address string, timeout time.Duration) remote.Options {
	return remote.Options{Version: version(), Timeout: timeout, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
}

func seed(network, address string) []string {
	if network == "unix" {
		return []string{"localhost:9092"} // it is not dialled
	}
	return []string{address}
}

// copies is a copy with what was opened for it.
type copies struct {
	*transfer.Copy
	close func() error
}

// Close implements cli.ClosingCopier.
func (c copies) Close() error { return c.close() }

// copier copies from one source to another. What goes to the embedded broker goes through its listener, as any client's
// records do; to is nil where it has no data yet.
func copier(ctx context.Context, from, to model.Source, o cli.CopierOptions) (cli.ClosingCopier, error) {
	r, ok := from.(transfer.Reader)
	if !ok {
		return nil, fmt.Errorf("copy from %s: %w: its batches cannot be read", o.From, model.ErrInvalid)
	}
	t := transfer.Target{Side: transfer.Side{Reader: transfer.Nothing{}, Name: o.To}}
	done := func() error { return nil }
	if to != nil {
		info, err := to.Info(ctx)
		if err != nil {
			return nil, err
		}
		if info.Kind == model.Embedded && info.Address != "" {
			network, address := "tcp", info.Address
			if g, ok := to.(guest); ok && g.holder.Door != "" {
				network, address = "unix", g.holder.Door
			}
			ro := only(network, address, 30*time.Second)
			ro.Still = true
			c, err := remote.OpenCluster(ctx, seed(network, address), ro)
			if err != nil {
				return nil, err
			}
			to, done = c, c.Close
		}
		if t.Reader, ok = to.(transfer.Reader); !ok {
			return nil, errors.Join(fmt.Errorf("copy to %s: %w: its batches cannot be read", o.To, model.ErrInvalid), done())
		}
		t.Writer, _ = to.(transfer.Writer)
	}
	return copies{transfer.New(transfer.Side{Reader: r, Name: o.From}, t, transfer.Options{Journal: o.Journal}), done}, nil
}

// joiner is a client as one that joins groups.
type joiner struct{ c *remote.Client }

// JoinGroup implements model.GroupJoiner.
func (j joiner) JoinGroup(ctx context.Context, r model.JoinRequest) (model.Membership, error) {
	m, err := j.c.JoinGroup(ctx, r)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// club is a broker of our own with a client of it, so that groups can be joined in no other way than by clients.
type club struct {
	model.Source
	joiner
}

// join makes a club of a broker that listens.
func join(src model.Source) (model.Source, error) {
	info, err := src.Info(context.Background())
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	c, err := client("tcp", info.Address)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return club{src, joiner{c}}, nil
}

// Close implements model.Source.
func (c club) Close() error { return errors.Join(c.c.Close(), c.Source.Close()) }
