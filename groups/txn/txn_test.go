package txn

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// TestProducerIDs holds that ids begin with 0 and that none is given twice, over a restart either.
func TestProducerIDs(t *testing.T) {
	m := newMemory()
	seen := map[int64]bool{}
	for run := range 3 {
		c := start(t, m, Options{})
		for i := range 2500 {
			p, code := c.InitProducerID(InitRequest{Expected: Producer{123, 4}})
			if code != groups.None || p.Epoch != 0 || seen[p.ID] || run == 0 && p.ID != int64(i) {
				t.Fatalf("run %d, id %d: %+v, code %d", run, i, p, code)
			}
			seen[p.ID] = true
		}
	}
}

func TestProducerIDsAboveThoseOfLogs(t *testing.T) {
	c := start(t, newMemory(), Options{FirstID: func() int64 { return 4711 }})
	if p, _ := c.InitProducerID(InitRequest{Expected: noProducer}); p.ID != 4711 {
		t.Errorf("the first id is %d, want 4711", p.ID)
	}
}

func TestInitProducerID(t *testing.T) {
	type ask struct {
		id       string
		timeout  int64
		expected Producer
		want     Producer
		code     groups.Code
	}
	no := noProducer
	for name, asks := range map[string][]ask{
		"each time a higher epoch": {
			{"a", 60_000, no, Producer{0, 0}, 0}, {"a", 60_000, no, Producer{0, 1}, 0}, {"b", 60_000, no, Producer{1, 0}, 0}, {"a", 1, no, Producer{0, 2}, 0},
		},
		"empty id":             {{"", 60_000, no, no, groups.InvalidRequest}},
		"no time":              {{"a", 0, no, no, groups.InvalidTransactionTimeout}},
		"negative time":        {{"a", -1, no, no, groups.InvalidTransactionTimeout}},
		"the most time":        {{"a", 900_000, no, Producer{0, 0}, 0}},
		"too much time":        {{"a", 900_001, no, no, groups.InvalidTransactionTimeout}},
		"an id without epoch":  {{"a", 60_000, Producer{5, -1}, no, groups.InvalidRequest}},
		"an epoch without id":  {{"a", 60_000, Producer{-1, 3}, no, groups.InvalidRequest}},
		"a new transaction id": {{"a", 60_000, Producer{123, 5}, Producer{0, 0}, 0}},
		"its own epoch":        {{"a", 60_000, no, Producer{0, 0}, 0}, {"a", 60_000, Producer{0, 0}, Producer{0, 1}, 0}},
		"the answer was lost": {
			{"a", 60_000, no, Producer{0, 0}, 0}, {"a", 60_000, Producer{0, 0}, Producer{0, 1}, 0}, {"a", 60_000, Producer{0, 0}, Producer{0, 1}, 0},
		},
		"an old epoch": {
			{"a", 60_000, no, Producer{0, 0}, 0}, {"a", 60_000, no, Producer{0, 1}, 0}, {"a", 60_000, no, Producer{0, 2}, 0},
			{"a", 60_000, Producer{0, 0}, no, groups.ProducerFenced},
		},
		"an epoch to come": {{"a", 60_000, no, Producer{0, 0}, 0}, {"a", 60_000, Producer{0, 9}, no, groups.ProducerFenced}},
		"another's id":     {{"a", 60_000, no, Producer{0, 0}, 0}, {"a", 60_000, Producer{7, 0}, no, groups.ProducerFenced}},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, newMemory(), Options{})
			for i, a := range asks {
				got, code := c.InitProducerID(InitRequest{TransactionalID: a.id, Transactional: true, Timeout: a.timeout, Expected: a.expected})
				if got != a.want || code != a.code {
					t.Errorf("question %d: %+v, code %d; want %+v, code %d", i, got, code, a.want, a.code)
				}
			}
		})
	}
}

