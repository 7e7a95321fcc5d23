// Strata is an explorer of Kafka data for the terminal: it shows topics, partitions, segments, batches, records and
// bytes, and consumer groups with their lag, of its own embedded broker or of a Kafka log directory.
//
// This file opens sources and hands them to the explorer or to the command line; it holds no logic.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/delivery"
	"github.com/strata-kafka/strata/store/demo"
	"github.com/strata-kafka/strata/store/embedded"
	"github.com/strata-kafka/strata/store/logdir"
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
	}, cli.Engines{OpenDirs: openDirs, OpenData: openData, OpenDemo: openDemo, Explore: explore})
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
