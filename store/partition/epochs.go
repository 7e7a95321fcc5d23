package partition

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/segment"
)

// Epochs returns the leader epochs with the offsets at which they began.
func (l *Log) Epochs() ([]layout.Epoch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.list(); err != nil {
		return nil, err
	}
	if err := l.loadEpochs(); err != nil {
		return nil, err
	}
	return slices.Clone(l.epochs), nil
}

// LeaderEpoch returns the leader epoch of this run, which is that of all appends: one more than the last run's. It has its
// line in the checkpoint from the first append on, and in a new log from the beginning.
func (l *Log) LeaderEpoch() (int32, error) {
	if e := l.leader.Load(); e > 0 {
		return int32(e - 1), nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return -1, fmt.Errorf("%s: %w", l.o.TP, model.ErrClosed)
	}
	if err := l.loadEpochs(); err != nil {
		return -1, err
	}
	return l.leads(), nil
}

// leads settles the leader epoch of this run.
func (l *Log) leads() int32 {
	e := l.leader.Load()
	if e == 0 {
		e = 1
		if n := len(l.epochs); n > 0 {
			e = int64(l.epochs[n-1].Epoch) + 1
			if !l.stamped {
				e++
			}
		}
		l.leader.Store(e)
	}
	return int32(e - 1)
}

// loadEpochs reads the checkpoint once. What cannot be read of it is told, and made good by the next line written.
func (l *Log) loadEpochs() error {
	if l.epochs != nil {
		return nil
	}
	path := filepath.Join(l.o.Dir, layout.EpochsFile)
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read leader epochs: %w", err)
	}
	epochs, err := layout.ParseEpochs(b)
	if err != nil {
		l.notice(fmt.Sprintf("%s: %v", path, err))
	}
	l.epochs = slices.Clone(epochs)
	if l.epochs == nil {
		l.epochs = []layout.Epoch{}
	}
	return nil
}

// stamp begins the leader epoch of this run before its first append: one more than the last, from the log's end on. A
// lone Kafka broker raises the epoch at every start, whether it is written to or not; here a log that is only looked
// at keeps its files as they are.
func (l *Log) stamp() error {
	if l.stamped {
		return nil
	}
	next := l.leads()
	epochs := slices.Clone(l.epochs)
	end := l.end()
	for len(epochs) > 0 && epochs[len(epochs)-1].Start >= end {
		epochs = epochs[:len(epochs)-1] // an epoch without a record
	}
	epochs = append(epochs, layout.Epoch{Epoch: next, Start: end})
	if err := l.writeEpochs(epochs); err != nil {
		return err
	}
	l.epochs, l.stamped = epochs, true
	return nil
}

// assignEpoch notes, during recovery, that a batch of an epoch begins at an offset.
func (l *Log) assignEpoch(epoch int32, offset int64) (changed bool) {
	if epoch < 0 || len(l.epochs) > 0 && l.epochs[len(l.epochs)-1].Epoch >= epoch {
		return false
	}
	l.epochs = append(l.epochs, layout.Epoch{Epoch: epoch, Start: offset})
	return true
}

// cutEpochs forgets, during recovery, the epochs that begin behind the log's end.
func (l *Log) cutEpochs(end int64) (changed bool) {
	n := len(l.epochs)
	l.epochs = slices.DeleteFunc(l.epochs, func(e layout.Epoch) bool { return e.Start > end })
	return len(l.epochs) != n
}

// trimEpochs moves the epoch that covers a new log start up to it, and drops those before. That they cannot be written
// down is told, and made good later: lines of before the log start mislead nobody, and on a full disk it must still be
// possible to delete.
func (l *Log) trimEpochs(start int64) error {
	if err := l.loadEpochs(); err != nil {
		return err
	}
	covering := -1
	for i, e := range l.epochs {
		if e.Start <= start {
			covering = i
		}
	}
	if covering < 0 || covering == 0 && l.epochs[0].Start == start {
		return nil
	}
	epochs := slices.Clone(l.epochs[covering:])
	epochs[0].Start = start
	l.epochs, l.epochsLate = epochs, true
	if err := l.catchUpEpochs(); err != nil {
		l.notice(err.Error())
	}
	return nil
}

// catchUpEpochs writes down the epochs that were trimmed when they could not be written.
func (l *Log) catchUpEpochs() error {
	if !l.epochsLate {
		return nil
	}
	err := l.writeEpochs(l.epochs)
	l.epochsLate = err != nil
	return err
}

func (l *Log) writeEpochs(epochs []layout.Epoch) error {
	path := filepath.Join(l.o.Dir, layout.EpochsFile)
	if err := WriteFile(path, layout.AppendEpochs(nil, epochs), l.o.OpenFile); err != nil {
		return fmt.Errorf("write leader epochs of %s: %w", l.o.TP, err)
	}
	return nil
}

// WriteFile replaces a small file in one step: path.tmp is written, flushed and renamed. open is how it is opened; nil
// means os.OpenFile. When it fails, the old file is still there.
func WriteFile(path string, b []byte, open func(string) (segment.AppendFile, error)) error {
	tmp := path + "." + layout.SuffixTmp
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if open == nil {
		open = func(path string) (segment.AppendFile, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644) }
	}
	f, err := open(tmp)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}
