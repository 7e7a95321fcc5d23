package group

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

func open(t testing.TB, env page.Env, id string) *group {
	a := model.TopicAddress("")
	a.Group = id
	p := New(env, page.Open{Kind: page.Group, Addr: a}).(*group)
	uitest.Drive(p, p.Init())
	return p
}

func row(topic string, p int32, committed, start, end int64) model.GroupOffset {
	o := model.GroupOffset{
		TopicPartition: model.TopicPartition{Topic: topic, Partition: p}, Committed: committed, LeaderEpoch: 3,
		CommittedAt: uitest.Now().UnixMilli() - 5000, ExpiresAt: uitest.Now().UnixMilli() + 6*24*3600*1000, LogStart: start, LogEnd: end,
		Lag: model.Exactly(max(0, end-max(start, committed))), Lost: max(0, start-committed), Ahead: max(0, committed-end),
	}
	if committed < 0 {
		o.Lag, o.Lost, o.CommittedAt, o.ExpiresAt, o.Committed = model.NoCount(), 0, model.NoTime, model.NoTime, model.Unknown
	}
	return o
}

func tps(topic string, ps ...int32) (out []model.TopicPartition) {
	for _, p := range ps {
		out = append(out, model.TopicPartition{Topic: topic, Partition: p})
	}
	return out
}

// kinds returns a source with a group of members, and one with every kind of row.
func kinds() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	busy := model.Group{
		ID: "busy", State: model.GroupStable, Type: "Classic", Protocol: "range",
		Members: []model.Member{
			{ID: "c1-0b2d7d6e-6f7e-4b1c-9b0f-2a33f1a0c0de", Client: "c1", Host: "/10.0.0.7", Assignment: append(tps("orders", 0, 1, 2), tps("payments", 0, 2)...)},
			{ID: "c2-1c3e8e7f", Client: "c2", Host: "/10.0.0.8", Instance: "static-2"},
		},
		Offsets: []model.GroupOffset{row("orders", 0, 1_204_332, 340, 1_204_344), row("orders", 1, 1_204_001, 340, 1_216_005), row("orders", 2, -1, 0, 90)},
	}
	for i := range busy.Offsets {
		busy.Offsets[i].Member = busy.Members[0].ID
	}
	busy.Lag = model.Exactly(12_016)
	odd := model.Group{ID: "odd", State: model.GroupEmpty, Type: "Classic", Offsets: []model.GroupOffset{
		{TopicPartition: tps("gone", 0)[0], Committed: 12, LogStart: -1, LogEnd: -1, CommittedAt: model.NoTime, ExpiresAt: model.NoTime, Err: errors.New("no such topic: \"gone\"")},
		row("orders", 0, 5, 40, 50), row("orders", 1, 500, 0, 50), row("orders", 2, 7, 0, 50),
	}}
	odd.Offsets[3].Metadata, odd.Offsets[3].Lag = "host=a\x1b[2J\u202e", model.About(43)
	odd.Lag = model.About(53)
	src.GroupSet = append(src.GroupSet, busy, odd)
	return src
}

func TestView(t *testing.T) {
	c := &uitest.Clock{Time: uitest.Now()}
	src := kinds()
	p := open(t, c.Env(t, src), "busy")
	for range 9 {
		c.Time = c.Time.Add(time.Second)
		src.GroupSet[2].Lag.N -= 100
		src.GroupSet[2].Offsets[1].Lag.N -= 100
		uitest.Send(p, model.Change{Groups: true}, page.Tick{ID: second})
	}
	uitest.Golden(t, "busy-80x24", p.View(80, 24))
	uitest.Golden(t, "busy-120x40", p.View(120, 40))
	uitest.Golden(t, "busy-200x20", p.View(200, 20))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "tab", "j")
	uitest.Contains(t, p.View(80, 24), "c2-1c3e8e7f · host /10.0.0.8 · instance static-2")
	uitest.Fits(t, p)
	uitest.Keys(t, p)

	odd := open(t, uitest.Env(t, src), "odd")
	uitest.Golden(t, "odd-80x24", odd.View(80, 24))
	uitest.Golden(t, "odd-160x24", odd.View(160, 24))
	uitest.Fits(t, odd)
}

func TestWhatTheRowsSay(t *testing.T) {
	p := open(t, uitest.Env(t, kinds()), "odd")
	for i, want := range []string{"no such topic", "35 lost before the log start", "450 past the end", `host=a␛[2J\u{202e}`} {
		p.table.SetCursor(int64(i))
		uitest.Contains(t, p.View(120, 24), want)
	}
	head := strings.Split(uitest.Plainly(p.View(120, 24)), "\n")[0]
	if !strings.Contains(head, "lag ≈ 53") || !strings.Contains(head, "35 lost") {
		t.Error(head)
	}
}

