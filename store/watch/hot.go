package watch

import (
	"slices"
	"time"
)

// A folder that is written to thousands of times a second gives an event each time, which costs the writer half a
// microsecond and us two. Such a folder is hot: for a second its watch is taken away and it is looked at every few
// milliseconds instead, which finds the same and costs next to nothing. Then it is watched again, to see whether it is
// hot still.
const (
	hotSlot   = 50 * time.Millisecond // in which events are counted
	hotEvents = 100                   // so many in a slot make a folder hot
	hotLook   = 10 * time.Millisecond // how often a hot folder is looked at
	hotTime   = time.Second           // how long it stays hot
)

// heat counts a folder's events.
type heat struct {
	events int
	since  time.Time // when counting began
	until  time.Time // when it is no longer hot
}

// written handles a write in a folder. w.mu is held.
func (w *Watcher) written(e *entry, now time.Time) {
	e.quiet = false
	e.mark()
	h := e.heat
	if h == nil {
		h = &heat{since: now}
		e.heat = h
	}
	if now.Sub(h.since) > hotSlot {
		h.since, h.events = now, 0
	}
	if h.events++; h.events < hotEvents || !e.held {
		return
	}
	_ = w.back.Remove(e.path) // an error says that it is gone: that will be seen
	e.held, e.hot, e.sign = false, true, nil
	h.events, h.until = 0, now.Add(hotTime)
	w.hot = append(w.hot, e)
	select {
	case w.warm <- struct{}{}:
	default:
	}
}

// lookHot looks at the hot folders, and has those watched again whose time is over. It reports whether any are left.
func (w *Watcher) lookHot() bool {
	w.mu.Lock()
	list := slices.Clone(w.hot)
	w.mu.Unlock()
	for _, e := range list {
		w.compareHot(e)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.hot = slices.DeleteFunc(w.hot, func(e *entry) bool {
		if now.Before(e.heat.until) {
			return false
		}
		e.hot = false
		w.polled++ // until hold has succeeded
		if !w.closed {
			w.hold(e)
		}
		e.mark() // what happened since the last look
		return true
	})
	return len(w.hot) > 0
}

// compareHot looks at a hot folder and marks it where it differs from the last look.
func (w *Watcher) compareHot(e *entry) {
	w.mu.Lock()
	was := e.sign
	w.mu.Unlock()
	now := signOf(e.path, was)
	w.mu.Lock()
	defer w.mu.Unlock()
	e.sign = now
	if e.hot && (was == nil || !was.equal(now)) {
		e.mark()
	}
}
