package ui

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/assets"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

// placeOf returns an address that suits a kind of page.
func placeOf(k page.Kind) page.Open {
	tp := model.TopicPartition{Topic: "orders", Partition: 1}
	o := page.Open{Kind: k, Addr: model.PartitionAddress(tp)}
	switch k {
	case page.Topics, page.Groups, page.Journal, page.Overview, page.Check, page.Create, page.Disk:
		o.Addr = model.TopicAddress("")
	case page.Partitions, page.Tail, page.Search, page.Alter, page.Delete:
		o.Addr = model.TopicAddress("orders")
	case page.Batches, page.Index:
		o.Addr.Segment = 4_790_000
		o.Args.Index = model.OffsetIndex
	case page.Record:
		o.Addr.Offset = 4_812_330
	case page.Group, page.Reset:
		o.Addr = model.TopicAddress("")
		o.Addr.Group = "audit"
	}
	return o
}

func TestEveryPage(t *testing.T) {
	for kind, build := range registry() {
		t.Run(string(kind), func(t *testing.T) {
			if assets.Help(string(kind)) == "" {
				t.Error("no text for newcomers")
			}
			for name, src := range map[string]model.Source{
				"all abilities": uitest.NewSource(uitest.Now()),
				"none":          uitest.Plain(uitest.NewSource(uitest.Now())),
				"empty":         &uitest.Source{},
				"failing":       &uitest.Source{Fail: func(string) error { return &model.CorruptError{Path: "/data/x\x1b[2J.log", Pos: 16_560, What: "crc"} }},
			} {
				t.Run(name, func(t *testing.T) {
					p := build(uitest.Env(t, src), placeOf(kind))
					fitsSome(t, p)
					uitest.Drive(p, p.Init())
					uitest.Keys(t, p)
					fitsSome(t, p)
					uitest.Send(p, model.Change{Version: 2, All: true, Topics: true, Groups: true}, page.Changed{}, page.Shown{})
					fitsSome(t, p)
					p.Close()
				})
			}
		})
	}
}

// fitsSome draws the sizes at which layouts change; the pages' own tests draw all.
func fitsSome(t *testing.T, p page.Page) {
	t.Helper()
	for _, w := range []int{1, 20, 47, 80, 120, 300} {
		for _, h := range []int{1, 5, 20, 60} {
			if !uitest.Fit(t, p.View(w, h), w, h) {
				return
			}
		}
	}
}

func BenchmarkPages(b *testing.B) {
	for kind, build := range registry() {
		b.Run(string(kind), func(b *testing.B) {
			p := build(uitest.Env(b, uitest.NewSource(uitest.Now())), placeOf(kind))
			defer p.Close()
			uitest.Drive(p, p.Init())
			b.ReportAllocs()
			for b.Loop() {
				_ = p.View(200, 56)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2e6, "of_2ms")
		})
	}
}

// TestKeysWhileAnythingIsShown presses every key there is on every page before any answer has come: no page may panic,
// and each key must leave a frame that fits.
func TestKeysWhileAnythingIsShown(t *testing.T) {
	for kind := range registry() {
		t.Run(string(kind), func(t *testing.T) {
			o := placeOf(kind)
			r, err := newRoot(t.Context(), Options{Source: uitest.NewSource(uitest.Now()), Open: o.Addr, Kind: kind, Now: uitest.Now, Environ: []string{}})
			if err != nil {
				t.Fatal(err)
			}
			defer r.close()
			r.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
			for _, c := range append(r.top().page.Commands(), r.commands()...) {
				for _, k := range c.Key.Keys() {
					r.overlay = nil
					r.Update(uitest.Key(k))
					frame := r.View()
					if r.crash != nil {
						t.Fatalf("key %q: %v", k, r.crash)
					}
					uitest.Fit(t, frame, 80, 24)
				}
			}
		})
	}
}
