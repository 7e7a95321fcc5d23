package logdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/watch"
)

// waitFor waits until what is wanted of a tail's counters is so.
func waitFor(t *testing.T, tail model.Tail, what string, ok func(model.TailStats) bool) model.TailStats {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	for {
		s := tail.Stats()
		if ok(s) {
			return s
		}
		if err := tail.Wait(ctx, s.Matched); err != nil {
			t.Fatalf("%s: %v; %+v", what, err, tail.Stats())
		}
	}
}

func values(recs []model.Record) string {
	var out []string
	for _, r := range recs {
		out = append(out, string(r.Value))
	}
	return strings.Join(out, " ")
}

func liveDir(t *testing.T, parts ...string) (*fakeBroker, *Dir) {
	t.Helper()
	b := newBroker(t, t.TempDir())
	for _, p := range parts {
		b.create(p, 3)
	}
	d, err := Open([]string{b.root}, Options{Restat: 200 * time.Millisecond})
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return b, d
}

func openTail(t *testing.T, d *Dir, q model.TailQuery) model.Tail {
	t.Helper()
	tail, err := d.Tail(t.Context(), q)
	must(t, err)
	t.Cleanup(func() { must(t, tail.Close()) })
	return tail
}

func matched(n int64) func(model.TailStats) bool {
	return func(s model.TailStats) bool { return s.Matched >= n }
}

func TestTailBeginsWhereAsked(t *testing.T) {
	b, d := liveDir(t, "t-0", "t-1")
	for name, tc := range map[string]struct {
		q    model.TailQuery
		want string // what is there before anything is appended
	}{
		"at the end":        {model.TailQuery{Topics: []string{"t"}}, ""},
		"with a backlog":    {model.TailQuery{Topics: []string{"t"}, Backlog: 2}, "3 6"},
		"with a filter":     {model.TailQuery{Topics: []string{"t"}, Backlog: 10, Pattern: "k1"}, "2 5"},
		"at an offset":      {model.TailQuery{Partitions: []model.TopicPartition{{Topic: "t", Partition: 1}}, From: []int64{1}}, "5 6"},
		"at the very start": {model.TailQuery{Partitions: []model.TopicPartition{{Topic: "t"}}, From: []int64{model.FromStart}}, "1 2 3"},
	} {
		t.Run(name, func(t *testing.T) {
			tail := openTail(t, d, tc.q)
			n := int64(len(strings.Fields(tc.want)))
			waitFor(t, tail, name, matched(n))
			recs, first := tail.Window(-1, 100)
			if values(recs) != tc.want || first != 0 {
				t.Errorf("window from %d: %q, want %q", first, values(recs), tc.want)
			}
		})
	}
	_ = b
}

func TestTailFilters(t *testing.T) {
	b, d := liveDir(t, "t-0")
	tail := openTail(t, d, model.TailQuery{Topics: []string{"t"}, Pattern: `^k\d*5$`, Regexp: true})
	b.append("t-0", 100)
	s := waitFor(t, tail, "all seen", func(s model.TailStats) bool { return s.Seen == 100 })
	if s.Matched != 10 || s.Dropped != 0 {
		t.Errorf("%+v", s)
	}
}

func TestTailKeepsABoundedWindow(t *testing.T) {
	b, d := liveDir(t, "t-0")
	tail := openTail(t, d, model.TailQuery{Topics: []string{"t"}, Keep: 10})
	for range 5 {
		b.append("t-0", 7)
	}
	s := waitFor(t, tail, "all read or passed over", func(s model.TailStats) bool { return s.Seen+s.Dropped == 35 })
	if s.Matched-s.First != 10 || s.Matched+s.Dropped != 35 {
		t.Errorf("%+v", s)
	}
	recs, first := tail.Window(-1, 3)
	if values(recs) != "36 37 38" || first != s.Matched-3 {
		t.Errorf("window from %d: %s", first, values(recs))
	}
	if recs, _ := tail.Window(s.First+2, 100); len(recs) != 2 {
		t.Errorf("the oldest two are %s", values(recs))
	}
}

func TestTailThatFallsBehindSaysSo(t *testing.T) {
	b, d := liveDir(t, "t-0")
	tail := openTail(t, d, model.TailQuery{Partitions: []model.TopicPartition{{Topic: "t"}}, From: []int64{0}, Keep: 5})
	b.append("t-0", 1000)
	s := waitFor(t, tail, "caught up", func(s model.TailStats) bool { return s.Seen+s.Dropped == 1003 })
	if s.Behind != 0 {
		t.Errorf("%+v", s)
	}
	if recs, _ := tail.Window(-1, 5); values(recs) != "999 1000 1001 1002 1003" {
		t.Errorf("%s", values(recs))
	}
}

