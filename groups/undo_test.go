package groups

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

func TestUndoAndUndoOfTheUndo(t *testing.T) {
	s, _, c := shop(t)
	was, err := s.Fetch(t.Context(), "billing", nil)
	if err != nil {
		t.Fatal(err)
	}
	sel := []model.TopicSelector{{Topic: "orders"}}
	apply(t, s, plan(t, s, model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToOffset, N: 45}, Topics: sel})) // 1
	reset := offsets(t, s, "billing")
	undo := func(id uint64) model.ResetPlan {
		t.Helper()
		p, err := s.PlanUndo(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := undo(0)
	if p.UndoOf != 1 || p.Where != "undo 1" || p.Changes() != 4 {
		t.Errorf("plan %+v", p)
	}
	for i, want := range []struct {
		change model.Count
		note   string
	}{{model.Exactly(19), ""}, {model.Exactly(-5), "35 lost"}, {model.Exactly(55), ""}, {model.NoCount(), "nothing was committed before"}} {
		if r := p.Rows[i]; r.Change != want.change || r.Note != want.note || (r.First == nil) != (i >= 2) {
			t.Errorf("row %d: change %v, note %q, first %v; want %+v", i, r.Change, r.Note, r.First, want)
		}
	}
	c.ms.Store(4000)
	apply(t, s, p) // 2
	got, err := s.Fetch(t.Context(), "billing", nil)
	if err != nil || len(got) != len(was) {
		t.Fatalf("after the undo: %+v, %v; want %+v", got, err, was)
	}
	for i := range got {
		if !got[i].Same(was[i]) {
			t.Errorf("after the undo: %+v, want %+v", got[i], was[i])
		}
	}
	undone := func(want ...uint64) {
		t.Helper()
		js, err := s.Journal(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for _, e := range slices.Backward(js) {
			got = append(got, e.Undone)
		}
		if !slices.Equal(got, want) {
			t.Errorf("undone by %v, want %v", got, want)
		}
	}
	undone(2, 0)
	_, err = s.PlanUndo(t.Context(), 1)
	wantErr(t, err, model.ErrRefused)
	_, err = s.PlanUndo(t.Context(), 99)
	wantErr(t, err, model.ErrInvalid)
	_, err = s.ApplyReset(t.Context(), p)
	wantErr(t, err, model.ErrRefused)

	apply(t, s, undo(0)) // 3 takes back 2: 1 stands again
	if got := offsets(t, s, "billing"); !reflect.DeepEqual(got, reset) {
		t.Errorf("after the undo's undo: %v, want %v", got, reset)
	}
	undone(0, 3, 0)
	apply(t, s, undo(3)) // 4 takes back 3: 2 stands again, and takes 1 back again
	undone(2, 0, 4, 0)
	if got := offsets(t, s, "billing"); got[at("orders", 0)] != 70 || len(got) != 3 {
		t.Errorf("after the third: %v", got)
	}
}

func TestUndoLeavesAloneWhatHasMovedSince(t *testing.T) {
	s, _, _ := shop(t)
	apply(t, s, plan(t, s, model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToEarliest}}))
	commit(t, s, "billing", offset("orders", 0, 44))
	p, err := s.PlanUndo(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Rows[0]; !r.Excluded || r.From != 44 || r.To != 70 || r.Note != "moved since: the reset stored 40, now it is 44" {
		t.Errorf("row that has moved: %+v", r)
	}
	if p.Rows[1].Excluded || p.Rows[2].Excluded {
		t.Errorf("rows that have not: %+v", p.Rows[1:])
	}
	apply(t, s, p)
	want := map[model.TopicPartition]int64{at("orders", 0): 44, at("orders", 1): 5, at("orders", 2): 130}
	if got := offsets(t, s, "billing"); !reflect.DeepEqual(got, want) {
		t.Errorf("stored %v, want %v", got, want)
	}
	// The rest can still be taken back: taken in by hand.
	if p, err = s.PlanUndo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if r := p.Rows[1]; r.Excluded || r.From != r.To || r.Note != "as it was before already" {
		t.Errorf("row that is back: %+v", r)
	}
	_, err = s.ApplyReset(t.Context(), p)
	wantErr(t, err, model.ErrRefused)
	p.Rows[0].Excluded = false
	apply(t, s, p)
	if got := offsets(t, s, "billing"); got[at("orders", 0)] != 70 {
		t.Errorf("stored %v", got)
	}
	if _, err = s.PlanUndo(t.Context(), 1); !errors.Is(err, model.ErrRefused) {
		t.Errorf("the entry is taken back whole, but: %v", err)
	}
}

func TestDeletedGroupCanBeHadBack(t *testing.T) {
	s, _, _ := shop(t)
	m, err := s.Join("billing", MemberInfo{})
	if err == nil {
		err = m.Leave()
	}
	if err != nil {
		t.Fatal(err)
	}
	before := offsets(t, s, "billing")
	if err := s.DeleteGroup(t.Context(), "billing"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Group(t.Context(), "billing")
	wantErr(t, err, model.ErrNoGroup)
	wantErr(t, s.DeleteGroup(t.Context(), "billing"), model.ErrNoGroup)
	p, err := s.PlanUndo(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, s, p)
	if got := offsets(t, s, "billing"); !reflect.DeepEqual(got, before) {
		t.Errorf("had back %v, want %v", got, before)
	}
}

func TestNothingToUndo(t *testing.T) {
	s, _, _ := shop(t)
	_, err := s.PlanUndo(t.Context(), 0)
	wantErr(t, err, model.ErrInvalid)
}

func TestUndoWhereTheTopicIsGone(t *testing.T) {
	s, logs, _ := shop(t)
	apply(t, s, plan(t, s, model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToEarliest}}))
	for p := range int32(4) {
		delete(logs.logs, at("orders", p))
	}
	p, err := s.PlanUndo(t.Context(), 0)
	if err != nil || p.Changes() != 3 || p.Rows[0].Change.Known() || !strings.Contains(p.Rows[0].Note, "no such topic") {
		t.Fatalf("plan %+v, %v", p, err)
	}
	apply(t, s, p)
	if got := offsets(t, s, "billing"); got[at("orders", 0)] != 70 {
		t.Errorf("stored %v", got)
	}
}
