package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

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
	o      Options
	broker layout.Broker
	dirs   []*logDir
	keeper ConfigStore

	mu     sync.RWMutex // guards topics and what is in them, closed
	topics map[string]*topic
	closed bool

	running sync.RWMutex // read-held by what must end before Close goes on
	admin   sync.Mutex   // one change of topics at a time
	noticed sync.Mutex
	notices []string

	writers    writers
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
	path   string
	lock   *dirLock
	meta   layout.Meta
	clean  bool
	points map[model.TopicPartition]int64 // recovery points, as read
	starts map[model.TopicPartition]int64 // log start offsets, as read
}

// topic is a topic with its logs.
type topic struct {
	name    string
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
	e := &Engine{o: o, broker: broker, notices: notices, topics: map[string]*topic{},
		later: make(chan func(), laterRoom), kick: make(chan string, kickRoom)}
	e.writers.room = o.Writers
	if err := e.open(dirs); err != nil {
		return nil, errors.Join(err, e.unlock())
	}
	e.start()
	return e, nil
}

func (e *Engine) open(dirs []string) error {
	me := Holder{PID: os.Getpid(), Started: e.o.Now().UnixMilli(), Address: e.o.Address}
	for _, path := range dirs {
		abs, err := filepath.Abs(path)
		if err != nil {
			return fmt.Errorf("open %s: %w", path, err)
		}
		if err := os.MkdirAll(abs, 0o755); err != nil {
			return fmt.Errorf("open data directory: %w", err)
		}
		d := &logDir{path: abs}
		if !e.o.AllowKafka && exists(filepath.Join(abs, layout.DirName(model.TopicPartition{Topic: layout.MetadataTopic}))) {
			return fmt.Errorf("open %s: %w: it belongs to a Kafka broker; give it as a source, to read it", abs, model.ErrRefused)
		}
		if d.lock, err = lockDir(abs, me); err != nil {
			return err
		}
		e.dirs = append(e.dirs, d)
	}
	if err := e.identify(); err != nil {
		return err
	}
	if err := e.openConfigs(); err != nil {
		return err
	}
	for _, d := range e.dirs {
		if err := e.load(d); err != nil {
			return fmt.Errorf("open %s: %w", d.path, err)
		}
	}
	return e.recover()
}

// identify reads who the directories belong to, or says so where they are new. All belong to one node and cluster.
func (e *Engine) identify() error {
	node, cluster := e.o.NodeID, e.o.ClusterID
	for _, d := range e.dirs {
		m, ok, err := readMeta(filepath.Join(d.path, layout.MetaFile))
		switch {
		case err != nil:
			return err
		case !ok:
			continue
		}
		if cluster != "" && m.ClusterID != "" && cluster != m.ClusterID {
			return fmt.Errorf("open %s: %w: it belongs to cluster %s, not %s", d.path, model.ErrRefused, m.ClusterID, cluster)
		}
		d.meta, node = m, m.NodeID
		if m.ClusterID != "" {
			cluster = m.ClusterID
		}
	}
	if cluster == "" {
		cluster = layout.NewID().String()
	}
	for _, d := range e.dirs {
		if d.meta.DirectoryID != "" && d.meta.ClusterID != "" && d.meta.Version == 1 {
			continue
		}
		d.meta = layout.Meta{Version: 1, NodeID: node, ClusterID: cluster, DirectoryID: layout.NewID().String()}
		path := filepath.Join(d.path, layout.MetaFile)
		if err := partition.WriteFile(path, layout.AppendMeta(nil, d.meta, e.o.Now().UTC()), nil); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}

// openConfigs loads the topics' own configs. Those of topics that are gone stay where they are.
func (e *Engine) openConfigs() error {
	e.keeper = e.o.Configs
	if e.o.OpenConfigs != nil {
		var err error
		if e.keeper, err = e.o.OpenConfigs(); err != nil {
			return fmt.Errorf("open topic configs: %w", err)
		}
	}
	if e.keeper == nil {
		e.keeper = memoryConfigs{}
	}
	all, err := e.keeper.Load()
	if err != nil {
		return fmt.Errorf("load topic configs: %w", err)
	}
	for name, configs := range all {
		own := map[string]string{}
		for _, key := range slices.Sorted(maps.Keys(configs)) {
			if err := layout.ValidateConfig(key, configs[key]); err != nil {
				e.notice(fmt.Sprintf("topic %s: %v; it counts as not set", name, err))
				continue
			}
			own[key] = configs[key]
		}
		e.topics[name] = &topic{name: name, configs: own}
	}
	return nil
}

// load finds the partitions of a directory, by its folders' names.
func (e *Engine) load(d *logDir) error {
	mark := filepath.Join(d.path, layout.CleanShutdownFile)
	d.clean = exists(mark)
	var err error
	if d.points, err = e.readOffsets(d, layout.RecoveryPointFile); err != nil {
		return err
	}
	if d.starts, err = e.readOffsets(d, layout.LogStartFile); err != nil {
		return err
	}
	if d.clean {
		// A crash from now on is a stop that was not clean.
		if err := os.Remove(mark); err != nil {
			return err
		}
		if err := syncFolder(d.path); err != nil {
			return err
		}
	}
	f, err := os.Open(d.path)
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		dir, ok := layout.ParseDirName(name)
		if !ok || dir.TP.Topic == layout.MetadataTopic {
			continue
		}
		switch dir.State {
		case model.Live:
			if err := e.adopt(d, dir.TP); err != nil {
				return err
			}
		case model.Deleting:
			e.trash.add(filepath.Join(d.path, name), e.o.Now().UnixMilli()+e.config(nil).FileDeleteDelayMS)
		}
	}
	return nil
}

