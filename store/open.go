package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

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
		if e.has(abs) {
			return fmt.Errorf("open %s: %w: it is named twice among the data directories", abs, model.ErrInvalid)
		}
		d := &logDir{path: abs}
		if sign := foreign(abs); sign != "" && !e.o.AllowKafka {
			return fmt.Errorf("open %s: %w: it is a Kafka broker's (%s), and nothing was changed; give it as a source, to read it", abs, model.ErrRefused, sign)
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
	if err := e.settle(); err != nil {
		return err
	}
	for _, d := range e.dirs {
		if err := e.load(d); err != nil {
			return fmt.Errorf("open %s: %w", d.path, err)
		}
	}
	if err := e.keepForever(); err != nil {
		return err
	}
	if err := e.recover(); err != nil {
		return err
	}
	return e.dropStale()
}

// has reports whether a directory is open already, under whatever name.
func (e *Engine) has(dir string) bool {
	st, err := os.Stat(dir)
	return err == nil && slices.ContainsFunc(e.dirs, func(d *logDir) bool {
		other, err := os.Stat(d.path)
		return err == nil && os.SameFile(st, other)
	})
}

// forever is what a topic is given whose own configs were lost: nothing of it is deleted until someone says so.
func forever() map[string]string {
	return map[string]string{"retention.ms": "-1", "retention.bytes": "-1"}
}

// keepForever saves what adopt has given to topics whose configs were lost, and tells. It is one step: were it cut short,
// the topics not yet saved would fall under the defaults at the next start.
func (e *Engine) keepForever() error {
	if !e.keeper.Lost() {
		return nil
	}
	all := map[string]map[string]string{}
	for name, t := range e.topics {
		if len(t.parts) > 0 {
			all[name], e.saved[name] = t.configs, true
		}
	}
	if err := e.keeper.Replace(all); err != nil {
		return fmt.Errorf("keep topics whose configs were lost: %w", err)
	}
	if n := len(all); n > 0 {
		e.notice(fmt.Sprintf("the configs of %d topics were lost: they have retention.ms=-1 and retention.bytes=-1 now, so that nothing is deleted; set them anew", n))
	}
	return nil
}

// foreign returns what in a directory says that a Kafka broker keeps its logs there, or "". Ours have the mark of KRaft
// (meta.properties of version 1) but none of Kafka's own topics; a broker of the ZooKeeper age has another mark, and a
// folder of logs without any is somebody's copy. Of a directory with our mark no folder is looked into.
func foreign(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "" // the lock says why it cannot be used
	}
	m, marked, err := readMeta(filepath.Join(dir, layout.MetaFile))
	for _, entry := range entries {
		d, ok := layout.ParseDirName(entry.Name())
		switch {
		case !ok || !entry.IsDir():
		case layout.Internal(d.TP.Topic):
			return entry.Name()
		case err == nil && !marked && holdsLog(filepath.Join(dir, entry.Name())):
			return entry.Name() + " without a " + layout.MetaFile
		}
	}
	if err == nil && marked && m.Version != 1 {
		return fmt.Sprintf("%s of version %d", layout.MetaFile, m.Version)
	}
	return "" // damage is told where it is read
}

// holdsLog reports whether a folder has a segment's .log in it.
func holdsLog(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		f, ok := layout.ParseFileName(e.Name())
		return ok && f.Kind == layout.KindLog
	})
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
	kept := &dynamic{groups: map[string]map[string]string{}}
	for name, configs := range all {
		e.saved[name] = true
		if e.takeDynamic(kept, name, configs) {
			continue
		}
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
	e.dynamic.Store(kept.settle())
	return nil
}

