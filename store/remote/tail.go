package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

const (
	// frame is the rest of a busy tail: thirty times a second is as often as anybody can read.
	frame = 33 * time.Millisecond
	// busy is from how many records in one go on a tail is paced.
	busy = 256
	// tailPoll is how many records are taken at a time.
	tailPoll = 4000
	// everyTail is how often a tail looks for topics and partitions that have come or gone.
	everyTail = 5 * time.Second
	tailFetch = 4 << 20 // bytes of one answer of one broker
)

// tail is a running tail. One goroutine reads; what it has read is shared under mu.
//
// Invariants:
//   - a partition's records come in the order of their offsets, each once
//   - stats.First == ring.first, stats.Matched == ring.next
//   - with Block the ring never pushes a record out
type tail struct {
	c     *Cluster
	q     model.TailQuery
	match record.Matcher // nil: all
	kgo   *kgo.Client    // consumes directly: no group
	ctx   context.Context
	stop  context.CancelFunc
	done  chan struct{}

	// The reading goroutine's own.
	cursors map[model.TopicPartition]*cursor
	looked  time.Time // for topics and partitions
	table   *table    // that cursors are in line with
	last    model.TailStats
	lost    bool // stats.Err is of a connection, and passes when records come again

	mu      sync.Mutex
	ring    ring
	stats   model.TailStats
	changed chan struct{} // closed and renewed with each change
	space   chan struct{} // a token: Release has made room
}

// cursor is where a tail is in a partition.
type cursor struct {
	id    [16]byte // of the topic
	start int64
	next  int64
	end   int64 // where reading ended at the last answer
	back  bool  // a backlog is wanted before next
}

