package logdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/watch"
)

// Options tunes a Dir. The zero value is for a broker's log directory.
type Options struct {
	// Configs returns the configs that a topic has of its own; nil means that they are looked for in the directory
	// (__cluster_metadata). It may be called from any goroutine.
	Configs func(topic string) map[string]string
	// Embedded says that the one writer is our own engine: its log end is its high watermark.
	Embedded bool
	// Guest says that this engine runs in another process, if it runs at all.
	Guest bool
	// Name is for the breadcrumb; "" means the path.
	Name string
	// Still switches off all that goes on by itself: nothing is watched, counted or loaded ahead. For a command that
	// reads and ends.
	Still bool
	// Restat is how often all folders are looked at, watched or not; 0 means 5 s. It stretches by itself where a look
	// takes long.
	Restat time.Duration
	// Watch tunes the watcher.
	Watch watch.Options
	// Now is the clock; nil means time.Now. For what Segments says of times to come.
	Now func() time.Time
}

// window is the least time between two looks at folders that are written to; see store/watch.
const window = 50 * time.Millisecond

// patience is how long Open takes for the first walk, the listing of names included, so that a directory of a usual size
// is whole in the first frame, and one of very many folders does not keep that waiting.
const patience = 15 * time.Millisecond

// Dir is one or several log directories as a read-only source.
//
// Invariants:
//   - parts holds each folder once, by its path; topics holds the same parts by topic
//   - a part's numbers come from one view of it, never from two
type Dir struct {
	o         Options
	roots     []*root
	watch     *watch.Watcher // nil when Still
	feed      *watch.Feed    // nil when Still
	tailWatch *watch.Watcher // made by Tail when Still
	out       *changes
	load      *loader
	meta      *metadata
	offs      *offsetsLog
	ctx       context.Context // ends with Close, for what goes on by itself
	stop      context.CancelFunc
	done      sync.WaitGroup
	nodeID    atomic.Int32 // one more than what node has read; 0 for not yet

	mu      sync.Mutex
	topics  map[string]*topic
	parts   map[string]*part // by folder
	focus   map[string]bool  // nil until Focus: everything, while there is little of it
	kept    kept
	walked  bool // the first walk is over
	closed  bool
	polling string        // what the watcher said last
	file    model.Address // see OpenFile; set before the Dir is handed out
	tidy    func()        // removes what OpenFile made elsewhere; nil for nothing
}

// Open opens log directories: those of one broker, or a folder that holds segments itself, whose siblings are left alone.
// Nothing
// is written, created or locked. It waits for the first look at the folders only if that is over soon.
func Open(dirs []string, o Options) (*Dir, error) {
	var roots []*root
	for _, dir := range dirs {
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("open log directory: %w", err)
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("open log directory: %w", err)
		case !info.IsDir():
			return nil, fmt.Errorf("open log directory: %s is no directory", path)
		}
		r := &root{path: path}
		if holdsLog(path) {
			r.path, r.only = filepath.Dir(path), filepath.Base(path)
			if _, ok := layout.ParseDirName(r.only); !ok {
				r.as = topicLike(r.only) + "-0"
			}
		}
		roots = append(roots, r)
	}
	return open(roots, o)
}

// holdsLog reports whether a folder holds a segment's .log, and so is a partition's. It looks no further than the first
// sign: a log directory may hold very many folders.
func holdsLog(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read from
	for {
		names, err := f.ReadDir(64)
		for _, e := range names {
			if _, ok := baseOf([]byte(e.Name())); ok {
				return true
			}
			if _, ok := layout.ParseDirName(e.Name()); ok && e.IsDir() {
				return false
			}
		}
		if err != nil {
			return false
		}
	}
}

func open(roots []*root, o Options) (*Dir, error) {
	if o.Restat <= 0 {
		o.Restat = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Dir{o: o, roots: roots, out: newChanges(), topics: map[string]*topic{}, parts: map[string]*part{}, kept: kept{room: keptSegments}}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	d.ctx, d.stop = context.WithCancel(context.Background())
	d.load = newLoader(d)
	d.meta = &metadata{busy: newGate()}
	d.offs = &offsetsLog{busy: newGate()}
	for _, r := range roots {
		d.relist(r, &pending{})
		if r.err != nil {
			d.stop()
			return nil, r.err
		}
	}
	d.done.Go(func() { d.out.run(d.ctx.Done()) })
	first := make(chan struct{})
	if !o.Still {
		d.watch = watch.New(o.Watch)
		d.feed = d.watch.Feed(window)
		for _, r := range roots {
			d.feed.Add(r.path)
		}
		d.done.Go(d.follow)
		d.load.start()
	}
	d.done.Go(func() { d.rounds(first) })
	select {
	case <-first:
	case <-wait.C:
	}
	return d, nil
}

// Close ends all that goes on, and waits for it.
func (d *Dir) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	d.mu.Unlock()
	d.stop()
	d.load.wake()
	if d.feed != nil {
		d.feed.Close()
	}
	d.done.Wait()
	if d.tidy != nil {
		d.tidy()
	}
	for _, w := range []*watch.Watcher{d.watch, d.tailWatch} {
		if w != nil {
			// Nobody waits for its events any more.
			_ = w.Close()
		}
	}
	return nil
}

// Changes implements model.Source.
func (d *Dir) Changes() <-chan model.Change { return d.out.out }

// begin refuses a call after Close, and gives the context of the call.
func (d *Dir) begin(ctx context.Context) error {
	if d.ctx.Err() != nil {
		return fmt.Errorf("%s: %w", d.name(), model.ErrClosed)
	}
	return ctx.Err()
}

func (d *Dir) name() string {
	if d.o.Name != "" {
		return d.o.Name
	}
	var paths []string
	for _, r := range d.roots {
		paths = append(paths, filepath.Join(r.path, r.only))
	}
	return strings.Join(paths, ",")
}

// Info implements model.Source.
func (d *Dir) Info(ctx context.Context) (model.Info, error) {
	if err := d.begin(ctx); err != nil {
		return model.Info{}, err
	}
	info := model.Info{Kind: model.Directory, Name: d.name(), ReadOnly: true, Live: d.watch != nil}
	var state []string
	if d.o.Embedded {
		info.Kind, info.ReadOnly = model.Embedded, false
	} else if pid, held := d.holder(); held {
		state = append(state, pid)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.parts {
		info.Bytes += p.sums.bytes
	}
	if d.watch != nil {
		if s := d.watch.State(); s != "" {
			state = append(state, s)
		}
	}
	info.State = strings.Join(state, "; ")
	for _, r := range d.roots {
		if r.err != nil {
			info.Notices = append(info.Notices, r.err.Error())
		}
		if r.start.err != nil {
			info.Notices = append(info.Notices, r.start.err.Error())
		}
		if r.high.err != nil {
			info.Notices = append(info.Notices, r.high.err.Error())
		}
	}
	if len(d.parts) == 0 && !d.o.Embedded {
		info.Notices = append(info.Notices, "no partition's folder in it: is it a log directory?")
	}
	return info, nil
}

// holder says which process holds a lock on one of the directories.
func (d *Dir) holder() (string, bool) {
	for _, r := range d.roots {
		if pid, ok := lockHolder(filepath.Join(r.path, layout.LockFile)); ok {
			if pid > 0 {
				return fmt.Sprintf("held by process %d", pid), true
			}
			return "held by another process", true
		}
	}
	return "", false
}

// gone reports whether an error says that a file or folder is not there.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
