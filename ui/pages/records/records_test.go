package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

var orders2 = model.TopicPartition{Topic: "orders", Partition: 2}

// faulty is a source whose pages of records carry damage.
type faulty struct {
	*uitest.Source
	faults []model.Fault
}

func (s *faulty) Records(ctx context.Context, q model.RecordQuery) (model.RecordPage, error) {
	p, err := s.Source.Records(ctx, q)
	p.Faults = append(p.Faults, s.faults...)
	return p, err
}

func open(t testing.TB, src model.Source, addr model.Address) *records {
	p := New(uitest.Env(t, src), page.Open{Addr: addr}).(*records)
	uitest.Drive(p, p.Init())
	return p
}

func at(offset int64) model.Address {
	a := model.PartitionAddress(orders2)
	a.Offset = offset
	return a
}

// log makes a partition out of what is said for each record.
func log(src *uitest.Source, from int64, words ...string) {
	ms := uitest.Now().UnixMilli()
	var recs []model.Record
	offset := from
	for i, w := range words {
		r := model.Record{
			TopicPartition: orders2, Offset: offset, Timestamp: ms - 60_000 + int64(i), Key: fmt.Appendf(nil, "user-%d", i), Value: []byte(w), Size: 20 + len(w),
			Segment: from, BatchPos: int64(i) * 100, ProducerID: model.NoProducer, Sequence: -1,
		}
		offset++
		switch w {
		case "commit", "abort":
			r.Control, r.ProducerID, r.Transactional = w, 1000, true
		case "aborted":
			r.Visibility = model.Aborted
		case "undecided":
			r.Visibility = model.Undecided
		case "untrusted":
			r.Untrusted = true
		case "null":
			r.Value = nil
		case "nullkey":
			r.Key = nil
		case "empty":
			r.Value = []byte{}
		case "hole":
			offset++
			continue
		}
		recs = append(recs, r)
	}
	src.Recs[orders2] = recs
	part := &src.Parts["orders"][2]
	part.LogStart, part.LogEnd, part.HighWatermark, part.LastStable = from, offset, offset, offset
}

func commit(group string, offset int64, lag model.Count) model.Group {
	return model.Group{ID: group, Offsets: []model.GroupOffset{{TopicPartition: orders2, Committed: offset, Lag: lag}}}
}

func mixed() *faulty {
	src := uitest.NewSource(uitest.Now())
	log(src, 4_640_610, "first", `{"type":"paid","amount":12.50,"id":9223372036854775807}`, "aborted", "abort", "\x1b[31mhello\x1b]52;c;aGk=\a", "hole", "null",
		"empty", "nullkey", "untrusted", "注文を受け付けました 👩‍👩‍👧 e\u0301", "undecided", "commit", `""`, "∅", "last")
	src.GroupSet = []model.Group{
		commit("billing", 4_640_617, model.Exactly(9)), commit("audit", 4_640_617, model.Exactly(9)), commit("idle", 4_640_627, model.Exactly(0)),
		{ID: "late", Offsets: []model.GroupOffset{{TopicPartition: orders2, Committed: 12, Lost: 4_640_598}}},
		{ID: "eager", Offsets: []model.GroupOffset{{TopicPartition: orders2, Committed: 4_641_000, Ahead: 373}}},
	}
	return &faulty{src, []model.Fault{{
		TP: orders2, File: "00000000000004640610.log", Position: 900, Offset: 4_640_620, Kind: "crc", What: "checksum is 1a2b3c4d, computed 99887766",
		Follows: "offsets 4640620 to 4640620 cannot be trusted", Severity: model.SevDamage,
	}}}
}

func TestView(t *testing.T) {
	p := open(t, mixed(), at(4_640_612))
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Golden(t, "200x30", p.View(200, 30))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
}

