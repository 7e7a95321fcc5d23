package partition

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/segment"
)

// change rewrites a file of the log's folder.
func (b *bench) change(name string, f func([]byte) []byte) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), f([]byte(b.read(name))), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// TestRecover has segments of two batches of 75 bytes: bases 0, 2, 4, the last with one batch, offset 4.
func TestRecover(t *testing.T) {
	log := func(base int64) string { return layout.FileName(base, layout.KindLog) }
	flip := func(pos int) func([]byte) []byte {
		return func(b []byte) []byte { b[pos] ^= 1; return b }
	}
	for name, tc := range map[string]struct {
		file   string
		damage func([]byte) []byte
		point  int64
		start  int64
		end    int64
		cuts   []string // parts of the lines told
		segs   []string
	}{
		"nothing":                       {"", nil, 0, 0, 5, nil, []string{".log", "2.log", "4.log"}},
		"a torn tail":                   {log(4), func(b []byte) []byte { return b[:50] }, 4, 0, 4, []string{"cut at byte 0 (50 bytes): torn batch"}, []string{".log", "2.log", "4.log"}},
		"damage past the point":         {log(2), flip(140), 2, 0, 3, []string{"cut at byte 75 (75 bytes): bad batch at offset 3", "the segment is removed"}, []string{".log", "2.log"}},
		"damage in the point's segment": {log(2), flip(70), 3, 0, 5, []string{"damage at byte 0 kept (75 bytes)"}, []string{".log", "2.log", "4.log"}},
		"damage before the point":       {log(0), flip(70), 2, 0, 5, nil, []string{".log", "2.log", "4.log"}},
		"flushed bytes missing":         {log(4), func(b []byte) []byte { return b[:50] }, 5, 0, 5, []string{"damage at byte 0 kept (50 bytes): torn batch"}, []string{".log", "2.log", "4.log", "5.log"}},
		"all below the log start":       {log(0), flip(70), 0, 3, 3, []string{"bad batch at offset 0", "segment is removed", "segment is removed", "below the log start 3"}, []string{"3.log"}},
		"an index gone":                 {layout.FileName(4, layout.KindIndex), func([]byte) []byte { return nil }, 4, 0, 5, nil, []string{".log", "2.log", "4.log"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"segment.bytes": "172"})
			for range 5 {
				b.append(1, day0)
			}
			if tc.file != "" {
				b.change(tc.file, tc.damage)
			}
			b.o.Start = tc.start
			cuts := b.crash(tc.point)
			if got := b.bounds(); got.End != tc.end || got.Start != tc.start {
				t.Errorf("bounds %+v, want %d to %d", got, tc.start, tc.end)
			}
			if len(cuts) != len(tc.cuts) {
				t.Fatalf("cuts %v, want %d", cuts, len(tc.cuts))
			}
			for i, c := range cuts {
				if !strings.Contains(c.String(), tc.cuts[i]) {
					t.Errorf("cut %v, want %s", c, tc.cuts[i])
				}
			}
			if got := b.files(".log"); !slices.Equal(got, tc.segs) {
				t.Errorf("segments %v, want %v", got, tc.segs)
			}
			if a := b.append(2, day0); a.First != tc.end {
				t.Errorf("appended at %d, want %d", a.First, tc.end)
			}
			b.reopen()
			if got := b.bounds(); got.End != tc.end+2 {
				t.Errorf("end after a restart %d, want %d", got.End, tc.end+2)
			}
			if tc.file == "" || !strings.Contains(strings.Join(tc.cuts, ""), "kept") && name != "damage before the point" {
				b.verify()
			}
		})
	}
}

// TestRecoverEpochs takes the epochs from the batches where the checkpoint is behind or ahead of them.
func TestRecoverEpochs(t *testing.T) {
	for name, tc := range map[string]struct {
		file string
		want string
	}{
		"as it was":  {"0\n2\n0 0\n1 3\n", "0\n3\n0 0\n1 3\n2 5\n"},
		"behind":     {"0\n1\n0 0\n", "0\n3\n0 0\n1 3\n2 5\n"},
		"empty":      {"", "0\n3\n0 0\n1 3\n2 5\n"},
		"ahead":      {"0\n3\n0 0\n1 3\n7 9\n", "0\n3\n0 0\n1 3\n2 5\n"},
		"unreadable": {"what\n", "0\n3\n0 0\n1 3\n2 5\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.append(3, day0)
			b.reopen()
			b.append(2, day0)
			b.change(layout.EpochsFile, func([]byte) []byte { return []byte(tc.file) })
			b.crash(0)
			b.append(1, day0)
			if got := b.read(layout.EpochsFile); got != tc.want {
				t.Errorf("epochs %q, want %q", got, tc.want)
			}
			b.verify()
		})
	}
}

