package coordinator

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// inBubble runs a test with a broker, on a clock that only sleeping turns.
func inBubble(t *testing.T, o Options, f func(t *testing.T, b *broker)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newBroker(t, o)) })
}

func TestTwoMembersAgree(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		a := b.join(request("g", ""))
		if !strings.HasPrefix(a.MemberID, "c-") || len(a.MemberID) != len("c-")+36 {
			t.Errorf("member id %q", a.MemberID)
		}
		want(t, "leader", a.Leader, a.MemberID)
		want(t, "generation", a.Generation, int32(1))
		want(t, "state before the sync", b.view("g").State, model.GroupCompleting)
		b.lead("g", a)
		want(t, "state", b.view("g").State, model.GroupStable)
		want(t, "alone it has all", fmt.Sprint(b.view("g").Members[0].Assignment), tps("t", 0, 1, 2, 3, 4, 5))

		second := b.later(request("g", ""))
		synctest.Wait()
		open(t, "the second's join", second)
		want(t, "state with a second one", b.view("g").State, model.GroupPreparing)
		want(t, "heartbeat", b.beat("g", a), groups.RebalanceInProgress)
		want(t, "commit of the generation", b.commit("g", a), groups.None)
		again := b.join(request("g", a.MemberID))
		synctest.Wait()
		bb := answered(t, "the second's join", second)
		want(t, "its generation", bb.Generation, int32(2))
		want(t, "its leader", bb.Leader, a.MemberID)
		want(t, "members that the leader is told", len(again.Members), 2)
		want(t, "members that the follower is told", len(bb.Members), 0)
		want(t, "commit before the sync", b.commit("g", again), groups.RebalanceInProgress)
		follower := b.syncLater(SyncRequest{Group: "g", Member: bb.MemberID, Generation: 2})
		synctest.Wait()
		open(t, "the follower's sync", follower)
		b.lead("g", again)
		synctest.Wait()
		s := answered(t, "the follower's sync", follower)
		got := fmt.Sprint(parseAssignment(s.Assignment))
		if got != tps("t", 0, 1, 2) && got != tps("t", 3, 4, 5) {
			t.Errorf("the follower is assigned %v", got)
		}
		g := b.view("g")
		want(t, "what is shown", fmt.Sprint(g.State, g.Type, g.ProtocolType, g.Protocol, len(g.Members), g.Members[0].Client, g.Members[0].Host), "StableClassicconsumerrange2c10.0.0.1")
		want(t, "commit", b.commit("g", bb), groups.None)
		want(t, "join of the follower, unchanged", b.join(request("g", bb.MemberID)).Generation, int32(2))

		codes, code := b.c.Leave(context.Background(), "g", []Leaver{{Member: bb.MemberID}, {Member: "nobody"}})
		want(t, "leaves", fmt.Sprint(codes, code), fmt.Sprint([]groups.Code{groups.None, groups.UnknownMemberID}, groups.None))
		want(t, "heartbeat of the one left", b.beat("g", again), groups.RebalanceInProgress)
		third := b.join(request("g", a.MemberID))
		want(t, "generation", third.Generation, int32(3))
		b.lead("g", third)
		b.c.Leave(context.Background(), "g", []Leaver{{Member: a.MemberID}})
		want(t, "state in the end", b.view("g").State, model.GroupEmpty)
		if ids := b.inMemory(); len(ids) != 0 {
			t.Errorf("in memory: %v", ids)
		}
		want(t, "generation of who comes next", b.alone("g").Generation, int32(5))
	})
}

// commit commits as a member.
func (b *broker) commit(group string, a JoinAnswer) groups.Code {
	return b.c.Commit(context.Background(), CommitCheck{Group: group, Member: a.MemberID, Generation: a.Generation},
		[]groups.Committed{{Commit: model.Commit{TopicPartition: model.TopicPartition{Topic: "t"}, Offset: 7, LeaderEpoch: -1}, Expires: model.NoTime}})
}

func TestWhatAJoinIsRefusedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(r *JoinRequest)
		want groups.Code
	}{
		"no group":            {func(r *JoinRequest) { r.Group = "" }, groups.InvalidGroupID},
		"long group":          {func(r *JoinRequest) { r.Group = strings.Repeat("g", maxGroupID+1) }, groups.InvalidGroupID},
		"short session":       {func(r *JoinRequest) { r.Session = 5999 * time.Millisecond }, groups.InvalidSessionTimeout},
		"long session":        {func(r *JoinRequest) { r.Session = 30*time.Minute + 1 }, groups.InvalidSessionTimeout},
		"unknown member":      {func(r *JoinRequest) { r.Member = "nobody" }, groups.UnknownMemberID},
		"in a new group":      {func(r *JoinRequest) { r.Group, r.Member = "new", "nobody" }, groups.UnknownMemberID},
		"no type":             {func(r *JoinRequest) { r.ProtocolType = "" }, groups.InconsistentGroupProtocol},
		"other type":          {func(r *JoinRequest) { r.ProtocolType = "connect" }, groups.InconsistentGroupProtocol},
		"no protocols":        {func(r *JoinRequest) { r.Protocols = nil }, groups.InconsistentGroupProtocol},
		"none of those":       {func(r *JoinRequest) { r.Protocols[0].Name = "sticky" }, groups.InconsistentGroupProtocol},
		"none, before the id": {func(r *JoinRequest) { r.KnowsID, r.Protocols[0].Name = true, "sticky" }, groups.InconsistentGroupProtocol},
		"no id yet":           {func(r *JoinRequest) { r.KnowsID = true }, groups.MemberIDRequired},
		"no room":             {func(r *JoinRequest) { r.Group = "full" }, groups.GroupMaxSizeReached},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{MaxSize: 2}, func(t *testing.T, b *broker) {
				b.alone("g")
				first := b.alone("full")
				second := b.later(request("full", ""))
				synctest.Wait()
				b.lead("full", b.join(request("full", first.MemberID)))
				synctest.Wait()
				answered(t, "the second of two", second)
				r := request("g", "")
				tc.edit(&r)
				a := b.c.Join(context.Background(), r)
				want(t, "code", a.Code, tc.want)
				want(t, "generation", a.Generation, int32(-1))
				want(t, "groups in memory", len(b.inMemory()), 2)
			})
		})
	}
}

func TestIDsThatAreNotTaken(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		r := request("g", "")
		r.KnowsID = true
		a := b.c.Join(context.Background(), r)
		want(t, "code", a.Code, groups.MemberIDRequired)
		want(t, "heartbeat of who has not joined", b.c.Heartbeat("g", a.MemberID, "", 0), groups.UnknownMemberID)
		// Those who are given an id are waited for, but not longer than a session.
		b1 := b.join(request("g", ""))
		b.lead("g", b1)
		again := b.later(request("g", b1.MemberID))
		synctest.Wait()
		open(t, "a join while one may still come", again)
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		want(t, "generation after it did not", answered(t, "the join", again).Generation, int32(2))
		r.Member = a.MemberID
		want(t, "the id after its session", b.c.Join(context.Background(), r).Code, groups.UnknownMemberID)

		r.Member = ""
		late := b.c.Join(context.Background(), r)
		codes, _ := b.c.Leave(context.Background(), "g", []Leaver{{Member: late.MemberID}})
		want(t, "leave of who has not joined", codes[0], groups.None)
		r.Member = late.MemberID
		want(t, "the id after that", b.c.Join(context.Background(), r).Code, groups.UnknownMemberID)
	})
}

func TestWhoIsNotHeardOfIsOut(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		a := b.alone("g")
		for range 10 {
			time.Sleep(9 * time.Second)
			want(t, "heartbeat", b.beat("g", a), groups.None)
		}
		time.Sleep(9 * time.Second)
		want(t, "a commit is a sign of life", b.commit("g", a), groups.None)
		time.Sleep(9 * time.Second)
		want(t, "heartbeat after a commit", b.beat("g", a), groups.None)
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		want(t, "heartbeat after a session", b.beat("g", a), groups.UnknownMemberID)
		want(t, "commit after a session", b.commit("g", a), groups.UnknownMemberID)
		want(t, "state", b.view("g").State, model.GroupEmpty)
		want(t, "groups in memory", len(b.inMemory()), 0)
	})
}

