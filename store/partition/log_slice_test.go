package partition

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// slice reads, and returns the base offsets of the whole batches, -1 for one that is cut.
func (b *bench) slice(q Query) ([]int64, Slice, error) {
	b.t.Helper()
	s, err := b.log.Slice(q)
	if err != nil {
		return nil, s, err
	}
	b.t.Cleanup(s.Close)
	raw := make([]byte, s.Size)
	if n, err := s.ReadAt(raw, 0); int64(n) != s.Size || err != nil && err != io.EOF {
		b.t.Fatalf("%d of %d bytes: %v", n, s.Size, err)
	}
	list := []int64{}
	for len(raw) > 0 {
		h, err := record.ParseHeader(raw)
		if err != nil || h.Size() > int64(len(raw)) {
			return append(list, -1), s, nil
		}
		list = append(list, h.BaseOffset)
		raw = raw[h.Size():]
	}
	return list, s, nil
}

func TestSlice(t *testing.T) {
	// Segments of two batches of two records: 0 2 | 4 6 | 8 10 | 12.
	size := int64(len((&bench{t: t}).batch(2, day0)))
	for _, when := range []string{"as written", "suspended", "resumed", "reopened", "without indexes", "after a crash"} {
		t.Run(when, func(t *testing.T) {
			b := newBench(t, map[string]string{"segment.bytes": "250", "index.interval.bytes": "0"})
			for range 7 {
				b.append(2, day0)
			}
			switch when {
			case "suspended", "resumed":
				if ok, err := b.log.Suspend(); !ok || err != nil {
					t.Fatal(ok, err)
				}
				if when == "resumed" { // the index has grown since it was opened
					b.slice(Query{Offset: 12, Max: 1000})
					b.append(2, day0)
					if ok, err := b.log.Suspend(); !ok || err != nil {
						t.Fatal(ok, err)
					}
				}
			case "reopened":
				b.reopen()
			case "without indexes":
				b.reopen()
				found, err := filepath.Glob(filepath.Join(b.dir, "*.index"))
				if err != nil || len(found) == 0 {
					t.Fatal(found, err)
				}
				for _, f := range found {
					if err := os.Remove(f); err != nil {
						t.Fatal(err)
					}
				}
			case "after a crash":
				b.crash(0)
			}
			if when == "resumed" {
				if got, _, err := b.slice(Query{Offset: 14, Max: 1000}); err != nil || !slices.Equal(got, []int64{14}) {
					t.Errorf("%v, %v", got, err)
				}
				return
			}
			if got := b.files(".log"); len(got) != 4 {
				t.Fatalf("segments %v of batches of %d bytes", got, size)
			}
			for _, tc := range []struct {
				name string
				q    Query
				want []int64
				err  error
			}{
				{"from the first", Query{Offset: 0, Max: 1000}, []int64{0, 2}, nil},
				{"inside a batch", Query{Offset: 3, Max: 1000}, []int64{2}, nil},
				{"at a segment's base", Query{Offset: 4, Max: 1000}, []int64{4, 6}, nil},
				{"in the last", Query{Offset: 13, Max: 1000}, []int64{12}, nil},
				{"at the end", Query{Offset: 14, Max: 1000}, []int64{}, nil},
				{"beyond", Query{Offset: 15, Max: 1000}, nil, model.ErrOutOfRange},
				{"below", Query{Offset: -1, Max: 1000}, nil, model.ErrOutOfRange},
				{"cut", Query{Offset: 4, Max: size + 5}, []int64{4, -1}, nil},
				{"one batch", Query{Offset: 4, Max: size}, []int64{4}, nil},
				{"too little", Query{Offset: 4, Max: size - 1}, []int64{}, nil},
				{"too little, but one", Query{Offset: 4, Max: size - 1, Whole: true}, []int64{4}, nil},
				{"nothing", Query{Offset: 4}, []int64{}, nil},
				{"nothing, but one", Query{Offset: 4, Whole: true}, []int64{4}, nil},
			} {
				got, s, err := b.slice(tc.q)
				if !slices.Equal(got, tc.want) || !errors.Is(err, tc.err) || tc.err == nil && err != nil {
					t.Errorf("%s: %v, %v; want %v, %v", tc.name, got, err, tc.want, tc.err)
				}
				if err == nil && (s.End != 14 || s.HighWatermark != 14 || s.LastStable != 14 || s.Start != 0) {
					t.Errorf("%s: bounds %+v", tc.name, s.Bounds)
				}
			}
		})
	}
}

