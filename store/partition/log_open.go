package partition

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/segment"
)

// list looks at the folder once: which segments there are, and what a crash or a compaction left is put in order.
func (l *Log) list() error {
	switch {
	case l.closed:
		return fmt.Errorf("%s: %w", l.o.TP, model.ErrClosed)
	case l.listed:
		return nil
	}
	if err := l.settle(); err != nil {
		return err
	}
	entries, err := os.ReadDir(l.o.Dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", l.o.TP, err)
	}
	l.segs, l.snapshots = nil, nil
	var indexes []layout.File
	for _, e := range entries {
		f, ok := layout.ParseFileName(e.Name())
		if !ok || f.Suffix != "" || !e.Type().IsRegular() {
			continue
		}
		switch f.Kind {
		case layout.KindLog:
			fi, err := e.Info()
			if err != nil {
				return fmt.Errorf("list %s: %w", l.o.TP, err)
			}
			l.segs = append(l.segs, piece{base: f.Base, size: fi.Size()})
		case layout.KindSnapshot:
			l.snapshots = append(l.snapshots, f.Base)
		case layout.KindIndex, layout.KindTimeIndex, layout.KindTxnIndex:
			indexes = append(indexes, f)
		}
	}
	slices.SortFunc(l.segs, func(a, b piece) int { return cmpOffset(a.base, b.base) })
	slices.Sort(l.snapshots)
	if err := l.dropOrphans(indexes); err != nil {
		return err
	}
	return l.adopt()
}

// dropOrphans removes the indexes whose .log is gone, as a crash within a segment's deletion leaves them.
func (l *Log) dropOrphans(indexes []layout.File) error {
	n := 0
	for _, f := range indexes {
		if _, ok := slices.BinarySearchFunc(l.segs, f.Base, func(p piece, base int64) int { return cmpOffset(p.base, base) }); ok {
			continue
		}
		if err := os.Remove(filepath.Join(l.o.Dir, f.String())); err != nil {
			return fmt.Errorf("tidy %s: %w", l.o.TP, err)
		}
		n++
	}
	if n > 0 {
		l.notice(fmt.Sprintf("%s: removed %d indexes whose .log is gone", l.o.TP, n))
	}
	return nil
}

// adopt takes over what list has found.
func (l *Log) adopt() error {
	if len(l.segs) == 0 {
		base := max(l.o.Start, 0)
		if l.point.Load() > base {
			l.notice(fmt.Sprintf("%s: no segment is left, though offsets up to %d were flushed; it goes on at %d", l.o.TP, l.point.Load(), l.point.Load()))
			base = l.point.Load()
		}
		s, err := segment.Create(l.o.Dir, base, l.segmentOptions())
		if err != nil {
			return err
		}
		if err := s.Suspend(); err != nil {
			return err
		}
		l.segs = []piece{{base: base}}
	}
	first, last := l.segs[0].base, l.segs[len(l.segs)-1].base
	end := max(l.point.Load(), last)
	start := max(l.o.Start, first)
	if start > end {
		start = end
	}
	stable, err := l.stableAtRest(end)
	if err != nil {
		return err
	}
	l.firstBase.Store(first)
	l.known.Store(&bounds{Bounds: Bounds{Start: start, End: end, HighWatermark: end, LastStable: stable}, base: -1})
	l.reshape()
	l.point.Store(min(l.point.Load(), end))
	l.listed = true
	return nil
}

// segmentOptions puts the configs into the words of a segment.
func (l *Log) segmentOptions() segment.AppendOptions {
	c := l.cfg.Load()
	o := segment.AppendOptions{IndexInterval: c.IndexIntervalBytes, IndexBytes: c.SegmentIndexBytes, OpenFile: l.o.OpenFile}
	if c.IndexIntervalBytes == 0 {
		o.IndexInterval = -1
	}
	if c.Preallocate {
		o.Preallocate = c.SegmentBytes
	}
	return o
}

// activate makes the log ready to be appended to: the active segment's end, the producers and the epochs are known.
func (l *Log) activate() error {
	if err := l.list(); err != nil {
		return err
	}
	if l.active != nil {
		if !l.active.Open() {
			if err := l.active.Resume(); err != nil {
				return err
			}
			l.opened()
		}
		return nil
	}
	last := l.segs[len(l.segs)-1]
	s, err := segment.OpenTail(l.o.Dir, last.base, l.segmentOptions())
	var corrupt *model.CorruptError
	switch {
	case errors.As(err, &corrupt):
		l.sealed = true
		l.notice(fmt.Sprintf("%s: %v; the bytes are kept, the log goes on in a new segment", l.o.TP, corrupt))
	case err != nil:
		return err
	}
	end := max(l.end(), s.Next())
	if l.o.Clean && s.Next() < l.end() && s.Size() > 0 && !l.sealed {
		l.sealed = true
		l.notice(fmt.Sprintf("%s: ends at offset %d, though offsets up to %d were flushed; it goes on at %d", l.o.TP, s.Next(), l.end(), l.end()))
	}
	if err := l.loadEpochs(); err != nil {
		return err
	}
	if l.producers == nil {
		if err := l.loadProducers(end); err != nil {
			return err
		}
	}
	l.active = s
	l.reshape()
	l.begin()
	l.publish(end)
	if l.sealed || s.Size() == 0 && end > last.base {
		return l.roll(end)
	}
	l.opened()
	return nil
}

func (l *Log) opened() {
	if l.o.Opened != nil {
		l.o.Opened(l)
	}
}

// begin notes when the active segment was begun or opened, and draws its jitter.
func (l *Log) begin() {
	c := l.cfg.Load()
	l.openedAt, l.jitter = l.o.Now(), 0
	if m := min(c.SegmentJitterMS, c.SegmentMS); m > 0 {
		l.jitter = rand.Int64N(m)
	}
}
