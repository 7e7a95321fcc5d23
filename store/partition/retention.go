package partition

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/segment"
)

// Gone is a segment that retention has deleted.
type Gone struct {
	Base  int64
	Next  int64 // base offset of the segment behind it
	Bytes int64
	Rule  string // retention.ms, retention.bytes or log start
}

// Retain deletes what is due: segments wholly below the log start, then by size, then by time; the last two only where
// the cleanup policy has delete. It begins with the oldest segment and stops at the first that is not due; the active
// one goes too when it is due and holds something, after an empty one was begun behind it. Files are renamed to .deleted
// at once and removed later. It also forgets the producers that have been idle for too long.
func (l *Log) Retain() ([]Gone, error) {
	l.names.Lock()
	defer l.names.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.list(); err != nil {
		return nil, err
	}
	_ = l.catchUpEpochs() // was told, and is tried again
	if l.producers != nil {
		l.producers.expire(l.o.Now() - l.o.ProducerExpiry)
	}
	return l.retain(l.rules(*l.cfg.Load(), l.known.Load().Start))
}

// RetainStart deletes the segments that lie wholly below the log start, as Retain does, and nothing else.
func (l *Log) RetainStart() ([]Gone, error) {
	l.names.Lock()
	defer l.names.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.list(); err != nil {
		return nil, err
	}
	return l.retain(l.rules(*l.cfg.Load(), l.known.Load().Start)[:1])
}

