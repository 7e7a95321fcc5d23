package watch

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sign is what a folder looks like from outside: enough to see that something was made, renamed, removed in it, or
// that its newest .log has grown or shrunk.
type sign struct {
	dir    os.FileInfo // nil: it is not there
	newest string      // name of the newest .log; "" for none
	size   int64
	mtime  time.Time
}

// signOf looks at a folder. was saves reading the names again where they cannot have changed; it may be nil.
func signOf(path string, was *sign) *sign {
	s := &sign{}
	info, err := os.Stat(path)
	if err != nil {
		return s
	}
	s.dir = info
	if was != nil && was.dir != nil && os.SameFile(was.dir, info) && was.dir.ModTime().Equal(info.ModTime()) {
		s.newest = was.newest
	} else {
		s.newest = newestLog(path)
	}
	if s.newest != "" {
		if log, err := os.Stat(filepath.Join(path, s.newest)); err == nil {
			s.size, s.mtime = log.Size(), log.ModTime()
		}
	}
	return s
}

// newestLog returns the greatest name that ends in .log; base offsets are written with leading zeros, so that the
// greatest name is the newest segment.
func newestLog(path string) string {
	d, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer d.Close()
	newest := ""
	for {
		names, err := d.Readdirnames(256)
		for _, n := range names {
			if n > newest && strings.HasSuffix(n, ".log") {
				newest = n
			}
		}
		if err != nil {
			return newest
		}
	}
}

func (s *sign) equal(o *sign) bool {
	if s.dir == nil || o.dir == nil {
		return s.dir == nil && o.dir == nil
	}
	return os.SameFile(s.dir, o.dir) && s.dir.ModTime().Equal(o.dir.ModTime()) &&
		s.newest == o.newest && s.size == o.size && s.mtime.Equal(o.mtime)
}

// look re-stats folders until Close: those without events every Poll, all of them every Restat.
func (w *Watcher) look() {
	defer w.done.Done()
	poll := time.NewTimer(w.o.Poll)
	defer poll.Stop()
	restat := time.NewTimer(w.o.Restat)
	defer restat.Stop()
	hot := time.NewTimer(hotLook)
	defer hot.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-w.warm:
			hot.Reset(hotLook)
		case <-hot.C:
			if w.lookHot() {
				hot.Reset(hotLook)
			}
		case <-poll.C:
			poll.Reset(w.pass(false, w.o.Poll))
		case <-restat.C:
			restat.Reset(w.pass(true, w.o.Restat))
		}
	}
}

// pass looks at the folders without events, or with held at those with events, and returns when to look again: after
// the time given, or later where the pass itself took more than a twentieth of it.
func (w *Watcher) pass(held bool, after time.Duration) time.Duration {
	begin := time.Now()
	for _, e := range w.picked(held) {
		select {
		case <-w.stop:
			return after
		default:
		}
		w.compare(e)
	}
	return max(after, 20*time.Since(begin))
}

// picked returns the entries that give events, or those that do not. It tries first to have the latter watched again.
func (w *Watcher) picked(held bool) []*entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !held && w.polled == 0 || held && w.back == nil {
		return nil
	}
	var list []*entry
	refused := false
	for _, e := range w.dirs {
		if e.hot {
			continue
		}
		if held && !e.held && !refused {
			// Watches may have come free, or the folder may be back.
			if w.hold(e) {
				e.mark()
			} else if _, err := os.Stat(e.path); err == nil {
				refused = true
			}
		}
		if e.held == held {
			list = append(list, e)
		}
	}
	return list
}

// compare looks at a folder and marks it where it differs from the last look. A difference without an event means that
// the watch is on something else by now: it is set again.
func (w *Watcher) compare(e *entry) {
	w.mu.Lock()
	was := e.sign
	w.mu.Unlock()
	now := signOf(e.path, was)
	w.mu.Lock()
	defer w.mu.Unlock()
	e.sign = now
	quiet := e.quiet
	e.quiet = true
	if was == nil && !e.held {
		e.mark() // nobody knows what has happened since it was added
		return
	}
	if was == nil || was.equal(now) || w.dirs[e.path] != e || w.closed {
		return
	}
	if e.held && quiet {
		_ = w.back.Remove(e.path) // an error says that it was not watched
		w.lose(e)
		w.hold(e)
	}
	e.mark()
}