// readOffsets reads a checkpoint. One that cannot be read counts as empty, as in Kafka, and is told.
func (e *Engine) readOffsets(d *logDir, name string) (map[model.TopicPartition]int64, error) {
	path := filepath.Join(d.path, name)
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lines, err := layout.ParseOffsets(b)
	if err != nil {
		e.notice(fmt.Sprintf("%s: %v; it counts as empty, all logs there are checked", path, err))
		lines, d.clean = nil, false
	}
	m := make(map[model.TopicPartition]int64, len(lines))
	for _, l := range lines {
		m[l.TP] = l.Offset
	}
	return m, nil
}

// adopt takes a partition's folder into its topic.
func (e *Engine) adopt(d *logDir, tp model.TopicPartition) error {
	t := e.topics[tp.Topic]
	if t == nil {
		t = &topic{name: tp.Topic}
		e.topics[tp.Topic] = t
	}
	if n := int(tp.Partition) + 1; n > len(t.parts) {
		t.parts = append(t.parts, make([]*partition.Log, n-len(t.parts))...)
	}
	if old := t.parts[tp.Partition]; old != nil {
		e.notice(fmt.Sprintf("%s lies in two directories; %s counts, %s is left alone", tp, old.Dir(), filepath.Join(d.path, layout.DirName(tp))))
		return nil
	}
	o := e.logOptions(d, t, tp)
	point, known := d.points[tp]
	o.Point, o.Start = point, d.starts[tp]
	o.Clean = d.clean && known
	t.parts[tp.Partition] = partition.OpenLog(o)
	return nil
}

func (e *Engine) logOptions(d *logDir, t *topic, tp model.TopicPartition) partition.LogOptions {
	return partition.LogOptions{
		Dir:            filepath.Join(d.path, layout.DirName(tp)),
		TP:             tp,
		Config:         e.effective(t),
		Now:            e.nowMS,
		OpenFile:       e.o.OpenFile,
		ProducerExpiry: e.broker.ProducerExpiryMS,
		Later:          e.doLater,
		Opened:         e.writers.opened,
		Deleted:        e.trash.addAll,
		Notice:         e.notice,
	}
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

// config makes the configs a topic lives by out of its own, the flags' and the properties'.
func (e *Engine) config(own map[string]string) layout.TopicConfig {
	return layout.ParseTopicConfig(own, e.o.Broker, e.broker.Topic)
}

// recover checks the logs that were not stopped cleanly, and forgets topics that have configs but no folder.
func (e *Engine) recover() error {
	var todo []*partition.Log
	for name, t := range e.topics {
		if len(t.parts) == 0 {
			delete(e.topics, name)
			continue
		}
		for _, l := range t.parts {
			if l != nil && !l.Clean() {
				todo = append(todo, l)
			}
		}
	}
	slices.SortFunc(todo, func(a, b *partition.Log) int { return a.TP().Compare(b.TP()) })
	found := make([][]string, len(todo))
	failed := make([]error, len(todo))
	next := make(chan int)
	var wg sync.WaitGroup
	for range recoverers(e.broker) {
		wg.Go(func() {
			for i := range next {
				cuts, err := todo[i].Recover()
				for _, c := range cuts {
					found[i] = append(found[i], c.String())
				}
				failed[i] = err
			}
		})
	}
	for i := range todo {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, lines := range found {
		for _, line := range lines {
			e.notice(line)
		}
	}
	return errors.Join(failed...)
}

// notice keeps a line for Notices.
func (e *Engine) notice(line string) {
	e.noticed.Lock()
	defer e.noticed.Unlock()
	if n := len(e.notices); n > 0 && e.notices[n-1] == line {
		return // as a full disk says every second
	} else if n < maxNotices {
		e.notices = append(e.notices, line)
	} else if n == maxNotices {
		e.notices = append(e.notices, "… and more")
	}
}

const maxNotices = 1000

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
	errs = append(errs, e.checkpointAll())
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
