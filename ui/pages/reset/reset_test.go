package reset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

// fake is a source whose group "billing" has three commits; it plans like a store, without logs.
type fake struct {
	*uitest.Source
	requests []model.ResetRequest
	applied  []model.ResetPlan
	at       map[int32]int64 // what is committed in orders
	refused  string          // of plans
	applyErr error
	planErr  error
}

func newFake() *fake {
	f := &fake{Source: uitest.NewSource(uitest.Now()), at: map[int32]int64{0: 1_204_332, 1: 1_204_001, 3: 1_200_000}}
	f.GroupSet = append(f.GroupSet, model.Group{ID: "reports"})
	return f
}

func tp(p int32) model.TopicPartition { return model.TopicPartition{Topic: "orders", Partition: p} }

func (f *fake) PlanReset(_ context.Context, r model.ResetRequest) (model.ResetPlan, error) {
	f.requests = append(f.requests, r)
	plan := model.ResetPlan{Group: r.Group, Where: r.Where.String(), Made: uitest.Now().UnixMilli(), Refused: f.refused}
	if f.planErr != nil {
		return plan, f.planErr
	}
	parts := []int32{0, 1, 2, 3}
	if len(r.Topics) > 0 && r.Topics[0].Partitions != nil {
		parts = r.Topics[0].Partitions
	}
	for _, p := range parts {
		row := model.PlanRow{TopicPartition: tp(p), From: model.Unknown, Change: model.NoCount(), LeaderEpoch: -1, FromEpoch: -1}
		if at, ok := f.at[p]; ok {
			row.From = at
		}
		switch r.Where.Kind {
		case model.ToEarliest:
			row.To, row.Note = 340, "log start"
		case model.ToLatest:
			row.To, row.Note = 1_300_000, "log end"
		case model.ToShift:
			row.To = row.From
			if row.From >= 0 {
				row.To += r.Where.N
			}
		default:
			row.To = max(r.Where.N, 0)
		}
		if row.From >= 0 {
			row.Change = model.Exactly(row.To - row.From)
		}
		if row.To < 1_300_000 && row.To >= 0 {
			row.First = &model.Record{TopicPartition: tp(p), Offset: row.To, Timestamp: uitest.Now().UnixMilli() - 60_000, Key: []byte("user-42"), Value: []byte("{\"type\":\"paid\",\"evil\":\"\x1b[2J\"}")}
		}
		plan.Rows = append(plan.Rows, row)
	}
	if r.Where.Kind == model.ToEarliest && len(plan.Rows) == 4 {
		plan.Rows[3].To, plan.Rows[3].Change, plan.Rows[3].Note = plan.Rows[3].From, model.Exactly(0), ""
	}
	return plan, nil
}

func (f *fake) ApplyReset(_ context.Context, p model.ResetPlan) (model.ResetResult, error) {
	f.applied = append(f.applied, p)
	if f.applyErr != nil {
		return model.ResetResult{}, f.applyErr
	}
	r := model.ResetResult{Journal: 12}
	for _, row := range p.Rows {
		if !row.Excluded {
			r.Rows = append(r.Rows, model.ResetRow{TopicPartition: row.TopicPartition, Stored: row.To, OK: true})
		}
	}
	return r, nil
}

func (f *fake) PlanUndo(_ context.Context, id uint64) (model.ResetPlan, error) {
	if id == 99 {
		return model.ResetPlan{}, fmt.Errorf("plan an undo: %w journal entry 99: there is none of that number", model.ErrInvalid)
	}
	return model.ResetPlan{Group: "billing", Where: "undo 1", Made: uitest.Now().UnixMilli(), UndoOf: id, Rows: []model.PlanRow{
		{TopicPartition: tp(0), From: 340, To: 1_204_332, Change: model.Exactly(1_203_992)},
		{TopicPartition: tp(1), From: 400, To: 1_204_001, Change: model.Exactly(1_203_601), Excluded: true, Note: "moved since: the reset stored 340, now it is 400"},
		{TopicPartition: tp(2), From: 340, To: model.Unknown, Change: model.NoCount(), Note: "nothing was committed before"},
	}}, nil
}

func open(t testing.TB, src model.Source, o page.Open) *reset {
	if o.Addr.Group == "" {
		o.Addr = model.TopicAddress("")
		o.Addr.Group = "billing"
	}
	p := New(uitest.Env(t, src), o).(*reset)
	uitest.Drive(p, p.Init())
	return p
}

// choose turns to a place.
func choose(t testing.TB, p *reset, word string) {
	t.Helper()
	for range len(places) {
		if p.where.Value() == word {
			return
		}
		uitest.Press(p, "right")
	}
	if p.where.Value() != word {
		t.Fatalf("no place %q", word)
	}
}

