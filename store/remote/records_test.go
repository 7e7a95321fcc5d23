package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// listed puts a page into words: offsets, with the sign of what is aborted (!), undecided (?) or a marker (its name).
func listed(p model.RecordPage) string {
	var s []string
	for _, r := range p.Records {
		w := fmt.Sprint(r.Offset)
		switch {
		case r.Control != "":
			w += r.Control
		case r.Visibility == model.Aborted:
			w += "!"
		case r.Visibility == model.Undecided:
			w += "?"
		}
		s = append(s, w)
	}
	return strings.Join(s, " ")
}

func TestRecords(t *testing.T) {
	f, c := open(t, Options{}, 2, "orders")
	tp := model.TopicPartition{Topic: "orders"}
	put(t, c, tp, 12)                       // 0..11
	transact(t, f, tp, 2, false, "aborted") // 12 13, marker 14
	transact(t, f, tp, 2, true, "kept")     // 15 16, marker 17
	hang(t, f, tp, 2)                       // 18 19
	transact(t, f, tp, 1, true, "behind")   // 20, marker 21
	transact(t, f, tp, 1, false, "thrown")  // 22, marker 23
	if _, err := c.DeleteRecords(t.Context(), tp, 3); err != nil {
		t.Fatal(err)
	}
	all := "3 4 5 6 7 8 9 10 11 12! 13! 15 16 18? 19? 20 22!"
	for name, tc := range map[string]struct {
		q          model.RecordQuery
		want       string
		next, prev int64
		end, start bool
	}{
		"all":                       {model.RecordQuery{From: model.FromStart}, all, 24, 3, true, true},
		"below the log start":       {model.RecordQuery{From: 0}, all, 24, 3, true, true},
		"a few":                     {model.RecordQuery{From: 10, Max: 3}, "10 11 12!", 13, 10, false, false},
		"across a marker":           {model.RecordQuery{From: 13, Max: 2}, "13! 15", 16, 13, false, false},
		"markers too":               {model.RecordQuery{From: 12, Max: 5, Control: true}, "12! 13! 14abort 15 16", 17, 12, false, false},
		"committed":                 {model.RecordQuery{From: 10, Committed: true}, "10 11 15 16", 18, 10, true, false},
		"committed, markers too":    {model.RecordQuery{From: 13, Committed: true, Control: true}, "14abort 15 16 17commit", 18, 13, true, false},
		"from the end":              {model.RecordQuery{From: model.FromEnd}, "", 24, 24, true, false},
		"beyond the end":            {model.RecordQuery{From: 100}, "", 24, 24, true, false},
		"the last three":            {model.RecordQuery{From: model.FromEnd, Backward: true, Max: 3}, "19? 20 22!", 24, 19, true, false},
		"the last five, markers":    {model.RecordQuery{From: model.FromEnd, Backward: true, Max: 5, Control: true}, "19? 20 21commit 22! 23abort", 24, 19, true, false},
		"the last three, committed": {model.RecordQuery{From: model.FromEnd, Backward: true, Max: 3, Committed: true}, "11 15 16", 18, 11, true, false},
		"before an offset":          {model.RecordQuery{From: 6, Backward: true, Max: 2}, "4 5", 6, 4, false, false},
		"before the log start":      {model.RecordQuery{From: 2, Backward: true}, "", 3, 3, false, true},
		"all backward":              {model.RecordQuery{From: model.FromEnd, Backward: true}, all, 24, 3, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			tc.q.TP = tp
			p, err := c.Records(t.Context(), tc.q)
			if err != nil {
				t.Fatal(err)
			}
			if listed(p) != tc.want || p.Next != tc.next || p.Prev != tc.prev || p.AtEnd != tc.end || p.AtStart != tc.start || p.Start != 3 {
				t.Errorf("%q next %d prev %d end %t start %t (log %d to %d)\nwant %q next %d prev %d end %t start %t",
					listed(p), p.Next, p.Prev, p.AtEnd, p.AtStart, p.Start, p.End, tc.want, tc.next, tc.prev, tc.end, tc.start)
			}
		})
	}
	empty, err := c.Records(t.Context(), model.RecordQuery{TP: model.TopicPartition{Topic: "orders", Partition: 1}, From: model.FromEnd, Backward: true})
	if err != nil || len(empty.Records) != 0 || !empty.AtEnd || !empty.AtStart {
		t.Errorf("empty: %+v, %v", empty, err)
	}
	if _, err := c.Records(t.Context(), model.RecordQuery{TP: model.TopicPartition{Topic: "orders", Partition: 7}}); !errors.Is(err, model.ErrNoPartition) {
		t.Error(err)
	}
}

