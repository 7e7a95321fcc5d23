package batches

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

var orders2 = model.TopicPartition{Topic: "orders", Partition: 2}

const base = 4_790_000

func segment() model.Address {
	a := model.PartitionAddress(orders2)
	a.Segment = base
	return a
}

func open(t testing.TB, src model.Source, addr model.Address) *batches {
	p := New(uitest.Env(t, src), page.Open{Addr: addr}).(*batches)
	uitest.Drive(p, p.Init())
	return p
}

// sample is a source whose batches have bytes: the header of a commit marker.
func sample(t testing.TB) *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	var err error
	src.Raw, err = hex.DecodeString("000000000046cf640000004200000003023f47f5b800300000000000000" + "18bcfe56896000" + "0018bcfe5689600000000000003e80000ffffffff000000010c000000000000000000000000")
	if err != nil {
		src.Raw = []byte(strings.Repeat("\x00\x01strata\xff", 12))
	}
	src.Fields = []model.Field{
		{Name: "base offset", Pos: 0, Len: 8, Value: "4640612"},
		{Name: "length", Pos: 8, Len: 4, Value: "66", Note: "78 bytes in all"},
		{Name: "leader epoch", Pos: 12, Len: 4, Value: "3"},
		{Name: "magic", Pos: 16, Len: 1, Value: "2"},
		{Name: "crc", Pos: 17, Len: 4, Value: "3f47f5b8", Note: "good"},
		{Name: "attributes", Pos: 21, Len: 2, Value: "48", Note: "control, transactional, create time, no compression"},
		{Name: "last offset delta", Pos: 23, Len: 4, Value: "0", Note: "last offset 4640612"},
		{Name: "base timestamp", Pos: 27, Len: 8, Value: "1700000000000"},
	}
	return src
}

func TestView(t *testing.T) {
	p := open(t, sample(t), segment())
	uitest.Press(p, "j", "tab", "j", "j")
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Golden(t, "200x24", p.View(200, 24))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "tab", "j")
	uitest.Keys(t, p)
	uitest.Golden(t, "damaged-120x20", p.View(120, 20))
	uitest.Fits(t, p)
}

func TestSelectedFieldIsLit(t *testing.T) {
	p := open(t, sample(t), segment())
	uitest.Press(p, "tab", "j", "j")
	frame := p.View(120, 30)
	if !strings.Contains(frame, p.Theme.Lit.On) {
		t.Error("no byte is lit")
	}
	lit := ""
	for _, part := range strings.Split(frame, p.Theme.Lit.On)[1:] {
		one, _, _ := strings.Cut(part, p.Theme.Lit.Off)
		lit += one
	}
	if want := fmt.Sprintf("% x", p.shown.raw[12:16]); !strings.Contains(lit, want) {
		t.Errorf("lit %q, want the bytes of the leader epoch, %s", lit, want)
	}
}

func TestBeginsWhereAsked(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(a *model.Address)
		base   int64
		number int64
	}{
		"segment":           {func(a *model.Address) { a.Segment = base }, base, 0},
		"byte":              {func(a *model.Address) { a.Segment, a.Position = base, 16_482+78+5 }, base, 2},
		"offset":            {func(a *model.Address) { a.Offset = base + 1700 }, base, 3},
		"offset further up": {func(a *model.Address) { a.Offset = 4_488_002 + 1000 }, 4_488_002, 2},
		"nothing":           {func(*model.Address) {}, base, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := model.PartitionAddress(orders2)
			tc.change(&a)
			p := open(t, sample(t), a)
			if p.base != tc.base || p.table.Cursor() != tc.number {
				t.Errorf("segment %d batch %d, want %d %d", p.base, p.table.Cursor(), tc.base, tc.number)
			}
		})
	}
}

func TestHuntForDamage(t *testing.T) {
	src := sample(t)
	src.BatchSet[base][150].Torn = true
	p := open(t, src, segment())
	at := func(want int64) {
		t.Helper()
		if p.table.Cursor() != want {
			t.Errorf("on batch %d, want %d", p.table.Cursor(), want)
		}
	}
	uitest.Press(p, "n")
	at(2)
	uitest.Press(p, "n")
	at(150)
	if n := fmt.Sprint(uitest.Press(p, "n")); !strings.Contains(n, "no more damage that way: 49 batches looked at") {
		t.Error(n)
	}
	at(150)
	uitest.Press(p, "N")
	at(2)
	if !strings.Contains(p.Status(), "2 damaged") {
		t.Error(p.Status())
	}
}