// typeIn types a place's text, and lets the pause after it pass.
func typeIn(p *reset, text string) {
	uitest.Press(p, "enter")
	uitest.Type(p, text)
	uitest.Send(p, page.Tick{ID: p.settleID()})
}

func TestView(t *testing.T) {
	f := newFake()
	p := open(t, f, page.Open{})
	uitest.Press(p, "j", "space")
	uitest.Golden(t, "earliest-80x24", p.View(80, 24))
	uitest.Golden(t, "earliest-120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)

	choose(t, p, "offset")
	uitest.Golden(t, "offset-empty-80x24", p.View(80, 24))
	typeIn(p, "110x")
	uitest.Golden(t, "offset-wrong-120x12", p.View(120, 12))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "backspace", "enter")
	uitest.Contains(t, p.View(120, 20), "→ 110", "◂ 1,204,222 read again")

	f.refused = "group is Stable, members c1@127.0.0.1, c2@127.0.0.1"
	active := open(t, f, page.Open{})
	uitest.Golden(t, "refused-120x14", active.View(120, 14))
	if got := fmt.Sprint(uitest.Press(active, "A")); !strings.Contains(got, "group is Stable, members c1@127.0.0.1, c2@127.0.0.1") {
		t.Error(got)
	}
}

func TestAPlanIsMadeAMomentAfterTheLastKey(t *testing.T) {
	f := newFake()
	p := open(t, f, page.Open{})
	choose(t, p, "shift")
	n := len(f.requests)
	uitest.Press(p, "enter")
	var ticks []page.TickIn
	for _, r := range uitest.Type(p, "-100") {
		if tick, ok := r.(page.TickIn); ok {
			ticks = append(ticks, tick)
		}
	}
	if len(f.requests) != n {
		t.Fatal("planned while typing")
	}
	for _, tick := range ticks {
		uitest.Send(p, page.Tick{ID: tick.ID})
	}
	if len(f.requests) != n+1 || f.requests[n].Where.N != -100 {
		t.Errorf("%d plans, the last for %+v", len(f.requests)-n, f.requests[len(f.requests)-1].Where)
	}
	uitest.Contains(t, p.View(120, 20), "→ 1,204,232", "◂ 100 read again")
}

func TestPlaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "offsets.csv")
	if err := os.WriteFile(file, []byte("orders,0,77\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		word, text string
		want       model.Where
		wrong      string
	}{
		"latest":            {"latest", "", model.Where{Kind: model.ToLatest}, ""},
		"offset":            {"offset", "1,204", model.Where{Kind: model.ToOffset, N: 1204}, ""},
		"offset below zero": {"offset", "-1", model.Where{}, "an offset is a whole number"},
		"time":              {"time", "2026-11-30 09:00", model.Where{Kind: model.ToTime, Time: uitest.Now().UnixMilli() - 720_000}, ""},
		"no time":           {"time", "soon", model.Where{}, "invalid time"},
		"ago":               {"ago", "2h30m", model.Where{Kind: model.ToAgo, N: 9_000_000}, ""},
		"ago without units": {"ago", "90", model.Where{}, "a duration has units"},
		"shift":             {"shift", "+5", model.Where{Kind: model.ToShift, N: 5}, ""},
		"no shift":          {"shift", "x", model.Where{}, "a shift is a whole number"},
		"like group":        {"like group", "reports", model.Where{Kind: model.ToGroup, Group: "reports"}, ""},
		"file":              {"file", file, model.Where{Kind: model.ToFile, File: file, Rows: []model.Commit{{TopicPartition: tp(0), Offset: 77, LeaderEpoch: -1}}}, ""},
		"no such file":      {"file", file + "x", model.Where{}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			p := open(t, f, page.Open{})
			choose(t, p, tc.word)
			if tc.text != "" {
				typeIn(p, tc.text)
				uitest.Press(p, "enter")
			}
			if tc.wrong != "" {
				if why := p.whyNoApply(); !strings.Contains(why, tc.wrong) {
					t.Errorf("apply: %q", why)
				}
				frame := p.View(120, 20)
				uitest.Contains(t, frame, tc.wrong)
				return
			}
			if got := f.requests[len(f.requests)-1].Where; fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("planned %+v, want %+v", got, tc.want)
			}
			if why := p.whyNoApply(); why != "" {
				t.Errorf("apply: %q", why)
			}
		})
	}
}

func TestAGroupsNameIsCompleted(t *testing.T) {
	p := open(t, newFake(), page.Open{})
	choose(t, p, "like group")
	uitest.Press(p, "enter")
	uitest.Type(p, "re")
	uitest.Press(p, "tab")
	if v := p.inputs[likeGroup].Value(); v != "reports" {
		t.Errorf("completed to %q", v)
	}
}

