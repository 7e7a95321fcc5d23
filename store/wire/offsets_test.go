package wire

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// dated appends a batch whose records have these times, ms after t0.
func (c *core) dated(topic string, t0 int64, ms ...int64) {
	c.t.Helper()
	var in []record.Input
	for _, m := range ms {
		in = append(in, record.Input{Timestamp: t0 + m, Key: []byte("k")})
	}
	b, err := record.AppendBatch(nil, record.Spec{}, in)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.engine.AppendBatches(c.t.Context(), model.TopicPartition{Topic: topic}, b); err != nil {
		c.t.Fatal(err)
	}
}

func listOf(topic string, number int32, at int64) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp = number, at
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func TestListOffsets(t *testing.T) {
	const t0 = 1_700_000_000_000
	c := startCore(t, Options{}, set("t", 2, "retention.ms", "-1", "segment.bytes", "200"), set("cut", 1, "retention.ms", "-1"))
	for _, topic := range []string{"t", "cut"} { // one batch to a segment, and all in one
		c.dated(topic, t0, 0, 1000, 2000)
		c.dated(topic, t0, 10_000, 9000, 12_000)
		c.dated(topic, t0, 3000)
	}
	if _, err := c.engine.DeleteRecords(t.Context(), model.TopicPartition{Topic: "cut"}, 4); err != nil {
		t.Fatal(err)
	}
	none := [3]int64{-1, -1, -1}
	for _, tc := range []struct {
		name      string
		topic     string
		number    int32
		at        int64
		v         int16
		isolation int8
		epoch     int32 // current, and 1
		code      int16
		want      [3]int64 // offset, ms, epoch
	}{
		{name: "latest", topic: "t", at: -1, v: 7, want: [3]int64{7, -1, 0}},
		{name: "latest, no epoch yet", topic: "t", at: -1, v: 3, want: [3]int64{7, -1, -1}},
		{name: "latest, committed", topic: "t", at: -1, v: 7, isolation: 1, want: [3]int64{7, -1, 0}},
		{name: "earliest", topic: "t", at: -2, v: 7, want: [3]int64{0, -1, 0}},
		{name: "earliest, some deleted", topic: "cut", at: -2, v: 7, want: [3]int64{4, -1, 0}},
		{name: "newest", topic: "t", at: -3, v: 7, want: [3]int64{5, t0 + 12_000, 0}},
		{name: "newest, v6", topic: "t", at: -3, v: 6, code: 35, want: none},
		{name: "newest, empty", topic: "t", number: 1, at: -3, v: 7, want: none},
		{name: "newest, some deleted", topic: "cut", at: -3, v: 7, want: [3]int64{5, t0 + 12_000, 0}},
		{name: "earliest local", topic: "t", at: -4, v: 8, want: [3]int64{0, -1, 0}},
		{name: "earliest local, v7", topic: "t", at: -4, v: 7, code: 35, want: none},
		{name: "tiered", topic: "t", at: -5, v: 9, want: none},
		{name: "tiered, v8", topic: "t", at: -5, v: 8, code: 35, want: none},
		{name: "pending", topic: "t", at: -6, v: 11, want: none},
		{name: "pending, v10", topic: "t", at: -6, v: 10, code: 35, want: none},
		{name: "unknown time", topic: "t", at: -7, v: 11, code: 35, want: none},
		{name: "before all", topic: "t", at: t0 - 1, v: 7, want: [3]int64{0, t0, 0}},
		{name: "time 0", topic: "t", at: 0, v: 7, want: [3]int64{0, t0, 0}},
		{name: "between records", topic: "t", at: t0 + 500, v: 7, want: [3]int64{1, t0 + 1000, 0}},
		{name: "between batches", topic: "t", at: t0 + 2001, v: 7, want: [3]int64{3, t0 + 10_000, 0}},
		{name: "the first in the order of the log", topic: "t", at: t0 + 9500, v: 7, want: [3]int64{3, t0 + 10_000, 0}},
		{name: "the last time", topic: "t", at: t0 + 12_000, v: 7, want: [3]int64{5, t0 + 12_000, 0}},
		{name: "after all", topic: "t", at: t0 + 12_001, v: 7, want: none},
		{name: "time, empty", topic: "t", number: 1, at: t0, v: 7, want: none},
		{name: "a deleted record's time", topic: "cut", at: t0, v: 7, want: [3]int64{4, t0 + 9000, 0}},
		{name: "no such topic", topic: "none", at: -1, v: 7, code: 3, want: none},
		{name: "no such partition", topic: "t", number: 7, at: -1, v: 7, code: 3, want: none},
		{name: "isolation 9", topic: "t", at: -1, v: 7, isolation: 9, code: -1, want: none},
		{name: "current epoch 0", topic: "t", at: -1, v: 7, epoch: 1, want: [3]int64{7, -1, 0}},
		{name: "current epoch 5", topic: "t", at: -1, v: 7, epoch: 6, code: 75, want: none},
		{name: "current epoch -2", topic: "t", at: -1, v: 7, epoch: -1, code: 74, want: none},
		{name: "internal topic", topic: virtual, at: -1, v: 7, want: [3]int64{0, -1, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := listOf(tc.topic, tc.number, tc.at)
			req.IsolationLevel = tc.isolation
			req.Topics[0].Partitions[0].CurrentLeaderEpoch = tc.epoch - 1
			p := c.dial().ask(req, tc.v).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
			if got := [3]int64{p.Offset, p.Timestamp, int64(p.LeaderEpoch)}; got != tc.want || p.ErrorCode != tc.code {
				t.Errorf("error %d, offset, time and epoch %v; want %d, %v", p.ErrorCode, got, tc.code, tc.want)
			}
		})
	}
	t.Run("twice", func(t *testing.T) {
		req := listOf("t", 0, -1)
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, listOf("t", 0, -2).Topics[0].Partitions...)
		r := c.dial().ask(req, 7).(*kmsg.ListOffsetsResponse)
		if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 || r.Topics[0].Partitions[0].ErrorCode != 42 {
			t.Errorf("%+v", r)
		}
	})
	for v := int16(1); v <= 11; v++ {
		if p := c.dial().ask(listOf("t", 0, -1), v).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]; p.Offset != 7 {
			t.Errorf("v%d: %+v", v, p)
		}
	}
}