// retain deletes what rules find due.
func (l *Log) retain(rules []rule) ([]Gone, error) {
	var all []Gone
	for _, r := range rules {
		gone, err := l.deleteOldest(r)
		all = append(all, gone...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// rule says whether a segment is due; it is asked from the oldest segment on until it says no. next is the base offset
// of the segment behind, the log's end for the last one.
type rule struct {
	name string
	due  func(p *piece, next int64, last bool) (bool, error)
}

// rules returns the rules in the order in which they are looked at.
func (l *Log) rules(c layout.TopicConfig, start int64) []rule {
	rules := []rule{{"log start", func(_ *piece, next int64, last bool) (bool, error) { return !last && next <= start, nil }}}
	if c.Delete {
		rules = append(rules, rule{"retention.bytes", l.aboveSize(c.RetentionBytes)}, rule{"retention.ms", l.tooOld(c.RetentionMS)})
	}
	return rules
}

func (l *Log) aboveSize(limit int64) func(*piece, int64, bool) (bool, error) {
	over := int64(-1)
	return func(p *piece, _ int64, _ bool) (bool, error) {
		if limit < 0 {
			return false, nil
		}
		size := l.sizeOf(p)
		if over < 0 {
			over = l.bytesFrom(p.base) - limit
		}
		if over < 0 || over-size < 0 {
			return false, nil
		}
		over -= size
		return true, nil
	}
}

func (l *Log) tooOld(limit int64) func(*piece, int64, bool) (bool, error) {
	now := l.o.Now()
	return func(p *piece, _ int64, _ bool) (bool, error) {
		if limit < 0 {
			return false, nil
		}
		newest, err := l.newestOf(p)
		return now-newest > limit, err
	}
}

// due returns which of the segments from number i on a rule finds due.
func (l *Log) due(r rule, i int) ([]Gone, error) {
	end := l.end()
	var gone []Gone
	for ; i < len(l.segs); i++ {
		p := &l.segs[i]
		last, next := i == len(l.segs)-1, end
		if !last {
			next = l.segs[i+1].base
		}
		if last && l.sizeOf(p) == 0 {
			break
		}
		yes, err := r.due(p, next, last)
		if err != nil {
			return nil, err
		}
		if !yes {
			break
		}
		gone = append(gone, Gone{Base: p.base, Next: next, Bytes: l.sizeOf(p), Rule: r.name})
	}
	return gone, nil
}

// deleteOldest deletes the segments that a rule finds due.
func (l *Log) deleteOldest(r rule) ([]Gone, error) {
	gone, err := l.due(r, 0)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	if n := len(gone); n == len(l.segs) {
		if err := l.activate(); err != nil {
			return nil, err
		}
		// Opening it may have found the end of a damaged segment, and rolled then.
		if n == len(l.segs) {
			if err := l.roll(l.end()); err != nil {
				return nil, err
			}
		}
	}
	l.regenerate()
	for i := range gone {
		if err := l.retire(gone[i].Base); err != nil {
			return gone[:i], err
		}
		l.segs = l.segs[1:]
	}
	l.firstBase.Store(l.segs[0].base)
	return gone, l.raiseStart(l.segs[0].base)
}

// raiseStart moves the log start up to an offset, if it lies below.
func (l *Log) raiseStart(start int64) error {
	if start <= l.known.Load().Start {
		return nil
	}
	l.publishStart(start)
	return l.trimEpochs(start)
}

// retire renames the files of a segment, and its producer snapshot, to .deleted.
func (l *Log) retire(base int64) error {
	var paths []string
	for _, kind := range append(segmentKinds(), layout.KindSnapshot) {
		path := filepath.Join(l.o.Dir, layout.FileName(base, kind))
		to := path + "." + layout.SuffixDeleted
		if err := os.Rename(path, to); err == nil {
			paths = append(paths, to)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete segment %d of %s: %w", base, l.o.TP, err)
		}
	}
	l.snapshots = slices.DeleteFunc(l.snapshots, func(o int64) bool { return o == base })
	l.unsynced = slices.DeleteFunc(l.unsynced, func(s *segment.Segment) bool { return s.Base() == base })
	return l.discard(paths)
}

// discard has files removed that were renamed to .deleted, after their delay.
func (l *Log) discard(paths []string) error {
	if l.o.Deleted != nil {
		l.o.Deleted(paths, layout.After(l.o.Now(), l.cfg.Load().FileDeleteDelayMS))
		return nil
	}
	for _, p := range paths {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove deleted segment of %s: %w", l.o.TP, err)
		}
	}
	return nil
}

// segmentKinds are the kinds of a segment's files, the .log first.
func segmentKinds() []string {
	return []string{layout.KindLog, layout.KindIndex, layout.KindTimeIndex, layout.KindTxnIndex}
}

// bytesFrom returns the size of the .log files from a base offset on.
func (l *Log) bytesFrom(base int64) int64 {
	var n int64
	for i := range l.segs {
		if l.segs[i].base >= base {
			n += l.sizeOf(&l.segs[i])
		}
	}
	return n
}

func (l *Log) sizeOf(p *piece) int64 {
	if l.active != nil && p.base == l.active.Base() {
		return l.active.Size()
	}
	return p.size
}

// newestOf returns the time that retention goes by: the largest timestamp in the segment, or where it has none when its
// .log was last written. Of a segment that was closed, the last entry of its time index says it.
func (l *Log) newestOf(p *piece) (int64, error) {
	path := filepath.Join(l.o.Dir, layout.FileName(p.base, layout.KindLog))
	if l.active != nil && p.base == l.active.Base() {
		if ms, _ := l.active.MaxTime(); ms >= 0 {
			return ms, nil
		}
		return modified(path)
	}
	if p.timed {
		return p.newest, nil
	}
	ms, err := lastTime(filepath.Join(l.o.Dir, layout.FileName(p.base, layout.KindTimeIndex)))
	if err != nil {
		return 0, err
	}
	if ms < 0 {
		if ms, err = modified(path); err != nil {
			return 0, err
		}
	}
	p.newest, p.timed = ms, true
	return ms, nil
}

func modified(path string) (int64, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("retention: %w", err)
	}
	return fi.ModTime().UnixMilli(), nil
}

// lastTime returns the timestamp of the last entry of a closed segment's time index; -1 without one.
func lastTime(path string) (int64, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("retention: %w", err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("retention: %w", err)
	}
	const entry = 12
	n := fi.Size() / entry
	if n == 0 {
		return -1, nil
	}
	var b [8]byte
	if _, err := f.ReadAt(b[:], (n-1)*entry); err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("retention: read %s: %w", path, err)
	}
	ms := int64(binary.BigEndian.Uint64(b[:]))
	if ms == 0 {
		return -1, nil // an index that was not trimmed
	}
	return ms, nil
}
