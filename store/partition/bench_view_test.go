//go:build unix

package partition_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
	"github.com/strata-kafka/strata/store/segment/segtest"
)

const benchSize = 64 << 20

// benchLog makes a folder with one segment of 16 KiB batches with values of so many bytes.
func benchLog(b testing.TB, size int64, codec record.Codec, value int) string {
	b.Helper()
	dir := b.TempDir()
	log, index, times, _ := segtest.Fill(b, record.Spec{Codec: codec}, size, 16384/(value+20), value)
	segtest.Write(b, dir, 0, layout.KindLog, log)
	segtest.Write(b, dir, 0, layout.KindIndex, index)
	segtest.Write(b, dir, 0, layout.KindTimeIndex, times)
	return dir
}

// against runs limit and ours in turn and reports the median of their ratio, and its spread.
func against(b *testing.B, limit, ours func()) {
	b.Helper()
	var ratios []float64
	limit()
	ours()
	for b.Loop() {
		begin := time.Now()
		limit()
		mid := time.Now()
		ours()
		ratios = append(ratios, float64(mid.Sub(begin))/float64(time.Since(mid)))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "of-limit")
	b.ReportMetric(ratios[len(ratios)-1]-ratios[0], "spread")
}

// readLog reads the .log of a folder through one buffer.
func readLog(b *testing.B, dir string, fn func([]byte)) {
	f, err := os.Open(filepath.Join(dir, layout.FileName(0, layout.KindLog)))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, segment.DefaultBuffer)
	for at := int64(0); ; {
		n, err := f.ReadAt(buf, at)
		fn(buf[:n])
		at += int64(n)
		if err == io.EOF {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerify: the limit is reading and one checksum over everything, on one core; ours checks every record too, on
// all.
func BenchmarkVerify(b *testing.B) {
	for name, value := range map[string]int{"100B": 100, "1KiB": 1024} {
		b.Run(name, func(b *testing.B) {
			dir := benchLog(b, benchSize, record.None, value)
			v := openView(b, dir)
			table := crc32.MakeTable(crc32.Castagnoli)
			against(b, func() {
				sum := uint32(0)
				readLog(b, dir, func(p []byte) { sum = crc32.Update(sum, table, p) })
			}, func() {
				if sum, err := v.Verify(context.Background(), 0, func(model.VerifyEvent) {}); err != nil || sum.Damage+sum.Warnings > 0 {
					b.Fatal(sum, err)
				}
			})
		})
	}
}

// BenchmarkSearch: the limit is reading and bytes.Contains over everything, on one core, for a needle that is not there
// and whose first byte is rare.
func BenchmarkSearch(b *testing.B) {
	for name, tc := range map[string]struct {
		m     record.Matcher
		value int
	}{
		"100B":        {record.NewLiteral([]byte("zulu-needle"), false), 100},
		"1KiB":        {record.NewLiteral([]byte("zulu-needle"), false), 1024},
		"1KiB/common": {record.NewLiteral([]byte("abcdefgz"), false), 1024},
		"1KiB/regexp": {record.NewRegexp(regexp.MustCompile(`a\.b.*zulu-\d+`)), 1024},
	} {
		b.Run(name, func(b *testing.B) {
			dir := benchLog(b, benchSize, record.None, tc.value)
			v := openView(b, dir)
			against(b, func() {
				readLog(b, dir, func(p []byte) {
					if bytes.Contains(p, []byte("zulu-needle")) {
						b.Fatal("found")
					}
				})
			}, func() { searchAll(b, v, tc.m) })
		})
	}
}

func searchAll(b *testing.B, v *partition.View, m record.Matcher) {
	end, err := v.Search(context.Background(), model.SearchQuery{}, model.FromStart, model.FromEnd, m, func(model.SearchEvent) bool { return true })
	if err != nil || !end.Whole || end.Hits > 0 {
		b.Fatal(end, err)
	}
}

// BenchmarkSearchCompressed: the limit is decompressing the same batches, on one core.
func BenchmarkSearchCompressed(b *testing.B) {
	for _, c := range []record.Codec{record.Gzip, record.Snappy, record.Lz4, record.Zstd} {
		b.Run(c.String(), func(b *testing.B) {
			v := openView(b, benchLog(b, benchSize/8, c, 1024))
			var batches [][]byte
			if err := v.Scan(context.Background(), 0, model.FromEnd, func(_ record.Header, _, _ int64, batch []byte) error {
				batches = append(batches, bytes.Clone(batch))
				return nil
			}); err != nil {
				b.Fatal(err)
			}
			m := record.NewLiteral([]byte("zulu-needle"), false)
			var r record.Reader
			against(b, func() {
				for _, x := range batches {
					if err := r.Reset(x); err != nil {
						b.Fatal(err)
					}
				}
			}, func() { searchAll(b, v, m) })
		})
	}
}

// BenchmarkJump finds offsets and times anywhere in a topic that looks like 1 TiB: 1,024 segments of 1 GiB, nearly all
// hole. The limit is to open, map and search an index, and to open a .log and read 16 KiB of it.
func BenchmarkJump(b *testing.B) {
	dir, targets := terabyte(b)
	v := openView(b, dir)
	for _, byTime := range []bool{false, true} {
		name := map[bool]string{false: "offset", true: "time"}[byTime]
		b.Run(name, func(b *testing.B) {
			i := 0
			next := func() jump { i++; return targets[i%len(targets)] }
			buf := make([]byte, 16<<10)
			against(b, func() {
				for range targets {
					bareJump(b, dir, next(), buf)
				}
			}, func() {
				for range targets {
					t := next()
					r, err := v.Lookup(context.Background(), model.Target{ByTime: byTime, Offset: t.offset, Time: segtest.T + t.offset})
					if err != nil || r.Offset != t.offset || r.Scanned > 64<<10 || len(r.Faults) > 0 {
						b.Fatal(t, r, err)
					}
				}
			})
		})
	}
}

type jump struct{ base, pos, offset int64 }

const (
	perBatch = 100
	batches  = 65536 // of 16 KiB, in a segment of 1 GiB
	perSeg   = batches * perBatch
	stride   = 16 << 10
)

// terabyte makes the folder, and the places in it that can be jumped to.
func terabyte(b *testing.B) (string, []jump) {
	dir := b.TempDir()
	var targets []jump
	in := make([]record.Input, perBatch)
	for n := range int64(1024) {
		base := n * perSeg
		log := segtest.Write(b, dir, base, layout.KindLog, nil)
		segtest.Grow(b, log, 1<<30)
		f, err := os.OpenFile(log, os.O_WRONLY, 0)
		if err != nil {
			b.Fatal(err)
		}
		put := func(k int64) {
			for i := range in {
				in[i] = record.Input{Timestamp: segtest.T + base + k*perBatch + int64(i), Value: make([]byte, 100)}
			}
			in[0].Value = nil
			plain := len(segtest.Batch(b, record.Spec{BaseOffset: base + k*perBatch}, in...))
			in[0].Value = make([]byte, stride-plain-4)
			batch := segtest.Batch(b, record.Spec{BaseOffset: base + k*perBatch}, in...)
			for len(batch) != stride {
				in[0].Value = make([]byte, len(in[0].Value)+stride-len(batch))
				batch = segtest.Batch(b, record.Spec{BaseOffset: base + k*perBatch}, in...)
			}
			if _, err := f.WriteAt(batch, k*stride); err != nil {
				b.Fatal(err)
			}
		}
		put(0)
		put(batches - 1)
		first := int64(batches - 1) // the first batch that the indexes know
		if n%64 == 7 {
			k := (n*2654435761 + 12345) % (batches - 3)
			for i := range int64(3) { // as in a log without a hole: one behind it, too
				put(k + i)
			}
			targets = append(targets, jump{base, (k + 1) * stride, base + (k+1)*perBatch + 3})
			first = 1
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		var index, times []byte
		for k := first; k < batches; k++ {
			index = binary.BigEndian.AppendUint32(index, uint32((k+1)*perBatch-1))
			index = binary.BigEndian.AppendUint32(index, uint32(k*stride))
			times = binary.BigEndian.AppendUint64(times, uint64(segtest.T+base+(k+1)*perBatch-1))
			times = binary.BigEndian.AppendUint32(times, uint32((k+1)*perBatch-1))
		}
		segtest.Write(b, dir, base, layout.KindIndex, index)
		segtest.Write(b, dir, base, layout.KindTimeIndex, times)
	}
	return dir, targets
}

func bareJump(b *testing.B, dir string, t jump, buf []byte) {
	x, err := os.Open(filepath.Join(dir, layout.FileName(t.base, layout.KindIndex)))
	if err != nil {
		b.Fatal(err)
	}
	m, err := unix.Mmap(int(x.Fd()), 0, (batches-1)*8, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		b.Fatal(err)
	}
	lo, hi := 0, len(m)/8
	for lo < hi {
		mid := (lo + hi) / 2
		if int64(binary.BigEndian.Uint32(m[mid*8:]))+t.base > t.offset {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	pos := int64(binary.BigEndian.Uint32(m[lo*8-4:]))
	if err := unix.Munmap(m); err != nil {
		b.Fatal(err)
	}
	x.Close()
	f, err := os.Open(filepath.Join(dir, layout.FileName(t.base, layout.KindLog)))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := f.ReadAt(buf, pos); err != nil {
		b.Fatal(err)
	}
	f.Close()
}

// TestMemoryStaysFlat reads, checks and searches a log of 256 MiB.
func TestMemoryStaysFlat(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector's own memory is no measure")
		return
	}
	v := openView(t, benchLog(t, 256<<20, record.None, 1024))
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := v.Verify(t.Context(), model.Unknown, func(model.VerifyEvent) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Search(t.Context(), model.SearchQuery{}, model.FromStart, model.FromEnd, record.NewLiteral([]byte("zulu"), false), func(model.SearchEvent) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Follow(t.Context(), 0, partition.FollowOptions{}, func(*partition.Entry) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Count(t.Context(), model.FromStart, model.FromEnd); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if after.HeapSys > before.HeapSys+32<<20 {
		t.Errorf("the heap has grown by %d MiB", (after.HeapSys-before.HeapSys)>>20)
	}
}