// TestCleanButDamaged opens as after a clean stop what is not whole: nothing is cut, it is told, and the log goes on in
// a new segment.
func TestCleanButDamaged(t *testing.T) {
	for name, tc := range map[string]struct {
		damage func([]byte) []byte
		told   string
	}{
		"garbage at the end": {func(b []byte) []byte { return append(b, "garbage garbage garbage"...) }, "no whole batch"},
		"a batch missing":    {func(b []byte) []byte { return b[:len(b)/2] }, "it goes on at 2"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.append(1, day0)
			b.append(1, day0)
			b.reopen()
			b.change(layout.FileName(0, layout.KindLog), tc.damage)
			was := b.read(layout.FileName(0, layout.KindLog))
			if a := b.append(1, day0); a.First != 2 {
				t.Errorf("appended at %d, want 2", a.First)
			}
			if got := b.read(layout.FileName(0, layout.KindLog)); got != was {
				t.Error("the damaged segment was changed")
			}
			if len(b.notices) != 1 || !strings.Contains(b.notices[0], tc.told) {
				t.Errorf("notices %v, want %s", b.notices, tc.told)
			}
			if got := b.files(".log"); !slices.Equal(got, []string{".log", "2.log"}) {
				t.Errorf("segments %v", got)
			}
		})
	}
}

