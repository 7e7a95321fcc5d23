package page

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"
)

// Loader is a Slot for what is read again at every change. While a request runs, another is only noted and made when
// the first is answered: a request that is cancelled at every change would never be answered. The zero Loader is ready.
type Loader[T any] struct {
	Slot[T]
	next func(context.Context) (T, error)
}

// Load runs fn, or notes it when a request runs already.
func (l *Loader[T]) Load(ctx context.Context, fn func(context.Context) (T, error)) tea.Cmd {
	if l.Busy() {
		l.next = fn
		return nil
	}
	l.next = nil
	return l.Start(ctx, fn)
}

// Took reports whether r answers the request that runs, and returns the command of the request that was noted
// meanwhile, which may be nil.
func (l *Loader[T]) Took(ctx context.Context, r Result[T]) (bool, tea.Cmd) {
	if !l.Owns(r) {
		return false, nil
	}
	fn := l.next
	if fn == nil {
		return true, nil
	}
	return true, l.Load(ctx, fn)
}
