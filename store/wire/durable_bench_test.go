//go:build linux

package wire

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/strata-kafka/strata/store/record"
)

// BenchmarkDurable has sixteen connections produce batches of 64 KiB to a topic that is flushed before each answer, and in
// turns writes as many in a loop with one fdatasync each. ratio is the median of the turns; a batch waits for no flush of
// its own.
func BenchmarkDurable(b *testing.B) {
	const writers, each, size = 16, 16, 64 << 10
	c := startCore(b, Options{}, set("bench", 1, "flush.messages", "1", "segment.bytes", "1073741824"))
	batch, err := record.AppendBatch(nil, record.Spec{}, []record.Input{{Timestamp: time.Now().UnixMilli(), Value: make([]byte, size-80)}})
	if err != nil {
		b.Fatal(err)
	}
	frame := frameOf(produceOf("bench", -1, map[int32][]byte{0: batch}), 9, 1)
	var clients []*client
	for range writers {
		cl := c.dial()
		if err := cl.nc.SetDeadline(time.Time{}); err != nil {
			b.Fatal(err)
		}
		clients = append(clients, cl)
	}
	f, err := os.Create(filepath.Join(b.TempDir(), "loop"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	at := int64(0)
	loop := func() time.Duration {
		begin := time.Now()
		for range writers * each {
			if _, err := f.WriteAt(batch, at); err != nil {
				b.Fatal(err)
			}
			at += int64(len(batch))
			if err := syscall.Fdatasync(int(f.Fd())); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(begin)
	}
	produce := func() time.Duration {
		begin := time.Now()
		var all sync.WaitGroup
		for _, cl := range clients {
			all.Go(func() {
				for range each {
					if _, err := cl.nc.Write(frame); err != nil {
						b.Error(err)
						return
					}
					if _, err := cl.receive(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		return time.Since(begin)
	}
	var ratios []float64
	b.SetBytes(writers * each * size)
	for b.Loop() {
		limit := loop()
		ratios = append(ratios, limit.Seconds()/produce().Seconds())
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
}
