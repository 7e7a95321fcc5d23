package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/strata-kafka/strata/store/layout"
)

// Holder is the process that has a data directory open for writing, as it has written down in the lock's file.
type Holder struct {
	PID     int    `json:"pid"`
	Started int64  `json:"started"` // ms
	Address string `json:"address"` // where it listens; "" for nowhere
	// Door is the socket by which the same user's processes come in where Address asks who they are; "" for none.
	Door string `json:"door,omitempty"`
}

// LockedError says that another process has a data directory open for writing.
type LockedError struct {
	Dir    string
	Holder Holder // PID is 0 where it has not said who it is
}

// Error names the holder.
func (e *LockedError) Error() string {
	switch {
	case e.Holder.PID == 0:
		return fmt.Sprintf("%s is in use by another process", e.Dir)
	case e.Holder.Started == 0:
		return fmt.Sprintf("%s is in use by process %d", e.Dir, e.Holder.PID)
	}
	return fmt.Sprintf("%s is in use by process %d since %s", e.Dir, e.Holder.PID, time.UnixMilli(e.Holder.Started).UTC().Format(time.RFC3339))
}

// dirLock is a held lock. The operating system lets it go when the process ends, however it ends.
type dirLock struct {
	path string
	f    *os.File
}

// lockDir locks a directory, or says in a *LockedError who holds it.
func lockDir(dir string, me Holder) (*dirLock, error) {
	path := filepath.Join(dir, layout.LockFile)
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
		held, pid, err := tryLock(f)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), f.Close())
		}
		if held {
			h := readHolder(path)
			if pid > 0 && pid != h.PID {
				h = Holder{PID: pid} // not one of ours: a Kafka broker leaves the file empty
			}
			return nil, errors.Join(&LockedError{Dir: dir, Holder: h}, f.Close())
		}
		if !sameFile(f, path) {
			// Its holder has just removed it: what we have locked is not what others will find.
			if err := f.Close(); err != nil {
				return nil, fmt.Errorf("lock %s: %w", dir, err)
			}
			continue
		}
		l := &dirLock{path, f}
		if err := l.sign(me); err != nil {
			return nil, errors.Join(err, l.release())
		}
		return l, nil
	}
}

// sign writes down who holds the lock.
func (l *dirLock) sign(me Holder) error {
	b, err := json.Marshal(me)
	if err != nil {
		return fmt.Errorf("sign %s: %w", l.path, err)
	}
	if err := l.f.Truncate(0); err != nil {
		return fmt.Errorf("sign %s: %w", l.path, err)
	}
	if _, err := l.f.WriteAt(append(b, '\n'), 0); err != nil {
		return fmt.Errorf("sign %s: %w", l.path, err)
	}
	return nil
}

// release removes the lock's file and lets the lock go. A file at its path that is another's is left there: the directory
// was deleted and made anew meanwhile.
func (l *dirLock) release() error {
	var err error
	if sameFile(l.f, l.path) {
		err = os.Remove(l.path)
	}
	return errors.Join(err, l.f.Close())
}

// readHolder reads who holds a lock; the zero Holder where its file does not say.
func readHolder(path string) Holder {
	var h Holder
	b, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(b, &h) != nil {
		return Holder{}
	}
	return h
}

func sameFile(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// LockHolder says whether a process has a data directory open for writing, and which. It does not change anything in
// the directory. A lock's file that a dead process left behind is held by nobody.
func LockHolder(dir string) (Holder, bool) {
	path := filepath.Join(dir, layout.LockFile)
	f, err := os.Open(path)
	if err != nil {
		return Holder{}, false
	}
	defer f.Close()
	held, pid, err := testLock(f)
	if err != nil || !held {
		return Holder{}, false
	}
	h := readHolder(path)
	if pid > 0 && pid != h.PID {
		h = Holder{PID: pid}
	}
	return h, true
}

// SetDoor writes down in the lock by which socket the same user's processes come in.
func (e *Engine) SetDoor(door string) error {
	for _, d := range e.dirs {
		h := readHolder(d.lock.path)
		h.Door = door
		if err := d.lock.sign(h); err != nil {
			return err
		}
	}
	return nil
}
