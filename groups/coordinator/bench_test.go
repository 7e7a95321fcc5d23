package coordinator

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// BenchmarkCommit has 64 members commit at once, and beside it 64 callers of the store itself, which is the limit.
func BenchmarkCommit(b *testing.B) {
	db, err := groups.OpenDB(filepath.Join(b.TempDir(), "strata.db"), groups.DBOptions{})
	if err != nil {
		b.Fatal(err)
	}
	s := groups.New(db, noLogs{}, groups.Options{})
	c := New(s, Options{Partitions: func(string) int32 { return 6 }})
	b.Cleanup(func() {
		for _, end := range []func() error{c.Close, s.Close, db.Close} {
			if err := end(); err != nil {
				b.Error(err)
			}
		}
	})
	const callers, each = 64, 8
	ctx := context.Background()
	checks := make([]CommitCheck, callers)
	for i := range checks {
		group := fmt.Sprintf("g%d", i)
		a := c.Join(ctx, request(group, ""))
		if y := c.Sync(ctx, SyncRequest{Group: group, Member: a.MemberID, Generation: a.Generation}); y.Code != groups.None {
			b.Fatal(y.Code)
		}
		checks[i] = CommitCheck{Group: group, Member: a.MemberID, Generation: a.Generation}
	}
	commits := func(n int) []groups.Committed {
		return []groups.Committed{{Commit: model.Commit{TopicPartition: model.TopicPartition{Topic: "t"}, Offset: int64(n), LeaderEpoch: -1}, Expires: model.NoTime}}
	}
	all := func(one func(i, n int)) time.Duration {
		start := time.Now()
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				for n := range each {
					one(i, n)
				}
			})
		}
		wg.Wait()
		return time.Since(start)
	}
	var through, bare time.Duration
	for b.Loop() {
		through += all(func(i, n int) {
			if code := c.Commit(ctx, checks[i], commits(n)); code != groups.None {
				b.Error(code)
			}
		})
		bare += all(func(i, n int) {
			w, err := s.Stage(checks[i].Group, commits(n))
			if err == nil {
				err = w.Wait(ctx)
			}
			if err != nil {
				b.Error(err)
			}
		})
	}
	b.ReportMetric(float64(b.N*callers*each)/through.Seconds(), "commits/s")
	b.ReportMetric(float64(bare)/float64(through), "of-store")
}

// BenchmarkHeartbeat beats for the members of a thousand groups.
func BenchmarkHeartbeat(b *testing.B) {
	db, err := groups.OpenDB(filepath.Join(b.TempDir(), "strata.db"), groups.DBOptions{})
	if err != nil {
		b.Fatal(err)
	}
	s := groups.New(db, noLogs{}, groups.Options{})
	c := New(s, Options{Partitions: func(string) int32 { return 6 }})
	b.Cleanup(func() {
		for _, end := range []func() error{c.Close, s.Close, db.Close} {
			if err := end(); err != nil {
				b.Error(err)
			}
		}
	})
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = c.Join(context.Background(), request(fmt.Sprintf("g%d", i), "")).MemberID
	}
	names := make([]string, len(ids))
	for i := range names {
		names[i] = fmt.Sprintf("g%d", i)
	}
	n := 0
	for b.Loop() {
		if code := c.Heartbeat(names[n%1000], ids[n%1000], "", 1); code != groups.None {
			b.Fatal(code)
		}
		n++
	}
}
