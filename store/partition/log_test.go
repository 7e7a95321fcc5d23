package partition

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

const day0 = int64(1700000000000)

// bench is a log under test with a clock that stands still.
type bench struct {
	t       *testing.T
	dir     string
	now     int64
	o       LogOptions
	log     *Log
	notices []string
}

var testTP = model.TopicPartition{Topic: "t", Partition: 0}

func newBench(t *testing.T, configs map[string]string) *bench {
	t.Helper()
	b := &bench{t: t, now: day0, dir: filepath.Join(t.TempDir(), "t-0")}
	b.o = LogOptions{Dir: b.dir, TP: testTP, Config: layout.ParseTopicConfig(configs),
		Now: func() int64 { return b.now }, Notice: func(s string) { b.notices = append(b.notices, s) }}
	l, err := CreateLog(b.o, layout.NewID())
	if err != nil {
		t.Fatal(err)
	}
	b.log = l
	t.Cleanup(func() { _ = b.log.Abandon() })
	return b
}

// huge is a good batch that no reader takes into memory.
func huge(b *bench) []byte {
	raw, err := record.AppendBatch(nil, record.Spec{}, []record.Input{{Timestamp: day0, Value: make([]byte, segment.DefaultMaxBatch)}})
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

// batch makes a batch of n records dated ms.
func (b *bench) batch(n int, ms int64) []byte {
	b.t.Helper()
	recs := make([]record.Input, n)
	for i := range recs {
		recs[i] = record.Input{Timestamp: ms, Key: fmt.Appendf(nil, "k%d", i), Value: []byte("value")}
	}
	raw, err := record.AppendBatch(nil, record.Spec{}, recs)
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

func (b *bench) append(n int, ms int64) Appended {
	b.t.Helper()
	a, err := b.log.Append(b.batch(n, ms), AppendOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

// reopen closes the log and opens it as after a clean stop.
func (b *bench) reopen() {
	b.t.Helper()
	if err := b.log.Close(); err != nil {
		b.t.Fatal(err)
	}
	start, _ := b.log.StartLine()
	b.o.Start, b.o.Point, b.o.Clean = start, b.log.RecoveryPoint(), true
	b.log = OpenLog(b.o)
}

// crash forgets the log as a process does that is killed, and opens it as after that: what was flushed is known up to
// point.
func (b *bench) crash(point int64) []segment.Cut {
	b.t.Helper()
	b.o.Point, b.o.Clean = point, false
	b.log = OpenLog(b.o)
	cuts, err := b.log.Recover()
	if err != nil {
		b.t.Fatal(err)
	}
	return cuts
}

func (b *bench) bounds() Bounds {
	b.t.Helper()
	bo, err := b.log.Bounds()
	if err != nil {
		b.t.Fatal(err)
	}
	return bo
}

// files returns the names in the folder, in order.
func (b *bench) files(kind string) []string {
	b.t.Helper()
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), kind) {
			names = append(names, strings.TrimLeft(e.Name()[:20], "0")+e.Name()[20:])
		}
	}
	return names
}

func (b *bench) read(name string) string {
	b.t.Helper()
	c, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(c)
}

// verify has the read side look at every byte.
func (b *bench) verify() {
	b.t.Helper()
	v, err := OpenView(b.dir, testTP, model.Live, ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown, EndIsHW: true})
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = v.Verify(b.t.Context(), model.Unknown, func(e model.VerifyEvent) {
		if e.Fault != nil && e.Fault.Severity != model.SevInfo {
			b.t.Errorf("verify: %+v", *e.Fault)
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestCreateLog(t *testing.T) {
	b := newBench(t, nil)
	if got := b.read(layout.EpochsFile); got != "0\n1\n0 0\n" {
		t.Errorf("epochs %q", got)
	}
	if got := b.read(layout.PartitionMetaFile); !strings.HasPrefix(got, "version: 0\ntopic_id: ") || len(got) != 43 {
		t.Errorf("partition.metadata %q", got)
	}
	if got := b.bounds(); got != (Bounds{}) {
		t.Errorf("bounds %+v, want none", got)
	}
	if a := b.append(3, day0); a.First != 0 || a.Last != 2 || a.Time != model.NoTime {
		t.Errorf("appended %+v", a)
	}
	if got := b.read(layout.EpochsFile); got != "0\n1\n0 0\n" {
		t.Errorf("epochs after the first append %q", got)
	}
	b.verify()
}

// TestReopen raises the leader epoch at the first append of each run, and only then.
func TestReopen(t *testing.T) {
	b := newBench(t, nil)
	b.append(20, day0)
	b.reopen()
	if got := b.read(layout.EpochsFile); got != "0\n1\n0 0\n" {
		t.Errorf("epochs before the first append %q", got)
	}
	if a := b.append(1, day0); a.First != 20 {
		t.Errorf("appended at %d, want 20", a.First)
	}
	b.reopen()
	b.reopen()
	b.append(2, day0)
	if got := b.read(layout.EpochsFile); got != "0\n3\n0 0\n1 20\n2 21\n" {
		t.Errorf("epochs %q", got)
	}
	epoch, end, err := b.log.EpochEnd(1)
	if epoch != 1 || end != 21 || err != nil {
		t.Errorf("EpochEnd(1) = %d, %d, %v", epoch, end, err)
	}
	if got := b.files(".snapshot"); !slices.Equal(got, []string{"21.snapshot"}) {
		t.Errorf("snapshots %v", got)
	}
	if len(b.notices) > 0 {
		t.Errorf("notices %v", b.notices)
	}
	b.verify()
}

func TestRoll(t *testing.T) {
	for name, tc := range map[string]struct {
		configs map[string]string
		times   []int64 // of batches of one record
		bases   []string
	}{
		"size":                {map[string]string{"segment.bytes": "170"}, []int64{0, 0, 0, 0, 0}, []string{".log", "2.log", "4.log"}},
		"time of records":     {map[string]string{"segment.ms": "1000"}, []int64{0, 1000, 1001, 5, 3000}, []string{".log", "2.log", "4.log"}},
		"compaction lag":      {map[string]string{"max.compaction.lag.ms": "10", "cleanup.policy": "compact"}, []int64{0, 11}, []string{".log", "1.log"}},
		"lag of other policy": {map[string]string{"max.compaction.lag.ms": "10"}, []int64{0, 11}, []string{".log"}},
		"full time index":     {map[string]string{"segment.index.bytes": "36", "index.interval.bytes": "0"}, []int64{0, 1, 2, 3, 4, 5}, []string{".log", "3.log"}},
		"full offset index":   {map[string]string{"segment.index.bytes": "36", "index.interval.bytes": "0"}, []int64{0, 0, 0, 0, 0, 0, 0}, []string{".log", "5.log"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tc.configs)
			for _, ms := range tc.times {
				b.append(1, day0+ms)
			}
			if got := b.files(".log"); !slices.Equal(got, tc.bases) {
				t.Errorf("segments %v, want %v", got, tc.bases)
			}
			b.verify()
		})
	}
}

// TestRollByClock goes by the wall clock where the first batch has no time.
func TestRollByClock(t *testing.T) {
	b := newBench(t, map[string]string{"segment.ms": "1000"})
	b.append(1, model.NoTime)
	b.now += 1000
	b.append(1, model.NoTime)
	b.now++
	b.append(1, model.NoTime)
	if got := b.files(".log"); !slices.Equal(got, []string{".log", "2.log"}) {
		t.Errorf("segments %v", got)
	}
}

// TestCoalesced gives many batches at once, over a roll: they lie as if they had come one by one.
func TestCoalesced(t *testing.T) {
	configs := map[string]string{"segment.bytes": "1000", "index.interval.bytes": "200"}
	one, many := newBench(t, configs), newBench(t, configs)
	var raw []byte
	for i := range 40 {
		one.append(i%3+1, day0+int64(i))
		raw = append(raw, many.batch(i%3+1, day0+int64(i))...)
	}
	a, err := many.log.Append(raw, AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := one.bounds().End - 1; a.First != 0 || a.Last != want || a.Batches != 40 {
		t.Errorf("appended %+v, want up to %d", a, want)
	}
	for _, b := range []*bench{one, many} {
		if err := b.log.Close(); err != nil {
			t.Fatal(err)
		}
		b.verify()
	}
	entries, err := os.ReadDir(one.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != layout.PartitionMetaFile && one.read(e.Name()) != many.read(e.Name()) {
			t.Errorf("%s differs", e.Name())
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	good := func(b *bench) []byte { return b.batch(2, day0) }
	for name, tc := range map[string]struct {
		configs map[string]string
		raw     func(b *bench) []byte
		reason  record.Reason
	}{
		"a bad checksum":        {nil, func(b *bench) []byte { r := good(b); r[len(r)-1] ^= 1; return r }, record.Corrupt},
		"a batch cut off":       {nil, func(b *bench) []byte { r := good(b); return r[:len(r)-1] }, record.Invalid},
		"a second one cut off":  {nil, func(b *bench) []byte { return append(good(b), good(b)[:70]...) }, record.Invalid},
		"nothing":               {nil, func(*bench) []byte { return nil }, record.Invalid},
		"a large batch":         {map[string]string{"max.message.bytes": "60"}, good, record.TooLarge},
		"unreadably large":      {map[string]string{"max.message.bytes": "200000000"}, huge, record.TooLarge},
		"larger than a segment": {map[string]string{"segment.bytes": "60"}, good, record.TooLarge},
		"from the future":       {nil, func(b *bench) []byte { return b.batch(1, day0+3600001) }, record.BadTimestamp},
		"from the past":         {map[string]string{"message.timestamp.before.max.ms": "10"}, func(b *bench) []byte { return b.batch(1, day0-11) }, record.BadTimestamp},
		"no key when compacted": {map[string]string{"cleanup.policy": "compact"}, keyless, record.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tc.configs)
			_, err := b.log.Append(tc.raw(b), AppendOptions{})
			var r *record.RefusedError
			if !errors.As(err, &r) || r.Reason != tc.reason {
				t.Fatalf("error %v, want %v", err, tc.reason)
			}
			if got := b.read(layout.FileName(0, layout.KindLog)); got != "" {
				t.Errorf("%d bytes were written", len(got))
			}
		})
	}
}

func keyless(b *bench) []byte {
	raw, err := record.AppendBatch(nil, record.Spec{}, []record.Input{{Timestamp: day0, Value: []byte("v")}})
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

func TestLogAppendTime(t *testing.T) {
	b := newBench(t, map[string]string{"message.timestamp.type": "LogAppendTime"})
	a := b.append(2, 5)
	if a.Time != day0 {
		t.Errorf("time %d, want %d", a.Time, day0)
	}
	h, err := record.ParseHeader([]byte(b.read(layout.FileName(0, layout.KindLog))))
	if err != nil || !h.LogAppendTime() || h.MaxTimestamp != day0 {
		t.Errorf("header %+v, %v", h, err)
	}
	b.verify()
}

func TestRead(t *testing.T) {
	b := newBench(t, map[string]string{"segment.bytes": "400", "index.interval.bytes": "100"})
	var all [][]byte
	for i := range 12 {
		b.append(3, day0+int64(i))
	}
	for base := int64(0); base < 36; {
		raw, err := b.log.Read(nil, base, 36, 1)
		if err != nil {
			t.Fatal(err)
		}
		h, err := record.ParseHeader(raw)
		if err != nil || h.Size() != int64(len(raw)) || h.BaseOffset != base {
			t.Fatalf("at %d: %d bytes, header %+v, %v", base, len(raw), h, err)
		}
		all = append(all, raw)
		base = h.NextOffset()
	}
	size := len(all[0])
	for name, tc := range map[string]struct {
		offset, bound int64
		max           int
		want          [][]byte
		err           error
	}{
		"within a batch":    {4, 36, 1, all[1:2], nil},
		"two that fit":      {0, 36, 2*size + 5, all[:2], nil},
		"to the bound":      {0, 5, 10000, all[:2], nil},
		"a segment at most": {0, 36, 10000, all[:3], nil},
		"at the end":        {36, 36, 100, nil, nil},
		"at the bound":      {5, 5, 100, nil, nil},
		"beyond the end":    {37, 99, 100, nil, model.ErrOutOfRange},
		"before the start":  {-1, 99, 100, nil, model.ErrOutOfRange},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := b.log.Read([]byte("x"), tc.offset, tc.bound, tc.max)
			if !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			if want := append([]byte("x"), bytes.Join(tc.want, nil)...); !bytes.Equal(got, want) {
				t.Errorf("got %d bytes, want %d", len(got), len(want))
			}
		})
	}
}

// TestReadersAndAppender reads while it is appended to, rolled and suspended: whatever a reader gets is whole and in
// order.
func TestReadersAndAppender(t *testing.T) {
	b := newBench(t, map[string]string{"segment.bytes": "5000", "index.interval.bytes": "200"})
	b.append(1, day0)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			next := int64(0)
			for {
				raw, err := b.log.Read(nil, next, 1<<62, 3000)
				if err != nil {
					t.Error(err)
					return
				}
				for len(raw) > 0 {
					h, err := record.ParseHeader(raw)
					if err != nil || h.BaseOffset != next {
						t.Errorf("at %d: %+v, %v", next, h, err)
						return
					}
					if stored, computed := record.Checksum(raw[:h.Size()]); stored != computed {
						t.Errorf("at %d: checksum", next)
						return
					}
					raw, next = raw[h.Size():], h.NextOffset()
				}
				select {
				case <-done:
					if bo, err := b.log.Bounds(); err != nil || next >= bo.End {
						return
					}
				default:
				}
			}
		})
	}
	for i := range 600 {
		b.append(i%4+1, day0+int64(i))
		if i%97 == 0 {
			if _, err := b.log.Suspend(); err != nil {
				t.Error(err)
			}
		}
		if i%150 == 0 {
			if err := b.log.Flush(); err != nil {
				t.Error(err)
			}
		}
	}
	close(done)
	wg.Wait()
	b.verify()
}

