package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// point is one of the checkpoints of a directory: its file, and what it says of a log, if anything.
type point struct {
	file string
	of   func(*partition.Log) (int64, bool)
	// rare says that there is no file while nothing is to be said.
	rare bool
}

var (
	// They are never changed.
	recoveryPoints = point{file: layout.RecoveryPointFile, of: func(l *partition.Log) (int64, bool) { return l.RecoveryPoint(), true }}
	logStarts      = point{file: layout.LogStartFile, of: (*partition.Log).StartLine}
	cleanedOffsets = point{file: layout.CleanerFile, of: (*partition.Log).CleanedLine, rare: true}
	highWatermarks = point{file: layout.HighWatermarkFile, of: func(l *partition.Log) (int64, bool) { return l.HighWatermark(), true }}
)

// checkpoint writes one of the checkpoints of every directory, where it says something new. The file is replaced in one
// step; when that fails, or the power does before syncDirs, the old one is still there and true, only older.
func (e *Engine) checkpoint(p point) error {
	e.points.Lock()
	defer e.points.Unlock()
	lines := map[string][]layout.OffsetLine{}
	for _, l := range e.logs() {
		dir := filepath.Dir(l.Dir())
		if offset, ok := p.of(l); ok {
			lines[dir] = append(lines[dir], layout.OffsetLine{TP: l.TP(), Offset: offset})
		}
	}
	var errs []error
	for _, d := range e.dirs {
		list := lines[d.path]
		slices.SortFunc(list, func(a, b layout.OffsetLine) int { return a.TP.Compare(b.TP) })
		path := filepath.Join(d.path, p.file)
		if p.rare && len(list) == 0 && !exists(path) {
			continue
		}
		b := layout.AppendOffsets(nil, list)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b) {
			continue
		}
		if err := partition.WriteFile(path, b, nil); err != nil {
			errs = append(errs, fmt.Errorf("write %s: %w", path, err))
		}
	}
	return errors.Join(errs...)
}

func (e *Engine) checkpointAll() error {
	return errors.Join(e.checkpoint(recoveryPoints), e.checkpoint(logStarts), e.checkpoint(highWatermarks), e.checkpoint(cleanedOffsets))
}

// syncDirs makes the names in the directories survive a power loss.
func (e *Engine) syncDirs() error {
	var errs []error
	for _, d := range e.dirs {
		errs = append(errs, syncFolder(d.path))
	}
	return errors.Join(errs...)
}

// syncFolder makes the names in a folder survive a power loss, where the system can do that.
func syncFolder(dir string) error { return partition.SyncDir(dir) }
