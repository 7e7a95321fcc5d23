package coordinator

import (
	"fmt"
	"testing"
	"time"

	"github.com/strata-kafka/strata/groups/assign"
)

// BenchmarkConsumerBeat is a heartbeat that says nothing new, in a group of 1,000 members with 10,000 partitions; a step is
// one that changes what its member has, with its record.
func BenchmarkConsumerBeat(b *testing.B) {
	topics := newFakeTopics()
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("topic-%02d", i))
		topics.set(names[i], 100)
	}
	o := ConsumerOptions{}.withDefaults()
	now := time.Unix(1e9, 0)
	g := newConsumerGroup("g", 0)
	epochs := make([]int32, 1000)
	beat := func(i int) ConsumerBeaten {
		r := ConsumerBeat{Version: 1, Group: "g", Member: fmt.Sprintf("member-%04d", i), Epoch: epochs[i], Rebalance: -1, Client: "client", Host: "/127.0.0.1"}
		if epochs[i] == 0 {
			r.Rebalance, r.Topics, r.Owned = 5*time.Minute, names, assign.Assignment{}
		} else if m := g.members[r.Member]; m.state == memberUnrevoked {
			r.Owned = m.current
		}
		out, _ := g.beat(&r, o, topics, now)
		if out.Code != 0 {
			b.Fatalf("%+v", out)
		}
		epochs[i] = out.Epoch
		return out
	}
	begin := time.Now()
	for i := range epochs {
		beat(i)
	}
	b.Logf("1,000 joins: %v", time.Since(begin))
	for range 3 {
		for i := range epochs {
			beat(i)
		}
	}
	if s := g.state(); s != "Stable" {
		b.Fatalf("the group is %s", s)
	}
	record := encodeConsumer(g)
	b.Run("nothing new", func(b *testing.B) {
		b.ReportMetric(float64(len(record)), "record-bytes")
		for i := 0; b.Loop(); i++ {
			beat(i % 1000)
		}
	})
	b.Run("record", func(b *testing.B) {
		for b.Loop() {
			encodeConsumer(g)
		}
	})
	b.Run("live", func(b *testing.B) {
		for b.Loop() {
			g.live("uniform")
		}
	})
	b.Run("join", func(b *testing.B) {
		for b.Loop() {
			g.remove(g.members["member-0500"])
			epochs[500] = 0
			beat(500)
		}
	})
}
