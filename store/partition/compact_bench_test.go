package partition

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// fillForCompaction writes about size bytes of records with so large values and so many keys to a new log, in segments of
// 32 MiB.
func fillForCompaction(b *testing.B, size int64, value, keys int, codec record.Codec) *Log {
	b.Helper()
	o := LogOptions{Dir: filepath.Join(b.TempDir(), "t-0"), TP: testTP, Config: layout.ParseTopicConfig(map[string]string{
		"cleanup.policy": "compact", "segment.bytes": fmt.Sprint(32 << 20)})}
	l, err := CreateLog(o, layout.NewID())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Abandon() })
	r := rand.New(rand.NewPCG(1, 2))
	pool := make([]byte, 1<<20+value)
	for i := range pool {
		pool[i] = byte('a' + r.IntN(20))
	}
	var raw []byte
	for done := int64(0); done < size; done += int64(len(raw)) {
		recs := make([]record.Input, max(1, (64<<10)/(value+30)))
		for i := range recs {
			from := r.IntN(1 << 20)
			recs[i] = record.Input{Timestamp: day0, Key: fmt.Appendf(nil, "key-%09d", r.IntN(keys)), Value: pool[from : from+value]}
		}
		if raw, err = record.AppendBatch(raw[:0], record.Spec{Codec: codec}, recs); err != nil {
			b.Fatal(err)
		}
		if _, err := l.Append(raw, AppendOptions{Trusted: true}); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Flush(); err != nil {
		b.Fatal(err)
	}
	return l
}

// BenchmarkCompact cleans 256 MiB. Beside it stands what no cleaner can do without: reading the dirty bytes twice, and
// writing and flushing what stays.
func BenchmarkCompact(b *testing.B) {
	for name, tc := range map[string]struct {
		value, keys int
		codec       record.Codec
	}{
		"1 KiB, a tenth stays":        {1024, 25_000, record.None},
		"1 KiB, most stays":           {1024, 1_000_000, record.None},
		"100 bytes, a tenth stays":    {100, 200_000, record.None},
		"1 KiB, lz4, a quarter stays": {1024, 60_000, record.Lz4},
	} {
		b.Run(name, func(b *testing.B) {
			var speed, limit []float64
			for b.Loop() {
				b.StopTimer()
				l := fillForCompaction(b, 256<<20, tc.value, tc.keys, tc.codec)
				dir := l.o.Dir
				l.mu.Lock()
				segs := slices.Clone(l.segs[:len(l.segs)-1])
				l.mu.Unlock()
				var size int64
				buf := make([]byte, cleanBuffer)
				begin := time.Now()
				for range 2 {
					size = 0
					for _, p := range segs {
						size += readThroughFile(b, filepath.Join(dir, layout.FileName(p.base, layout.KindLog)), buf)
					}
				}
				bare := time.Since(begin)
				b.StartTimer()
				begin = time.Now()
				c, err := l.Compact(b.Context(), CompactOptions{})
				took := time.Since(begin)
				b.StopTimer()
				if err != nil {
					b.Fatal(err)
				}
				begin = time.Now()
				writeThrough(b, filepath.Join(b.TempDir(), "x"), buf, c.Written)
				bare += time.Since(begin)
				speed = append(speed, float64(size)/took.Seconds()/1e6)
				limit = append(limit, bare.Seconds()/took.Seconds())
				b.StartTimer()
			}
			slices.Sort(speed)
			slices.Sort(limit)
			b.ReportMetric(speed[len(speed)/2], "MB/s")
			b.ReportMetric(limit[len(limit)/2], "of-bare-io")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func readThroughFile(b *testing.B, path string, buf []byte) int64 {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var n int64
	for {
		k, err := f.Read(buf)
		n += int64(k)
		if err != nil {
			return n
		}
	}
}

func writeThrough(b *testing.B, path string, buf []byte, n int64) {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for ; n > 0; n -= int64(len(buf)) {
		if _, err := f.Write(buf[:min(n, int64(len(buf)))]); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAppendWhileCleaning appends a batch of 1 KiB every millisecond, beside a cleaner at work and without one, and
// reports the 99th percentile of both.
func BenchmarkAppendWhileCleaning(b *testing.B) {
	l := fillForCompaction(b, 128<<20, 1024, 1_000_000, record.None)
	raw, err := record.AppendBatch(nil, record.Spec{}, []record.Input{{Timestamp: day0, Key: []byte("k"), Value: make([]byte, 1024)}})
	if err != nil {
		b.Fatal(err)
	}
	appends := func(n int) float64 {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		took := make([]float64, n)
		for i := range took {
			<-tick.C
			batch := slices.Clone(raw)
			begin := time.Now()
			if _, err := l.Append(batch, AppendOptions{}); err != nil {
				b.Fatal(err)
			}
			took[i] = float64(time.Since(begin).Microseconds())
		}
		slices.Sort(took)
		return took[n*99/100]
	}
	for b.Loop() {
		quiet := appends(1500)
		var stop atomic.Bool
		done := make(chan int)
		go func() {
			n := 0
			for !stop.Load() {
				l.cleaned.Store(0)
				if _, err := l.Compact(b.Context(), CompactOptions{}); err != nil {
					b.Error(err)
				}
				n++
			}
			done <- n
		}()
		busy := appends(1500)
		stop.Store(true)
		b.ReportMetric(float64(<-done), "cleanings")
		b.ReportMetric(quiet, "p99-quiet-µs")
		b.ReportMetric(busy, "p99-cleaning-µs")
	}
}
