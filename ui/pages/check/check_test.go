package check

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

var orders2 = model.TopicPartition{Topic: "orders", Partition: 2}

func faults() []model.Fault {
	return []model.Fault{
		{TP: orders2, File: "00000000000004640112.snapshot", Position: 12, Offset: -1, Kind: "snapshot", What: "producer 1000 twice", Severity: model.SevInfo},
		{TP: orders2, File: "00000000000004640112.log", Position: 16_560, Offset: 4_640_613, Kind: "crc", What: "CRC is 1a2b3c4d, computed 99887766", Follows: "499 records after it are still readable", Severity: model.SevDamage},
		{TP: model.TopicPartition{Topic: "payments", Partition: 0}, File: "00000000000000000000.timeindex", Position: 24, Offset: 812, Kind: "timeindex", What: "entry 2 goes back in time", Severity: model.SevWarning},
		{File: "recovery-point-offset-checkpoint", Position: -1, Offset: -1, Kind: "checkpoint", What: "line 3: no number", Severity: model.SevWarning},
	}
}

func sample(list []model.Fault) *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	for i := range list {
		src.Verified = append(src.Verified, model.VerifyEvent{Fault: &list[i], BytesDone: int64(i+1) * 1000, BytesAll: 10_000, At: list[i].File})
	}
	src.Summary = model.VerifySummary{Files: 209, Batches: 1735, Records: 21_601, Bytes: 3_263_917, Damage: 1, Warnings: 2, Infos: 1}
	return src
}

func open(t testing.TB, src model.Source, addr model.Address) *check {
	p := New(uitest.Env(t, src), page.Open{Addr: addr}).(*check)
	uitest.Drive(p, p.Init())
	return p
}

func TestView(t *testing.T) {
	p := open(t, sample(faults()), model.Address{})
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	if p.Status() != "1 damage · 2 warning · 1 info" {
		t.Error(p.Status())
	}
}

func TestWhatIsWellSaysSo(t *testing.T) {
	p := open(t, sample(nil), model.TopicAddress("orders"))
	uitest.Contains(t, p.View(100, 24), "✓ no damage in 209 files · 1,735 batches · 21,601 records · 3.1 MiB", "✓ nothing is wrong", "tab widens")
	uitest.Fits(t, p)
	uitest.Keys(t, p)
}

