package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/strata-kafka/strata/store/layout"
)

// stopped makes a directory of many partitions as a clean stop leaves it: topics of a hundred partitions, each with so
// many segments.
func stopped(t testing.TB, partitions, segments int) string {
	t.Helper()
	dir := t.TempDir()
	var lines []layout.OffsetLine
	put := func(path string, b []byte) {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	id := layout.NewID()
	for i := range partitions {
		tp := tp(fmt.Sprintf("topic-%d", i/100), int32(i%100))
		folder := filepath.Join(dir, layout.DirName(tp))
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		put(filepath.Join(folder, layout.PartitionMetaFile), layout.AppendPartitionMeta(nil, id))
		for s := range segments {
			for _, kind := range []string{layout.KindLog, layout.KindIndex, layout.KindTimeIndex} {
				put(filepath.Join(folder, layout.FileName(int64(s*100), kind)), nil)
			}
		}
		lines = append(lines, layout.OffsetLine{TP: tp, Offset: int64((segments - 1) * 100)})
	}
	put(filepath.Join(dir, layout.MetaFile), layout.AppendMeta(nil, layout.Meta{Version: 1, NodeID: 1, ClusterID: id.String(), DirectoryID: id.String()}, time.UnixMilli(0).UTC()))
	put(filepath.Join(dir, layout.RecoveryPointFile), layout.AppendOffsets(nil, lines))
	put(filepath.Join(dir, layout.CleanShutdownFile), layout.AppendCleanShutdown(nil, layout.CleanShutdown{}))
	return dir
}

// TestCleanOpenTouchesNothing takes all rights on the partitions' folders away: after a clean stop nothing in them is
// looked at, neither at Open nor at Close, and the next start is a clean one again.
func TestCleanOpenTouchesNothing(t *testing.T) {
	dir := stopped(t, 300, 1)
	for _, name := range folders(t, dir) {
		// A folder that is another's place now: whoever lists or opens it would not find it, also as root.
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, name+"x")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/nonexistent", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		e, err := Open([]string{dir}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(e.Topics()); got != 3 {
			t.Errorf("%d topics, want 3", got)
		}
		if n := e.Notices(); len(n) > 0 {
			t.Errorf("notices %v", n)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUncleanCheckpoint checks everything when the recovery points cannot be read, though the stop was clean.
func TestUncleanCheckpoint(t *testing.T) {
	dir := t.TempDir()
	e := open(t, Options{}, dir)
	create(t, e, "t", 1)
	produce(t, e, tp("t", 0), "a", "b")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, layout.RecoveryPointFile), []byte("0\n9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e = open(t, Options{}, dir)
	if n := e.Notices(); len(n) != 1 {
		t.Errorf("notices %v", n)
	}
	if exists(filepath.Join(dir, layout.CleanShutdownFile)) {
		t.Error("the mark of the clean stop is still there: a crash now would be taken for one")
	}
	if out := produce(t, e, tp("t", 0), "c"); out[0].Offset != 2 {
		t.Errorf("appended at %d", out[0].Offset)
	}
}

// BenchmarkOpen opens and closes 10,000 partitions after a clean stop, against the least that must be done: listing the
// directory and reading a checkpoint. How many segments they have makes no difference: no folder is looked into.
func BenchmarkOpen(b *testing.B) {
	dir := stopped(b, 10_000, 1)
	var ratios, opens, closes []float64
	for b.Loop() {
		begin := time.Now()
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) < 10_000 {
			b.Fatal(err)
		}
		bytes, err := os.ReadFile(filepath.Join(dir, layout.RecoveryPointFile))
		if err != nil {
			b.Fatal(err)
		}
		if lines, err := layout.ParseOffsets(bytes); err != nil || len(lines) < 10_000 {
			b.Fatal(err)
		}
		least := time.Since(begin)
		begin = time.Now()
		e, err := Open([]string{dir}, Options{})
		if err != nil {
			b.Fatal(err)
		}
		opened := time.Since(begin)
		if got := len(e.Topics()); got != 100 {
			b.Fatalf("%d topics", got)
		}
		begin = time.Now()
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
		closes = append(closes, time.Since(begin).Seconds()*1000)
		opens = append(opens, opened.Seconds()*1000)
		ratios = append(ratios, opened.Seconds()/least.Seconds())
	}
	for _, l := range [][]float64{ratios, opens, closes} {
		slices.Sort(l)
	}
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(opens[len(opens)/2], "open-ms")
	b.ReportMetric(closes[len(closes)/2], "close-ms")
}

// TestStaleLines begins with the checkpoints that a crash within DeleteTopic leaves. A topic of the same name that is made
// anew, and whose process is killed, keeps its records.
func TestStaleLines(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{layout.RecoveryPointFile, layout.LogStartFile} {
		b := layout.AppendOffsets(nil, []layout.OffsetLine{{TP: tp("t", 0), Offset: 1000}})
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e := open(t, Options{}, dir)
	create(t, e, "t", 1)
	produce(t, e, tp("t", 0), "a", "b")
	// What a killed process leaves is what lies there now.
	killed := filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	e = open(t, Options{}, killed)
	if n := e.Notices(); len(n) != 0 {
		t.Errorf("notices %v", n)
	}
	if got := values(t, killed, tp("t", 0)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("records %q", got)
	}
	if out := produce(t, e, tp("t", 0), "c"); out[0].Offset != 2 {
		t.Errorf("appended at %d", out[0].Offset)
	}
}

// TestFoldersOfOthers opens a directory in which a folder is named as a partition by chance.
func TestFoldersOfOthers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"backup-20260101", "backup-2147483647", "backup"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	e := open(t, Options{}, dir)
	if got := e.Topics(); len(got) != 0 {
		t.Errorf("topics %v", got)
	}
	if n := e.Notices(); len(n) != 2 {
		t.Errorf("notices %v, want one for each folder that looks like a partition's", n)
	}
}
