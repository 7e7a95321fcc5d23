package partition_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment/segtest"
)

// layers makes a folder of segments of one batch of ten records each, dated as given (ms), and of the given sizes.
func layers(t testing.TB, times []int64, sizes []int) string {
	t.Helper()
	dir := t.TempDir()
	for i, ms := range times {
		base := int64(i * 10)
		in := make([]record.Input, 10)
		for k := range in {
			in[k] = record.Input{Timestamp: ms - int64(9-k)}
		}
		plain := len(segtest.Batch(t, record.Spec{BaseOffset: base}, in...))
		if pad := sizes[i] - plain; pad > 2 {
			in[9].Value = make([]byte, pad-2)
		}
		segtest.Write(t, dir, base, layout.KindLog, segtest.Batch(t, record.Spec{BaseOffset: base}, in...))
		segtest.Write(t, dir, base, layout.KindIndex, nil)
		segtest.Write(t, dir, base, layout.KindTimeIndex, segtest.TimeIndex(base, []segtest.Pair{{ms, base + 9}}))
	}
	return dir
}

func TestWhenSegmentsLeave(t *testing.T) {
	const now = 1_800_000_000_000
	const hour, day = 3_600_000, 86_400_000
	sizes := []int{1000, 1000, 1000, 1000}
	times := []int64{now - 9*day, now - 6*day, now - day, now - hour}
	week := model.Retention{Known: true, Delete: true, MS: 7 * day, Bytes: -1}
	for name, tc := range map[string]struct {
		r     model.Retention
		times []int64
		start int64
		want  []string // rule, hours from now
	}{
		"by time":              {week, times, 0, []string{"retention.ms -48", "retention.ms 24", "retention.ms 144", "active 167"}},
		"an older one waits":   {week, []int64{now + day, now - 9*day, now - 9*day, now}, 0, []string{"retention.ms 192", "retention.ms 192", "retention.ms 192", "active 192"}},
		"by size":              {model.Retention{Known: true, Delete: true, MS: -1, Bytes: 2000}, times, 0, []string{"retention.bytes 0", "retention.bytes 0", "retention.bytes -", "active -"}},
		"never below the size": {model.Retention{Known: true, Delete: true, MS: -1, Bytes: 2500}, times, 0, []string{"retention.bytes 0", "retention.bytes -", "retention.bytes -", "active -"}},
		"by size, then time":   {model.Retention{Known: true, Delete: true, MS: 7 * day, Bytes: 3000}, times, 0, []string{"retention.bytes 0", "retention.ms 24", "retention.ms 144", "active 167"}},
		"for ever":             {model.Retention{Known: true, Delete: true, MS: -1, Bytes: -1}, times, 0, []string{"never -", "never -", "never -", "active -"}},
		"compacted":            {model.Retention{Known: true, Compact: true, MS: 7 * day, Bytes: 100}, times, 0, []string{"compact -", "compact -", "compact -", "active -"}},
		"compacted, deleted":   {model.Retention{Known: true, Compact: true, Delete: true, MS: 7 * day, Bytes: -1}, times, 0, []string{"retention.ms -48", "retention.ms 24", "retention.ms 144", "active 167"}},
		"below the log start":  {model.Retention{Known: true, Compact: true}, times, 25, []string{"log start 0", "log start 0", "compact -", "active -"}},
		"not known":            {model.Retention{}, times, 0, []string{"unknown -", "unknown -", "unknown -", "active -"}},
		"the active one too":   {week, []int64{now - 9*day, now - 9*day, now - 9*day, now - 8*day}, 0, []string{"retention.ms -48", "retention.ms -48", "retention.ms -48", "retention.ms -24"}},
		"of no size at all":    {model.Retention{Known: true, Delete: true, MS: -1, Bytes: 0}, times, 0, []string{"retention.bytes 0", "retention.bytes 0", "retention.bytes 0", "retention.bytes 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := unknownBounds()
			o.LogStart = tc.start
			v, err := partition.OpenView(layers(t, tc.times, sizes), kitchenTP, model.Live, o)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := v.Segments(t.Context(), tc.r, now)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range rows {
				got := s.Rule + " -"
				if s.Leaves != model.NoTime {
					got = fmt.Sprintf("%s %d", s.Rule, (s.Leaves-1-now)/hour)
				}
				if got != tc.want[i] {
					t.Errorf("segment %d: %q, want %q", i, got, tc.want[i])
				}
			}
		})
	}
}