func TestWhatIsShownIsApplied(t *testing.T) {
	f := newFake()
	p := open(t, f, page.Open{})
	uitest.Press(p, "j", "space") // orders-1 out
	q := uitest.Press(p, "A")[0].(page.Confirm)
	if want := "reset group billing to earliest?"; q.Title != want || !strings.Contains(strings.Join(q.Body, "|"), "2 partitions move: 1,203,992 records read again, 1 new commit|1 partition taken out") {
		t.Errorf("%+v", q)
	}
	// The group changes while the question stands: no other plan may slip in.
	f.at[0] = 5
	uitest.Send(p, model.Change{Groups: true}, page.Tick{ID: second})
	got := uitest.Send(p, page.Confirmed{ID: q.ID, OK: true})
	if len(f.applied) != 1 {
		t.Fatalf("applied %d times", len(f.applied))
	}
	rows := f.applied[0].Rows
	if rows[0].From != 1_204_332 || rows[0].To != 340 || !rows[1].Excluded || rows[2].From != model.Unknown || rows[2].To != 340 {
		t.Errorf("%+v", rows)
	}
	if !strings.Contains(fmt.Sprint(got), "journal entry 12") {
		t.Error(got)
	}
	uitest.Golden(t, "done-80x24", p.View(80, 24))
	uitest.Golden(t, "done-120x20", p.View(120, 20))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	o := uitest.Press(p, "u")[0].(page.Open)
	if o.Kind != page.Reset || o.Args.Undo != 12 || !o.Replace {
		t.Errorf("%+v", o)
	}
	uitest.Press(p, "n")
	uitest.Contains(t, p.View(120, 20), "WILL BE")
	uitest.Fits(t, p)
}

func TestNoMeansNo(t *testing.T) {
	f := newFake()
	p := open(t, f, page.Open{})
	q := uitest.Press(p, "A")[0].(page.Confirm)
	uitest.Send(p, page.Confirmed{ID: q.ID})
	if len(f.applied) != 0 || p.asked != nil {
		t.Error("applied without a yes")
	}
}

func TestARefusedPlanIsShownAndPlannedAgain(t *testing.T) {
	f := newFake()
	p := open(t, f, page.Open{})
	q := uitest.Press(p, "A")[0].(page.Confirm)
	f.applyErr = fmt.Errorf("reset group \"billing\": %w: offsets have moved since the plan was made: orders-0 is 1204400, was 1204332; plan again", model.ErrRefused)
	f.at[0] = 1_204_400
	plans := len(f.requests)
	uitest.Send(p, page.Confirmed{ID: q.ID, OK: true})
	if len(f.requests) != plans+1 || p.done != nil {
		t.Fatalf("%d plans more, done %v", len(f.requests)-plans, p.done)
	}
	frame := p.View(120, 20)
	uitest.Contains(t, frame, "1,204,332 ▸ 1,204,400", "not applied: reset group", "offsets have moved")
	if p.whyNoApply() != "" {
		t.Error(p.whyNoApply())
	}
	f.applyErr = nil
	q = uitest.Press(p, "A")[0].(page.Confirm)
	uitest.Send(p, page.Confirmed{ID: q.ID, OK: true})
	if p.done == nil || f.applied[1].Rows[0].From != 1_204_400 {
		t.Error("the new plan is not the one applied")
	}
}

func TestARowIsEdited(t *testing.T) {
	f := newFake()
	p := open(t, f, page.Open{})
	q := uitest.Press(p, "j", "e")[0].(page.Ask)
	if q.Initial != "340" {
		t.Errorf("%+v", q)
	}
	bad := uitest.Send(p, page.Answered{ID: q.ID, Text: "noon", OK: true})[0].(page.Ask)
	if bad.Err == "" || bad.Initial != "noon" {
		t.Errorf("%+v", bad)
	}
	uitest.Send(p, page.Answered{ID: q.ID, Text: "1,204,000", OK: true})
	uitest.Contains(t, p.View(120, 20), "orders-1 edited", "→ 1,204,000", "◂ 1 read again")
	if !strings.Contains(p.plan.Where, "earliest, but orders-1 to 1204000") {
		t.Error(p.plan.Where)
	}
	uitest.Send(p, page.Answered{ID: q.ID, Text: "", OK: true})
	if len(p.edits) != 0 || p.plan.Rows[1].To != 340 {
		t.Error("the edit was not taken back")
	}
}