func TestWhatIsSaidBetweenRecords(t *testing.T) {
	src := mixed()
	p := open(t, src, at(4_640_612))
	frame := p.View(160, 40)
	uitest.Contains(t, frame,
		"2 offsets without a record", "▲ audit, billing are here", "9 still to read", "▲ idle is here", "all read",
		"▲ late is here: 4,640,598 offsets below the log start are lost to it", "▲ eager is here: 373 past the end",
		"✗ checksum is 1a2b3c4d, computed 99887766 · 00000000000004640610.log byte 900",
		"aborted aborted", "undecided undecided", "✗ crc untrusted", "── transaction of producer 1000 aborted ──", "── transaction of producer 1000 committed ──")

	src.TopicSet[2].Retention.Compact = true
	p = open(t, src, at(4_640_612))
	uitest.Contains(t, p.View(160, 40), "2 offsets compacted away", "∅ tombstone")

	uitest.Press(p, "c")
	frame = p.View(160, 40)
	uitest.Contains(t, frame, "committed only", "2 offsets not shown: aborted, undecided, or without a record")
	if strings.Contains(frame, "compacted away") {
		t.Error("an aborted record is called compacted")
	}
}

func TestTheCursorKeepsItsOffset(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	p := open(t, src, at(4_812_000))
	p.View(80, 24)
	check := func(when string) {
		t.Helper()
		if r := p.at(); r == nil || r.Offset != 4_812_000 {
			t.Errorf("%s the cursor is at %v", when, r)
		}
	}
	check("at first")
	// It grows.
	recs := src.Recs[orders2]
	more := recs[len(recs)-1]
	for i := range int64(50) {
		more.Offset++
		more.Timestamp += i
		src.Recs[orders2] = append(src.Recs[orders2], more)
	}
	uitest.Send(p, model.Change{Partitions: []model.TopicPartition{orders2}})
	check("after growth")
	// It is trimmed below the cursor.
	src.Recs[orders2] = src.Recs[orders2][400:]
	src.Parts["orders"][2].LogStart = src.Recs[orders2][0].Offset
	uitest.Send(p, model.Change{Partitions: []model.TopicPartition{orders2}})
	uitest.Press(p, "ctrl+r")
	check("after trimming")
	// A group arrives.
	src.GroupSet = append(src.GroupSet, commit("new", 4_811_900, model.Exactly(1)))
	uitest.Send(p, model.Change{Groups: true}, page.Tick{ID: tick})
	check("after a commit")
}

func TestItFollowsTheEnd(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	src.GroupSet = nil
	p := open(t, src, model.PartitionAddress(orders2))
	p.View(80, 24)
	grow := func(n int) {
		r := src.Recs[orders2][len(src.Recs[orders2])-1]
		for range n {
			r.Offset++
			src.Recs[orders2] = append(src.Recs[orders2], r)
		}
		uitest.Send(p, model.Change{Partitions: []model.TopicPartition{orders2}})
		p.View(80, 24)
	}
	end := func() int64 { return src.Recs[orders2][len(src.Recs[orders2])-1].Offset }
	grow(1)
	if p.at().Offset != end() || !p.follow || p.Status() != "following the end" {
		t.Errorf("at %d, the end is %d", p.at().Offset, end())
	}
	grow(5000) // more than a window at once
	if p.at().Offset != end() || len(p.span.recs) > maxRows {
		t.Errorf("at %d of %d with %d records held", p.at().Offset, end(), len(p.span.recs))
	}
	uitest.Press(p, "k")
	was := p.at().Offset
	grow(3)
	if p.at().Offset != was || p.follow {
		t.Errorf("moved from %d to %d", was, p.at().Offset)
	}
	uitest.Press(p, "G")
	if p.at().Offset != end() || !p.follow {
		t.Errorf("G went to %d, not %d", p.at().Offset, end())
	}
}

func many(n int64) *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	src.GroupSet = nil
	r := src.Recs[orders2][0]
	recs := make([]model.Record, n)
	for i := range recs {
		recs[i] = r
		recs[i].Offset = int64(i)
	}
	src.Recs[orders2] = recs
	return src
}

