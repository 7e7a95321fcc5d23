package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/partition"
)

// cleaner says which logs are being cleaned, and which are to be left alone.
type cleaner struct {
	mu   sync.Mutex
	busy map[*partition.Log]bool
	// rest is until when (ms) a log is passed over: it could not be cleaned, or not by as much as it seemed.
	rest map[*partition.Log]int64
	wake chan struct{} // something may have become due
}

// forEver is the rest of a log that is damaged: until the next start, as in Kafka.
const forEver = int64(1) << 62

func newCleaner() *cleaner {
	return &cleaner{busy: map[*partition.Log]bool{}, rest: map[*partition.Log]int64{}, wake: make(chan struct{}, 1)}
}

// soon has the cleaner look as soon as may be.
func (c *cleaner) soon() {
	select {
	case c.wake <- struct{}{}:
	default: // it is about to
	}
}

// done lets a log be cleaned again, at ms at the earliest; 0 means at once.
func (c *cleaner) done(l *partition.Log, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, l)
	delete(c.rest, l)
	if at > 0 {
		c.rest[l] = at
	}
}

// clean compacts what is due, log by log, until ctx ends. Where nothing is, it waits for log.cleaner.backoff.ms.
func (e *Engine) clean(ctx context.Context) {
	backoff := time.Duration(min(e.broker.Cleaner.BackoffMS, int64(24*time.Hour/time.Millisecond))) * time.Millisecond
	timer := time.NewTimer(backoff)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-e.cleaner.wake:
		}
		for ctx.Err() == nil {
			did, err := e.cleanNext(ctx)
			if err != nil && ctx.Err() == nil {
				e.notice(err.Error())
			}
			if !did {
				break
			}
		}
		timer.Reset(backoff)
	}
}

// Compact cleans the logs that are due now, one after the other, as the background does by itself.
func (e *Engine) Compact(ctx context.Context) error {
	done, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	for {
		did, err := e.cleanNext(ctx)
		if err != nil || !did {
			return err
		}
	}
}

// cleanNext cleans the log with the highest dirty ratio of those that are due; did is false where none is.
func (e *Engine) cleanNext(ctx context.Context) (did bool, err error) {
	l, err := e.filthiest(ctx)
	if l == nil {
		return false, err
	}
	now := e.nowMS()
	again := int64(0)
	defer func() { e.cleaner.done(l, again) }()
	o := partition.CompactOptions{Memory: e.broker.Cleaner.Memory / int64(e.broker.Cleaner.Threads), Load: e.broker.Cleaner.Load}
	if rate := e.broker.Cleaner.BytesPerSecond; rate > 0 {
		o.Pace = pacer(rate)
	}
	c, cerr := l.Compact(ctx, o)
	var corrupt *model.CorruptError
	switch {
	case errors.As(cerr, &corrupt):
		again = forEver
	case cerr != nil || c.To == c.From:
		again = now + e.broker.Cleaner.BackoffMS
	}
	if c.To > c.From {
		cerr = errors.Join(cerr, e.checkpoint(cleanedOffsets))
	}
	return true, errors.Join(err, cerr)
}

// filthiest takes the log that is most in need of cleaning; nil where none is due. Errors of single logs come with it.
func (e *Engine) filthiest(ctx context.Context) (best *partition.Log, err error) {
	c := e.cleaner
	logs := e.logs()
	now := e.nowMS()
	c.mu.Lock()
	defer c.mu.Unlock()
	for l, at := range c.rest {
		if at <= now {
			delete(c.rest, l)
		}
	}
	var errs []error
	most := 0.0
	for _, l := range logs {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		cfg := l.Config()
		if !cfg.Compact || c.busy[l] || c.rest[l] > now {
			continue
		}
		d, err := l.Dirty()
		if errors.Is(err, model.ErrClosed) {
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("look whether %s is to be compacted: %w", l.TP(), err))
			c.rest[l] = now + e.broker.Cleaner.BackoffMS
			continue
		}
		if d.Due(cfg) && d.Ratio() > most {
			best, most = l, d.Ratio()
		}
	}
	if best != nil {
		c.busy[best] = true
	}
	return best, errors.Join(errs...)
}

// pacer holds work down to so many bytes a second.
func pacer(rate float64) func(ctx context.Context, bytes int) error {
	var owed time.Duration
	last := time.Now()
	return func(ctx context.Context, bytes int) error {
		now := time.Now()
		owed = max(0, owed-now.Sub(last)) + time.Duration(float64(bytes)/rate*float64(time.Second))
		last = now
		if owed < 10*time.Millisecond {
			return nil
		}
		timer := time.NewTimer(owed)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
