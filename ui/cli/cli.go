package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

// Exit codes; see the package comment.
const (
	exitOK          = 0
	exitWrong       = 1
	exitCannot      = 2
	exitInterrupted = 130
)

// IO is where a command reads and writes.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	OutTTY   bool // Out is a terminal: control bytes are escaped even with -f
	ErrTTY   bool // Err is a terminal: progress may be shown
}

// Engines opens sources and runs the explorer. main fills it in, because only main may know the engines.
type Engines struct {
	// OpenDirs opens log directories, or a single .log file, read-only.
	OpenDirs func(ctx context.Context, paths []string, o DirOptions) (model.Source, error)
	// OpenData opens the embedded broker's directory.
	OpenData func(ctx context.Context, o DataOptions) (model.Source, error)
	// OpenCluster opens a cluster by the addresses of some of its brokers.
	OpenCluster func(ctx context.Context, addrs []string, o ClusterOptions) (model.Source, error)
	// Profiles returns the profiles of a settings file, and what is to be said of the file.
	Profiles func(settings string) ([]ProfileRow, []string, error)
	// TestProfile goes the way to a cluster step by step. It tells each step on the calling goroutine.
	TestProfile func(ctx context.Context, addrs []string, k Known, tell func(ProfileStep)) error
	// Copier copies from one open source to another; to is nil where nothing is there yet.
	Copier func(ctx context.Context, from, to model.Source, o CopierOptions) (ClosingCopier, error)
	// OpenDemo starts a broker with live traffic.
	OpenDemo func(ctx context.Context, o DemoOptions) (model.Source, error)
	// Explore runs the explorer until the user leaves it.
	Explore func(ctx context.Context, src model.Source, o ExploreOptions) error
}

// Access says what an embedded directory is opened for.
type Access int8

// The kinds of access.
const (
	Look    Access = iota // read the files; no lock, nothing changed, works beside a running strata
	Write                 // be the one writer, or have the one do it that is, where it listens; else an error
	Prefer                // Write, or if another process is the writer and does not listen, Look
	Offsets               // change committed offsets alone, in the way of Write
	Users                 // as Offsets, for a directory that need not be there: its first user is made before it serves
	Own                   // be the one writer; an error if another process is
	Member                // Own with a listener, or the one that is the writer: to join a group as any client does
)

// DirOptions says how to open a log directory.
type DirOptions struct {
	Still bool // nothing goes on by itself: for a command that reads and ends
}

// DataOptions says how to open the embedded broker's directory.
type DataOptions struct {
	DirOptions
	Dir        string
	Properties string // a server.properties, or ""
	Access     Access
	Listen     string // HOST:PORT for Kafka clients; "" for nowhere, DefaultListen for what is usual
	Security   Security
}

// DefaultListen is where the server.properties says, and 127.0.0.1:9092 where it does not.
const DefaultListen = "default"

// Security says what is asked of Kafka clients.
type Security struct {
	SASL                bool
	Cert, Key, ClientCA string // PEM files
}

// DemoOptions says how to run the demo.
type DemoOptions struct {
	Keep   string // directory to keep the data in; "" for a temporary one
	Rate   int    // records a second
	Listen string // as in DataOptions; where the usual place is taken, a free port is
	// Properties is a server.properties, or "".
	Properties string
	Warn       func(string)
}

// ExploreOptions says how the explorer starts.
type ExploreOptions struct {
	At      model.Address
	Theme   string
	ASCII   bool
	NoColor bool
	Zone    *time.Location
	Version string
	// StatePath is where the explorer keeps what shall be as it was.
	StatePath string
}

// app is what all commands share.
type app struct {
	io   IO
	out  *bufio.Writer // to io.Out; its first error stays, and is the command's
	eng  Engines
	now  func() time.Time
	opts options
	zone *time.Location
	ver  string
	code int // exit code of a command that ran: exitOK or exitWrong
}

type options struct {
	source     string
	json       bool
	data       string
	config     string
	tz         string
	noColor    bool
	properties string
	theme      string
	ascii      bool
	listen     string // --listen
	listens    string // the settings file's listen
	security   Security
	noListen   bool
}

