package groups

import (
	"context"
	"time"

	"github.com/strata-kafka/strata/model"
)

// Counter counts data records between offsets of a partition and remembers, for sources whose groups are kept elsewhere:
// a log that grows, and a group that moves on, are counted once. Its methods may be called from any goroutine.
type Counter struct{ c *counter }

// NewCounter returns a Counter on logs. ttl is how long counted records are believed to be still there; 0 means 30 s.
// now is the clock; nil means time.Now.
func NewCounter(logs Logs, ttl time.Duration, now func() time.Time) *Counter {
	if ttl == 0 {
		ttl = 30 * time.Second
	}
	if now == nil {
		now = time.Now
	}
	return &Counter{&counter{logs: logs, ttl: ttl, now: now, byTP: map[model.TopicPartition]*anchors{}}}
}

// Between counts the data records in [from, to). start and end are the log's bounds now.
func (c *Counter) Between(ctx context.Context, tp model.TopicPartition, from, to, start, end int64) (model.Count, error) {
	return c.c.between(ctx, tp, from, to, start, end)
}

// Cached answers from memory alone; ok is false where it would have to count.
func (c *Counter) Cached(tp model.TopicPartition, from, to, start, end int64) (n model.Count, ok bool) {
	return c.c.cached(tp, from, to, start, end)
}