func TestSegmentWithoutTimesLeavesByItsFile(t *testing.T) {
	dir := layers(t, []int64{-1, -1}, []int{1000, 1000})
	old := time.UnixMilli(1_700_000_000_000)
	if err := os.Chtimes(filepath.Join(dir, layout.FileName(0, layout.KindLog)), old, old); err != nil {
		t.Fatal(err)
	}
	rows, err := openView(t, dir).Segments(t.Context(), model.Retention{Known: true, Delete: true, MS: 1000, Bytes: -1}, 1_700_000_000_500)
	if err != nil || rows[0].Leaves != 1_700_000_001_001 {
		t.Errorf("leaves at %d, %v", rows[0].Leaves, err)
	}
}

// rename gives a file of a segment another suffix.
func rename(t *testing.T, dir string, base int64, suffix string) {
	t.Helper()
	p := filepath.Join(dir, layout.FileName(base, layout.KindLog))
	if err := os.Rename(p, p+"."+suffix); err != nil {
		t.Fatal(err)
	}
}

func TestLeftoversAsABrokerSeesThem(t *testing.T) {
	four := func(t *testing.T) string { return layers(t, []int64{1, 2, 3, 4}, []int{0, 0, 0, 0}) }
	merged := func(t *testing.T, dir, suffix string) {
		t.Helper()
		one := segtest.Batch(t, record.Spec{BaseOffset: 0}, record.Input{Timestamp: 1, Value: []byte("kept")})
		two := segtest.Batch(t, record.Spec{BaseOffset: 10, Sparse: true, LastOffsetDelta: 9}, record.Input{Timestamp: 2, Value: []byte("kept too"), OffsetDelta: 9})
		p := filepath.Join(dir, layout.FileName(0, layout.KindLog)+"."+suffix)
		if err := os.WriteFile(p, slices.Concat(one, two), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		make   func(t *testing.T) string
		live   []string
		left   []string
		counts int64
	}{
		"deleted": {func(t *testing.T) string { d := four(t); rename(t, d, 0, "deleted"); return d },
			[]string{"10 sealed", "20 sealed", "30 active"}, []string{"0 deleted"}, 30},
		"a compaction's unfinished output": {func(t *testing.T) string { d := four(t); merged(t, d, "cleaned"); return d },
			[]string{"0 sealed", "10 sealed", "20 sealed", "30 active"}, []string{"0 cleaned"}, 40},
		"a compaction's output replaces": {func(t *testing.T) string { d := four(t); merged(t, d, "swap"); return d },
			[]string{"0 swap", "20 sealed", "30 active"}, []string{"0 sealed", "10 sealed"}, 22},
		"half of a split": {func(t *testing.T) string { d := four(t); merged(t, d, "swap"); merged(t, d, "cleaned"); return d },
			[]string{"0 sealed", "10 sealed", "20 sealed", "30 active"}, []string{"0 cleaned", "0 swap"}, 40},
	} {
		t.Run(name, func(t *testing.T) {
			v := openView(t, tc.make(t))
			rows, err := v.Segments(t.Context(), model.Retention{}, 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range rows {
				got = append(got, fmt.Sprintf("%d %s", s.Base, s.State))
				if _, err := os.Stat(s.Path); err != nil {
					t.Errorf("path: %v", err)
				}
			}
			slices.Sort(got[len(tc.live):])
			if !slices.Equal(got, append(slices.Clone(tc.live), tc.left...)) {
				t.Errorf("got %q", got)
			}
			if n, err := v.Count(t.Context(), model.FromStart, model.FromEnd); err != nil || n != tc.counts {
				t.Errorf("count %d, %v", n, err)
			}
			for _, back := range []bool{false, true} {
				if n := len(readAll(t, v, model.RecordQuery{Max: 3, Backward: back})); int64(n) != tc.counts {
					t.Errorf("%d records", n)
				}
			}
		})
	}
}

func TestRefreshSharesWhatIsStillTrue(t *testing.T) {
	dir := segtest.Dir(t)
	path := filepath.Join(dir, layout.FileName(0, layout.KindLog))
	v := openView(t, dir)
	if _, err := v.Count(t.Context(), model.FromStart, model.FromEnd); err != nil {
		t.Fatal(err)
	}
	if same, changed, err := v.Refresh(unknownBounds()); err != nil || changed || same != v {
		t.Fatalf("nothing has changed: %v, %v", changed, err)
	}
	more := segtest.Batch(t, record.Spec{BaseOffset: 33, LeaderEpoch: 2, Transactional: true, HasProducer: true, ProducerID: 5}, record.Input{Timestamp: segtest.T + 9000, Value: []byte("new")})
	if err := os.WriteFile(path, append(segtest.Kitchen(), more...), 0o644); err != nil {
		t.Fatal(err)
	}
	n, changed, err := v.Refresh(unknownBounds())
	if err != nil || !changed {
		t.Fatalf("a batch more: %v, %v", changed, err)
	}
	if g, changed, err := v.Grown(unknownBounds()); err != nil || !changed || g.Partition().LogEnd != 34 || g.Partition().Records != model.Exactly(19) {
		t.Errorf("grown: %v, %v", changed, err)
	}
	p := n.Partition()
	if p.LogEnd != 34 || p.LastStable != 33 || p.Records != model.Exactly(19) || p.Newest != segtest.T+9000 {
		t.Errorf("partition %+v", p)
	}
	if old := v.Partition(); old.LogEnd != 33 || old.Records != model.Exactly(18) {
		t.Errorf("the old view has changed: %+v", old)
	}
	if got := offsets(page(t, v, model.RecordQuery{From: 31}).Records); !slices.Equal(got, []int64{31, 32}) {
		t.Errorf("the old view shows %v", got)
	}
	r := page(t, n, model.RecordQuery{From: 32}).Records
	if len(r) != 2 || r[1].Visibility != model.Undecided {
		t.Errorf("the new view shows %+v", r)
	}
	end := record.AppendMarker(nil, record.Marker{Offset: 34, LeaderEpoch: 2, ProducerID: 5, ProducerEpoch: 1, Timestamp: segtest.T})
	if err := os.WriteFile(path, slices.Concat(segtest.Kitchen(), more, end), 0o644); err != nil {
		t.Fatal(err)
	}
	m, _, err := n.Refresh(unknownBounds())
	if err != nil {
		t.Fatal(err)
	}
	if p := m.Partition(); p.LogEnd != 35 || p.LastStable != 35 || p.Records != model.Exactly(19) {
		t.Errorf("the abort: %+v", p)
	}
	if r := page(t, m, model.RecordQuery{From: 32}).Records; len(r) != 2 || r[1].Visibility != model.Aborted {
		// No .txnindex says so: the marker does.
		t.Errorf("aborted: %+v", r)
	}
	if err := os.Truncate(path, 820); err != nil {
		t.Fatal(err)
	}
	c, changed, err := m.Refresh(unknownBounds())
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	if p := c.Partition(); p.LogEnd != 32 || p.LastStable != 32 {
		t.Errorf("cut: %+v", p)
	}
	if n, err := c.Count(t.Context(), model.FromStart, model.FromEnd); err != nil || n != 17 {
		t.Errorf("cut: count %d, %v", n, err)
	}
	_ = page(t, m, model.RecordQuery{From: model.FromStart}) // the old view's end is gone: no panic, no error
}

func TestFilesThatVanishAreErrorsWithTheirPath(t *testing.T) {
	dir := layers(t, []int64{1, 2, 3}, []int{0, 0, 0})
	v := openView(t, dir)
	if err := os.Remove(filepath.Join(dir, layout.FileName(10, layout.KindLog))); err != nil {
		t.Fatal(err)
	}
	p, err := v.Records(t.Context(), model.RecordQuery{From: model.FromStart})
	if !errors.Is(err, fs.ErrNotExist) || len(p.Records) != 10 {
		t.Errorf("%d records, %v", len(p.Records), err)
	}
	if _, err := v.Lookup(t.Context(), model.Target{Offset: 15}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("lookup: %v", err)
	}
	if _, err := v.Count(t.Context(), model.FromStart, model.FromEnd); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("count: %v", err)
	}
	rows, err := v.Segments(t.Context(), model.Retention{}, 0)
	if err != nil || !errors.Is(rows[1].Err, fs.ErrNotExist) || rows[0].Err != nil {
		t.Errorf("segments: %+v, %v", rows, err)
	}
	sum, err := v.Verify(t.Context(), model.Unknown, func(model.VerifyEvent) {})
	if err != nil || sum.Damage != 0 || sum.Infos != 1 {
		t.Errorf("verify: %+v, %v", sum, err)
	}
	n, changed, err := v.Refresh(unknownBounds())
	if err != nil || !changed || len(page(t, n, model.RecordQuery{From: model.FromStart}).Records) != 20 {
		t.Errorf("refreshed: %v, %v", changed, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, _, err := v.Refresh(unknownBounds()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder has gone: %v", err)
	}
	if _, err := v.Batches(t.Context(), model.BatchQuery{Base: 7}); !errors.Is(err, model.ErrNoSegment) {
		t.Errorf("no such segment: %v", err)
	}
}

// TestVerifyWhileABrokerWrites checks a view whose last segment has grown and was rolled since, as under a running broker.
func TestVerifyWhileABrokerWrites(t *testing.T) {
	dir := layers(t, []int64{1, 2}, []int{0, 0})
	v := openView(t, dir)
	path := filepath.Join(dir, layout.FileName(10, layout.KindLog))
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	more := record.AppendMarker(nil, record.Marker{Offset: 20, ProducerID: 5, Timestamp: segtest.T})
	if err := os.WriteFile(path, slices.Concat(old, more), 0o600); err != nil {
		t.Fatal(err)
	}
	segtest.Write(t, dir, 21, layout.KindLog, record.AppendMarker(nil, record.Marker{Offset: 21, ProducerID: 5, Timestamp: segtest.T}))
	sum, err := v.Verify(t.Context(), model.Unknown, func(e model.VerifyEvent) {
		if e.Fault != nil && e.Fault.Kind == "order" {
			t.Errorf("%+v", *e.Fault)
		}
	})
	if err != nil || sum.Damage > 0 || sum.Records != 21 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// TestReadersAndAWriter reads from views of a log that grows and is cut all the while.
func TestReadersAndAWriter(t *testing.T) {
	dir := t.TempDir()
	path := segtest.Write(t, dir, 0, layout.KindLog, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { // ends with ctx
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		rng := rand.New(rand.NewPCG(1, 2))
		var at int64
		for next := int64(0); ctx.Err() == nil; next++ {
			b, err := record.AppendBatch(nil, record.Spec{BaseOffset: next}, []record.Input{{Timestamp: next, Value: make([]byte, rng.IntN(3000))}})
			if err != nil {
				t.Error(err)
				return
			}
			half := rng.IntN(len(b))
			_, _ = f.WriteAt(b[:half], at)
			_, _ = f.WriteAt(b[half:], at+int64(half))
			at += int64(len(b))
			if rng.IntN(200) == 0 {
				at, next = 0, -1
				_ = f.Truncate(0)
			}
		}
	})
	v := openView(t, dir)
	for i := range 300 {
		look := v.Refresh
		if i%2 == 0 {
			look = v.Grown
		}
		n, _, err := look(unknownBounds())
		if err != nil {
			t.Fatal(err)
		}
		v = n
		var inner sync.WaitGroup
		inner.Go(func() {
			_, _ = v.Records(ctx, model.RecordQuery{From: model.FromEnd, Backward: true, Max: 20})
			_, _ = v.Lookup(ctx, model.Target{Offset: 3})
			_, _ = v.Batches(ctx, model.BatchQuery{First: 5, Max: 3, Check: true})
		})
		inner.Go(func() {
			_, _ = v.Follow(ctx, 0, partition.FollowOptions{}, func(*partition.Entry) error { return nil })
			_, _ = v.Count(ctx, model.FromStart, model.FromEnd)
			_, _ = v.Segments(ctx, model.Retention{Known: true}, 0)
			_, _ = v.Search(ctx, model.SearchQuery{}, model.FromStart, model.FromEnd, record.NewLiteral([]byte("needle"), false), func(model.SearchEvent) bool { return true })
		})
		inner.Wait()
	}
	cancel()
	wg.Wait()
}

func TestSearchEnds(t *testing.T) {
	v := openView(t, segtest.Dir(t))
	find := func(ctx context.Context, q model.SearchQuery, from int64, needle string, most int) ([]int64, model.SearchEnd) {
		var got []int64
		bound := model.FromEnd
		if q.Backward {
			bound = model.FromStart
		}
		end, err := v.Search(ctx, q, from, bound, record.NewLiteral([]byte(needle), false), func(e model.SearchEvent) bool {
			if e.Hit != nil {
				got = append(got, e.Hit.Offset)
			}
			return len(got) < most
		})
		if err != nil {
			t.Fatal(err)
		}
		return got, end
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx    context.Context
		q      model.SearchQuery
		from   int64
		needle string
		most   int
		want   []int64
		reason string
	}{
		"the first":           {t.Context(), model.SearchQuery{}, model.FromStart, "k1", 9, []int64{1}, "limit reached"},
		"the next":            {t.Context(), model.SearchQuery{}, 2, "k1", 9, []int64{18}, "limit reached"},
		"the last":            {t.Context(), model.SearchQuery{Backward: true}, model.FromEnd, "k1", 9, []int64{18}, "limit reached"},
		"the one before":      {t.Context(), model.SearchQuery{Backward: true}, 18, "k1", 9, []int64{1}, "limit reached"},
		"all":                 {t.Context(), model.SearchQuery{MaxHits: 9}, model.FromStart, "k", 9, []int64{0, 1, 2, 16, 17, 18}, "end of log"},
		"all, backward":       {t.Context(), model.SearchQuery{MaxHits: 9, Backward: true}, model.FromEnd, "k", 9, []int64{18, 17, 16, 2, 1, 0}, "start of log"},
		"in keys only":        {t.Context(), model.SearchQuery{MaxHits: 9, Keys: true}, model.FromStart, "k", 9, []int64{0, 1, 2, 16, 18}, "end of log"},
		"in headers only":     {t.Context(), model.SearchQuery{MaxHits: 9, Headers: true}, model.FromStart, "h", 9, []int64{19}, "end of log"},
		"in a header's value": {t.Context(), model.SearchQuery{MaxHits: 9}, model.FromStart, "\x00\xff", 9, []int64{19}, "end of log"},
		"aborted":             {t.Context(), model.SearchQuery{MaxHits: 9}, model.FromStart, "4", 9, []int64{7}, "end of log"},
		"not aborted":         {t.Context(), model.SearchQuery{MaxHits: 9, Committed: true}, model.FromStart, "4", 9, nil, "end of log"},
		"since":               {t.Context(), model.SearchQuery{MaxHits: 9, Since: segtest.T + 4000}, model.FromStart, "k", 9, []int64{16, 17, 18}, "end of log"},
		"until":               {t.Context(), model.SearchQuery{MaxHits: 9, Until: segtest.T + 7}, model.FromStart, "k", 9, []int64{0, 1, 2}, "end of log"},
		"stopped":             {t.Context(), model.SearchQuery{MaxHits: 9}, model.FromStart, "k", 2, []int64{0, 1}, "cancelled"},
		"cancelled":           {gone, model.SearchQuery{MaxHits: 9}, model.FromStart, "k", 9, nil, "cancelled"},
		"nothing":             {t.Context(), model.SearchQuery{}, model.FromStart, "zulu", 9, nil, "end of log"},
	} {
		t.Run(name, func(t *testing.T) {
			got, end := find(tc.ctx, tc.q, tc.from, tc.needle, tc.most)
			if !slices.Equal(got, tc.want) || end.Reason != tc.reason || end.Hits != int64(len(got)) {
				t.Errorf("got %v, %+v", got, end)
			}
		})
	}
}

// TestSearchInManyChunks searches a log that is cut into chunks for two goroutines.
func TestSearchInManyChunks(t *testing.T) {
	dir := t.TempDir()
	log, index, times, next := segtest.Fill(t, record.Spec{}, 12<<20, 50, 300)
	var want []int64
	for o := int64(1234); o < next; o += 9_999 {
		want = append(want, o)
	}
	log = log[:0]
	for base := int64(0); base < next; base += 50 {
		in := make([]record.Input, 50)
		for i := range in {
			in[i] = record.Input{Timestamp: segtest.T + base + int64(i), Key: make([]byte, 8), Value: bytes.Repeat([]byte("."), 300)}
			if o := base + int64(i); slices.Contains(want, o) {
				copy(in[i].Value[100:], "needle")
			}
		}
		log = append(log, segtest.Batch(t, record.Spec{BaseOffset: base}, in...)...)
	}
	segtest.Write(t, dir, 0, layout.KindLog, log)
	segtest.Write(t, dir, 0, layout.KindIndex, index)
	segtest.Write(t, dir, 0, layout.KindTimeIndex, times)
	indexed := openView(t, dir)
	bare := openView(t, logDir(t, log))
	for name, v := range map[string]*partition.View{"indexed": indexed, "bare": bare} {
		for _, back := range []bool{false, true} {
			var got []int64
			var records, done int64
			end, err := v.Search(t.Context(), model.SearchQuery{MaxHits: 1000, Backward: back}, bound(back), bound(!back), record.NewLiteral([]byte("needle"), false), func(e model.SearchEvent) bool {
				if e.Hit != nil {
					got = append(got, e.Hit.Offset)
				}
				if e.BytesDone < done {
					t.Errorf("went back from %d to %d bytes", done, e.BytesDone)
				}
				records, done = e.Records, e.BytesDone
				return true
			})
			if back {
				slices.Reverse(got)
			}
			if err != nil || !end.Whole || !slices.Equal(got, want) || records != next || done != int64(len(log)) {
				t.Errorf("%s back=%v: %v, %+v, %v, %d of %d records, %d of %d bytes", name, back, got, end, err, records, next, done, len(log))
			}
		}
		sum, err := v.Verify(t.Context(), model.Unknown, func(e model.VerifyEvent) {
			if e.Fault != nil && e.Fault.What != "missing: a broker makes it anew" {
				t.Errorf("%s: %+v", name, *e.Fault)
			}
		})
		if err != nil || sum.Records != next {
			t.Errorf("%s: verify %+v, %v", name, sum, err)
		}
	}
	// A wrong index that chunks are cut by must not invent damage.
	for i := 4; i < len(index); i += 8 {
		index[i+3] ^= 8
	}
	segtest.Write(t, dir, 0, layout.KindIndex, index)
	sum, err := openView(t, dir).Verify(t.Context(), model.Unknown, func(model.VerifyEvent) {})
	if err != nil || sum.Records != next || sum.Damage > 0 || sum.Warnings == 0 {
		t.Errorf("verify by a wrong index: %+v, %v", sum, err)
	}
}
