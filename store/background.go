package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/partition"
)

const (
	laterRoom  = 256
	kickRoom   = 256
	trashEvery = time.Second
)

// start begins what runs in the background: one goroutine that looks at what is due, one for the flushes of closed
// segments, one that removes what was deleted, and those that compact. Close ends them.
func (e *Engine) start() {
	ctx, stop := context.WithCancel(context.Background())
	e.stop = stop
	e.background.Go(func() { e.look(ctx) })
	e.background.Go(func() { e.work(ctx) })
	e.background.Go(func() { e.tidy(ctx) })
	if e.broker.Cleaner.Enable {
		for range e.broker.Cleaner.Threads {
			e.background.Go(func() { e.clean(ctx) })
		}
	}
}

// doLater takes work that need not be waited for. It is called with a log locked, so it never does the work itself.
func (e *Engine) doLater(work func()) {
	select {
	case e.later <- work:
	default:
		e.ended.Go(work)
	}
}

func (e *Engine) work(ctx context.Context) {
	for {
		select {
		case w := <-e.later:
			w()
		case <-ctx.Done():
			return // Close flushes what is left
		}
	}
}

// look does what is due, each thing in its own interval.
func (e *Engine) look(ctx context.Context) {
	retention, points := time.NewTicker(e.o.RetentionEvery), time.NewTicker(e.o.CheckpointEvery)
	waters, flush := time.NewTicker(e.o.HighWaterEvery), time.NewTicker(e.o.FlushEvery)
	for _, t := range []*time.Ticker{retention, points, waters, flush} {
		defer t.Stop()
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-retention.C:
			err = e.retain(ctx, e.logs())
		case name := <-e.kick:
			logs := e.topicLogs(name)
			if name == "" {
				logs = e.logs()
			}
			err = e.retain(ctx, logs)
		case <-points.C:
			err = errors.Join(e.checkpoint(recoveryPoints), e.checkpoint(logStarts))
		case <-waters.C:
			err = e.checkpoint(highWatermarks)
		case <-flush.C:
			err = e.flushDue(ctx)
		}
		if err != nil && ctx.Err() == nil {
			e.notice(err.Error())
		}
	}
}

// Retain looks at the retention of every partition now, as the background does in its interval.
func (e *Engine) Retain(ctx context.Context) error {
	done, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return e.retain(ctx, e.logs())
}

func (e *Engine) retain(ctx context.Context, logs []*partition.Log) error {
	var errs []error
	for _, l := range logs {
		if ctx.Err() != nil {
			break
		}
		if _, err := l.Retain(); err != nil && !errors.Is(err, model.ErrClosed) {
			errs = append(errs, fmt.Errorf("retention of %s: %w", l.TP(), err))
		}
	}
	return errors.Join(errs...)
}

// lookSoon has the retention of a topic looked at as soon as may be; "" means all topics.
func (e *Engine) lookSoon(topic string) {
	e.cleaner.soon()
	select {
	case e.kick <- topic:
	default: // so many wait that the regular look comes first
	}
}

func (e *Engine) flushDue(ctx context.Context) error {
	var errs []error
	for _, l := range e.logs() {
		if ctx.Err() != nil {
			break
		}
		if err := l.FlushDue(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Flush makes everything that was appended before the call survive a power loss.
func (e *Engine) Flush(ctx context.Context) error {
	done, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	var errs []error
	for _, l := range e.logs() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.Flush(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// tidy removes what was deleted. Ten thousand folders take their time: nothing else waits for it.
func (e *Engine) tidy(ctx context.Context) {
	every := time.NewTicker(trashEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if err := e.trash.sweep(ctx, e.nowMS()); err != nil {
			e.notice(err.Error())
		}
	}
}

// Sweep removes the deleted files and folders whose delay is over, as the background does every second.
func (e *Engine) Sweep() error { return e.trash.sweep(context.Background(), e.nowMS()) }

// trash is what is to be removed, and when.
type trash struct {
	mu   sync.Mutex
	list []trashed
}

type trashed struct {
	path string
	due  int64 // ms
}

func (t *trash) add(path string, due int64) { t.addAll([]string{path}, due) }

func (t *trash) addAll(paths []string, due int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range paths {
		t.list = append(t.list, trashed{p, due})
	}
}

// sweep removes what is due, until ctx ends. What cannot be removed is told and left for the next start.
func (t *trash) sweep(ctx context.Context, now int64) error {
	t.mu.Lock()
	var due []string
	t.list = slices.DeleteFunc(t.list, func(x trashed) bool {
		if x.due <= now {
			due = append(due, x.path)
		}
		return x.due <= now
	})
	t.mu.Unlock()
	var errs []error
	for _, p := range due {
		if ctx.Err() != nil {
			break // the next start finds the rest
		}
		if err := os.RemoveAll(p); err != nil {
			errs = append(errs, fmt.Errorf("remove deleted: %w", err))
		}
	}
	return errors.Join(errs...)
}

// writers bounds how many logs keep files open for appending.
type writers struct {
	mu   sync.Mutex
	room int
	open []*partition.Log
}

// opened notes that a log, which is locked, has opened its files, and closes those of the logs unused for longest where
// there are too many. A log that is busy at the moment is left alone.
func (w *writers) opened(l *partition.Log) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.open, l) {
		w.open = append(w.open, l)
	}
	if len(w.open) <= w.room {
		return
	}
	slices.SortStableFunc(w.open, func(a, b *partition.Log) int { return cmp.Compare(a.Used(), b.Used()) })
	extra := len(w.open) - w.room*7/8 // some at once, so that not every open sorts
	w.open = slices.DeleteFunc(w.open, func(o *partition.Log) bool {
		if extra <= 0 || o == l {
			return false
		}
		done, err := o.Suspend()
		if !done || err != nil {
			return false // it is told when the log is closed
		}
		extra--
		return true
	})
}

// forget drops a log that is closed.
func (w *writers) forget(l *partition.Log) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = slices.DeleteFunc(w.open, func(o *partition.Log) bool { return o == l })
}
