package ui

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/uitest"
)

// TestClosedWhileNothingIsAnswered presses all keys of each page over a source that never answers, in a terminal of 20x5
// cells, and closes it: keys must work meanwhile, and nothing that was started may be left over, which synctest sees.
func TestClosedWhileNothingIsAnswered(t *testing.T) {
	for kind := range registry() {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := placeOf(kind)
				r, err := newRoot(t.Context(), Options{Source: &hung{uitest.NewSource(uitest.Now())}, Open: o.Addr, Kind: kind, Now: uitest.Now, Environ: []string{}})
				if err != nil {
					t.Fatal(err)
				}
				m := &monkey{t: t, r: r, msgs: make(chan tea.Msg), rnd: rand.New(rand.NewPCG(1, 1))}
				m.update(tea.WindowSizeMsg{Width: 20, Height: 5})
				m.run(r.Init())
				for _, c := range append(r.top().page.Commands(), r.commands()...) {
					k := uitest.Key(c.Key.Keys()[0])
					if leaves(k) {
						continue
					}
					m.update(k)
					m.settle()
					frame := r.View()
					if r.crash != nil {
						t.Fatalf("key %q: %v", k, r.crash)
					}
					lines := strings.Split(frame, "\n")
					for _, l := range lines {
						if n := ansi.StringWidth(l); n != 20 || len(lines) != 5 {
							t.Fatalf("key %q: %d lines, one of %d cells", k, len(lines), n)
						}
					}
				}
				r.close()
				<-time.After(time.Minute) // timers of the program are not called back, but end
			})
		})
	}
}

// hung is a source that answers nothing until it is not waited for any more.
type hung struct{ *uitest.Source }

func (h *hung) never(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (h *hung) Info(c context.Context) (model.Info, error)      { return model.Info{}, h.never(c) }
func (h *hung) Topics(c context.Context) ([]model.Topic, error) { return nil, h.never(c) }
func (h *hung) Partitions(c context.Context, _ string) ([]model.Partition, error) {
	return nil, h.never(c)
}
func (h *hung) Records(c context.Context, _ model.RecordQuery) (model.RecordPage, error) {
	return model.RecordPage{}, h.never(c)
}
func (h *hung) Groups(c context.Context) ([]model.Group, error) { return nil, h.never(c) }
func (h *hung) Segments(c context.Context, _ model.TopicPartition) ([]model.Segment, error) {
	return nil, h.never(c)
}
func (h *hung) Batches(c context.Context, _ model.BatchQuery) (model.BatchPage, error) {
	return model.BatchPage{}, h.never(c)
}
func (h *hung) Lookup(c context.Context, _ model.TopicPartition, _ model.Target) (model.LookupResult, error) {
	return model.LookupResult{}, h.never(c)
}
func (h *hung) Verify(c context.Context, _ model.VerifyQuery, _ func(model.VerifyEvent)) (model.VerifySummary, error) {
	return model.VerifySummary{}, h.never(c)
}
func (h *hung) Search(c context.Context, _ model.SearchQuery, _ func(model.SearchEvent) bool) (model.SearchEnd, error) {
	return model.SearchEnd{}, h.never(c)
}
func (h *hung) Tail(c context.Context, _ model.TailQuery) (model.Tail, error) { return nil, h.never(c) }
func (h *hung) Group(c context.Context, _ string) (model.Group, error) {
	return model.Group{}, h.never(c)
}
func (h *hung) PlanReset(c context.Context, _ model.ResetRequest) (model.ResetPlan, error) {
	return model.ResetPlan{}, h.never(c)
}
func (h *hung) Journal(c context.Context) ([]model.JournalEntry, error) { return nil, h.never(c) }
func (h *hung) TopicConfig(c context.Context, _ string) ([]model.ConfigEntry, error) {
	return nil, h.never(c)
}
func (h *hung) PreviewDelete(c context.Context, _ model.TopicPartition, _ int64) (model.Preview, error) {
	return model.Preview{}, h.never(c)
}
func (h *hung) Overview(c context.Context) ([]model.DirOverview, error) { return nil, h.never(c) }
func (h *hung) Count(c context.Context, _ []string) error               { return h.never(c) }
