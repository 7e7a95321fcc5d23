package journal

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

func open(t testing.TB, src model.Source, group string) *journal {
	a := model.TopicAddress("")
	a.Group = group
	p := New(uitest.Env(t, src), page.Open{Addr: a}).(*journal)
	uitest.Drive(p, p.Init())
	return p
}

func entries() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	ms := uitest.Now().UnixMilli()
	row := func(p int32, from, to int64) model.PlanRow {
		return model.PlanRow{TopicPartition: model.TopicPartition{Topic: "payments", Partition: p}, From: from, To: to, Change: model.Exactly(to - from)}
	}
	src.Journals = []model.JournalEntry{
		{ID: 12, Group: "reports", At: ms - 9_000, Who: "ada@host", Where: "-3", Rows: []model.PlanRow{row(0, 700, 697), row(1, 700, 697)}},
		{ID: 11, Group: "audit", At: ms - 240_000, Who: "ada@host", Where: "undo 9", UndoOf: 9, Rows: []model.PlanRow{row(0, 0, 35_000)}},
		{ID: 10, Group: "fresh", At: ms - 300_000, Who: "bob@host", Where: "latest", Rows: []model.PlanRow{{TopicPartition: row(2, 0, 0).TopicPartition, From: -1, To: 90, Change: model.NoCount(), Note: "log end"}}},
		{ID: 9, Group: "audit", At: ms - 3_600_000, Who: "ada@host", Where: "earliest", Undone: 11, Rows: []model.PlanRow{row(0, 35_000, 0)}},
		{ID: 3, Group: "old\x1b[2J", At: ms - 90_000_000, Who: "eve\u202e@host", Where: "delete group", Rows: []model.PlanRow{{TopicPartition: row(0, 0, 0).TopicPartition, From: 12, To: -1, Change: model.NoCount()}}},
	}
	return src
}

func TestView(t *testing.T) {
	p := open(t, entries(), "")
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "G")
	uitest.Contains(t, p.View(120, 20), "reset 3 of old␛[2J", `eve\u{202e}@host`, "taken away")
	uitest.Press(p, "enter")
	uitest.Golden(t, "rows-80x24", p.View(80, 24))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "esc")
	if p.inside {
		t.Error("esc does not go back to the list")
	}
}

func TestOfOneGroup(t *testing.T) {
	p := open(t, entries(), "audit")
	if len(p.rows) != 2 || !strings.Contains(p.Status(), "2 of 2 resets") {
		t.Errorf("%d rows, %q", len(p.rows), p.Status())
	}
	none := open(t, entries(), "search")
	uitest.Contains(t, none.View(80, 10), "no reset of search was made yet", "R on a group")
}

func TestKeys(t *testing.T) {
	p := open(t, entries(), "")
	for name, tc := range map[string]struct{ entry, key, want string }{
		"undo":              {"12", "u", "{reset group:reports {[] []   0 12 <nil>}"},
		"undo of an undo":   {"11", "u", "{reset group:audit {[] []   0 11 <nil>}"},
		"taken back":        {"9", "u", "it was taken back by reset 11: undo 11 to have it again"},
		"group":             {"10", "o", "{group group:fresh "},
		"group of deletion": {"3", "o", "{group "},
	} {
		t.Run(name, func(t *testing.T) {
			p.list.Select(tc.entry)
			if got := fmt.Sprint(uitest.Press(p, tc.key)); !strings.Contains(got, tc.want) {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
	p.list.Select("12")
	p.follow()
	got := uitest.Press(p, "enter", "j", "enter")
	if o := got[0].(page.Open); o.Kind != page.Records || o.Addr.String() != "payments/1@697" {
		t.Errorf("%+v", o)
	}
}

func TestFilter(t *testing.T) {
	p := open(t, entries(), "")
	for filter, want := range map[string]int{"audit": 2, "bob": 1, "/earliest|by -/": 2, "zzz": 0} {
		p.SetFilter(filter)
		if len(p.rows) != want {
			t.Errorf("%q: %d rows, want %d", filter, len(p.rows), want)
		}
	}
	uitest.Contains(t, p.View(80, 24), "")
	p.SetFilter("zzz")
	uitest.Contains(t, p.View(80, 24), "no reset matches zzz")
	uitest.Fits(t, p)
}

func TestStates(t *testing.T) {
	bare := open(t, uitest.Plain(entries()), "")
	uitest.Contains(t, bare.View(120, 10), "this source is read-only")
	uitest.Keys(t, bare)
	src := entries()
	broken := errors.New("strata.db: damaged")
	src.Fail = func(string) error { return broken }
	p := open(t, src, "")
	uitest.Contains(t, p.View(80, 10), "strata.db: damaged", "ctrl-r")
	broken = nil
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 10), "reports")
	uitest.Contains(t, open(t, &uitest.Source{}, "").View(80, 10), "no reset was made yet")
}

func TestMouse(t *testing.T) {
	p := open(t, entries(), "")
	p.View(120, 24)
	uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.DoubleClick, X: 4, Y: 3}))
	if e, _ := p.at(); e.ID != 10 || !p.inside {
		t.Errorf("on %d, inside %v", e.ID, p.inside)
	}
}

func BenchmarkView(b *testing.B) {
	src := entries()
	for i := range 10_000 {
		e := src.Journals[0]
		e.ID = uint64(100 + i)
		src.Journals = append(src.Journals, e)
	}
	p := open(b, src, "")
	for b.Loop() {
		p.View(200, 60)
	}
}
