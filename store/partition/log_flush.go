package partition

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/segment"
)

// Flush makes everything that was appended before the call survive a power loss, and moves the recovery point. Many
// who call it at once share one flush. Appends go on meanwhile.
func (l *Log) Flush() error {
	l.mu.Lock()
	b := l.known.Load()
	l.mu.Unlock()
	if b == nil {
		return nil // nothing was written since the last clean stop
	}
	return l.flushTo(b.End, true)
}

// flushTo flushes what lies below an offset: all of it, or as much as recovery needs to make the rest again. That is not
// the active segment's indexes, whose flush costs as much as that of the records.
func (l *Log) flushTo(offset int64, whole bool) error {
	done := func() bool { return l.point.Load() >= offset && !(whole && l.indexesLate.Load()) }
	if done() {
		return nil
	}
	l.flushing.Lock()
	defer l.flushing.Unlock()
	if done() {
		return nil // another one's flush took ours along
	}
	l.mu.Lock()
	list, active, end, folder := slices.Clone(l.unsynced), l.active, l.end(), l.newFiles
	l.newFiles = false
	l.mu.Unlock()
	if active != nil {
		list = append(list, active)
	}
	if active == nil || whole {
		l.indexesLate.Store(false)
		return l.flush(list, active, end, folder)
	}
	l.indexesLate.Store(true)
	return l.flush(list, active, end, folder)
}

// flushClosed flushes the segments below a base offset, after a roll.
func (l *Log) flushClosed(base int64) error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	var list []*segment.Segment
	for _, s := range l.unsynced {
		if s.Base() < base {
			list = append(list, s)
		}
	}
	folder := l.newFiles
	l.newFiles = false
	l.mu.Unlock()
	return l.flush(list, nil, base, folder)
}

// flush writes out the segments and the folder, after which end is the recovery point. Once it has failed, it fails for
// good: the system may have dropped what it could not write, and say of the next try that all is well. The recovery
// point stays, there will be no clean stop, and the next start checks from it on.
func (l *Log) flush(list []*segment.Segment, active *segment.Segment, end int64, folder bool) error {
	if err := l.unsafe.Load(); err != nil {
		return fmt.Errorf("an earlier flush failed, nothing since offset %d is known to be on the disk: %w", l.point.Load(), *err)
	}
	err := l.sync(list, active, folder)
	if l.isClosed() {
		return nil // its topic is deleted: there is nothing left to be kept
	}
	if err != nil {
		err = fmt.Errorf("flush %s: %w", l.o.TP, err)
		l.unsafe.Store(&err)
		return err
	}
	l.mu.Lock()
	l.unsynced = slices.DeleteFunc(l.unsynced, func(s *segment.Segment) bool { return s != active && slices.Contains(list, s) })
	l.mu.Unlock()
	if end > l.point.Load() {
		l.point.Store(end)
	}
	l.flushedAt.Store(l.o.Now())
	return nil
}

func (l *Log) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

func (l *Log) sync(list []*segment.Segment, active *segment.Segment, folder bool) error {
	for _, s := range list {
		sync := s.Sync
		if s == active && l.indexesLate.Load() {
			sync = s.SyncRecords
		}
		if err := sync(); err != nil {
			return err
		}
	}
	if folder {
		return SyncDir(l.o.Dir)
	}
	return nil
}

// FlushDue flushes when flush.ms asks for it.
func (l *Log) FlushDue() error {
	ms := l.cfg.Load().FlushMS
	b := l.known.Load()
	if ms == layout.Unlimited || b == nil || b.End <= l.point.Load() || l.o.Now()-l.flushedAt.Load() < ms {
		return nil
	}
	return l.Flush()
}

// SyncDir makes the names in a folder survive a power loss, where the system can do that.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(ignoreUnsupported(f.Sync()), f.Close())
}

// removeSegment removes the files of a segment that was never told of.
func removeSegment(dir string, base int64) {
	for _, kind := range []string{layout.KindLog, layout.KindIndex, layout.KindTimeIndex, layout.KindTxnIndex} {
		_ = os.Remove(filepath.Join(dir, layout.FileName(base, kind)))
	}
}