// TestSteps asks for steps in every state that a transactional id can be in between two requests.
func TestSteps(t *testing.T) {
	to := map[string]func(t *testing.T, c *Coordinator, p Producer){
		"Empty":          func(*testing.T, *Coordinator, Producer) {},
		"Ongoing":        func(t *testing.T, c *Coordinator, p Producer) { want(t, "add", c.AddPartitions("a", p, tps(0), 1), 0) },
		"CompleteCommit": func(t *testing.T, c *Coordinator, p Producer) { through(t, c, p, true) },
		"CompleteAbort":  func(t *testing.T, c *Coordinator, p Producer) { through(t, c, p, false) },
	}
	end := func(commit, bump bool) func(*Coordinator, Producer) groups.Code {
		return func(c *Coordinator, p Producer) groups.Code { _, code := c.End("a", p, commit, bump); return code }
	}
	asks := map[string]struct {
		ask  func(*Coordinator, Producer) groups.Code
		want map[string]groups.Code // by state
	}{
		"commit":             {end(true, false), map[string]groups.Code{"Empty": 48, "Ongoing": 0, "CompleteCommit": 0, "CompleteAbort": 48}},
		"abort":              {end(false, false), map[string]groups.Code{"Empty": 48, "Ongoing": 0, "CompleteCommit": 48, "CompleteAbort": 0}},
		"commit, version 2":  {end(true, true), map[string]groups.Code{"Empty": 48, "Ongoing": 0, "CompleteCommit": 48, "CompleteAbort": 48}},
		"abort, version 2":   {end(false, true), map[string]groups.Code{"Empty": 0, "Ongoing": 0, "CompleteCommit": 0, "CompleteAbort": 0}},
		"verify":             {verify(9), map[string]groups.Code{"Empty": 48, "Ongoing": 0, "CompleteCommit": 48, "CompleteAbort": 48}},
		"verify, produce 11": {verify(11), map[string]groups.Code{"Empty": 120, "Ongoing": 0, "CompleteCommit": 120, "CompleteAbort": 120}},
		"verify, produce 12": {verify(12), map[string]groups.Code{"Empty": 0, "Ongoing": 0, "CompleteCommit": 0, "CompleteAbort": 0}},
		"offsets": {func(c *Coordinator, p Producer) groups.Code { return c.CommitOffsets("a", p, "g", nil, false) },
			map[string]groups.Code{"Empty": 48, "Ongoing": 48, "CompleteCommit": 48, "CompleteAbort": 48}},
		"offsets, added": {func(c *Coordinator, p Producer) groups.Code { return c.CommitOffsets("a", p, "g", nil, true) },
			map[string]groups.Code{"Empty": 0, "Ongoing": 0, "CompleteCommit": 0, "CompleteAbort": 0}},
		"another partition": {func(c *Coordinator, p Producer) groups.Code { return c.AddPartitions("a", p, tps(0, 1), 1) },
			map[string]groups.Code{"Empty": 0, "Ongoing": 0, "CompleteCommit": 0, "CompleteAbort": 0}},
		"a group": {func(c *Coordinator, p Producer) groups.Code { return c.AddGroup("a", p, "g") },
			map[string]groups.Code{"Empty": 0, "Ongoing": 0, "CompleteCommit": 0, "CompleteAbort": 0}},
		"not its holder's epoch": {func(c *Coordinator, p Producer) groups.Code { p.Epoch++; return c.AddGroup("a", p, "g") },
			map[string]groups.Code{"Empty": 90, "Ongoing": 90, "CompleteCommit": 90, "CompleteAbort": 90}},
		"offsets, another epoch": {func(c *Coordinator, p Producer) groups.Code {
			p.Epoch--
			return c.CommitOffsets("a", p, "g", nil, true)
		},
			map[string]groups.Code{"Empty": 47, "Ongoing": 47, "CompleteCommit": 47, "CompleteAbort": 47}},
		"end, not its holder's epoch": {func(c *Coordinator, p Producer) groups.Code { p.Epoch++; return end(true, false)(c, p) },
			map[string]groups.Code{"Empty": 90, "Ongoing": 90, "CompleteCommit": 90, "CompleteAbort": 90}},
		"not its producer id": {func(c *Coordinator, p Producer) groups.Code { p.ID = 123456; return end(false, true)(c, p) },
			map[string]groups.Code{"Empty": 49, "Ongoing": 49, "CompleteCommit": 49, "CompleteAbort": 49}},
		"nobody's id": {func(c *Coordinator, p Producer) groups.Code { return c.Verify("b", p.ID, p.Epoch, at(5), 9) },
			map[string]groups.Code{"Empty": 49, "Ongoing": 49, "CompleteCommit": 49, "CompleteAbort": 49}},
		"no id": {func(c *Coordinator, p Producer) groups.Code { return c.AddGroup("", p, "g") },
			map[string]groups.Code{"Empty": 42, "Ongoing": 42, "CompleteCommit": 42, "CompleteAbort": 42}},
	}
	for name, tc := range asks {
		for in, code := range tc.want {
			t.Run(name+" in "+in, func(t *testing.T) {
				c := start(t, newMemory(), Options{})
				p := begin(t, c, "a")
				to[in](t, c, p)
				if got := state(t, c, "a"); string(got) != in {
					t.Fatalf("it is %s", got)
				}
				want(t, name, tc.ask(c, p), code)
			})
		}
	}
}

