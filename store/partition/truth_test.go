package partition_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
)

// truth is what a broker said of its directory, through its own client, before it stopped.
type truth struct {
	data       string
	starts     map[model.TopicPartition]int64
	records    map[model.TopicPartition][]truthRecord
	committed  map[model.TopicPartition][]int64
	partitions map[model.TopicPartition]truthPartition
	times      map[model.TopicPartition][]truthTime
}

type truthRecord struct {
	Topic         string
	Partition     int32
	Offset        int64
	Timestamp     int64
	TimestampType string
	LeaderEpoch   int32
	Key, Value    *string
	ValueLength   int
	ValueSha256   string
	Headers       [][2]*string
}

type truthPartition struct {
	Topic         string
	Partition     int32
	LogStart      int64
	HighWatermark int64
	LastStable    int64
	MaxTimestamp  int64
	Records       int64
}

type truthTime struct {
	Topic           string
	Partition       int32
	Time            int64
	Offset          *int64
	Timestamp       *int64
	OffsetCommitted *int64
}

// unpack unpacks an archive of testdata. Each holds a log directory and the answers of the broker that wrote it.
func unpack(t testing.TB, archive string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return root
		}
		if err != nil {
			t.Fatal(err)
		}
		p := filepath.Join(root, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, time.Time{}, h.ModTime); err != nil {
			t.Fatal(err)
		}
	}
}