func TestRecordsAreCutAndBounded(t *testing.T) {
	_, c := open(t, Options{}, 1, "orders")
	tp := model.TopicPartition{Topic: "orders"}
	big := strings.Repeat("x", 100_000)
	for range 4 {
		if _, err := c.Produce(t.Context(), model.ProduceRequest{Topic: "orders", Acks: -1, Codec: "zstd", Records: []model.ProduceRecord{
			{Key: []byte("key"), Value: []byte(big), Headers: []model.Header{{Name: "h", Value: nil}, {Name: "e", Value: []byte{}}}}, {Key: nil, Value: nil}}}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := c.Records(t.Context(), model.RecordQuery{TP: tp, ValueLimit: 10})
	if err != nil || len(p.Records) != 8 || len(p.Records[0].Value) != 10 || p.Records[0].Size < 100_000 || string(p.Records[0].Key) != "key" {
		t.Fatalf("%d records, %v", len(p.Records), err)
	}
	if r := p.Records[0]; len(r.Headers) != 2 || r.Headers[0].Value != nil || r.Headers[1].Value == nil || p.Records[1].Key != nil || p.Records[1].Value != nil {
		t.Errorf("null and empty are not told apart: %+v", r.Headers)
	}
	p, err = c.Records(t.Context(), model.RecordQuery{TP: tp, MaxBytes: 250_000})
	if err != nil || len(p.Records) != 4 || p.Next != 4 || p.AtEnd {
		t.Errorf("forward: %d records, next %d, %v", len(p.Records), p.Next, err)
	}
	p, err = c.Records(t.Context(), model.RecordQuery{TP: tp, MaxBytes: 250_000, From: model.FromEnd, Backward: true})
	if err != nil || len(p.Records) != 5 || p.Prev != 3 || p.AtStart {
		t.Errorf("backward: %d records, prev %d, %v", len(p.Records), p.Prev, err)
	}
}

// holey makes the cluster answer fetches with batches of its own: n of them, a record each, at every step offsets.
func holey(t *testing.T, n, step int64) *Cluster {
	t.Helper()
	f, c := open(t, Options{}, 1, "state")
	end := n*step + 1
	f.ControlKey(int16(kmsg.ListOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		req := r.(*kmsg.ListOffsetsRequest)
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		rt := kmsg.NewListOffsetsResponseTopic()
		rt.Topic = "state"
		rp := kmsg.NewListOffsetsResponseTopicPartition()
		if rp.Offset = end; req.Topics[0].Partitions[0].Timestamp == atStart {
			rp.Offset = 0
		}
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	f.ControlKey(int16(kmsg.Fetch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		req := r.(*kmsg.FetchRequest)
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		in := req.Topics[0].Partitions[0]
		var raw []byte
		for at := (in.FetchOffset + step - 1) / step * step; at < n*step && len(raw) < 2000; at += step {
			b, err := record.AppendBatch(nil, record.Spec{BaseOffset: at, LeaderEpoch: -1, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1},
				[]record.Input{{Timestamp: at, Value: fmt.Appendf(nil, "s%d", at)}})
			if err != nil {
				t.Error(err)
			}
			raw = append(raw, b...)
		}
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic, rt.TopicID = req.Topics[0].Topic, req.Topics[0].TopicID
		rp := kmsg.NewFetchResponseTopicPartition()
		rp.HighWatermark, rp.LastStableOffset, rp.LogStartOffset, rp.RecordBatches = end, end, 0, raw
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	return c
}

func TestTheLastRecordsOfACompactedTopic(t *testing.T) {
	for name, step := range map[string]int64{"few holes": 3, "wide holes": 10_000, "hardly anything left": 50_000_000} {
		t.Run(name, func(t *testing.T) {
			c := holey(t, 40, step)
			tp := model.TopicPartition{Topic: "state"}
			p, err := c.Records(t.Context(), model.RecordQuery{TP: tp, From: model.FromEnd, Backward: true, Max: 5})
			if err != nil || len(p.Records) != 5 || p.Records[4].Offset != 39*step || p.Prev != 35*step || p.AtStart {
				t.Fatalf("the last five: %s prev %d, %v", listed(p), p.Prev, err)
			}
			p, err = c.Records(t.Context(), model.RecordQuery{TP: tp, From: p.Prev, Backward: true, Max: 100})
			if err != nil || len(p.Records) != 35 || p.Records[0].Offset != 0 || !p.AtStart {
				t.Fatalf("the rest: %d, %v", len(p.Records), err)
			}
			if n, err := c.countRun(t.Context(), tp, 0, 40*step+1); err != nil || n != 40 {
				t.Errorf("counted %d, %v", n, err)
			}
		})
	}
}

func TestWaitsAreBoundedAndCancellable(t *testing.T) {
	f, c := open(t, Options{Timeout: 300 * time.Millisecond}, 1, "orders")
	tp := model.TopicPartition{Topic: "orders"}
	put(t, c, tp, 3)
	stuck := make(chan struct{})
	defer close(stuck)
	for _, key := range []kmsg.Key{kmsg.Fetch, kmsg.ListOffsets} {
		f.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
			f.KeepControl()
			f.SleepControl(func() { <-stuck })
			return nil, nil, false
		})
	}
	for name, do := range map[string]func(ctx context.Context) error{
		"records": func(ctx context.Context) error {
			_, err := c.Records(ctx, model.RecordQuery{TP: tp})
			return err
		},
		"the last ones": func(ctx context.Context) error {
			_, err := c.Records(ctx, model.RecordQuery{TP: tp, From: model.FromEnd, Backward: true})
			return err
		},
		"partitions": func(ctx context.Context) error {
			ps, err := c.Partitions(ctx, "orders")
			if err == nil {
				err = ps[0].Err
			}
			return err
		},
	} {
		begin := time.Now()
		if err := do(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := do(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", name, err)
		}
	}
}

func TestWhatWasReadBeforeABrokerDiesIsGiven(t *testing.T) {
	f, c := open(t, Options{Timeout: 2 * time.Second}, 1, "orders")
	tp := model.TopicPartition{Topic: "orders"}
	value := bytes.Repeat([]byte("x"), 100_000)
	for range 8 {
		if _, err := c.Produce(t.Context(), model.ProduceRequest{Topic: "orders", Acks: -1, Records: []model.ProduceRecord{{Value: value}}}); err != nil {
			t.Fatal(err)
		}
	}
	fetches := 0
	f.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		if fetches++; fetches > 1 {
			return nil, errors.New("it died"), true
		}
		return nil, nil, false
	})
	p, err := c.Records(t.Context(), model.RecordQuery{TP: tp})
	if err != nil || len(p.Records) == 0 || len(p.Records) == 8 || len(p.Faults) != 1 || p.AtEnd || p.Next != int64(len(p.Records)) {
		t.Errorf("%d records, next %d, faults %+v, %v", len(p.Records), p.Next, p.Faults, err)
	}
}
