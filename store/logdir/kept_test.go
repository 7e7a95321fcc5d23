package logdir

import (
	"fmt"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// TestViewsAreBounded looks at one partition after the other, with room for two: what is on screen and what was looked
// at last is remembered, the rest is let go.
func TestViewsAreBounded(t *testing.T) {
	names := []string{"screen-0"}
	for i := range 6 {
		names = append(names, fmt.Sprintf("t-%d", i))
	}
	_, d := liveDir(t, names...)
	must(t, d.Settle(t.Context()))
	d.mu.Lock()
	d.kept.room = 2
	d.mu.Unlock()
	d.Focus([]string{"screen"})
	must(t, d.Settle(t.Context()))
	viewed := func() string {
		var out []string
		for _, n := range []model.TopicPartition{{Topic: "screen"}, {Topic: "t"}, {Topic: "t", Partition: 1}, {Topic: "t", Partition: 2}, {Topic: "t", Partition: 5}} {
			p, err := d.find(n)
			must(t, err)
			p.mu.Lock()
			out = append(out, fmt.Sprintf("%s:%v", p.name, p.view != nil))
			p.mu.Unlock()
		}
		return fmt.Sprint(out)
	}
	look := func(n int32) {
		t.Helper()
		_, err := d.view(t.Context(), model.TopicPartition{Topic: "t", Partition: n})
		must(t, err)
	}
	for n := range int32(6) {
		look(n)
	}
	look(5)
	if got, want := viewed(), "[screen-0:true t-0:false t-1:false t-2:false t-5:true]"; got != want {
		t.Errorf("views %s, want %s", got, want)
	}
	d.mu.Lock()
	if n := len(d.kept.list); n != 2 || d.kept.segments != 2 {
		t.Errorf("%d views of %d segments are kept, want the last two", n, d.kept.segments)
	}
	d.mu.Unlock()
	// One that is in use when its turn comes is kept for the next time.
	p, err := d.find(model.TopicPartition{Topic: "t", Partition: 4})
	must(t, err)
	p.mu.Lock()
	look(0)
	p.mu.Unlock()
	look(1)
	look(2)
	if got, want := viewed(), "[screen-0:true t-0:false t-1:true t-2:true t-5:false]"; got != want {
		t.Errorf("views %s, want %s", got, want)
	}
}