func TestTailThatBlocksLosesNothing(t *testing.T) {
	b, d := liveDir(t, "t-0")
	tail := openTail(t, d, model.TailQuery{Partitions: []model.TopicPartition{{Topic: "t"}}, From: []int64{0}, Keep: 5, Block: true})
	b.append("t-0", 200)
	waitFor(t, tail, "full", func(s model.TailStats) bool { return s.Matched-s.First == 5 })
	for n := int64(0); n < 203; n++ {
		waitFor(t, tail, "the next", matched(n+1))
		recs, first := tail.Window(n+1, 1)
		if first != n || values(recs) != strconv.FormatInt(n+1, 10) {
			t.Fatalf("record %d is %s (%d)", n, values(recs), first)
		}
		tail.Release(n + 1)
	}
	if s := tail.Stats(); s.Dropped != 0 || s.Seen != 203 {
		t.Errorf("%+v", s)
	}
}

func TestTailOfATopicMadeAnew(t *testing.T) {
	b, d := liveDir(t, "t-0")
	tail := openTail(t, d, model.TailQuery{Topics: []string{"t"}})
	b.append("t-0", 2)
	waitFor(t, tail, "before", matched(2))
	must(t, os.RemoveAll(filepath.Join(b.root, "t-0")))
	waitFor(t, tail, "deleted", func(s model.TailStats) bool { return s.Err != nil && errors.Is(s.Err, model.ErrNoPartition) })
	b.next["t-0"], b.base["t-0"] = 0, 0
	b.create("t-0", 4)
	b.create("t-1", 1)
	waitFor(t, tail, "made anew", matched(7))
	b.append("t-0", 1)
	waitFor(t, tail, "and on", matched(8))
	recs, _ := tail.Window(-1, 100)
	seen := map[string]bool{}
	for _, r := range recs {
		if seen[string(r.Value)] {
			t.Errorf("%s is shown twice", r.Value)
		}
		seen[string(r.Value)] = true
	}
}

func TestTailCommitted(t *testing.T) {
	a := unpack(t, "older")
	d := openArchive(t, a, Options{})
	tp := model.TopicPartition{Topic: "tx"}
	want := readAll(t, d, model.RecordQuery{TP: tp, Committed: true})
	tail := openTail(t, d, model.TailQuery{Partitions: []model.TopicPartition{tp}, From: []int64{0}, Committed: true})
	waitFor(t, tail, "committed records", matched(int64(len(want))))
	recs, _ := tail.Window(-1, 1000)
	for i := range recs {
		if recs[i].Offset != want[i].Offset {
			t.Errorf("record %d is %d, want %d", i, recs[i].Offset, want[i].Offset)
		}
	}
}

func TestTailIsClosed(t *testing.T) {
	b, d := liveDir(t, "t-0")
	tail := openTail(t, d, model.TailQuery{Topics: []string{"t"}, Keep: 1, Block: true})
	b.append("t-0", 10) // it waits for room
	waitFor(t, tail, "one", matched(1))
	must(t, tail.Close())
	if err := tail.Wait(t.Context(), tail.Stats().Matched); !errors.Is(err, model.ErrClosed) {
		t.Errorf("Wait after Close: %v", err)
	}
	still, err := Open([]string{b.root}, Options{Still: true})
	must(t, err)
	other, err := still.Tail(t.Context(), model.TailQuery{Topics: []string{"t"}})
	must(t, err)
	b.append("t-0", 1)
	waitFor(t, other, "a still source tails too", matched(1))
	must(t, still.Close())
	if err := other.Wait(t.Context(), other.Stats().Matched); !errors.Is(err, model.ErrClosed) {
		t.Errorf("Wait after the source's Close: %v", err)
	}
}

// TestChangesAreTold holds that what happens in a directory is told, and that asking again then shows it.
func TestChangesAreTold(t *testing.T) {
	b, d := liveDir(t, "t-0", "u-0")
	must(t, d.Settle(t.Context()))
	d.Focus([]string{"t"})
	for name, tc := range map[string]struct {
		do   func()
		want func() bool
	}{
		"an append": {func() { b.append("t-0", 5) }, func() bool {
			p := partitions(t, d, "t")
			return len(p) == 1 && p[0].LogEnd == 8 && p[0].Records == model.Exactly(8)
		}},
		"an append to what is not on screen": {func() { b.append("u-0", 5) }, func() bool {
			for _, r := range topicsOf(t, d) {
				if r.Name == "u" {
					return r.Records == model.Exactly(8) && r.Appended == 5
				}
			}
			return false
		}},
		"a topic": {func() { b.create("v-0", 1) }, func() bool { return len(topicsOf(t, d)) == 3 }},
		"a roll":  {func() { b.roll("t-0") }, func() bool { return partitions(t, d, "t")[0].Segments == 2 }},
	} {
		t.Run(name, func(t *testing.T) {
			tc.do()
			deadline := time.After(20 * time.Second)
			for !tc.want() {
				select {
				case <-d.Changes():
				case <-deadline:
					t.Fatalf("not told; %+v", topicsOf(t, d))
				}
			}
		})
	}
}

func topicsOf(t *testing.T, d *Dir) []model.Topic {
	t.Helper()
	rows, err := d.Topics(t.Context())
	must(t, err)
	return rows
}

func partitions(t *testing.T, d *Dir, topic string) []model.Partition {
	t.Helper()
	rows, err := d.Partitions(t.Context(), topic)
	must(t, err)
	return rows
}

