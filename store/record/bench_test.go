package record

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"
)

// The benchmarks read a page-cached segment of 16 KiB batches through one
// buffer, as the engine does. Each has its limit in the same run, the two in
// turns; "ratio" is the median of limit ÷ product of all turns, "GB/s" the
// median speed of the product.
const (
	benchBytes  = 64 << 20
	benchBuffer = 256 << 10
	benchBatch  = 16 << 10
)

// benchValue is a value of n bytes like a service writes: JSON with text.
func benchValue(rng *rand.Rand, n int) []byte {
	words := []string{"order", "paid", "the", "of", "customer", "delivery", "item", "returned", "total", "amount",
		"warehouse", "and", "street", "pending", "note", "a.b", "north", "email", "example", "status"}
	v := fmt.Appendf(nil, `{"id":%d,"state":"paid","note":"`, rng.IntN(1e6))
	for len(v) < n-2 {
		v = append(append(v, words[rng.IntN(len(words))]...), ' ')
	}
	return append(v[:n-2], '"', '}')
}

// benchSegment writes a segment of about benchBytes of records.
func benchSegment(b *testing.B, c Codec, valueSize int) string {
	b.Helper()
	rng := rand.New(rand.NewPCG(7, uint64(valueSize)))
	var seg []byte
	offset, raw := int64(0), 0
	for raw < benchBytes {
		var recs []Input
		for size := 0; size < benchBatch; size += valueSize + 18 {
			recs = append(recs, Input{Timestamp: goldenTime + offset, Key: fmt.Appendf(nil, "key-%06d", rng.IntN(1e6)),
				Value: benchValue(rng, valueSize)})
		}
		batch, err := AppendBatch(seg, Spec{BaseOffset: offset, Codec: c}, recs)
		if err != nil {
			b.Fatal(err)
		}
		seg = batch
		offset += int64(len(recs))
		raw += benchBatch
	}
	path := filepath.Join(b.TempDir(), "segment.log")
	if err := os.WriteFile(path, seg, 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// scanner reads files piece by piece.
type scanner struct{ buf []byte }

// pieces gives the file [from, to) in reads of the buffer's size; do tells how
// much of a piece it has used.
func (s *scanner) pieces(f *os.File, from, to int64, do func([]byte) int) error {
	if s.buf == nil {
		s.buf = make([]byte, benchBuffer)
	}
	for from < to {
		n, err := f.ReadAt(s.buf[:min(int64(len(s.buf)), to-from)], from)
		if n == 0 && err != nil && err != io.EOF {
			return err
		}
		used := do(s.buf[:n])
		if used == 0 {
			return fmt.Errorf("nothing used at %d", from)
		}
		from += int64(used)
	}
	return nil
}

// batches gives every whole batch of [from, to), which begins with one.
func (s *scanner) batches(f *os.File, from, to int64, do func([]byte)) error {
	return s.pieces(f, from, to, func(piece []byte) int {
		p := 0
		for {
			size, _, err := PeekSize(piece[p:])
			if err != nil || int64(len(piece)-p) < size {
				return p
			}
			do(piece[p : p+int(size)])
			p += int(size)
		}
	})
}

// turns runs limit and product in turns over a segment and reports the ratio.
func turns(b *testing.B, path string, limit, product func(f *os.File, size int64)) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	var limits, products, ratios []float64
	clock := func(do func(*os.File, int64)) float64 {
		start := time.Now()
		do(f, info.Size())
		return time.Since(start).Seconds()
	}
	product(f, info.Size())
	for i := 0; b.Loop(); i++ {
		var l, p float64
		if i%2 == 0 {
			l, p = clock(limit), clock(product)
		} else {
			p, l = clock(product), clock(limit)
		}
		limits, products, ratios = append(limits, l), append(products, p), append(ratios, l/p)
	}
	speed := func(s []float64) float64 { return float64(info.Size()) / median(s) / 1e9 }
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(speed(products), "GB/s")
	b.ReportMetric(speed(limits), "limit-GB/s")
	b.ReportMetric((slices.Max(limits)-slices.Min(limits))/median(limits), "limit-spread")
}

func median(s []float64) float64 {
	s = slices.Clone(s)
	slices.Sort(s)
	return s[len(s)/2]
}

var sizes = map[string]int{"100B": 100, "1KiB": 1024}

func benchSizes(b *testing.B, do func(b *testing.B, path string)) {
	for _, name := range []string{"100B", "1KiB"} {
		path := benchSegment(b, None, sizes[name])
		b.Run(name, func(b *testing.B) { do(b, path) })
	}
}

// readCRC reads everything and sums it up once.
func readCRC(b *testing.B, s *scanner) func(*os.File, int64) {
	return func(f *os.File, size int64) {
		if err := s.pieces(f, 0, size, func(p []byte) int {
			sink += int(crc32.Checksum(p, castagnoli))
			return len(p)
		}); err != nil {
			b.Fatal(err)
		}
	}
}

var sink int

func BenchmarkVerify(b *testing.B) {
	var s scanner
	benchSizes(b, func(b *testing.B, path string) {
		turns(b, path, readCRC(b, &s), func(f *os.File, size int64) { verify(b, &s, f, 0, size) })
	})
}

func verify(b *testing.B, s *scanner, f *os.File, from, to int64) {
	err := s.batches(f, from, to, func(batch []byte) {
		if stored, computed := Checksum(batch); stored != computed {
			b.Error("bad CRC")
		}
	})
	if err != nil {
		b.Error(err)
	}
}

// BenchmarkWalk checks CRC and structure of every record; "count" is what
// verifying needs, "next" steps over them, "record" decodes each.
func BenchmarkWalk(b *testing.B) {
	var s scanner
	var r Reader
	n := 0
	for _, bench := range []struct {
		name string
		walk func()
	}{
		{"count", func() {
			m, err := r.Count()
			if n += m; err != nil {
				b.Error(err)
			}
		}},
		{"next", func() {
			for r.Next() {
				n++
			}
		}},
		{"record", func() {
			for r.Next() {
				sink += len(r.Record().Key)
				n++
			}
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			benchSizes(b, func(b *testing.B, path string) {
				turns(b, path, readCRC(b, &s), func(f *os.File, size int64) {
					n = 0
					err := s.batches(f, 0, size, func(batch []byte) {
						if stored, computed := Checksum(batch); stored != computed {
							b.Error("bad CRC")
						}
						if err := r.Reset(batch); err != nil {
							b.Error(err)
						}
						bench.walk()
					})
					if err != nil || r.Err() != nil {
						b.Fatal(err, r.Err())
					}
				})
				b.ReportMetric(walkAllocs(b, path)/float64(n), "allocs/record")
			})
		})
	}
}

// walkAllocs counts the allocations of walking a segment that is in memory.
func walkAllocs(b *testing.B, path string) float64 {
	seg, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	batches := split(b, seg)
	var r Reader
	return testing.AllocsPerRun(1, func() {
		for _, batch := range batches {
			if err := r.Reset(batch); err != nil {
				b.Fatal(err)
			}
			for r.Next() {
				sink += len(r.Record().Key)
			}
		}
	})
}

// searchAll searches the segment with a matcher that finds nothing.
func searchAll(b *testing.B, s *scanner, r *Reader, m Matcher, f *os.File, from, to int64) {
	err := s.batches(f, from, to, func(batch []byte) {
		if err := r.Reset(batch); err != nil {
			b.Error(err)
		}
		if _, err := Search(r, m, func(*Record) bool { b.Error("found"); return false }); err != nil {
			b.Error(err)
		}
	})
	if err != nil {
		b.Error(err)
	}
}

var (
	goodNeedle = []byte("Zebra-7781")
	// badNeedle begins with the most frequent byte and is nearly in every
	// record.
	badNeedle = []byte(`"state":"paix"`)
)

func BenchmarkSearch(b *testing.B) {
	var s scanner
	var r Reader
	m := NewLiteral(goodNeedle, false)
	benchSizes(b, func(b *testing.B, path string) {
		turns(b, path, func(f *os.File, size int64) {
			if err := s.pieces(f, 0, size, func(p []byte) int {
				if bytes.Contains(p, goodNeedle) {
					b.Error("found")
				}
				return len(p)
			}); err != nil {
				b.Fatal(err)
			}
		}, func(f *os.File, size int64) { searchAll(b, &s, &r, m, f, 0, size) })
	})
}

// BenchmarkSearchHard has the easy search as its limit.
func BenchmarkSearchHard(b *testing.B) {
	var s scanner
	var r Reader
	easy := NewLiteral(goodNeedle, false)
	for name, m := range map[string]Matcher{
		"near-misses":   NewLiteral(badNeedle, false),
		"common-bytes":  NewLiteral([]byte("ataratara"), false),
		"any-case":      NewLiteral([]byte("RetourNiert"), true),
		"regexp-prefix": NewRegexp(regexp.MustCompile(`zulu-[0-9]+`)),
		"regexp-middle": NewRegexp(regexp.MustCompile(`a\.b.*zulu-\d+`)),
		"regexp-or":     NewRegexp(regexp.MustCompile(`zulu|Quebec`)),
	} {
		b.Run(name, func(b *testing.B) {
			benchSizes(b, func(b *testing.B, path string) {
				turns(b, path, func(f *os.File, size int64) { searchAll(b, &s, &r, easy, f, 0, size) },
					func(f *os.File, size int64) { searchAll(b, &s, &r, m, f, 0, size) })
			})
		})
	}
}

// BenchmarkSearchCompressed has the bare decompression as its limit.
func BenchmarkSearchCompressed(b *testing.B) {
	m := NewLiteral(goodNeedle, false)
	for c := Gzip; c <= Zstd; c++ {
		path := benchSegment(b, c, 1024)
		b.Run(c.String(), func(b *testing.B) {
			var s scanner
			var r Reader
			var inf inflater
			var buf []byte
			turns(b, path, func(f *os.File, size int64) {
				if err := s.batches(f, 0, size, func(batch []byte) {
					out, err := inf.inflate(buf[:0], c, 2, batch[HeaderSize:], DefaultMaxInflated)
					if err != nil {
						b.Error(err)
					}
					buf = out
				}); err != nil {
					b.Fatal(err)
				}
			}, func(f *os.File, size int64) { searchAll(b, &s, &r, m, f, 0, size) })
		})
	}
}

// halves finds the batch border nearest to the middle of the segment.
func halves(b *testing.B, path string) (mid int64) {
	b.Helper()
	seg, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	for mid < int64(len(seg))/2 {
		size, _, err := PeekSize(seg[mid:])
		if err != nil {
			b.Fatal(err)
		}
		mid += size
	}
	return mid
}

// BenchmarkTwoCores has the same work on one core as its limit.
func BenchmarkTwoCores(b *testing.B) {
	path, packed := benchSegment(b, None, 1024), benchSegment(b, Zstd, 1024)
	var s [2]scanner
	var r [2]Reader
	m := NewLiteral(goodNeedle, false)
	search := func(i int, f *os.File, from, to int64) { searchAll(b, &s[i], &r[i], m, f, from, to) }
	for _, bench := range []struct {
		name, path string
		do         func(i int, f *os.File, from, to int64)
	}{
		{"verify", path, func(i int, f *os.File, from, to int64) { verify(b, &s[i], f, from, to) }},
		{"search", path, search},
		{"search-zstd", packed, search},
	} {
		b.Run(bench.name, func(b *testing.B) {
			mid := halves(b, bench.path)
			turns(b, bench.path, func(f *os.File, size int64) { bench.do(0, f, 0, size) }, func(f *os.File, size int64) {
				var wg sync.WaitGroup
				wg.Go(func() { bench.do(0, f, 0, mid) })
				wg.Go(func() { bench.do(1, f, mid, size) })
				wg.Wait()
			})
		})
	}
}
