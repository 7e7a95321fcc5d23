package groups

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/strata-kafka/strata/model"
)

func TestCommittedOffsetsOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strata.db")
	c := clockAt(5000)
	want := []Committed{
		{Commit: model.Commit{TopicPartition: at("a", 0), Offset: 7, LeaderEpoch: 3, Metadata: "m"}, At: 5000, Expires: model.NoTime},
		{Commit: model.Commit{TopicPartition: at("longer", 1), Offset: 9, LeaderEpoch: -1}, At: 5000, Expires: model.NoTime},
		{Commit: model.Commit{TopicPartition: at("zz", 0), Offset: 0, LeaderEpoch: 0}, At: 5000, Expires: model.NoTime},
	}
	db, err := OpenDB(path, DBOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := New(db, &fakeLogs{}, Options{Now: c.now})
	commit(t, s, "g", want[2].Commit, want[0].Commit, want[1].Commit)
	commit(t, s, "g2", offset("a", 0, 1))
	if err := errors.Join(s.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	wantErr(t, s.Commit(t.Context(), "g", []model.Commit{offset("a", 0, 8)}), model.ErrClosed)
	wantErr(t, db.put(t.Context(), nil), model.ErrClosed)
	_, err = s.Fetch(t.Context(), "g", nil)
	wantErr(t, err, model.ErrClosed)

	s = New(openAt(t, path, DBOptions{TopicsExist: exist}), &fakeLogs{}, Options{})
	defer s.Close()
	if got, err := s.Fetch(t.Context(), "g", nil); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read back %+v, %v", got, err)
	}
	got, err := s.Fetch(t.Context(), "g", []model.TopicPartition{at("zz", 0), at("zz", 1), at("a", 0)})
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[2] {
		t.Errorf("some partitions: %+v, %v", got, err)
	}
}

