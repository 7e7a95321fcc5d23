package partition

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// TestCompactTombstones keeps a tombstone, and a marker, for delete.retention.ms after the run that met it first.
func TestCompactTombstones(t *testing.T) {
	w := newWorkload(t, 1, map[string]string{"segment.bytes": "200"})
	put := func(key, value string) int64 {
		in := record.Input{Timestamp: w.now, Key: []byte(key)}
		if value != "" {
			in.Value = []byte(value)
		}
		raw, err := record.AppendBatch(nil, record.Spec{}, []record.Input{in})
		if err != nil {
			t.Fatal(err)
		}
		a, err := w.log.Append(raw, AppendOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return a.First
	}
	left := func() (list []int64) {
		for _, m := range w.found() {
			list = append(list, m.Offset)
		}
		return list
	}
	put("a", "one")
	put("a", "")
	put("b", "two")
	put("c", "three")
	w.now += 10
	w.compact(CompactOptions{})
	if got := left(); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Fatalf("left %v", got)
	}
	more := func(ms int64) {
		w.now += ms
		for range 4 {
			put("d", "more")
		}
		w.compact(CompactOptions{})
	}
	more(999)
	if got := left(); !slices.Contains(got, 1) || slices.Contains(got, 4) {
		t.Fatalf("before its horizon the tombstone is to stay: %v", got)
	}
	more(2)
	if got := left(); slices.Contains(got, 1) || !slices.Contains(got, 2) {
		t.Fatalf("behind its horizon the tombstone is to go: %v", got)
	}
}

