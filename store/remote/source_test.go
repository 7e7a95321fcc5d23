package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// open opens a fake cluster of three brokers with topics of some partitions as a source.
func open(t *testing.T, o Options, partitions int32, topics ...string) (*kfake.Cluster, *Cluster) {
	t.Helper()
	f, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(partitions, topics...), kfake.ClusterID("fake"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f, reach(t, f, o)
}

func reach(t *testing.T, f *kfake.Cluster, o Options) *Cluster {
	t.Helper()
	c, err := OpenCluster(t.Context(), f.ListenAddrs(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// put produces n records of a partition, v0 to v(n-1), in batches of ten.
func put(t *testing.T, c *Cluster, tp model.TopicPartition, n int) {
	t.Helper()
	for i := 0; i < n; i += 10 {
		var rs []model.ProduceRecord
		for j := i; j < min(i+10, n); j++ {
			rs = append(rs, model.ProduceRecord{Partition: tp.Partition, Key: fmt.Appendf(nil, "k%d", j%7), Value: fmt.Appendf(nil, "v%d", j)})
		}
		if _, err := c.Produce(t.Context(), model.ProduceRequest{Topic: tp.Topic, Records: rs, Acks: -1}); err != nil {
			t.Fatal(err)
		}
	}
}

// transact produces n records in a transaction, which it commits or aborts.
func transact(t *testing.T, f *kfake.Cluster, tp model.TopicPartition, n int, commit bool, value string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(f.ListenAddrs()...), kgo.TransactionalID("t"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		cl.Produce(t.Context(), &kgo.Record{Topic: tp.Topic, Partition: tp.Partition, Value: fmt.Appendf(nil, "%s%d", value, i)}, nil)
	}
	if err := cl.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cl.EndTransaction(t.Context(), kgo.TransactionEndTry(commit)); err != nil {
		t.Fatal(err)
	}
}

// hang begins a transaction that stays open until the test ends.
func hang(t *testing.T, f *kfake.Cluster, tp model.TopicPartition, n int) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(f.ListenAddrs()...), kgo.TransactionalID("open"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		cl.Produce(t.Context(), &kgo.Record{Topic: tp.Topic, Partition: tp.Partition, Value: fmt.Appendf(nil, "open%d", i)}, nil)
	}
	if err := cl.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// until takes changes until one passes.
func until(t *testing.T, c *Cluster, what string, pass func(model.Change) bool) {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
	defer done()
	for {
		select {
		case ch := <-c.Changes():
			if pass(ch) {
				return
			}
		case <-ctx.Done():
			t.Fatalf("no change: %s", what)
		}
	}
}

func TestTopicsComeAtOnceAndOffsetsBehind(t *testing.T) {
	f, c := open(t, Options{}, 4, "orders", "events")
	put(t, c, model.TopicPartition{Topic: "orders", Partition: 1}, 25)
	var mu sync.Mutex
	asked := map[int16]int{}
	f.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		mu.Lock()
		asked[r.Key()]++
		mu.Unlock()
		return nil, nil, false
	})
	ts, err := c.Topics(t.Context())
	if err != nil || len(ts) != 2 || ts[0].Name != "events" || ts[1].Partitions != 4 || ts[1].ID == "" || ts[1].Replicas == 0 {
		t.Fatalf("topics: %+v, %v", ts, err)
	}
	if ts[1].Records.Known() || ts[1].Bytes != model.Unknown {
		t.Errorf("figures before anybody looked: %+v", ts[1])
	}
	mu.Lock()
	for key, n := range asked {
		if key != 18 {
			t.Errorf("listing the topics sent %d requests %s", n, kmsg.NameForKey(key))
		}
	}
	mu.Unlock()
	c.Focus([]string{"orders"})
	until(t, c, "the offsets of orders", func(model.Change) bool {
		ts, err := c.Topics(t.Context())
		return err == nil && ts[1].Records == model.About(25)
	})
	if ts, _ := c.Topics(t.Context()); ts[0].Records.Known() {
		t.Errorf("events is not on screen, and was asked for: %+v", ts[0])
	}
	c.Focus(nil)
	info, err := c.Info(t.Context())
	if err != nil || info.Kind != model.Cluster || info.State != "3 brokers" || info.ReadOnly {
		t.Errorf("info: %+v, %v", info, err)
	}
}

func TestPartitionsTellTheirOffsets(t *testing.T) {
	f, c := open(t, Options{}, 3, "orders")
	tp := model.TopicPartition{Topic: "orders", Partition: 2}
	put(t, c, tp, 30)
	transact(t, f, tp, 4, true, "t")
	hang(t, f, tp, 3)
	if _, err := c.DeleteRecords(t.Context(), tp, 5); err != nil {
		t.Fatal(err)
	}
	ps, err := c.Partitions(t.Context(), "orders")
	if err != nil || len(ps) != 3 {
		t.Fatal(ps, err)
	}
	p := ps[2]
	if p.LogStart != 5 || p.HighWatermark != 38 || p.LastStable != 35 || p.LogEnd != 38 || p.Records != model.About(33) || p.Leader < 0 || len(p.ISR) == 0 {
		t.Errorf("%+v", p)
	}
	if ps[0].Records != model.Exactly(0) || ps[0].LogEnd != 0 {
		t.Errorf("an empty one: %+v", ps[0])
	}
	if err := c.Count(t.Context(), []string{"orders"}); err != nil {
		t.Fatal(err)
	}
	if ps, err = c.Partitions(t.Context(), "orders"); err != nil || ps[2].Records != model.Exactly(32) {
		t.Errorf("counted: %+v, %v", ps[2].Records, err)
	}
	if _, err := c.Partitions(t.Context(), "order"); !errors.Is(err, model.ErrNoTopic) || !strings.Contains(err.Error(), "orders") {
		t.Errorf("no topic: %v", err)
	}
}

func TestWhatAPartitionDoesNotAnswerIsInItsRow(t *testing.T) {
	f, c := open(t, Options{}, 3, "orders", "secret")
	f.ControlKey(int16(kmsg.ListOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		req := r.(*kmsg.ListOffsetsRequest)
		if len(req.Topics) == 0 || req.Topics[0].Topic != "secret" {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		for _, t := range req.Topics {
			rt := kmsg.NewListOffsetsResponseTopic()
			rt.Topic = t.Topic
			for _, p := range t.Partitions {
				rp := kmsg.NewListOffsetsResponseTopicPartition()
				rp.Partition, rp.Offset, rp.ErrorCode = p.Partition, -1, kerr.TopicAuthorizationFailed.Code
				rt.Partitions = append(rt.Partitions, rp)
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp, nil, true
	})
	ps, err := c.Partitions(t.Context(), "secret")
	if err != nil || len(ps) != 3 || ps[0].Err == nil || !strings.Contains(ps[0].Err.Error(), "TOPIC_AUTHORIZATION_FAILED") || ps[0].Records.Known() {
		t.Fatalf("%+v, %v", ps, err)
	}
	if ps, err := c.Partitions(t.Context(), "orders"); err != nil || ps[0].Err != nil || ps[0].LogEnd != 0 {
		t.Errorf("the other topic: %+v, %v", ps, err)
	}
	ts, err := c.Topics(t.Context())
	if err != nil || !strings.Contains(ts[1].Note, "3 partitions not readable: TOPIC_AUTHORIZATION_FAILED") || ts[0].Note != "" {
		t.Errorf("%+v, %v", ts, err)
	}
}

func TestABrokerDiesAndItsPartitionsSaySo(t *testing.T) {
	f, c := open(t, Options{Timeout: 3 * time.Second, DialTimeout: time.Second}, 6, "orders")
	for p := range int32(6) {
		put(t, c, model.TopicPartition{Topic: "orders", Partition: p}, 10)
	}
	lead := f.LeaderFor("orders", 0)
	f.ControlKey(int16(kmsg.ListOffsets), func(kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		if f.CurrentNode() == lead {
			return nil, errors.New("it died"), true
		}
		return nil, nil, false
	})
	ps, err := c.Partitions(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ps {
		dead := f.LeaderFor("orders", p.Partition) == lead
		if dead != (p.Err != nil) || !dead && p.LogEnd != 10 || dead && !strings.Contains(p.Err.Error(), fmt.Sprintf("broker %d", lead)) {
			t.Errorf("%s: end %d, %v; its leader is dead: %t", p.TopicPartition, p.LogEnd, p.Err, dead)
		}
	}
}

func TestALeaderMovesUnderTheReader(t *testing.T) {
	f, c := open(t, Options{}, 1, "orders")
	tp := model.TopicPartition{Topic: "orders"}
	put(t, c, tp, 20)
	for range 3 {
		if err := f.MoveTopicPartition("orders", 0, (f.LeaderFor("orders", 0)+1)%3); err != nil {
			t.Fatal(err)
		}
		page, err := c.Records(t.Context(), model.RecordQuery{TP: tp})
		if err != nil || len(page.Records) != 20 || len(page.Faults) != 0 {
			t.Fatalf("%d records, %v, %v", len(page.Records), page.Faults, err)
		}
		if ps, err := c.Partitions(t.Context(), "orders"); err != nil || ps[0].Err != nil || ps[0].Leader != f.LeaderFor("orders", 0) {
			t.Errorf("%+v, %v", ps, err)
		}
	}
}

func TestATopicIsDeletedAndMadeAnew(t *testing.T) {
	f, c := open(t, Options{}, 1, "orders", "other")
	tp := model.TopicPartition{Topic: "orders"}
	put(t, c, tp, 20)
	if _, err := c.Partitions(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	was := c.current().topics["orders"].id
	if err := f.DeleteTopic("orders"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Records(t.Context(), model.RecordQuery{TP: tp}); !errors.Is(err, model.ErrNoTopic) {
		t.Errorf("deleted: %v", err)
	}
	if err := f.CreateTopic("orders", 1, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(t, c, tp, 3)
	page, err := c.Records(t.Context(), model.RecordQuery{TP: tp, From: 15})
	if err != nil || page.End != 3 || len(page.Records) != 0 || !page.AtEnd {
		t.Errorf("made anew: %+v, %v", page, err)
	}
	if c.current().topics["orders"].id == was {
		t.Error("the id is the old one")
	}
}

func TestTopicsAreMadeAndSeenAtOnce(t *testing.T) {
	_, c := open(t, Options{}, 1, "orders")
	ctx := t.Context()
	names := func() string {
		ts, err := c.Topics(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var s []string
		for _, x := range ts {
			s = append(s, fmt.Sprintf("%s:%d", x.Name, x.Partitions))
		}
		return strings.Join(s, " ")
	}
	if err := c.CreateTopic(ctx, model.TopicSpec{Name: "new", Partitions: 2}); err != nil || names() != "new:2 orders:1" {
		t.Error(names(), err)
	}
	if err := c.GrowTopic(ctx, "new", 5); err != nil || names() != "new:5 orders:1" {
		t.Error(names(), err)
	}
	if err := c.DeleteTopic(ctx, "new"); err != nil || names() != "orders:1" {
		t.Error(names(), err)
	}
}

func TestPreviews(t *testing.T) {
	_, c := open(t, Options{}, 2, "orders")
	ctx := t.Context()
	tp := model.TopicPartition{Topic: "orders", Partition: 1}
	old := []model.ProduceRecord{{Partition: 1, Value: []byte("old"), Timestamp: time.Now().Add(-48 * time.Hour).UnixMilli()}, {Partition: 1, Value: []byte("new")}}
	for _, r := range old {
		if _, err := c.Produce(ctx, model.ProduceRequest{Topic: "orders", Records: []model.ProduceRecord{r}, Acks: -1}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := c.PreviewDelete(ctx, tp, model.FromEnd)
	if err != nil || p.Records != model.Exactly(2) || len(p.Now) != 1 || p.Now[0].Last != 1 || !p.Runs {
		t.Errorf("delete all: %+v, %v", p, err)
	}
	if _, err := c.PreviewDelete(ctx, tp, 100); !errors.Is(err, model.ErrOutOfRange) {
		t.Error(err)
	}
	p, err = c.PreviewAlter(ctx, "orders", []model.ConfigChange{{Name: "retention.ms", Value: "3600000"}})
	if err != nil || p.Records != model.Exactly(1) || len(p.Now) != 1 || p.Now[0].TopicPartition != tp {
		t.Errorf("one hour: %+v, %v", p, err)
	}
	if p, err = c.PreviewAlter(ctx, "orders", []model.ConfigChange{{Name: "retention.ms", Value: "-1"}}); err != nil || len(p.Now) != 0 {
		t.Errorf("for ever: %+v, %v", p, err)
	}
	if _, err = c.PreviewAlter(ctx, "orders", []model.ConfigChange{{Name: "retention", Value: "1"}}); !errors.Is(err, model.ErrInvalid) {
		t.Error(err)
	}
}

func TestTransactionsAreRead(t *testing.T) {
	f, c := open(t, Options{}, 1, "orders")
	tp := model.TopicPartition{Topic: "orders"}
	transact(t, f, tp, 2, true, "a")
	hang(t, f, tp, 2)
	ts, err := c.Transactions(t.Context())
	if err != nil || len(ts) != 2 || ts[0].ID != "open" || ts[0].State != model.TxnOngoing || len(ts[0].Partitions) != 1 || ts[1].State.Open() {
		t.Fatalf("%+v, %v", ts, err)
	}
	ps, err := c.Producers(t.Context(), tp)
	if err != nil || len(ps) == 0 {
		t.Fatalf("%+v, %v", ps, err)
	}
	if _, err := c.Producers(t.Context(), model.TopicPartition{Topic: "orders", Partition: 9}); !errors.Is(err, model.ErrNoPartition) {
		t.Error(err)
	}
}

func TestGroupsOfACluster(t *testing.T) {
	f, c := open(t, Options{}, 2, "orders")
	ctx := t.Context()
	tp := model.TopicPartition{Topic: "orders"}
	put(t, c, tp, 20)
	transact(t, f, tp, 5, false, "gone")
	if err := c.Commit(ctx, "billing", []model.Commit{{TopicPartition: tp, Offset: 12, LeaderEpoch: -1}}); err != nil {
		t.Fatal(err)
	}
	gs, err := c.Groups(ctx)
	if err != nil || len(gs) != 1 || gs[0].ID != "billing" || len(gs[0].Offsets) != 1 {
		t.Fatalf("%+v, %v", gs, err)
	}
	g, err := c.Group(ctx, "billing")
	if err != nil || g.Lag != model.Exactly(13) || g.Offsets[0].LogEnd != 26 {
		t.Fatalf("lag is the records, not the marker: %+v, %v", g, err)
	}
	plan, err := c.PlanReset(ctx, model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToShift, N: -2}})
	if err != nil || plan.Rows[0].To != 10 || string(plan.Rows[0].First.Value) != "v10" || plan.Rows[0].Change != model.Exactly(-2) {
		t.Fatalf("%+v, %v", plan, err)
	}
	if res, err := c.ApplyReset(ctx, plan); err != nil || !res.Rows[0].OK || res.Journal != 0 || c.WhyNoJournal() == "" {
		t.Fatalf("%+v, %v", res, err)
	}
	f.ControlKey(int16(kmsg.OffsetFetch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		req := r.(*kmsg.OffsetFetchRequest)
		resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
		for _, g := range req.Groups {
			rg := kmsg.NewOffsetFetchResponseGroup()
			rg.Group = g.Group
			rt := kmsg.NewOffsetFetchResponseGroupTopic()
			rt.Topic, rt.TopicID = "orders", c.current().topics["orders"].id
			for p, code := range map[int32]int16{0: 0, 1: kerr.UnstableOffsetCommit.Code} {
				rp := kmsg.NewOffsetFetchResponseGroupTopicPartition()
				rp.Partition, rp.Offset, rp.ErrorCode = p, 10, code
				rt.Partitions = append(rt.Partitions, rp)
			}
			rg.Topics = append(rg.Topics, rt)
			resp.Groups = append(resp.Groups, rg)
		}
		return resp, nil, true
	})
	g, err = c.Group(ctx, "billing")
	if err != nil || len(g.Offsets) != 2 || g.Offsets[1].Err == nil || g.Lag.Known() || g.Offsets[0].Lag != model.Exactly(15) {
		t.Fatalf("a partition that does not tell: %+v, %v", g, err)
	}
}

func TestNothingIsSentWhenNothingIsOnScreen(t *testing.T) {
	f, c := open(t, Options{}, 2, "orders")
	c.Focus([]string{"orders"})
	until(t, c, "offsets", func(ch model.Change) bool { return ch.TouchesTopic("orders") })
	c.Focus(nil)
	w := c.watch
	if next := w.round(t.Context()); next != 0 {
		t.Errorf("with nothing in focus the watcher wants to look again in %v", next)
	}
	w.asked(&w.groups)
	if next := w.round(t.Context()); next != everyGroups {
		t.Errorf("with groups on screen it looks again in %v", next)
	}
	_ = f
}

func TestListing40000PartitionsIsOneRequest(t *testing.T) {
	names := make([]string, 4000)
	for i := range names {
		names[i] = fmt.Sprintf("topic-%04d", i)
	}
	f, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(10, names...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	var mu sync.Mutex
	asked := map[int16]int{}
	f.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		mu.Lock()
		asked[r.Key()]++
		mu.Unlock()
		return nil, nil, false
	})
	begin := time.Now()
	c := reach(t, f, Options{})
	ts, err := c.Topics(t.Context())
	took := time.Since(begin)
	if err != nil || len(ts) != 4000 {
		t.Fatal(len(ts), err)
	}
	mu.Lock()
	defer mu.Unlock()
	for key, n := range asked {
		if key != int16(kmsg.ApiVersions) && (key != int16(kmsg.Metadata) || n != 1) {
			t.Errorf("%d requests %s", n, kmsg.NameForKey(key))
		}
	}
	t.Logf("40,000 partitions in %v, requests %v", took, asked)
}

func TestALagIsCountedWhenAskedFor(t *testing.T) {
	c := holey(t, 300, 1000)
	tp := model.TopicPartition{Topic: "state"}
	ctx := t.Context()
	if err := c.Commit(ctx, "billing", []model.Commit{{TopicPartition: tp, Offset: 1500, LeaderEpoch: -1}}); err != nil {
		t.Fatal(err)
	}
	g, err := c.Group(ctx, "billing")
	if err != nil || g.Lag != model.About(300_001-1500) {
		t.Fatalf("%+v, %v", g.Lag, err)
	}
	if err := c.CountLag(ctx, "billing"); err != nil {
		t.Fatal(err)
	}
	if g, err = c.Group(ctx, "billing"); err != nil || g.Lag != model.Exactly(298) {
		t.Errorf("counted: %+v, %v", g.Lag, err)
	}
	if err := c.Commit(ctx, "billing", []model.Commit{{TopicPartition: tp, Offset: 10_500, LeaderEpoch: -1}}); err != nil {
		t.Fatal(err)
	}
	if g, err = c.Group(ctx, "billing"); err != nil || g.Lag != model.Exactly(289) {
		t.Errorf("the group has moved on: %+v, %v", g.Lag, err)
	}
	if err := c.CountLag(ctx, "bill"); !errors.Is(err, model.ErrNoGroup) {
		t.Error(err)
	}
}