func TestOddCommitsAreRefusedWhole(t *testing.T) {
	s := newService(t, &fakeLogs{}, clockAt(0))
	for name, tc := range map[string]struct {
		group string
		c     model.Commit
	}{
		"no group":           {"", offset("t", 0, 1)},
		"long group":         {strings.Repeat("g", maxGroupID+1), offset("t", 0, 1)},
		"no topic":           {"g", offset("", 0, 1)},
		"long topic":         {"g", offset(strings.Repeat("t", maxTopic+1), 0, 1)},
		"negative partition": {"g", offset("t", -1, 1)},
		"negative offset":    {"g", offset("t", 0, -1)},
		"no next offset":     {"g", offset("t", 0, 1<<63-1)},
		"long metadata":      {"g", model.Commit{TopicPartition: at("t", 0), Metadata: strings.Repeat("m", maxMetadata+1)}},
	} {
		if err := s.Commit(t.Context(), tc.group, []model.Commit{offset("t", 1, 5), tc.c}); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
	if gs, err := s.Groups(t.Context()); err != nil || len(gs) != 0 {
		t.Errorf("groups after refusals: %+v, %v", gs, err)
	}
	long := strings.Repeat("g", maxGroupID)
	commit(t, s, long, model.Commit{TopicPartition: at(strings.Repeat("t", maxTopic), 0), Offset: 1, Metadata: strings.Repeat("m", maxMetadata)})
	if _, err := s.Group(t.Context(), long); err != nil {
		t.Errorf("the longest names: %v", err)
	}
}

func TestManyCommittersKeepTheirOrder(t *testing.T) {
	s := newService(t, &fakeLogs{}, clockAt(0))
	const committers, rounds = 50, 40
	var wg sync.WaitGroup
	for i := range committers {
		wg.Go(func() {
			group := fmt.Sprintf("g%d", i)
			for r := range int64(rounds) {
				if err := s.Commit(t.Context(), group, []model.Commit{offset("t", 0, r), offset("shared", int32(i), r)}); err != nil {
					t.Error(err)
					return
				}
				if got := offsets(t, s, group); got[at("t", 0)] != r {
					t.Errorf("%s: acknowledged %d, reads %v", group, r, got)
				}
			}
		})
	}
	wg.Wait()
	// Of several commits for one key in one transaction the last to come counts.
	if err := s.db.commit([]*Write{
		{entries: []entry{offsetEntry("x", Committed{Commit: offset("t", 0, 3)}), offsetEntry("a", Committed{Commit: offset("t", 0, 1)})}},
		{entries: []entry{offsetEntry("x", Committed{Commit: offset("t", 0, 2)})}},
	}); err != nil {
		t.Fatal(err)
	}
	if got := offsets(t, s, "x"); got[at("t", 0)] != 2 {
		t.Errorf("last commit 2, stored %v", got)
	}
}

func TestCommitOfACancelledCallerReturnsAtOnce(t *testing.T) {
	s := newService(t, &fakeLogs{}, clockAt(0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if err := s.Commit(ctx, "g", []model.Commit{offset("t", 0, 1)}); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

func TestGroupWithItsRows(t *testing.T) {
	logs := (&fakeLogs{}).fill("t", 6, 40, 100).control("t", 1, 71, 99).hole("t", 1, 80, 81, 82)
	s := newService(t, logs, clockAt(1000))
	commit(t, s, "g", offset("t", 0, 100), offset("t", 1, 70), offset("t", 2, 5), offset("t", 3, 130), offset("gone", 0, 3), offset("t", 9, 3))
	g, err := s.Group(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	if g.State != model.GroupEmpty || g.Active() || g.Type != "Classic" {
		t.Errorf("state %s, type %q, active %v", g.State, g.Type, g.Active())
	}
	type row struct {
		tp               string
		lag              model.Count
		lost, ahead, end int64
		err              error
	}
	want := []row{
		{"gone-0", model.NoCount(), 0, 0, model.Unknown, model.ErrNoTopic},
		{"t-0", model.Exactly(0), 0, 0, 100, nil},
		{"t-1", model.Exactly(25), 0, 0, 100, nil},
		{"t-2", model.Exactly(60), 35, 0, 100, nil},
		{"t-3", model.Exactly(0), 0, 30, 100, nil},
		{"t-9", model.NoCount(), 0, 0, model.Unknown, model.ErrNoPartition},
	}
	for i, o := range g.Offsets {
		if i >= len(want) {
			t.Fatalf("%d rows, want %d", len(g.Offsets), len(want))
		}
		got := row{o.String(), o.Lag, o.Lost, o.Ahead, o.LogEnd, want[i].err}
		if got != want[i] || !errors.Is(o.Err, want[i].err) || o.CommittedAt != 1000 {
			t.Errorf("row %+v, err %v; want %+v", got, o.Err, want[i])
		}
	}
	if g.Lag != model.Exactly(85) {
		t.Errorf("lag %v, want 85", g.Lag)
	}
	gs, err := s.Groups(t.Context())
	if err != nil || len(gs) != 1 || !reflect.DeepEqual(gs[0].Lag, g.Lag) || len(gs[0].Offsets) != len(g.Offsets) {
		t.Errorf("listed: %+v, %v", gs, err)
	}
	_, err = s.Group(t.Context(), "gg")
	wantErr(t, err, model.ErrNoGroup)
	if !strings.Contains(err.Error(), "did you mean g?") {
		t.Errorf("error %q names no near group", err)
	}
}

func TestCountThatFailsShowsInItsRow(t *testing.T) {
	logs := (&fakeLogs{}).fill("t", 2, 0, 10)
	s := newService(t, logs, clockAt(0))
	commit(t, s, "g", offset("t", 0, 10), offset("t", 1, 5))
	logs.fail = errors.New("disk on fire")
	g, err := s.Group(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	if g.Offsets[0].Err != nil || g.Offsets[0].Lag != model.Exactly(0) {
		t.Errorf("row that needs no count: %+v", g.Offsets[0])
	}
	if !errors.Is(g.Offsets[1].Err, logs.fail) || g.Offsets[1].Lag.Known() || g.Lag.Known() {
		t.Errorf("row that cannot be counted: %+v, total %v", g.Offsets[1], g.Lag)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Group(ctx, "g")
	wantErr(t, err, context.Canceled)
}

func TestMembersMakeAGroupStable(t *testing.T) {
	c := clockAt(1000)
	s := newService(t, (&fakeLogs{}).fill("t", 3, 0, 10), c)
	a, err := s.Join("g", MemberInfo{Client: "c1", Assignment: []model.TopicPartition{at("t", 0), at("t", 2)}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Join("g", MemberInfo{Client: "c2", Host: "10.0.0.1", Instance: "i2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.SetAssignment([]model.TopicPartition{at("t", 1)}); err != nil {
		t.Fatal(err)
	}
	if err := a.Commit(t.Context(), []model.Commit{offset("t", 0, 4)}); err != nil {
		t.Fatal(err)
	}
	g, err := s.Group(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	if g.State != model.GroupStable || len(g.Members) != 2 || g.Members[1].Host != "10.0.0.1" || g.Members[1].Instance != "i2" || !g.Active() {
		t.Errorf("%s with %+v", g.State, g.Members)
	}
	owners := map[string]string{}
	for _, o := range g.Offsets {
		owners[o.String()] = o.Member
	}
	if want := map[string]string{"t-0": a.ID(), "t-1": b.ID(), "t-2": a.ID()}; !reflect.DeepEqual(owners, want) {
		t.Errorf("owners %v, want %v", owners, want)
	}
	if g.Lag != model.Exactly(6) {
		t.Errorf("lag %v, want 6 of the one committed partition", g.Lag)
	}
	c.ms.Store(7000)
	for range 2 {
		if err := errors.Join(a.Leave(), b.Leave()); err != nil {
			t.Fatal(err)
		}
	}
	wantErr(t, a.Commit(t.Context(), []model.Commit{offset("t", 0, 5)}), model.ErrClosed)
	wantErr(t, a.SetAssignment(nil), model.ErrClosed)
	st, err := s.read("g")
	if err != nil || st.record.EmptySince != 7000 || st.record.Type != "Classic" || st.record.ProtocolType != "consumer" {
		t.Errorf("stored of the group: %+v, %v", st.record, err)
	}
	if g, err = s.Group(t.Context(), "g"); err != nil || g.State != model.GroupEmpty || len(g.Members) != 0 {
		t.Errorf("after all left: %s, %v, %v", g.State, g.Members, err)
	}
}

func TestWhatIsPublishedIsRestored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strata.db")
	db, err := OpenDB(path, DBOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := New(db, &fakeLogs{}, Options{Now: clockAt(3000).now})
	member := []model.Member{{ID: "m"}}
	publish := func(group string, l Live, state []byte) {
		t.Helper()
		if err := s.Publish(t.Context(), group, l, state); err != nil {
			t.Fatal(err)
		}
	}
	publish("kept", Live{State: model.GroupStable, Type: TypeClassic, Generation: 7, Members: member}, []byte("state"))
	publish("kept", Live{State: model.GroupPreparing, Type: TypeClassic, Generation: 8, Members: member}, nil)
	publish("ended", Live{State: model.GroupStable, Type: TypeConsumer, Generation: 2, Members: member}, []byte("state"))
	publish("ended", Live{Type: TypeConsumer, Generation: 3}, []byte{})
	publish("reset", Live{State: model.GroupStable, Generation: 2, Members: member}, []byte("state"))
	wantErr(t, s.Publish(t.Context(), "", Live{}, []byte{}), model.ErrInvalid)
	wantErr(t, s.Publish(t.Context(), strings.Repeat("g", maxGroupID+1), Live{}, []byte{}), model.ErrInvalid)
	if err := errors.Join(s.Close(), s.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	wantErr(t, s.Publish(t.Context(), "kept", Live{}, []byte{}), model.ErrClosed)

	s = New(openAt(t, path, DBOptions{}), (&fakeLogs{}).fill("t", 1, 0, 10), Options{})
	defer s.Close()
	// A reset without a broker puts the members out for good: they would commit over it.
	p := plan(t, s, model.ResetRequest{Group: "reset", Topics: []model.TopicSelector{{Topic: "t"}}, Where: model.Where{Kind: model.ToLatest}})
	if _, err := s.ApplyReset(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Restore(), map[string][]byte{"kept": []byte("state")}; !reflect.DeepEqual(got, want) {
		t.Errorf("restored %q, want %q", got, want)
	}
	for group, want := range map[string]Known{
		"kept":  {Exists: true, Type: TypeClassic, Generation: 7},
		"ended": {Exists: true, Type: TypeConsumer, Generation: 3},
		"none":  {},
		"":      {},
	} {
		if got, err := s.Known(group); err != nil || got != want {
			t.Errorf("%q: known %+v, %v; want %+v", group, got, err, want)
		}
	}
	if st, err := s.read("ended"); err != nil || st.record.EmptySince != 3000 {
		t.Errorf("stored of the ended: %+v, %v", st.record, err)
	}
}

func TestChangesAreMerged(t *testing.T) {
	s := newService(t, (&fakeLogs{}).fill("t", 1, 0, 10), clockAt(0))
	told := func() bool {
		select {
		case <-s.Changed():
			return true
		default:
			return false
		}
	}
	if told() {
		t.Error("a change before anything happened")
	}
	for i := range 10 {
		commit(t, s, "g", offset("t", 0, int64(i)))
	}
	if !told() || told() {
		t.Error("ten commits are not one change")
	}
	for name, do := range map[string]func() error{
		"join": func() error { _, err := s.Join("m", MemberInfo{}); return err },
		"reset": func() error {
			p, err := s.PlanReset(t.Context(), model.ResetRequest{Group: "g", Where: model.Where{Kind: model.ToEarliest}})
			if err == nil {
				_, err = s.ApplyReset(t.Context(), p)
			}
			return err
		},
	} {
		if err := do(); err != nil || !told() {
			t.Errorf("%s: no change told, %v", name, err)
		}
	}
	if err := s.DeleteGroup(t.Context(), "g"); err != nil || !told() {
		t.Errorf("delete: no change told, %v", err)
	}
}

func TestListingThatTakesTooLongEstimatesAndCountsOn(t *testing.T) {
	logs := (&fakeLogs{}).fill("t", 3, 0, 100).control("t", 0, 50).control("t", 1, 50).control("t", 2, 50)
	db := openDB(t, DBOptions{})
	synctest.Test(t, func(t *testing.T) {
		s := New(db, logs, Options{ListBudget: 1})
		defer s.Close()
		// The store's writer lives outside of this bubble: set what is committed by its own means.
		batch := []*Write{{entries: []entry{
			offsetEntry("g", Committed{Commit: offset("t", 0, 0)}), offsetEntry("g", Committed{Commit: offset("t", 1, 0)}), offsetEntry("g", Committed{Commit: offset("t", 2, 0)}),
		}}}
		if err := db.commit(batch); err != nil {
			t.Fatal(err)
		}
		s.o.ListBudget = -1 // no time at all
		gs, err := s.Groups(t.Context())
		if err != nil || gs[0].Lag != model.About(300) {
			t.Fatalf("first: %v, %v; want about 300", gs[0].Lag, err)
		}
		<-s.Changed()
		synctest.Wait()
		if gs, err = s.Groups(t.Context()); err != nil || gs[0].Lag != model.Exactly(297) {
			t.Errorf("after the change: %v, %v; want 297", gs[0].Lag, err)
		}
		logs.slow = make(chan struct{})
		s.counts.forget("")
		if _, err := s.Groups(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.Close() // ends the counting, which would wait for ever
	})
}

func TestTopicConfigs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strata.db")
	db, err := OpenDB(path, DBOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := db.TopicConfigs()
	orders := map[string]string{"retention.ms": "60000", "cleanup.policy": "delete"}
	if err := errors.Join(c.Save("orders", orders), c.Save("clicks", nil), c.Save("gone", orders), c.Delete("gone"), c.Delete("never")); err != nil {
		t.Fatal(err)
	}
	wantErr(t, c.Save("", orders), model.ErrInvalid)
	wantErr(t, c.Delete(""), model.ErrInvalid)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := openAt(t, path, DBOptions{}).TopicConfigs().Load()
	if want := map[string]map[string]string{"orders": orders, "clicks": {}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("loaded %v, %v; want %v", got, err, want)
	}
}
