package coordinator

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

func TestMembersOutliveTheBroker(t *testing.T) {
	for name, end := range map[string]func(*broker){
		"killed": (*broker).kill,
		"closed": func(b *broker) { b.stop(); b.start() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{}, func(t *testing.T, b *broker) {
				a, bb := b.pair("g")
				before := b.view("g")
				time.Sleep(5 * time.Second)
				end(b)
				want(t, "what is shown", fmt.Sprintf("%+v", b.view("g")), fmt.Sprintf("%+v", before))
				for range 5 {
					want(t, "heartbeat of the leader", b.beat("g", a), groups.None)
					want(t, "commit of the follower", b.commit("g", bb), groups.None)
					time.Sleep(5 * time.Second)
				}
				s := b.c.Sync(context.Background(), SyncRequest{Group: "g", Member: bb.MemberID, Generation: bb.Generation})
				want(t, "the assignment", len(parseAssignment(s.Assignment)), 3)
				_, err := b.s.ApplyReset(context.Background(), model.ResetPlan{Group: "g", Rows: []model.PlanRow{{To: 1, From: model.Unknown, TopicPartition: model.TopicPartition{Topic: "t"}}}})
				want(t, "a reset is refused", errors.Is(err, model.ErrRefused), true)
				want(t, "a rebalance is as ever", b.rejoin("g", a, bb), int32(3))
				// Whoever did not outlive the broker is out after a session.
				end(b)
				time.Sleep(10*time.Second + time.Millisecond)
				synctest.Wait()
				want(t, "state after a session", b.view("g").State, model.GroupEmpty)
				end(b)
				want(t, "groups in memory", len(b.inMemory()), 0)
			})
		})
	}
}

// pair makes a Stable group of two members, the leader first.
func (b *broker) pair(group string) (a, bb JoinAnswer) {
	b.t.Helper()
	a = b.alone(group)
	second := b.later(request(group, ""))
	synctest.Wait()
	a = b.join(request(group, a.MemberID))
	bb = <-second
	follower := b.syncLater(SyncRequest{Group: group, Member: bb.MemberID, Generation: bb.Generation})
	synctest.Wait()
	b.lead(group, a)
	<-follower
	return a, bb
}

// rejoin has both members join anew, the leader first, and returns the generation.
func (b *broker) rejoin(group string, a, bb JoinAnswer) int32 {
	b.t.Helper()
	first := b.later(request(group, a.MemberID))
	synctest.Wait()
	second := b.join(request(group, bb.MemberID))
	again := <-first
	follower := b.syncLater(SyncRequest{Group: group, Member: bb.MemberID, Generation: second.Generation})
	synctest.Wait()
	b.lead(group, again)
	<-follower
	return again.Generation
}

func TestALeaverIsGoneAfterAKillToo(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		a, bb := b.pair("g")
		b.c.Leave(context.Background(), "g", []Leaver{{Member: bb.MemberID}})
		b.kill()
		want(t, "heartbeat of who left", b.beat("g", bb), groups.UnknownMemberID)
		want(t, "heartbeat of the other", b.beat("g", a), groups.RebalanceInProgress)
		a = b.join(request("g", a.MemberID))
		want(t, "generation", a.Generation, int32(3))
		want(t, "members", len(a.Members), 1)
	})
}

func TestAnUnfinishedRebalanceIsNotRestored(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		a, bb := b.pair("g")
		first := b.later(request("g", a.MemberID))
		synctest.Wait()
		b.join(request("g", bb.MemberID))
		synctest.Wait()
		want(t, "generation that nobody has synced in", answered(t, "a join", first).Generation, int32(3))
		b.kill()
		want(t, "heartbeat in it", b.c.Heartbeat("g", a.MemberID, "", 3), groups.IllegalGeneration)
		want(t, "heartbeat in the one before", b.beat("g", a), groups.None)
		want(t, "the generation after that", b.rejoin("g", a, bb), int32(3))
	})
}