func TestAKilledMemberIsReplaced(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		a := b.alone("g")
		second := b.later(request("g", ""))
		synctest.Wait()
		// The first never answers again. It is waited for until its session is over.
		time.Sleep(9 * time.Second)
		open(t, "the second's join", second)
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		bb := answered(t, "the second's join", second)
		want(t, "leader", bb.Leader, bb.MemberID)
		want(t, "members", len(bb.Members), 1)
		want(t, "heartbeat of the first", b.beat("g", a), groups.UnknownMemberID)

		// One that joins and never syncs is out after the rebalance's time.
		for range 4 {
			time.Sleep(5 * time.Second)
			b.beat("g", bb)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		want(t, "heartbeat of who does not sync", b.beat("g", bb), groups.UnknownMemberID)
		want(t, "state", b.view("g").State, model.GroupEmpty)
	})
}

// TestMaxPollExceeded has a member go on heartbeating without ever joining anew.
func TestMaxPollExceeded(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		a := b.alone("g")
		second := b.later(request("g", ""))
		for range 20 {
			synctest.Wait()
			open(t, "the second's join", second)
			want(t, "heartbeat", b.beat("g", a), groups.RebalanceInProgress)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		want(t, "members", len(answered(t, "the second's join", second).Members), 1)
		want(t, "heartbeat", b.beat("g", a), groups.UnknownMemberID)
	})
}

func TestAFirstJoinDoesNotWaitForEver(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		r := request("g", "")
		r.Rebalance = time.Hour
		a := b.join(r)
		b.lead("g", a)
		second := b.later(request("g", ""))
		for range 34 {
			time.Sleep(9 * time.Second)
			synctest.Wait()
			b.beat("g", a)
		}
		synctest.Wait()
		want(t, "after five minutes", answered(t, "the second's join", second).Code, groups.UnknownMemberID)
		a = b.join(request("g", a.MemberID))
		want(t, "members", len(a.Members), 1)
	})
}

func TestFirstMembersWaitForMore(t *testing.T) {
	inBubble(t, Options{InitialDelay: 3 * time.Second}, func(t *testing.T, b *broker) {
		start := time.Now()
		var joins []<-chan JoinAnswer
		for range 3 {
			joins = append(joins, b.later(request("g", "")))
			time.Sleep(2 * time.Second)
		}
		synctest.Wait()
		for _, j := range joins {
			open(t, "a join", j)
		}
		first := <-joins[0]
		want(t, "it takes", time.Since(start), 9*time.Second)
		want(t, "generation", first.Generation, int32(1))
		want(t, "members", len(first.Members), 3)
		// However many come, it ends with the rebalance's time.
		start = time.Now()
		more := b.later(request("h", ""))
		for range 12 {
			time.Sleep(2 * time.Second)
			b.later(request("h", ""))
		}
		<-more
		want(t, "it takes at most", time.Since(start) <= 24*time.Second, true)
	})
}

