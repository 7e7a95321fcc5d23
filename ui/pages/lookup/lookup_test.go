package lookup

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

var orders2 = model.TopicPartition{Topic: "orders", Partition: 2}

func sample() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	src.Entries = map[model.IndexKind][]model.IndexEntry{}
	for i := range int64(100) {
		b := src.BatchSet[4_488_002][i]
		src.Entries[model.OffsetIndex] = append(src.Entries[model.OffsetIndex], model.IndexEntry{Number: i, Offset: b.Last, Position: b.Position})
		src.Entries[model.TimeIndex] = append(src.Entries[model.TimeIndex], model.IndexEntry{Number: i, Offset: b.Last, Timestamp: b.MaxTimestamp})
	}
	src.Found = model.LookupResult{
		Steps: []model.LookupStep{
			{Step: "segments", What: "binary search over 3 base offsets, 2 compared", Value: "00000000000004488002.log"},
			{Step: "index", What: "binary search over 100 entries, 7 compared", Value: "entry 3, offset 4489501: start at byte 33042"},
			{Step: "scan", What: "from byte 33042: 2 batches, 32964 bytes", Value: "batch 4490002 to 4490501 at byte 49524"},
			{Step: "batch", What: "record, 12 of 500", Value: "offset 4490013, 2026-11-30 05:12:04.012"},
		},
		Found: true, Offset: 4_490_013, Time: uitest.Now().UnixMilli() - 4*3600_000, Segment: 4_488_002, Position: 49_524, Scanned: 32_964,
	}
	return src
}

func open(t testing.TB, src model.Source, o page.Open) *lookup {
	p := New(uitest.Env(t, src), o).(*lookup)
	uitest.Drive(p, p.Init())
	return p
}

func at(offset int64) page.Open {
	a := model.PartitionAddress(orders2)
	a.Offset = offset
	return page.Open{Addr: a}
}

func TestView(t *testing.T) {
	p := open(t, sample(), at(4_490_013))
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
}

func TestASourceWithoutFilesIsNotAsked(t *testing.T) {
	p := open(t, uitest.Plain(sample()), at(4_490_013))
	uitest.Contains(t, p.View(100, 24), "this source shows no files to look into")
}

func TestTypedOffsetAndTime(t *testing.T) {
	src := sample()
	p := open(t, src, page.Open{Addr: model.PartitionAddress(orders2)})
	uitest.Contains(t, p.View(100, 24), "this shows how a record is found", "then enter")
	if !p.TakesText() {
		t.Fatal("letters are not typed")
	}
	uitest.Keys(t, p)
	uitest.Fits(t, p)
	uitest.Type(p, "4,490,013")
	uitest.Press(p, "enter")
	uitest.Contains(t, p.View(100, 30), "✓ offset 4,490,013", "byte 49,524", "4,490,001 ≤ 4,490,013")
	if p.TakesText() {
		t.Error("the steps should have the focus")
	}
	uitest.Press(p, "/")
	p.input.SetValue("")
	uitest.Type(p, "2026-11-30 05:12")
	src.Found.Steps[1].Step = "timeindex"
	uitest.Press(p, "enter")
	uitest.Contains(t, p.View(120, 30), "2026-11-30 05:12:00.000")
	if calls := src.Calls(); !strings.Contains(strings.Join(calls, "\n"), "Lookup orders-2 {true 0 1796015520000}") {
		t.Error(calls)
	}
	uitest.Press(p, "tab")
	p.input.SetValue("noon")
	uitest.Press(p, "enter")
	uitest.Contains(t, p.View(100, 30), "want 2026-11-30T09:00:00Z")
	uitest.Fits(t, p)
}

