package watch

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// bufferedEvents is how many events wait for the loop before the kernel's own queue fills: enough that reader and
// loop change places seldom, small enough to be of no weight (24 bytes each and a name).
const bufferedEvents = 512

// backend is what gives events: fsnotify, or a test's fake.
type backend interface {
	Add(dir string) error
	Remove(dir string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

type notify struct{ w *fsnotify.Watcher }

// openNotify opens the system's file events.
func openNotify() (backend, error) {
	w, err := fsnotify.NewBufferedWatcher(bufferedEvents)
	if err != nil {
		return nil, err
	}
	return notify{w}, nil
}

func (n notify) Add(dir string) error          { return n.w.Add(dir) }
func (n notify) Remove(dir string) error       { return n.w.Remove(dir) }
func (n notify) Events() <-chan fsnotify.Event { return n.w.Events }
func (n notify) Errors() <-chan error          { return n.w.Errors }
func (n notify) Close() error                  { return n.w.Close() }

// why puts the error of a watch that was refused into words for the status line.
func why(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "inotify is exhausted (fs.inotify.max_user_watches)"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "inotify is exhausted (fs.inotify.max_user_instances)"
	case errors.Is(err, syscall.ENOSYS):
		return "file events are not available here"
	}
	return fmt.Sprintf("file events are refused: %v", err)
}
