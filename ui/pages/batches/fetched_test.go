package batches

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

// told is a source that has a log of batches and no files.
type told struct {
	model.Source
	all   []model.Batch
	start int64
	cut   int // batches after which an answer ends; 0 for none
	asked int
	err   error
}

func (s *told) end() int64 {
	if len(s.all) == 0 {
		return s.start
	}
	return s.all[len(s.all)-1].Last + 1
}

func (s *told) ListBatches(_ context.Context, _ model.TopicPartition, from int64, most int) (model.BatchRun, error) {
	s.asked++
	r := model.BatchRun{Start: s.start, End: s.end(), Next: max(from, s.start)}
	if from == model.FromEnd {
		r.Next = max(s.start, r.End-int64(most))
	}
	if s.cut > 0 {
		most = min(most, s.cut)
	}
	for _, b := range s.all {
		if b.Last >= r.Next && len(r.Batches) < most {
			r.Batches = append(r.Batches, b)
		}
	}
	if n := len(r.Batches); n > 0 {
		r.Next = r.Batches[n-1].Last + 1
	} else {
		r.Next = max(r.Next, r.End)
	}
	return r, s.err
}

// log is a source of n batches, each so long and at every step offsets, which begin at start.
func log(t testing.TB, n int, start, long, step int64) *told {
	src := &told{Source: uitest.Plain(sample(t)), start: start}
	ms := uitest.Now().UnixMilli() - 60_000
	for i := range int64(n) {
		b := model.Batch{
			Position: model.Unknown, Base: start + i*step, Last: start + i*step + long - 1, Count: int32(long), Bytes: 16_482, Inflated: 52_000, Codec: "zstd",
			Magic: 2, TimestampType: model.CreateTime, FirstTimestamp: ms + i*100, MaxTimestamp: ms + i*100 + 88, ProducerID: 1000, BaseSequence: int32(long * i),
			LeaderEpoch: 3, DeleteHorizon: model.NoTime, CRC: 0x1a2b3c4d, CRCComputed: 0x1a2b3c4d, Valid: true,
		}
		switch i % 5 {
		case 1:
			b.Codec, b.Transactional, b.Inflated = "lz4", true, 61_000
		case 2:
			b.Last, b.Count, b.Bytes, b.Codec, b.Control, b.Transactional = b.Base, 1, 78, "none", "abort", true
		case 3:
			b.Codec, b.ProducerID = "none", model.NoProducer
		}
		src.all = append(src.all, b)
	}
	return src
}

func fetch(t testing.TB, src *told, offset int64) *fetched {
	t.Helper()
	a := model.PartitionAddress(orders2)
	a.Offset = offset
	p, ok := New(uitest.Env(t, src), page.Open{Addr: a}).(*fetched)
	if !ok {
		t.Fatal("it is the page of files")
	}
	uitest.Drive(p, p.Init())
	return p
}

func TestFetchedView(t *testing.T) {
	p := fetch(t, log(t, 30, 4_000_000, 500, 500), model.Unknown)
	p.View(80, 24)
	uitest.Press(p, "k", "k")
	uitest.Golden(t, "fetched-80x24", p.View(80, 24))
	uitest.Golden(t, "fetched-120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	p.rows[p.table.Cursor()].Valid, p.rows[p.table.Cursor()].CRCComputed = false, 0x99887766
	uitest.Contains(t, p.View(80, 24), "CRC is 1a2b3c4d, computed 99887766")
}

func TestFetchedWithoutBatches(t *testing.T) {
	p := fetch(t, log(t, 0, 7, 1, 1), model.Unknown)
	uitest.Contains(t, p.View(100, 20), "holds no batch", "7 to 7")
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	src := log(t, 3, 0, 1, 1)
	src.err = errors.New("broker 2 is gone")
	p = fetch(t, src, model.Unknown)
	uitest.Contains(t, p.View(100, 20), "broker 2 is gone")
	src.err = nil
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(100, 20), "✓")
}