func TestStepsLeadToTheirPlaces(t *testing.T) {
	p := open(t, sample(), at(4_490_013))
	seg, pos, rec := model.PartitionAddress(orders2), model.PartitionAddress(orders2), model.PartitionAddress(orders2)
	seg.Segment, seg.Offset, rec.Offset = 4_488_002, 4_490_013, 4_490_013
	pos.Segment, pos.Position = 4_488_002, 49_524
	for step, want := range map[string]page.Open{
		"segments": {Kind: page.Segments, Addr: rec},
		"index":    {Kind: page.Index, Addr: seg, Args: page.Args{Index: model.OffsetIndex}},
		"scan":     {Kind: page.Batches, Addr: pos},
		"batch":    {Kind: page.Records, Addr: rec},
	} {
		for i, l := range p.lines {
			if p.last.result.Steps[l.step].Step == step {
				p.list.SetCursor(int64(i))
			}
		}
		if got := uitest.Press(p, "enter"); fmt.Sprint(got) != fmt.Sprint([]page.Request{want}) {
			t.Errorf("%s opened %v", step, got)
		}
	}
	uitest.Press(p, "n")
	if p.input.Value() != "4,490,014" {
		t.Errorf("next looked up %s", p.input.Value())
	}
}

func TestSearchKeepsItsComparisons(t *testing.T) {
	for name, tc := range map[string]struct {
		n, target int64
		mids      string
		last      int64
	}{
		"middle":      {7, 30, "3 5 4", 3},
		"first":       {7, 0, "3 1 0", 0},
		"before all":  {7, -1, "3 1 0", -1},
		"behind all":  {7, 999, "3 5 6", 6},
		"none":        {0, 5, "", -1},
		"one":         {1, 5, "0", 0},
		"in a hole":   {7, 35, "3 5 4", 3},
		"millions of": {1 << 30, 10, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			probes := search(tc.n, tc.target, func(i int64) (int64, bool) { return i * 10, true })
			var mids []string
			last := int64(-1)
			for _, b := range probes {
				mids = append(mids, fmt.Sprint(b.mid))
				if b.right {
					last = max(last, b.mid)
				}
			}
			if got := strings.Join(mids, " "); tc.n < 100 && got != tc.mids {
				t.Errorf("looked at %s, want %s", got, tc.mids)
			}
			if last != tc.last || len(probes) > 31 {
				t.Errorf("ended at %d after %d", last, len(probes))
			}
		})
	}
}

func TestTextThatIsCutIsWholeBelow(t *testing.T) {
	src := sample()
	src.Found.Steps[1].Value = "entry 1: nothing younger than 2023-11-14T22:59:18.129Z up to offset 837"
	p := open(t, src, at(4_490_013))
	for i, l := range p.lines {
		if l.step == 1 && l.kind == lineValue {
			p.list.SetCursor(int64(i))
		}
	}
	if n := strings.Count(uitest.Plainly(p.View(80, 24)), src.Found.Steps[1].Value); n != 1 {
		t.Errorf("it is there %d times at 80", n)
	}
	if n := strings.Count(uitest.Plainly(p.View(120, 24)), src.Found.Steps[1].Value); n != 1 {
		t.Errorf("it is there %d times at 120", n)
	}
}

func TestStates(t *testing.T) {
	src := sample()
	src.Found = model.LookupResult{Offset: 4_812_339, Segment: -1, Steps: []model.LookupStep{{Step: "range", What: "offset 9 is not below the log end\x1b[2J", Value: "the log ends at 4812339"}},
		Faults: []model.Fault{{File: "a\x1b.index", What: "out of order"}, {}}}
	p := open(t, src, at(9_000_000))
	uitest.Contains(t, p.View(100, 24), "there is no record at or after it: the log ends at 4,812,339", "a␛.index: out of order and 1 more", "log end␛[2J")
	uitest.Fits(t, p)
	if n := fmt.Sprint(uitest.Press(p, "r")); !strings.Contains(n, "nothing was found") {
		t.Error(n)
	}
	src.Fail = func(string) error { return errors.New("input/output error") }
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(100, 24), "✗ input/output error", "enter tries again")
	uitest.Press(p, "enter")
	uitest.Fits(t, p)
	p = open(t, uitest.Plain(src), page.Open{Addr: model.PartitionAddress(orders2)})
	uitest.Contains(t, p.View(100, 24), "shows no files")
	uitest.Keys(t, p)
}

func BenchmarkView(b *testing.B) {
	p := open(b, sample(), at(4_490_013))
	for b.Loop() {
		p.View(200, 60)
	}
}