func TestProtocolIsVoted(t *testing.T) {
	for name, tc := range map[string]struct {
		members [][]string
		want    string
	}{
		"one":              {[][]string{{"a", "b"}}, "a"},
		"only one common":  {[][]string{{"a", "b"}, {"b", "c"}}, "b"},
		"most like it":     {[][]string{{"a", "b"}, {"b", "a"}, {"b", "a"}}, "b"},
		"as many":          {[][]string{{"b", "a"}, {"a", "b"}}, "b"},
		"not known to all": {[][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"a", "c"}}, "a"},
	} {
		k := newClassic(&group{}, groups.Known{})
		for i, names := range tc.members {
			m := &member{id: fmt.Sprint(i)}
			for _, n := range names {
				m.protocols = append(m.protocols, Protocol{Name: n})
			}
			k.members = append(k.members, m)
		}
		if got := k.vote(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestStaticMembersComeBack(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		static := func(id, instance string) JoinRequest {
			r := request("g", id)
			r.Instance, r.KnowsID = instance, true
			return r
		}
		a := b.join(static("", "i1"))
		if !strings.HasPrefix(a.MemberID, "i1-") {
			t.Errorf("member id %q", a.MemberID)
		}
		b.lead("g", a)
		r := static("", "i1")
		a2 := b.join(r)
		want(t, "generation", a2.Generation, a.Generation)
		want(t, "a new id", a2.MemberID != a.MemberID, true)
		want(t, "leader as old clients are told", a2.Leader, a.MemberID)
		r.CanSkip = true
		a3 := b.join(r)
		want(t, "leader as new clients are told", a3.Leader, a3.MemberID)
		want(t, "skip", a3.Skip, true)
		want(t, "members", len(a3.Members), 1)
		s := b.c.Sync(context.Background(), SyncRequest{Group: "g", Member: a3.MemberID, Instance: "i1", Generation: a3.Generation})
		want(t, "it has what it had", fmt.Sprint(parseAssignment(s.Assignment)), tps("t", 0, 1, 2, 3, 4, 5))

		for name, code := range map[string]groups.Code{
			"heartbeat":      b.c.Heartbeat("g", a.MemberID, "i1", a.Generation),
			"sync":           b.c.Sync(context.Background(), SyncRequest{Group: "g", Member: a.MemberID, Instance: "i1", Generation: a.Generation}).Code,
			"join":           b.c.Join(context.Background(), static(a.MemberID, "i1")).Code,
			"commit":         b.c.Commit(context.Background(), CommitCheck{Group: "g", Member: a.MemberID, Instance: "i1", Generation: a.Generation}, nil),
			"commit in a tx": b.c.CheckCommit("g", a.MemberID, "i1", a.Generation),
		} {
			want(t, name+" of the former self", code, groups.FencedInstanceID)
		}
		want(t, "of an unknown instance", b.c.Heartbeat("g", a3.MemberID, "i9", a3.Generation), groups.UnknownMemberID)

		// A rebalance waits for a static member until its session is over, and keeps its place for so long.
		second := b.later(static("", "i2"))
		synctest.Wait()
		r.Member = a3.MemberID
		a4 := b.join(r)
		synctest.Wait()
		b2 := answered(t, "the second instance's join", second)
		sync := b.syncLater(SyncRequest{Group: "g", Member: b2.MemberID, Instance: "i2", Generation: b2.Generation})
		b.lead("g", a4)
		synctest.Wait()
		answered(t, "its sync", sync)
		third := b.later(request("g", ""))
		b.later(static(a3.MemberID, "i1"))
		time.Sleep(9 * time.Second)
		b.c.Heartbeat("g", b2.MemberID, "i2", b2.Generation)
		time.Sleep(9 * time.Second)
		b.c.Heartbeat("g", b2.MemberID, "i2", b2.Generation)
		time.Sleep(2*time.Second + time.Millisecond)
		synctest.Wait()
		answered(t, "a dynamic one's join", third)
		g := b.view("g")
		want(t, "members, with the static one that did not join", len(g.Members), 3)

		codes, _ := b.c.Leave(context.Background(), "g", []Leaver{{Member: a.MemberID, Instance: "i1"}, {Instance: "i9"}, {Instance: "i2"}, {Instance: "i2"}})
		want(t, "leaves", fmt.Sprint(codes), fmt.Sprint([]groups.Code{groups.FencedInstanceID, groups.UnknownMemberID, groups.None, groups.UnknownMemberID}))
	})
}

func TestWhatAStaticSelfWaitsForIsFenced(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		b.alone("g")
		r := request("g", "")
		r.Instance = "i1"
		first := b.later(r)
		synctest.Wait()
		second := b.later(r)
		synctest.Wait()
		want(t, "the former self's join", answered(t, "it", first).Code, groups.FencedInstanceID)
		open(t, "the new one's join", second)
	})
}