// TestFetchedIsWalkedWhole goes through logs from end to end and back: no batch is passed over, none comes twice.
func TestFetchedIsWalkedWhole(t *testing.T) {
	for name, src := range map[string]*told{
		"gapless":       log(t, 900, 50, 1, 1),
		"long batches":  log(t, 700, 0, 500, 500),
		"small answers": func() *told { s := log(t, 500, 0, 1, 1); s.cut = 7; return s }(),
		"wide holes":    log(t, 450, 9, 1, 1_000_003),
		"holes and cut": func() *told { s := log(t, 300, 9, 2, 70_001); s.cut = 3; return s }(),
		"a hole and a heap": func() *told {
			s := log(t, 600, 0, 1, 1)
			s.all = append(s.all, log(t, 1, 99_000_000, 1, 1).all...)
			return s
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			p := fetch(t, src, model.Unknown)
			if b, ok := p.under(); !ok || b.Base != src.all[len(src.all)-1].Base {
				t.Fatalf("it begins at %+v", b)
			}
			p.View(80, 24)
			for range 4 * len(src.all) {
				if p.table.Cursor() == 0 {
					break
				}
				uitest.Press(p, "k")
			}
			same(t, p, src.all)
			uitest.Press(p, "g")
			p.View(80, 24)
			if b, _ := p.under(); b.Base != src.all[0].Base {
				t.Errorf("g went to %d", b.Base)
			}
			asked := src.asked
			p = fetch(t, src, src.start)
			p.View(80, 24)
			for range len(src.all) {
				uitest.Press(p, "j")
			}
			same(t, p, src.all)
			if n := src.asked - asked; n > 10+2*len(src.all)/max(1, min(src.cut, runLen)) && src.cut > 0 || src.cut == 0 && n > 10 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

func same(t *testing.T, p *fetched, want []model.Batch) {
	t.Helper()
	if len(p.rows) != len(want) {
		t.Fatalf("%d batches, want %d: from %d to %d", len(p.rows), len(want), p.rows[0].Base, p.rows[len(p.rows)-1].Last)
	}
	for i := range want {
		if p.rows[i].Base != want[i].Base {
			t.Fatalf("batch %d is at %d, want %d", i, p.rows[i].Base, want[i].Base)
		}
	}
}

func TestFetchedKeepsNoMoreThanItMust(t *testing.T) {
	src := log(t, 3*keepRuns, 0, 1, 1)
	p := fetch(t, src, 0)
	p.View(80, 24)
	for p.table.Cursor() < p.table.Len-1 {
		uitest.Press(p, "pgdown")
		if len(p.rows) > keepRuns {
			t.Fatalf("keeps %d", len(p.rows))
		}
	}
	if b, _ := p.under(); b.Last+1 != src.end() {
		t.Errorf("ended at %d", b.Last)
	}
	for p.table.Cursor() > 0 {
		uitest.Press(p, "pgup")
	}
	if b, _ := p.under(); b.Base != 0 || len(p.rows) > keepRuns {
		t.Errorf("at %d with %d rows", b.Base, len(p.rows))
	}
}

func TestFetchedBeginsAtASegmentsName(t *testing.T) {
	a := model.PartitionAddress(orders2)
	a.Segment, a.Position = 300, 16_482
	p := New(uitest.Env(t, log(t, 900, 0, 10, 10)), page.Open{Addr: a}).(*fetched)
	uitest.Drive(p, p.Init())
	if b, ok := p.under(); !ok || b.Base != 300 {
		t.Errorf("on %+v", b)
	}
}

// TestFetchedGrowsWhileItReads: a change that comes while an answer is awaited is not lost.
func TestFetchedGrowsWhileItReads(t *testing.T) {
	src := log(t, 3, 0, 10, 10)
	p := fetch(t, src, model.Unknown)
	reading := p.again()
	src.all = log(t, 5, 0, 10, 10).all
	before, _ := src.ListBatches(t.Context(), orders2, 0, 3)
	before.End = before.Next
	uitest.Send(p, model.Change{All: true})
	_ = reading // it is answered with what was there before
	uitest.Send(p, p.load.Done(run{before, anew}, nil))
	same(t, p, src.all)
}

func TestFetchedOpensAndFinds(t *testing.T) {
	src := log(t, 900, 0, 10, 10)
	p := fetch(t, src, 4_314)
	p.View(80, 24)
	at := func(base int64) {
		t.Helper()
		if b, ok := p.under(); !ok || b.Base != base {
			t.Errorf("on %+v, want %d", b, base)
		}
	}
	at(4_310)
	want := model.PartitionAddress(orders2)
	want.Offset = 4_310
	if got := uitest.Press(p, "enter"); fmt.Sprint(got) != fmt.Sprint([]page.Request{page.Open{Kind: page.Records, Addr: want}}) {
		t.Errorf("enter opened %v", got)
	}
	if c := uitest.Press(p, "y")[0].(page.Copy); c.Text != "orders/2@4310" {
		t.Error(c.Text)
	}
	if a, ok := uitest.Press(p, "/")[0].(page.Ask); !ok || a.ID != askFind {
		t.Fatal("no question")
	}
	find := func(text string) string {
		return fmt.Sprint(uitest.Send(p, page.Answered{ID: askFind, Text: text, OK: true}))
	}
	find("17")
	at(10)
	find("8,003")
	at(8_000)
	for text, want := range map[string]string{"9000": "the log ends at 9,000", "2026-11-30 05:00": "want an offset", "soon": "want"} {
		if got := find(text); !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
	uitest.Press(p, "ctrl+r")
	at(8_000)
	uitest.Press(p, "G")
	at(8_990)
	src.all = log(t, 903, 0, 10, 10).all
	uitest.Send(p, model.Change{Partitions: []model.TopicPartition{orders2}})
	at(8_990)
	if got := p.Status(); !strings.Contains(got, "to 9,020 · log 0 to 9,021") {
		t.Error(got)
	}
}
