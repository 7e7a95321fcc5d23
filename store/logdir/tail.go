package logdir

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/watch"
)

// tail is a running tail. One goroutine reads; what it has read is shared under mu.
//
// Invariants:
//   - a partition's records come in the order of their offsets, each once
//   - stats.First == ring.first, stats.Matched == ring.next
//   - with Block the ring never pushes a record out
type tail struct {
	d     *Dir
	q     model.TailQuery
	match record.Matcher // nil: all
	feed  *watch.Feed
	ctx   context.Context // ends with Close, for the goroutine that reads
	stop  context.CancelFunc
	done  chan struct{}

	// The reading goroutine's own.
	cursors map[model.TopicPartition]*cursor
	copied  int             // bytes, since the last rest
	met     map[string]bool // folders of tailed partitions, leftovers too, that were met already

	mu      sync.Mutex
	ring    ring
	stats   model.TailStats
	changed chan struct{} // closed and renewed with each change
	space   chan struct{} // a token: Release has made room
}

// Tail implements model.Tailer.
func (d *Dir) Tail(ctx context.Context, q model.TailQuery) (model.Tail, error) {
	if err := d.begin(ctx); err != nil {
		return nil, err
	}
	if len(q.From) > 0 && len(q.From) != len(q.Partitions) {
		return nil, fmt.Errorf("%w tail: %d offsets for %d partitions", model.ErrInvalid, len(q.From), len(q.Partitions))
	}
	m, err := matcher(q.Pattern, q.Regexp, q.Fold)
	if err != nil {
		return nil, err
	}
	if q.Keep <= 0 {
		q.Keep = defaultKeep
	}
	w, err := d.watcher()
	if err != nil {
		return nil, err
	}
	t := &tail{
		d: d, q: q, match: m, feed: w.Feed(0), done: make(chan struct{}), cursors: map[model.TopicPartition]*cursor{},
		met: map[string]bool{}, ring: ring{keep: q.Keep}, changed: make(chan struct{}), space: make(chan struct{}, 1),
	}
	t.ctx, t.stop = context.WithCancel(d.ctx)
	if err := t.open(ctx); err != nil {
		t.stop()
		t.feed.Close()
		return nil, err
	}
	if !d.spawn(t.run) {
		t.stop()
		t.feed.Close()
		return nil, model.ErrClosed
	}
	return t, nil
}

// watcher returns the source's watcher, which a Still source has only once it is asked to tail.
func (d *Dir) watcher() (*watch.Watcher, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, model.ErrClosed
	}
	if d.watch != nil {
		return d.watch, nil
	}
	if d.tailWatch == nil {
		d.tailWatch = watch.New(d.o.Watch)
	}
	return d.tailWatch, nil
}

