package e2e

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var groupKills = flag.Int("group.kills", 4, "how often the broker is killed under a group that commits")

// reader is a member that commits what it has read, one by one.
type reader struct {
	cl    *kgo.Client
	acked *ledger
}

// ledger is what was acknowledged as committed, by partition.
type ledger struct {
	mu      sync.Mutex
	offsets map[int32]int64
	commits int
}

func newReader(t *testing.T, addr string, acked *ledger) *reader {
	t.Helper()
	cl, err := kgo.NewClient(
		kgo.SeedBrokers(addr), kgo.ConsumerGroup("killed"), kgo.ConsumeTopics("in"), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.SessionTimeout(20*time.Second), kgo.HeartbeatInterval(200*time.Millisecond),
		kgo.Balancers(kgo.RangeBalancer()),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }), kgo.FetchMaxWait(200*time.Millisecond),
		kgo.MetadataMinAge(50*time.Millisecond),
	)
	if err != nil {
		t.Fatal(err)
	}
	return &reader{cl: cl, acked: acked}
}

// run reads and commits until ctx ends.
func (r *reader) run(ctx context.Context) {
	for ctx.Err() == nil {
		fs := r.cl.PollRecords(ctx, 5)
		for _, rec := range fs.Records() {
			if err := r.cl.CommitRecords(ctx, rec); err != nil {
				continue // not acknowledged: it may be there or not
			}
			r.acked.mu.Lock()
			r.acked.offsets[rec.Partition] = max(r.acked.offsets[rec.Partition], rec.Offset+1)
			r.acked.commits++
			r.acked.mu.Unlock()
		}
	}
}

// TestAGroupUnderKills kills the broker again and again under a group of two that commits: what was acknowledged is there
// each time, and the members are the same ones, though their clients may choose to join anew.
func TestAGroupUnderKills(t *testing.T) {
	b := newServed(t)
	createTopics(t, b.addr, map[string]int32{"in": 2})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	acked := &ledger{offsets: map[int32]int64{}}
	var running sync.WaitGroup
	var readers []*reader
	for range 2 {
		r := newReader(t, b.addr, acked)
		readers = append(readers, r)
		running.Go(func() { r.run(ctx) })
	}
	var sent atomic.Int64
	running.Go(func() { feedNumbers(t, ctx, b.addr, &sent) })
	commits := func() int {
		acked.mu.Lock()
		defer acked.mu.Unlock()
		return acked.commits
	}
	waitUntil(t, time.Minute, "both partitions are read", func() bool {
		acked.mu.Lock()
		defer acked.mu.Unlock()
		return len(acked.offsets) == 2
	})
	waitUntil(t, time.Minute, "the group is stable", func() bool { return len(membersOf(t, b.addr)) == 2 })
	before := membersOf(t, b.addr)
	rnd := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 3))
	for range *groupKills {
		was := commits()
		waitUntil(t, time.Minute, "offsets are committed", func() bool { return commits() >= was+20 })
		select { // at any moment of what is going on
		case <-time.After(time.Duration(rnd.IntN(50)) * time.Millisecond):
		case <-ctx.Done():
		}
		b.kill()
		acked.mu.Lock()
		want := map[int32]int64{0: acked.offsets[0], 1: acked.offsets[1]}
		acked.mu.Unlock()
		b.start()
		if now := membersOf(t, b.addr); !slices.Equal(now, before) {
			t.Fatalf("members %v are %v after a kill", before, now)
		}
		for p, off := range want {
			if got := committedOf(t, b.addr, p); got < off {
				t.Errorf("partition %d: %d is committed, %d was acknowledged", p, got, off)
			}
		}
	}
	was := commits()
	waitUntil(t, time.Minute, "offsets are committed in the end", func() bool { return commits() >= was+20 })
	stop()
	running.Wait()
	for _, r := range readers {
		r.cl.Close()
	}
	t.Logf("%d commits, %d kills", commits(), *groupKills)
}

// membersOf returns the ids of the group's members, sorted.
func membersOf(t *testing.T, addr string) []string {
	t.Helper()
	r := ask(t, addr, &kmsg.DescribeGroupsRequest{Groups: []string{"killed"}}).(*kmsg.DescribeGroupsResponse)
	var ids []string
	for _, m := range r.Groups[0].Members {
		ids = append(ids, m.MemberID)
	}
	slices.Sort(ids)
	return ids
}

// committedOf returns what is committed of a partition.
func committedOf(t *testing.T, addr string, partition int32) int64 {
	t.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = "killed"
	req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "in", Partitions: []int32{partition}}}
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = req.Group
	gt := kmsg.NewOffsetFetchRequestGroupTopic()
	gt.Topic, gt.Partitions = "in", []int32{partition}
	g.Topics = append(g.Topics, gt)
	req.Groups = append(req.Groups, g)
	r := ask(t, addr, req).(*kmsg.OffsetFetchResponse)
	if len(r.Groups) > 0 {
		return r.Groups[0].Topics[0].Partitions[0].Offset
	}
	return r.Topics[0].Partitions[0].Offset
}

// ask sends one request.
func ask(t *testing.T, addr string, req kmsg.Request) kmsg.Response {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	resp, err := cl.Request(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}