func tps(numbers ...int32) (list []model.TopicPartition) {
	for _, n := range numbers {
		list = append(list, at(n))
	}
	return list
}

func verify(version int16) func(*Coordinator, Producer) groups.Code {
	return func(c *Coordinator, p Producer) groups.Code { return c.Verify("a", p.ID, p.Epoch, at(0), version) }
}

func through(t *testing.T, c *Coordinator, p Producer, commit bool) {
	t.Helper()
	want(t, "add", c.AddPartitions("a", p, tps(0), 1), 0)
	_, code := c.End("a", p, commit, false)
	want(t, "end", code, 0)
}

// TestATransaction goes through one with partitions and offsets, in both versions of the protocol.
func TestATransaction(t *testing.T) {
	for _, bump := range []bool{false, true} {
		for _, commit := range []bool{false, true} {
			t.Run(fmt.Sprintf("version 2 %v, commit %v", bump, commit), func(t *testing.T) {
				m := newMemory()
				c := start(t, m, Options{})
				p := begin(t, c, "a")
				m.onMarker(func() {
					if c.MayAppend(at(0), p.ID, p.Epoch) {
						t.Error("a batch could still come in when the marker is written")
					}
				})
				if bump {
					want(t, "produce", c.Verify("a", p.ID, p.Epoch, at(0), 12), 0)
					want(t, "produce", c.Verify("a", p.ID, p.Epoch, at(3), 12), 0)
					want(t, "offsets", c.CommitOffsets("a", p, "g", []model.Commit{{Offset: 7}}, true), 0)
				} else {
					want(t, "add", c.AddPartitions("a", p, tps(0, 3), 1), 0)
					want(t, "add again", c.AddPartitions("a", p, tps(3, 0), 1), 0)
					want(t, "group", c.AddGroup("a", p, "g"), 0)
					want(t, "offsets", c.CommitOffsets("a", p, "g", []model.Commit{{Offset: 7}}, false), 0)
				}
				if d, _ := c.Transaction("a"); len(d.Partitions) != 2 || len(d.Groups) != 1 || d.State != model.TxnOngoing {
					t.Errorf("open, it is %+v", d)
				}
				if !c.MayAppend(at(3), p.ID, p.Epoch) || c.MayAppend(at(1), p.ID, p.Epoch) || c.MayAppend(at(3), p.ID, p.Epoch+1) {
					t.Error("what may be appended to is wrong")
				}
				if len(m.offsets) > 0 {
					t.Error("offsets are committed before their transaction")
				}
				next, code := c.End("a", p, commit, bump)
				want(t, "end", code, 0)
				after := p
				if bump {
					after.Epoch++
				}
				if next != after {
					t.Errorf("afterwards the producer is %+v, want %+v", next, after)
				}
				mark := fmt.Sprintf("%d/%d %v;", after.ID, after.Epoch, commit)
				if m.marked(0) != mark || m.marked(3) != mark || m.marked(1) != "" {
					t.Errorf("markers %q, %q, %q; want %q in 0 and 3", m.marked(0), m.marked(3), m.marked(1), mark)
				}
				if committed := m.offsets["g"] == 7; committed != commit || len(m.pending) > 0 {
					t.Errorf("offsets %v, still pending %v", m.offsets, m.pending)
				}
				again, code := c.End("a", p, commit, bump)
				want(t, "end again", code, 0)
				if again != after {
					t.Errorf("asked again, the producer is %+v", again)
				}
			})
		}
	}
}

