package partition

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

var compactSeeds = flag.Uint64("compact.seeds", 4, "how many workloads TestCompactKeepsTheLast goes through")

// workload writes what a compacted topic is given, and knows what a reader must find.
type workload struct {
	*bench
	r    *rand.Rand
	all  map[int64]model.Record // every data record, by offset, with its visibility once its transaction is over
	seqs map[int64]int32        // next sequence by producer
	open map[int64][]int64      // offsets of the open transaction by producer
}

func newWorkload(t *testing.T, seed uint64, configs map[string]string) *workload {
	c := map[string]string{"cleanup.policy": "compact", "segment.bytes": "6000", "index.interval.bytes": "500", "delete.retention.ms": "1000"}
	for k, v := range configs {
		c[k] = v
	}
	return &workload{bench: newBench(t, c), r: rand.New(rand.NewPCG(seed, 7)), all: map[int64]model.Record{}, seqs: map[int64]int32{}, open: map[int64][]int64{}}
}

// write appends a batch of producer id, of none where it is 0; txn says that it is part of a transaction.
func (w *workload) write(id int64, txn bool) {
	w.t.Helper()
	n := 1 + w.r.IntN(12)
	recs := make([]record.Input, n)
	for i := range recs {
		in := record.Input{Timestamp: w.now - int64(w.r.IntN(500)), Key: fmt.Appendf(nil, "key %d", w.r.IntN(40))}
		if w.r.IntN(5) > 0 {
			in.Value = fmt.Appendf(nil, "value %d", w.r.Int32())
		}
		if w.r.IntN(3) == 0 {
			in.Headers = []record.RecordHeader{{Name: "h", Value: fmt.Appendf(nil, "%d", i)}, {Name: "none"}}
		}
		recs[i] = in
	}
	spec := record.Spec{Codec: []record.Codec{record.None, record.Gzip, record.Snappy, record.Lz4, record.Zstd}[w.r.IntN(5)], Transactional: txn}
	if id > 0 {
		spec.HasProducer, spec.ProducerID, spec.BaseSequence = true, id, w.seqs[id]
		w.seqs[id] += int32(n)
	}
	raw, err := record.AppendBatch(nil, spec, recs)
	if err != nil {
		w.t.Fatal(err)
	}
	a, err := w.log.Append(raw, AppendOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for i, in := range recs {
		m := model.Record{Offset: a.First + int64(i), Timestamp: in.Timestamp, Key: in.Key, Value: in.Value, Visibility: model.Visible}
		for _, h := range in.Headers {
			m.Headers = append(m.Headers, model.Header{Name: h.Name, Value: h.Value})
		}
		if txn {
			m.Visibility = model.Undecided
			w.open[id] = append(w.open[id], m.Offset)
		}
		w.all[m.Offset] = m
	}
}

func (w *workload) end(id int64, commit bool) {
	w.t.Helper()
	if _, err := w.mark(id, 0, commit, 0); err != nil {
		w.t.Fatal(err)
	}
	for _, o := range w.open[id] {
		m := w.all[o]
		m.Visibility = model.Aborted
		if commit {
			m.Visibility = model.Visible
		}
		w.all[o] = m
	}
	delete(w.open, id)
}

// some appends a number of batches: by nobody, by idempotent producers, and by transactional ones, which end now and then.
func (w *workload) some(batches int) {
	w.t.Helper()
	for range batches {
		switch k := w.r.IntN(10); {
		case k < 4:
			w.write(0, false)
		case k < 6:
			w.write(10+int64(w.r.IntN(2)), false)
		default:
			id := 20 + int64(w.r.IntN(3))
			w.write(id, true)
			if w.r.IntN(3) == 0 {
				w.end(id, w.r.IntN(2) == 0)
			}
		}
		w.now += int64(w.r.IntN(20))
	}
}

// settleTxns ends all open transactions, so that all can be cleaned.
func (w *workload) settleTxns() {
	w.t.Helper()
	for id := int64(20); id < 23; id++ {
		if len(w.open[id]) > 0 {
			w.end(id, w.r.IntN(2) == 0)
		}
	}
}

// found reads every data record that is left, by a View.
func (w *workload) found() []model.Record {
	w.t.Helper()
	v, err := OpenView(w.dir, testTP, model.Live, ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown})
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = v.Verify(w.t.Context(), model.Unknown, func(e model.VerifyEvent) {
		if e.Fault != nil && e.Fault.Severity != model.SevInfo {
			w.t.Errorf("fault %+v", *e.Fault)
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	var all []model.Record
	for from := model.FromStart; ; {
		p, err := v.Records(w.t.Context(), model.RecordQuery{TP: testTP, From: from, Max: 500})
		if err != nil || len(p.Faults) > 0 {
			w.t.Fatal(err, p.Faults)
		}
		all = append(all, p.Records...)
		if p.AtEnd {
			return all
		}
		from = p.Next
	}
}

// check holds what is left against what was written, where everything below clean was compacted; -1 means something, but
// nobody knows what.
func (w *workload) check(clean int64) {
	w.t.Helper()
	list := w.found()
	last := map[string]model.Record{} // of each key, as a reader of committed records would have it
	for _, o := range sortedOffsets(w.all) {
		if m := w.all[o]; m.Visibility == model.Visible {
			last[string(m.Key)] = m
		}
	}
	lastClean := map[string]int64{} // the newest one below clean
	for o, m := range w.all {
		if m.Visibility == model.Visible && o < clean {
			lastClean[string(m.Key)] = max(lastClean[string(m.Key)], o)
		}
	}
	got := map[string]model.Record{}
	there := map[int64]bool{}
	for _, m := range list {
		want, ok := w.all[m.Offset]
		if !ok || m.Visibility != want.Visibility || m.Timestamp != want.Timestamp || !same(m.Key, want.Key) || !same(m.Value, want.Value) || !sameHeaders(m.Headers, want.Headers) {
			w.t.Errorf("offset %d: %+v, was written as %+v", m.Offset, m, want)
			continue
		}
		there[m.Offset] = true
		if m.Visibility == model.Visible {
			got[string(m.Key)] = m
		}
		if m.Offset < clean && m.Visibility != model.Visible {
			w.t.Errorf("aborted offset %d is left below %d", m.Offset, clean)
		}
		if m.Offset < lastClean[string(m.Key)] && m.Offset < clean {
			w.t.Errorf("offset %d of %s is left, though %d is newer", m.Offset, m.Key, lastClean[string(m.Key)])
		}
	}
	for o, m := range w.all {
		if clean >= 0 && o >= clean && !there[o] && m.Visibility != model.Aborted { // in a segment cleaned in part, aborted data goes too
			w.t.Errorf("offset %d is gone, which was not to be cleaned", o)
		}
	}
	for k, want := range last {
		m, ok := got[k]
		if !ok && want.Value == nil {
			continue // a tombstone whose time was over
		}
		if m.Offset != want.Offset {
			w.t.Errorf("%s ends with offset %d (%v), want %d", k, m.Offset, ok, want.Offset)
		}
	}
}

func same(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

func sameHeaders(a, b []model.Header) bool {
	return slices.EqualFunc(a, b, func(x, y model.Header) bool { return x.Name == y.Name && same(x.Value, y.Value) })
}

func sortedOffsets(all map[int64]model.Record) []int64 {
	list := make([]int64, 0, len(all))
	for o := range all {
		list = append(list, o)
	}
	slices.Sort(list)
	return list
}

func (w *workload) compact(o CompactOptions) Compacted {
	w.t.Helper()
	c, err := w.log.Compact(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// TestCompactKeepsTheLast compacts logs of chance several times, with much and with little memory, over clean and
// unclean restarts. A reader finds the last record of every key, and nothing that was not written.
func TestCompactKeepsTheLast(t *testing.T) {
	var total Compacted
	for seed := range *compactSeeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorkload(t, seed, nil)
			for round := range 4 {
				w.some(60)
				if w.r.IntN(2) == 0 {
					w.settleTxns()
				}
				o := CompactOptions{}
				if seed%2 == 1 {
					o.Memory = slotSize * 30
				}
				before := w.bounds()
				for range 200 {
					c := w.compact(o)
					if c.Keys > 30 && seed%2 == 1 && c.Full {
						t.Errorf("%d keys took more than the memory that they may", c.Keys)
					}
					total.Segments, total.Left, total.Read, total.Written = total.Segments+c.Segments, total.Left+c.Left, total.Read+c.Read, total.Written+c.Written
					w.check(c.To)
					if c.To == c.From || t.Failed() {
						break
					}
				}
				d, err := w.log.Dirty()
				if err != nil || d.DirtyBytes != 0 {
					t.Errorf("still dirty: %+v, %v", d, err)
				}
				if got := w.bounds(); got != before {
					t.Errorf("bounds %+v, were %+v", got, before)
				}
				w.now += int64(w.r.IntN(1500))
				switch round % 3 {
				case 1:
					w.o.Cleaned, _ = w.log.CleanedLine()
					w.reopen()
				case 2:
					w.o.Cleaned, _ = w.log.CleanedLine()
					point := w.log.RecoveryPoint()
					if err := w.log.Abandon(); err != nil {
						t.Fatal(err)
					}
					if cuts := w.crash(point); len(cuts) > 0 {
						t.Errorf("recovery cut %v", cuts)
					}
				}
				if t.Failed() {
					return
				}
			}
		})
	}
	if total.Segments <= total.Left || total.Written >= total.Read {
		t.Errorf("compaction did little: %+v", total)
	}
}

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
	w.now += 1
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
