package wire

import (
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/record"
)

// part asks for a partition.
type part struct {
	topic  string
	number int32
	offset int64
	max    int32 // 0 means 1 MiB
	epoch  int32 // current leader epoch and 1; 0 for none
	last   int32 // last fetched epoch and 1
}

// fetchOf is a Fetch that does not wait and has no session.
func (c *core) fetchOf(parts ...part) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID, req.MaxBytes, req.MinBytes, req.SessionEpoch = -1, 1<<20, 1, -1
	for _, p := range parts {
		t := kmsg.NewFetchRequestTopic()
		t.Topic = p.topic
		t.TopicID, _ = c.engine.TopicID(p.topic)
		x := kmsg.NewFetchRequestTopicPartition()
		x.Partition, x.FetchOffset, x.PartitionMaxBytes = p.number, p.offset, p.max
		x.CurrentLeaderEpoch, x.LastFetchedEpoch = p.epoch-1, p.last-1
		if p.max == 0 {
			x.PartitionMaxBytes = 1 << 20
		}
		t.Partitions = append(t.Partitions, x)
		req.Topics = append(req.Topics, t)
	}
	return req
}

func (c *client) fetch(req *kmsg.FetchRequest, version int16) *kmsg.FetchResponse {
	c.t.Helper()
	return c.ask(req, version).(*kmsg.FetchResponse)
}

// only returns the one partition of an answer.
func only(t testing.TB, r *kmsg.FetchResponse) kmsg.FetchResponseTopicPartition {
	t.Helper()
	if r.ErrorCode != 0 || len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
		t.Fatalf("error %d, %d topics: %+v", r.ErrorCode, len(r.Topics), r)
	}
	return r.Topics[0].Partitions[0]
}

// bases are the base offsets of the whole batches in an answer, and -1 for a batch that is cut.
func bases(b []byte) []int64 {
	list := []int64{}
	for len(b) > 0 {
		h, err := record.ParseHeader(b)
		if err != nil || h.Size() > int64(len(b)) {
			return append(list, -1)
		}
		list = append(list, h.BaseOffset)
		b = b[h.Size():]
	}
	return list
}

// append appends batches of three records.
func (c *core) append(topic string, number int32, batches int) (size int64) {
	c.t.Helper()
	for range batches {
		b := batchOf(c.t, record.Spec{}, "a", "b", "c")
		size = int64(len(b))
		if _, err := c.engine.AppendBatches(c.t.Context(), model.TopicPartition{Topic: topic, Partition: number}, b); err != nil {
			c.t.Fatal(err)
		}
	}
	return size
}

// until waits for something to become true.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		runtime.Gosched()
	}
}