// TestTimeout holds that a transaction whose time is over is aborted, and its holder fenced.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		c := start(t, m, Options{})
		p := beginFor(t, c, "a", 10*time.Second)
		slow := beginFor(t, c, "slow", time.Minute)
		want(t, "add", c.AddPartitions("a", p, tps(0), 1), 0)
		want(t, "add", c.AddPartitions("slow", slow, tps(0), 1), 0)
		time.Sleep(9 * time.Second)
		want(t, "more", c.AddPartitions("a", p, tps(1), 1), 0)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s := state(t, c, "a"); s != model.TxnCompleteAbort {
			t.Errorf("after its time it is %s", s)
		}
		if s := state(t, c, "slow"); s != model.TxnOngoing {
			t.Errorf("the other is %s", s)
		}
		if mark := fmt.Sprintf("%d/1 false;", p.ID); m.marked(0) != mark || m.marked(1) != mark {
			t.Errorf("markers %q, %q; want %q", m.marked(0), m.marked(1), mark)
		}
		want(t, "add", c.AddPartitions("a", p, tps(1), 1), groups.ProducerFenced)
		for _, bump := range []bool{false, true} {
			for _, commit := range []bool{false, true} {
				_, code := c.End("a", p, commit, bump)
				want(t, "end of the fenced", code, groups.ProducerFenced)
			}
		}
		if next := begin(t, c, "a"); next != (Producer{p.ID, 2}) {
			t.Errorf("whoever comes next is %+v", next)
		}
	})
}

// TestTheNextTransactionHasItsOwnTime holds that a transaction's time begins with it.
func TestTheNextTransactionHasItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, newMemory(), Options{})
		p := beginFor(t, c, "a", 10*time.Second)
		through(t, c, p, true)
		time.Sleep(8 * time.Second)
		want(t, "add", c.AddPartitions("a", p, tps(0), 1), 0)
		time.Sleep(8 * time.Second)
		synctest.Wait()
		if s := state(t, c, "a"); s != model.TxnOngoing {
			t.Errorf("within its time it is %s", s)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if s := state(t, c, "a"); s != model.TxnCompleteAbort {
			t.Errorf("after its time it is %s", s)
		}
	})
}

// TestFencing lets a second holder come while the first has a transaction open.
func TestFencing(t *testing.T) {
	m := newMemory()
	c := start(t, m, Options{})
	old := begin(t, c, "a")
	want(t, "add", c.AddPartitions("a", old, tps(0), 2), 0)
	r := InitRequest{TransactionalID: "a", Transactional: true, Timeout: 1000, Expected: noProducer}
	_, code := c.InitProducerID(r)
	want(t, "first", code, groups.ConcurrentTransactions)
	if mark := fmt.Sprintf("%d/%d false;", old.ID, old.Epoch+1); m.marked(0) != mark {
		t.Errorf("marker %q, want %q", m.marked(0), mark)
	}
	next := begin(t, c, "a")
	if next != (Producer{old.ID, old.Epoch + 2}) {
		t.Errorf("the second is %+v", next)
	}
	want(t, "produce of the fenced", c.Verify("a", old.ID, old.Epoch, at(0), 12), groups.InvalidProducerEpoch)
	want(t, "offsets of the fenced", c.CommitOffsets("a", old, "g", nil, true), groups.InvalidProducerEpoch)
	r.Expected = old
	_, code = c.InitProducerID(r)
	want(t, "InitProducerID of the fenced", code, groups.ProducerFenced)
}