// open finds the partitions and where to begin in each.
func (t *tail) open(ctx context.Context) error {
	d := t.d
	for _, r := range d.roots {
		t.feed.Add(r.path)
	}
	from := map[model.TopicPartition]int64{}
	for i, tp := range t.q.Partitions {
		if _, err := d.find(tp); err != nil {
			return err
		}
		if t.q.From != nil {
			from[tp] = t.q.From[i]
		}
	}
	for _, topic := range t.q.Topics {
		d.mu.Lock()
		known := d.topics[topic] != nil
		names := d.listed()
		d.mu.Unlock()
		if !known {
			return model.NotFound(model.ErrNoTopic, topic, names)
		}
	}
	for _, p := range t.leftovers() {
		t.met[p.dir] = true
	}
	for _, p := range t.wanted() {
		t.met[p.dir] = true
		at, ok := from[p.tp]
		if !ok {
			at = model.FromEnd
		}
		t.cursors[p.tp] = &cursor{part: p, next: at, from: at}
		t.feed.Add(p.dir)
	}
	for _, c := range t.cursors {
		if err := t.place(ctx, c); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// wanted returns the live parts that are tailed, by number.
func (t *tail) wanted() []*part {
	d := t.d
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []*part
	for _, name := range t.q.Topics {
		if topic := d.topics[name]; topic != nil {
			for _, p := range topic.live {
				list = append(list, p)
			}
		}
	}
	for _, tp := range t.q.Partitions {
		if topic := d.topics[tp.Topic]; topic != nil && topic.live[tp.Partition] != nil {
			list = append(list, topic.live[tp.Partition])
		}
	}
	slices.SortFunc(list, func(a, b *part) int { return a.tp.Compare(b.tp) })
	return slices.Compact(list)
}

// run reads until Close.
func (t *tail) run() {
	defer close(t.done)
	defer t.feed.Close()
	t.backlog()
	for {
		begin, before := time.Now(), t.Stats().Seen
		t.step(t.feed.Take())
		t.told()
		if !t.pause(time.Since(begin), t.Stats().Seen-before) {
			return
		}
	}
}

// frame is the longest rest of a busy tail: thirty times a second is as often as anybody can read.
const frame = 33 * time.Millisecond

// busy is from how many records in one go on a tail is paced.
const busy = 32

// pause waits for the next wake-up. After many records it rests first, so that a tail of busy partitions does not take
// a core to itself: what comes meanwhile is read in one go. It returns false when the tail is closed.
func (t *tail) pause(worked time.Duration, records int64) bool {
	if records >= busy {
		timer := time.NewTimer(min(max(10*worked, 2*time.Millisecond), frame))
		select {
		case <-t.ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
		}
	}
	select {
	case <-t.ctx.Done():
		return false
	case <-t.feed.C():
		return true
	}
}

// step looks at the folders in which something has happened.
func (t *tail) step(set watch.Set) {
	dirty := make(map[string]bool, len(set.Dirs))
	for _, dir := range set.Dirs {
		dirty[dir] = true
	}
	again := set.All
	for _, r := range t.d.roots {
		if set.All || dirty[r.path] {
			t.d.relistNow(r)
			again = true
		}
	}
	for _, c := range t.cursors {
		if set.All || dirty[c.part.dir] {
			again = t.catchUp(c) || again
		}
	}
	if again {
		t.retable()
	}
}

// retable brings the cursors in line with the table: partitions that are new are read from their start, those that
// have gone are read to their end where they went.
func (t *tail) retable() {
	here := map[model.TopicPartition]bool{}
	for _, p := range t.wanted() {
		here[p.tp] = true
		t.met[p.dir] = true
		c := t.cursors[p.tp]
		switch {
		case c == nil:
			c = &cursor{part: p, next: model.FromStart}
			t.cursors[p.tp] = c
		case c.part != p:
			t.moved(c, p)
		default:
			continue
		}
		t.feed.Add(p.dir)
		t.catchUp(c)
	}
	var ended []string
	for tp, c := range t.cursors {
		if !here[tp] {
			ended = append(ended, c.part.dir)
			t.farewell(c)
			t.feed.Remove(c.part.dir)
			delete(t.cursors, tp)
			t.note(fmt.Errorf("%w: %s was deleted", model.ErrNoPartition, tp))
		}
	}
	for _, p := range t.leftovers() {
		// Made and deleted before anybody looked: its records were never shown.
		if !t.met[p.dir] && p.state == model.Deleting && !t.met[filepath.Join(p.root.path, layout.DirName(p.tp))] {
			t.catchUp(&cursor{part: p, next: model.FromStart})
		}
		t.met[p.dir] = true
	}
	for _, dir := range ended {
		delete(t.met, dir)
	}
}

// leftovers returns the leftovers of what is tailed.
func (t *tail) leftovers() []*part {
	d := t.d
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []*part
	for _, name := range t.q.Topics {
		if topic := d.topics[name]; topic != nil {
			list = append(list, topic.left...)
		}
	}
	return list
}

// moved goes on in another folder of the same partition: where it moved to, or one that was made anew, of another
// topic id or with less in it, which is read from its start.
func (t *tail) moved(c *cursor, p *part) {
	t.farewell(c)
	t.feed.Remove(c.part.dir)
	was, before := c.id, c.part.root
	c.part, c.id, c.trail = p, "", nil
	t.identify(c)
	if was != c.id || was == "" && before == p.root {
		c.next, c.end = model.FromStart, 0
		t.note(fmt.Errorf("%s was deleted and made anew", p.tp))
	}
}

// farewell reads what a partition's folder had got before it was renamed, from under its new name.
func (t *tail) farewell(c *cursor) {
	d := t.d
	old := c.part
	var left *part
	d.mu.Lock()
	if topic := d.topics[old.tp.Topic]; topic != nil {
		for _, p := range topic.left {
			// spread-0 becomes spread-0.<32 hex digits>-delete
			if p.tp == old.tp && p.root == old.root && p.state != model.Future && strings.HasPrefix(filepath.Base(p.dir), old.name+".") {
				left = p
			}
		}
	}
	d.mu.Unlock()
	if left == nil {
		return
	}
	was := *c
	c.part, c.id = left, ""
	if t.identify(c); c.id == was.id {
		t.catchUp(c)
	}
	c.part, c.id = old, was.id
}

// note keeps what went wrong for the stats.
func (t *tail) note(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	t.mu.Lock()
	t.stats.Err = err
	t.mu.Unlock()
}

// told lets those go who wait for a change.
func (t *tail) told() {
	behind := int64(0)
	for _, c := range t.cursors {
		behind += max(0, c.end-max(c.next, 0))
	}
	t.mu.Lock()
	t.stats.Behind = behind
	close(t.changed)
	t.changed = make(chan struct{})
	t.mu.Unlock()
}

// Window implements model.Tail.
func (t *tail) Window(end int64, n int) ([]model.Record, int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ring.window(end, n)
}

// Stats implements model.Tail.
func (t *tail) Stats() model.TailStats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.stats
	s.First, s.Matched = t.ring.first, t.ring.next
	return s
}

// Wait implements model.Tail. It returns model.ErrClosed when the tail has ended.
func (t *tail) Wait(ctx context.Context, matched int64) error {
	t.mu.Lock()
	if t.ring.next != matched {
		t.mu.Unlock()
		return nil
	}
	changed := t.changed
	t.mu.Unlock()
	select {
	case <-changed:
		return nil
	case <-t.done:
		return model.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release implements model.Tail.
func (t *tail) Release(below int64) {
	t.mu.Lock()
	t.ring.drop(below)
	t.mu.Unlock()
	select {
	case t.space <- struct{}{}:
	default:
	}
}

// Close implements model.Tail.
func (t *tail) Close() error {
	t.stop()
	<-t.done
	return nil
}