func TestFetchVersions(t *testing.T) {
	c := startCore(t, Options{}, set("t", 1))
	c.append("t", 0, 3)
	for version := range int16(20) {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			cl := c.dial()
			if version < 4 || version > 18 {
				req := c.fetchOf(part{topic: "t"})
				cl.send(frameOf(req, min(version, 18), 1)[:4])
				f := frameOf(req, min(version, 18), 1)
				binary.BigEndian.PutUint16(f[6:], uint16(version))
				cl.send(f[4:])
				if !cl.closed() {
					t.Error("answered")
				}
				return
			}
			p := only(t, cl.fetch(c.fetchOf(part{topic: "t", offset: 4}), version))
			if got := bases(p.RecordBatches); p.HighWatermark != 9 || p.LastStableOffset != 9 || !slices.Equal(got, []int64{3, 6}) || p.ErrorCode != 0 {
				t.Errorf("batches %v of %+v", got, p)
			}
			if want := int64(0); version >= 5 && p.LogStartOffset != want || p.PreferredReadReplica != -1 || p.AbortedTransactions != nil {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestFetch(t *testing.T) {
	c := startCore(t, Options{}, set("t", 2), set("cut", 1))
	size := int32(c.append("t", 0, 3))
	c.append("cut", 0, 3)
	if _, err := c.engine.DeleteRecords(t.Context(), model.TopicPartition{Topic: "cut"}, 4); err != nil {
		t.Fatal(err)
	}
	type want struct {
		code  int16
		bases []int64
	}
	all := func(req *kmsg.FetchRequest, change func(*kmsg.FetchRequest)) *kmsg.FetchRequest {
		change(req)
		return req
	}
	for _, tc := range []struct {
		name string
		req  *kmsg.FetchRequest
		v    int16
		want []want // by partition, in order
	}{
		{"inside a batch", c.fetchOf(part{topic: "t", offset: 4}), 11, []want{{0, []int64{3, 6}}}},
		{"at the end", c.fetchOf(part{topic: "t", offset: 9}), 11, []want{{0, nil}}},
		{"beyond the end", c.fetchOf(part{topic: "t", offset: 10}), 11, []want{{1, nil}}},
		{"offset -1", c.fetchOf(part{topic: "t", offset: -1}), 11, []want{{1, nil}}},
		{"below the log start", c.fetchOf(part{topic: "cut", offset: 3}), 11, []want{{1, nil}}},
		{"log start inside a batch", c.fetchOf(part{topic: "cut", offset: 4}), 11, []want{{0, []int64{3, 6}}}},
		{"empty", c.fetchOf(part{topic: "t", number: 1}), 11, []want{{0, nil}}},
		{"no such topic", c.fetchOf(part{topic: "none"}), 11, []want{{3, nil}}},
		{"no name", c.fetchOf(part{topic: ""}), 11, []want{{3, nil}}},
		{"no such partition", c.fetchOf(part{topic: "t", number: 7}), 11, []want{{3, nil}}},
		{"no such partition, by id", c.fetchOf(part{topic: "t", number: 7}), 16, []want{{3, nil}}},
		{"partition -1", c.fetchOf(part{topic: "t", number: -1}), 11, []want{{3, nil}}},
		{"no such id", c.fetchOf(part{topic: "none"}), 13, []want{{100, nil}}},
		{"one good, one bad", c.fetchOf(part{topic: "none"}, part{topic: "t", offset: 6}), 12, []want{{3, nil}, {0, []int64{6}}}},
		{"twice", c.fetchOf(part{topic: "t"}, part{topic: "t", offset: 6}), 12, []want{{0, []int64{6}}}},
		{"internal topic", c.fetchOf(part{topic: virtual}), 12, []want{{0, nil}}},
		{"internal topic, beyond", c.fetchOf(part{topic: virtual, offset: 1}), 12, []want{{1, nil}}},
		{"internal topic, no such partition", c.fetchOf(part{topic: virtual, number: 99}), 12, []want{{3, nil}}},
		{"current leader epoch 0", c.fetchOf(part{topic: "t", offset: 6, epoch: 1}), 11, []want{{0, []int64{6}}}},
		{"current leader epoch 5", c.fetchOf(part{topic: "t", offset: 6, epoch: 6}), 11, []want{{75, nil}}},
		{"current leader epoch -2", c.fetchOf(part{topic: "t", offset: 6, epoch: -1}), 11, []want{{0, []int64{6}}}},
		{"last fetched epoch 0", c.fetchOf(part{topic: "t", offset: 6, last: 1}), 12, []want{{0, []int64{6}}}},
		{"last fetched epoch 3", c.fetchOf(part{topic: "t", offset: 6, last: 4}), 12, []want{{1, nil}}},
		{"a replica", all(c.fetchOf(part{topic: "t"}), func(r *kmsg.FetchRequest) { r.ReplicaID = 5 }), 11, []want{{6, nil}}},
		{"max bytes 1", all(c.fetchOf(part{topic: "t"}), func(r *kmsg.FetchRequest) { r.MaxBytes = 1 }), 11, []want{{0, []int64{0}}}},
		{"max bytes 0", all(c.fetchOf(part{topic: "t"}), func(r *kmsg.FetchRequest) { r.MaxBytes = 0 }), 11, []want{{0, []int64{0}}}},
		{"max bytes -1", all(c.fetchOf(part{topic: "t"}), func(r *kmsg.FetchRequest) { r.MaxBytes = -1 }), 11, []want{{-1, nil}}},
		{"partition max bytes 1", c.fetchOf(part{topic: "t", max: 1}), 11, []want{{0, []int64{0}}}},
		{"partition max bytes -1", c.fetchOf(part{topic: "t", max: -1}), 11, []want{{-1, nil}}},
		{"a batch and a half", c.fetchOf(part{topic: "t", max: size + size/2}), 11, []want{{0, []int64{0, -1}}}},
		{"two batches and 3 bytes", all(c.fetchOf(part{topic: "t"}), func(r *kmsg.FetchRequest) { r.MaxBytes = 2*size + 3 }), 11, []want{{0, []int64{0, 3, -1}}}},
		{"nothing left for the second", all(c.fetchOf(part{topic: "t"}, part{topic: "cut", offset: 4}), func(r *kmsg.FetchRequest) { r.MaxBytes = size + size/2 }), 11,
			[]want{{0, []int64{0, -1}}, {0, nil}}},
		{"only the first may be larger", c.fetchOf(part{topic: "t", max: 1}, part{topic: "cut", offset: 4, max: 1}), 11, []want{{0, []int64{0}}, {0, nil}}},
		{"the first is empty", c.fetchOf(part{topic: "t", number: 1, max: 1}, part{topic: "cut", offset: 4, max: 1}), 11, []want{{0, nil}, {0, []int64{3}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := c.dial().fetch(tc.req, tc.v)
			var got []kmsg.FetchResponseTopicPartition
			for _, x := range r.Topics {
				got = append(got, x.Partitions...)
			}
			if r.ErrorCode != 0 || len(got) != len(tc.want) {
				t.Fatalf("error %d, %d partitions", r.ErrorCode, len(got))
			}
			for i, w := range tc.want {
				p := got[i]
				if p.ErrorCode != w.code || !slices.Equal(bases(p.RecordBatches), append([]int64{}, w.bases...)) {
					t.Errorf("partition %d: error %d, batches %v; want %d, %v", i, p.ErrorCode, bases(p.RecordBatches), w.code, w.bases)
				}
				if w.code != 0 && (p.HighWatermark != -1 || p.LastStableOffset != -1 || p.LogStartOffset != -1) {
					t.Errorf("partition %d: offsets with an error: %+v", i, p)
				}
			}
		})
	}
	t.Run("isolation level 2", func(t *testing.T) {
		req := c.fetchOf(part{topic: "t"})
		req.IsolationLevel = 2
		r := c.dial().fetch(req, 11)
		if r.ErrorCode != -1 || r.Topics[0].Partitions[0].ErrorCode != -1 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("diverging epoch", func(t *testing.T) {
		p := only(t, c.dial().fetch(c.fetchOf(part{topic: "t", offset: 20, last: 1}), 12))
		if p.DivergingEpoch.Epoch != 0 || p.DivergingEpoch.EndOffset != 9 || p.HighWatermark != 9 || p.ErrorCode != 0 {
			t.Errorf("%+v", p)
		}
	})
}

// TestFetchFenced has a client that outlives a restart learn who leads.
func TestFetchFenced(t *testing.T) {
	dir := t.TempDir()
	t.Run("before", func(t *testing.T) { startCoreIn(t, dir, Options{}, set("t", 1)).append("t", 0, 1) })
	c := startCoreIn(t, dir, Options{})
	for _, version := range []int16{12, 16} {
		r := c.dial().fetch(c.fetchOf(part{topic: "t", epoch: 1}), version)
		p := only(t, r)
		if p.ErrorCode != kerr.FencedLeaderEpoch.Code {
			t.Fatalf("v%d: error %d", version, p.ErrorCode)
		}
		named := p.CurrentLeader.LeaderID == c.engine.NodeID() && p.CurrentLeader.LeaderEpoch == 1 &&
			len(r.Brokers) == 1 && net.JoinHostPort(r.Brokers[0].Host, fmt.Sprint(r.Brokers[0].Port)) == c.Address()
		if named != (version >= 16) {
			t.Errorf("v%d: leader %+v, brokers %+v", version, p.CurrentLeader, r.Brokers)
		}
	}
	if p := only(t, c.dial().fetch(c.fetchOf(part{topic: "t", epoch: 2}), 12)); p.ErrorCode != 0 || len(p.RecordBatches) == 0 {
		t.Errorf("with the new epoch: error %d", p.ErrorCode)
	}
}

// TestFetchCommitted reads around transactions.
func TestFetchCommitted(t *testing.T) {
	c := startCore(t, Options{}, set("t", 1))
	tp := model.TopicPartition{Topic: "t"}
	put := func(s record.Spec, values ...string) {
		t.Helper()
		if _, err := c.engine.AppendBatches(t.Context(), tp, batchOf(t, s, values...)); err != nil {
			t.Fatal(err)
		}
	}
	txn := func(id int64) record.Spec {
		return record.Spec{ProducerID: id, Transactional: true, HasProducer: true}
	}
	put(record.Spec{}, "0")
	put(txn(7), "1")
	put(txn(8), "2")
	put(record.Spec{}, "3")
	ask := func(offset int64, isolation int8) kmsg.FetchResponseTopicPartition {
		t.Helper()
		req := c.fetchOf(part{topic: "t", offset: offset})
		req.IsolationLevel = isolation
		return only(t, c.dial().fetch(req, 12))
	}
	if p := ask(0, readUncommitted); p.LastStableOffset != 1 || !slices.Equal(bases(p.RecordBatches), []int64{0, 1, 2, 3}) {
		t.Errorf("uncommitted: %v, last stable %d", bases(p.RecordBatches), p.LastStableOffset)
	}
	if p := ask(0, readCommitted); p.LastStableOffset != 1 || !slices.Equal(bases(p.RecordBatches), []int64{0}) || p.AbortedTransactions == nil {
		t.Errorf("committed: %v, last stable %d", bases(p.RecordBatches), p.LastStableOffset)
	}
	if p := ask(2, readCommitted); len(p.RecordBatches) != 0 || p.ErrorCode != 0 {
		t.Errorf("beyond the last stable offset: %v", bases(p.RecordBatches))
	}

	// A reader that waits for the last stable offset is not woken by what lies behind it.
	req := c.fetchOf(part{topic: "t", offset: 1})
	req.IsolationLevel, req.MaxWaitMillis = readCommitted, int32(patience/time.Millisecond)
	cl := c.dial()
	cl.send(frameOf(req, 12, 9))
	l := c.engine.Find([]byte("t"), 0)
	until(t, "it waits", func() bool { return l.Waiting() == 1 })
	put(record.Spec{}, "4")
	mark := func(id int64, commit bool) {
		t.Helper()
		if err := c.engine.WriteMarker(t.Context(), tp, store.Marker{ProducerID: id, Commit: commit}); err != nil {
			t.Fatal(err)
		}
	}
	mark(8, true)
	if l.Waiting() != 1 {
		t.Error("woken before the last stable offset moved")
	}
	mark(7, false)
	p := only(t, cl.answerTo(req, 9).(*kmsg.FetchResponse))
	if p.LastStableOffset != 7 || !slices.Equal(bases(p.RecordBatches), []int64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("after the end: %v, last stable %d", bases(p.RecordBatches), p.LastStableOffset)
	}
	for _, offset := range []int64{0, 1, 3, 6} {
		p := ask(offset, readCommitted)
		if len(p.AbortedTransactions) != 1 || p.AbortedTransactions[0].ProducerID != 7 || p.AbortedTransactions[0].FirstOffset != 1 {
			t.Errorf("from %d: aborted %+v", offset, p.AbortedTransactions)
		}
	}
	if p := ask(0, readUncommitted); p.AbortedTransactions != nil {
		t.Errorf("uncommitted: aborted %+v", p.AbortedTransactions)
	}
	first := c.fetchOf(part{topic: "t", max: 1})
	first.IsolationLevel = readCommitted
	if p := only(t, c.dial().fetch(first, 12)); len(p.AbortedTransactions) != 0 || !slices.Equal(bases(p.RecordBatches), []int64{0}) {
		t.Errorf("only the batch before: aborted %+v", p.AbortedTransactions)
	}
}

// TestFetchWaits holds what ends a long poll, and what does not.
func TestFetchWaits(t *testing.T) {
	const long = int32(patience / time.Millisecond)
	for _, tc := range []struct {
		name    string
		offset  int64
		min     int32
		parts   []part
		act     func(t *testing.T, c *core) // once it waits; nil when it must not
		wantErr int16
		bases   []int64
	}{
		{name: "data there", min: 1, bases: []int64{0}},
		{name: "min bytes 0", offset: 3, min: 0},
		{name: "out of range", offset: 99, min: 1, wantErr: 1},
		{name: "no such partition", parts: []part{{topic: "t", number: 7}}, min: 1, wantErr: 3},
		{name: "an append", offset: 3, min: 1, act: func(_ *testing.T, c *core) { c.append("t", 0, 1) }, bases: []int64{3}},
		{name: "enough appends", offset: 3, min: 300, act: func(t *testing.T, c *core) {
			for range 3 {
				if l := c.engine.Find([]byte("t"), 0); l.Waiting() != 1 {
					t.Error("woken too early")
				}
				c.append("t", 0, 1)
			}
			c.append("t", 0, 1)
		}, bases: nil},
		{name: "topic deleted", offset: 3, min: 1, act: func(t *testing.T, c *core) {
			if err := c.engine.DeleteTopic(t.Context(), "t"); err != nil {
				t.Error(err)
			}
		}, wantErr: 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := startCore(t, Options{}, set("t", 2))
			c.append("t", 0, 1)
			if tc.parts == nil {
				tc.parts = []part{{topic: "t", offset: tc.offset}}
			}
			req := c.fetchOf(tc.parts...)
			req.MaxWaitMillis, req.MinBytes = long, tc.min
			cl := c.dial()
			begin := time.Now()
			cl.send(frameOf(req, 11, 5))
			if tc.act != nil {
				l := c.engine.Find([]byte("t"), 0)
				until(t, "it waits", func() bool { return l.Waiting() == 1 })
				tc.act(t, c)
			}
			p := only(t, cl.answerTo(req, 5).(*kmsg.FetchResponse))
			if took := time.Since(begin); took > patience/2 {
				t.Errorf("answered after %v", took)
			}
			if p.ErrorCode != tc.wantErr || tc.bases != nil && !slices.Equal(bases(p.RecordBatches), tc.bases) {
				t.Errorf("error %d, batches %v", p.ErrorCode, bases(p.RecordBatches))
			}
			if tc.wantErr == 0 && int32(len(p.RecordBatches)) < tc.min {
				t.Errorf("%d bytes, asked for %d", len(p.RecordBatches), tc.min)
			}
		})
	}
	t.Run("the wait is over", func(t *testing.T) {
		c := startCore(t, Options{}, set("t", 1))
		req := c.fetchOf(part{topic: "t"})
		req.MaxWaitMillis = 30
		begin := time.Now()
		p := only(t, c.dial().fetch(req, 11))
		if took := time.Since(begin); took < 30*time.Millisecond || p.ErrorCode != 0 || len(p.RecordBatches) != 0 {
			t.Errorf("after %v: %+v", took, p)
		}
	})
	t.Run("no topics", func(t *testing.T) {
		c := startCore(t, Options{})
		req := c.fetchOf()
		req.MaxWaitMillis = long
		if r := c.dial().fetch(req, 11); r.ErrorCode != 0 || len(r.Topics) != 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("the broker stops", func(t *testing.T) {
		c := startCore(t, Options{}, set("t", 1))
		req := c.fetchOf(part{topic: "t"})
		req.MaxWaitMillis = long
		cl := c.dial()
		cl.send(frameOf(req, 11, 5))
		l := c.engine.Find([]byte("t"), 0)
		until(t, "it waits", func() bool { return l.Waiting() == 1 })
		if err := c.Server.Close(); err != nil {
			t.Fatal(err)
		}
		if p := only(t, cl.answerTo(req, 5).(*kmsg.FetchResponse)); p.ErrorCode != 0 {
			t.Errorf("%+v", p)
		}
	})
}

// TestFetchWaitsApart has many wait, each for a partition of its own: an append wakes one of them.
func TestFetchWaitsApart(t *testing.T) {
	const many = 200
	c := startCore(t, Options{}, set("t", many))
	var clients []*client
	reqs := make([]*kmsg.FetchRequest, many)
	for i := range int32(many) {
		cl := c.dial()
		reqs[i] = c.fetchOf(part{topic: "t", number: i})
		reqs[i].MaxWaitMillis = int32(patience / time.Millisecond)
		cl.send(frameOf(reqs[i], 11, i))
		clients = append(clients, cl)
	}
	for i := range int32(many) {
		until(t, "all wait", func() bool { return c.engine.Find([]byte("t"), i).Waiting() == 1 })
	}
	for _, i := range []int32{150, 3, many - 1} {
		c.append("t", i, 1)
		if p := only(t, clients[i].answerTo(reqs[i], i).(*kmsg.FetchResponse)); !slices.Equal(bases(p.RecordBatches), []int64{0}) {
			t.Errorf("partition %d: %+v", i, p)
		}
	}
	for i := range int32(many) {
		if want := 1; i != 150 && i != 3 && i != many-1 && c.engine.Find([]byte("t"), i).Waiting() != want {
			t.Errorf("partition %d is not waited for any more", i)
		}
	}
}

// big fills a partition with n batches of 16 KiB and returns what its file holds.
