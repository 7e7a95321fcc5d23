package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// bare is a plain fsnotify watcher with a reader that throws its events away: the peer of the benchmarks.
func bare(tb testing.TB, got chan<- struct{}) *fsnotify.Watcher {
	w, err := fsnotify.NewWatcher()
	must(tb, err)
	done := make(chan struct{})
	go func() { // ends with the watcher
		defer close(done)
		for range w.Events {
			select {
			case got <- struct{}{}:
			default:
			}
		}
	}()
	tb.Cleanup(func() {
		must(tb, w.Close())
		<-done
	})
	return w
}

func median(d []float64) float64 {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkWakeLatency measures the time from an append to the wake-up, at one append a millisecond, ours and bare.
func BenchmarkWakeLatency(b *testing.B) {
	p99 := map[string]float64{}
	turn := func(dir string, woken <-chan struct{}) float64 {
		log, err := os.Create(filepath.Join(dir, "0.log"))
		must(b, err)
		defer log.Close()
		var took []float64
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range 500 {
			<-tick.C
			for len(woken) > 0 {
				<-woken
			}
			begin := time.Now()
			_, err := log.Write([]byte("0123456789"))
			must(b, err)
			<-woken
			took = append(took, float64(time.Since(begin).Nanoseconds())/1e3)
		}
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	ours, theirs := b.TempDir(), b.TempDir()
	w := New(Options{})
	defer w.Close()
	f := w.Feed(0)
	defer f.Close()
	f.Add(ours)
	got := make(chan struct{}, 1)
	must(b, bare(b, got).Add(theirs))
	var a, c []float64
	for b.Loop() {
		a = append(a, turn(ours, f.C()))
		c = append(c, turn(theirs, got))
	}
	p99["ours"], p99["bare"] = median(a), median(c)
	b.ReportMetric(p99["ours"], "p99-µs")
	b.ReportMetric(p99["bare"], "bare-p99-µs")
}

// BenchmarkAppendWatched measures what being watched adds to an append, ours over bare fsnotify's (goal: 1.1).
func BenchmarkAppendWatched(b *testing.B) {
	const n = 20000
	turn := func(dir string) float64 {
		var logs []*os.File
		for i := range 16 {
			f, err := os.Create(filepath.Join(dir, fmt.Sprint(i, ".log")))
			must(b, err)
			defer f.Close()
			logs = append(logs, f)
		}
		begin := time.Now()
		for i := range n {
			_, err := logs[i%16].Write([]byte("0123456789"))
			must(b, err)
		}
		return float64(time.Since(begin).Nanoseconds()) / n
	}
	none, ours, theirs := b.TempDir(), b.TempDir(), b.TempDir()
	w := New(Options{})
	defer w.Close()
	f := w.Feed(50 * time.Millisecond)
	defer f.Close()
	f.Add(ours)
	must(b, bare(b, nil).Add(theirs))
	var a, c, z []float64
	for b.Loop() {
		z = append(z, turn(none))
		a = append(a, turn(ours))
		c = append(c, turn(theirs))
	}
	base, us, them := median(z), median(a), median(c)
	b.ReportMetric(us-base, "added-ns")
	b.ReportMetric(them-base, "bare-added-ns")
	b.ReportMetric((us-base)/(them-base), "x-bare")
}

// BenchmarkWatch10k measures watching 10,000 folders, ours over bare fsnotify's (goal: 2).
func BenchmarkWatch10k(b *testing.B) {
	root := b.TempDir()
	var dirs []string
	for i := range 10000 {
		dirs = append(dirs, filepath.Join(root, fmt.Sprintf("topic-%d", i)))
		must(b, os.Mkdir(dirs[i], 0o755))
	}
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	var ms, bms, mb, bmb []float64
	for b.Loop() {
		h := heap()
		w := New(Options{})
		f := w.Feed(50 * time.Millisecond)
		begin := time.Now()
		for _, d := range dirs {
			f.Add(d)
		}
		ms = append(ms, float64(time.Since(begin).Microseconds())/1e3)
		f.Take()
		mb = append(mb, heap()-h)
		if s := w.State(); s != "" {
			b.Fatal(s)
		}
		f.Close()
		must(b, w.Close())

		p, err := fsnotify.NewWatcher()
		must(b, err)
		h, begin = heap(), time.Now()
		for _, d := range dirs {
			must(b, p.Add(d))
		}
		bms = append(bms, float64(time.Since(begin).Microseconds())/1e3)
		bmb = append(bmb, heap()-h)
		must(b, p.Close())
	}
	b.ReportMetric(median(ms), "ms")
	b.ReportMetric(median(ms)/median(bms), "x-bare-time")
	b.ReportMetric(median(mb)/1e6, "heap-MB")
	b.ReportMetric(median(mb)/median(bmb), "x-bare-heap")
}
