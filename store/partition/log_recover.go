package partition

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// Recover checks, after a stop that was not clean, the segments from the one that holds the recovery point on, rebuilds
// their indexes and the producers' state, and cuts the log at the first batch past the recovery point that is not
// whole. Everything cut, removed, or found damaged and kept is returned.
func (l *Log) Recover() ([]segment.Cut, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.list(); err != nil {
		return nil, err
	}
	if err := l.loadEpochs(); err != nil {
		return nil, err
	}
	point := l.o.Point
	first := 0
	for i := range l.segs {
		if l.segs[i].base <= point {
			first = i
		}
	}
	l.producers = newProducers()
	from, err := l.readSnapshot(l.producers, l.segs[first].base)
	if err != nil {
		return nil, err
	}
	for i := 0; i < first; i++ {
		if l.segs[i+1].base <= from {
			continue
		}
		if err := l.replay(l.segs[i].base, from, l.segs[i+1].base); err != nil {
			return nil, err
		}
	}
	cuts, err := l.recoverFrom(first, point)
	if err != nil {
		return cuts, err
	}
	return cuts, l.finishRecovery(&cuts)
}

// recoverFrom recovers the segments from number first on.
func (l *Log) recoverFrom(first int, point int64) (cuts []segment.Cut, err error) {
	changed := false
	for i := first; i < len(l.segs); i++ {
		base := l.segs[i].base
		if i > first {
			// That it was read says nothing of the disk: what a killed process wrote may lie in the system's memory only.
			l.unsynced = append(l.unsynced, l.active)
			if err := l.snapshotAt(base); err != nil {
				return cuts, err
			}
		}
		r, err := segment.Recover(l.o.Dir, base, segment.RecoverOptions{Append: l.segmentOptions(), Point: point,
			Batch: func(h record.Header, batch []byte) ([]segment.AbortedTxn, error) {
				changed = l.assignEpoch(h.LeaderEpoch, h.BaseOffset) || changed
				return l.replayBatch(h, batch), nil
			}})
		cuts = append(cuts, r.Cuts...)
		if err != nil {
			return cuts, fmt.Errorf("recover %s: %w", l.o.TP, err)
		}
		l.active, l.sealed = r.Segment, r.Sealed
		l.segs[i].size = r.Segment.Size()
		if cut := wasCut(r.Cuts); cut && i+1 < len(l.segs) {
			more, err := l.dropFrom(i+1, "the segment before it was cut")
			cuts = append(cuts, more...)
			if err != nil {
				return cuts, err
			}
		}
	}
	changed = l.cutEpochs(l.active.Next()) || changed
	if changed {
		return cuts, l.writeEpochs(l.epochs)
	}
	return cuts, nil
}

func wasCut(cuts []segment.Cut) bool {
	for _, c := range cuts {
		if !c.Kept {
			return true
		}
	}
	return false
}

// snapshotAt replaces the snapshot of a segment's base by what recovery has found out.
func (l *Log) snapshotAt(offset int64) error {
	if err := l.forgetSnapshots(func(o int64) bool { return o == offset }); err != nil {
		return err
	}
	return l.takeSnapshot(offset)
}

func (l *Log) forgetSnapshots(which func(offset int64) bool) error {
	var kept []int64
	for _, o := range l.snapshots {
		if !which(o) {
			kept = append(kept, o)
			continue
		}
		if err := os.Remove(l.snapshotPath(o)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove snapshot of %s: %w", l.o.TP, err)
		}
	}
	l.snapshots = kept
	return nil
}

// dropFrom removes the segments from number i on, which cannot follow what was cut.
func (l *Log) dropFrom(i int, why string) (cuts []segment.Cut, err error) {
	for _, p := range l.segs[i:] {
		path := filepath.Join(l.o.Dir, layout.FileName(p.base, layout.KindLog))
		cuts = append(cuts, segment.Cut{Path: path, Pos: 0, Bytes: p.size, What: "the segment is removed: " + why})
		for _, kind := range []string{layout.KindLog, layout.KindIndex, layout.KindTimeIndex, layout.KindTxnIndex} {
			if err := os.Remove(filepath.Join(l.o.Dir, layout.FileName(p.base, kind))); err != nil && !errors.Is(err, os.ErrNotExist) {
				return cuts, fmt.Errorf("recover %s: %w", l.o.TP, err)
			}
		}
	}
	l.segs = l.segs[:i]
	return cuts, nil
}

// finishRecovery settles the log's end, and begins anew where that lies below the log start.
func (l *Log) finishRecovery(cuts *[]segment.Cut) error {
	end := l.active.Next()
	start := max(l.o.Start, l.segs[0].base)
	if l.sealed {
		end = max(end, l.o.Point)
	}
	if err := l.forgetSnapshots(func(o int64) bool { return o > end }); err != nil {
		return err
	}
	if end < start {
		more, err := l.dropFrom(0, fmt.Sprintf("it ends at offset %d, below the log start %d", end, start))
		*cuts = append(*cuts, more...)
		if err != nil {
			return err
		}
		s, err := segment.Create(l.o.Dir, start, l.segmentOptions())
		if err != nil {
			return err
		}
		if err := s.Suspend(); err != nil {
			return err
		}
		l.active, l.sealed, l.segs, l.unsynced, end = s, false, []piece{{base: start}}, nil, start
	}
	l.firstBase.Store(l.segs[0].base)
	l.o.Point, l.o.Start = min(l.o.Point, end), start
	l.point.Store(l.o.Point)
	l.known.Store(&bounds{Bounds: Bounds{Start: start, End: end, HighWatermark: end, LastStable: end}, base: -1})
	l.reshape()
	l.publish(end)
	l.begin()
	l.newFiles = true
	if l.sealed {
		return l.roll(end)
	}
	return nil
}