// TestSliceAhead holds what a waiting reader is told of what has come.
func TestSliceAhead(t *testing.T) {
	b := newBench(t, map[string]string{"segment.bytes": "250"})
	_, s, err := b.slice(Query{Offset: 0, Max: 1000})
	if err != nil || s.Ahead() != 0 {
		t.Fatalf("%d ahead in an empty log, %v", s.Ahead(), err)
	}
	b.append(2, day0)
	if s.Ahead() <= 0 {
		t.Errorf("%d ahead after the first append", s.Ahead())
	}
	_, s, _ = b.slice(Query{Offset: 2, Max: 1000})
	size := int64(len(b.batch(2, day0)))
	b.append(2, day0)
	if s.Ahead() != size {
		t.Errorf("%d ahead after one of %d bytes", s.Ahead(), size)
	}
	b.append(2, day0) // rolls
	if s.Ahead() < 1<<30 {
		t.Errorf("%d ahead where the log goes on in another segment", s.Ahead())
	}
}

// TestSliceOutlives reads what was deleted, replaced or closed after the slice was taken.
func TestSliceOutlives(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(b *bench) error
	}{
		{"deleted", func(b *bench) error {
			if _, err := b.log.DeleteRecords(6); err != nil {
				return err
			}
			_, err := b.log.Retain()
			return err
		}},
		{"closed", func(b *bench) error { return b.log.Close() }},
		{"abandoned", func(b *bench) error { return errors.Join(b.log.Abandon(), os.RemoveAll(b.dir)) }},
		{"many others read", func(b *bench) error {
			for o := range int64(14) {
				s, err := b.log.Slice(Query{Offset: o, Max: 100, Whole: true})
				if err != nil {
					return err
				}
				s.Close()
			}
			return nil
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"segment.bytes": "250"})
			b.log.handles = NewHandles(2)
			var want []byte
			for range 7 {
				b.append(2, day0)
			}
			want, err := os.ReadFile(filepath.Join(b.dir, "00000000000000000000.log"))
			if err != nil {
				t.Fatal(err)
			}
			s, err := b.log.Slice(Query{Offset: 0, Max: 1000})
			if err != nil {
				t.Fatal(err)
			}
			if err := tc.do(b); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, s.Size)
			if _, err := s.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, want %d: %v", len(got), len(want), err)
			}
			h := s.h
			s.Close()
			s.Close()
			kept := b.log.handles.get(h.key)
			if tc.name != "many others read" && (kept != nil || h.refs != 0) {
				t.Errorf("the file is kept, %d references", h.refs)
			}
			if _, err := h.log.Stat(); kept == nil && !errors.Is(err, os.ErrClosed) {
				t.Errorf("the file is not closed: %v", err)
			}
			if n := b.log.handles.len(); n > 2 {
				t.Errorf("%d segments are kept open", n)
			}
		})
	}
}