func TestHuntStopsAtBytesThatBelongToNoBatch(t *testing.T) {
	src := sample(t)
	src.BatchSet[base][2].Valid = true
	for i := 90; i < 200; i++ {
		src.BatchSet[base][i].Position += 312
	}
	p := open(t, src, segment())
	uitest.Press(p, "n")
	if p.table.Cursor() != 90 {
		t.Fatalf("on %d", p.table.Cursor())
	}
	uitest.Contains(t, p.View(160, 30), "✗ 312 B lost before")
}

func TestFind(t *testing.T) {
	src := sample(t)
	p := open(t, src, segment())
	if a, ok := uitest.Press(p, "/")[0].(page.Ask); !ok || a.ID != askFind {
		t.Fatal("no question")
	}
	src.Found = model.LookupResult{Found: true, Offset: base + 2000, Segment: base, Position: src.BatchSet[base][4].Position}
	uitest.Send(p, page.Answered{ID: askFind, Text: "4,792,000", OK: true})
	if p.table.Cursor() != 4 {
		t.Errorf("on %d", p.table.Cursor())
	}
	src.Found = model.LookupResult{Found: true, Segment: 4_488_002, Position: 99}
	other := model.PartitionAddress(orders2)
	other.Segment, other.Position = 4_488_002, 99
	got := uitest.Send(p, page.Answered{ID: askFind, Text: "2026-11-30 05:00", OK: true})
	if want := (page.Open{Kind: page.Batches, Addr: other, Replace: true}); fmt.Sprint(got) != fmt.Sprint([]page.Request{want}) {
		t.Errorf("%v", got)
	}
	src.Found = model.LookupResult{Offset: 4_812_339}
	if got := fmt.Sprint(uitest.Send(p, page.Answered{ID: askFind, Text: "99999999", OK: true})); !strings.Contains(got, "the log ends at 4,812,339") {
		t.Error(got)
	}
	if got := fmt.Sprint(uitest.Send(p, page.Answered{ID: askFind, Text: "soon", OK: true})); !strings.Contains(got, "want") {
		t.Error(got)
	}
}

func TestKeysOpen(t *testing.T) {
	p := open(t, sample(t), segment())
	at := model.PartitionAddress(orders2)
	at.Offset = base
	older := model.PartitionAddress(orders2)
	older.Segment = 4_488_002
	entry := segment()
	entry.Offset = base
	for key, want := range map[string]page.Open{
		"enter": {Kind: page.Records, Addr: at},
		"i":     {Kind: page.Index, Addr: entry},
		"v":     {Kind: page.Check, Addr: segment()},
		"x":     {Kind: page.Lookup, Addr: at},
	} {
		if got := uitest.Press(p, key); fmt.Sprint(got) != fmt.Sprint([]page.Request{want}) {
			t.Errorf("%s opened %v", key, got)
		}
	}
	if got := uitest.Press(p, "[")[0].(page.Open); got.Addr.Segment != older.Segment || !got.Replace {
		t.Errorf("[ opened %v", got)
	}
	if got := fmt.Sprint(uitest.Press(p, "]")); !strings.Contains(got, "newest segment") {
		t.Error(got)
	}
	if c := uitest.Press(p, "y")[0].(page.Copy); c.Text != "orders/2/00000000000004790000.log+0" && c.Text != "orders/2/00000000000004790000.log" {
		t.Error(c.Text)
	}
	uitest.Press(p, "tab", "j")
	if c := uitest.Press(p, "y")[0].(page.Copy); c.Text != "66" || c.What != "length" {
		t.Error(c)
	}
	if c := uitest.Press(p, "Y")[0].(page.Copy); len(c.Text) != 8 {
		t.Error(c)
	}
}

// endless is a segment of very many batches, which are made as they are asked for.
type endless struct {
	*uitest.Source
	total int64
	most  int // batches in one answer
	walk  int64
}

