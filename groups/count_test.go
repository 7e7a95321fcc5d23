package groups

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

func newCounter(logs Logs) *counter {
	return &counter{logs: logs, ttl: time.Hour, now: clockAt(0).now, byTP: map[model.TopicPartition]*anchors{}}
}

// TestCountsRememberedAreTheCountsThemselves asks at random, while the log grows and loses its front, and compares.
func TestCountsRememberedAreTheCountsThemselves(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	logs := (&fakeLogs{}).fill("t", 1, 0, 5000)
	tp := at("t", 0)
	for o := int64(0); o < 5000; o += 1 + rnd.Int64N(6) {
		logs.control("t", 0, o)
	}
	log := logs.logs[tp]
	log.end = 100
	c := newCounter(logs)
	for i := range 3000 {
		log.end = min(5000, log.end+rnd.Int64N(4))
		if i%50 == 49 {
			log.start = min(log.end, log.start+rnd.Int64N(80))
		}
		from := log.start + rnd.Int64N(log.end-log.start+1)
		to := from + rnd.Int64N(log.end-from+1)
		if rnd.IntN(2) == 0 {
			to = log.end
		}
		want, _ := logs.CountBetween(t.Context(), tp, from, to)
		if got, err := c.between(t.Context(), tp, from, to, log.start, log.end); err != nil || got != want {
			t.Fatalf("turn %d: [%d, %d) of [%d, %d): %v, %v; want %v", i, from, to, log.start, log.end, got, err, want)
		}
		if got, ok := c.cached(tp, from, to, log.start, log.end); ok && got != want {
			t.Fatalf("turn %d: cached %v, want %v", i, got, want)
		}
	}
	if n := len(c.byTP[tp].offs); n > maxAnchors+2 {
		t.Errorf("%d sums are remembered, at most %d should be", n, maxAnchors)
	}
}

func TestListingAgainCountsOnlyWhatIsNew(t *testing.T) {
	logs := (&fakeLogs{}).fill("t", 1, 0, 10_000)
	log := logs.logs[at("t", 0)]
	log.end = 9000
	s := newService(t, logs, clockAt(0))
	for g := range 100 {
		commit(t, s, string(rune('a'+g/26))+string(rune('a'+g%26)), offset("t", 0, int64(g*90)))
	}
	list := func() int64 {
		logs.counted.Store(0)
		gs, err := s.Groups(t.Context())
		if err != nil || len(gs) != 100 {
			t.Fatal(len(gs), err)
		}
		for g, got := range gs {
			if want := model.Exactly(log.end - int64(g*90)); got.Lag != want {
				t.Fatalf("group %d: lag %v, want %v", g, got.Lag, want)
			}
		}
		return logs.counted.Load()
	}
	if n := list(); n > 2*9000 {
		t.Errorf("100 groups on one log of 9,000 offsets counted %d", n)
	}
	if n := list(); n != 0 {
		t.Errorf("nothing has changed, %d offsets were counted again", n)
	}
	log.end += 10
	if n := list(); n != 10 {
		t.Errorf("10 records came, %d offsets were counted", n)
	}
}

func TestOldCountsAreNotBelieved(t *testing.T) {
	logs := (&fakeLogs{}).fill("t", 1, 0, 100)
	c := clockAt(0)
	k := newCounter(logs)
	k.ttl, k.now = time.Minute, c.now
	count := func() int64 {
		n, err := k.between(t.Context(), at("t", 0), 10, 100, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		return n.N
	}
	if n := count(); n != 90 {
		t.Fatalf("counted %d", n)
	}
	logs.hole("t", 0, 20, 21, 22) // compaction: no end has moved
	c.ms.Store(59_000)
	if n := count(); n != 90 {
		t.Errorf("counted %d again within the time", n)
	}
	c.ms.Store(61_000)
	if n := count(); n != 87 {
		t.Errorf("counted %d after the time, want 87", n)
	}
}

func TestEstimatesAreNotRemembered(t *testing.T) {
	logs := (&fakeLogs{about: true}).fill("t", 1, 0, 100)
	c := newCounter(logs)
	if n, err := c.between(t.Context(), at("t", 0), 10, 100, 0, 100); err != nil || n != model.About(90) {
		t.Errorf("%v, %v", n, err)
	}
	logs.about = false
	if n, err := c.between(t.Context(), at("t", 0), 10, 100, 0, 100); err != nil || n != model.Exactly(90) {
		t.Errorf("once it can be counted: %v, %v", n, err)
	}
}

func TestCounterIsBounded(t *testing.T) {
	logs := (&fakeLogs{}).fill("t", 1, 0, 10)
	c := newCounter(logs)
	c.total = maxRemembers - 1
	for range 3 {
		if n, err := c.between(t.Context(), at("t", 0), 2, 10, 0, 10); err != nil || n != model.Exactly(8) {
			t.Fatalf("%v, %v", n, err)
		}
	}
	if c.total > maxRemembers {
		t.Errorf("%d remembered, at most %d", c.total, maxRemembers)
	}
}
