package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/segment"
)

// faulty opens files whose writes and flushes can be made to fail.
type faulty struct{ noRoom, noSync atomic.Bool }

type faultyFile struct {
	*os.File
	f *faulty
}

func (f *faulty) open(path string) (segment.AppendFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	return faultyFile{file, f}, err
}

func (f faultyFile) WriteAt(b []byte, pos int64) (int, error) {
	if f.f.noRoom.Load() {
		n, _ := f.File.WriteAt(b[:len(b)/2], pos)
		return n, syscall.ENOSPC
	}
	return f.File.WriteAt(b, pos)
}

func (f faultyFile) Sync() error {
	if f.f.noSync.Load() {
		return syscall.EIO
	}
	return f.File.Sync()
}

// TestDiskFull fails requests while there is no room, and goes on when there is; nothing acknowledged is lost.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	var disk faulty
	e := open(t, Options{OpenFile: disk.open}, dir)
	create(t, e, "t", 2, "segment.bytes=200")
	var want []string
	for i := range 20 {
		v := fmt.Sprint("value ", i)
		if i%3 == 1 {
			disk.noRoom.Store(true)
			r := model.ProduceRequest{Topic: "t", Acks: -1, Records: []model.ProduceRecord{{Value: []byte(v)}}}
			out, err := e.Produce(t.Context(), r)
			if !errors.Is(err, syscall.ENOSPC) || out[0].Offset != model.Unknown {
				t.Fatalf("produce on a full disk: %+v, %v", out, err)
			}
			disk.noRoom.Store(false)
			continue
		}
		if out := produce(t, e, tp("t", 0), v); out[0].Offset != int64(len(want)) {
			t.Fatalf("%s went to %+v", v, out)
		}
		want = append(want, v)
	}
	disk.noRoom.Store(true)
	if err := e.CreateTopic(t.Context(), model.TopicSpec{Name: "more", Partitions: 3}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("create on a full disk: %v", err)
	}
	disk.noRoom.Store(false)
	if got := folders(t, dir); !slices.Equal(got, []string{"t-0", "t-1"}) {
		t.Errorf("a topic that could not be made left %v", got)
	}
	create(t, e, "more", 3)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if got := values(t, dir, tp("t", 0)); !slices.Equal(got, want) {
		t.Errorf("values %v, want %v", got, want)
	}
}

// TestFlushFails: once a flush has failed nothing is taken to be on the disk any more, also when the next one works; the
// stop is not a clean one, and the next start checks the log from the last good flush on.
func TestFlushFails(t *testing.T) {
	dir := t.TempDir()
	var disk faulty
	e, err := Open([]string{dir}, Options{OpenFile: disk.open, FlushEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	create(t, e, "t", 1)
	produce(t, e, tp("t", 0), "a", "b")
	if err := e.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	produce(t, e, tp("t", 0), "c")
	disk.noSync.Store(true)
	if err := e.Flush(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Errorf("flush: %v", err)
	}
	disk.noSync.Store(false)
	if err := e.Flush(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Errorf("the next flush: %v", err)
	}
	produce(t, e, tp("t", 0), "d")
	if err := e.Close(); !errors.Is(err, syscall.EIO) {
		t.Errorf("close: %v", err)
	}
	if exists(filepath.Join(dir, layout.CleanShutdownFile)) {
		t.Error("it was marked as a clean stop")
	}
	if got := file(t, dir, layout.RecoveryPointFile); got != "0\n1\nt 0 2\n" {
		t.Errorf("recovery points %q", got)
	}
	e = open(t, Options{}, dir)
	if n := e.Notices(); len(n) > 0 {
		t.Errorf("notices %v", n)
	}
	if got := values(t, dir, tp("t", 0)); len(got) != 4 {
		t.Errorf("values %v", got)
	}
}

// TestLiveDirectory is what a watcher of the directory sees, by its files alone: partitions appear with something in
// them, ten thousand small writes, rolls, deletions, a truncation and a topic's end. Every record is read once and in
// order, however the looks fall.
func TestLiveDirectory(t *testing.T) {
	dir := t.TempDir()
	e := open(t, Options{}, dir)
	create(t, e, "live", 20, "segment.bytes=16000", "file.delete.delay.ms=0")
	tp0 := tp("live", 0)
	v, err := partition.OpenView(filepath.Join(dir, "live-0"), tp0, model.Live, partition.ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown, EndIsHW: true})
	if err != nil {
		t.Fatal(err)
	}
	next, seen := int64(0), 0
	look := func() {
		t.Helper()
		if v, _, err = v.Refresh(partition.ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown, EndIsHW: true}); err != nil {
			t.Fatal(err)
		}
		for {
			p, err := v.Records(t.Context(), model.RecordQuery{TP: tp0, From: next, Max: 1000})
			if err != nil || len(p.Faults) > 0 {
				t.Fatalf("at %d: %v, %v", next, p.Faults, err)
			}
			for _, r := range p.Records {
				if r.Offset != next || string(r.Value) != fmt.Sprint(next) {
					t.Fatalf("read %s at %d, expected %d", r.Value, r.Offset, next)
				}
				next++
				seen++
			}
			if p.AtEnd || len(p.Records) == 0 {
				return
			}
		}
	}
	for i := range 10_000 {
		produce(t, e, tp0, fmt.Sprint(i))
		if i%997 == 0 {
			look()
		}
		if i%2500 == 2499 {
			look()
			if _, err := e.DeleteRecords(t.Context(), tp0, next-10); err != nil {
				t.Fatal(err)
			}
		}
		if i < 20 {
			produce(t, e, tp("live", int32(i%19)+1), "x")
		}
	}
	look()
	if seen != 10_000 {
		t.Errorf("%d records were seen", seen)
	}
	if err := e.Retain(t.Context()); err != nil {
		t.Fatal(err)
	}
	look()
	if err := e.DeleteTopic(t.Context(), "live"); err != nil {
		t.Fatal(err)
	}
	wait(t, func() bool { return e.Sweep() == nil && len(folders(t, dir)) == 0 }) // the background sweeps too
}
