package partition

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// output is the segment that a group of segments is cleaned into.
type output struct {
	seg     *segment.Segment
	buf     []byte
	scratch []byte
	pace    func(bytes int) error
	written int64
}

// write takes a batch.
func (o *output) write(batch []byte) error {
	h, err := record.ParseHeader(batch)
	if err != nil {
		return err
	}
	if o.seg.Planned()+h.Size() > math.MaxInt32 {
		return fmt.Errorf("the cleaned segment %d would pass 2 GiB", o.seg.Base())
	}
	o.seg.Stage(h)
	o.buf = append(o.buf, batch...)
	if len(o.buf) >= cleanBuffer {
		return o.flush()
	}
	return nil
}

func (o *output) flush() error {
	if err := o.pace(len(o.buf)); err != nil {
		return err
	}
	err := o.seg.Commit(o.buf)
	if err == nil {
		o.written += int64(len(o.buf))
	}
	o.buf = o.buf[:0]
	return err
}

// groups puts neighbours together whose cleaned output is sure to fit one segment and its indexes.
func (c *compaction) groups(list []piece) ([][]piece, error) {
	var groups [][]piece
	var logs, indexes, times int64
	for i, p := range list {
		index, err := fileSize(c.l.segmentPath(p.base, layout.KindIndex, ""))
		if err != nil {
			return nil, err
		}
		timed, err := fileSize(c.l.segmentPath(p.base, layout.KindTimeIndex, ""))
		if err != nil {
			return nil, err
		}
		upper := c.d.Bound
		if i+1 < len(list) {
			upper = list[i+1].base
		}
		n := len(groups)
		if n > 0 && logs+p.size <= c.cfg.SegmentBytes && indexes+index <= c.cfg.SegmentIndexBytes && times+timed <= c.cfg.SegmentIndexBytes &&
			(p.size == 0 || upper-1-groups[n-1][0].base <= segment.MaxRelative) {
			groups[n-1] = append(groups[n-1], p)
		} else {
			groups = append(groups, []piece{p})
			logs, indexes, times = 0, 0, 0
		}
		logs, indexes, times = logs+p.size, indexes+index, times+timed
	}
	return groups, nil
}

// fileSize returns the size of a file, 0 where there is none.
func fileSize(path string) (int64, error) {
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// cleanGroup cleans a group of segments into one, and puts that in their place. When it fails, nothing of it is left.
func (c *compaction) cleanGroup(group []piece) (err error) {
	l := c.l
	base := group[0].base
	c.active = l.lasts()
	if err := c.step("create"); err != nil {
		return err
	}
	s, err := segment.CreateCleaned(l.o.Dir, base, l.segmentOptions())
	if err != nil {
		l.dropCleaned(base)
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Suspend())
			l.dropCleaned(base)
		}
	}()
	c.out.seg, c.out.buf, c.out.pace, c.out.written = s, c.out.buf[:0], c.pace, 0
	c.txns.kept = s.AppendAbort
	var mtime time.Time
	for _, p := range group {
		fi, err := os.Stat(l.segmentPath(p.base, layout.KindLog, ""))
		if err != nil {
			return moved(err)
		}
		mtime = fi.ModTime()
		c.mtime = mtime.UnixMilli()
		if err := c.walk(p, 0, c.filter); err != nil {
			return err
		}
		c.done.Read += fi.Size()
	}
	if err := c.out.flush(); err != nil {
		return err
	}
	if err := c.step("written"); err != nil {
		return err
	}
	if err := errors.Join(s.Suspend(), s.Sync()); err != nil {
		return err
	}
	if err := c.step("flushed"); err != nil {
		return err
	}
	// Retention goes by it where no record has a time.
	for _, kind := range []string{layout.KindLog, layout.KindIndex, layout.KindTimeIndex} {
		if err := os.Chtimes(s.Path(kind), time.Time{}, mtime); err != nil {
			return err
		}
	}
	if err := c.swap(group, s); err != nil {
		return err
	}
	c.done.Written += c.out.written
	c.done.Segments += len(group)
	c.done.Left++
	return nil
}

