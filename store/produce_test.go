package store

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
)

// TestMurmur2 holds the hash and the partition of 12 against the Java client's.
func TestMurmur2(t *testing.T) {
	for key, want := range map[string]struct {
		hash int32
		p    int32
	}{
		"": {275646681, 9}, "a": {-1563381124, 4}, "ab": {316155434, 2}, "abc": {479470107, 3}, "abcd": {-1323649548, 8}, "foobar": {-790332482, 6},
	} {
		if h, p := Murmur2([]byte(key)), PartitionFor([]byte(key), 12); h != want.hash || p != want.p {
			t.Errorf("%q: %d, partition %d; want %d, %d", key, h, p, want.hash, want.p)
		}
	}
}

func TestPartitioners(t *testing.T) {
	e := open(t, Options{}, t.TempDir())
	create(t, e, "t", 12)
	ctx := t.Context()
	send := func(partitioner string, recs ...model.ProduceRecord) []int32 {
		t.Helper()
		out, err := e.Produce(ctx, model.ProduceRequest{Topic: "t", Records: recs, Partitioner: partitioner})
		if err != nil {
			t.Fatal(err)
		}
		var ps []int32
		for _, p := range out {
			ps = append(ps, p.Partition)
		}
		return ps
	}
	rec := func(key string, size int) model.ProduceRecord {
		r := model.ProduceRecord{Value: make([]byte, size), Partition: -1}
		if key != "-" {
			r.Key = []byte(key)
		}
		return r
	}
	if got := send("", rec("foobar", 1), rec("", 1), rec("a", 1)); !slices.Equal(got, []int32{6, 9, 4}) {
		t.Errorf("keyed: %v", got)
	}
	if got := send("", model.ProduceRecord{Key: []byte("foobar"), Partition: 2}); !slices.Equal(got, []int32{2}) {
		t.Errorf("explicit: %v", got)
	}
	if got := send("roundrobin", rec("-", 1), rec("x", 1), rec("-", 1)); !slices.Equal(got, []int32{0, 1, 2}) {
		t.Errorf("round robin: %v", got)
	}
	sticky := send("", rec("-", 9000), rec("-", 9000), rec("-", 9000), rec("-", 9000))
	if sticky[0] != sticky[1] || sticky[1] == sticky[2] || sticky[2] != sticky[3] {
		t.Errorf("sticky: %v, want a change after 16 KiB", sticky)
	}
	seen := map[int32]bool{}
	for range 40 {
		seen[send("random", rec("x", 1))[0]] = true
	}
	if len(seen) < 4 {
		t.Errorf("random: only %v", seen)
	}
	if _, err := e.Produce(ctx, model.ProduceRequest{Topic: "t", Records: []model.ProduceRecord{{Partition: 12}}}); !errors.Is(err, model.ErrNoPartition) {
		t.Errorf("partition 12: %v", err)
	}
	if _, err := e.Produce(ctx, model.ProduceRequest{Topic: "t", Records: []model.ProduceRecord{{Partition: -1}}, Partitioner: "magic"}); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("an unknown partitioner: %v", err)
	}
}

// TestProduce writes in every codec, with headers and nulls, and reads back what was given.
func TestProduce(t *testing.T) {
	dir := t.TempDir()
	c := newClock()
	e := open(t, Options{Now: c.now}, dir)
	create(t, e, "t", 1)
	ctx := t.Context()
	var want []model.ProduceRecord
	for _, codec := range []string{"", "gzip", "snappy", "lz4", "zstd"} {
		recs := []model.ProduceRecord{
			{Key: []byte("k"), Value: []byte("v-" + codec), Headers: []model.Header{{Name: "h", Value: []byte("1")}, {Name: "h"}}},
			{Value: bytes.Repeat([]byte("long "), 8000), Timestamp: 1699999999000},
			{Key: []byte{}, Value: nil},
		}
		out, err := e.Produce(ctx, model.ProduceRequest{Topic: "t", Records: recs, Codec: codec, Acks: -1})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range out {
			if p.Offset != int64(len(want)+i) || p.Partition != 0 {
				t.Errorf("%s %d: went to %+v", codec, i, p)
			}
		}
		if out[0].Timestamp != 1700000000000 || out[1].Timestamp != 1699999999000 {
			t.Errorf("%s: dated %d, %d", codec, out[0].Timestamp, out[1].Timestamp)
		}
		want = append(want, recs...)
	}
	v, err := partition.OpenView(filepath.Join(dir, "t-0"), tp("t", 0), model.Live, partition.ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown})
	if err != nil {
		t.Fatal(err)
	}
	page, err := v.Records(ctx, model.RecordQuery{TP: tp("t", 0), From: model.FromStart})
	if err != nil || len(page.Records) != len(want) {
		t.Fatalf("%d records, %v", len(page.Records), err)
	}
	for i, r := range page.Records {
		w := want[i]
		same := bytes.Equal(r.Key, w.Key) && (r.Key == nil) == (w.Key == nil) && bytes.Equal(r.Value, w.Value) && (r.Value == nil) == (w.Value == nil)
		if !same || len(r.Headers) != len(w.Headers) {
			t.Errorf("record %d: %+v, want %+v", i, r, w)
		}
		for k, h := range r.Headers {
			if h.Name != w.Headers[k].Name || !bytes.Equal(h.Value, w.Headers[k].Value) || (h.Value == nil) != (w.Headers[k].Value == nil) {
				t.Errorf("record %d: header %+v", i, h)
			}
		}
	}
}