// TestFlush moves the recovery point, by hand, by count and by time.
func TestFlush(t *testing.T) {
	b := newBench(t, map[string]string{"flush.messages": "10", "flush.ms": "500"})
	b.append(4, day0)
	if got := b.log.RecoveryPoint(); got != 0 {
		t.Errorf("recovery point %d, want 0", got)
	}
	b.append(6, day0)
	if got := b.log.RecoveryPoint(); got != 10 {
		t.Errorf("recovery point after 10 records %d, want 10", got)
	}
	b.append(1, day0)
	b.now += 499
	if err := b.log.FlushDue(); err != nil || b.log.RecoveryPoint() != 10 {
		t.Errorf("before flush.ms: %d, %v", b.log.RecoveryPoint(), err)
	}
	b.now++
	if err := b.log.FlushDue(); err != nil || b.log.RecoveryPoint() != 11 {
		t.Errorf("at flush.ms: %d, %v", b.log.RecoveryPoint(), err)
	}
	b.append(1, day0)
	if err := b.log.Flush(); err != nil || b.log.RecoveryPoint() != 12 {
		t.Errorf("by hand: %d, %v", b.log.RecoveryPoint(), err)
	}
}

// TestCleanOpenReadsNothing opens a log after a clean stop, and asks for its end and its place in a checkpoint: no file
// in its folder is touched, as it may be missing altogether.
func TestCleanOpenReadsNothing(t *testing.T) {
	b := newBench(t, nil)
	b.append(5, day0)
	b.reopen()
	if err := os.Rename(b.dir, b.dir+"x"); err != nil {
		t.Fatal(err)
	}
	if got := b.log.HighWatermark(); got != 5 {
		t.Errorf("high watermark %d, want 5", got)
	}
	if got := b.log.RecoveryPoint(); got != 5 {
		t.Errorf("recovery point %d, want 5", got)
	}
	if err := b.log.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// TestFlushDeleted: a flush that comes when the topic's folder has been renamed is no failure.
func TestFlushDeleted(t *testing.T) {
	b := newBench(t, nil)
	b.append(1, day0)
	if err := b.log.Abandon(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(b.dir, b.dir+"-delete"); err != nil {
		t.Fatal(err)
	}
	if err := b.log.Flush(); err != nil {
		t.Errorf("flush: %v", err)
	}
	if _, err := b.log.Append(b.batch(1, day0), AppendOptions{}); !errors.Is(err, model.ErrClosed) {
		t.Errorf("append: %v", err)
	}
}
