package watch

import (
	"sync"
	"time"
)

// maxDirty is how many folders a Feed tells one by one; beyond it the answer is All.
const maxDirty = 4096

// Set is what became dirty since the last Take, in no order.
type Set struct {
	Dirs []string
	// All says that events were lost or too many folders are dirty: look at everything.
	All bool
}

// Feed is one reader's interest in some folders. Its methods may be called from any goroutine.
type Feed struct {
	w      *Watcher
	window time.Duration
	c      chan struct{}

	mu     sync.Mutex
	dirty  map[string]struct{}
	all    bool
	armed  bool      // timer will give the token
	last   time.Time // when the last token was given
	timer  *time.Timer
	timers sync.WaitGroup // a timer's function that may be running
	closed bool
}

// Feed returns a new Feed without folders. window is the least time between two tokens; 0 means that each event wakes
// at once.
func (w *Watcher) Feed(window time.Duration) *Feed {
	return &Feed{w: w, window: window, c: make(chan struct{}, 1), dirty: map[string]struct{}{}}
}

// C returns the channel that holds a token while there is something to Take. It is never closed.
func (f *Feed) C() <-chan struct{} { return f.c }

// Add begins to watch dir, and marks it dirty at once so that it is looked at after the watch took hold. It cannot
// fail: what gives no events is polled. dir must be absolute and clean. Adding again a folder that is there does no
// harm; it takes hold of a folder that was away.
func (f *Feed) Add(dir string) {
	f.w.add(f, dir)
	f.mark(dir)
}

// Remove ends the watch of dir.
func (f *Feed) Remove(dir string) { f.w.remove(f, dir) }

// Take returns what became dirty since the last Take, and empties it.
func (f *Feed) Take() Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Set{All: f.all}
	if !f.all && len(f.dirty) > 0 {
		s.Dirs = make([]string, 0, len(f.dirty))
		for d := range f.dirty {
			s.Dirs = append(s.Dirs, d)
		}
	}
	f.all = false
	if len(f.dirty) > 64 {
		f.dirty = map[string]struct{}{} // a map keeps its buckets for ever
	} else {
		clear(f.dirty)
	}
	return s
}

// Close ends the Feed and its watches.
func (f *Feed) Close() {
	f.w.drop(f)
	f.mu.Lock()
	f.closed = true
	if f.timer != nil && f.timer.Stop() {
		f.timers.Done()
	}
	f.mu.Unlock()
	f.timers.Wait()
}

// mark adds dir to the set; "" stands for everything.
func (f *Feed) mark(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	if dir == "" {
		f.all = true
	} else if !f.all {
		if f.dirty[dir] = struct{}{}; len(f.dirty) > maxDirty {
			f.all = true
			f.dirty = map[string]struct{}{}
		}
	}
	if !f.armed {
		f.wake()
	}
}

// wake gives the token, now or at the end of the window. f.mu is held.
func (f *Feed) wake() {
	if f.window <= 0 {
		f.token()
		return
	}
	now := time.Now()
	if wait := f.window - now.Sub(f.last); wait > 0 && !f.last.IsZero() {
		f.armed = true
		f.timers.Add(1)
		f.timer = time.AfterFunc(wait, f.fire)
		return
	}
	f.last = now
	f.token()
}

// fire ends a window in which something became dirty.
func (f *Feed) fire() {
	defer f.timers.Done()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = false
	f.timer = nil
	if f.closed {
		return
	}
	f.last = time.Now()
	f.token()
}

func (f *Feed) token() {
	select {
	case f.c <- struct{}{}:
	default: // the one before was not taken yet
	}
}