func (e *endless) Batches(_ context.Context, q model.BatchQuery) (model.BatchPage, error) {
	e.most = max(e.most, q.Max)
	first := min(q.First, e.total-1)
	e.walk = min(e.total, max(e.walk, first+int64(q.Max)+100))
	out := model.BatchPage{First: first, Total: e.walk, Whole: e.walk == e.total}
	for n := first; n < min(e.total, first+int64(q.Max)); n++ {
		out.Batches = append(out.Batches, model.Batch{Position: n * 100, Base: n, Last: n, Count: 1, Bytes: 100, Valid: true, FirstTimestamp: model.NoTime, MaxTimestamp: model.NoTime, ProducerID: -1, DeleteHorizon: model.NoTime})
	}
	return out, nil
}

func TestThirteenMillionBatches(t *testing.T) {
	src := &endless{Source: sample(t), total: 13_000_000}
	p := open(t, src, segment())
	p.View(120, 40)
	uitest.Press(p, "pgdown", "pgdown", "pgdown")
	p.View(120, 40)
	if !strings.HasSuffix(p.Status(), "+") {
		t.Errorf("it pretends to know the end: %s", p.Status())
	}
	uitest.Press(p, "G")
	uitest.Contains(t, p.View(120, 40), "1,299,999,900", "12,999,999")
	if p.Status() != "batch 13,000,000 of 13,000,000" {
		t.Error(p.Status())
	}
	uitest.Press(p, "g")
	uitest.Contains(t, p.View(120, 40), "▌             0  0  ")
	for range 400 {
		uitest.Press(p, "pgdown")
		p.View(120, 40)
	}
	if src.most > 256 || len(p.rows) > keep+chunk {
		t.Errorf("asked for %d at once, keeps %d", src.most, len(p.rows))
	}
}

func TestGrowingSegment(t *testing.T) {
	src := sample(t)
	p := open(t, src, segment())
	all := src.BatchSet[base]
	last := all[len(all)-1]
	last.Position += last.Bytes
	last.Base, last.Last = last.Base+500, last.Last+500
	src.BatchSet[base] = append(all, last)
	uitest.Send(p, model.Change{Partitions: []model.TopicPartition{orders2}})
	if p.table.Len != 201 || p.table.Cursor() != 0 {
		t.Errorf("%d batches, on %d", p.table.Len, p.table.Cursor())
	}
	// A compaction leaves a few: all is read again.
	src.BatchSet[base] = all[100:103]
	uitest.Send(p, model.Change{Partitions: []model.TopicPartition{orders2}})
	if p.table.Len != 3 {
		t.Errorf("%d batches after a compaction", p.table.Len)
	}
	uitest.Fits(t, p)
}

func TestStates(t *testing.T) {
	src := sample(t)
	bad := segment()
	bad.Segment = 77
	uitest.Contains(t, open(t, src, bad).View(80, 24), "no such segment", "esc goes back")
	src.BatchSet[base] = []model.Batch{}
	p := open(t, src, segment())
	uitest.Contains(t, p.View(100, 24), "holds no batch", "[ and ]")
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	p = open(t, uitest.Plain(src), segment())
	uitest.Contains(t, p.View(80, 24), "shows no files")
	uitest.Keys(t, p)
}

func TestBytesThatCannotBeReadCostTheLowerHalf(t *testing.T) {
	src := sample(t)
	src.Fail = func(method string) error {
		if strings.HasPrefix(method, "BatchBytes") {
			return errors.New("read \x1b[2J: input/output error")
		}
		return nil
	}
	p := open(t, src, segment())
	uitest.Contains(t, p.View(120, 30), "4,790,500", "✗ read ␛[2J: input/output error")
	uitest.Fits(t, p)
}

func TestHostileFields(t *testing.T) {
	src := sample(t)
	src.Fields[0].Name, src.Fields[1].Value, src.Fields[2].Note = "\x1b]0;x\a", "\u202e\r", "\x9b2J"
	src.Fields[3].Pos, src.Fields[3].Len = 1<<20, 1<<20
	p := open(t, src, segment())
	uitest.Press(p, "tab", "j", "j")
	uitest.Fits(t, p)
	uitest.Press(p, "j")
	uitest.Fits(t, p)
	if n := fmt.Sprint(uitest.Press(p, "Y")); !strings.Contains(n, "no field here") {
		t.Error(n)
	}
}

func BenchmarkView(b *testing.B) {
	p := open(b, sample(b), segment())
	for b.Loop() {
		p.View(200, 60)
	}
}
