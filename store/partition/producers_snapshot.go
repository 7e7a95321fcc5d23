package partition

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

func (l *Log) snapshotPath(offset int64) string {
	return filepath.Join(l.o.Dir, layout.FileName(offset, layout.KindSnapshot))
}

// takeSnapshot writes down the producers as they are at an offset. A log that has never seen a producer still gets one,
// as in Kafka, but for the empty log.
func (l *Log) takeSnapshot(offset int64) error {
	if offset == 0 || slices.Contains(l.snapshots, offset) {
		return nil
	}
	if err := WriteFile(l.snapshotPath(offset), layout.AppendSnapshot(nil, l.producers.entries()), l.o.OpenFile); err != nil {
		return fmt.Errorf("snapshot of producers of %s at %d: %w", l.o.TP, offset, err)
	}
	l.snapshots = append(l.snapshots, offset)
	slices.Sort(l.snapshots)
	return nil
}

// dropStraySnapshots removes the snapshots that belong to no segment, but for the newest of all.
func (l *Log) dropStraySnapshots() error {
	var kept []int64
	for i, o := range l.snapshots {
		if i == len(l.snapshots)-1 || slices.ContainsFunc(l.segs, func(p piece) bool { return p.base == o }) {
			kept = append(kept, o)
			continue
		}
		if err := os.Remove(l.snapshotPath(o)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove snapshot of %s: %w", l.o.TP, err)
		}
	}
	l.snapshots = kept
	return nil
}

// loadProducers reads the newest snapshot at or below an offset and replays, by headers and markers, what was appended
// behind it. A snapshot that cannot be read is told, removed and made good by an older one.
func (l *Log) loadProducers(end int64) error {
	s := newProducers()
	from, err := l.readSnapshot(s, end)
	if err != nil {
		return err
	}
	s.expire(l.o.Now() - l.o.ProducerExpiry)
	l.producers = s
	if from >= end {
		return nil
	}
	for i := range l.segs {
		if i+1 < len(l.segs) && l.segs[i+1].base <= from {
			continue
		}
		if err := l.replay(l.segs[i].base, from, end); err != nil {
			return err
		}
	}
	return nil
}

// stableAtRest returns the last stable offset of a log that was stopped cleanly at end, without a look at the log itself:
// the snapshot of its producers that lies there says which transactions are open.
func (l *Log) stableAtRest(end int64) (int64, error) {
	if n := len(l.snapshots); n == 0 || l.snapshots[n-1] != end {
		return end, nil
	}
	s := newProducers()
	if _, err := l.readSnapshot(s, end); err != nil {
		return end, err
	}
	if first, open := s.firstOpen(); open {
		return min(first, end), nil
	}
	return end, nil
}

// HighestProducer returns the highest producer id that the log remembers, -1 for none. A log that was not written to yet
// is asked by its newest snapshot only.
func (l *Log) HighestProducer() (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.list(); err != nil {
		return -1, err
	}
	s := l.producers
	if s == nil {
		s = newProducers()
		if _, err := l.readSnapshot(s, l.end()); err != nil {
			return -1, err
		}
	}
	highest := int64(-1)
	for id := range s.known {
		highest = max(highest, id)
	}
	return highest, nil
}

// readSnapshot fills s from the newest good snapshot at or below an offset, and says which that was; the log start
// where there is none.
func (l *Log) readSnapshot(s *producers, end int64) (from int64, err error) {
	for i := len(l.snapshots) - 1; i >= 0; i-- {
		offset := l.snapshots[i]
		if offset > end {
			continue
		}
		path := l.snapshotPath(offset)
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("read snapshot: %w", err)
		}
		list, err := layout.ParseSnapshot(b)
		if err == nil {
			s.adopt(list)
			return offset, nil
		}
		l.notice(fmt.Sprintf("%s: %v; it is removed, producers are found out from the log", path, err))
		if err := l.forgetSnapshots(func(o int64) bool { return o == offset }); err != nil {
			return 0, err
		}
	}
	return l.segs[0].base, nil
}

// replay tells the producers of a segment's batches in [from, end).
func (l *Log) replay(base, from, end int64) error {
	path := filepath.Join(l.o.Dir, layout.FileName(base, layout.KindLog))
	var rerr error
	err := segment.WalkHeaders(path, segment.FloorOf(l.o.Dir, base, from), func(h record.Header, pos int64) bool {
		if h.LastOffset() < from {
			return true
		}
		if h.BaseOffset >= end {
			return false
		}
		var batch []byte
		if h.Control() {
			if batch, rerr = readAt(path, pos, h.Size()); rerr != nil {
				return false
			}
		}
		l.replayBatch(h, batch)
		return true
	})
	if err = errors.Join(err, rerr); err != nil {
		return fmt.Errorf("find out producers of %s: %w", l.o.TP, err)
	}
	return nil
}

// replayBatch tells the producers of a batch that is in the log; what its checks would say does not matter any more.
// It returns the transaction that it aborted.
func (l *Log) replayBatch(h record.Header, batch []byte) (aborts []segment.AbortedTxn) {
	if !h.Control() {
		l.producers.stage(h)
		l.producers.commit()
		return nil
	}
	end, err := l.producers.stageMarker(h, batch)
	if err != nil {
		l.producers.discard()
		return nil
	}
	if end.aborted {
		aborts = []segment.AbortedTxn{{Producer: h.ProducerID, First: end.first, Last: h.LastOffset(), Stable: l.producers.stableAfter(h.ProducerID, h.NextOffset())}}
	}
	l.producers.commit()
	return aborts
}

func readAt(path string, pos, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, n)
	if _, err := f.ReadAt(b, pos); err != nil {
		return nil, fmt.Errorf("read %s at byte %d: %w", path, pos, err)
	}
	return b, nil
}