// Tail implements model.Tailer. It reads without a group, so that nothing of it is left on the cluster.
func (c *Cluster) Tail(ctx context.Context, q model.TailQuery) (model.Tail, error) {
	if err := c.begin(ctx); err != nil {
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
	t := &tail{c: c, q: q, match: m, done: make(chan struct{}), cursors: map[model.TopicPartition]*cursor{}, ring: ring{keep: q.Keep},
		changed: make(chan struct{}), space: make(chan struct{}, 1), looked: time.Now()}
	if err := t.place(ctx); err != nil {
		return nil, err
	}
	if err := t.connect(); err != nil {
		return nil, err
	}
	t.ctx, t.stop = context.WithCancel(c.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil { // Close waits for what has begun before it
		t.stop()
		t.kgo.Close()
		return nil, model.ErrClosed
	}
	c.wg.Go(t.run)
	return t, nil
}

// place finds the partitions and where to begin in each.
func (t *tail) place(ctx context.Context) error {
	from := map[model.TopicPartition]int64{}
	for _, name := range t.q.Topics {
		m, err := t.c.topic(ctx, name)
		if err != nil {
			return err
		}
		for i := range m.parts {
			from[model.TopicPartition{Topic: name, Partition: m.parts[i].n}] = model.FromEnd
		}
	}
	for i, tp := range t.q.Partitions {
		if _, _, err := t.c.find(ctx, tp); err != nil {
			return err
		}
		from[tp] = model.FromEnd
		if t.q.From != nil {
			from[tp] = t.q.From[i]
		}
	}
	tps := make([]model.TopicPartition, 0, len(from))
	for tp := range from {
		tps = append(tps, tp)
	}
	ctx, done := t.c.bound(ctx)
	defer done()
	at := t.c.measure(ctx, tps)
	if ctx.Err() != nil {
		return t.c.why(ctx, ctx.Err())
	}
	t.table = t.c.current()
	for tp, want := range from {
		e := at[tp]
		k := &cursor{start: e.start, end: e.hw}
		if m := t.table.topics[tp.Topic]; m != nil {
			k.id = m.id
		}
		if t.q.Committed {
			k.end = e.lso
		}
		switch {
		case e.err != nil:
			t.note(fmt.Errorf("%s: %w", tp, e.err))
			k.next = model.FromEnd // when it is back
		case want == model.FromEnd:
			k.next, k.back = k.end, true
		case want == model.FromStart:
			k.next = e.start
		default:
			k.next = max(want, e.start)
		}
		t.cursors[tp] = k
	}
	return nil
}

// connect makes the client that reads.
func (t *tail) connect() error {
	opts := append(t.c.base(), kgo.FetchMaxBytes(tailFetch), kgo.FetchMaxPartitionBytes(tailFetch/2), kgo.FetchMaxWait(500*time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.MetadataMaxAge(everyTail), kgo.ConsumePartitions(t.places()))
	if t.q.Committed {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	var err error
	t.kgo, err = kgo.NewClient(opts...)
	return err
}

func (t *tail) places() map[string]map[int32]kgo.Offset {
	all := map[string]map[int32]kgo.Offset{}
	for tp, k := range t.cursors {
		addPlace(all, tp, k.next)
	}
	return all
}

func addPlace(all map[string]map[int32]kgo.Offset, tp model.TopicPartition, next int64) {
	if all[tp.Topic] == nil {
		all[tp.Topic] = map[int32]kgo.Offset{}
	}
	at := kgo.NewOffset().At(next)
	if next < 0 {
		at = kgo.NewOffset().AtEnd()
	}
	all[tp.Topic][tp.Partition] = at
}

// run reads until Close.
func (t *tail) run() {
	defer close(t.done)
	defer t.kgo.Close()
	t.backlog()
	t.told()
	for t.ctx.Err() == nil {
		begin := time.Now()
		short, done := context.WithTimeout(t.ctx, time.Second)
		fetches := t.kgo.PollRecords(short, tailPoll)
		done()
		n := t.take(fetches)
		t.align()
		t.told()
		if n < busy {
			continue
		}
		// What comes meanwhile is read in one go.
		if t.c.pause(t.ctx, min(max(10*time.Since(begin), 2*time.Millisecond), frame)) != nil {
			return
		}
	}
}

// take keeps what was fetched, and returns how many records that were.
func (t *tail) take(fetches kgo.Fetches) int {
	n := 0
	fetches.EachError(func(topic string, p int32, err error) {
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || topic == "" {
			return
		}
		t.note(fmt.Errorf("%s: %w", model.TopicPartition{Topic: topic, Partition: p}, answer(err, "")))
		t.lost = true
	})
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		tp := model.TopicPartition{Topic: p.Topic, Partition: p.Partition}
		k := t.cursors[tp]
		if k == nil || p.Err != nil {
			return
		}
		if k.next >= 0 && p.LogStartOffset > k.next {
			t.note(fmt.Errorf("%s: offsets %d to %d were deleted before they were read", tp, k.next, p.LogStartOffset-1))
			t.dropped(p.LogStartOffset - k.next)
		}
		k.end = p.HighWatermark
		if t.q.Committed {
			k.end = p.LastStableOffset
		}
		for _, r := range p.Records {
			n++
			if !t.one(r, p.LastStableOffset) {
				return
			}
			k.next = r.Offset + 1
		}
		t.skip(tp, k)
	})
	if n > 0 && t.lost { // it goes on
		t.lost = false
		t.mu.Lock()
		t.stats.Err = nil
		t.mu.Unlock()
	}
	return n
}

// skip passes over what a tail that fell behind would only throw away again: with no filter and nobody to wait for, all but
// the newest records that it may keep.
func (t *tail) skip(tp model.TopicPartition, k *cursor) {
	to := k.end - int64(t.q.Keep)
	if t.match != nil || t.q.Block || k.next < 0 || to <= k.next+int64(t.q.Keep) {
		return
	}
	t.kgo.SetOffsets(map[string]map[int32]kgo.EpochOffset{tp.Topic: {tp.Partition: {Epoch: -1, Offset: to}}})
	t.dropped(to - k.next)
	k.next = to
}

func (t *tail) dropped(n int64) {
	t.mu.Lock()
	t.stats.Dropped += n
	t.mu.Unlock()
}

// one counts a record, and keeps it where it passes the filter. It returns false when the tail is closed.
func (t *tail) one(r *kgo.Record, stable int64) bool {
	t.mu.Lock()
	t.stats.Seen++
	t.stats.Bytes += int64(len(r.Key) + len(r.Value))
	t.mu.Unlock()
	if t.match != nil && !matchesKgo(t.match, r) {
		return t.ctx.Err() == nil
	}
	rec := fromKgo(r)
	if rec.Transactional && !t.q.Committed && (stable < 0 || r.Offset >= stable) {
		rec.Visibility = model.Undecided
	}
	// What is kept of a stream shall not keep its neighbours.
	free := make([]byte, 0, weight(&rec))
	rec.Key, free = keep(free, rec.Key)
	rec.Value, free = keep(free, rec.Value)
	for i := range rec.Headers {
		rec.Headers[i].Value, free = keep(free, rec.Headers[i].Value)
	}
	rec.Size = len(rec.Key) + len(rec.Value)
	return t.add(rec)
}

// matchesKgo reports whether key, value or a header matches.
func matchesKgo(m record.Matcher, r *kgo.Record) bool {
	if m.MatchRecord(&record.Record{Key: r.Key, Value: r.Value}) {
		return true
	}
	for i := range r.Headers {
		if m.MatchRecord(&record.Record{Key: []byte(r.Headers[i].Key), Value: r.Headers[i].Value}) {
			return true
		}
	}
	return false
}

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

// align brings the cursors in line with the topics there are: partitions that are new are read from their start, and so are
// topics that were made anew.
func (t *tail) align() {
	if time.Since(t.looked) > max(everyTail, share*t.c.current().took) {
		t.looked = time.Now()
		if err := t.c.refresh(t.ctx); err != nil {
			t.note(err)
			t.lost = true
			return
		}
	}
	now := t.c.current()
	if now == t.table {
		return
	}
	t.table = now
	put := map[string]map[int32]kgo.Offset{}
	drop := map[string][]int32{}
	for tp, k := range t.cursors {
		m := now.topics[tp.Topic]
		switch {
		case m == nil || m.part(tp.Partition) == nil:
			t.note(fmt.Errorf("%w: %s was deleted", model.ErrNoPartition, tp))
			delete(t.cursors, tp)
			drop[tp.Topic] = append(drop[tp.Topic], tp.Partition)
		case m.id != k.id:
			t.note(fmt.Errorf("%s was deleted and made anew", tp))
			*k = cursor{id: m.id}
			drop[tp.Topic] = append(drop[tp.Topic], tp.Partition)
			addPlace(put, tp, 0)
		}
	}
	wanted := slices.Clone(t.q.Partitions)
	for _, name := range t.q.Topics {
		if m := now.topics[name]; m != nil {
			wanted = append(wanted, partitionsOf([]*topicMeta{m})...)
		}
	}
	for _, tp := range wanted {
		m := now.topics[tp.Topic]
		if m == nil || m.part(tp.Partition) == nil || t.cursors[tp] != nil {
			continue
		}
		t.cursors[tp] = &cursor{id: m.id}
		addPlace(put, tp, 0)
	}
	if len(drop) > 0 {
		t.kgo.RemoveConsumePartitions(drop)
		for name := range drop {
			if now.topics[name] == nil {
				t.kgo.PurgeTopicsFromConsuming(name)
			}
		}
	}
	if len(put) > 0 {
		t.kgo.AddConsumePartitions(put)
	}
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
	for _, k := range t.cursors {
		if k.next >= 0 {
			behind += max(0, k.end-k.next)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Behind = behind
	now := t.stats
	now.Matched = t.ring.next
	if was := t.last; was.Matched == now.Matched && was.Seen == now.Seen && was.Dropped == now.Dropped && was.Behind == now.Behind && errorText(was.Err) == errorText(now.Err) {
		return
	}
	t.last = now
	close(t.changed)
	t.changed = make(chan struct{})
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