// TestCompactMarkers lets a transaction's marker go only when nothing of the transaction is left, and its horizon over.
func TestCompactMarkers(t *testing.T) {
	w := newWorkload(t, 1, map[string]string{"segment.bytes": "1000", "delete.retention.ms": "100"})
	markers := func() (n int) {
		v, err := OpenView(w.dir, testTP, model.Live, ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown})
		if err != nil {
			t.Fatal(err)
		}
		p, err := v.Records(t.Context(), model.RecordQuery{TP: testTP, From: model.FromStart, Max: 1000, Control: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range p.Records {
			if m.Control != "" && m.ProducerID == 20 {
				n++
			}
		}
		return n
	}
	step := func(ms int64, want int) {
		t.Helper()
		w.now += ms
		for range 12 {
			w.write(0, false)
		}
		w.compact(CompactOptions{})
		if got := markers(); got != want {
			t.Errorf("%d markers of the first transaction, want %d", got, want)
		}
	}
	w.write(20, true)
	w.end(20, false)
	step(0, 1)
	step(1000, 1) // the header of its last batch is what its producer wrote last, and is kept
	w.log.producers.expire(w.now + 1)
	step(0, 1)  // that is still met, and goes
	step(10, 1) // nothing is left: the horizon begins
	step(99, 1)
	step(2, 0)
}

// TestCompactLags leaves alone what is too young, and calls what is old enough overdue.
func TestCompactLags(t *testing.T) {
	w := newWorkload(t, 3, map[string]string{"min.compaction.lag.ms": "5000", "max.compaction.lag.ms": "20000", "min.cleanable.dirty.ratio": "0.99"})
	w.some(60)
	w.settleTxns()
	dirty := func() Dirty {
		t.Helper()
		d, err := w.log.Dirty()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := dirty(); d.DirtyBytes != 0 || d.Bound != 0 || d.Due(w.log.Config()) {
		t.Errorf("what was just written is dirty: %+v", d)
	}
	w.now += 6000
	d := dirty()
	if d.DirtyBytes == 0 || d.Overdue || d.Ratio() != 1 || !d.Due(w.log.Config()) {
		t.Errorf("after the lag: %+v", d)
	}
	c := w.compact(CompactOptions{})
	w.check(c.To)
	if c.To != d.Bound || dirty().DirtyBytes != 0 || dirty().Ratio() != 0 {
		t.Errorf("%+v, then %+v", c, dirty())
	}
	w.some(10)
	w.settleTxns()
	w.now += 10000
	if d := dirty(); d.Due(w.log.Config()) {
		t.Errorf("the ratio %.2f does not ask for it: %+v", d.Ratio(), d)
	}
	w.now += 20000
	w.some(10) // rolls
	if d := dirty(); !d.Overdue || !d.Due(w.log.Config()) {
		t.Errorf("nothing is overdue: %+v", d)
	}
}

// TestCompactStopsAtOpenTransactions cleans nothing from the first undecided transaction's segment on.
func TestCompactStopsAtOpenTransactions(t *testing.T) {
	w := newWorkload(t, 4, nil)
	for range 40 {
		w.write(0, false)
	}
	w.write(20, true)
	first := w.open[20][0]
	for range 80 {
		w.write(0, false)
	}
	c := w.compact(CompactOptions{})
	if c.To > first || c.To == 0 {
		t.Errorf("cleaned up to %d, the transaction begins at %d", c.To, first)
	}
	w.check(c.To)
	w.end(20, true)
	if c = w.compact(CompactOptions{}); c.To <= first {
		t.Errorf("cleaned up to %d after its end", c.To)
	}
	w.check(c.To)
}

// TestCompactFaults makes each step fail that changes the folder, once as the disk does and once as a kill does. Nothing
// is lost, and a restart leaves no file of the compaction behind.
func TestCompactFaults(t *testing.T) {
	for _, killed := range []bool{false, true} {
		steps := 1
		for at := 0; at < steps; at++ {
			w := newWorkload(t, 5, map[string]string{"segment.bytes": "3000"})
			w.some(50)
			w.settleTxns()
			n := 0
			boom := errors.New("the disk says no")
			var where string
			o := CompactOptions{step: func(what string) error {
				if n++; n == at+1 {
					where = what
					if killed {
						panic(boom)
					}
					return boom
				}
				return nil
			}}
			err := func() (err error) {
				defer func() {
					if x := recover(); x != nil {
						err = boom
					}
				}()
				_, err = w.log.Compact(t.Context(), o)
				return err
			}()
			if err == nil {
				break // all steps were gone through
			}
			if !errors.Is(err, boom) {
				t.Fatal(err)
			}
			steps++
			if killed {
				// What is left is opened as by another process.
				w.o.Point, w.o.Clean = w.log.RecoveryPoint(), false
				w.log = OpenLog(w.o)
				if cuts, err := w.log.Recover(); err != nil || len(cuts) > 0 {
					t.Errorf("at %s: recovery %v, %v", where, cuts, err)
				}
			}
			for _, suffix := range []string{".cleaned", ".swap", ".deleted"} {
				if got := w.files(suffix); len(got) > 0 {
					t.Errorf("at %s: left %v", where, got)
				}
			}
			w.check(-1)
			w.some(5)
			w.settleTxns()
			c := w.compact(CompactOptions{})
			w.check(c.To)
			if t.Failed() {
				t.Fatalf("killed %v, at step %d, %s", killed, at, where)
			}
		}
		if steps < 20 {
			t.Errorf("only %d steps", steps)
		}
	}
}

// TestCompactStops lets a cleaning be ended, and leaves damaged segments as they are.
func TestCompactStops(t *testing.T) {
	w := newWorkload(t, 6, nil)
	w.some(60)
	w.settleTxns()
	ctx, stop := context.WithCancel(t.Context())
	o := CompactOptions{step: func(what string) error {
		if what == "written" {
			stop()
		}
		return ctx.Err()
	}}
	if _, err := w.log.Compact(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if got := w.files(".cleaned"); len(got) > 0 {
		t.Errorf("left %v", got)
	}
	name := layout.FileName(0, layout.KindLog)
	w.change(name, func(b []byte) []byte {
		b[record.HeaderSize+3] ^= 1
		return b
	})
	was := w.read(name)
	var corrupt *model.CorruptError
	if _, err := w.log.Compact(t.Context(), CompactOptions{}); !errors.As(err, &corrupt) {
		t.Errorf("a damaged segment: %v", err)
	}
	if w.read(name) != was || len(w.files(".cleaned")) > 0 {
		t.Error("the damaged segment was rewritten")
	}
}

// TestCompactWithoutTxnIndex finds aborted transactions by their markers where the index of them was lost.
func TestCompactWithoutTxnIndex(t *testing.T) {
	w := newWorkload(t, 8, nil)
	w.some(80)
	w.settleTxns()
	lost := 0
	for _, name := range w.files("." + layout.KindTxnIndex) {
		number, kind, _ := strings.Cut(name, ".")
		if err := os.Remove(filepath.Join(w.dir, fmt.Sprintf("%020s.%s", number, kind))); err != nil {
			t.Fatal(err)
		}
		lost++
	}
	c := w.compact(CompactOptions{})
	if lost == 0 || c.Segments == 0 {
		t.Fatalf("%d indexes, %+v", lost, c)
	}
	w.check(c.To)
}

// TestCompactBesideRetention deletes by time what was being cleaned.
func TestCompactBesideRetention(t *testing.T) {
	w := newWorkload(t, 9, map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "100000"})
	w.some(60)
	w.settleTxns()
	w.now++
	o := CompactOptions{step: func(what string) error {
		if what == "flushed" {
			w.now += 200_000
			if gone, err := w.log.Retain(); err != nil || len(gone) == 0 {
				t.Errorf("retention: %v, %v", gone, err)
			}
		}
		return nil
	}}
	c := w.compact(o)
	if c.Segments != 0 || len(w.files(".cleaned")) > 0 || len(w.files(".swap")) > 0 {
		t.Errorf("put in the place of what is gone: %+v", c)
	}
	if b := w.bounds(); b.Start != b.End {
		t.Errorf("bounds %+v", b)
	}
	w.write(0, false)
}

// oldMessage is an entry of magic 1 with a key; an empty value is a tombstone.
func oldMessage(offset, ms int64, key, value string) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(offset))
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(ms))
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(key))), key...)
	if value == "" {
		b = binary.BigEndian.AppendUint32(b, math.MaxUint32)
	} else {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(value))), value...)
	}
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	_, computed := record.Checksum(b)
	binary.BigEndian.PutUint32(b[12:], computed)
	return b
}

