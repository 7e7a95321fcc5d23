package embedded

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
)

// sharer is a client that lets the broker assign, and says when what it has changes.
type sharer struct {
	*kgo.Client
	mu      sync.Mutex
	has     map[string][]int32
	changed chan struct{}
}

func share(t *testing.T, b *Broker, opts ...kgo.Opt) *sharer {
	t.Helper()
	s := &sharer{has: map[string][]int32{}, changed: make(chan struct{}, 1)}
	change := func(f func(topic string, p int32), parts map[string][]int32) {
		s.mu.Lock()
		for topic, ps := range parts {
			for _, p := range ps {
				f(topic, p)
			}
		}
		s.mu.Unlock()
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
	gone := func(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
		change(func(topic string, p int32) {
			s.has[topic] = slices.DeleteFunc(s.has[topic], func(x int32) bool { return x == p })
		}, parts)
	}
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(b.Address()), kgo.ConsumerGroup("g"), kgo.ServerSideBalancer(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
			change(func(topic string, p int32) { s.has[topic] = append(s.has[topic], p) }, parts)
		}),
		kgo.OnPartitionsRevoked(gone), kgo.OnPartitionsLost(gone),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	s.Client = cl
	t.Cleanup(cl.Close)
	return s
}

// holds says what the client has.
func (s *sharer) holds() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, topic := range slices.Sorted(maps.Keys(s.has)) {
		if ps := slices.Sorted(slices.Values(s.has[topic])); len(ps) > 0 {
			all = append(all, fmt.Sprint(topic, ps))
		}
	}
	return strings.Join(all, " ")
}

// count says how many partitions the client has.
func (s *sharer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, ps := range s.has {
		n += len(ps)
	}
	return n
}

// await waits until the client has that many partitions.
func (s *sharer) await(t *testing.T, what string, n int) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		if s.count() == n {
			return
		}
		select {
		case <-s.changed:
		case <-limit:
			t.Fatalf("%s: a member has %s, want %d partitions", what, s.holds(), n)
		}
	}
}

// TestClientsThatAreAssignedByTheBroker has real clients share, leave, come by a pattern, and outlive the broker.
func TestClientsThatAreAssignedByTheBroker(t *testing.T) {
	dir := t.TempDir()
	o := Options{Dir: dir, Listen: "127.0.0.1:0", Engine: store.Options{Properties: properties(t, "group.consumer.heartbeat.interval.ms=20\n")}}
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { shut(t, b) }()
	topic := func(name string, n int32) {
		t.Helper()
		if err := b.CreateTopic(t.Context(), model.TopicSpec{Name: name, Partitions: n}); err != nil {
			t.Fatal(err)
		}
	}
	topic("ta", 4)
	x := share(t, b, kgo.ConsumeTopics("ta"))
	x.await(t, "alone", 4)
	y := share(t, b, kgo.ConsumeTopics("ta"))
	x.await(t, "two share", 2)
	y.await(t, "two share", 2)
	z := share(t, b, kgo.ConsumeTopics("t[ab]"), kgo.ConsumeRegex())
	z.await(t, "a third, by pattern", 1)
	topic("tb", 1)
	z.await(t, "a topic comes that matches", 2)
	y.Close()
	within(t, "one has left: two members have five partitions between them", func() bool {
		nx, nz := x.count(), z.count()
		return nx+nz == 5 && min(nx, nz) == 2
	})
	epoch := b.coordinator.ConsumerDescribe("g").Epoch
	before := x.holds() + " and " + z.holds()

	o.Listen = b.Address()
	shut(t, b)
	if b, err = Open(o); err != nil {
		t.Fatal(err)
	}
	if err := x.ProduceSync(t.Context(), &kgo.Record{Topic: "ta", Value: []byte("after")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if after := x.holds() + " and " + z.holds(); after != before {
		t.Errorf("after a restart members have %s, before %s", after, before)
	}
	within(t, "its members say that they have what they were given", func() bool {
		g, err := b.Group(t.Context(), "g")
		if err != nil || len(g.Members) != 2 || g.Type != "Consumer" {
			t.Fatalf("the group is %+v, %v", g, err)
		}
		return g.State == model.GroupStable
	})
	if err := b.GrowTopic(t.Context(), "ta", 7); err != nil {
		t.Fatal(err)
	}
	x.await(t, "a topic has grown", 4)
	z.await(t, "a topic has grown", 4)
	if d := b.coordinator.ConsumerDescribe("g"); d.Epoch != epoch+1 {
		t.Errorf("the group's epoch was %d, is %d: somebody had to join anew", epoch, d.Epoch)
	}
}
