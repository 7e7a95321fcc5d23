package logdir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// cursor is where a tail is in a partition. It belongs to the goroutine that reads.
type cursor struct {
	part *part
	id   string // of the topic, from partition.metadata; "" where it does not say
	next int64  // the offset to be read next, or model.FromStart
	end  int64  // where the log ended at the last look
	from int64  // where the tail's query wanted to begin: an offset, or model.FromEnd

	trail []step // the newest batches that were read, oldest first
}

// step is a batch that was read.
type step struct {
	seg, pos int64
	head     record.Header
}

// trailLen is how many batches a cursor remembers, to find how far a log that was truncated is still as it was.
const trailLen = 16

// passed remembers a batch.
func (c *cursor) passed(e *partition.Entry) {
	if n := len(c.trail); n > 0 && c.trail[n-1].pos == e.Position && c.trail[n-1].seg == e.Segment {
		return
	}
	if len(c.trail) == trailLen {
		copy(c.trail, c.trail[1:])
		c.trail = c.trail[:trailLen-1]
	}
	c.trail = append(c.trail, step{e.Segment, e.Position, e.Header})
}

// cut reports whether batches that were read are not there any more, though others may be in their place, and goes back
// to where the log is still as it was. A log that is truncated and appended to may be as long as before. active is the
// segment that is written to: in the others a compaction moves batches.
func (c *cursor) cut(active int64) bool {
	was := false
	for n := len(c.trail); n > 0 && c.trail[n-1].seg == active; n-- {
		s := c.trail[n-1]
		ok, known := s.there(c.part.dir)
		if ok || !known {
			break
		}
		was = true
		c.next = min(c.next, s.head.BaseOffset)
		c.trail = c.trail[:n-1]
	}
	return was
}

// there reports whether a batch is still where it was; known is false where its file has gone.
func (s step) there(dir string) (ok, known bool) {
	f, err := segment.OpenRegular(filepath.Join(dir, layout.FileName(s.seg, layout.KindLog)))
	if err != nil {
		return false, false
	}
	defer f.Close()
	var b [record.HeaderSize]byte
	n, err := f.ReadAt(b[:], s.pos)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, false
	}
	h, err := record.ParseHeader(b[:n])
	return err == nil && h == s.head, true
}

// errEnough ends a Follow that was given all it may read for now.
var errEnough = errors.New("enough")

// place finds where to begin, when the tail is opened.
func (t *tail) place(ctx context.Context, c *cursor) error {
	t.identify(c)
	v, err := t.d.look(ctx, c.part)
	if err != nil {
		t.note(err)
		c.next = model.FromStart // what comes later is new
		return err
	}
	start, end := v.Bounds()
	if t.q.Committed {
		if end, err = v.Stable(ctx); err != nil {
			return err
		}
	}
	c.end = end
	switch {
	case c.from == model.FromEnd:
		c.next = end
	case c.from == model.FromStart:
		c.next = start
	default:
		c.next = max(start, c.from)
	}
	return nil
}

// identify reads the topic's id.
func (t *tail) identify(c *cursor) {
	if b, err := readSmall(filepath.Join(c.part.dir, layout.PartitionMetaFile)); err == nil {
		if id, err := layout.ParsePartitionMeta(b); err == nil {
			c.id = id.String()
		}
	}
}

// backlog reads the newest records before the log ends, as many as the query asks for in all partitions together, in
// the order of their times as far as partitions allow.
func (t *tail) backlog() {
	if t.q.Backlog <= 0 {
		return
	}
	var lists [][]model.Record
	for _, tp := range slices.SortedFunc(maps.Keys(t.cursors), model.TopicPartition.Compare) {
		c := t.cursors[tp]
		if c.from != model.FromEnd || c.next < 0 {
			continue
		}
		list, err := t.before(c)
		t.note(err)
		lists = append(lists, list)
	}
	for _, r := range newest(lists, t.q.Backlog) {
		t.add(r)
	}
}

