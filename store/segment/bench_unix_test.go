//go:build unix

package segment_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
	"github.com/strata-kafka/strata/store/segment/segtest"
)

const benchSize = 64 << 20

// benchDir makes a segment of 16 KiB batches with values of so many bytes.
func benchDir(b *testing.B, value int) *segment.File {
	b.Helper()
	dir := b.TempDir()
	log, index, times, _ := segtest.Fill(b, record.Spec{}, benchSize, 16384/(value+20), value)
	segtest.Write(b, dir, 0, layout.KindLog, log)
	segtest.Write(b, dir, 0, layout.KindIndex, index)
	segtest.Write(b, dir, 0, layout.KindTimeIndex, times)
	f, err := segment.OpenFile(dir, 0, "")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(f.Close)
	return f
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

// read reads a file through one buffer and gives each piece to fn.
func read(b *testing.B, f *os.File, fn func([]byte)) {
	buf := make([]byte, 256<<10)
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

// BenchmarkVerifyChecksums: limit is reading and one checksum over everything.
func BenchmarkVerifyChecksums(b *testing.B) {
	for name, value := range map[string]int{"100B": 100, "1KiB": 1024} {
		b.Run(name, func(b *testing.B) {
			f := benchDir(b, value)
			table := crc32.MakeTable(crc32.Castagnoli)
			s := new(segment.Scanner)
			b.SetBytes(2 * f.Size)
			against(b, func() {
				sum := uint32(0)
				read(b, f.Log, func(p []byte) { sum = crc32.Update(sum, table, p) })
			}, func() {
				s.Reset(f.Log, f.Size, segment.ScanOptions{Check: true})
				for {
					k := s.Next()
					if k == segment.End {
						return
					}
					if stored, computed := s.Sum(); k != segment.Batch || stored != computed {
						b.Fatal(k, stored, computed)
					}
				}
			})
		})
	}
}

// BenchmarkVerifyRecords: every record is walked besides; the limit is the same.
func BenchmarkVerifyRecords(b *testing.B) {
	for name, value := range map[string]int{"100B": 100, "1KiB": 1024} {
		b.Run(name, func(b *testing.B) {
			f := benchDir(b, value)
			table := crc32.MakeTable(crc32.Castagnoli)
			var c segment.Checker
			b.SetBytes(2 * f.Size)
			records := int32(0)
			b.ReportAllocs()
			against(b, func() {
				sum := uint32(0)
				read(b, f.Log, func(p []byte) { sum = crc32.Update(sum, table, p) })
			}, func() {
				records = 0
				if err := c.Check(f, 0, f.Size, nil, func(x segment.Checked) bool {
					records += x.Records
					return len(x.Faults) == 0
				}); err != nil {
					b.Fatal(err)
				}
			})
			b.ReportMetric(float64(records), "records")
		})
	}
}

// BenchmarkScanSearch: the limit is reading and bytes.Contains over everything; the needle's first byte is rare.
func BenchmarkScanSearch(b *testing.B) {
	for name, value := range map[string]int{"100B": 100, "1KiB": 1024} {
		b.Run(name, func(b *testing.B) {
			f := benchDir(b, value)
			needle := []byte("zulu-needle")
			m := record.NewLiteral(needle, false)
			s := new(segment.Scanner)
			b.SetBytes(2 * f.Size)
			against(b, func() {
				read(b, f.Log, func(p []byte) {
					if bytes.Contains(p, needle) {
						b.Fatal("found")
					}
				})
			}, func() {
				s.Reset(f.Log, f.Size, segment.ScanOptions{})
				for s.Next() != segment.End {
					if m.MayContain(s.Bytes()) {
						b.Fatal("found")
					}
				}
			})
		})
	}
}

// BenchmarkListBatches: the limit is a hop from header to header in a mapped file, which can be killed by a truncation.
func BenchmarkListBatches(b *testing.B) {
	for name, size := range map[string]int{"16KiB": 16384, "1KiB": 1024} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			log, _, _, _ := segtest.Fill(b, record.Spec{}, 4*benchSize, 1, size-80)
			segtest.Write(b, dir, 0, layout.KindLog, log)
			f, err := segment.OpenFile(dir, 0, "")
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			s := new(segment.Scanner)
			want := 0
			b.SetBytes(2 * f.Size)
			against(b, func() {
				m, err := unix.Mmap(int(f.Log.Fd()), 0, int(f.Size), unix.PROT_READ, unix.MAP_SHARED)
				if err != nil {
					b.Fatal(err)
				}
				want = 0
				for at := 0; at < len(m); want++ {
					h, err := record.ParseHeader(m[at:])
					if err != nil {
						b.Fatal(err)
					}
					at += int(h.Size())
				}
				if err := unix.Munmap(m); err != nil {
					b.Fatal(err)
				}
			}, func() {
				s.Reset(f.Log, f.Size, segment.ScanOptions{Headers: true, Map: true})
				defer s.Close()
				n := 0
				for s.Next() == segment.Batch {
					n++
				}
				if n != want {
					b.Fatal(n, want)
				}
			})
			b.ReportMetric(float64(want), "batches")
		})
	}
}

// BenchmarkSeek: the limit is what a lookup must do at the least: open, map the index, search it, and read a batch.
func BenchmarkSeek(b *testing.B) {
	dir := b.TempDir()
	log, index, times, next := segtest.Fill(b, record.Spec{}, benchSize, 16, 1000)
	segtest.Write(b, dir, 0, layout.KindLog, log)
	x := segtest.Write(b, dir, 0, layout.KindIndex, index)
	segtest.Write(b, dir, 0, layout.KindTimeIndex, times)
	p := dir + "/" + layout.FileName(0, layout.KindLog)
	buf := make([]byte, 16384)
	target := int64(0)
	step := func() int64 { target = (target + 7919*next/16384 + 1) % next; return target }
	against(b, func() {
		for range 100 {
			o := step()
			xf, err := os.Open(x)
			if err != nil {
				b.Fatal(err)
			}
			m, err := unix.Mmap(int(xf.Fd()), 0, len(index), unix.PROT_READ, unix.MAP_SHARED)
			if err != nil {
				b.Fatal(err)
			}
			lo, hi := 0, len(m)/8
			for lo < hi {
				mid := (lo + hi) / 2
				if int64(binary.BigEndian.Uint32(m[mid*8:])) > o {
					hi = mid
				} else {
					lo = mid + 1
				}
			}
			pos := int64(0)
			if lo > 0 {
				pos = int64(binary.BigEndian.Uint32(m[lo*8-4:]))
			}
			_ = unix.Munmap(m)
			xf.Close()
			lf, err := os.Open(p)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := lf.ReadAt(buf, pos); err != nil && err != io.EOF {
				b.Fatal(err)
			}
			lf.Close()
		}
	}, func() {
		for range 100 {
			f, err := segment.OpenFile(dir, 0, "")
			if err != nil {
				b.Fatal(err)
			}
			place, err := f.SeekOffset(step(), nil)
			if err != nil || !place.Found {
				b.Fatal(place, err)
			}
			if _, err := f.Log.ReadAt(buf[:place.Header.Size()], place.Pos); err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
}
