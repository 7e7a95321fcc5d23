package groups

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

func open(t testing.TB, env page.Env, o page.Open) *groups {
	p := New(env, o).(*groups)
	uitest.Drive(p, p.Init())
	return p
}

// kinds returns a source with a group of every kind.
func kinds() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	row := func(o model.GroupOffset, topic string, p int32) model.GroupOffset {
		o.TopicPartition = model.TopicPartition{Topic: topic, Partition: p}
		return o
	}
	ok := model.GroupOffset{Committed: 100, LogStart: 0, LogEnd: 12_104, Lag: model.Exactly(12_004)}
	src.GroupSet = append(src.GroupSet,
		model.Group{ID: "ahead", State: model.GroupEmpty, Type: "Classic", Lag: model.Exactly(0), Offsets: []model.GroupOffset{row(model.GroupOffset{Committed: 500, LogEnd: 50, Ahead: 450, Lag: model.Exactly(0)}, "payments", 0)}},
		model.Group{ID: "estimate", State: model.GroupReconciling, Type: "Consumer", Protocol: "uniform", Lag: model.About(12_004), Members: make([]model.Member, 3), Offsets: []model.GroupOffset{row(ok, "orders", 0), row(ok, "payments", 0)}},
		model.Group{ID: "gone", State: model.GroupDead, Type: "Classic", Lag: model.NoCount(), Offsets: []model.GroupOffset{row(model.GroupOffset{Committed: 5, LogStart: -1, LogEnd: -1, Err: errors.New("no such topic")}, "old", 0)}},
		model.Group{ID: "shared", State: model.GroupUnknown, Type: "Share", Note: "share groups keep no offsets here"},
	)
	return src
}

func TestView(t *testing.T) {
	c := &uitest.Clock{Time: uitest.Now()}
	src := kinds()
	p := open(t, c.Env(t, src), page.Open{})
	for range 9 {
		c.Time = c.Time.Add(time.Second)
		src.GroupSet[1].Lag.N += 41
		src.GroupSet[3].Lag.N -= 1200
		uitest.Send(p, model.Change{Groups: true}, page.Tick{ID: second})
	}
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
}

func TestOfOneTopic(t *testing.T) {
	p := open(t, uitest.Env(t, kinds()), page.Open{Addr: model.TopicAddress("payments")})
	frame := uitest.Plainly(p.View(120, 20))
	if strings.Contains(frame, "billing") || !strings.Contains(frame, "ahead") || !strings.Contains(frame, "12,004") {
		t.Error(frame)
	}
	if !strings.Contains(p.Status(), "2 of 2 groups that read payments") {
		t.Error(p.Status())
	}
	none := open(t, uitest.Env(t, kinds()), page.Open{Addr: model.TopicAddress("clicks")})
	uitest.Contains(t, none.View(80, 10), "no group has committed an offset of clicks", "2 lists all groups")
}

func TestFilterSortAndCursor(t *testing.T) {
	p := open(t, uitest.Env(t, kinds()), page.Open{})
	order := func() string {
		var ids []string
		for _, i := range p.rows {
			ids = append(ids, p.all[i].ID)
		}
		return strings.Join(ids, " ")
	}
	p.SetFilter("/^(a|b)/")
	if order() != "ahead audit billing" {
		t.Error(order())
	}
	uitest.Press(p, "j")
	p.SetFilter("")
	if g, _ := p.at(); g.ID != "audit" {
		t.Errorf("the cursor left its group for %s", g.ID)
	}
	p.sortBy(colLag)
	if !strings.HasPrefix(order(), "audit estimate billing") {
		t.Errorf("by lag: %s", order())
	}
	if c, desc := parseSort(page.SortText(&p.table)); c != colLag || !desc {
		t.Error(page.SortText(&p.table))
	}
	p.SetFilter("zzz")
	uitest.Contains(t, p.View(80, 10), "no group matches zzz")
}

