package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

func TestMembersHereShareWithThoseFromOutside(t *testing.T) {
	var partitions atomic.Int32
	partitions.Store(4)
	inBubble(t, Options{Partitions: func(string) int32 { return partitions.Load() }}, func(t *testing.T, b *broker) {
		ctx := context.Background()
		here := func(client string) *Member {
			m, err := b.c.JoinHere("g", MemberInfo{Client: client, Topics: []string{"t"}})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return m
		}
		a := here("a")
		want(t, "alone", fmt.Sprint(a.Assignment()), tps("t", 0, 1, 2, 3))
		z := here("z")
		want(t, "the first of two", fmt.Sprint(a.Assignment()), tps("t", 0, 1))
		want(t, "the second of two", fmt.Sprint(z.Assignment()), tps("t", 2, 3))
		commits := []model.Commit{{TopicPartition: model.TopicPartition{Topic: "t", Partition: 1}, Offset: 5, LeaderEpoch: -1}, {TopicPartition: model.TopicPartition{Topic: "t", Partition: 2}, Offset: 6, LeaderEpoch: -1}}
		if err := errors.Join(a.Commit(ctx, commits), a.Commit(ctx, nil)); err != nil {
			t.Fatal(err)
		}
		got, err := a.Committed(ctx)
		want(t, "committed of its own only", fmt.Sprint(got, err), fmt.Sprint(commits[:1], nil))
		got, err = z.Committed(ctx)
		want(t, "committed of the other", fmt.Sprint(got, err), fmt.Sprint([]model.Commit{}, nil))

		// One from outside joins, and is led by a member here.
		outside := b.join(request("g", ""))
		s := b.c.Sync(ctx, SyncRequest{Group: "g", Member: outside.MemberID, Generation: outside.Generation})
		synctest.Wait()
		want(t, "who leads", outside.Leader, a.ID())
		want(t, "the one from outside", len(parseAssignment(s.Assignment)), 1)
		want(t, "all of it", len(a.Assignment())+len(z.Assignment()), 3)
		want(t, "what is shown", fmt.Sprint(len(b.view("g").Members), b.view("g").State), "3Stable")

		// A topic grows: the leader sees it.
		partitions.Store(6)
		for range 3 {
			time.Sleep(2 * time.Second)
			b.beat("g", outside)
		}
		synctest.Wait()
		want(t, "heartbeat after the topic has grown", b.beat("g", outside), groups.RebalanceInProgress)
		outside = b.join(request("g", outside.MemberID))
		s = b.c.Sync(ctx, SyncRequest{Group: "g", Member: outside.MemberID, Generation: outside.Generation})
		synctest.Wait()
		want(t, "of six partitions each", fmt.Sprint(len(parseAssignment(s.Assignment)), len(a.Assignment()), len(z.Assignment())), "2 2 2")

		// One that leads here is led by one from outside when those here leave and come again.
		if err := errors.Join(a.Leave(), a.Leave(), z.Leave()); err != nil {
			t.Fatal(err)
		}
		if err := a.Commit(ctx, commits); !errors.Is(err, model.ErrClosed) {
			t.Errorf("commit after leaving: %v", err)
		}
		outside = b.join(request("g", outside.MemberID))
		b.lead("g", outside)
		want(t, "all is the other's", fmt.Sprint(b.view("g").Members[0].Assignment), tps("t", 0, 1, 2, 3, 4, 5))
		c := here("c")
		want(t, "nothing while the others do not agree", len(c.Assignment()), 0)
		late := make(chan error, 1)
		go func() { late <- c.Commit(ctx, commits) }()
		synctest.Wait()
		open(t, "a commit during the rebalance", late)
		outside = b.join(request("g", outside.MemberID))
		b.lead("g", outside)
		synctest.Wait()
		want(t, "three each", len(c.Assignment()), 3)
		want(t, "the commit", answered(t, "the commit", late), nil)
		want(t, "the broker's end", b.c.Close(), nil)
		want(t, "members that are stored", b.memberCount("g"), 1)
	})
}

// memberCount is how many members the next broker would find.
func (b *broker) memberCount(id string) int {
	k, err := parseClassic(&group{}, b.s.Restore()[id])
	if err != nil {
		return 0
	}
	return len(k.members)
}

func TestMembersHereDieWithTheProcess(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		if _, err := b.c.JoinHere("only", MemberInfo{Topics: []string{"t"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.c.JoinHere("mixed", MemberInfo{Topics: []string{"t"}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		outside := b.join(request("mixed", ""))
		s := b.c.Sync(context.Background(), SyncRequest{Group: "mixed", Member: outside.MemberID, Generation: outside.Generation})
		want(t, "assigned", len(parseAssignment(s.Assignment)), 3)
		b.kill()
		want(t, "groups in memory", fmt.Sprint(b.inMemory()), "[mixed]")
		want(t, "state of the one", b.view("only").State, model.GroupEmpty)
		want(t, "heartbeat in the other", b.beat("mixed", outside), groups.RebalanceInProgress)
		again := b.join(request("mixed", outside.MemberID))
		want(t, "leader", again.Leader, outside.MemberID)
		want(t, "members", len(again.Members), 1)
	})
}

func TestAGroupThatDoesNotTakeMembersHere(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		r := request("g", "")
		r.ProtocolType = "connect"
		other := b.join(r)
		m, err := b.c.JoinHere("g", MemberInfo{Topics: []string{"t"}})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := m.Commit(context.Background(), nil); !errors.Is(err, model.ErrRefused) {
			t.Errorf("commit: %v", err)
		}
		b.c.Leave(context.Background(), "g", []Leaver{{Member: other.MemberID}})
		time.Sleep(localRetry)
		synctest.Wait()
		want(t, "once the other is gone", len(m.Assignment()), 6)
		if _, err := b.c.JoinHere("", MemberInfo{}); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("a group without a name: %v", err)
		}
	})
}