func TestParkedRequestsAreAnsweredOnClose(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		a := b.alone("g")
		join := b.later(request("g", ""))
		synctest.Wait()
		h := b.join(request("h", ""))
		second := b.later(request("h", ""))
		synctest.Wait()
		h = b.join(request("h", h.MemberID))
		synctest.Wait()
		follower := answered(t, "the second's join", second)
		sync := b.syncLater(SyncRequest{Group: "h", Member: follower.MemberID, Generation: follower.Generation})
		synctest.Wait()
		c := b.c
		b.stop()
		synctest.Wait()
		want(t, "a join", answered(t, "a join", join).Code, groups.NotCoordinator)
		want(t, "a sync", answered(t, "a sync", sync).Code, groups.NotCoordinator)
		want(t, "a join afterwards", c.Join(context.Background(), request("new", "")).Code, groups.NotCoordinator)
		if _, err := c.JoinHere("new", MemberInfo{}); !errors.Is(err, model.ErrClosed) {
			t.Errorf("a member in this process afterwards: %v", err)
		}
		b.start()
		want(t, "the leader after the restart", b.beat("g", a), groups.None)
		want(t, "who was never in a whole generation", b.beat("h", h), groups.UnknownMemberID)
	})
}

func TestAnEndedContextEndsTheWait(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		b.alone("g")
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan JoinAnswer, 1)
		go func() { answer <- b.c.Join(ctx, request("g", "")) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		want(t, "the join", answered(t, "the join", answer).Code, groups.NotCoordinator)
	})
}

func TestBlobsAreReadBack(t *testing.T) {
	k := newClassic(&group{}, groups.Known{Generation: 7})
	k.state, k.protocolType, k.protocol, k.leader = model.GroupStable, "consumer", "range", "m1"
	k.members = []*member{
		{id: "m1", client: "c", host: "/h", rebalance: time.Minute, session: 10 * time.Second, protocols: []Protocol{{"range", []byte("meta")}, {"rr", []byte{}}}, assignment: []byte("share")},
		{id: "m2", instance: "i2", rebalance: -time.Millisecond, session: time.Second, local: &Member{}, protocols: nil, assignment: []byte{}},
	}
	b := k.blob()
	got, err := parseClassic(k.g, b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.members, k.members) || got.generation != 7 || got.protocol != "range" || got.leader != "m1" || got.state != model.GroupEmpty {
		t.Errorf("read back %+v with %+v", got, got.members)
	}
	for n := range b {
		if _, err := parseClassic(k.g, b[:max(n, 1)]); err == nil {
			t.Errorf("cut to %d of %d bytes it is read", n, len(b))
		}
	}
	if _, err := parseClassic(k.g, append(b, 0)); err == nil {
		t.Error("with a byte too many it is read")
	}
}

// TestDamagedStatesCostThemselves restores groups of which one cannot be read, and one of a kind that is not known.
func TestDamagedStatesCostThemselves(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		a := b.alone("good")
		b.commit("good", a)
		live := groups.Live{State: model.GroupStable, Type: groups.TypeClassic, Generation: 4, Members: []model.Member{{ID: "m"}}}
		for group, state := range map[string][]byte{"cut": {kindClassic, 0, 0}, "future": {99, 1, 2}} {
			if err := b.s.Publish(context.Background(), group, live, state); err != nil {
				t.Fatal(err)
			}
		}
		b.kill()
		want(t, "groups in memory", fmt.Sprint(b.inMemory()), "[good]")
		want(t, "heartbeat", b.beat("good", a), groups.None)
		want(t, "generation of who joins the cut one", b.alone("cut").Generation, int32(5))
		want(t, "delete the other", b.c.Delete(context.Background(), "future"), groups.None)
	})
}

func FuzzConsumerProtocol(f *testing.F) {
	f.Add(encodeSubscription([]string{"a", "b"}))
	f.Add(encodeAssignment([]model.TopicPartition{{Topic: "a", Partition: 1}, {Topic: "a", Partition: 2}, {Topic: "b"}}))
	f.Add([]byte{0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		parseSubscription(b)
		tps := parseAssignment(b)
		if again := parseAssignment(encodeAssignment(tps)); len(tps) > 0 && !reflect.DeepEqual(again, tps) {
			t.Errorf("%v becomes %v", tps, again)
		}
		if len(b) > 0 {
			_, _ = parseClassic(&group{}, b)
		}
	})
}