func TestScopes(t *testing.T) {
	src := sample(nil)
	a := model.PartitionAddress(orders2)
	a.Segment = 4_640_112
	p := open(t, src, a)
	q := []string{fmt.Sprint(p.query())}
	for range 3 {
		uitest.Press(p, "tab")
		q = append(q, fmt.Sprint(p.query()))
	}
	want := "{orders 2 4640112} {orders 2 -1} {orders -1 -1} { -1 -1}"
	if got := strings.Join(q, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := len(src.Calls()); n != 4 {
		t.Errorf("checked %d times", n)
	}
	for name, tc := range map[string]struct {
		addr model.Address
		want string
	}{
		"zero address": {model.Address{}, "{ -1 -1}"},
		"topic":        {model.TopicAddress("orders"), "{orders -1 -1}"},
		"partition":    {model.PartitionAddress(orders2), "{orders 2 -1}"},
	} {
		if got := fmt.Sprint(open(t, src, tc.addr).query()); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestFaultsLeadToTheirPlaces(t *testing.T) {
	p := open(t, sample(faults()), model.Address{})
	batch, index := model.PartitionAddress(orders2), model.PartitionAddress(model.TopicPartition{Topic: "payments"})
	batch.Segment, batch.Position, index.Segment = 4_640_112, 16_560, 0
	if got := uitest.Press(p, "enter"); fmt.Sprint(got) != fmt.Sprint([]page.Request{page.Open{Kind: page.Batches, Addr: batch}}) {
		t.Errorf("the batch opened %v", got)
	}
	if got := uitest.Press(p, "j", "enter"); fmt.Sprint(got) != fmt.Sprint([]page.Request{page.Open{Kind: page.Index, Addr: index, Args: page.Args{Index: model.TimeIndex}}}) {
		t.Errorf("the index opened %v", got)
	}
	if got := fmt.Sprint(uitest.Press(p, "j", "enter")); !strings.Contains(got, "no screen of its own") {
		t.Error(got)
	}
	if c := uitest.Press(p, "k", "k", "y")[0].(page.Copy); c.Text != "orders-2/00000000000004640112.log: byte 16,560: CRC is 1a2b3c4d, computed 99887766. 499 records after it are still readable" {
		t.Error(c.Text)
	}
	uitest.Press(p, "s")
	if f, _ := p.under(); f.Kind != "crc" || p.table.Cursor() != 1 {
		t.Errorf("as found: the cursor is on %s, row %d", f.Kind, p.table.Cursor())
	}
	p.SetFilter("timeindex")
	if len(p.rows) != 1 {
		t.Errorf("%d rows", len(p.rows))
	}
	p.SetFilter("no such thing")
	uitest.Contains(t, p.View(80, 24), "no fault matches")
}

func TestProgressAndStop(t *testing.T) {
	src := sample(faults())
	env := uitest.Env(t, src)
	now := uitest.Now()
	env.Now = func() time.Time { return now }
	p := New(env, page.Open{}).(*check)
	p.Init()
	now = now.Add(2 * time.Second)
	p.took = 2 * time.Second
	p.take(&event{VerifyEvent: model.VerifyEvent{BytesDone: 1 << 30, BytesAll: 2 << 30, At: "orders-2/x\x1b.log"}})
	uitest.Contains(t, p.View(140, 24), "50 %", "1.0 GiB of 2.0 GiB · 512 MiB/s · 2 s to go", "orders-2/x␛.log", "no fault so far")
	uitest.Fits(t, p)
	uitest.Press(p, "c")
	uitest.Contains(t, p.View(100, 24), "stopped after 50 %", "no fault as far as it came", "ctrl-r checks again")
	if n := fmt.Sprint(uitest.Press(p, "c")); !strings.Contains(n, "not running") {
		t.Error(n)
	}
}

func TestTooManyFaultsAreCounted(t *testing.T) {
	var many []model.Fault
	for i := range maxFaults + 500 {
		many = append(many, model.Fault{TP: orders2, File: "00000000000000000000.log", Position: int64(i), Kind: "crc", What: "x", Severity: model.SevDamage})
	}
	p := open(t, sample(many), model.Address{})
	if len(p.faults) != maxFaults || p.counts[model.SevDamage] != maxFaults+500 {
		t.Errorf("keeps %d, counts %d", len(p.faults), p.counts[model.SevDamage])
	}
	uitest.Contains(t, p.View(160, 24), "500 faults more than are listed")
}

func TestErrors(t *testing.T) {
	src := sample(nil)
	src.Fail = func(string) error { return errors.New("check orders-2: \x1b[2J input/output error") }
	p := open(t, src, model.Address{})
	uitest.Contains(t, p.View(100, 24), "✗ check orders-2: ␛[2J input/output error", "ctrl-r checks again")
	uitest.Fits(t, p)
	p = open(t, uitest.Plain(src), model.Address{})
	uitest.Contains(t, p.View(100, 24), "shows no files to check")
	uitest.Keys(t, p)
}

func TestHostileFaults(t *testing.T) {
	list := []model.Fault{{TP: model.TopicPartition{Topic: "a\x1b]0;x\a"}, File: "../\u202e\r.log", Kind: "\x9b", What: strings.Repeat("注\x1b", 300), Follows: "\x00", Severity: "\x07odd"}, {TP: orders2}}
	p := open(t, sample(list), model.Address{})
	uitest.Fits(t, p)
	uitest.Press(p, "j")
	uitest.Fits(t, p)
}

func BenchmarkView(b *testing.B) {
	var many []model.Fault
	for range 2500 {
		many = append(many, faults()...)
	}
	p := open(b, sample(many), model.Address{})
	for b.Loop() {
		p.View(200, 60)
	}
}
