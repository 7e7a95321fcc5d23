package remote

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

func TestSearch(t *testing.T) {
	f, c := open(t, Options{}, 2, "orders")
	a, b := model.TopicPartition{Topic: "orders"}, model.TopicPartition{Topic: "orders", Partition: 1}
	put(t, c, a, 120)
	put(t, c, b, 30)
	transact(t, f, b, 3, false, "v7-aborted-")
	both := []model.TopicPartition{a, b}
	for name, tc := range map[string]struct {
		q      model.SearchQuery
		want   string
		reason string
	}{
		"one hit":               {model.SearchQuery{Pattern: "v17"}, "0@17", model.ReasonLimit},
		"all hits, in order":    {model.SearchQuery{Pattern: "v2", MaxHits: 99}, "0@2 0@20 0@21 0@22 0@23 0@24 0@25 0@26 0@27 0@28 0@29 1@2 1@20 1@21 1@22 1@23 1@24 1@25 1@26 1@27 1@28 1@29", model.ReasonEnd},
		"a regular expression":  {model.SearchQuery{Pattern: "^v11[0-3]$", Regexp: true, MaxHits: 99}, "0@110 0@111 0@112 0@113", model.ReasonEnd},
		"aborted ones too":      {model.SearchQuery{Pattern: "V7-", Fold: true, MaxHits: 99}, "1@30 1@31 1@32", model.ReasonEnd},
		"committed only":        {model.SearchQuery{Pattern: "v7-", MaxHits: 99, Committed: true}, "", model.ReasonEnd},
		"keys only":             {model.SearchQuery{Pattern: "k3", Keys: true, MaxHits: 2}, "0@3 0@10", model.ReasonLimit},
		"values have no keys":   {model.SearchQuery{Pattern: "k3", Values: true, MaxHits: 2}, "", model.ReasonEnd},
		"backward":              {model.SearchQuery{Pattern: "v11", MaxHits: 3, Backward: true}, "0@119 0@118 0@117", model.ReasonLimit},
		"backward to the start": {model.SearchQuery{Pattern: "v1", MaxHits: 99, Backward: true, From: []int64{3, 12}}, "0@1 1@11 1@10 1@1", "start of log"},
		"between offsets":       {model.SearchQuery{Pattern: "v1", MaxHits: 99, From: []int64{15, 28}, To: []int64{18, 29}}, "0@15 0@16 0@17", model.ReasonEnd},
		"nothing":               {model.SearchQuery{Pattern: "nowhere"}, "", model.ReasonEnd},
		"in the future":         {model.SearchQuery{Pattern: "v", Since: time.Now().Add(time.Hour).UnixMilli()}, "", model.ReasonEnd},
	} {
		t.Run(name, func(t *testing.T) {
			tc.q.Partitions = both
			var got []string
			var last model.SearchEvent
			end, err := c.Search(t.Context(), tc.q, func(e model.SearchEvent) bool {
				if e.Hit != nil {
					got = append(got, fmt.Sprintf("%d@%d", e.Hit.Partition, e.Hit.Offset))
				}
				last = e
				return true
			})
			if err != nil || strings.Join(got, " ") != tc.want || end.Reason != tc.reason || end.Whole != (tc.reason != model.ReasonLimit) || end.Hits != int64(len(got)) {
				t.Errorf("%s: %+v, %v", strings.Join(got, " "), end, err)
			}
			if last.BytesDone > last.BytesAll {
				t.Errorf("%d of %d bytes", last.BytesDone, last.BytesAll)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	end, err := c.Search(ctx, model.SearchQuery{Partitions: both, Pattern: "v", MaxHits: 99}, func(model.SearchEvent) bool { cancel(); return true })
	if err != nil || end.Reason != model.ReasonCancelled || end.Whole {
		t.Errorf("cancelled: %+v, %v", end, err)
	}
	end, err = c.Search(t.Context(), model.SearchQuery{Partitions: both, Pattern: "v", MaxHits: 99}, func(model.SearchEvent) bool { return false })
	if err != nil || end.Hits != 1 || end.Whole {
		t.Errorf("stopped: %+v, %v", end, err)
	}
}

func TestTail(t *testing.T) {
	_, c := open(t, Options{}, 2, "orders", "events")
	a, b := model.TopicPartition{Topic: "orders"}, model.TopicPartition{Topic: "events", Partition: 1}
	put(t, c, a, 20)
	tail, err := c.Tail(t.Context(), model.TailQuery{Topics: []string{"orders", "events"}, Backlog: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	await := func(n int64) []string {
		t.Helper()
		ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
		defer done()
		for tail.Stats().Matched < n {
			if err := tail.Wait(ctx, tail.Stats().Matched); err != nil {
				t.Fatalf("%d of %d: %v, %v", tail.Stats().Matched, n, err, tail.Stats().Err)
			}
		}
		rs, _ := tail.Window(-1, 1000)
		var s []string
		for _, r := range rs {
			s = append(s, fmt.Sprintf("%s@%d", r.TopicPartition, r.Offset))
		}
		return s
	}
	if got := await(3); strings.Join(got, " ") != "orders-0@17 orders-0@18 orders-0@19" {
		t.Errorf("backlog: %v", got)
	}
	put(t, c, a, 5)
	put(t, c, b, 2)
	got := await(10)
	slices.Sort(got[3:])
	if strings.Join(got[3:], " ") != "events-1@0 events-1@1 orders-0@20 orders-0@21 orders-0@22 orders-0@23 orders-0@24" {
		t.Errorf("followed: %v", got)
	}
	gs, err := c.Groups(t.Context())
	if err != nil || len(gs) != 0 {
		t.Errorf("a tail leaves groups behind: %+v, %v", gs, err)
	}
}

func TestATailPassesOverWhatItWouldThrowAway(t *testing.T) {
	_, c := open(t, Options{}, 1, "orders")
	tp := model.TopicPartition{Topic: "orders"}
	put(t, c, tp, 6000)
	tail, err := c.Tail(t.Context(), model.TailQuery{Partitions: []model.TopicPartition{tp}, From: []int64{0}, Keep: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
	defer done()
	for {
		rs, _ := tail.Window(-1, 1)
		if len(rs) == 1 && rs[0].Offset == 5999 {
			break
		}
		if err := tail.Wait(ctx, tail.Stats().Matched); err != nil {
			t.Fatal(err)
		}
	}
	if st := tail.Stats(); st.Seen+st.Dropped != 6000 || st.Dropped == 0 {
		t.Errorf("seen %d, passed over %d", st.Seen, st.Dropped)
	}
}

func TestATailOutlivesItsTopic(t *testing.T) {
	f, c := open(t, Options{}, 1, "orders", "events")
	tp := model.TopicPartition{Topic: "orders"}
	put(t, c, tp, 3)
	tl, err := c.Tail(t.Context(), model.TailQuery{Topics: []string{"orders", "events"}})
	if err != nil {
		t.Fatal(err)
	}
	defer tl.Close()
	if err := f.DeleteTopic("orders"); err != nil {
		t.Fatal(err)
	}
	if err := c.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, done := context.WithTimeout(t.Context(), 30*time.Second)
	defer done()
	wait := func(what string, pass func(model.TailStats) bool) {
		t.Helper()
		for !pass(tl.Stats()) {
			if err := tl.Wait(ctx, tl.Stats().Matched); err != nil {
				t.Fatalf("%s: %v, %+v", what, err, tl.Stats())
			}
		}
	}
	wait("deleted", func(s model.TailStats) bool { return s.Err != nil && strings.Contains(s.Err.Error(), "deleted") })
	put(t, c, model.TopicPartition{Topic: "events"}, 2)
	wait("the other one", func(s model.TailStats) bool { return s.Matched == 2 })
	if err := f.CreateTopic("orders", 1, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(t, c, tp, 4)
	wait("made anew", func(s model.TailStats) bool { return s.Matched == 6 })
}
