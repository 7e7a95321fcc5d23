package logdir

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strata-kafka/strata/model"
)

// level says how soon a part is to be looked at.
type level int

// The levels: what is on screen, its counts, all the rest.
const (
	now level = iota
	counts
	later
	levels = iota
)

// small is up to how many bytes of .log a partition is counted as soon as it is looked at, on screen or not.
const small = 256 << 10

// loader looks at parts in the background, so that rows which were listed get their log ends and counts.
type loader struct {
	d *Dir

	mu     sync.Mutex
	queues [levels][]*part
	busy   int
	first  bool          // all was loaded once
	more   chan struct{} // closed and renewed when something is queued or done
}

func newLoader(d *Dir) *loader { return &loader{d: d, more: make(chan struct{})} }

// start begins the loading on two goroutines; they end with the source.
func (l *loader) start() {
	for range walkers {
		l.d.done.Go(l.run)
	}
}

// add queues a part, unless it waits already. d.mu is held.
func (l *loader) add(p *part, at level) {
	if l.d.o.Still || p.queued[at] || p.gone {
		return
	}
	p.queued[at] = true
	l.mu.Lock()
	l.queues[at] = append(l.queues[at], p)
	l.mu.Unlock()
	l.wake()
}

// wake lets those look again who wait for work or for its end.
func (l *loader) wake() {
	l.mu.Lock()
	close(l.more)
	l.more = make(chan struct{})
	l.mu.Unlock()
}

// take returns the part that is most wanted; a nil part comes with a channel that is closed when there may be one.
func (l *loader) take() (*part, level, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at := range level(levels) {
		if q := l.queues[at]; len(q) > 0 {
			p := q[0]
			q[0] = nil
			l.queues[at] = q[1:]
			l.busy++
			return p, at, nil
		}
	}
	return nil, 0, l.more
}

func (l *loader) run() {
	d := l.d
	var told pending
	last := time.Now()
	for d.ctx.Err() == nil {
		p, at, more := l.take()
		if p == nil || time.Since(last) > 2*window {
			d.out.tell(&told)
			last = time.Now()
		}
		if p == nil {
			select {
			case <-d.ctx.Done():
			case <-more:
			}
			continue
		}
		d.mu.Lock()
		p.queued[at] = false
		d.mu.Unlock()
		begin := time.Now()
		d.loadPart(p, at, &told)
		l.mu.Lock()
		l.busy--
		idle := l.busy == 0
		rest := at == later && l.first
		l.first = l.first || idle && len(l.queues[later]) == 0 && d.ctx.Err() == nil && at == later
		l.mu.Unlock()
		if idle {
			l.wake()
		}
		if rest {
			// What is on no screen must not keep a core busy, however many partitions are written to.
			d.rest(4 * time.Since(begin))
		}
	}
}

// rest waits, but not beyond Close.
func (d *Dir) rest(t time.Duration) {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-d.ctx.Done():
	case <-timer.C:
	}
}

// loadPart looks at a part, and counts it where it is on screen or small.
func (d *Dir) loadPart(p *part, at level, told *pending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, _, err := d.lookLocked(p)
	if err == nil && (at == counts || p.row.Bytes <= small) {
		// Why it could not be counted shows when it is asked for.
		_ = d.countLocked(d.ctx, p, v)
	}
	d.mu.Lock()
	if err == nil && at == now && p.row.Records.State != model.CountExact && d.focused(p) {
		d.load.add(p, counts)
	}
	keep := d.focused(p)
	d.mu.Unlock()
	if !keep {
		p.view = nil // thousands of views are not kept for topics that nobody looks at
	}
	told.topics = true
	told.touch(p.tp)
}

// loadAll queues all parts: first those on screen, then the others by name.
func (d *Dir) loadAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]*part, 0, len(d.parts))
	for _, p := range d.parts {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *part) int { return a.tp.Compare(b.tp) })
	for _, p := range list {
		d.load.add(p, d.level(p))
	}
}

// level returns how soon a part is to be looked at. d.mu is held.
func (d *Dir) level(p *part) level {
	if d.focused(p) {
		return now
	}
	return later
}

// Settle waits until all that is loaded and counted in the background is.
func (d *Dir) Settle(ctx context.Context) error {
	for {
		d.mu.Lock()
		walked := d.walked
		d.mu.Unlock()
		l := d.load
		l.mu.Lock()
		idle, more := l.busy == 0 && walked, l.more
		for _, q := range l.queues {
			idle = idle && len(q) == 0
		}
		l.mu.Unlock()
		if idle {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.ctx.Done():
			return model.ErrClosed
		case <-more:
		case <-time.After(window): // the first walk wakes nobody
		}
	}
}

// twice calls do for 0…n-1 on two goroutines, and returns when all is done or ctx has ended.
func twice(ctx context.Context, n int, do func(i int)) error {
	if n == 1 {
		do(0)
		return ctx.Err()
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(walkers, n) {
		all.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	all.Wait()
	return ctx.Err()
}