// Run runs the command line and returns the exit code.
func Run(ctx context.Context, args []string, version string, streams IO, eng Engines) int {
	a := &app{io: streams, out: bufio.NewWriterSize(streams.Out, 64<<10), eng: eng, now: time.Now, zone: time.Local, ver: version}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(a.out)
	root.SetErr(streams.Err)
	err := root.ExecuteContext(ctx)
	if ferr := a.out.Flush(); err == nil {
		err = ferr
	}
	return a.finish(ctx, err)
}

// finish puts an error into words and a code.
func (a *app) finish(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return a.code
	case errors.Is(err, syscall.EPIPE):
		return exitOK // the reader has seen enough
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	fmt.Fprintln(a.io.Err, "strata: "+safeError(err))
	if errors.Is(err, model.ErrRefused) {
		return exitWrong
	}
	return exitCannot
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "strata [SOURCE]",
		Short: "See inside Kafka: topics, partitions, segments, batches, records, bytes, and groups with their lag",
		Long: `strata explores Kafka data in a terminal: topics, partitions, segments, batches, records, bytes, and
consumer groups with their lag.

SOURCE is nothing (the embedded broker on its data directory), a Kafka log directory or a .log file (read-only;
several log.dirs with commas), a cluster's HOST:PORT (several brokers with commas), a profile of the settings file, a
client.properties or a config of librdkafka's, or an address in the embedded broker, like orders/2@4812339.

The embedded broker serves Kafka clients while it is explored, at 127.0.0.1:9092 where --listen says nothing else. Where
another strata has its directory open already, this one attaches to it.`,
		Args:              cobra.MaximumNArgs(1),
		SilenceErrors:     true,
		SilenceUsage:      true,
		Version:           a.ver,
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.settle() },
		RunE:              a.explore,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
	})
	f := root.PersistentFlags()
	f.StringVarP(&a.opts.source, "source", "s", "", "what to look at, in the words of SOURCE above")
	f.BoolVar(&a.opts.json, "json", false, "print one JSON object a line")
	f.StringVar(&a.opts.data, "data", "", "the embedded broker's directory (default $XDG_DATA_HOME/strata)")
	f.StringVar(&a.opts.config, "config", "", "settings file (default $XDG_CONFIG_HOME/strata/config.toml)")
	f.StringVar(&a.opts.tz, "tz", "", "time zone: Local, UTC, or a name like Europe/Berlin (default local)")
	f.BoolVar(&a.opts.noColor, "no-color", false, "no colours (as the environment variable NO_COLOR)")
	f.StringVar(&a.opts.properties, "properties", "", "a Kafka server.properties for the embedded broker")
	a.screenFlags(root)
	a.listenFlags(root)
	root.AddCommand(a.demoCmd(), a.topicsCmd(), a.partitionsCmd(), a.segmentsCmd(), a.batchesCmd(), a.readCmd(), a.tailCmd(),
		a.produceCmd(), a.groupsCmd(), a.groupCmd(), a.resetCmd(), a.journalCmd(), a.undoCmd(), a.verifyCmd(), a.lookupCmd(),
		a.topicCmd(), a.deleteRecordsCmd(), a.serveCmd(), a.profilesCmd(), a.profileCmd(), a.subjectsCmd(), a.consumeCmd(), a.deliveryCmd(), a.userCmd(),
		a.brokersCmd(), a.aclsCmd(), a.quotasCmd())
	root.AddCommand(a.copyCmd())
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// screenFlags are the flags of commands that draw a screen.
func (a *app) screenFlags(c *cobra.Command) {
	c.Flags().StringVar(&a.opts.theme, "theme", "", "dark, light or 16")
	c.Flags().BoolVar(&a.opts.ascii, "ascii", false, "draw with ASCII only")
}