func loadTruth(t testing.TB, data, answers string) *truth {
	t.Helper()
	w := &truth{data: data, starts: map[model.TopicPartition]int64{}, records: map[model.TopicPartition][]truthRecord{},
		committed: map[model.TopicPartition][]int64{}, partitions: map[model.TopicPartition]truthPartition{},
		times: map[model.TopicPartition][]truthTime{}}
	for _, r := range lines[truthRecord](t, filepath.Join(answers, "records.ndjson")) {
		tp := model.TopicPartition{Topic: r.Topic, Partition: r.Partition}
		w.records[tp] = append(w.records[tp], r)
	}
	for _, r := range lines[truthRecord](t, filepath.Join(answers, "committed.ndjson")) {
		tp := model.TopicPartition{Topic: r.Topic, Partition: r.Partition}
		w.committed[tp] = append(w.committed[tp], r.Offset)
	}
	for _, p := range rows[truthPartition](t, filepath.Join(answers, "partitions.json")) {
		w.partitions[model.TopicPartition{Topic: p.Topic, Partition: p.Partition}] = p
	}
	for _, q := range rows[truthTime](t, filepath.Join(answers, "by-time.json")) {
		tp := model.TopicPartition{Topic: q.Topic, Partition: q.Partition}
		w.times[tp] = append(w.times[tp], q)
	}
	if b, err := os.ReadFile(filepath.Join(data, layout.LogStartFile)); err == nil {
		list, err := layout.ParseOffsets(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list {
			w.starts[l.TP] = l.Offset
		}
	}
	return w
}

func rows[R any](t testing.TB, path string) (out []R) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func lines[R any](t testing.TB, path string) (out []R) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		z, zerr := os.ReadFile(path + ".gz")
		if zerr != nil {
			t.Fatal(err)
		}
		r, err := gzip.NewReader(bytes.NewReader(z))
		if err != nil {
			t.Fatal(err)
		}
		if b, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	for d := json.NewDecoder(bytes.NewReader(b)); d.More(); {
		var r R
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// view opens a partition of the directory as its checkpoints say.
func (w *truth) view(t testing.TB, tp model.TopicPartition) *partition.View {
	t.Helper()
	o := partition.ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown}
	if s, ok := w.starts[tp]; ok {
		o.LogStart = s
	}
	v, err := partition.OpenView(filepath.Join(w.data, tp.String()), tp, model.Live, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWhatABrokerSaidOfItsDirectory(t *testing.T) {
	for _, archive := range []string{"kafka-4.0.tar.gz", "kafka-4.4.tar.gz"} {
		t.Run(archive, func(t *testing.T) {
			t.Parallel()
			root := unpack(t, archive)
			checkTruth(t, loadTruth(t, filepath.Join(root, "data"), filepath.Join(root, "truth")))
		})
	}
}

// checkTruth holds all reads of all partitions against what the broker said.
func checkTruth(t *testing.T, w *truth) {
	n := 0
	for tp := range w.partitions {
		if _, err := os.Stat(filepath.Join(w.data, tp.String())); err != nil {
			continue
		}
		n++
		t.Run(tp.String(), func(t *testing.T) {
			v := w.view(t, tp)
			w.checkBounds(t, v, tp)
			w.checkRecords(t, v, tp)
			w.checkCommitted(t, v, tp)
			w.checkTimes(t, v, tp)
			w.checkLookups(t, v, tp)
			w.checkFollow(t, v, tp)
			w.checkBatches(t, v)
			w.checkSearch(t, v, tp)
			sum, err := v.Verify(t.Context(), model.Unknown, func(e model.VerifyEvent) {
				if e.Fault != nil && e.Fault.Severity != model.SevInfo {
					t.Errorf("verify: %+v", *e.Fault)
				}
			})
			if err != nil || sum.Damage+sum.Warnings > 0 {
				t.Errorf("verify: %+v, %v", sum, err)
			}
		})
	}
	if n < 5 {
		t.Errorf("looked at %d partitions only", n)
	}
}

func (w *truth) checkBounds(t *testing.T, v *partition.View, tp model.TopicPartition) {
	want := w.partitions[tp]
	p := v.Partition()
	if p.LogStart != want.LogStart || p.LogEnd != want.HighWatermark || p.LastStable != want.LastStable || p.Err != nil {
		t.Errorf("partition %+v, want %+v", p, want)
	}
	if ms, err := v.Newest(t.Context()); err != nil || ms != want.MaxTimestamp && want.LogStart < want.HighWatermark {
		t.Errorf("newest %d, %v, want %d", ms, err, want.MaxTimestamp)
	}
	n, err := v.Count(t.Context(), model.FromStart, model.FromEnd)
	if err != nil || n != want.Records || n != int64(len(w.records[tp])) {
		t.Errorf("count %d, %v, want %d", n, err, want.Records)
	}
	if c := v.Partition().Records; c != model.Exactly(n) {
		t.Errorf("count known %+v", c)
	}
	mid := (p.LogStart + p.LogEnd) / 2
	a, err1 := v.Count(t.Context(), model.FromStart, mid)
	b, err2 := v.Count(t.Context(), mid, model.FromEnd)
	if err := errors.Join(err1, err2); err != nil || a+b != n {
		t.Errorf("count of halves %d + %d, want %d, %v", a, b, n, err)
	}
}

// readAll reads a log page by page.
func readAll(t *testing.T, v *partition.View, q model.RecordQuery) []model.Record {
	t.Helper()
	var out []model.Record
	q.From = model.FromStart
	if q.Backward {
		q.From = model.FromEnd
	}
	for range 1_000_000 {
		p, err := v.Records(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Faults) > 0 {
			t.Fatalf("fault %+v", p.Faults[0])
		}
		if q.Backward {
			out = slices.Concat(p.Records, out)
			if p.AtStart {
				return out
			}
			q.From = p.Prev
			continue
		}
		out = append(out, p.Records...)
		if p.AtEnd {
			return out
		}
		if p.Next <= q.From {
			t.Fatalf("page from %d goes on at %d", q.From, p.Next)
		}
		q.From = p.Next
	}
	t.Fatal("no end")
	return nil
}

func (w *truth) checkRecords(t *testing.T, v *partition.View, tp model.TopicPartition) {
	for _, q := range []model.RecordQuery{{}, {Max: 7}, {MaxBytes: 5000}, {Backward: true}, {Backward: true, Max: 7}, {Backward: true, MaxBytes: 5000}} {
		w.compare(t, tp, readAll(t, v, q))
	}
}

func (w *truth) compare(t *testing.T, tp model.TopicPartition, got []model.Record) {
	t.Helper()
	want := w.records[tp]
	if len(got) != len(want) {
		t.Errorf("%d records, want %d", len(got), len(want))
		return
	}
	for i := range got {
		g, r := got[i], want[i]
		if g.Offset != r.Offset || g.Timestamp != r.Timestamp || g.TimestampType.String() != r.TimestampType ||
			g.LeaderEpoch != r.LeaderEpoch || g.Untrusted || g.Control != "" {
			t.Errorf("got %+v, want %+v", g, r)
			return
		}
		if !same(g.Key, r.Key) || !sameValue(g.Value, r) || len(g.Headers) != len(r.Headers) {
			t.Errorf("offset %d: other bytes", g.Offset)
			return
		}
		for k, h := range g.Headers {
			if h.Name != *r.Headers[k][0] || !same(h.Value, r.Headers[k][1]) {
				t.Errorf("offset %d: header %d is %+v", g.Offset, k, h)
			}
		}
	}
}

func same(b []byte, s *string) bool {
	if b == nil || s == nil {
		return b == nil && s == nil
	}
	return base64.StdEncoding.EncodeToString(b) == *s
}

func sameValue(b []byte, r truthRecord) bool {
	if r.ValueSha256 == "" {
		return same(b, r.Value)
	}
	sum := sha256.Sum256(b)
	return len(b) == r.ValueLength && strings.EqualFold(hex.EncodeToString(sum[:]), r.ValueSha256)
}

func (w *truth) checkCommitted(t *testing.T, v *partition.View, tp model.TopicPartition) {
	want := w.committed[tp]
	for _, q := range []model.RecordQuery{{Committed: true}, {Committed: true, Max: 3}, {Committed: true, Backward: true, Max: 11}} {
		var got []int64
		for _, r := range readAll(t, v, q) {
			got = append(got, r.Offset)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %d committed records, want %d", q, len(got), len(want))
		}
	}
	var visible []int64
	for _, r := range readAll(t, v, model.RecordQuery{Max: 50}) {
		switch {
		case r.Visibility == model.Visible && r.Offset < w.partitions[tp].LastStable:
			visible = append(visible, r.Offset)
		case r.Visibility == model.Undecided && r.Offset < w.partitions[tp].LastStable:
			t.Errorf("offset %d is undecided below the last stable offset", r.Offset)
		}
	}
	if !slices.Equal(visible, want) {
		t.Errorf("%d visible records, want %d", len(visible), len(want))
	}
}

func (w *truth) checkTimes(t *testing.T, v *partition.View, tp model.TopicPartition) {
	stable := w.partitions[tp].LastStable
	for _, q := range w.times[tp] {
		r, err := v.Lookup(t.Context(), model.Target{ByTime: true, Time: q.Time})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Found != (q.Offset != nil):
			t.Errorf("time %d: found %v, want %v", q.Time, r.Found, q.Offset != nil)
		case r.Found && (r.Offset != *q.Offset || r.Time != *q.Timestamp):
			t.Errorf("time %d: %d of %d, want %d of %d", q.Time, r.Offset, r.Time, *q.Offset, *q.Timestamp)
		case !r.Found && r.Offset != w.partitions[tp].HighWatermark:
			t.Errorf("time %d: not found, at %d", q.Time, r.Offset)
		case q.OffsetCommitted != nil && (r.Offset != *q.OffsetCommitted || r.Offset >= stable):
			t.Errorf("time %d committed: %d, want %d", q.Time, r.Offset, *q.OffsetCommitted)
		}
		if len(r.Faults) > 0 || len(r.Steps) == 0 {
			t.Errorf("time %d: %+v", q.Time, r)
		}
	}
}

func (w *truth) checkLookups(t *testing.T, v *partition.View, tp model.TopicPartition) {
	all := readAll(t, v, model.RecordQuery{Control: true, Max: 1000})
	p := v.Partition()
	i := 0
	for o := p.LogStart; o < p.LogEnd; o += 1 + (p.LogEnd-p.LogStart)/150 {
		for i < len(all) && all[i].Offset < o {
			i++
		}
		r, err := v.Lookup(t.Context(), model.Target{Offset: o})
		if err != nil {
			t.Fatal(err)
		}
		if r.Found != (i < len(all)) || r.Found && (r.Offset != all[i].Offset || r.Time != all[i].Timestamp || r.Segment != all[i].Segment || r.Position != all[i].BatchPos) {
			t.Fatalf("offset %d: %+v", o, r)
		}
	}
	for _, r := range all {
		if (r.Control != "") != (r.Control == "commit" || r.Control == "abort") {
			t.Errorf("offset %d: control record %q", r.Offset, r.Control)
		}
	}
}

func (w *truth) checkFollow(t *testing.T, v *partition.View, tp model.TopicPartition) {
	var got []model.Record
	next, err := v.Follow(t.Context(), 0, partition.FollowOptions{}, func(e *partition.Entry) error {
		got = append(got, e.Model())
		return nil
	})
	if err != nil || next != w.partitions[tp].HighWatermark {
		t.Errorf("follow: next %d, %v", next, err)
	}
	w.compare(t, tp, got)
	got = got[:0]
	next, err = v.Follow(t.Context(), 0, partition.FollowOptions{Committed: true}, func(e *partition.Entry) error {
		got = append(got, e.Model())
		return nil
	})
	if err != nil || next != w.partitions[tp].LastStable || len(got) != len(w.committed[tp]) {
		t.Errorf("follow committed: %d records, next %d, %v", len(got), next, err)
	}
}

// checkBatches pages through the batches of each segment, and finds each again by its offset and by its byte.
func (w *truth) checkBatches(t *testing.T, v *partition.View) {
	segments, err := v.Segments(t.Context(), model.Retention{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range segments {
		if s.State == model.SegmentDeleted {
			continue
		}
		var all []model.Batch
		for {
			p, err := v.Batches(t.Context(), model.BatchQuery{Base: s.Base, First: int64(len(all)), Max: 7, Check: true})
			if err != nil || len(p.Faults) > 0 {
				t.Fatalf("batches: %v, %+v", err, p.Faults)
			}
			if p.First != int64(len(all)) && len(p.Batches) > 0 && p.Total > int64(len(all)) {
				t.Fatalf("first %d, want %d", p.First, len(all))
			}
			if int64(len(all)) == p.Total {
				break
			}
			all = append(all, p.Batches...)
		}
		if s.Batches != model.Exactly(int64(len(all))) {
			t.Errorf("segment %d says %+v batches, has %d", s.Base, s.Batches, len(all))
		}
		var bytes int64
		for i, b := range all {
			bytes += b.Bytes
			if !b.Valid || b.Err != nil || b.Inflated < 0 {
				t.Errorf("batch %+v", b)
			}
			if i%5 != 0 && i != len(all)-1 {
				continue // looked up in samples: it takes long
			}
			p, err := v.Batches(t.Context(), model.BatchQuery{Base: s.Base, Max: 1, Seek: model.SeekOffset, AtOffset: b.Last})
			if err != nil || p.First != int64(i) || p.Batches[0].Position != b.Position {
				t.Errorf("batch %d by offset: %+v, %v", i, p, err)
			}
			p, err = v.Batches(t.Context(), model.BatchQuery{Base: s.Base, Max: 1, Seek: model.SeekPosition, AtPosition: b.Position + b.Bytes/2})
			if err != nil || p.First != int64(i) || p.Batches[0].Position != b.Position {
				t.Errorf("batch %d by byte: %+v, %v", i, p, err)
			}
			raw, fields, err := v.BatchBytes(t.Context(), s.Base, b.Position)
			if err != nil || int64(len(raw)) != b.Bytes || len(fields) < 13 {
				t.Errorf("batch %d: %d bytes, %d fields, %v", i, len(raw), len(fields), err)
			}
		}
		if bytes+s.Trailing != s.Bytes {
			t.Errorf("segment %d: batches of %d bytes and %d behind them, of %d", s.Base, bytes, s.Trailing, s.Bytes)
		}
		for _, k := range []model.IndexKind{model.OffsetIndex, model.TimeIndex} {
			list, n, err := v.IndexEntries(t.Context(), s.Base, k, 0, 1_000_000)
			if err != nil || int64(len(list)) != n {
				t.Errorf("%s: %d of %d entries, %v", k, len(list), n, err)
			}
			for _, e := range list {
				if e.Err != nil {
					t.Errorf("%s entry %+v", k, e)
				}
			}
		}
	}
}

// checkSearch finds what a plain look at all records finds.
func (w *truth) checkSearch(t *testing.T, v *partition.View, tp model.TopicPartition) {
	for _, needle := range []string{"1", "value", "\x00"} {
		m := record.NewLiteral([]byte(needle), false)
		var want []int64
		for _, r := range readAll(t, v, model.RecordQuery{Max: 1000}) {
			found := bytes.Contains(r.Key, []byte(needle)) || bytes.Contains(r.Value, []byte(needle))
			for _, h := range r.Headers {
				found = found || strings.Contains(h.Name, needle) || bytes.Contains(h.Value, []byte(needle))
			}
			if found {
				want = append(want, r.Offset)
			}
		}
		for _, back := range []bool{false, true} {
			var got []int64
			end, err := v.Search(context.Background(), model.SearchQuery{Backward: back, MaxHits: 1 << 30}, bound(back), bound(!back), m, func(e model.SearchEvent) bool {
				if e.Hit != nil {
					got = append(got, e.Hit.Offset)
				}
				return true
			})
			if back {
				slices.Reverse(got)
			}
			if err != nil || !end.Whole || !slices.Equal(got, want) {
				t.Errorf("search %q back=%v: %d hits, want %d, %+v, %v", needle, back, len(got), len(want), end, err)
			}
		}
	}
}

func bound(back bool) int64 {
	if back {
		return model.FromEnd
	}
	return model.FromStart
}
