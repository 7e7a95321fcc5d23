package logdir

import "context"

// gate is a mutex whose waiting ends with a context.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

func (g gate) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g gate) unlock() { <-g }

// spawn runs what goes on by itself until the source is closed; Close waits for it. It reports whether it runs.
func (d *Dir) spawn(run func()) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.done.Go(run)
	return true
}
