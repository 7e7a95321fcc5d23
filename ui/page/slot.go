package page

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// slowAfter is how long a request runs before it is said that it does.
const slowAfter = 150 * time.Millisecond

// token tells one request from another, and carries across goroutines whether it is slow.
type token struct {
	slow atomic.Bool
	done chan struct{}
}

// Result is what a Slot's request came to.
type Result[T any] struct {
	Val T
	Err error
	by  *token
}

// Slot runs one request at a time: starting another cancels the one before and drops its late answer. The zero Slot is
// ready.
type Slot[T any] struct {
	by     *token
	cancel context.CancelFunc
}

// Start cancels what runs and returns the command that runs fn and brings its Result. fn runs off the UI goroutine and
// must return soon after its context ends.
func (s *Slot[T]) Start(ctx context.Context, fn func(context.Context) (T, error)) tea.Cmd {
	s.Cancel()
	ctx, s.cancel = context.WithCancel(ctx)
	by := &token{done: make(chan struct{})}
	s.by = by
	run := func() tea.Msg {
		defer close(by.done)
		v, err := fn(ctx)
		return Result[T]{v, err, by}
	}
	slow := func() tea.Msg {
		t := time.NewTimer(slowAfter)
		defer t.Stop()
		select {
		case <-by.done:
		case <-ctx.Done():
		case <-t.C:
			by.slow.Store(true)
			return Redraw{}
		}
		return nil
	}
	return tea.Batch(run, slow)
}

// Owns reports whether r answers the request that runs now, which is over then.
func (s *Slot[T]) Owns(r Result[T]) bool {
	if s.by == nil || r.by != s.by {
		return false
	}
	s.Cancel()
	return true
}

// Busy reports whether a request runs.
func (s *Slot[T]) Busy() bool { return s.by != nil }

// Slow reports whether a request has been running for more than 150 ms, so that it is worth a word.
func (s *Slot[T]) Slow() bool { return s.by != nil && s.by.slow.Load() }

// Cancel ends what runs; its answer is dropped.
func (s *Slot[T]) Cancel() {
	if s.cancel != nil {
		s.cancel()
	}
	s.by, s.cancel = nil, nil
}

// Done turns a result made by hand into one that the slot owns, for tests.
func (s *Slot[T]) Done(v T, err error) Result[T] { return Result[T]{v, err, s.by} }

// Items are what a Stream brings: all that came since the last ones, and with Done its end.
type Items[T any] struct {
	Vals []T
	Done bool
	Err  error // with Done
	by   *token
}

// Stream runs one producer of many items. The zero Stream is ready.
type Stream[T any] struct {
	by     *token
	cancel context.CancelFunc
	pipe   *pipe[T]
}

const (
	// streamHold is how many items wait for the screen before the producer waits.
	streamHold = 1024
	// streamEvery is how long items are gathered after some were taken.
	streamEvery = 40 * time.Millisecond
)

// fault is a panic of a producer, to be raised again where the root catches it.
type fault struct {
	value any
	stack []byte
}

// Error says what and where.
func (f *fault) Error() string { return fmt.Sprintf("%v\n\n%s", f.value, f.stack) }

// pipe hands items from the producer to the screen.
type pipe[T any] struct {
	in  chan T
	end chan error // capacity 1
}

// Start cancels what runs, starts run on its own goroutine, which ends with run, and returns the command that brings the
// first Items. After each Items that are not Done ask for Next. emit may wait while the screen is behind; it returns
// false when the stream was cancelled.
func (s *Stream[T]) Start(ctx context.Context, run func(ctx context.Context, emit func(T) bool) error) tea.Cmd {
	s.Cancel()
	ctx, s.cancel = context.WithCancel(ctx)
	s.by = &token{done: make(chan struct{})}
	p := &pipe[T]{in: make(chan T, streamHold), end: make(chan error, 1)}
	s.pipe = p
	emit := func(v T) bool {
		select {
		case p.in <- v:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() { // ends with run
		var err error
		defer func() {
			if v := recover(); v != nil {
				err = &fault{v, debug.Stack()}
			}
			p.end <- err
		}()
		err = run(ctx, emit)
	}()
	return s.next(0)
}

// Next returns the command that brings the next Items.
func (s *Stream[T]) Next() tea.Cmd { return s.next(streamEvery) }

func (s *Stream[T]) next(gather time.Duration) tea.Cmd {
	p, by := s.pipe, s.by
	if p == nil {
		return nil
	}
	return func() tea.Msg {
		if gather > 0 && len(p.in) < streamHold/2 {
			t := time.NewTimer(gather)
			defer t.Stop()
			select {
			case <-t.C:
			case err := <-p.end:
				return p.last(nil, err, by)
			}
		}
		select {
		case v := <-p.in:
			return p.drain(Items[T]{Vals: []T{v}, by: by})
		case err := <-p.end:
			return p.last(nil, err, by)
		}
	}
}

// drain takes what waits and no more.
func (p *pipe[T]) drain(it Items[T]) Items[T] {
	for len(it.Vals) < streamHold {
		select {
		case v := <-p.in:
			it.Vals = append(it.Vals, v)
		default:
			return it
		}
	}
	return it
}

// last takes what the producer left behind when it ended.
func (p *pipe[T]) last(vals []T, err error, by *token) Items[T] {
	var f *fault
	if errors.As(err, &f) {
		panic(f)
	}
	for {
		select {
		case v := <-p.in:
			vals = append(vals, v)
		default:
			return Items[T]{Vals: vals, Done: true, Err: err, by: by}
		}
	}
}

// Owns reports whether it comes from the producer that runs now, which is over with Done.
func (s *Stream[T]) Owns(it Items[T]) bool {
	if s.by == nil || it.by != s.by {
		return false
	}
	if it.Done {
		s.Cancel()
	}
	return true
}

// Busy reports whether a producer runs.
func (s *Stream[T]) Busy() bool { return s.by != nil }

// Cancel ends what runs; what it still brings is dropped.
func (s *Stream[T]) Cancel() {
	if s.cancel != nil {
		s.cancel()
	}
	s.by, s.cancel, s.pipe = nil, nil, nil
}
