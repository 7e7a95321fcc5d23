package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Options tunes a Watcher. The zero value is the default.
type Options struct {
	// Restat is how often folders that give events are looked at all the same; 0 means 5 s.
	Restat time.Duration
	// Poll is how often folders that give no events are looked at; 0 means 250 ms. It stretches by itself where a look
	// takes long.
	Poll time.Duration
	// NoEvents makes it poll everything.
	NoEvents bool

	open func() (backend, error) // nil means the system's
}

// Watcher owns a queue of file events and the folders that its Feeds want watched.
//
// Invariants:
//   - an entry is in dirs exactly while a Feed wants it
//   - an entry is at most one of held and hot; hot holds the entries that are
//   - an entry with held has a watch in the kernel, or an event on its way that says that it has not any more
type Watcher struct {
	o    Options
	back backend       // nil: everything is polled
	lost chan struct{} // a token: the kernel's queue ran over
	warm chan struct{} // a token: a folder has become hot
	stop chan struct{}
	done sync.WaitGroup // loop, errors, look

	mu     sync.Mutex
	dirs   map[string]*entry
	reason string // why back is nil, or why the last folder was refused
	polled int    // entries without a watch, hot ones left out
	hot    []*entry
	closed bool
}

// entry is a folder that is wanted.
type entry struct {
	path  string
	feed  *Feed   // the first that wants it
	more  *others // nil for most
	held  bool    // the kernel watches it
	hot   bool    // it is written to so fast that it is looked at again and again instead: see hot.go
	heat  *heat   // nil until the first write
	quiet bool    // no event since the last re-stat
	sign  *sign   // nil until the first re-stat
}

// others are the Feeds that want a folder beside the first.
type others struct{ feeds []*Feed }

// wants reports whether a Feed wants the folder.
func (e *entry) wants(f *Feed) bool {
	return e.feed == f || e.more != nil && slices.Contains(e.more.feeds, f)
}

// feeds calls each for all that want the folder.
func (e *entry) feeds(each func(*Feed)) {
	each(e.feed)
	if e.more != nil {
		for _, f := range e.more.feeds {
			each(f)
		}
	}
}

// New returns a Watcher. It does not fail: where the system gives no events it polls, and State says so.
func New(o Options) *Watcher {
	if o.Restat <= 0 {
		o.Restat = 5 * time.Second
	}
	if o.Poll <= 0 {
		o.Poll = 250 * time.Millisecond
	}
	if o.open == nil {
		o.open = openNotify
	}
	w := &Watcher{o: o, lost: make(chan struct{}, 1), warm: make(chan struct{}, 1), stop: make(chan struct{}), dirs: map[string]*entry{}}
	if o.NoEvents {
		w.reason = "as asked"
	} else if b, err := o.open(); err != nil {
		w.reason = why(err)
	} else {
		w.back = b
		w.done.Add(2)
		go w.loop()   // ends with stop
		go w.errors() // ends with stop
	}
	w.done.Add(1)
	go w.look() // ends with stop
	return w
}

// State returns "" while all folders give events, else which do not and why: "polling: inotify is exhausted (…)".
func (w *Watcher) State() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.reason == "":
		return ""
	case w.back == nil:
		return "polling: " + w.reason
	case w.polled == 0:
		return ""
	}
	return fmt.Sprintf("polling %d of %d folders: %s", w.polled, len(w.dirs), w.reason)
}

// Folders returns how many folders are wanted by some Feed.
func (w *Watcher) Folders() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.dirs)
}

// Close ends all watches and waits for the goroutines. Feeds give no tokens any more.
func (w *Watcher) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	w.mu.Unlock()
	close(w.stop)
	var err error
	if w.back != nil {
		err = w.back.Close()
	}
	w.done.Wait()
	return err
}

func (w *Watcher) add(f *Feed, dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	e := w.dirs[dir]
	if e == nil {
		e = &entry{path: dir, feed: f}
		w.dirs[dir] = e
		w.polled++
	} else if !e.wants(f) {
		if e.more == nil {
			e.more = &others{}
		}
		e.more.feeds = append(e.more.feeds, f)
	}
	if !e.held && !e.hot {
		w.hold(e)
	}
}