// TestOffsetForLeaderEpoch asks for epochs of a log that has seen three runs.
func TestOffsetForLeaderEpoch(t *testing.T) {
	dir := t.TempDir()
	for run := range 3 {
		t.Run(fmt.Sprintf("run %d", run), func(t *testing.T) {
			if run == 0 {
				startCoreIn(t, dir, Options{}, set("t", 1)).append("t", 0, 1)
				return
			}
			startCoreIn(t, dir, Options{}).append("t", 0, 1)
		})
	}
	c := startCoreIn(t, dir, Options{}) // epoch 3, without a record
	for _, tc := range []struct {
		name           string
		current, epoch int32
		v              int16
		code           int16
		wantEpoch      int32
		wantEnd        int64
	}{
		{name: "first", current: -1, epoch: 0, v: 2, wantEpoch: 0, wantEnd: 3},
		{name: "second", current: -1, epoch: 1, v: 3, wantEpoch: 1, wantEnd: 6},
		{name: "last with records", current: -1, epoch: 2, v: 4, wantEpoch: 2, wantEnd: 9},
		{name: "this run's", current: 3, epoch: 3, v: 4, wantEpoch: 3, wantEnd: 9},
		{name: "yet to come", current: -1, epoch: 5, v: 4, wantEpoch: -1, wantEnd: -1},
		{name: "none", current: -1, epoch: -1, v: 4, wantEpoch: -1, wantEnd: -1},
		{name: "before all", current: -1, epoch: -2, v: 4, wantEpoch: -2, wantEnd: 0},
		{name: "an old current epoch", current: 2, epoch: 0, v: 4, code: 74, wantEpoch: -1, wantEnd: -1},
		{name: "a current epoch to come", current: 4, epoch: 0, v: 4, code: 75, wantEpoch: -1, wantEnd: -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := kmsg.NewPtrOffsetForLeaderEpochRequest()
			x := kmsg.NewOffsetForLeaderEpochRequestTopic()
			x.Topic = "t"
			q := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
			q.CurrentLeaderEpoch, q.LeaderEpoch = tc.current, tc.epoch
			x.Partitions = append(x.Partitions, q)
			req.Topics = append(req.Topics, x)
			p := c.dial().ask(req, tc.v).(*kmsg.OffsetForLeaderEpochResponse).Topics[0].Partitions[0]
			if p.ErrorCode != tc.code || p.LeaderEpoch != tc.wantEpoch || p.EndOffset != tc.wantEnd {
				t.Errorf("error %d, epoch %d, end %d; want %d, %d, %d", p.ErrorCode, p.LeaderEpoch, p.EndOffset, tc.code, tc.wantEpoch, tc.wantEnd)
			}
		})
	}
}