func TestProduceRefuses(t *testing.T) {
	e := open(t, Options{}, t.TempDir())
	create(t, e, "plain", 1, "max.message.bytes=1000")
	create(t, e, "compacted", 1, "cleanup.policy=compact")
	for name, tc := range map[string]struct {
		r   model.ProduceRequest
		err error
	}{
		"no key":   {model.ProduceRequest{Topic: "compacted", Records: []model.ProduceRecord{{Value: []byte("v")}}}, model.ErrRefused},
		"large":    {model.ProduceRequest{Topic: "plain", Records: []model.ProduceRecord{{Value: make([]byte, 1000)}}}, model.ErrRefused},
		"future":   {model.ProduceRequest{Topic: "plain", Records: []model.ProduceRecord{{Timestamp: time.Now().Add(2 * time.Hour).UnixMilli()}}}, model.ErrRefused},
		"codec":    {model.ProduceRequest{Topic: "plain", Codec: "brotli", Records: []model.ProduceRecord{{}}}, model.ErrInvalid},
		"acks":     {model.ProduceRequest{Topic: "plain", Acks: 2, Records: []model.ProduceRecord{{}}}, model.ErrInvalid},
		"no topic": {model.ProduceRequest{Topic: "plane"}, model.ErrNoTopic},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := e.Produce(t.Context(), tc.r); !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
		})
	}
	for _, name := range []string{"plain", "compacted"} {
		if l, err := e.Log(tp(name, 0)); err != nil || l.HighWatermark() != 0 {
			t.Errorf("%s: something was written: %d, %v", name, l.HighWatermark(), err)
		}
	}
	// Many that are large together are cut into batches that are not.
	var recs []model.ProduceRecord
	for i := range 20 {
		recs = append(recs, model.ProduceRecord{Value: bytes.Repeat([]byte{byte(i)}, 300)})
	}
	out, err := e.Produce(t.Context(), model.ProduceRequest{Topic: "plain", Acks: 1, Records: recs})
	if err != nil || out[19].Offset != 19 {
		t.Errorf("%+v, %v", out, err)
	}
	// acks 0 tells no offsets; LogAppendTime tells its own time; the topic's codec goes before the request's.
	create(t, e, "own", 1, "message.timestamp.type=LogAppendTime", "compression.type=zstd")
	out, err = e.Produce(t.Context(), model.ProduceRequest{Topic: "own", Codec: "gzip", Records: []model.ProduceRecord{{Value: []byte("v"), Timestamp: 5}}})
	if err != nil || out[0].Timestamp < 1700000000000 {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err = e.Produce(t.Context(), model.ProduceRequest{Topic: "own", Acks: 0, Records: []model.ProduceRecord{{Value: []byte("v")}}}); err != nil {
		t.Errorf("%+v, %v", out, err)
	}
	h, err := record.ParseHeader([]byte(file(t, e.Dirs()[0], "own-0", layout.FileName(0, layout.KindLog))))
	if err != nil || h.Codec() != record.Zstd || !h.LogAppendTime() {
		t.Errorf("stored as %v, %v", h.Codec(), err)
	}
}

// TestAcks: offsets are not told with acks 0.
func TestAcks(t *testing.T) {
	e := open(t, Options{}, t.TempDir())
	create(t, e, "t", 1)
	for acks, want := range map[int]bool{0: false, 1: true, -1: true} {
		out, err := e.Produce(t.Context(), model.ProduceRequest{Topic: "t", Acks: acks, Records: []model.ProduceRecord{{Value: []byte("v")}}})
		if err != nil || out[0].Offset >= 0 != want {
			t.Errorf("acks %d: %+v, %v", acks, out, err)
		}
	}
}
