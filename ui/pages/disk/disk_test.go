package disk

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

func open(t testing.TB, src model.Source, addr model.Address) *disk {
	p := New(uitest.Env(t, src), page.Open{Addr: addr}).(*disk)
	uitest.Drive(p, p.Init())
	return p
}

func TestView(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	for name, addr := range map[string]model.Address{"topics": {}, "partitions": model.TopicAddress("orders"), "segments": model.PartitionAddress(orders2)} {
		p := open(t, src, addr)
		uitest.Golden(t, name+"-80x24", p.View(80, 24))
		uitest.Golden(t, name+"-120x40", p.View(120, 40))
		uitest.Fits(t, p)
		uitest.Keys(t, p)
	}
}

func TestGoesInByLevels(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	seg := model.PartitionAddress(orders2)
	seg.Segment = 4_488_002
	for name, tc := range map[string]struct {
		addr model.Address
		want page.Open
	}{
		"topic":     {model.TopicAddress(""), page.Open{Kind: page.Disk, Addr: model.TopicAddress("orders")}},
		"partition": {model.TopicAddress("orders"), page.Open{Kind: page.Disk, Addr: model.PartitionAddress(model.TopicPartition{Topic: "orders"})}},
		"segment":   {model.PartitionAddress(orders2), page.Open{Kind: page.Batches, Addr: seg}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := uitest.Press(open(t, src, tc.addr), "enter"); fmt.Sprint(got) != fmt.Sprint([]page.Request{tc.want}) {
				t.Errorf("opened %v", got)
			}
		})
	}
}

func TestWhatIsFreedNext(t *testing.T) {
	p := open(t, uitest.NewSource(uitest.Now()), model.TopicAddress(""))
	uitest.Contains(t, p.View(120, 24), "orders: 255 MiB are freed in 1 h (orders-0, retention.ms)")
	f := freed{at: model.NoTime}
	for _, s := range []model.Segment{
		{Leaves: 90, Bytes: 5, State: model.SegmentSealed}, {Leaves: 300, Bytes: 7, State: model.SegmentSealed}, {Leaves: 200, Bytes: 9, State: model.SegmentSealed},
		{Leaves: model.NoTime, Bytes: 100, State: model.SegmentSealed}, {Leaves: 150, Bytes: 1000, State: model.SegmentActive},
	} {
		f.add(&s, 100)
	}
	if f.due != 5 || f.next != 9 || f.at != 200 {
		t.Errorf("%+v", f)
	}
}

func TestGrowth(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(1000+int64(s), 0) }
	var g growth
	if _, ok := g.rate(at(0)); ok {
		t.Error("known before anything was seen")
	}
	for s := range 100 {
		g.add(at(s), int64(s)*500)
	}
	if r, ok := g.rate(at(99)); !ok || r < 499 || r > 501 {
		t.Errorf("%v", r)
	}
	g.add(at(100), 10)
	if _, ok := g.rate(at(100)); ok {
		t.Error("a size that fell is not growth")
	}
}

func TestChangesAreReadOnceASecond(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	env := uitest.Env(t, src)
	now := uitest.Now()
	env.Now = func() time.Time { return now }
	p := New(env, page.Open{}).(*disk)
	uitest.Drive(p, p.Init())
	src.TopicSet[2].Bytes += 1 << 20
	for range 20 {
		now = now.Add(50 * time.Millisecond)
		uitest.Send(p, model.Change{Topics: true})
	}
	uitest.Send(p, page.Tick{ID: tick})
	n := 0
	for _, c := range src.Calls() {
		if c == "Topics" {
			n++
		}
	}
	if n > 4 {
		t.Errorf("read %d times", n)
	}
	now = now.Add(time.Second)
	uitest.Send(p, page.Tick{ID: tick})
	uitest.Contains(t, p.View(120, 20), "growing", "KiB/s")
}

func TestSortFilterAndCursor(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	p := open(t, src, model.TopicAddress(""))
	if it, _ := p.at(); it.name != "orders" {
		t.Fatalf("the biggest is %s", it.name)
	}
	uitest.Press(p, "s")
	if it, _ := p.at(); it.name != "orders" || p.table.Cursor() != 2 {
		t.Errorf("by name: on %s, row %d", it.name, p.table.Cursor())
	}
	p.SetFilter("pay")
	if len(p.rows) != 1 {
		t.Errorf("%d rows", len(p.rows))
	}
	p.SetFilter("no such")
	uitest.Contains(t, p.View(80, 20), "nothing matches")
}

func TestStates(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	p := open(t, src, model.TopicAddress("order"))
	uitest.Contains(t, p.View(100, 20), "did you mean orders?")
	p = open(t, uitest.Plain(src), model.PartitionAddress(orders2))
	uitest.Contains(t, p.View(100, 20), "shows no files")
	uitest.Keys(t, p)
	p = open(t, &uitest.Source{}, model.TopicAddress(""))
	uitest.Contains(t, p.View(100, 20), "nothing lies here")
	p = open(t, src, model.TopicAddress(""))
	src.Fail = func(string) error { return errors.New("gone") }
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(100, 20), "payments")
	if !strings.Contains(p.Status(), "gone") {
		t.Error(p.Status())
	}
}

func TestHostileNames(t *testing.T) {
	src := &uitest.Source{TopicSet: []model.Topic{{Name: "a\x1b]0;x\a", Bytes: 5}, {Name: strings.Repeat("注", 200), Bytes: 7}}}
	p := open(t, src, model.TopicAddress(""))
	uitest.Fits(t, p)
}

func BenchmarkView(b *testing.B) {
	src := &uitest.Source{}
	for i := range 10_000 {
		src.TopicSet = append(src.TopicSet, model.Topic{Name: fmt.Sprintf("topic-%05d", i), Bytes: int64(i) * 1000})
	}
	p := open(b, src, model.TopicAddress(""))
	for b.Loop() {
		p.View(200, 60)
	}
}
