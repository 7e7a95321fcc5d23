package index

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

const base = 4_790_000

func segment() model.Address {
	a := model.PartitionAddress(model.TopicPartition{Topic: "orders", Partition: 2})
	a.Segment = base
	return a
}

func sample(n int64) *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	src.Entries = map[model.IndexKind][]model.IndexEntry{}
	for i := range n {
		b := src.BatchSet[base][i%200]
		src.Entries[model.OffsetIndex] = append(src.Entries[model.OffsetIndex], model.IndexEntry{Number: i, Offset: b.Last, Position: b.Position, Timestamp: -1, Producer: -1, Last: -1, Stable: -1})
		src.Entries[model.TimeIndex] = append(src.Entries[model.TimeIndex], model.IndexEntry{Number: i, Offset: b.Last, Position: -1, Timestamp: b.MaxTimestamp, Producer: -1, Last: -1, Stable: -1})
	}
	src.Entries[model.TxnIndex] = []model.IndexEntry{{Number: 0, Offset: base + 500, Last: base + 600, Stable: base + 601, Producer: 1000, Position: -1, Timestamp: -1}}
	if n > 7 {
		src.Entries[model.OffsetIndex][7].Err = errors.New("behind the end of the log")
		src.Entries[model.OffsetIndex][5].Position++
	}
	return src
}

func open(t testing.TB, src model.Source, k model.IndexKind) *index {
	p := New(uitest.Env(t, src), page.Open{Addr: segment(), Args: page.Args{Index: k}}).(*index)
	uitest.Drive(p, p.Init())
	return p
}

func TestView(t *testing.T) {
	for _, k := range []model.IndexKind{model.OffsetIndex, model.TimeIndex, model.TxnIndex} {
		p := open(t, sample(40), k)
		uitest.Golden(t, string(k)+"-80x24", p.View(80, 24))
		uitest.Golden(t, string(k)+"-120x40", p.View(120, 40))
		uitest.Fits(t, p)
		uitest.Keys(t, p)
	}
}

func TestTabGoesThroughTheIndexes(t *testing.T) {
	p := open(t, sample(40), "")
	uitest.Contains(t, p.View(80, 24), "POSITION", "40 entries")
	uitest.Press(p, "j", "tab")
	uitest.Contains(t, p.View(80, 24), "TIME", "2026-11-30 05:12:00.088")
	uitest.Press(p, "tab")
	uitest.Contains(t, p.View(80, 24), "ABORTED AT", "1 entry")
	uitest.Press(p, "shift+tab", "shift+tab")
	uitest.Contains(t, p.View(80, 24), "POSITION")
}

func TestLeadsToABatch(t *testing.T) {
	p := open(t, sample(40), "")
	uitest.Contains(t, p.View(100, 24), "leads to byte 0, in batch 4,790,000 … 4,790,499, 500 records, CRC ✓")
	uitest.Press(p, "j", "j")
	uitest.Contains(t, p.View(100, 24), "CRC ✗ bad")
	uitest.Press(p, "j", "j", "j")
	uitest.Contains(t, p.View(120, 24), "✗ the batch begins at byte")
	want := segment()
	want.Position = p.rows[5].Position
	if got := uitest.Press(p, "enter"); fmt.Sprint(got) != fmt.Sprint([]page.Request{page.Open{Kind: page.Batches, Addr: want}}) {
		t.Errorf("opened %v", got)
	}
	uitest.Press(p, "tab", "j")
	want.Position = 16_482
	if got := uitest.Press(p, "enter"); fmt.Sprint(got) != fmt.Sprint([]page.Request{page.Open{Kind: page.Batches, Addr: want}}) {
		t.Errorf("opened %v", got)
	}
	if o := uitest.Press(p, "x")[0].(page.Open); o.Kind != page.Lookup || o.Args.Time != p.rows[1].Timestamp {
		t.Errorf("looked up %v", o)
	}
}

func TestBeginsAtTheEntryBelowAnOffset(t *testing.T) {
	src := sample(100)
	for name, tc := range map[string]struct {
		offset int64
		kind   model.IndexKind
		want   int64
	}{
		"between two":  {base + 10_250, model.OffsetIndex, 19},
		"an entry's":   {base + 10_499, model.OffsetIndex, 20},
		"before all":   {base + 1, model.OffsetIndex, 0},
		"behind all":   {base + 1_000_000, model.OffsetIndex, 99},
		"by time":      {base + 10_250, model.TimeIndex, 19},
		"no offset":    {model.Unknown, model.OffsetIndex, 0},
		"the segments": {base, model.OffsetIndex, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := segment()
			a.Offset = tc.offset
			p := New(uitest.Env(t, src), page.Open{Addr: a, Args: page.Args{Index: tc.kind}}).(*index)
			uitest.Drive(p, p.Init())
			if p.table.Cursor() != tc.want {
				t.Errorf("on entry %d, want %d", p.table.Cursor(), tc.want)
			}
		})
	}
}

func TestNextThatIsWrong(t *testing.T) {
	p := open(t, sample(5000), "")
	uitest.Press(p, "n")
	if p.table.Cursor() != 7 {
		t.Fatalf("on %d", p.table.Cursor())
	}
	uitest.Contains(t, p.View(100, 24), "✗ behind the end of the log", "1 wrong")
	if got := fmt.Sprint(uitest.Press(p, "n")); !strings.Contains(got, "nothing wrong in the 4,992 entries") {
		t.Error(got)
	}
}

func TestManyEntriesComeByWindow(t *testing.T) {
	p := open(t, sample(100_000), "")
	if len(p.rows) > 1000 {
		t.Errorf("%d rows at once", len(p.rows))
	}
	uitest.Press(p, "G")
	uitest.Contains(t, p.View(100, 24), "99,999")
	uitest.Press(p, "g")
	for range 600 {
		uitest.Press(p, "pgdown")
		p.View(100, 60)
	}
	if len(p.rows) > keep+2*chunk {
		t.Errorf("keeps %d rows", len(p.rows))
	}
	uitest.Fits(t, p)
}

func TestStates(t *testing.T) {
	src := sample(0)
	src.Entries[model.TxnIndex] = nil
	p := open(t, src, "")
	uitest.Contains(t, p.View(100, 24), "no entry", "index.interval.bytes")
	uitest.Press(p, "tab", "tab")
	uitest.Contains(t, p.View(100, 24), "no aborted transaction")
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	src.Fail = func(string) error { return errors.New("no \x1b[2Jsuch file") }
	p = open(t, src, "")
	uitest.Contains(t, p.View(100, 24), "no ␛[2Jsuch file", "tab shows the other indexes")
	uitest.Fits(t, p)
	p = open(t, uitest.Plain(src), "")
	uitest.Contains(t, p.View(100, 24), "shows no files")
	uitest.Keys(t, p)
}

func TestGrows(t *testing.T) {
	src := sample(40)
	p := open(t, src, "")
	uitest.Press(p, "j")
	src.Entries[model.OffsetIndex] = append(src.Entries[model.OffsetIndex], model.IndexEntry{Number: 40, Offset: base + 99_999, Position: 99_999, Timestamp: -1})
	uitest.Send(p, model.Change{All: true})
	if p.table.Len != 41 || p.table.Cursor() != 1 {
		t.Errorf("%d entries, on %d", p.table.Len, p.table.Cursor())
	}
}

func BenchmarkView(b *testing.B) {
	p := open(b, sample(10_000), "")
	for b.Loop() {
		p.View(200, 60)
	}
}