func TestKeys(t *testing.T) {
	src := kinds()
	for name, tc := range map[string]struct {
		id, key string
		row     int64
		bare    bool
		want    string
	}{
		"records at the commit":     {"busy", "enter", 0, false, "{records orders/0@1204332 "},
		"records where it is lost":  {"odd", "enter", 1, false, "{records orders/0@40 "},
		"records without a commit":  {"busy", "enter", 2, false, "{records orders/2 "},
		"records that are gone":     {"odd", "enter", 0, false, "the partition cannot be read: no such topic"},
		"partition":                 {"busy", "o", 1, false, "{segments orders/1 "},
		"partition without files":   {"busy", "o", 1, true, "{partitions orders/1 "},
		"reset":                     {"odd", "R", 0, false, "{reset group:odd "},
		"reset one topic":           {"odd", "T", 1, false, "{reset group:odd "},
		"reset of an active group":  {"busy", "R", 0, false, "group has live members: c1@10.0.0.7, c2@10.0.0.8"},
		"reset, read-only":          {"odd", "R", 0, true, "this source is read-only"},
		"delete of an active group": {"busy", "D", 0, false, "group has live members"},
		"journal":                   {"busy", "J", 0, false, "{journal group:busy "},
		"nothing to undo":           {"odd", "u", 0, false, "no reset of this group to undo"},
		"tail":                      {"busy", "t", 0, false, "{tail orders "},
	} {
		t.Run(name, func(t *testing.T) {
			var s model.Source = src
			if tc.bare {
				s = uitest.Plain(src)
			}
			p := open(t, uitest.Env(t, s), tc.id)
			p.table.SetCursor(tc.row)
			if got := fmt.Sprint(uitest.Press(p, tc.key)); !strings.Contains(got, tc.want) {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestUndoTakesTheNewestThatStands(t *testing.T) {
	src := kinds()
	src.Journals = []model.JournalEntry{{ID: 9, Group: "audit", Undone: 10}, {ID: 8, Group: "other"}, {ID: 7, Group: "audit"}}
	p := open(t, uitest.Env(t, src), "audit")
	o := uitest.Press(p, "u")[0].(page.Open)
	if o.Kind != page.Reset || o.Args.Undo != 7 || o.Addr.Group != "audit" {
		t.Errorf("%+v", o)
	}
}

func TestDelete(t *testing.T) {
	src := kinds()
	p := open(t, uitest.Env(t, src), "odd")
	q := uitest.Press(p, "D")[0].(page.Confirm)
	if q.Typed != "odd" || !strings.Contains(strings.Join(q.Body, " "), "4 committed offsets") {
		t.Errorf("%+v", q)
	}
	got := uitest.Send(p, page.Confirmed{ID: q.ID, OK: true})
	got = append(got, uitest.Send(p, page.Tick{ID: leave})...)
	if s := fmt.Sprint(got); !strings.Contains(s, "deleted group odd") || got[len(got)-1] != page.Request(page.Back{}) {
		t.Error(s)
	}
}

func TestStates(t *testing.T) {
	p := open(t, uitest.Env(t, kinds()), "nobody")
	uitest.Contains(t, p.View(80, 10), "no such group", "2 lists the groups")

	src := kinds()
	src.GroupSet = append(src.GroupSet, model.Group{ID: "new", State: model.GroupEmpty, Type: "Classic"})
	p = open(t, uitest.Env(t, src), "new")
	uitest.Contains(t, p.View(80, 24), "this group has committed nothing", "R puts it where you want it")
	uitest.Fits(t, p)

	p = open(t, uitest.Env(t, uitest.Plain(src)), "busy") // without GroupReader
	uitest.Contains(t, p.View(80, 24), "orders-1")
}

func TestManyChangesMakeFewReadings(t *testing.T) {
	c := &uitest.Clock{Time: uitest.Now()}
	src := kinds()
	p := open(t, c.Env(t, src), "busy")
	calls := func() int { return strings.Count(fmt.Sprint(src.Calls()), "Group busy") }
	var timers int
	for range 10 {
		c.Time = c.Time.Add(20 * time.Millisecond)
		for _, r := range uitest.Send(p, model.Change{Partitions: tps("orders", 0)}) {
			if _, ok := r.(page.TickIn); ok {
				timers++
			}
		}
	}
	if calls() != 1 || timers != 1 {
		t.Errorf("%d readings, %d timers", calls(), timers)
	}
	uitest.Send(p, page.Tick{ID: again}, model.Change{Partitions: tps("elsewhere", 0)})
	if calls() != 2 {
		t.Errorf("%d readings", calls())
	}
}

func TestAssignment(t *testing.T) {
	for want, in := range map[string][]model.TopicPartition{
		"orders 0-2 5, payments 1": append(tps("payments", 1), tps("orders", 2, 0, 5, 1)...),
		"a 3":                      tps("a", 3),
		"":                         nil,
	} {
		if got := assignment(in); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestMouse(t *testing.T) {
	p := open(t, uitest.Env(t, kinds()), "busy")
	p.View(120, 40)
	uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.Click, X: 5, Y: p.seen.membersY + 2}))
	if !p.upper || p.members.Cursor() != 1 {
		t.Errorf("upper %v, on %d", p.upper, p.members.Cursor())
	}
	p.View(120, 40)
	got := uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.DoubleClick, X: 5, Y: p.seen.tableY + 2}))
	if len(got) != 1 || got[0].(page.Open).Addr.Partition != 1 || p.upper {
		t.Errorf("%v", got)
	}
}

func BenchmarkView(b *testing.B) {
	src := kinds()
	for i := range int32(2000) {
		src.GroupSet[2].Offsets = append(src.GroupSet[2].Offsets, row("wide", i, 100, 0, 500))
	}
	p := open(b, uitest.Env(b, src), "busy")
	for b.Loop() {
		p.View(200, 60)
	}
}
