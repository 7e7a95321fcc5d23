package txn

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

var errKilled = errors.New("killed")

// TestKilledBetweenSteps stops a coordinator before each step of a transaction, in turn, and lets another one go on with
// what was stored: a transaction that was prepared is completed, one that was not is aborted when its time is over, and
// its offsets have its fate.
func TestKilledBetweenSteps(t *testing.T) {
	for _, commit := range []bool{true, false} {
		for _, bump := range []bool{true, false} {
			seen := map[string]bool{}
			for stop := 1; ; stop++ {
				name := fmt.Sprintf("commit %v, version 2 %v, step %d", commit, bump, stop)
				finished := false
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { finished = killAt(t, stop, commit, bump, seen) })
				})
				if finished {
					break
				}
			}
			for _, step := range []string{"init", "add", "offsets", "prepare", "marker", "complete", "answer"} {
				if !seen[step] {
					t.Errorf("nothing was stopped before %q", step)
				}
			}
		}
	}
}

func killAt(t *testing.T, stop int, commit, bump bool, seen map[string]bool) (finished bool) {
	m := newMemory()
	n, prepared := 0, false
	first := start(t, m, Options{Step: func(next string) error {
		n++
		if n >= stop {
			if n == stop {
				seen[next] = true
			}
			return errKilled
		}
		prepared = prepared || next == "marker" || next == "complete"
		return nil
	}})
	p := Producer{}
	func() {
		var code groups.Code
		if p, code = first.InitProducerID(InitRequest{TransactionalID: "a", Transactional: true, Timeout: 10_000, Expected: noProducer}); code != 0 {
			return
		}
		if first.Verify("a", p.ID, p.Epoch, at(0), 12) != 0 || first.Verify("a", p.ID, p.Epoch, at(1), 12) != 0 {
			return
		}
		if first.CommitOffsets("a", p, "g", []model.Commit{{Offset: 7}}, true) == 0 {
			first.End("a", p, commit, bump)
		}
	}()
	if n < stop {
		return true
	}
	_ = first.Close()
	was := m.recs["a"]
	prepared = was.State != "" && was.State != model.TxnEmpty && was.State != model.TxnOngoing
	second := start(t, m, Options{})
	synctest.Wait()
	if preparing(was.State) {
		if s := state(t, second, "a"); s != model.TxnCompleteCommit && s != model.TxnCompleteAbort {
			t.Errorf("what was %s is %s", was.State, s)
		}
	}
	time.Sleep(11 * time.Second)
	synctest.Wait()
	committed := prepared && commit
	if got := m.offsets["g"] == 7; got != committed {
		t.Errorf("stopped in %q: offsets committed %v", was.State, got)
	}
	if len(m.pending) > 0 {
		t.Errorf("stopped in %q: offsets are pending for ever", was.State)
	}
	for _, tp := range was.Partitions {
		marks := m.markers[tp]
		if len(marks) == 0 || marks[len(marks)-1].Commit != committed {
			t.Errorf("stopped in %q: markers of %v are %v", was.State, tp, marks)
		}
		for _, k := range marks {
			if k != marks[0] {
				t.Errorf("stopped in %q: %v has different markers: %v", was.State, tp, marks)
			}
		}
	}
	if s := state(t, second, "a"); s.Open() {
		t.Errorf("stopped in %q: it is %s for ever", was.State, s)
	}
	// Whoever comes next finds it free.
	next := begin(t, second, "a")
	if was.ID != "" && (next.ID != was.ProducerID || next.Epoch <= was.Epoch) {
		t.Errorf("after %d/%d comes %+v", was.ProducerID, was.Epoch, next)
	}
	return false
}