// before returns what of the newest records before a cursor passes the filter.
func (t *tail) before(c *cursor) ([]model.Record, error) {
	v, err := t.d.look(t.ctx, c.part)
	if err != nil {
		return nil, err
	}
	page, err := v.Records(t.ctx, model.RecordQuery{TP: c.part.tp, From: c.next, Max: t.q.Backlog, Backward: true, Committed: t.q.Committed})
	if err != nil || len(page.Records) == 0 || t.match == nil {
		return page.Records, err
	}
	var list []model.Record
	from := page.Records[0].Offset
	o := t.options()
	o.Passed = nil // what was there before is not counted as seen
	_, err = v.Follow(t.ctx, from, o, func(e *partition.Entry) error {
		if e.Record.Offset >= c.next {
			return errEnough
		}
		if t.match.MatchRecord(e.Record) {
			list = append(list, e.Model())
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return list, err
}

// newest merges lists by time, keeping the order within each, and returns the last n.
func newest(lists [][]model.Record, n int) []model.Record {
	var all []model.Record
	at := make([]int, len(lists))
	for {
		best := -1
		for i, l := range lists {
			if at[i] < len(l) && (best < 0 || cmp.Compare(l[at[i]].Timestamp, lists[best][at[best]].Timestamp) < 0) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		all = append(all, lists[best][at[best]])
		at[best]++
	}
	return slices.Clip(all[max(0, len(all)-n):])
}

// catchUp reads what has come to a partition. gone says that its folder is not there any more.
func (t *tail) catchUp(c *cursor) (gone bool) {
	v, err := t.d.look(t.ctx, c.part)
	if err != nil {
		if errors.Is(err, model.ErrNoPartition) {
			t.d.relistNow(c.part.root)
			return true
		}
		t.note(err)
		return false
	}
	start, end := v.Bounds()
	tp := c.part.tp
	if c.next == model.FromStart {
		c.next = start
	}
	active, _ := v.Active()
	if cut := c.cut(active); cut || end < c.end {
		c.next = min(c.next, end)
		t.note(fmt.Errorf("%s was truncated to %d", tp, c.next))
	}
	if start > c.next {
		t.note(fmt.Errorf("%s: offsets %d to %d were deleted before they were read", tp, c.next, start-1))
		t.passed(0, start-c.next)
		c.next = start
	}
	c.end = end
	t.skip(v, c)
	each := func(e *partition.Entry) error {
		c.passed(e)
		if !t.take(e.Record, e.Model) {
			return errEnough
		}
		c.next = e.Record.Offset + 1
		return nil
	}
	if n := len(c.trail); n > 0 && c.trail[n-1].seg == active && c.trail[n-1].head.BaseOffset <= c.next {
		// cut has just seen this batch where it was.
		c.next, err = v.FollowAt(t.ctx, c.trail[n-1].pos, c.next, t.options(), each)
	} else {
		c.next, err = v.Follow(t.ctx, c.next, t.options(), each)
	}
	if err != nil && !errors.Is(err, errEnough) {
		t.note(err)
	}
	return false
}

// skip passes over what a tail that fell behind would only throw away again: with no filter and nobody to wait for, all
// but the newest records that it may keep.
func (t *tail) skip(v *partition.View, c *cursor) {
	to := c.end - 2*int64(t.q.Keep)
	if t.match != nil || t.q.Block || t.q.Committed || to <= c.next {
		return
	}
	to = c.end - int64(t.q.Keep)
	n, err := v.Count(t.ctx, c.next, to)
	if err != nil {
		t.note(err)
		return
	}
	t.passed(0, n)
	c.next = to
}

func (t *tail) options() partition.FollowOptions {
	o := partition.FollowOptions{Committed: t.q.Committed, Fault: func(f model.Fault) {
		t.note(&model.CorruptError{Path: f.File, Pos: max(0, f.Position), What: f.What})
	}}
	if t.match != nil {
		o.May = t.match.MayContain
		o.Passed = func(n int) { t.passed(int64(n), 0) }
	}
	return o
}

// passed counts records that were read without being decoded, and those that were not read.
func (t *tail) passed(seen, dropped int64) {
	t.mu.Lock()
	t.stats.Seen += seen
	t.stats.Dropped += dropped
	t.mu.Unlock()
}

// take counts a record, and keeps it where it passes the filter. It returns false when the tail is closed.
func (t *tail) take(r *record.Record, copied func() model.Record) bool {
	t.mu.Lock()
	t.stats.Seen++
	t.stats.Bytes += int64(r.Size)
	t.mu.Unlock()
	if t.match != nil && !t.match.MatchRecord(r) {
		return t.ctx.Err() == nil
	}
	rec := copied()
	if t.copied += weight(&rec); t.copied >= copyRest {
		t.copied = 0
		t.d.rest(time.Millisecond)
	}
	return t.add(rec)
}

// copyRest is after how many bytes copied a tail rests a moment, so that the garbage collector keeps up with one that
// catches up through a large log.
const copyRest = 2 << 20

// add keeps a record, with Block once there is room for it. It returns false when the tail is closed.
func (t *tail) add(r model.Record) bool {
	w := weight(&r)
	t.mu.Lock()
	for t.q.Block && t.ring.full(w) {
		t.mu.Unlock()
		t.told()
		select {
		case <-t.ctx.Done():
			return false
		case <-t.space:
		}
		t.mu.Lock()
	}
	t.ring.push(r)
	t.mu.Unlock()
	return t.ctx.Err() == nil
}