func TestKeysSayWhyNot(t *testing.T) {
	src := kinds()
	full, bare := open(t, uitest.Env(t, src), page.Open{}), open(t, uitest.Env(t, uitest.Plain(src)), page.Open{})
	for name, tc := range map[string]struct {
		p     *groups
		group string
		keys  string
		want  string
	}{
		"open":             {full, "audit", "enter", "{group "},
		"reset an idle":    {full, "audit", "R", "{reset "},
		"reset an active":  {full, "billing", "R", "group has live members: c1@127.0.0.1"},
		"delete an active": {full, "billing", "D", "group has live members: c1@127.0.0.1"},
		"read-only":        {bare, "audit", "R", "this source is read-only"},
		"journal":          {full, "audit", "J", "{journal "},
		"no journal":       {bare, "audit", "J", "this source is read-only"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.p.table.Select(tc.group)
			if got := fmt.Sprint(uitest.Press(tc.p, tc.keys)); !strings.Contains(got, tc.want) {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestDeleteAsksForTheName(t *testing.T) {
	src := kinds()
	p := open(t, uitest.Env(t, src), page.Open{})
	p.table.Select("audit")
	q := uitest.Press(p, "D")[0].(page.Confirm)
	if q.Typed != "audit" {
		t.Errorf("%+v", q)
	}
	uitest.Send(p, page.Confirmed{ID: q.ID})
	if strings.Contains(fmt.Sprint(src.Calls()), "DeleteGroup") {
		t.Fatal("deleted without a yes")
	}
	got := uitest.Send(p, page.Confirmed{ID: q.ID, OK: true})
	if !strings.Contains(fmt.Sprint(src.Calls()), "DeleteGroup audit") || !strings.Contains(fmt.Sprint(got), "deleted group audit") {
		t.Errorf("%v %v", src.Calls(), got)
	}
}

func TestANewGroupIsPlacedByAReset(t *testing.T) {
	p := open(t, uitest.Env(t, kinds()), page.Open{})
	q := uitest.Press(p, "N")[0].(page.Ask)
	got := uitest.Send(p, page.Answered{ID: q.ID, Text: " fresh ", OK: true})
	if o := got[0].(page.Open); o.Kind != page.Reset || o.Addr.Group != "fresh" {
		t.Errorf("%+v", o)
	}
}

func TestEmptyTeachesWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		src  *uitest.Source
		bare bool
		want string
	}{
		"embedded":            {&uitest.Source{Is: model.Info{Kind: model.Embedded}}, false, "N puts a new one where you want it"},
		"directory without":   {&uitest.Source{Is: model.Info{Kind: model.Directory}}, true, "there is no __consumer_offsets here"},
		"directory with none": {&uitest.Source{Is: model.Info{Kind: model.Directory}, TopicSet: []model.Topic{{Name: "__consumer_offsets"}}}, true, "holds no commit"},
	} {
		t.Run(name, func(t *testing.T) {
			var src model.Source = tc.src
			if tc.bare {
				src = uitest.Plain(src)
			}
			p := open(t, uitest.Env(t, src), page.Open{})
			uitest.Contains(t, p.View(120, 10), tc.want)
			uitest.Fits(t, p)
		})
	}
}

func TestALateErrorKeepsTheRows(t *testing.T) {
	src := kinds()
	var broken error
	src.Fail = func(method string) error {
		if method == "Groups" {
			return broken
		}
		return nil
	}
	p := open(t, uitest.Env(t, src), page.Open{})
	broken = errors.New("disk is gone")
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 10), "billing")
	if !strings.Contains(p.Status(), "disk is gone") {
		t.Error(p.Status())
	}
}

func TestGroupsAreReadOnceASecond(t *testing.T) {
	c := &uitest.Clock{Time: uitest.Now()}
	src := kinds()
	p := open(t, c.Env(t, src), page.Open{})
	calls := func() int { return strings.Count(fmt.Sprint(src.Calls()), "Groups") }
	for range 20 {
		c.Time = c.Time.Add(20 * time.Millisecond)
		uitest.Send(p, model.Change{Topics: true})
	}
	if calls() != 1 {
		t.Errorf("read %d times within a second", calls())
	}
	uitest.Send(p, page.Tick{ID: second})
	if calls() != 2 {
		t.Errorf("read %d times after the second", calls())
	}
}

func TestHostileNames(t *testing.T) {
	src := kinds()
	src.GroupSet[0].ID = "a\x1b]52;c;x\x07\u202e"
	src.GroupSet[0].State = "\x1b[2J"
	src.GroupSet[1].ID = strings.Repeat("組", 90)
	src.GroupSet[1].Members[0].Client = "c\x1b[31m"
	p := open(t, uitest.Env(t, src), page.Open{})
	uitest.Fits(t, p)
	uitest.Contains(t, p.View(120, 20), `a␛]52;c;x␇\u{202e}`)
	p.table.Select(src.GroupSet[1].ID)
	if got := fmt.Sprint(uitest.Press(p, "R")); strings.ContainsRune(got, 0x1b) {
		t.Errorf("%q", got)
	}
}

func TestMouse(t *testing.T) {
	p := open(t, uitest.Env(t, kinds()), page.Open{})
	p.View(120, 20)
	got := uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.DoubleClick, X: 4, Y: 3}))
	if o := got[0].(page.Open); o.Addr.Group != "billing" {
		t.Errorf("%+v", o)
	}
	uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.Click, X: 4, Y: 0}))
	if !p.desc {
		t.Error("a click on the head does not turn the order")
	}
}

func BenchmarkView(b *testing.B) {
	src := kinds()
	for i := range 5000 {
		g := src.GroupSet[1]
		g.ID = fmt.Sprintf("group-%05d", i)
		src.GroupSet = append(src.GroupSet, g)
	}
	p := open(b, uitest.Env(b, src), page.Open{})
	for b.Loop() {
		p.View(200, 60)
	}
}
