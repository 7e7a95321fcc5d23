package partition

import (
	"context"
	"slices"
	"testing"
	"time"
)

// TestTwoChunksAreWorkedOnAtOnce lets each piece of work wait for another that goes on at the same time: were they done
// one after the other, none would end.
func TestTwoChunksAreWorkedOnAtOnce(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	items := make([]int, 64)
	for i := range items {
		items[i] = i
	}
	meet := make(chan struct{})
	var got []int
	inOrder(ctx, 2, slices.Values(items), func(_, i int) int {
		select {
		case meet <- struct{}{}:
		case <-meet:
		case <-ctx.Done():
		}
		return i
	}, func(i int) bool {
		got = append(got, i)
		return true
	})
	if ctx.Err() != nil || !slices.Equal(got, items) {
		t.Errorf("%d of %d results in order: %v", len(got), len(items), ctx.Err())
	}
}
