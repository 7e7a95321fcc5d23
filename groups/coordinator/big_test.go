package coordinator

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-kafka/strata/groups"
)

// TestAGroupOfAThousand has a thousand members come at once, agree, and lose one.
func TestAGroupOfAThousand(t *testing.T) {
	const count = 1000
	inBubble(t, Options{InitialDelay: time.Second, Partitions: func(string) int32 { return count }}, func(t *testing.T, b *broker) {
		ctx := context.Background()
		var mu sync.Mutex
		seen := map[string]int32{} // partitions' owners and the generation they were given it in
		var wg sync.WaitGroup
		stop := make(chan struct{})
		for i := range count {
			wg.Go(func() {
				r := request("g", "")
				r.Client, r.KnowsID, r.Rebalance = fmt.Sprintf("c%d", i), true, time.Minute
				for {
					a := b.c.Join(ctx, r)
					switch a.Code {
					case groups.None, groups.MemberIDRequired:
						r.Member = a.MemberID
					case groups.UnknownMemberID:
						return // the one that has been taken out
					default:
						t.Errorf("join: %d", a.Code)
						return
					}
					if a.Code != groups.None {
						continue
					}
					q := SyncRequest{Group: "g", Member: r.Member, Generation: a.Generation}
					if a.Leader == a.MemberID {
						q.Assignments, _ = b.c.assignRange(a.Members)
					}
					y := b.c.Sync(ctx, q)
					if y.Code != groups.None {
						continue
					}
					mu.Lock()
					for _, tp := range parseAssignment(y.Assignment) {
						seen[tp.String()] = a.Generation
					}
					mu.Unlock()
					for b.beat("g", a) == groups.None {
						select {
						case <-stop:
							return
						case <-time.After(3 * time.Second):
						}
					}
				}
			})
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		g := b.view("g")
		want(t, "state", fmt.Sprint(g.State, len(g.Members)), "Stable"+fmt.Sprint(count))
		b.c.Leave(ctx, "g", []Leaver{{Member: g.Members[7].ID}})
		time.Sleep(30 * time.Second)
		synctest.Wait()
		g = b.view("g")
		want(t, "state after one has left", fmt.Sprint(g.State, len(g.Members)), "Stable"+fmt.Sprint(count-1))
		last := int32(0)
		for _, n := range seen {
			last = max(last, n)
		}
		for tp, n := range seen {
			if n != last {
				t.Errorf("%s was assigned last in generation %d of %d", tp, n, last)
			}
		}
		want(t, "partitions", len(seen), count)
		close(stop)
		wg.Wait()
	})
}
