package groups

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/strata-kafka/strata/model"
)

// The bounds of what a counter remembers.
const (
	maxAnchors   = 256     // of one partition
	maxRemembers = 1 << 18 // anchors and partitions together: about 8 MiB
)

// counter counts a partition's data records between offsets, and remembers so that a log that grows, and offsets that move
// on, are counted once. It remembers running sums at some offsets (anchors): the count between two of them is the
// difference of their sums, and a new one is counted from its nearest neighbour.
type counter struct {
	logs Logs
	ttl  time.Duration // how long sums are believed: compaction takes records away without moving an end
	now  func() time.Time

	mu    sync.Mutex
	byTP  map[model.TopicPartition]*anchors
	total int
}

// anchors are one partition's sums.
//
// Invariants: offs is strictly ascending; sums[i] - sums[j] data records lie in [offs[j], offs[i]).
type anchors struct {
	mu         sync.Mutex
	made       time.Time
	offs, sums []int64
}

// between counts the data records in [from, to). start and end are the log's bounds now.
func (c *counter) between(ctx context.Context, tp model.TopicPartition, from, to, start, end int64) (model.Count, error) {
	if from >= to {
		return model.Exactly(0), nil
	}
	a := c.of(tp)
	a.mu.Lock()
	defer a.mu.Unlock()
	before := len(a.offs)
	defer func() { c.grown(len(a.offs) - before) }()
	a.trim(start, end, c.now(), c.ttl)
	lo, exact, err := c.sum(ctx, tp, a, from, to)
	if err != nil || !exact {
		return c.plain(ctx, tp, from, to, err)
	}
	hi, exact, err := c.sum(ctx, tp, a, to, from)
	if err != nil || !exact {
		return c.plain(ctx, tp, from, to, err)
	}
	return model.Exactly(hi - lo), nil
}

// cached answers from memory alone, as far as it can without counting.
func (c *counter) cached(tp model.TopicPartition, from, to, start, end int64) (model.Count, bool) {
	if from >= to {
		return model.Exactly(0), true
	}
	a := c.of(tp)
	if !a.mu.TryLock() {
		return model.Count{}, false
	}
	defer a.mu.Unlock()
	before := len(a.offs)
	defer func() { c.grown(len(a.offs) - before) }()
	a.trim(start, end, c.now(), c.ttl)
	i, ok := slices.BinarySearch(a.offs, from)
	j, ok2 := slices.BinarySearch(a.offs, to)
	if !ok || !ok2 {
		return model.Count{}, false
	}
	return model.Exactly(a.sums[j] - a.sums[i]), true
}

// plain counts without remembering, where the sums are no help.
func (c *counter) plain(ctx context.Context, tp model.TopicPartition, from, to int64, err error) (model.Count, error) {
	if err != nil {
		return model.Count{}, err
	}
	return c.logs.CountBetween(ctx, tp, from, to)
}

// sum returns the running sum at an offset, counting from the nearest anchor, or from other where there is none yet.
// exact is false when the log could only be estimated; nothing is remembered then.
func (c *counter) sum(ctx context.Context, tp model.TopicPartition, a *anchors, off, other int64) (sum int64, exact bool, err error) {
	i, found := slices.BinarySearch(a.offs, off)
	if found {
		return a.sums[i], true, nil
	}
	if len(a.offs) == 0 {
		a.offs, a.sums = append(a.offs, other), append(a.sums, 0)
		i, _ = slices.BinarySearch(a.offs, off)
	}
	near := i // the neighbour above, unless the one below is nearer
	if i == len(a.offs) || i > 0 && off-a.offs[i-1] <= a.offs[i]-off {
		near = i - 1
	}
	base, sign, lo, hi := a.sums[near], int64(1), a.offs[near], off
	if lo > hi {
		lo, hi, sign = hi, lo, -1
	}
	n, err := c.logs.CountBetween(ctx, tp, lo, hi)
	if err != nil {
		return 0, false, err
	}
	if n.State != model.CountExact {
		return 0, false, nil
	}
	sum = base + sign*n.N
	a.offs, a.sums = slices.Insert(a.offs, i, off), slices.Insert(a.sums, i, sum)
	return sum, true, nil
}

// trim drops the sums that can no longer be believed: of offsets below the log start, whose records are gone, above the log
// end, when the log was cut, and all of them when they are old. Too many are thinned out.
func (a *anchors) trim(start, end int64, now time.Time, ttl time.Duration) {
	if len(a.offs) == 0 || now.Sub(a.made) > ttl {
		a.offs, a.sums, a.made = a.offs[:0], a.sums[:0], now
		return
	}
	lo, _ := slices.BinarySearch(a.offs, start)
	hi, _ := slices.BinarySearch(a.offs, end+1)
	hi = max(hi, lo)
	a.offs, a.sums = slices.Delete(a.offs, hi, len(a.offs)), slices.Delete(a.sums, hi, len(a.sums))
	a.offs, a.sums = slices.Delete(a.offs, 0, lo), slices.Delete(a.sums, 0, lo)
	if len(a.offs) < maxAnchors {
		return
	}
	n := 0
	for i := 0; i < len(a.offs); i += 2 {
		a.offs[n], a.sums[n] = a.offs[i], a.sums[i]
		n++
	}
	a.offs, a.sums = a.offs[:n], a.sums[:n]
}

// of returns a partition's sums.
func (c *counter) of(tp model.TopicPartition) *anchors {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.byTP[tp]
	if a == nil {
		a = &anchors{}
		c.byTP[tp] = a
		c.total++
	}
	return a
}

// grown keeps the books of how much is remembered; too much is forgotten whole.
func (c *counter) grown(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total = max(0, c.total+n)
	if c.total > maxRemembers {
		clear(c.byTP)
		c.total = 0
	}
}

// forget drops what is remembered of a topic, or of everything where topic is "".
func (c *counter) forget(topic string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for tp := range c.byTP {
		if topic == "" || tp.Topic == topic {
			delete(c.byTP, tp)
		}
	}
}