// TestEpochsRunOut ends more transactions than there are epochs.
func TestEpochsRunOut(t *testing.T) {
	for _, bump := range []bool{false, true} {
		t.Run(fmt.Sprintf("version 2 %v", bump), func(t *testing.T) {
			m := newMemory()
			first := begin(t, start(t, m, Options{}), "a")
			r := m.recs["a"]
			r.Epoch = lastEpoch - 5
			m.recs["a"], m.next = r, 1000
			c := start(t, m, Options{})
			p := Producer{first.ID, r.Epoch}
			for range 20 {
				var next Producer
				var code groups.Code
				if bump {
					want(t, "produce", c.Verify("a", p.ID, p.Epoch, at(0), 12), 0)
					next, code = c.End("a", p, true, true)
				} else {
					next, code = c.InitProducerID(InitRequest{TransactionalID: "a", Transactional: true, Timeout: 1000, Expected: p})
				}
				if code != groups.None || next.Epoch == math.MaxInt16 {
					t.Fatalf("after %+v: %+v, code %d", p, next, code)
				}
				if next.ID != p.ID {
					if p.Epoch != lastEpoch || next.Epoch != 0 {
						t.Errorf("after %+v comes %+v", p, next)
					}
					// The answer was lost, and the old id asks once more.
					var again Producer
					if bump {
						again, code = c.End("a", p, true, true)
					} else {
						again, code = c.InitProducerID(InitRequest{TransactionalID: "a", Transactional: true, Timeout: 1000, Expected: p})
					}
					if again != next || code != groups.None {
						t.Errorf("asked again: %+v, code %d; want %+v", again, code, next)
					}
				}
				p = next
			}
			if p.ID == first.ID {
				t.Error("it has one id still")
			}
			if bump && !strings.Contains(m.marked(0), fmt.Sprintf("%d/%d true;", first.ID, math.MaxInt16)) {
				t.Error("the last transaction of the first id has no marker of the highest epoch")
			}
		})
	}
}

// TestAFullDisk holds that what was decided is carried out when there is room again.
func TestAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		c := start(t, m, Options{})
		p := begin(t, c, "a")
		want(t, "add", c.AddPartitions("a", p, tps(0, 1), 1), 0)
		m.setFull(true)
		want(t, "add on a full disk", c.AddPartitions("a", p, tps(2), 1), groups.CoordinatorNotAvailable)
		_, code := c.End("a", p, true, false)
		want(t, "end on a full disk", code, groups.CoordinatorNotAvailable)
		if s := state(t, c, "a"); s != model.TxnOngoing {
			t.Errorf("nothing was decided, and it is %s", s)
		}
		m.setFull(false)
		m.onMarker(func() { m.setFull(true) }) // it is prepared, and then there is no room for the markers
		_, code = c.End("a", p, true, false)
		want(t, "end", code, 0)
		if s := state(t, c, "a"); s != model.TxnPrepareCommit {
			t.Errorf("without its markers it is %s", s)
		}
		if lines := c.Stuck(); len(lines) != 1 || !strings.Contains(lines[0], errDisk.Error()) {
			t.Errorf("it is said: %q", lines)
		}
		want(t, "add meanwhile", c.AddPartitions("a", p, tps(2), 1), groups.ConcurrentTransactions)
		want(t, "produce meanwhile", c.Verify("a", p.ID, p.Epoch, at(0), 9), groups.NotEnoughReplicas)
		_, code = c.End("a", p, true, false)
		want(t, "end meanwhile", code, groups.ConcurrentTransactions)
		_, code = c.End("a", p, false, false)
		want(t, "abort meanwhile", code, groups.InvalidTxnState)
		m.onMarker(nil)
		m.setFull(false)
		time.Sleep(2 * retryAfter)
		synctest.Wait()
		if s := state(t, c, "a"); s != model.TxnCompleteCommit {
			t.Errorf("with room again it is %s", s)
		}
		if lines := c.Stuck(); len(lines) > 0 {
			t.Errorf("it is still said: %q", lines)
		}
	})
}

// TestExpiry holds that a transactional id is forgotten a week after its last transaction, and not while one is open.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		c := start(t, m, Options{MaxTimeout: 30 * 24 * time.Hour})
		idle, busy := begin(t, c, "idle"), beginFor(t, c, "busy", 20*24*time.Hour)
		want(t, "add", c.AddPartitions("busy", busy, tps(0), 1), 0)
		time.Sleep(7*24*time.Hour - time.Minute)
		synctest.Wait()
		if state(t, c, "idle") != model.TxnEmpty {
			t.Fatal("it is gone before its time")
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if state(t, c, "idle") != "" || state(t, c, "busy") != model.TxnOngoing || len(m.recs) != 1 {
			t.Errorf("after a week: %q, %q, stored %d", state(t, c, "idle"), state(t, c, "busy"), len(m.recs))
		}
		want(t, "add of the forgotten", c.AddPartitions("idle", idle, tps(0), 1), groups.InvalidProducerIDMapping)
		if p := begin(t, c, "idle"); p.ID == idle.ID {
			t.Error("it has its old producer id again")
		}
	})
}