// TestLeftovers finds what a compaction and a deletion left behind when they were killed.
func TestLeftovers(t *testing.T) {
	b := newBench(t, map[string]string{"segment.bytes": "172"})
	for range 5 {
		b.append(1, day0)
	}
	if err := b.log.Close(); err != nil {
		t.Fatal(err)
	}
	first, second := b.read(layout.FileName(0, layout.KindLog)), b.read(layout.FileName(2, layout.KindLog))
	for name, content := range map[string]string{
		".log.swap": first[75:] + second, ".index.swap": "", ".timeindex.swap": "", // offsets 1 to 3
		"4.log.cleaned": "half", "4.log.swap": "half done", "9.log.deleted": "old", "9.index": "what its", "9.timeindex": "deletion has left",
	} {
		number, kind, _ := strings.Cut(name, ".")
		if err := os.WriteFile(filepath.Join(b.dir, fmt.Sprintf("%020s.%s", number, kind)), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.o.Point, b.o.Clean = 5, true
	b.log = OpenLog(b.o)
	if got := b.bounds(); got.Start != 0 || got.End != 5 {
		t.Errorf("bounds %+v", got)
	}
	if got := b.files(".log"); !slices.Equal(got, []string{".log", "4.log"}) {
		t.Errorf("segments %v", got)
	}
	if got := b.read(layout.FileName(0, layout.KindLog)); got != first[75:]+second {
		t.Errorf("the swap was not taken over")
	}
	for _, suffix := range []string{".swap", ".cleaned", ".deleted"} {
		if got := b.files(suffix); len(got) > 0 {
			t.Errorf("left %v", got)
		}
	}
	if got := b.files("index"); !slices.Equal(got, []string{".index", ".timeindex", "4.index", "4.timeindex"}) {
		t.Errorf("indexes %v", got)
	}
	if len(b.notices) != 4 {
		t.Errorf("notices %q, want four", b.notices)
	}
	if a := b.append(1, day0); a.First != 5 {
		t.Errorf("appended at %d, want 5", a.First)
	}
}

// stingy opens files that take so many bytes in all.
type stingy struct{ left int64 }

type stingyFile struct {
	*os.File
	s *stingy
}

// Fd is hidden, so that indexes are written through WriteAt.
func (f stingyFile) Fd(struct{}) {}

func (s *stingy) open(path string) (segment.AppendFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	return stingyFile{f, s}, err
}

// Sync does nothing: a real one would make the test take minutes.
func (f stingyFile) Sync() error { return nil }

func (f stingyFile) WriteAt(b []byte, pos int64) (int, error) {
	if f.s.left < 0 {
		return f.File.WriteAt(b, pos)
	}
	n, err := f.File.WriteAt(b[:min(f.s.left, int64(len(b)))], pos)
	f.s.left -= int64(n)
	if err == nil && n < len(b) {
		err = syscall.ENOSPC
	}
	return n, err
}

// TestFullDisk runs out of room at every byte of what a log writes over two runs: batches, indexes, rolls, snapshots,
// epochs. Each failure is told, loses nothing acknowledged, leaves nothing of what was not, and is over when there is
// room. What a crash at that moment leaves recovers to the same.
func TestFullDisk(t *testing.T) {
	total := int64(0)
	for left := int64(0); left <= total+1; left++ {
		b := newBench(t, map[string]string{"segment.bytes": "172", "index.interval.bytes": "50", "segment.index.bytes": "400"})
		disk := &stingy{left: 1 << 40}
		if total > 0 {
			disk.left = left
		}
		before := disk.left
		b.o.OpenFile, b.log.o.OpenFile = disk.open, disk.open
		// Flushes of closed segments would make the test take minutes.
		b.o.Later = func(func()) {}
		b.log.o.Later = b.o.Later
		failed := b.fill(disk)
		if total == 0 {
			total, left = before-disk.left, -1
			if failed != 0 {
				t.Fatal("it failed with room enough")
			}
			continue
		}
		if failed > 1 {
			t.Errorf("%d failures", failed)
		}
		if got := b.bounds(); got.End != 5 {
			t.Errorf("end %d, want 5", got.End)
		}
		b.verify()
		disk.left = -1
		b.crash(0)
		if got := b.bounds(); got.End != 5 {
			t.Errorf("end after a crash %d, want 5", got.End)
		}
		b.verify()
		if t.Failed() {
			t.Fatalf("with room for %d bytes", left)
		}
		if err := os.RemoveAll(b.dir); err != nil {
			t.Fatal(err)
		}
	}
	if total < 400 {
		t.Errorf("only %d bytes were written", total)
	}
}

// fill appends five records in two runs, each until it works, and returns how often it did not.
func (b *bench) fill(disk *stingy) (failed int) {
	b.t.Helper()
	for i := range 5 {
		for {
			a, err := b.log.Append(b.batch(1, day0+int64(i)), AppendOptions{})
			if err == nil {
				if a.First != int64(i) {
					b.t.Fatalf("record %d went to %d", i, a.First)
				}
				break
			}
			if !errors.Is(err, syscall.ENOSPC) || disk.left < 0 {
				b.t.Fatalf("append: %v", err)
			}
			if got := b.bounds().End; got != int64(i) {
				b.t.Fatalf("end after a failed append %d, want %d", got, i)
			}
			b.whole(i)
			failed++
			disk.left = -1
		}
		if i == 2 {
			// A stop on a full disk is not clean; it is not what is looked at here.
			left := disk.left
			disk.left = -1
			b.log.point.Store(b.bounds().End)
			b.reopen()
			disk.left = left
		}
	}
	return failed
}

// whole checks that .log files hold n batches and nothing else.
func (b *bench) whole(n int) {
	b.t.Helper()
	size := len(b.batch(1, day0))
	var all []byte
	for _, name := range b.files(".log") {
		all = append(all, b.read(fmt.Sprintf("%024s", name))...)
	}
	if len(all) != n*size || bytes.Count(all, []byte("value")) != n {
		b.t.Fatalf("%d bytes, want %d batches of %d", len(all), n, size)
	}
}

// TestRecoveredIsFlushed has the next flush reach all that was recovered: a killed process may have left any of it in the
// system's memory only, and the recovery point must not say more than what is on the disk.
func TestRecoveredIsFlushed(t *testing.T) {
	b := newBench(t, map[string]string{"segment.bytes": "172"})
	for range 6 {
		b.append(1, day0)
	}
	b.crash(2)
	waiting := func() (bases []int64) {
		for _, s := range append(slices.Clone(b.log.unsynced), b.log.active) {
			bases = append(bases, s.Base())
		}
		return bases
	}
	if got := waiting(); !slices.Equal(got, []int64{2, 4}) {
		t.Errorf("segments %v wait for a flush, want those from the recovery point on", got)
	}
	if err := b.log.Flush(); err != nil {
		t.Fatal(err)
	}
	if got, point := waiting(), b.log.RecoveryPoint(); !slices.Equal(got, []int64{4}) || point != 6 {
		t.Errorf("after a flush segments %v wait and the recovery point is %d", got, point)
	}
}