// TestOnlyWhatIsOnScreenIsWatched holds that folders are watched when their topic is, and no longer.
func TestOnlyWhatIsOnScreenIsWatched(t *testing.T) {
	_, d := liveDir(t, "t-0", "t-1", "u-0", "__consumer_offsets-0")
	watched := func() string {
		d.mu.Lock()
		defer d.mu.Unlock()
		var out []string
		for _, p := range d.parts {
			if p.watched {
				out = append(out, p.name)
			}
		}
		return fmt.Sprint(len(out))
	}
	must(t, d.Settle(t.Context()))
	for _, step := range []struct {
		focus []string
		want  string
	}{{[]string{"t"}, "3"}, {[]string{"u"}, "2"}, {[]string{}, "1"}, {nil, "4"}, {[]string{"t", "u", "nothing"}, "4"}} {
		d.Focus(step.focus)
		if got := watched(); got != step.want {
			t.Errorf("with %v on screen %s folders are watched, want %s", step.focus, got, step.want)
		}
	}
}

// TestAFolderThatVanishes reads while folders and files go away: an answer is right, or an error that names what went.
func TestAFolderThatVanishes(t *testing.T) {
	b, d := liveDir(t, "t-0", "u-0")
	must(t, d.Settle(t.Context()))
	tp := model.TopicPartition{Topic: "t"}
	must(t, os.RemoveAll(filepath.Join(b.root, "t-0")))
	if _, err := d.Records(t.Context(), model.RecordQuery{TP: tp}); !errors.Is(err, model.ErrNoTopic) && !errors.Is(err, model.ErrNoPartition) {
		t.Errorf("records of what has gone: %v", err)
	}
	must(t, os.Rename(filepath.Join(b.root, "u-0"), filepath.Join(b.root, "u-0.0123456789abcdef0123456789abcdef-delete")))
	if _, _, err := d.Bounds(t.Context(), model.TopicPartition{Topic: "u"}); !errors.Is(err, model.ErrNoTopic) && !errors.Is(err, model.ErrNoPartition) {
		t.Errorf("bounds of what is being deleted: %v", err)
	}
	if rows := topicsOf(t, d); len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
	page, err := d.Records(t.Context(), model.RecordQuery{TP: model.TopicPartition{Topic: "u"}, From: model.FromStart})
	if err != nil || len(page.Records) != 3 {
		t.Errorf("what is left of a deleted partition: %d records, %v", len(page.Records), err)
	}
}

// TestWithoutEvents has the system give no events: all is found by looking, and the state says so.
func TestWithoutEvents(t *testing.T) {
	b := newBroker(t, t.TempDir())
	b.create("t-0", 3)
	d, err := Open([]string{b.root}, Options{Watch: watch.Options{NoEvents: true, Poll: 10 * time.Millisecond}})
	must(t, err)
	defer d.Close()
	info, err := d.Info(t.Context())
	must(t, err)
	if !strings.HasPrefix(info.State, "polling") {
		t.Errorf("state %q", info.State)
	}
	tail := openTail(t, d, model.TailQuery{Topics: []string{"t"}})
	b.append("t-0", 5)
	waitFor(t, tail, "found by looking", matched(5))
	b.roll("t-0")
	b.append("t-0", 5)
	waitFor(t, tail, "found in the next segment", matched(10))
	b.create("t-1", 2)
	waitFor(t, tail, "found in a new partition", matched(12))
}

// TestLostEventsAreMadeGood looks at everything, as after an overrun of the kernel's queue.
func TestLostEventsAreMadeGood(t *testing.T) {
	b := newBroker(t, t.TempDir())
	b.create("t-0", 3)
	d, err := Open([]string{b.root}, Options{Restat: time.Hour, Watch: watch.Options{NoEvents: true, Poll: time.Hour, Restat: time.Hour}})
	must(t, err)
	defer d.Close()
	must(t, d.Settle(t.Context()))
	b.append("t-0", 5)
	b.create("u-0", 1)
	var told pending
	d.lookAgain(&told)
	if !told.all || !told.topics {
		t.Errorf("told %+v", told)
	}
	deadline := time.After(20 * time.Second)
	for {
		rows := topicsOf(t, d)
		if len(rows) == 2 && rows[0].Records == model.Exactly(8) {
			break
		}
		select {
		case <-d.Changes():
		case <-deadline:
			t.Fatalf("%+v", rows)
		}
	}
}

// TestCloseLeavesNothingRunning opens, uses and closes a source, and waits for its goroutines to have ended.
func TestCloseLeavesNothingRunning(t *testing.T) {
	b := newBroker(t, t.TempDir())
	b.create("t-0", 3)
	before := runtime.NumGoroutine()
	for range 5 {
		d, err := Open([]string{b.root}, Options{})
		must(t, err)
		_, err = d.Tail(t.Context(), model.TailQuery{Topics: []string{"t"}})
		must(t, err)
		b.append("t-0", 1)
		_, err = d.Groups(t.Context())
		must(t, err)
		must(t, d.Close())
		must(t, d.Close())
		if _, ok := <-d.Changes(); ok {
			for range d.Changes() { // the last one may wait still
			}
		}
	}
	for deadline := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}
