package partition

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
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

// TestCompactLeavesNoSnapshots holds that the snapshots of segments that were compacted into others go with them.
func TestCompactLeavesNoSnapshots(t *testing.T) {
	w := newWorkload(t, 1, nil)
	for range 3 {
		w.some(60)
		w.settleTxns()
		w.compact(CompactOptions{})
	}
	files, err := os.ReadDir(w.log.o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, f := range files {
		has[f.Name()] = true
	}
	n := 0
	for name := range has {
		if base, ok := strings.CutSuffix(name, ".snapshot"); ok {
			if n++; !has[base+".log"] {
				t.Errorf("%s belongs to no segment", name)
			}
		}
	}
	if n == 0 || n != len(w.log.snapshots) {
		t.Errorf("%d snapshots, the log knows of %d", n, len(w.log.snapshots))
	}
}