// TestSliceDamaged reads where the index or the log says something wrong.
func TestSliceDamaged(t *testing.T) {
	b := newBench(t, map[string]string{"segment.bytes": "1000", "index.interval.bytes": "0"})
	for range 12 {
		b.append(2, day0)
	}
	index := filepath.Join(b.dir, "00000000000000000000.index")
	f, err := os.OpenFile(index, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for pos := int64(7); pos < 48; pos += 8 {
		if _, err := f.WriteAt([]byte{3}, pos); err != nil { // every entry leads into the first batch
			t.Fatal(err)
		}
	}
	if got, _, err := b.slice(Query{Offset: 8, Max: 1, Whole: true}); err != nil || !slices.Equal(got, []int64{8}) {
		t.Errorf("with a wrong index: %v, %v", got, err)
	}
	log, err := os.OpenFile(filepath.Join(b.dir, "00000000000000000000.log"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.WriteAt(make([]byte, 30), int64(len(b.batch(2, day0)))); err != nil {
		t.Fatal(err)
	}
	var corrupt *model.CorruptError
	if _, _, err := b.slice(Query{Offset: 8, Max: 1, Whole: true}); !errors.As(err, &corrupt) {
		t.Errorf("behind a damaged header: %v", err)
	}
}

// TestSliceWhileWritten reads at once with appends, rolls and deletions: each slice is whole batches that the bounds tell
// of, beginning where it was asked for.
func TestSliceWhileWritten(t *testing.T) {
	b := newBench(t, map[string]string{"segment.bytes": "2000", "retention.bytes": "6000"})
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	wg.Go(func() {
		for ctx.Err() == nil {
			if _, err := b.log.Append(b.batch(3, day0), AppendOptions{}); err != nil {
				t.Error(err)
				return
			}
			if _, err := b.log.Retain(); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for range 2000 {
				bounds, err := b.log.Bounds()
				if err != nil {
					t.Error(err)
					return
				}
				s, err := b.log.Slice(Query{Offset: bounds.Start, Max: 1 << 20})
				if errors.Is(err, model.ErrOutOfRange) {
					continue // deleted meanwhile
				}
				if err != nil {
					t.Error(err)
					return
				}
				raw, next := make([]byte, s.Size), bounds.Start
				if _, err := s.ReadAt(raw, 0); err != nil && err != io.EOF {
					t.Error(err)
				}
				for len(raw) > 0 {
					h, err := record.ParseHeader(raw)
					if err != nil || h.Size() > int64(len(raw)) || h.BaseOffset != next || h.NextOffset() > s.End {
						t.Errorf("batch of %d to %d where %d comes next, end %d: %v", h.BaseOffset, h.LastOffset(), next, s.End, err)
						break
					}
					next, raw = h.NextOffset(), raw[h.Size():]
				}
				s.Close()
			}
		})
	}
	readers.Wait()
	stop()
	wg.Wait()
}

func TestWaiter(t *testing.T) {
	b := newBench(t, nil)
	w := NewWaiter()
	woken := func() []int {
		select {
		case <-w.C:
		default:
			return nil
		}
		return w.Woken()
	}
	w.Watch(b.log, 5, 0, false)
	w.Watch(b.log, 6, 3, false)
	w.Watch(b.log, 7, 0, true)
	if got := woken(); got != nil {
		t.Errorf("woken at once: %v", got)
	}
	if _, err := b.produce(sequence{id: 1, epoch: 0, n: 2, txn: true}); err != nil {
		t.Fatal(err)
	}
	if got := woken(); !slices.Equal(got, []int{5}) {
		t.Errorf("after two records of a transaction: %v", got)
	}
	b.append(2, day0)
	if got := woken(); !slices.Equal(got, []int{5, 6}) {
		t.Errorf("after two more: %v", got)
	}
	if _, err := b.mark(1, 0, true, 0); err != nil {
		t.Fatal(err)
	}
	if got := woken(); !slices.Equal(got, []int{5, 6, 7}) {
		t.Errorf("after the end of the transaction: %v", got)
	}
	late := NewWaiter()
	late.Watch(b.log, 1, 2, false)
	select {
	case <-late.C:
	default:
		t.Error("not woken by what had come before")
	}
	if n := b.log.Waiting(); n != 4 {
		t.Errorf("%d wait, want 4", n)
	}
	w.Stop()
	if n := b.log.Waiting(); n != 1 || b.log.Closed() {
		t.Errorf("%d wait, want 1; closed %v", n, b.log.Closed())
	}
	if err := b.log.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-late.C:
	default:
		t.Error("not woken by the end of the log")
	}
	if !b.log.Closed() {
		t.Error("not closed")
	}
}