func TestCommitsOfWhomAndWhen(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		a := b.alone("busy")
		left := b.alone("left")
		b.commit("left", left)
		b.c.Leave(context.Background(), "left", []Leaver{{Member: left.MemberID}})
		for name, tc := range map[string]struct {
			r    CommitCheck
			want groups.Code
			txn  groups.Code
		}{
			"new group, no member":        {CommitCheck{Group: "new", Generation: -1}, groups.None, groups.None},
			"new group, a member":         {CommitCheck{Group: "new2", Member: "m", Generation: 3}, groups.GroupIDNotFound, groups.IllegalGeneration},
			"new group, old client":       {CommitCheck{Group: "new2", Member: "m", Generation: 3, Old: true}, groups.IllegalGeneration, groups.IllegalGeneration},
			"nameless group":              {CommitCheck{Group: "", Generation: -1}, groups.None, groups.None},
			"empty group, no member":      {CommitCheck{Group: "left", Generation: -1}, groups.None, groups.None},
			"empty group, who left":       {CommitCheck{Group: "left", Member: left.MemberID, Generation: 1}, groups.UnknownMemberID, groups.UnknownMemberID},
			"busy group, member":          {CommitCheck{Group: "busy", Member: a.MemberID, Generation: 1}, groups.None, groups.None},
			"busy group, no member":       {CommitCheck{Group: "busy", Generation: -1}, groups.UnknownMemberID, groups.None},
			"busy group, stranger":        {CommitCheck{Group: "busy", Member: "m", Generation: 1}, groups.UnknownMemberID, groups.UnknownMemberID},
			"busy group, wrong":           {CommitCheck{Group: "busy", Member: a.MemberID, Generation: 2}, groups.IllegalGeneration, groups.IllegalGeneration},
			"busy group, no generation":   {CommitCheck{Group: "busy", Member: a.MemberID, Generation: -1}, groups.IllegalGeneration, groups.IllegalGeneration},
			"busy group, unknown in name": {CommitCheck{Group: "busy", Member: a.MemberID, Instance: "i", Generation: 1}, groups.UnknownMemberID, groups.UnknownMemberID},
		} {
			want(t, name, b.c.Commit(context.Background(), tc.r, nil), tc.want)
			want(t, name+", in a transaction", b.c.CheckCommit(tc.r.Group, tc.r.Member, tc.r.Instance, tc.r.Generation), tc.txn)
		}
	})
}

func TestWhatIsListedDescribedAndDeleted(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		ctx := context.Background()
		a := b.alone("busy")
		b.commit("busy", a)
		r := request("foreign", "")
		r.ProtocolType = "connect"
		b.join(r)
		tp := model.TopicPartition{Topic: "u", Partition: 1}
		simple := []groups.Committed{{Commit: model.Commit{TopicPartition: tp, Offset: 3}, Expires: model.NoTime}}
		want(t, "commit", b.c.Commit(ctx, CommitCheck{Group: "simple", Generation: -1}, simple), groups.None)
		r = request("pending", "")
		r.KnowsID = true
		b.c.Join(ctx, r)
		all, err := b.c.List()
		if err != nil {
			t.Fatal(err)
		}
		want(t, "listed", fmt.Sprint(all), "[{busy Classic consumer Stable} {foreign Classic connect CompletingRebalance} {pending Classic  Empty} {simple Classic  Empty}]")

		d := b.c.Describe("busy")
		want(t, "described", fmt.Sprint(d.Code, d.State, d.ProtocolType, d.Protocol, len(d.Members), d.Members[0].Host), "0Stableconsumerrange1/10.0.0.1")
		d = b.c.Describe("foreign")
		want(t, "described", fmt.Sprint(d.Code, d.State, d.ProtocolType, d.Protocol, len(d.Members), string(d.Members[0].Metadata)), "0CompletingRebalanceconnect1")
		want(t, "described", fmt.Sprint(b.c.Describe("simple")), "{0 Empty   []}")
		want(t, "described", fmt.Sprint(b.c.Describe("none")), fmt.Sprintf("{%d Dead   []}", groups.GroupIDNotFound))

		both := []model.TopicPartition{{Topic: "t"}, tp}
		codes, code := b.c.DeleteOffsets(ctx, "busy", both)
		want(t, "offsets of a busy group", fmt.Sprint(codes, code), fmt.Sprint([]groups.Code{groups.GroupSubscribedToTopic, groups.None}, groups.None))
		_, code = b.c.DeleteOffsets(ctx, "foreign", both)
		want(t, "offsets of another type", code, groups.NonEmptyGroup)
		_, code = b.c.DeleteOffsets(ctx, "none", both)
		want(t, "offsets of none", code, groups.GroupIDNotFound)
		_, code = b.c.DeleteOffsets(ctx, "", both)
		want(t, "offsets of no name", code, groups.InvalidGroupID)

		for group, code := range map[string]groups.Code{"busy": groups.NonEmptyGroup, "foreign": groups.NonEmptyGroup, "none": groups.GroupIDNotFound, "simple": groups.None} {
			want(t, "delete "+group, b.c.Delete(ctx, group), code)
		}
		want(t, "delete again", b.c.Delete(ctx, "simple"), groups.GroupIDNotFound)
	})
}
