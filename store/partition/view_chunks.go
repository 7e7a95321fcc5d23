package partition

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"github.com/strata-kafka/strata/store/segment"
)

const (
	// chunkBytes is how much of a log one worker takes at once.
	chunkBytes = 2 << 20
	// maxWorkers is on how many goroutines a search or a check runs at the most.
	maxWorkers = 2
)

// chunk is a run of whole batches of one layer.
type chunk struct {
	n        int // number of the layer
	from, to int64
}

// workers is on how many goroutines to work.
func workers() int { return max(1, min(maxWorkers, runtime.GOMAXPROCS(0))) }

// inOrder runs work on each item on up to n goroutines and gives take the results in the order of the items, until take
// returns false or ctx ends. It returns when all goroutines have ended.
func inOrder[C, R any](ctx context.Context, n int, items iter.Seq[C], work func(worker int, item C) R, take func(R) bool) {
	if n <= 1 {
		for c := range items {
			if ctx.Err() != nil || !take(work(0, c)) {
				return
			}
		}
		return
	}
	type job struct {
		item C
		out  chan R
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	// More wait than there are goroutines, so that none has to wait for who takes the results.
	jobs, queue := make(chan job, n), make(chan job, 4*n)
	wg.Go(func() { // ends with the items, or with ctx
		defer close(jobs)
		defer close(queue)
		for c := range items {
			j := job{c, make(chan R, 1)}
			select {
			case queue <- j:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	})
	for w := range n {
		wg.Go(func() { // ends with jobs
			for j := range jobs {
				if ctx.Err() != nil {
					return // what is still queued is not wanted any more
				}
				j.out <- work(w, j.item)
			}
		})
	}
	for j := range queue {
		select {
		case r := <-j.out:
			if !take(r) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// cuts returns the bytes at which a layer's [from, to) is cut into chunks of about chunkBytes, both ends included.
func (v *View) cuts(ctx context.Context, l *layer, f *segment.File, from, to int64) ([]int64, error) {
	list := []int64{from}
	for at := from + chunkBytes; at+chunkBytes/2 < to; at += chunkBytes {
		pos, err := v.batchBefore(ctx, l, f, at)
		if err != nil {
			return nil, err
		}
		if pos > list[len(list)-1] && pos < to {
			list = append(list, pos)
		}
	}
	return append(list, to), nil
}
