package coordinator

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// TestAStoreThatStopsWriting has the store fail under a group: nobody is told of an assignment that is not stored, and all
// is as before once it works again.
func TestAStoreThatStopsWriting(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *broker) {
		ctx := context.Background()
		a, bb := b.pair("g")
		first := b.later(request("g", a.MemberID))
		synctest.Wait()
		b.join(request("g", bb.MemberID))
		a = <-first
		follower := b.syncLater(SyncRequest{Group: "g", Member: bb.MemberID, Generation: a.Generation})
		synctest.Wait()
		if err := b.db.Close(); err != nil {
			t.Fatal(err)
		}
		s := b.c.Sync(ctx, SyncRequest{Group: "g", Member: a.MemberID, Generation: a.Generation})
		want(t, "the leader's sync", s.Code, groups.CoordinatorNotAvailable)
		synctest.Wait()
		want(t, "the follower's sync", answered(t, "it", follower).Code, groups.CoordinatorNotAvailable)
		want(t, "heartbeat", b.beat("g", a), groups.RebalanceInProgress)
		want(t, "commit", b.commit("g", a), groups.CoordinatorNotAvailable)
		want(t, "a new group", b.c.Join(ctx, request("new", "")).Code, groups.CoordinatorNotAvailable)
		want(t, "deleting", b.c.Delete(ctx, "new"), groups.CoordinatorNotAvailable)
		if _, err := b.c.List(); err == nil {
			t.Error("groups are listed from a store that is closed")
		}
		b.kill()
		want(t, "the generation after that", b.rejoin("g", a, bb), int32(3))
	})
}

func TestAStoreThatMayNotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t, Options{})
		a := b.alone("g")
		b.commit("g", a)
		b.stop()
		if err := os.Chmod(b.path, 0o400); err != nil {
			t.Fatal(err)
		}
		b.start()
		want(t, "who was a member", b.beat("g", a), groups.None)
		want(t, "its commit", b.commit("g", a), groups.CoordinatorNotAvailable)
		want(t, "a new group", b.c.Join(context.Background(), request("new", "")).Code, groups.CoordinatorNotAvailable)
		if g, err := b.s.Group(context.Background(), "g"); err != nil || len(g.Members) != 1 || g.Offsets[0].Committed != 7 {
			t.Errorf("shown: %+v, %v", g, err)
		}
		if _, err := b.s.Group(context.Background(), "new"); !errors.Is(err, model.ErrNoGroup) {
			t.Errorf("the new one: %v", err)
		}
	})
}
