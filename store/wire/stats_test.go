package wire

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// TestClients holds what is told of connections and APIs against what clients did.
func TestClients(t *testing.T) {
	c := startCore(t, Options{}, set("t", 1))
	first := c.dial()
	hello := kmsg.NewPtrApiVersionsRequest()
	hello.ClientSoftwareName, hello.ClientSoftwareVersion = "tester-lib", "1.2.3"
	first.ask(hello, 3)
	sent := frameOf(hello, 3, 0)
	batch := batchOf(t, record.Spec{HasProducer: true, ProducerID: 5}, "v")
	first.ask(produceOf("t", -1, map[int32][]byte{0: batch}), 9)
	first.ask(produceOf("none", -1, map[int32][]byte{0: batch}), 9)
	c.await(func() bool { return c.served(kmsg.Produce) == 2 })
	silent := c.dial()
	c.await(func() bool { return c.connections() == 2 })

	c.sample(time.Second, false)
	list, err := c.Clients(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list[0].Address != first.nc.LocalAddr().String() {
		slices.Reverse(list) // both came in the same millisecond
	}
	got := list[0]
	if got.ID != "tester" || got.Software != "tester-lib" || got.Version != "1.2.3" || got.Acks != "all" || !got.Idempotent || got.Transactional != "" {
		t.Errorf("who it is: %+v", got)
	}
	if got.Requests != 3 || got.Errors != 1 || got.LastAPI != "Produce" || got.LastAt < got.Since || got.In < int64(len(sent)+len(batch)) || got.Out < 100 {
		t.Errorf("what it did: %+v", got)
	}
	if got.RequestRate != 3 || got.InRate != float64(got.In) || got.OutRate != float64(got.Out) {
		t.Errorf("rates: %+v", got)
	}
	if s := list[1]; s.Address != silent.nc.LocalAddr().String() || s.Requests != 0 || s.LastAPI != "" || s.Acks != "" {
		t.Errorf("the silent one: %+v", s)
	}

	apis, err := c.APIs(t.Context())
	if err != nil || len(apis) != 2 {
		t.Fatalf("%+v, %v", apis, err)
	}
	if p := apis[0]; p.Name != "Produce" || p.Key != 0 || p.Count != 2 || p.Errors != 1 || p.Rate != 2 || p.P50 <= 0 || p.P99 < p.P50 || p.P99 > patience {
		t.Errorf("got %+v", p)
	}
	if v := apis[1]; v.Name != "ApiVersions" || v.Count != 1 || v.Errors != 0 {
		t.Errorf("got %+v", v)
	}
}

// TestMemberships holds which groups a connection is told to belong to.
func TestMemberships(t *testing.T) {
	all := apis()
	all[kmsg.JoinGroup] = api{min: 0, max: 9, waits: true, handle: func(_ *Server, c *call) (reply, error) {
		r := c.req.ResponseKind().(*kmsg.JoinGroupResponse)
		if c.req.(*kmsg.JoinGroupRequest).Group == "" {
			r.ErrorCode = 24
		}
		return r, nil
	}}
	c := startAPIs(t, all, Options{})
	cl := c.dial()
	for _, group := range []string{"b", "a", "", "b"} {
		req := kmsg.NewPtrJoinGroupRequest()
		req.Group = group
		cl.ask(req, 4)
	}
	c.await(func() bool { return c.served(kmsg.JoinGroup) == 4 })
	cl.ask(kmsg.NewPtrMetadataRequest(), 9)
	list, err := c.Clients(t.Context())
	if err != nil || !slices.Equal(list[0].Groups, []string{"a", "b"}) {
		t.Errorf("groups %v, %v", list[0].Groups, err)
	}
	stats, err := c.APIs(t.Context())
	if i := slices.IndexFunc(stats, func(a model.APIStat) bool { return a.Name == "JoinGroup" }); err != nil || stats[i].P99 != 0 || stats[i].Errors != 1 {
		t.Errorf("what waits has a time: %+v, %v", stats, err)
	}
}

// TestRates holds that a rate follows its counter, and comes to nothing.
func TestRates(t *testing.T) {
	var r rate
	r.sample(100, time.Second)
	if r.perSec != 100 {
		t.Errorf("%v after 100 in a second", r.perSec)
	}
	r.sample(100+2*200, 2*time.Second)
	if want := 100 + smooth*100; r.perSec != want {
		t.Errorf("%v after 200 a second, want %v", r.perSec, want)
	}
	for range 60 {
		r.sample(500, time.Second)
	}
	if r.perSec != 0 {
		t.Errorf("%v after a minute of silence", r.perSec)
	}
}

// TestQuantiles holds the buckets: each duration lies below its bucket's end, and no more than a quarter below.
func TestQuantiles(t *testing.T) {
	for d := time.Duration(0); d < 10*time.Hour; d = d*9/8 + 300 {
		i := bucketOf(d)
		if end := bucketEnd(i); i < 4*36-1 && (end <= d || end > d+d/4+time.Microsecond) {
			t.Fatalf("%v in bucket %d, which ends at %v", d, i, end)
		}
		if d > 0 && i < bucketOf(d-1) {
			t.Fatalf("bucket of %v is below the one before", d)
		}
	}
	var hs [2]histogram
	if p50, p99 := quantiles(&hs); p50 != 0 || p99 != 0 {
		t.Errorf("of nothing: %v, %v", p50, p99)
	}
	for i := range 100 {
		hs[i%2].buckets[bucketOf(time.Duration(i+1)*time.Millisecond)].Add(1)
	}
	p50, p99 := quantiles(&hs)
	if p50 < 50*time.Millisecond || p50 > 63*time.Millisecond || p99 < 99*time.Millisecond || p99 > 124*time.Millisecond {
		t.Errorf("of 1 to 100 ms: p50 %v, p99 %v", p50, p99)
	}
	hs[0].clear()
	hs[1].clear()
	if p50, p99 = quantiles(&hs); p50 != 0 || p99 != 0 {
		t.Errorf("after clearing: %v, %v", p50, p99)
	}
}

// TestTurn holds that times older than two turns are forgotten.
func TestTurn(t *testing.T) {
	c := startCore(t, Options{})
	c.stats.served(kmsg.Metadata, time.Millisecond, false)
	for turn := range 3 {
		list, err := c.APIs(t.Context())
		if err != nil || (list[0].P50 > 0) != (turn < 2) {
			t.Errorf("turn %d: %+v, %v", turn, list, err)
		}
		c.sample(time.Second, true)
	}
}
