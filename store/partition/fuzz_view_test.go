package partition_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment/segtest"
)

// FuzzView reads folders of hostile files in every way. Nothing may panic, hang, or take memory without bound; a page
// gets on, and what a page by page reading gives is what one page gives.
func FuzzView(f *testing.F) {
	k := segtest.Kitchen()
	index := segtest.OffsetIndex(0, segtest.KitchenIndex())
	times := segtest.TimeIndex(0, segtest.KitchenTimes())
	txns := segtest.TxnIndex([]segtest.Txn{{1001, 6, 8, 9}})
	snap := layout.AppendSnapshot(nil, []layout.ProducerEntry{{ProducerID: 1000, LastOffset: 3, TxnFirst: 3, CoordinatorEpoch: -1}})
	f.Add(k, index, times, txns, snap, uint16(0), byte(0), int64(7))
	f.Add(k, index, times, txns, snap, uint16(251), byte(1), int64(20))
	f.Add(k[:300], []byte(nil), []byte(nil), []byte(nil), []byte(nil), uint16(173+8), byte(0x7f), int64(-1))
	f.Add(append(k[408:488:488], k[:94]...), index, times, txns, snap, uint16(7), byte(2), int64(1))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, log, index, times, txns, snap []byte, at uint16, flip byte, from int64) {
		if len(log) > 1<<16 {
			return
		}
		log = append([]byte(nil), log...)
		if int(at) < len(log) {
			log[at] ^= flip
		}
		for kind, b := range map[string][]byte{layout.KindLog: log, layout.KindIndex: index, layout.KindTimeIndex: times, layout.KindTxnIndex: txns} {
			segtest.Write(t, dir, 0, kind, b)
		}
		segtest.Write(t, dir, 4, layout.KindSnapshot, snap)
		readEveryWay(t, dir, from)
	})
}

func readEveryWay(t *testing.T, dir string, from int64) {
	t.Helper()
	ctx := context.Background()
	v, err := partition.OpenView(dir, kitchenTP, model.Live, unknownBounds())
	if err != nil {
		t.Fatal(err)
	}
	start, end := v.Bounds()
	if start < 0 || end < start {
		t.Fatalf("bounds %d, %d", start, end)
	}
	for _, q := range []model.RecordQuery{{From: model.FromStart}, {From: from, Max: 2}, {From: from, Backward: true, Max: 3}, {From: model.FromEnd, Backward: true, Committed: true}} {
		if _, err := v.Records(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	pages(t, v, false)
	pages(t, v, true)
	for _, target := range []model.Target{{Offset: from}, {ByTime: true, Time: from}, {ByTime: true, Time: segtest.T + 202}} {
		if _, err := v.Lookup(ctx, target); err != nil {
			t.Fatal(err)
		}
	}
	batches := 0
	for first := int64(0); ; {
		p, err := v.Batches(ctx, model.BatchQuery{First: first, Max: 3, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		batches += len(p.Batches)
		if len(p.Batches) < 3 || batches > 1<<16 {
			break
		}
		first = p.First + int64(len(p.Batches))
	}
	if batches > 1<<16 {
		t.Fatal("batches have no end")
	}
	for _, k := range []model.IndexKind{model.OffsetIndex, model.TimeIndex, model.TxnIndex} {
		_, _, _ = v.IndexEntries(ctx, 0, k, 0, 1000) // a damaged index may be an error
	}
	if _, err := v.Segments(ctx, model.Retention{Known: true, Delete: true, MS: 1000, Bytes: 100}, from); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Count(ctx, model.FromStart, model.FromEnd); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Follow(ctx, max(from, 0), partition.FollowOptions{}, func(e *partition.Entry) error { _ = e.Model(); return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Search(ctx, model.SearchQuery{MaxHits: 100}, model.FromStart, model.FromEnd, record.NewLiteral([]byte("v"), true), func(model.SearchEvent) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(ctx, model.Unknown, func(model.VerifyEvent) {}); err != nil {
		t.Fatal(err)
	}
	_, _, _ = v.BatchBytes(ctx, 0, max(from, 0)) // out of range is an error
}

// pages reads page by page, and fails when it does not get on.
func pages(t *testing.T, v *partition.View, back bool) {
	t.Helper()
	q := model.RecordQuery{From: model.FromStart, Max: 2, Backward: back}
	if back {
		q.From = model.FromEnd
	}
	for range 1 << 17 {
		p, err := v.Records(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if back && p.AtStart || !back && p.AtEnd {
			return
		}
		next := p.Next
		if back {
			next = p.Prev
		}
		if q.From >= 0 && (back && next >= q.From || !back && next <= q.From) {
			t.Fatalf("page from %d goes on at %d (back=%v)", q.From, next, back)
		}
		q.From = next
	}
	t.Fatal("pages have no end")
}

func TestEveryCutOfALog(t *testing.T) {
	k := segtest.Kitchen()
	dir := segtest.Dir(t)
	path := filepath.Join(dir, layout.FileName(0, layout.KindLog))
	for cut := len(k); cut >= 0; cut -= 7 {
		if err := os.Truncate(path, int64(cut)); err != nil {
			t.Fatal(err)
		}
		readEveryWay(t, dir, int64(cut%40))
	}
}