// TestCompactOldEntries compacts a segment that a broker of before 0.11 wrote. Its entries stay of their kind, and a
// tombstone goes when its file is old enough, as they have no room for a horizon.
func TestCompactOldEntries(t *testing.T) {
	w := newWorkload(t, 13, map[string]string{"segment.bytes": "200"})
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	var old []byte
	for i, m := range [][2]string{{"a", "1"}, {"b", "1"}, {"a", "2"}, {"c", ""}, {"b", "2"}} {
		old = append(old, oldMessage(int64(i), day0+int64(i), m[0], m[1])...)
	}
	path := filepath.Join(w.dir, layout.FileName(0, layout.KindLog))
	if err := os.WriteFile(path, old, 0o644); err != nil {
		t.Fatal(err)
	}
	if cuts := w.crash(0); len(cuts) > 0 {
		t.Fatal(cuts)
	}
	left := func() (all []string) {
		w.append(3, day0+100) // k0 to k2
		w.append(3, day0+100)
		w.compact(CompactOptions{})
		for _, m := range w.found() {
			if m.Offset < 5 {
				all = append(all, fmt.Sprintf("%d %d %s=%s", m.Offset, m.Timestamp-day0, m.Key, m.Value))
			}
		}
		return all
	}
	if got := left(); !slices.Equal(got, []string{"2 2 a=2", "3 3 c=", "4 4 b=2"}) {
		t.Errorf("left %q", got)
	}
	was := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, was, was); err != nil {
		t.Fatal(err)
	}
	if got := left(); !slices.Equal(got, []string{"2 2 a=2", "4 4 b=2"}) {
		t.Errorf("left %q of an old file", got)
	}
}

// TestCompactRule says of each segment whether the cleaner was there, or when it will come.
func TestCompactRule(t *testing.T) {
	w := newWorkload(t, 12, nil)
	w.some(60)
	w.settleTxns()
	rules := func() (all []string) {
		first, _ := w.log.CleanedLine()
		v, err := OpenView(w.dir, testTP, model.Live, ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown, Cleaned: first})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := v.Segments(t.Context(), w.log.Config().Retention(), w.now)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range rows {
			all = append(all, s.Rule)
		}
		return slices.Compact(all)
	}
	if got := rules(); !slices.Equal(got, []string{"dirty 100%, max 50%", "active"}) {
		t.Errorf("before: %q", got)
	}
	w.compact(CompactOptions{})
	if got := rules(); !slices.Equal(got, []string{"compacted", "active"}) {
		t.Errorf("after: %q", got)
	}
	w.some(40)
	w.settleTxns()
	d, err := w.log.Dirty()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("dirty %d%%, max 50%%", int(d.Ratio()*100))
	if got := rules(); !slices.Equal(got, []string{"compacted", want, "active"}) {
		t.Errorf("later: %q, want %q", got, want)
	}
}

func TestOffsetMap(t *testing.T) {
	m := newOffsetMap(1<<40, slotSize*1000, 0.9)
	if len(m.slots) != 1000 || m.room != 900 {
		t.Errorf("%d slots, room for %d", len(m.slots), m.room)
	}
	want := map[string]int64{}
	r := rand.New(rand.NewPCG(1, 1))
	for o := int64(0); !m.full(); o++ {
		k := fmt.Sprint(r.IntN(2000))
		m.put(keyHash([]byte(k)), o)
		want[k] = o
	}
	if m.n != len(want) {
		t.Errorf("%d keys, want %d", m.n, len(want))
	}
	m.grow()
	for k := range 2000 {
		key := fmt.Sprint(k)
		o, ok := want[key]
		if !ok {
			o = -1
		}
		if got := m.get(keyHash([]byte(key))); got != o {
			t.Errorf("%s is at %d, want %d", key, got, o)
		}
	}
	if m := newOffsetMap(10, 1<<20, 0.9); len(m.slots) > 20 {
		t.Errorf("%d slots for ten keys", len(m.slots))
	}
}
