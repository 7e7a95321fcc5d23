package ui

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/uitest"
)

func TestChangesComeAtOnceAndThenTwentyTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := uitest.NewSource(time.Now())
		r, err := newRoot(t.Context(), Options{Source: src, Environ: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		start := time.Now()
		src.Changed(model.Change{Version: 1})
		if m := r.nextChange(0)().(changeMsg); m.change.Version != 1 || time.Since(start) != 0 {
			t.Errorf("the first change came after %v", time.Since(start))
		}
		for v := range uint64(10) {
			src.Changed(model.Change{Version: v + 2})
		}
		for range 10 {
			r.nextChange(changeEvery)()
		}
		if took := time.Since(start); took != 10*changeEvery {
			t.Errorf("ten changes in %v, want one in %v", took, changeEvery)
		}
		r.cancel()
		if m := r.nextChange(0)(); m != nil {
			t.Errorf("after the end: %v", m)
		}
	})
}

func TestMissedChangesAreMergedAndBounded(t *testing.T) {
	tp := func(n int32) model.TopicPartition { return model.TopicPartition{Topic: "orders", Partition: n} }
	m := merge(nil, model.Change{Version: 3, Partitions: []model.TopicPartition{tp(1)}})
	m = merge(m, model.Change{Version: 4, Topics: true, Partitions: []model.TopicPartition{tp(1), tp(2)}})
	if m.Version != 4 || !m.Topics || len(m.Partitions) != 2 || !m.Touches(tp(2)) {
		t.Errorf("merged: %+v", m)
	}
	for n := range int32(3000) {
		m = merge(m, model.Change{Version: uint64(n), Partitions: []model.TopicPartition{tp(n)}})
	}
	if !m.All || m.Partitions != nil {
		t.Errorf("%d partitions kept", len(m.Partitions))
	}
}

// TestASlowSourceIsAskedOnceAtATime lets the source change while it still says what it is: questions must not pile up.
func TestASlowSourceIsAskedOnceAtATime(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	r, err := newRoot(t.Context(), Options{Source: src, Environ: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	first := r.askInfo()
	for range 1000 {
		if r.askInfo() != nil {
			t.Fatal("a question beside the one that is not answered yet")
		}
	}
	if first == nil {
		t.Fatal("nothing was asked")
	}
	in := src.Is
	in.State = "recovering"
	if again := r.update(r.asking.Done(in, nil)); again == nil || r.info.State != "recovering" {
		t.Errorf("what changed meanwhile is not asked for; state %q", r.info.State)
	}
}
