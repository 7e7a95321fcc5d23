package logdir

import (
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// bareWalk is the limit: getdents and fstatat of the .log files, on two goroutines, and nothing else.
func bareWalk(t testing.TB, root string) (files int64) {
	var names []string
	buf := make([]byte, 64<<10)
	walk := func(fd int, buf []byte, each func(name []byte)) {
		for {
			n, err := unix.Getdents(fd, buf)
			must(t, err)
			if n == 0 {
				return
			}
			for b := buf[:n]; len(b) > 0; {
				l := binary.NativeEndian.Uint16(b[16:])
				name := b[19:l]
				name = name[:strings.IndexByte(string(name), 0)]
				if name[0] != '.' {
					each(name)
				}
				b = b[l:]
			}
		}
	}
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	must(t, err)
	defer unix.Close(fd)
	walk(fd, buf, func(name []byte) { names = append(names, string(name)) })
	var next, seen, bytes atomic.Int64
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			buf := make([]byte, 32<<10)
			var st unix.Stat_t
			for {
				i := int(next.Add(1)) - 1
				if i >= len(names) {
					return
				}
				d, err := unix.Openat(fd, names[i], unix.O_RDONLY|unix.O_DIRECTORY, 0)
				must(t, err)
				walk(d, buf, func(name []byte) {
					if len(name) > 4 && string(name[len(name)-4:]) == ".log" {
						must(t, unix.Fstatat(d, string(name), &st, 0))
						seen.Add(1)
						bytes.Add(st.Size)
					}
				})
				unix.Close(d)
			}
		})
	}
	all.Wait()
	return seen.Load()
}

// BenchmarkOpen10k measures a complete topics table of 10,000 partitions of 10 segments, as a ratio of a bare walk of
// the same folders (goal: 1.25), and the time to the first rows (goal: 50 ms).
func BenchmarkOpen10k(b *testing.B) {
	root := wideDir(b, 10_000, 10)
	var ours, bare, first []float64
	for b.Loop() {
		begin := time.Now()
		if n := bareWalk(b, root); n != 100_000 {
			b.Fatal(n, "files")
		}
		bare = append(bare, time.Since(begin).Seconds()*1e3)

		begin = time.Now()
		d, err := Open([]string{root}, Options{Still: true})
		must(b, err)
		rows, err := d.Topics(b.Context())
		must(b, err)
		if len(rows) != 1000 {
			b.Fatal(len(rows), "rows")
		}
		first = append(first, time.Since(begin).Seconds()*1e3)
		must(b, d.Settle(b.Context()))
		rows, err = d.Topics(b.Context())
		must(b, err)
		ours = append(ours, time.Since(begin).Seconds()*1e3)
		for _, r := range rows {
			if r.Bytes < 10*1000 {
				b.Fatal(r)
			}
		}
		must(b, d.Close())
	}
	b.ReportMetric(median(ours), "ms")
	b.ReportMetric(median(bare), "bare-ms")
	b.ReportMetric(median(ours)/median(bare), "x-bare")
	b.ReportMetric(median(first), "first-rows-ms")
}