// settle reads the settings file and the flags that every command has.
func (a *app) settle() error {
	if err := a.loadConfig(); err != nil {
		return err
	}
	if a.opts.data == "" {
		a.opts.data = filepath.Join(xdg("XDG_DATA_HOME", ".local/share"), "strata")
	}
	if os.Getenv("NO_COLOR") != "" {
		a.opts.noColor = true
	}
	switch a.opts.tz {
	case "", "local", "Local":
	default:
		z, err := time.LoadLocation(a.opts.tz)
		if err != nil {
			return fmt.Errorf("--tz %q: no such time zone; try UTC, Local, or a name like Europe/Berlin", a.opts.tz)
		}
		a.zone = z
	}
	return nil
}

// xdg returns a base directory of the XDG specification.
func xdg(env, fallback string) string {
	if d := os.Getenv(env); filepath.IsAbs(d) {
		return d
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = os.TempDir()
	}
	return filepath.Join(home, filepath.FromSlash(fallback))
}

// explore is strata without a command.
func (a *app) explore(c *cobra.Command, args []string) error {
	word := a.opts.source
	at := model.TopicAddress("")
	if len(args) == 1 {
		if word == "" && !a.isAddress(args[0]) {
			word = args[0]
		} else {
			var err error
			if at, err = model.ParseAddress(args[0]); err != nil {
				return err
			}
		}
	}
	if at.Topic != "" && word == "" {
		if _, err := os.Stat(a.opts.data); errors.Is(err, os.ErrNotExist) { // it is not made by a typing error
			return hint(c, model.NotFound(model.ErrNoTopic, at.Topic, nil), at.Topic)
		}
	}
	src, err := a.openToExplore(c.Context(), word)
	if err != nil {
		return err
	}
	if err := a.checkAddress(c.Context(), src, at); err != nil {
		return errors.Join(hint(c, err, at.Topic), src.Close())
	}
	if file, ok := src.(filer); ok && at.Topic == "" {
		at = file.File()
	}
	return a.eng.Explore(c.Context(), src, a.exploreOptions(at))
}

// filer is the ability of a source that was opened for one file to say its place.
type filer interface{ File() model.Address }

// hint names the commands that resemble a word which is no topic.
func hint(c *cobra.Command, err error, word string) error {
	if !errors.Is(err, model.ErrNoTopic) {
		return err
	}
	var names []string
	for _, s := range c.Root().Commands() {
		names = append(names, s.Name())
	}
	if near := model.Nearest(word, names); len(near) > 0 {
		return fmt.Errorf("%w (nor is it a command; near are %s)", err, strings.Join(near, ", "))
	}
	return err
}

func (a *app) exploreOptions(at model.Address) ExploreOptions {
	return ExploreOptions{At: at, Theme: a.opts.theme, ASCII: a.opts.ascii, NoColor: a.opts.noColor, Zone: a.zone, Version: a.ver,
		StatePath: filepath.Join(xdg("XDG_STATE_HOME", ".local/state"), "strata", "state.toml")}
}

// isAddress reports whether a SOURCE is rather a place in the embedded broker: no file, no host and port.
func (a *app) isAddress(word string) bool {
	if _, err := os.Stat(word); err == nil {
		return false
	}
	if strings.HasPrefix(word, "group:") {
		return true
	}
	if names, err := a.profileNames(); err == nil && slices.Contains(names, word) {
		return false
	}
	if strings.ContainsAny(word, ":,\\") || strings.HasPrefix(word, "/") || strings.HasPrefix(word, ".") || strings.HasPrefix(word, "~") {
		return false
	}
	_, err := model.ParseAddress(word)
	return err == nil
}

// checkAddress says at once, before the screen is taken, that a place does not exist.
func (a *app) checkAddress(ctx context.Context, src model.Source, at model.Address) error {
	if at.Topic == "" {
		return nil
	}
	ps, err := src.Partitions(ctx, at.Topic)
	if err != nil {
		return err
	}
	if at.Partition >= 0 {
		_, err = findPartition(ps, at.TP())
	}
	return err
}