func TestScrollingThroughAllOfIt(t *testing.T) {
	const n = 5_000
	p := open(t, many(n), at(0))
	p.View(80, 24)
	for i := range int64(n) {
		if r := p.at(); r == nil || r.Offset != i {
			t.Fatalf("step %d is at %v", i, r)
		}
		uitest.Press(p, "j")
		if i%10 == 0 {
			p.View(80, 24)
		}
		if len(p.span.recs) > maxRows {
			t.Fatalf("%d records are held", len(p.span.recs))
		}
	}
	for i := int64(n - 1); i >= 0; i-- {
		if r := p.at(); r.Offset != i {
			t.Fatalf("back at %d is at %d", i, r.Offset)
		}
		uitest.Press(p, "k")
		if i%10 == 0 {
			p.View(80, 24)
		}
	}
	uitest.Press(p, "G")
	if p.at().Offset != n-1 {
		t.Errorf("G went to %d", p.at().Offset)
	}
	uitest.Press(p, "g")
	if p.at().Offset != 0 {
		t.Errorf("g went to %d", p.at().Offset)
	}
}

func TestGoingToPlaces(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	src.Found, src.GroupSet = model.LookupResult{Found: true, Offset: 4_811_500}, nil
	p := open(t, src, model.PartitionAddress(orders2))
	p.View(80, 24)
	for text, tc := range map[string]struct {
		offset int64
		says   string
	}{
		"4,811,700":        {4_811_700, ""},
		"4811701":          {4_811_701, ""},
		"5":                {4_811_339, "below the log start"},
		"99999999":         {4_812_338, "beyond the log end"},
		"start":            {4_811_339, ""},
		"end":              {4_812_338, ""},
		"50 %":             {4_811_839, ""},
		"2026-11-30 09:00": {4_811_500, ""},
	} {
		t.Run(text, func(t *testing.T) {
			got := uitest.Send(p, page.Answered{ID: askPlace, Text: text, OK: true})
			if r := p.at(); r == nil || r.Offset != tc.offset {
				t.Errorf("went to %+v", r)
			}
			said := ""
			for _, g := range got {
				if n, ok := g.(page.Notice); ok {
					said += n.Text
				}
			}
			if tc.says == "" && said != "" || !strings.Contains(said, tc.says) {
				t.Errorf("said %q", said)
			}
		})
	}
	got := uitest.Send(p, page.Answered{ID: askPlace, Text: "yesterday-ish", OK: true})
	if a, ok := got[0].(page.Ask); !ok || a.Err == "" {
		t.Errorf("a bad place: %v", got)
	}
	src.Found = model.LookupResult{}
	got = uitest.Send(p, page.Answered{ID: askPlace, Text: "2026-11-30 09:00", OK: true})
	if !said(got, "no record at or after") {
		t.Errorf("%v", got)
	}
	plain := open(t, uitest.Plain(src), model.PartitionAddress(orders2))
	got = uitest.Send(plain, page.Answered{ID: askPlace, Text: "2026-11-30 09:00", OK: true})
	if !said(got, "cannot look times up") {
		t.Errorf("%v", got)
	}
}

func said(reqs []page.Request, text string) bool {
	return slices.ContainsFunc(reqs, func(r page.Request) bool {
		n, ok := r.(page.Notice)
		return ok && strings.Contains(n.Text, text)
	})
}

func TestATopicOpensItsNewestPartition(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	src.Parts["orders"][1].Newest += 5000
	p := open(t, src, model.TopicAddress("orders"))
	if p.tp.Partition != 1 || p.at() == nil {
		t.Errorf("opened %v", p.tp)
	}
	uitest.Contains(t, p.View(120, 20), "partition 1 of 3")
	got := uitest.Press(p, "]")
	if o := got[0].(page.Open); o.Addr.Partition != 2 || !o.Replace || o.Kind != page.Records {
		t.Errorf("] opened %v", o)
	}
	last := open(t, src, model.PartitionAddress(orders2))
	if got := uitest.Press(last, "]"); !said(got, "last partition") {
		t.Errorf("%v", got)
	}
}