// swap puts a cleaned segment in the place of those it was made from: .cleaned becomes .swap, they become .deleted, and
// .swap loses its suffix. Whatever of this a crash cuts short, settle takes back up to the first .swap, and finishes
// from the last .cleaned on. The .log goes first each time, and the segments by offset: so no step leaves an older
// record of a key without the newer one that has removed it.
func (c *compaction) swap(group []piece, s *segment.Segment) error {
	l := c.l
	l.names.Lock()
	defer l.names.Unlock()
	if err := l.stillThere(group); err != nil {
		return err
	}
	base := group[0].base
	var done renames
	err := func() error {
		if err := done.kinds(l, base, layout.SuffixCleaned, layout.SuffixSwap, c.step); err != nil {
			return err
		}
		for _, p := range group {
			if err := done.kinds(l, p.base, "", layout.SuffixDeleted, c.step); err != nil {
				return err
			}
		}
		return done.kinds(l, base, layout.SuffixSwap, "", c.step)
	}()
	if err != nil {
		return errors.Join(err, done.undo())
	}
	var gone []string
	for _, r := range done {
		if filepath.Ext(r.to) == "."+layout.SuffixDeleted {
			gone = append(gone, r.to)
		}
	}
	strays := l.replace(group, s)
	for _, o := range strays {
		if rerr := os.Remove(l.snapshotPath(o)); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("remove snapshot of %s: %w", l.o.TP, rerr))
		}
	}
	// The names are right already; that they survive a power loss is what the flush is for.
	return errors.Join(err, SyncDir(l.o.Dir), l.discard(gone))
}

// renames are renames that were done, in order.
type renames []struct{ from, to string }

// kinds renames the files of a segment from one suffix to another.
func (r *renames) kinds(l *Log, base int64, from, to string, step func(string) error) error {
	for _, kind := range segmentKinds() {
		a, b := l.segmentPath(base, kind, from), l.segmentPath(base, kind, to)
		if err := step("rename " + filepath.Base(a)); err != nil {
			return err
		}
		err := os.Rename(a, b)
		if errors.Is(err, fs.ErrNotExist) && kind != layout.KindLog {
			continue // no transaction was aborted, or an index is missing
		}
		if err != nil {
			return err
		}
		*r = append(*r, struct{ from, to string }{a, b})
	}
	return nil
}

// undo takes the renames back, the last one first.
func (r renames) undo() error {
	var errs []error
	for _, x := range slices.Backward(r) {
		errs = append(errs, os.Rename(x.to, x.from))
	}
	return errors.Join(errs...)
}

// stillThere errs with errMoved where one of the segments has gone since, as by retention.
func (l *Log) stillThere(group []piece) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := floorIn(l.segs, group[0].base)
	if l.closed || first+len(group) >= len(l.segs) {
		return errMoved
	}
	for i, p := range group {
		if l.segs[first+i].base != p.base {
			return errMoved
		}
	}
	return nil
}

// replace makes the log know that a segment is in the place of others, and returns the offsets of the snapshots that
// belong to no segment any more.
func (l *Log) replace(group []piece, s *segment.Segment) (strays []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.regenerate()
	l.reshape()
	first := floorIn(l.segs, group[0].base)
	segs := slices.Clone(l.segs[:first])
	segs = append(segs, piece{base: s.Base(), size: s.Size()})
	l.segs = append(segs, l.segs[first+len(group):]...)
	l.unsynced = slices.DeleteFunc(l.unsynced, func(old *segment.Segment) bool {
		return slices.ContainsFunc(group, func(p piece) bool { return p.base == old.Base() })
	})
	l.snapshots = slices.DeleteFunc(l.snapshots, func(o int64) bool {
		stray := slices.ContainsFunc(group[1:], func(p piece) bool { return p.base == o })
		if stray {
			strays = append(strays, o)
		}
		return stray
	})
	return strays
}

// lasts returns what each remembered producer wrote last.
func (l *Log) lasts() map[int64]lastOf {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[int64]lastOf, len(l.producers.known))
	for id, p := range l.producers.known {
		last := lastOf{offset: -1, epoch: p.epoch}
		if n := len(p.batches); n > 0 {
			last.offset = p.batches[n-1].lastOffset
		}
		all[id] = last
	}
	return all
}

// dropCleaned removes the files of an output that is not wanted, as far as that works.
func (l *Log) dropCleaned(base int64) {
	for _, kind := range segmentKinds() {
		_ = os.Remove(l.segmentPath(base, kind, layout.SuffixCleaned))
	}
}

func (l *Log) segmentPath(base int64, kind, suffix string) string {
	return filepath.Join(l.o.Dir, layout.File{Base: base, Epoch: -1, Kind: kind, Suffix: suffix}.String())
}
