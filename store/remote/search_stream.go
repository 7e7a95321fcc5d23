package remote

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
)

// The sizes of the chunks that much is read by, bytes. They grow while the network carries them quickly, so that on a slow
// one nobody waits long for what has come already.
const (
	minBulk   = 256 << 10
	maxBulk   = 4 << 20
	quickBulk = 150 * time.Millisecond
	// ahead is how many chunks wait to be looked at while the next is on its way.
	ahead = 2
)

// run is a run of offsets [from, to) of a partition.
type run struct {
	tp       model.TopicPartition
	from, to int64
	n        int // its number in the query
}

// piece is a chunk of a run, or why there is none.
type piece struct {
	chunk
	run  run
	err  error
	last bool // of its run
}

// stream reads runs one after the other, ahead of who looks at them.
type stream struct {
	out  chan piece
	stop context.CancelFunc
}

// stream begins to read. Whoever has had enough calls stop.
func (c *Cluster) stream(ctx context.Context, cl *kgo.Client, runs []run) *stream {
	ctx, cancel := context.WithCancel(ctx)
	s := &stream{out: make(chan piece, ahead), stop: cancel}
	go func() {
		defer close(s.out)
		size := minBulk
		for _, r := range runs {
			if !c.streamRun(ctx, cl, r, &size, s.out) {
				return
			}
		}
	}()
	return s
}

// streamRun reads one run, and returns whether to go on.
func (c *Cluster) streamRun(ctx context.Context, cl *kgo.Client, r run, size *int, out chan<- piece) bool {
	send := func(p piece) bool {
		select {
		case out <- p:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for at := r.from; at < r.to; {
		begin := time.Now()
		k, err := c.fetch(ctx, cl, r.tp, at, *size)
		if ctx.Err() != nil {
			return false
		}
		switch took := time.Since(begin); {
		case err != nil:
		case took < quickBulk:
			*size = min(2**size, maxBulk)
		case took > 4*quickBulk:
			*size = max(*size/2, minBulk)
		}
		p := piece{chunk: k, run: r, err: err}
		if errors.Is(err, model.ErrOutOfRange) {
			if e, eerr := c.endsNow(ctx, r.tp); eerr == nil && e.start > at { // retention was quicker
				at = e.start
				continue
			}
		}
		p.last = err != nil || len(k.batches) == 0 || k.next >= r.to
		if !send(p) {
			return false
		}
		if p.last {
			return true
		}
		at = k.next
	}
	return send(piece{chunk: chunk{from: r.to, next: r.to}, run: r, last: true})
}

// next returns the next piece; ok is false when there is none.
func (s *stream) next() (piece, bool) {
	p, ok := <-s.out
	return p, ok
}

// failed says why there is no more, where the caller has ended it.
func (s *stream) failed(ctx context.Context) error { return ctx.Err() }