// hold asks the kernel to watch an entry that it does not watch. w.mu is held.
func (w *Watcher) hold(e *entry) bool {
	if w.back == nil {
		return false
	}
	err := w.back.Add(e.path)
	switch {
	case err == nil:
		e.held = true
		w.polled--
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsnotify.ErrClosed):
		w.reason = why(err)
	}
	return e.held
}

// lose notes that the kernel does not watch an entry any more. w.mu is held.
func (w *Watcher) lose(e *entry) {
	if e.held {
		e.held = false
		w.polled++
	}
}

func (w *Watcher) remove(f *Feed, dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.dirs[dir]; e != nil {
		w.leave(f, e)
	}
}

// leave takes a Feed off an entry, and the entry away with its last Feed. w.mu is held.
func (w *Watcher) leave(f *Feed, e *entry) {
	switch {
	case e.feed == f && e.more != nil && len(e.more.feeds) > 0:
		e.feed, e.more.feeds = e.more.feeds[0], e.more.feeds[1:]
	case e.feed == f:
		delete(w.dirs, e.path)
		if e.hot {
			w.hot = slices.DeleteFunc(w.hot, func(o *entry) bool { return o == e })
		} else if !e.held {
			w.polled--
		} else if !w.closed {
			// An error says that the folder is gone, and its watch with it.
			_ = w.back.Remove(e.path)
		}
	case e.more != nil:
		e.more.feeds = slices.DeleteFunc(e.more.feeds, func(o *Feed) bool { return o == f })
	}
}

func (w *Watcher) drop(f *Feed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.dirs {
		if e.wants(f) {
			w.leave(f, e)
		}
	}
}

// loop takes events until Close.
func (w *Watcher) loop() {
	defer w.done.Done()
	events := w.back.Events()
	for {
		select {
		case <-w.stop:
			return
		case ev, ok := <-events:
			if !ok {
				return
			}
			w.burst(ev, events)
		case <-w.lost:
			w.markAll()
		}
	}
}

// errors takes the backend's errors until Close. It takes no lock: the backend may hold its own while it waits for an
// error to be taken, and whoever holds w.mu may be waiting for that one.
func (w *Watcher) errors() {
	defer w.done.Done()
	errs := w.back.Errors()
	for {
		select {
		case <-w.stop:
			return
		case err, ok := <-errs:
			if !ok {
				return
			}
			// Anything else is about a watch that is gone already: the re-stat finds what there is to find.
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				select {
				case w.lost <- struct{}{}:
				default:
				}
			}
		}
	}
}

// burst handles an event and those that wait behind it under one lock.
func (w *Watcher) burst(ev fsnotify.Event, events <-chan fsnotify.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for range bufferedEvents {
		if ev.Op == fsnotify.Write {
			if e := w.dirs[parent(ev.Name)]; e != nil {
				w.written(e, now)
			}
		} else {
			w.changed(ev)
		}
		select {
		case next, ok := <-events:
			if !ok {
				return
			}
			ev = next
		default:
			return
		}
	}
}

// changed handles an event that is more than a write. w.mu is held.
func (w *Watcher) changed(ev fsnotify.Event) {
	if ev.Op == fsnotify.Chmod || ev.Op == 0 {
		return
	}
	if e := w.dirs[ev.Name]; e != nil { // about a watched folder itself, told by itself or by its parent
		if ev.Has(fsnotify.Rename) || ev.Has(fsnotify.Remove) {
			w.lose(e)
		}
		if !e.held && !e.hot {
			w.hold(e) // one of the same name may be there by now
		}
		e.mark()
	}
	w.happened(parent(ev.Name))
}

// parent returns the folder of a clean path. It is filepath.Dir without the cleaning, which this path has had.
func parent(name string) string {
	for i := len(name) - 1; i > 0; i-- {
		if os.IsPathSeparator(name[i]) {
			return name[:i]
		}
	}
	return ""
}

// happened marks a folder in which something happened. w.mu is held.
func (w *Watcher) happened(dir string) {
	if e := w.dirs[dir]; e != nil {
		e.quiet = false
		e.mark()
	}
}

func (e *entry) mark() {
	e.feeds(func(f *Feed) { f.mark(e.path) })
}

// markAll tells every Feed that events were lost.
func (w *Watcher) markAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	var told []*Feed
	for _, e := range w.dirs {
		e.feeds(func(f *Feed) {
			if !slices.Contains(told, f) {
				told = append(told, f)
				f.mark("")
			}
		})
	}
}