func TestDeleteRecords(t *testing.T) {
	c := startCore(t, Options{}, set("t", 1), set("keyed", 1, "cleanup.policy", "compact"), set("both", 1, "cleanup.policy", "compact,delete"))
	c.append("t", 0, 2)
	for _, tc := range []struct {
		name   string
		topic  string
		number int32
		before int64
		v      int16
		code   int16
		low    int64
	}{
		{"nothing", "t", 0, 0, 2, 0, 0},
		{"one", "t", 0, 1, 0, 0, 1},
		{"inside a batch", "t", 0, 4, 1, 0, 4},
		{"below the log start", "t", 0, 2, 2, 0, 4},
		{"beyond the end", "t", 0, 7, 2, 1, -1},
		{"-2", "t", 0, -2, 2, 1, -1},
		{"all", "t", 0, -1, 2, 0, 6},
		{"no such topic", "none", 0, 1, 2, 3, -1},
		{"no such partition", "t", 7, 1, 2, 3, -1},
		{"internal", virtual, 0, 0, 2, 17, -1},
		{"compacted", "keyed", 0, 0, 2, 44, -1},
		{"compacted and deleted", "both", 0, 0, 2, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := kmsg.NewPtrDeleteRecordsRequest()
			x := kmsg.NewDeleteRecordsRequestTopic()
			x.Topic = tc.topic
			x.Partitions = append(x.Partitions, kmsg.DeleteRecordsRequestTopicPartition{Partition: tc.number, Offset: tc.before})
			req.Topics = append(req.Topics, x)
			p := c.dial().ask(req, tc.v).(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0]
			if p.ErrorCode != tc.code || p.LowWatermark != tc.low {
				t.Errorf("error %d, log start %d; want %d, %d", p.ErrorCode, p.LowWatermark, tc.code, tc.low)
			}
		})
	}
}

func TestDescribeProducers(t *testing.T) {
	c := startCore(t, Options{}, set("t", 2))
	for _, id := range []int64{0, 4} {
		b := batchOf(t, record.Spec{HasProducer: true, ProducerID: id, Transactional: id == 4}, "a", "b")
		if _, err := c.engine.AppendBatches(t.Context(), model.TopicPartition{Topic: "t"}, b); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(topic string, numbers ...int32) []kmsg.DescribeProducersResponseTopicPartition {
		req := kmsg.NewPtrDescribeProducersRequest()
		x := kmsg.NewDescribeProducersRequestTopic()
		x.Topic, x.Partitions = topic, numbers
		req.Topics = append(req.Topics, x)
		return c.dial().ask(req, 0).(*kmsg.DescribeProducersResponse).Topics[0].Partitions
	}
	p := ask("t", 0, 1, 7)
	if a := p[0].ActiveProducers; len(a) != 2 || a[0].ProducerID != 0 || a[0].LastSequence != 1 || a[0].CurrentTxnStartOffset != -1 ||
		a[1].ProducerID != 4 || a[1].CurrentTxnStartOffset != 2 || a[1].CoordinatorEpoch != -1 {
		t.Errorf("%+v", a)
	}
	if p[1].ErrorCode != 0 || len(p[1].ActiveProducers) != 0 || p[2].ErrorCode != 3 {
		t.Errorf("%+v", p[1:])
	}
	for topic, code := range map[string]int16{"none": 3, "a b": 17} {
		if p := ask(topic, 0); p[0].ErrorCode != code || p[0].ErrorMessage == nil {
			t.Errorf("%q: %+v", topic, p[0])
		}
	}
}
