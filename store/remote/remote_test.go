package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
)

// cluster starts a fake cluster with a topic of some partitions.
func cluster(t *testing.T, partitions int32, topics ...string) (*kfake.Cluster, *Client) {
	t.Helper()
	f, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(partitions, topics...), kfake.ClusterID("fake"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	c, err := Connect(t.Context(), f.ListenAddrs(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, c
}

func values(n int, partition func(i int) int32) []model.ProduceRecord {
	rs := make([]model.ProduceRecord, n)
	for i := range rs {
		rs[i] = model.ProduceRecord{Value: fmt.Appendf(nil, "v%d", i), Partition: partition(i)}
	}
	return rs
}

func to(p int32) func(int) int32 { return func(int) int32 { return p } }

func TestTopics(t *testing.T) {
	_, c := cluster(t, 2, "orders")
	ctx := t.Context()
	tp := model.TopicPartition{Topic: "orders"}
	deleteRecords := func(tp model.TopicPartition, before int64) error {
		_, err := c.DeleteRecords(ctx, tp, before)
		return err
	}
	if _, err := c.Produce(ctx, model.ProduceRequest{Topic: "orders", Records: values(9, to(0)), Acks: -1}); err != nil {
		t.Fatal(err)
	}
	set := func(name, value string) []model.ConfigChange { return []model.ConfigChange{{Name: name, Value: value}} }
	for _, step := range []struct {
		name string
		err  error
		want error
	}{
		{"make", c.CreateTopic(ctx, model.TopicSpec{Name: "new", Partitions: 3, Configs: set("retention.ms", "60000")}), nil},
		{"make as many partitions as the broker likes", c.CreateTopic(ctx, model.TopicSpec{Name: "usual"}), nil},
		{"make what is there", c.CreateTopic(ctx, model.TopicSpec{Name: "orders"}), model.ErrExists},
		{"grow", c.GrowTopic(ctx, "new", 5), nil},
		{"shrink", c.GrowTopic(ctx, "new", 1), model.ErrInvalid},
		{"grow what is not there", c.GrowTopic(ctx, "order", 9), model.ErrNoTopic},
		{"alter", c.AlterTopic(ctx, "orders", set("retention.ms", "1000")), nil},
		{"alter what is not there", c.AlterTopic(ctx, "order", set("retention.ms", "1000")), model.ErrNoTopic},
		{"delete records", deleteRecords(tp, 4), nil},
		{"delete records past the end", deleteRecords(tp, 400), model.ErrOutOfRange},
		{"delete records of no topic", deleteRecords(model.TopicPartition{Topic: "order"}, 1), model.ErrNoTopic},
		{"delete", c.DeleteTopic(ctx, "usual"), nil},
		{"delete what is not there", c.DeleteTopic(ctx, "order"), model.ErrNoTopic},
	} {
		if !errors.Is(step.err, step.want) || (step.err == nil) != (step.want == nil) {
			t.Errorf("%s: %v, want %v", step.name, step.err, step.want)
		}
		if errors.Is(step.want, model.ErrNoTopic) && !strings.Contains(step.err.Error(), "did you mean orders?") {
			t.Errorf("%s: %v does not name what is near", step.name, step.err)
		}
	}
	if start, err := c.DeleteRecords(ctx, tp, model.FromEnd); err != nil || start != 9 {
		t.Errorf("delete all: %d, %v", start, err)
	}
	all, err := c.SetConfigs(ctx, nil)
	if err != nil || all["orders"]["retention.ms"] != "1000" || all["new"]["retention.ms"] != "60000" {
		t.Errorf("configs: %v, %v", all, err)
	}
	if err := c.AlterTopic(ctx, "orders", []model.ConfigChange{{Name: "retention.ms", Unset: true}}); err != nil {
		t.Error(err)
	}
	es, err := c.TopicConfig(ctx, "orders")
	i := slices.IndexFunc(es, func(e model.ConfigEntry) bool { return e.Name == "retention.ms" })
	if err != nil || i < 0 || es[i].Source == "topic" || es[i].Value == "1000" {
		t.Errorf("configs after unset: %v, %v", es, err)
	}
}

func TestProduceSaysWhereEachRecordWent(t *testing.T) {
	_, c := cluster(t, 3, "orders")
	ctx := t.Context()
	for name, tc := range map[string]struct {
		r     model.ProduceRequest
		wants func(i int, p model.Produced) bool
	}{
		"named partitions": {
			model.ProduceRequest{Acks: -1, Records: values(30, func(i int) int32 { return int32(i % 3) })},
			func(i int, p model.Produced) bool { return p.Partition == int32(i%3) && p.Offset >= 0 },
		},
		"the leader alone": {
			model.ProduceRequest{Acks: 1, Records: values(3, to(1)), Codec: "zstd"},
			func(_ int, p model.Produced) bool { return p.Partition == 1 && p.Offset >= 0 },
		},
		"nobody asked": {
			model.ProduceRequest{Acks: 0, Records: values(3, to(1)), Codec: "lz4"},
			func(_ int, p model.Produced) bool { return p.Partition == 1 && p.Offset == model.Unknown },
		},
		"in turn": {
			model.ProduceRequest{Acks: -1, Records: values(6, to(-1)), Partitioner: "roundrobin"},
			func(i int, p model.Produced) bool { return p.Partition == int32(i%3) },
		},
		"by chance": {
			model.ProduceRequest{Acks: -1, Records: values(6, to(-1)), Partitioner: "random"},
			func(_ int, p model.Produced) bool { return p.Partition >= 0 && p.Partition < 3 },
		},
		"by key, as Java": {
			model.ProduceRequest{Acks: -1, Records: []model.ProduceRecord{{Key: []byte("a"), Partition: -1}, {Key: []byte("a"), Partition: -1}}},
			func(_ int, p model.Produced) bool { return p.Partition == 1 }, // as murmur2 says
		},
		"a time of its own": {
			model.ProduceRequest{Acks: -1, Records: []model.ProduceRecord{{Timestamp: 1234, Partition: 2}}},
			func(_ int, p model.Produced) bool { return p.Timestamp == 1234 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.r.Topic = "orders"
			where, err := c.Produce(ctx, tc.r)
			if err != nil || len(where) != len(tc.r.Records) {
				t.Fatalf("%v, %v", where, err)
			}
			last := map[int32]int64{}
			for i, p := range where {
				if !tc.wants(i, p) {
					t.Errorf("record %d: %+v", i, p)
				}
				if before, ok := last[p.Partition]; ok && p.Offset >= 0 && p.Offset <= before {
					t.Errorf("record %d at %d, after one at %d", i, p.Offset, before)
				}
				last[p.Partition] = p.Offset
			}
		})
	}
}

func TestProduceRefusals(t *testing.T) {
	_, c := cluster(t, 2, "orders")
	one := func(topic string, r model.ProduceRecord) model.ProduceRequest {
		return model.ProduceRequest{Topic: topic, Acks: -1, Records: []model.ProduceRecord{r}}
	}
	large := one("orders", model.ProduceRecord{Partition: 0, Value: make([]byte, 2<<20)})
	odd, acks, way := one("orders", model.ProduceRecord{}), one("orders", model.ProduceRecord{}), one("orders", model.ProduceRecord{})
	odd.Codec, acks.Acks, way.Partitioner = "zip", 2, "alphabet"
	for name, tc := range map[string]struct {
		r    model.ProduceRequest
		want error
	}{
		"no such topic":            {one("order", model.ProduceRecord{Partition: -1}), model.ErrNoTopic},
		"no such topic, partition": {one("order", model.ProduceRecord{Partition: 1}), model.ErrNoTopic},
		"no such partition":        {one("orders", model.ProduceRecord{Partition: 2}), model.ErrNoPartition},
		"too large":                {large, model.ErrRefused},
		"codec":                    {odd, model.ErrInvalid},
		"acks":                     {acks, model.ErrInvalid},
		"partitioner":              {way, model.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			if where, err := c.Produce(t.Context(), tc.r); !errors.Is(err, tc.want) || len(where) > 0 && where[0].Offset != model.Unknown {
				t.Errorf("%v, %v, want %v", where, err, tc.want)
			}
		})
	}
}

// join makes a member, which leaves with the test where it has not before.
func join(t *testing.T, c *Client, r model.JoinRequest) *Member {
	t.Helper()
	r.Earliest = true
	r.Trouble = func(err error) { t.Log("trouble:", err) }
	m, err := c.JoinGroup(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// next returns so many records, without committing them.
func next(t *testing.T, m *Member, n int) []model.Record {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), 30*time.Second)
	defer done()
	var all []model.Record
	for len(all) < n {
		rs, err := m.Next(ctx)
		if err != nil {
			t.Fatalf("after %d of %d records: %v", len(all), n, err)
		}
		all = append(all, rs...)
	}
	return all
}

func leave(t *testing.T, m *Member) {
	t.Helper()
	if err := m.Leave(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// TestWhatWasDoneIsCommitted and nothing else: the next member begins behind it.
func TestWhatWasDoneIsCommitted(t *testing.T) {
	_, c := cluster(t, 1, "orders")
	rs := values(10, to(0))
	rs[3].Key, rs[3].Value, rs[3].Headers = []byte{}, nil, []model.Header{{Name: "h", Value: []byte("1")}, {Name: "h"}}
	if _, err := c.Produce(t.Context(), model.ProduceRequest{Topic: "orders", Records: rs, Acks: -1}); err != nil {
		t.Fatal(err)
	}
	r := model.JoinRequest{Group: "g", Topics: []string{"orders"}}
	m := join(t, c, r)
	got := next(t, m, 10)
	if err := m.Commit(t.Context(), got[:4]); err != nil {
		t.Error(err)
	}
	leave(t, m)
	if k := got[3]; k.Offset != 3 || k.Key == nil || k.Value != nil || len(k.Headers) != 2 || k.Headers[1].Value != nil || string(k.Headers[0].Value) != "1" || k.Batch != model.Unknown {
		t.Errorf("record 3: %+v", k)
	}
	m = join(t, c, r)
	got = next(t, m, 6)
	if got[0].Offset != 4 || len(got) != 6 {
		t.Errorf("the next member begins at %d with %d records, want 6 from 4", got[0].Offset, len(got))
	}
	leave(t, m)
}

func TestMembersMoveTheirPartitions(t *testing.T) {
	_, c := cluster(t, 4, "orders")
	moved := make(chan string, 100)
	r := model.JoinRequest{Group: "g", Topics: []string{"orders"}, Moved: func(now []model.TopicPartition) { moved <- fmt.Sprint(len(now)) }}
	wait := func(want string) {
		t.Helper()
		for deadline := time.After(30 * time.Second); ; {
			select {
			case got := <-moved:
				if got == want {
					return
				}
			case <-deadline:
				t.Fatalf("never had %s partitions", want)
			}
		}
	}
	// Rebalances go on while the member waits for records.
	poll := func(m *Member) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			_, _ = m.Next(ctx)
		}()
		return func() { cancel(); <-over }
	}
	a := join(t, c, r)
	stopA := poll(a)
	wait("4")
	r.Moved = nil
	b := join(t, c, r)
	stopB := poll(b)
	wait("2")
	stopB()
	leave(t, b)
	wait("4")
	stopA()
	leave(t, a)
	wait("0")
}

func TestJoinRefusals(t *testing.T) {
	_, c := cluster(t, 1, "orders")
	if _, err := c.JoinGroup(t.Context(), model.JoinRequest{Group: "g", Topics: []string{"orders"}, Protocol: "gossip"}); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("protocol: %v", err)
	}
	m := join(t, c, model.JoinRequest{Group: "g", Topics: []string{"orders"}})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := m.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	leave(t, m)
}

func TestSoftwareVersion(t *testing.T) {
	for in, want := range map[string]string{"v1.2.3": "v1.2.3", "(devel)": "devel", "": "devel", "v0.0.0-2026+dirty": "v0.0.0-2026.dirty", "--": "devel", "1-": "1"} {
		if got := softwareVersion(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if _, err := kgo.NewClient(kgo.SoftwareNameAndVersion("strata", softwareVersion("v0.0.0-2026+dirty (x)"))); err != nil {
		t.Error(err)
	}
}