func TestKeysOpenAndSayWhyNot(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	full := open(t, src, at(4_812_000))
	bare := open(t, uitest.Plain(src), at(4_812_000))
	for key, tc := range map[string]struct {
		kind page.Kind
		off  string
	}{
		"enter": {page.Record, ""},
		"b":     {page.Batches, "this source shows no files"},
		"x":     {page.Lookup, "this source shows no files"},
		"t":     {page.Tail, "this source cannot be followed"},
		"F":     {page.Search, "this source cannot be searched"},
		"p":     {page.Produce, "this source is read-only: nothing can be produced"},
		"D":     {page.Truncate, "this source is read-only: nothing can be deleted"},
	} {
		t.Run(key, func(t *testing.T) {
			if o, ok := uitest.Press(full, key)[0].(page.Open); !ok || o.Kind != tc.kind || o.Addr.Topic != "orders" {
				t.Errorf("opened %v", o)
			}
			if got := uitest.Press(bare, key); tc.off != "" && !said(got, tc.off) {
				t.Errorf("read-only says %v", got)
			}
		})
	}
	if got := uitest.Press(full, "n"); !said(got, "nothing was looked for") {
		t.Errorf("%v", got)
	}
	o := uitest.Press(full, "b")[0].(page.Open)
	if o.Addr.Segment != 4_790_000 || o.Addr.Position != full.at().BatchPos {
		t.Errorf("b opened %v", o.Addr)
	}
}

func TestCopies(t *testing.T) {
	src := mixed()
	p := open(t, src, at(4_640_614))
	p.View(80, 24)
	for key, want := range map[string]page.Copy{
		"y": {Text: "\x1b[31mhello\x1b]52;c;aGk=\a", What: "value of orders/2@4640614"},
		"K": {Text: "user-4", What: "key of orders/2@4640614"},
	} {
		if got := uitest.Press(p, key); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v", key, got)
		}
	}
	if c := uitest.Press(p, "J")[0].(page.Copy); !strings.HasPrefix(c.Text, `{"topic":"orders","partition":2,"offset":4640614`) {
		t.Errorf("%v", c)
	}
	uitest.Send(p, page.Answered{ID: askPlace, Text: "4640616", OK: true})
	if got := uitest.Press(p, "y"); !said(got, "is null") {
		t.Errorf("%v", got)
	}
}

func TestStates(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	fail := errors.New("open /data/orders-2: permission denied")
	src.Fail = func(m string) error {
		if m == "Records" {
			return fail
		}
		return nil
	}
	p := open(t, src, model.PartitionAddress(orders2))
	uitest.Contains(t, p.View(80, 10), "✗ open /data/orders-2: permission denied", "ctrl-r")
	uitest.Fits(t, p)
	fail = nil
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 10), "user-")
	fail = errors.New("gone")
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 10), "user-")
	if !strings.Contains(p.Status(), "gone") {
		t.Error(p.Status())
	}
	fail = nil

	src.Recs[orders2] = nil
	src.GroupSet = nil
	empty := open(t, src, model.PartitionAddress(orders2))
	uitest.Contains(t, empty.View(80, 10), "there are no records in orders-2", "p produces one")
	uitest.Fits(t, empty)
	src.GroupSet = []model.Group{commit("billing", 3, model.Exactly(0))}
	bare := open(t, src, model.PartitionAddress(orders2))
	uitest.Contains(t, bare.View(80, 10), "▲ billing is here", "there are no records in orders-2")
	uitest.Fits(t, bare)
	missing := open(t, src, model.TopicAddress("order"))
	uitest.Contains(t, missing.View(80, 10), "no such topic", "orders")
}

