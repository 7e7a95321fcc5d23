package partition

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// TestCompactDisturbsNobody compacts a log again and again while it is appended to and read: what a reader of committed
// records is given by slices never has an aborted record, falls back, or lacks the newest record of a key.
func TestCompactDisturbsNobody(t *testing.T) {
	w := newWorkload(t, 11, map[string]string{"segment.bytes": "2000", "delete.retention.ms": "0"})
	w.some(40)
	w.settleTxns()
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		defer stop()
		for range 25 {
			c, err := w.log.Compact(t.Context(), CompactOptions{})
			if err != nil {
				t.Errorf("compact: %v", err)
				return
			}
			if c.To == c.From {
				w.log.cleaned.Store(0) // all over again
			}
		}
	})
	end := w.bounds().LastStable
	for range 2 {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil && !t.Failed(); n++ {
				w.readSlices(end)
			}
		})
	}
	wg.Go(func() {
		for ctx.Err() == nil && !t.Failed() {
			w.readView(ctx, end)
		}
	})
	// Appends go on, beyond what is checked.
	for n := 0; n < 300 && ctx.Err() == nil && !t.Failed(); n++ {
		raw, err := record.AppendBatch(nil, record.Spec{}, []record.Input{{Timestamp: day0, Key: []byte("other"), Value: make([]byte, 300)}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.log.Append(raw, AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
}

// readSlices reads up to an offset as a fetch of committed records does, and compares with what was written.
func (w *workload) readSlices(end int64) {
	got := map[string]int64{}
	var rd record.Reader
	for at := int64(0); at < end; {
		s, err := w.log.Slice(Query{Offset: at, Max: 1500, Whole: true, Committed: true})
		if err != nil {
			w.t.Errorf("slice at %d: %v", at, err)
			return
		}
		b := make([]byte, s.Size)
		if _, err := s.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
			w.t.Errorf("read at %d: %v", at, err)
		}
		aborted := map[int64]int64{} // the newest that begins at or below the batch
		next := at
		for pos := 0; ; {
			h, err := record.ParseHeader(b[pos:])
			if err != nil || int64(len(b)-pos) < h.Size() {
				break
			}
			for _, a := range s.Aborted {
				if a.First <= h.LastOffset() && h.BaseOffset <= a.Last {
					aborted[a.Producer] = a.Last
				}
			}
			last, is := aborted[h.ProducerID]
			if err := rd.Reset(b[pos:]); err != nil {
				w.t.Errorf("batch at %d: %v", h.BaseOffset, err)
				return
			}
			for !h.Control() && rd.Next() {
				r := rd.Record()
				if r.Offset < at || r.Offset >= end {
					continue
				}
				m, ok := w.all[r.Offset]
				if skipped := h.Transactional() && is && r.Offset <= last; !ok || !same(m.Key, r.Key) || !same(m.Value, r.Value) || m.Visibility == model.Visible == skipped {
					w.t.Errorf("offset %d: %q is given (aborted: %v), was %+v", r.Offset, r.Key, skipped, m)
				} else if !skipped {
					got[string(r.Key)] = r.Offset
				}
			}
			pos += int(h.Size())
			next = h.NextOffset()
		}
		s.Close()
		if next == at {
			w.t.Errorf("nothing is read at %d", at)
			return
		}
		at = next
	}
	w.complete(got, end)
}

// readView reads all by a View. Files that have gone since it was made are no error.
func (w *workload) readView(ctx context.Context, end int64) {
	v, err := OpenView(w.dir, testTP, model.Live, ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown})
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		w.t.Errorf("view: %v", err)
		return
	}
	got := map[string]int64{}
	for from := model.FromStart; from < end; {
		p, err := v.Records(ctx, model.RecordQuery{TP: testTP, From: from, Max: 100, Committed: true})
		if err != nil || len(p.Faults) > 0 {
			if err != nil && !errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil {
				w.t.Errorf("records from %d: %v", from, err)
			}
			return // it was replaced meanwhile; the explorer looks again
		}
		for _, r := range p.Records {
			if m, ok := w.all[r.Offset]; r.Offset < end && (!ok || m.Visibility != model.Visible || !same(m.Key, r.Key) || !same(m.Value, r.Value)) {
				w.t.Errorf("view gives %+v, was written as %+v", r, m)
			}
			got[string(r.Key)] = r.Offset
		}
		if from = p.Next; p.AtEnd {
			break
		}
	}
}

// complete errs when the newest record of a key was not met, unless it is a tombstone.
func (w *workload) complete(got map[string]int64, end int64) {
	last := map[string]model.Record{}
	for _, o := range sortedOffsets(w.all) {
		if m := w.all[o]; o < end && m.Visibility == model.Visible {
			last[string(m.Key)] = m
		}
	}
	for k, m := range last {
		if o, ok := got[k]; m.Value != nil && (!ok || o != m.Offset) {
			w.t.Errorf("%s: read up to offset %d (%v), want %d", k, o, ok, m.Offset)
		}
	}
}