func (a *app) demoCmd() *cobra.Command {
	var o DemoOptions
	c := &cobra.Command{
		Use:   "demo",
		Short: "the explorer on a temporary embedded broker with live traffic; all gone on exit",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Rate < 0 {
				return fmt.Errorf("--rate %d: want a number of records a second, 0 or more", o.Rate)
			}
			if o.Rate == 0 {
				o.Rate = -1 // no traffic until + is pressed
			}
			var err error
			if o.Listen, err = a.listen(); err != nil {
				return err
			}
			o.Properties = a.opts.properties
			src, err := a.eng.OpenDemo(c.Context(), o)
			if err != nil {
				return err
			}
			return a.eng.Explore(c.Context(), src, a.exploreOptions(model.TopicAddress("")))
		},
	}
	c.Flags().StringVar(&o.Keep, "keep", "", "keep the data in this directory")
	c.Flags().IntVar(&o.Rate, "rate", 200, "records a second")
	a.screenFlags(c)
	a.listenFlags(c)
	return c
}

// warn prints a notice.
func (a *app) warn(s string) {
	a.flush()
	fmt.Fprintln(a.io.Err, "strata: "+safe(s))
}

// flush lets what was printed be seen before what comes on stderr. Its error stays in a.out.
func (a *app) flush() { _ = a.out.Flush() }

// open opens a source by its word.
func (a *app) open(ctx context.Context, word string, access Access, o DirOptions) (model.Source, error) {
	if word == "" {
		return a.eng.OpenData(ctx, DataOptions{DirOptions: o, Dir: a.opts.data, Properties: a.opts.properties, Access: access})
	}
	if src, ok, err := a.openCluster(ctx, word, access, o); ok || err != nil {
		return src, err
	}
	paths := strings.Split(word, ",")
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			return nil, a.noSource(p, err)
		}
	}
	if access != Look && access != Prefer {
		return nil, fmt.Errorf("%s: %w: a log directory is only looked at, never changed; leave --source out to work on the embedded broker", word, model.ErrReadOnly)
	}
	return a.eng.OpenDirs(ctx, paths, o)
}

// noSource says why a word is no source.
func (a *app) noSource(word string, cause error) error {
	if errors.Is(cause, os.ErrNotExist) {
		text := fmt.Sprintf("%s: no such directory or file; give a Kafka log directory (a broker's log.dirs), a .log file, a cluster's HOST:PORT, a profile's name, or nothing for the embedded broker", word)
		if names, err := a.profileNames(); err == nil {
			if near := model.Nearest(word, names); len(near) > 0 {
				text += "; profiles near are " + strings.Join(near, ", ")
			}
		}
		return errors.New(text)
	}
	return fmt.Errorf("open %s: %w", word, cause)
}

// with opens the source of --source, runs do, and closes it.
func (a *app) with(c *cobra.Command, access Access, do func(ctx context.Context, src model.Source) error) error {
	return a.withSource(c, a.opts.source, access, DirOptions{Still: true}, do)
}

func (a *app) withSource(c *cobra.Command, word string, access Access, o DirOptions, do func(ctx context.Context, src model.Source) error) error {
	return a.withPlain(c.Context(), word, access, o, do)
}

func (a *app) withPlain(ctx context.Context, word string, access Access, o DirOptions, do func(ctx context.Context, src model.Source) error) error {
	// Whoever interrupts twice is not to wait for what blocks: a reader of stdout that does not read.
	stop := context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })
	defer stop()
	src, err := a.open(ctx, word, access, o)
	if err != nil {
		return err
	}
	if info, err := src.Info(ctx); err == nil {
		for _, n := range info.Notices {
			a.warn(n)
		}
		if access != Look && info.State != "" && info.Address != "" {
			a.warn(info.State + " at " + info.Address)
		}
	}
	err = do(ctx, src)
	if cerr := src.Close(); cerr != nil {
		cerr = fmt.Errorf("close the source: %w", cerr)
		if err == nil {
			return cerr
		}
		a.warn(cerr.Error()) // what was written may not be on the disk, whatever else went wrong
	}
	return err
}

// ability returns the ability T of a source, or an error that says what cannot be done here.
func ability[T any](src model.Source, what string) (T, error) {
	t, ok := src.(T)
	if !ok {
		return t, fmt.Errorf("cannot %s here: %w", what, model.ErrReadOnly)
	}
	return t, nil
}
