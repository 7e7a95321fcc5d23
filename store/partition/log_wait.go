package partition

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Waiter waits for any of several logs to grow. The zero value is not usable; see NewWaiter.
type Waiter struct {
	// C gets a value when something has happened since the last Woken.
	C chan struct{}

	mu    sync.Mutex
	woken []int
	on    []*watch
}

// NewWaiter returns a Waiter that watches nothing yet.
func NewWaiter() *Waiter { return &Waiter{C: make(chan struct{}, 1)} }

// watch is a Waiter's interest in one log.
type watch struct {
	w     *Waiter
	log   *Log
	id    int
	after int64 // what must be passed
	// committed looks at the last stable offset, not at the high watermark.
	committed bool
}

// watches are the ones who wait for a log. An append that nobody waits for looks at n, and no further.
type watches struct {
	n    atomic.Int32
	mu   sync.Mutex
	list []*watch
	shut bool // the log is closed: nobody waits
}

// Watch has the Waiter woken, with a number, whenever the log's high watermark, or with committed its last stable
// offset, passes an offset, and when the log is closed. When it has done so already, that is at once.
func (w *Waiter) Watch(l *Log, id int, after int64, committed bool) {
	x := &watch{w: w, log: l, id: id, after: after, committed: committed}
	w.on = append(w.on, x)
	l.waits.mu.Lock()
	defer l.waits.mu.Unlock()
	l.waits.list = append(l.waits.list, x)
	l.waits.n.Add(1)
	if b := l.known.Load(); l.waits.shut || b != nil && x.passed(b) {
		w.wake(id)
	}
}

// Woken returns the numbers of the logs that have grown since the last call.
func (w *Waiter) Woken() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.woken
	w.woken = nil
	return list
}

// Stop ends it.
func (w *Waiter) Stop() {
	for _, x := range w.on {
		x.log.waits.remove(x)
	}
	w.on = nil
}

func (w *Waiter) wake(id int) {
	w.mu.Lock()
	if !slices.Contains(w.woken, id) {
		w.woken = append(w.woken, id)
	}
	w.mu.Unlock()
	select {
	case w.C <- struct{}{}:
	default:
	}
}

// passed tells whether the bounds are beyond what is waited for, and waits for more from then on.
func (x *watch) passed(b *bounds) bool {
	now := b.HighWatermark
	if x.committed {
		now = b.LastStable
	}
	if now <= x.after {
		return false
	}
	x.after = now
	return true
}

// wake wakes who waits for less than the bounds.
func (s *watches) wake(b *bounds) {
	if s.n.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.list {
		if x.passed(b) {
			x.w.wake(x.id)
		}
	}
}

// close wakes all, for good.
func (s *watches) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut = true
	for _, x := range s.list {
		x.w.wake(x.id)
	}
}

func (s *watches) remove(x *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.list, x); i >= 0 {
		last := len(s.list) - 1
		s.list[i], s.list[last] = s.list[last], nil
		s.list = s.list[:last]
		s.n.Add(-1)
	}
}

// Closed reports whether the log is closed: its topic is deleted, or the broker stops.
func (l *Log) Closed() bool {
	l.waits.mu.Lock()
	defer l.waits.mu.Unlock()
	return l.waits.shut
}

// Waiting returns how many wait for the log to grow.
func (l *Log) Waiting() int { return int(l.waits.n.Load()) }
