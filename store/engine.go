package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// Engine is the embedded broker on its data directory.
//
// Invariants:
//   - every directory is locked from Open to Close
//   - a topic in topics has its folders on disk
//   - a checkpoint never says more than what is on the disk
type Engine struct {
	o       Options
	broker  layout.Broker
	dirs    []*logDir
	keeper  ConfigStore
	dynamic atomic.Pointer[dynamic] // what was set while the broker ran

	mu     sync.RWMutex // guards topics and what is in them, ids, closed
	topics map[string]*topic
	ids    map[layout.ID]string // the topics' names by id, those that were asked for or made since Open
	closed bool
	shape  atomic.Uint64 // rises when topics come, go or grow

	running  sync.RWMutex    // read-held by what must end before Close goes on
	admin    sync.Mutex      // one change of topics at a time; guards intents, saved and stale
	intents  []intent        // what is written down as about to be done
	saved    map[string]bool // what keeper has entries of
	stale    map[string]bool // deleted topics of which the checkpoints may have lines
	allIDs   sync.Once       // ids has all topics after it
	learning sync.Mutex      // one reader of ids at a time
	noticed  sync.Mutex
	notices  []string

	cleaner    *cleaner
	writers    writers
	readers    *partition.Handles
	trash      trash
	sticky     sticky
	later      chan func()
	kick       chan string // topics whose retention is to be looked at now
	stop       context.CancelFunc
	background sync.WaitGroup // the goroutines of start; they never take running
	ended      sync.WaitGroup // work that did not fit later; begun by those, or with running held
	points     sync.Mutex     // one writer of checkpoints at a time
}

// logDir is one of the directories.
type logDir struct {
	path    string
	lock    *dirLock
	meta    layout.Meta
	clean   bool
	points  map[model.TopicPartition]int64 // recovery points, as read; while opening only
	starts  map[model.TopicPartition]int64 // log start offsets, likewise
	cleaned map[model.TopicPartition]int64 // first dirty offsets, likewise
}

// topic is a topic with its logs.
type topic struct {
	name    string
	id      layout.ID         // zero until it is first asked for
	configs map[string]string // its own
	parts   []*partition.Log  // by number; nil where the folder is missing
	// effective is what configs come to, with what lies below them; nil until it is first asked for.
	effective *layout.TopicConfig
}

// Open opens the data directories (log dirs), makes them where they are missing, and starts what runs in the
// background. After a stop that was not clean it recovers the logs first; Notices tells what that found. A *LockedError
// says that another process has them open.
func Open(dirs []string, o Options) (*Engine, error) {
	broker, notices, err := o.settle()
	if err != nil {
		return nil, err
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("%w data directory: none is named", model.ErrInvalid)
	}
	e := &Engine{o: o, broker: broker, notices: notices, topics: map[string]*topic{}, cleaner: newCleaner(), ids: map[layout.ID]string{},
		saved: map[string]bool{}, stale: map[string]bool{},
		later: make(chan func(), laterRoom), kick: make(chan string, kickRoom)}
	e.writers.room = o.Writers
	e.readers = partition.NewHandles(o.Readers)
	e.dynamic.Store(&dynamic{})
	if err := e.open(dirs); err != nil {
		return nil, errors.Join(err, e.unlock())
	}
	e.start()
	return e, nil
}

func (e *Engine) nowMS() int64 { return e.o.Now().UnixMilli() }

// effective returns the configs a topic lives by. It is asked for under the same lock as t is changed.
func (e *Engine) effective(t *topic) layout.TopicConfig {
	if t.effective == nil {
		c := e.config(t.configs)
		t.effective = &c
	}
	return *t.effective
}

// config makes the configs a topic lives by out of its own, those set while the broker ran, the flags' and the properties'.
func (e *Engine) config(own map[string]string) layout.TopicConfig {
	return layout.ParseTopicConfig(own, e.dynamic.Load().topic, e.o.Broker, e.broker.Topic)
}

// notice keeps a line for Notices.
func (e *Engine) notice(line string) {
	e.noticed.Lock()
	defer e.noticed.Unlock()
	if n := len(e.notices); slices.Contains(e.notices[max(0, n-noticesApart):], line) {
		return // as a full disk says every second
	} else if n < maxNotices {
		e.notices = append(e.notices, line)
	} else if n == maxNotices {
		e.notices = append(e.notices, "… and more")
	}
}

// Note keeps a line for Notices of something that has happened beside the engine.
func (e *Engine) Note(line string) { e.notice(line) }

const (
	maxNotices = 1000
	// noticesApart is how many other lines must lie between two that are the same.
	noticesApart = 16
)

// Notices returns what recovery and the background have done or found that nobody asked for, oldest first.
func (e *Engine) Notices() []string {
	e.noticed.Lock()
	defer e.noticed.Unlock()
	return slices.Clone(e.notices)
}

// Dirs returns the data directories, absolute.
func (e *Engine) Dirs() []string {
	var paths []string
	for _, d := range e.dirs {
		paths = append(paths, d.path)
	}
	return paths
}

// ClusterID returns the id of the cluster of one, which the data directory keeps.
func (e *Engine) ClusterID() string { return e.dirs[0].meta.ClusterID }

// NodeID returns the id of the one node.
func (e *Engine) NodeID() int32 { return e.dirs[0].meta.NodeID }

// Close stops the background, flushes everything, writes the checkpoints and the mark of a clean stop, and lets the
// directories go. When something cannot be written, there is no mark, and the next Open recovers.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	e.stop()
	e.background.Wait()
	e.running.Lock()
	defer e.running.Unlock()
	e.ended.Wait()
	e.admin.Lock()
	defer e.admin.Unlock()
	var errs []error
	for _, l := range e.logs() {
		if err := l.Close(); err != nil {
			errs = append(errs, err)
		}
	}
	// The mark must not reach the disk before what it vouches for.
	errs = append(errs, e.checkpointAll(), e.syncDirs())
	err := errors.Join(errs...)
	if err == nil {
		for _, d := range e.dirs {
			path := filepath.Join(d.path, layout.CleanShutdownFile)
			err = errors.Join(err, partition.WriteFile(path, layout.AppendCleanShutdown(nil, layout.CleanShutdown{BrokerEpoch: -1}), nil), syncFolder(d.path))
		}
	}
	if err = errors.Join(err, e.unlock()); err != nil {
		return fmt.Errorf("close %s: %w", strings.Join(e.Dirs(), ", "), err)
	}
	return nil
}

// logs returns all logs.
func (e *Engine) logs() []*partition.Log {
	e.mu.RLock()
	defer e.mu.RUnlock()
	var all []*partition.Log
	for _, t := range e.topics {
		for _, l := range t.parts {
			if l != nil {
				all = append(all, l)
			}
		}
	}
	return all
}

func (e *Engine) unlock() error {
	var errs []error
	for _, d := range e.dirs {
		errs = append(errs, d.lock.release())
	}
	return errors.Join(errs...)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// SetAddress writes down in the lock where the engine can be reached.
func (e *Engine) SetAddress(address string) error {
	for _, d := range e.dirs {
		h := Holder{PID: os.Getpid(), Started: e.o.Now().UnixMilli(), Address: address}
		if err := d.lock.sign(h); err != nil {
			return err
		}
	}
	return nil
}