func TestHostileLogs(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	log(src, 0, "\x1b[2J", "\u202e\u009b", strings.Repeat("\u0301", 1000), strings.Repeat("注", 1<<20), "\xff\xfe\x00", "👩‍👩‍👧‍👦🇯🇵❤️")
	src.GroupSet = []model.Group{commit("g\x1b]0;x\a", 2, model.About(3))}
	f := &faulty{src, []model.Fault{{File: "\x1b[2J", Position: 3, Offset: 1, What: "\x1b]52;c;x\a", Severity: model.SevDamage}}}
	p := open(t, f, at(0))
	uitest.Fits(t, p)
	uitest.Contains(t, p.View(120, 30), "␛[2J", `\u{202e}`, `g␛]0;x␇`, "␛]52;c;x␇")
}

func TestMouse(t *testing.T) {
	p := open(t, uitest.NewSource(uitest.Now()), at(4_811_600))
	p.View(120, 20)
	top := p.list.Top()
	uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.Click, X: 5, Y: headLines + 3}))
	if p.list.Cursor() != top+3 {
		t.Errorf("clicked on row %d", p.list.Cursor()-top)
	}
	got := uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.DoubleClick, X: 5, Y: headLines + 4}))
	if o, ok := got[0].(page.Open); !ok || o.Kind != page.Record || o.Addr.Offset != p.at().Offset {
		t.Errorf("opened %v", got)
	}
	uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.WheelUp}))
	if p.list.Top() != top-3 {
		t.Errorf("the wheel went from %d to %d", top, p.list.Top())
	}
}

func BenchmarkView(b *testing.B) {
	p := open(b, mixed(), at(4_640_612))
	for b.Loop() {
		p.View(200, 60)
	}
}

func BenchmarkViewFull(b *testing.B) {
	src := uitest.NewSource(uitest.Now())
	for i := range src.Recs[orders2] {
		src.Recs[orders2][i].Value = []byte(`{"type":"paid","customer":"注文","amount":12.50,"note":"` + strings.Repeat("x", 200) + `"}`)
	}
	p := open(b, src, at(4_812_000))
	for b.Loop() {
		p.View(200, 60)
	}
}

func BenchmarkDown(b *testing.B) {
	p := open(b, many(100_000), at(50_000))
	p.View(200, 60)
	for b.Loop() {
		p.list.Move(1)
		p.moved()
		p.View(200, 60)
	}
}

func TestAnOpenTransactionIsLookedAtAgain(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	src.GroupSet = nil
	log(src, 100, "a", "undecided", "b", "c")
	p := open(t, src, at(100))
	uitest.Contains(t, p.View(100, 20), "undecided undecided")
	src.Recs[orders2][1].Visibility = model.Aborted
	r := src.Recs[orders2][3]
	r.Offset++
	r.Control = "abort"
	src.Recs[orders2] = append(src.Recs[orders2], r)
	uitest.Send(p, model.Change{Partitions: []model.TopicPartition{orders2}})
	uitest.Contains(t, p.View(100, 20), "aborted ──") // what is new comes at once
	uitest.Send(p, page.Tick{ID: tick})
	uitest.Contains(t, p.View(100, 20), "aborted undecided")
	if got := p.at(); got == nil || got.Offset != 100 {
		t.Errorf("the cursor is at %v", got)
	}
}

// teller shows no files, and tells of batches as a cluster does.
type teller struct{ model.Source }

func (teller) ListBatches(context.Context, model.TopicPartition, int64, int) (model.BatchRun, error) {
	return model.BatchRun{}, nil
}

func TestTheBatchOfARecordOfACluster(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	for _, recs := range src.Recs {
		for i := range recs {
			recs[i].Segment, recs[i].BatchPos = model.Unknown, model.Unknown
		}
	}
	p := open(t, teller{uitest.Plain(src)}, at(4_812_000))
	want := page.Open{Kind: page.Batches, Addr: at(4_812_000)}
	if got := uitest.Press(p, "b"); fmt.Sprint(got) != fmt.Sprint([]page.Request{want}) {
		t.Errorf("b opened %v, want %v", got, want)
	}
	if got := uitest.Press(p, "x"); !said(got, "this source shows no files") {
		t.Errorf("x: %v", got)
	}
}
