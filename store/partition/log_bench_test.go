package partition

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// readyBatches returns a ring of about 32 MiB of whole batches of about size bytes each, as a producer sends them: it
// is larger than the caches, so that copying out of it is what reading from a socket is.
func readyBatches(b *testing.B, size int) [][]byte {
	b.Helper()
	const ring = 32 << 20
	value := make([]byte, size-record.HeaderSize-20)
	for i := range value {
		value[i] = byte(i * 7)
	}
	one, err := record.AppendBatch(nil, record.Spec{}, []record.Input{{Timestamp: time.Now().UnixMilli(), Key: []byte("key"), Value: value}})
	if err != nil {
		b.Fatal(err)
	}
	all := make([][]byte, ring/len(one))
	for i := range all {
		all[i] = slices.Clone(one)
	}
	return all
}

// BenchmarkAppend measures appends of ready batches against a plain write of the same bytes. Both sides first copy each
// batch from memory that is not cached into a staging buffer, as reading it from a socket does; turns alternate, and
// the ratio is the median of them.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name     string
		size     int
		together int // batches given to one Append
	}{
		{"1KiB", 1 << 10, 256}, {"1KiB-alone", 1 << 10, 1}, {"16KiB", 16 << 10, 1}, {"64KiB", 64 << 10, 1}, {"256KiB", 256 << 10, 1}, {"1MiB", 1 << 20, 1},
	} {
		b.Run(c.name, func(b *testing.B) { benchAppend(b, c.size, c.together) })
	}
}

const turnBytes = 64 << 20

func benchAppend(b *testing.B, size, together int) {
	ring := readyBatches(b, size)
	dir := b.TempDir()
	staging := make([]byte, 0, (size+1024)*together)
	var ratios, limits, ours []float64
	turn := 0
	for b.Loop() {
		turn++
		name := filepath.Join(dir, fmt.Sprint("raw", turn))
		w := rawTurn(b, name, ring, staging)
		a := logTurn(b, filepath.Join(dir, fmt.Sprintf("t-%d", turn)), ring, staging, together)
		limits, ours, ratios = append(limits, w), append(ours, a), append(ratios, a/w)
	}
	slices.Sort(ratios)
	slices.Sort(limits)
	slices.Sort(ours)
	mid := len(ratios) / 2
	b.ReportMetric(ratios[mid], "ratio")
	b.ReportMetric(ratios[len(ratios)/10], "ratio-p10")
	b.ReportMetric(ratios[len(ratios)*9/10], "ratio-p90")
	b.ReportMetric(limits[mid], "limit-MB/s")
	b.ReportMetric(ours[mid], "append-MB/s")
}

// rawTurn writes 64 MiB, one pwrite a batch, and returns MB/s.
func rawTurn(b *testing.B, path string, ring [][]byte, staging []byte) float64 {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	pos := int64(0)
	for i := 0; pos < turnBytes; i++ {
		staging = append(staging[:0], ring[i%len(ring)]...)
		n, err := f.WriteAt(staging, pos)
		if err != nil {
			b.Fatal(err)
		}
		pos += int64(n)
	}
	took := time.Since(begin)
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		b.Fatal(err)
	}
	return float64(pos) / took.Seconds() / 1e6
}

// logTurn appends 64 MiB to a new log, and returns MB/s.
func logTurn(b *testing.B, dir string, ring [][]byte, staging []byte, together int) float64 {
	l, err := CreateLog(LogOptions{Dir: dir, TP: model.TopicPartition{Topic: "t"}, Config: layout.ParseTopicConfig(map[string]string{"max.message.bytes": "2000000"})}, layout.NewID())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := l.Append(slices.Clone(ring[0]), AppendOptions{}); err != nil { // files are open, as in a log that lives
		b.Fatal(err)
	}
	begin := time.Now()
	done := 0
	for i := 0; done < turnBytes; {
		staging = staging[:0]
		for range together {
			staging = append(staging, ring[i%len(ring)]...)
			i++
		}
		if _, err := l.Append(staging, AppendOptions{}); err != nil {
			b.Fatal(err)
		}
		done += len(staging)
	}
	took := time.Since(begin)
	if err := l.Abandon(); err != nil {
		b.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		b.Fatal(err)
	}
	return float64(done) / took.Seconds() / 1e6
}