func TestTopics(t *testing.T) {
	f := newFake()
	o := page.Open{Addr: model.TopicAddress("orders")}
	o.Addr.Group = "billing"
	p := open(t, f, o)
	if got := fmt.Sprint(f.requests[0].Topics); got != "[{orders []}]" {
		t.Error(got)
	}
	q := uitest.Press(p, "t")[0].(page.Ask)
	if q.Initial != "orders" || len(q.Choices) != 3 {
		t.Errorf("%+v", q)
	}
	if bad := uitest.Send(p, page.Answered{ID: q.ID, Text: "orders:x", OK: true})[0].(page.Ask); bad.Err == "" {
		t.Error("orders:x is no partition")
	}
	uitest.Send(p, page.Answered{ID: q.ID, Text: "orders:0,2", OK: true})
	if got := fmt.Sprint(f.requests[len(f.requests)-1].Topics); got != "[{orders [0 2]}]" {
		t.Error(got)
	}
	uitest.Contains(t, p.View(80, 20), "── orders:0,2 ──")
}

func TestUndo(t *testing.T) {
	f := newFake()
	p := open(t, f, page.Open{Args: page.Args{Undo: 1}})
	uitest.Golden(t, "undo-120x20", p.View(120, 20))
	uitest.Golden(t, "undo-80x24", p.View(80, 24))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "j", "space") // the row that has moved is taken in again, on sight
	q := uitest.Press(p, "A")[0].(page.Confirm)
	if !strings.Contains(q.Title, "take reset 1 of group billing back?") {
		t.Error(q.Title)
	}
	uitest.Send(p, page.Confirmed{ID: q.ID, OK: true})
	a := f.applied[0]
	if a.UndoOf != 1 || a.Rows[1].Excluded || a.Rows[2].To != model.Unknown {
		t.Errorf("%+v", a)
	}
	uitest.Contains(t, p.View(120, 20), "journal entry 12")

	none := open(t, f, page.Open{Args: page.Args{Undo: 99}})
	uitest.Contains(t, none.View(80, 12), "there is none of that number", "J shows the journal")
}

func TestStates(t *testing.T) {
	bare := open(t, uitest.Plain(newFake().Source), page.Open{})
	uitest.Contains(t, bare.View(80, 10), "this source is read-only")
	uitest.Fits(t, bare)
	uitest.Keys(t, bare)
	if got := fmt.Sprint(uitest.Press(bare, "A")); !strings.Contains(got, "read-only") {
		t.Error(got)
	}

	f := newFake()
	f.planErr = fmt.Errorf("plan a reset: %w: \"billing\"", model.ErrNoGroup)
	uitest.Contains(t, open(t, f, page.Open{}).View(80, 16), "group billing has committed nothing yet", "t names the topics")
	f.planErr = errors.New("disk is slow")
	p := open(t, f, page.Open{})
	uitest.Contains(t, p.View(80, 16), "✗ disk is slow")
	f.planErr = nil
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 16), "orders-0")
	f.planErr = errors.New("disk is gone")
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 16), "orders-0", "disk is gone")
	if p.whyNoApply() == "" {
		t.Error("a plan that could not be made can be applied")
	}
}

func TestAChangeOfTheGroupPlansAgain(t *testing.T) {
	f := newFake()
	f.refused = "group is Stable, members c1@h"
	p := open(t, f, page.Open{})
	f.refused = ""
	n := len(f.requests)
	uitest.Press(p, "j", "space")
	uitest.Send(p, model.Change{Topics: true}, page.Tick{ID: second})
	if len(f.requests) != n {
		t.Error("log ends that move make a new plan")
	}
	uitest.Send(p, model.Change{Groups: true}, model.Change{Groups: true}, page.Tick{ID: second})
	if len(f.requests) != n+1 {
		t.Errorf("%d plans", len(f.requests)-n)
	}
	if p.whyNoApply() != "" || !p.plan.Rows[1].Excluded {
		t.Errorf("%q, taken out %v", p.whyNoApply(), p.plan.Rows[1].Excluded)
	}
}

func TestMouse(t *testing.T) {
	p := open(t, newFake(), page.Open{})
	p.View(120, 20)
	uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.Click, X: whereAt + 14, Y: 0}))
	if p.where.Value() != "latest" {
		t.Error(p.where.Value())
	}
	uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.DoubleClick, X: 5, Y: p.tabY + 2}))
	if !p.plan.Rows[1].Excluded {
		t.Error("a double click takes no row out")
	}
}

func BenchmarkView(b *testing.B) {
	p := open(b, newFake(), page.Open{})
	for i := range int32(2000) {
		r := p.plan.Rows[0]
		r.Partition = 10 + i
		p.plan.Rows = append(p.plan.Rows, r)
	}
	p.table.SetLen(int64(len(p.plan.Rows)))
	for b.Loop() {
		p.View(200, 60)
	}
}