// settle puts in order what a crash left in the folder: .deleted files go, an unfinished compaction's output (.cleaned)
// goes, and a finished one's (.swap) takes the place of the segments it covers.
func (l *Log) settle() error {
	entries, err := os.ReadDir(l.o.Dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", l.o.TP, err)
	}
	var swaps, cleaned, deleted []layout.File
	smallest := int64(math.MaxInt64)
	for _, e := range entries {
		f, ok := layout.ParseFileName(e.Name())
		if !ok || f.Kind == layout.KindCheckpoint {
			continue
		}
		switch f.Suffix {
		case layout.SuffixCleaned:
			cleaned, smallest = append(cleaned, f), min(smallest, f.Base)
		case layout.SuffixSwap:
			swaps = append(swaps, f)
		case layout.SuffixDeleted:
			deleted = append(deleted, f)
		}
	}
	// The half-done swaps are known by the .cleaned files that are left, so these go after them.
	half := slices.Clone(swaps)
	half = slices.DeleteFunc(half, func(f layout.File) bool { return f.Base < smallest })
	swaps = slices.DeleteFunc(swaps, func(f layout.File) bool { return f.Base >= smallest })
	for _, list := range [][]layout.File{half, cleaned, deleted} {
		if err := l.dropFiles(list); err != nil {
			return err
		}
	}
	if n := len(cleaned) + len(half); n > 0 {
		l.notice(fmt.Sprintf("%s: removed %d files of a compaction that did not finish", l.o.TP, n))
	}
	if len(deleted) > 0 {
		l.notice(fmt.Sprintf("%s: removed %d .deleted files", l.o.TP, len(deleted)))
	}
	return l.swapIn(swaps)
}

func (l *Log) dropFiles(list []layout.File) error {
	for _, f := range list {
		if err := os.Remove(filepath.Join(l.o.Dir, f.String())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("tidy %s: %w", l.o.TP, err)
		}
	}
	return nil
}

// swapIn finishes the compactions whose output lies under .swap. A .log loses the suffix before its indexes do, so an
// index that has it alone belongs to a .log which is in its place already.
func (l *Log) swapIn(swaps []layout.File) error {
	var logs, indexes []layout.File
	for _, f := range swaps {
		if f.Kind == layout.KindLog {
			logs = append(logs, f)
		} else {
			indexes = append(indexes, f)
		}
	}
	for _, f := range logs {
		next, err := segment.EndOf(filepath.Join(l.o.Dir, f.String()), f.Base)
		if err != nil {
			return fmt.Errorf("tidy %s: %w", l.o.TP, err)
		}
		if err := l.dropCovered(f.Base, next); err != nil {
			return err
		}
		l.notice(fmt.Sprintf("%s: finished the compaction of offsets %d to %d", l.o.TP, f.Base, next-1))
	}
	for _, f := range slices.Concat(logs, indexes) {
		if err := os.Rename(filepath.Join(l.o.Dir, f.String()), filepath.Join(l.o.Dir, layout.FileName(f.Base, f.Kind))); err != nil {
			return fmt.Errorf("tidy %s: %w", l.o.TP, err)
		}
	}
	return nil
}

// dropCovered removes the segments whose base lies in [base, next): the .swap one has their records.
func (l *Log) dropCovered(base, next int64) error {
	entries, err := os.ReadDir(l.o.Dir)
	if err != nil {
		return fmt.Errorf("tidy %s: %w", l.o.TP, err)
	}
	for _, e := range entries {
		f, ok := layout.ParseFileName(e.Name())
		if !ok || f.Suffix != "" || f.Kind == layout.KindSnapshot || f.Base < base || f.Base >= max(next, base+1) {
			continue
		}
		if err := os.Remove(filepath.Join(l.o.Dir, e.Name())); err != nil {
			return fmt.Errorf("tidy %s: %w", l.o.TP, err)
		}
	}
	return nil
}

// CheckDelete says where DeleteRecords would move the log start, or why it would not.
func (l *Log) CheckDelete(before int64) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.checkDelete(before)
}

func (l *Log) checkDelete(before int64) (int64, error) {
	if err := l.list(); err != nil {
		return 0, err
	}
	if c := l.cfg.Load(); !c.Delete {
		return 0, fmt.Errorf("delete records of %s: %w: its cleanup.policy has no delete", l.o.TP, model.ErrRefused)
	}
	b := *l.known.Load()
	if before == model.FromEnd {
		before = b.HighWatermark
	}
	if before < 0 || before > b.HighWatermark {
		return 0, fmt.Errorf("delete records of %s before %d: %w: it reaches from %d to %d", l.o.TP, before, model.ErrOutOfRange, b.Start, b.HighWatermark)
	}
	return max(before, b.Start), nil
}

// DeleteRecords moves the log start offset up to before; model.FromEnd means the high watermark. Whole segments below
// it go with the next Retain. It returns the new log start offset. Errors wrap model.ErrRefused where the cleanup
// policy has no delete, and model.ErrOutOfRange.
func (l *Log) DeleteRecords(before int64) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, err := l.checkDelete(before)
	if err != nil || before == l.known.Load().Start {
		return before, err
	}
	if err := l.trimEpochs(before); err != nil {
		return 0, err
	}
	l.publishStart(before)
	return before, nil
}