// load finds the partitions of a directory, by its folders' names.
func (e *Engine) load(d *logDir) error {
	mark := filepath.Join(d.path, layout.CleanShutdownFile)
	marked := exists(mark)
	d.clean = marked
	var err error
	if d.points, err = e.readOffsets(d, layout.RecoveryPointFile); err != nil {
		return err
	}
	if d.starts, err = e.readOffsets(d, layout.LogStartFile); err != nil {
		return err
	}
	if d.cleaned, err = e.readCleaned(d); err != nil {
		return err
	}
	if marked {
		// A crash from now on is a stop that was not clean, whatever the one before was taken for.
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
			if dir.TP.Partition >= maxPartitions {
				e.notice(fmt.Sprintf("%s is left alone: no topic here has so many partitions", filepath.Join(d.path, name)))
				continue
			}
			e.adopt(d, dir.TP)
		case model.Deleting:
			e.trash.add(filepath.Join(d.path, name), layout.After(e.nowMS(), e.config(nil).FileDeleteDelayMS))
		}
	}
	return nil
}

// dropStale writes the checkpoints anew where they have lines of partitions that are gone, as a crash within DeleteTopic
// leaves them: to a partition that is made under such a name later, and not stopped cleanly, they would mean that its
// records lie below the log start. What was read of them is not needed any more.
func (e *Engine) dropStale() error {
	gone := func(lines map[model.TopicPartition]int64) bool {
		for tp := range lines {
			if t := e.topics[tp.Topic]; t == nil || int(tp.Partition) >= len(t.parts) || t.parts[tp.Partition] == nil {
				return true
			}
		}
		return false
	}
	stale := false
	for _, d := range e.dirs {
		stale = stale || gone(d.points) || gone(d.starts) || gone(d.cleaned)
		d.points, d.starts, d.cleaned = nil, nil, nil // the logs know them
	}
	if !stale {
		return nil
	}
	return errors.Join(e.checkpoint(recoveryPoints), e.checkpoint(logStarts), e.checkpoint(cleanedOffsets), e.syncDirs())
}

// readCleaned reads how far the logs are compacted. When that cannot be read, they are compacted from their starts on.
func (e *Engine) readCleaned(d *logDir) (map[model.TopicPartition]int64, error) {
	was := d.clean
	m, err := e.readOffsets(d, layout.CleanerFile)
	d.clean = was
	return m, err
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
func (e *Engine) adopt(d *logDir, tp model.TopicPartition) {
	t := e.topics[tp.Topic]
	if t == nil {
		t = &topic{name: tp.Topic}
		if e.keeper.Lost() {
			t.configs = forever()
		}
		e.topics[tp.Topic] = t
	}
	if n := int(tp.Partition) + 1; n > len(t.parts) {
		t.parts = append(t.parts, make([]*partition.Log, n-len(t.parts))...)
	}
	if old := t.parts[tp.Partition]; old != nil {
		e.notice(fmt.Sprintf("%s lies in two directories; %s counts, %s is left alone", tp, old.Dir(), filepath.Join(d.path, layout.DirName(tp))))
		return
	}
	o := e.logOptions(d, t, tp)
	point, known := d.points[tp]
	o.Point, o.Start, o.Cleaned = point, d.starts[tp], d.cleaned[tp]
	o.Clean = d.clean && known
	t.parts[tp.Partition] = partition.OpenLog(o)
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
		Handles:        e.readers,
		Notice:         e.notice,
	}
}

// recover checks the logs that were not stopped cleanly, forgets topics that have configs but no folder, and tells of
// those that lack some.
func (e *Engine) recover() error {
	var todo []*partition.Log
	for _, name := range e.names() {
		t := e.topics[name]
		if len(t.parts) == 0 {
			delete(e.topics, name)
			continue
		}
		missing := 0
		for _, l := range t.parts {
			if l == nil {
				missing++
			} else if !l.Clean() {
				todo = append(todo, l)
			}
		}
		if missing > 0 {
			e.notice(fmt.Sprintf("topic %s: the folders of %d of its %d partitions are missing, as when its deletion was cut short; delete it anew, or put them back", name, missing, len(t.parts)))
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
