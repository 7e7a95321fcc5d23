//go:build unix

package logdir

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"

	"github.com/strata-kafka/strata/model"
)

// A test binary that is started with these set is a writer: see writeLoad.
const (
	writerDir  = "LOGDIR_WRITER"
	writerRate = "LOGDIR_WRITER_RATE"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDir); dir != "" {
		if err := writeLoad(dir, os.Getenv(writerRate)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(holderOf); path != "" {
		if err := holdLock(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// holderOf, when it is set, makes a test binary a process that holds a lock: see holdLock.
const holderOf = "LOGDIR_HOLDER"

// holdLock locks a file as a broker does, says so, and holds it until its standard input ends.
func holdLock(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(os.Stdout, "held"); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return f.Close()
}

const (
	loadFiles   = 16
	loadSeconds = 2
)

// indexed is a segment that is appended to as a broker does it: the index is mapped, which gives no event.
type indexed struct {
	log   *os.File
	index []byte
	next  int64 // offset
	size  int64
	since int64 // bytes since the last index entry
	n     int   // bytes of the index
}

// openIndexed opens an empty segment by its path without a suffix.
func openIndexed(path string) (*indexed, error) {
	log, err := os.OpenFile(path+".log", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	index, err := os.OpenFile(path+".index", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	defer index.Close()
	const size = 10 << 20
	if err := index.Truncate(size); err != nil {
		return nil, err
	}
	m, err := unix.Mmap(int(index.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return &indexed{log: log, index: m}, err
}

// append appends a batch of n records. The base offset is outside of the checksum.
func (x *indexed) append(batch []byte, n int64) error {
	binary.BigEndian.PutUint64(batch, uint64(x.next))
	if _, err := x.log.Write(batch); err != nil {
		return err
	}
	if x.since > 4096 && x.n+8 <= len(x.index) {
		binary.BigEndian.PutUint32(x.index[x.n:], uint32(x.next+n-1))
		binary.BigEndian.PutUint32(x.index[x.n+4:], uint32(x.size))
		x.n += 8
		x.since = 0
	}
	x.next += n
	x.size += int64(len(batch))
	x.since += int64(len(batch))
	return nil
}

func (x *indexed) close() error {
	return errors.Join(unix.Munmap(x.index), x.log.Close())
}

// writeLoad appends batches of a record to 16 partitions in turn, at a rate a second, for two seconds. The batches come
// ready on a file.
func writeLoad(root, rate string) error {
	perSecond, err := strconv.Atoi(rate)
	if err != nil {
		return err
	}
	one, err := os.ReadFile(filepath.Join(root, "batch"))
	if err != nil {
		return err
	}
	var logs []*indexed
	for i := range loadFiles {
		f, err := openIndexed(filepath.Join(root, fmt.Sprintf("t-%d", i), "00000000000000000000"))
		if err != nil {
			return err
		}
		defer f.close()
		logs = append(logs, f)
	}
	const tick = time.Millisecond
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	begin := time.Now()
	for n := 0; n < perSecond*loadSeconds; {
		<-ticker.C
		for due := int(time.Since(begin).Seconds() * float64(perSecond)); n < min(due, perSecond*loadSeconds); n++ {
			if err := logs[n%loadFiles].append(one, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

func loadDir(b *testing.B) string {
	root := b.TempDir()
	must(b, os.WriteFile(filepath.Join(root, "batch"), batchOf(b, 0, 1, "a value of some length, as values are: 0123456789"), 0o644))
	for i := range loadFiles {
		dir := filepath.Join(root, fmt.Sprintf("t-%d", i))
		must(b, os.Mkdir(dir, 0o755))
		must(b, os.WriteFile(filepath.Join(dir, "00000000000000000000.log"), nil, 0o644))
	}
	return root
}

func cpu(b *testing.B) time.Duration {
	var u unix.Rusage
	must(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTailLoad measures what a tail of 16 partitions costs beside a process that makes 100,000 appends a second:
// percent of one core (goal: 15), with no record lost.
func BenchmarkTailLoad(b *testing.B) {
	const rate = 100_000
	var load, behind []float64
	for b.Loop() {
		root := loadDir(b)
		d, err := Open([]string{root}, Options{})
		must(b, err)
		tail, err := d.Tail(b.Context(), model.TailQuery{Topics: []string{"t"}})
		must(b, err)
		drain := make(chan struct{})
		go func() { // ends with the source
			defer close(drain)
			for range d.Changes() {
			}
		}()
		begin, before := time.Now(), cpu(b)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), writerDir+"="+root, writerRate+"="+strconv.Itoa(rate))
		child.Stderr = os.Stderr
		must(b, child.Start())
		must(b, child.Wait())
		took := time.Since(begin)
		load = append(load, 100*float64(cpu(b)-before)/float64(took))
		for tail.Stats().Seen+tail.Stats().Dropped < rate*loadSeconds {
			must(b, tail.Wait(b.Context(), tail.Stats().Matched))
		}
		s := tail.Stats()
		if s.Seen+s.Dropped != rate*loadSeconds {
			b.Fatalf("%+v", s)
		}
		behind = append(behind, float64(s.Dropped))
		must(b, tail.Close())
		must(b, d.Close())
		<-drain
	}
	b.ReportMetric(median(load), "%core")
	b.ReportMetric(median(behind), "dropped")
}

// BenchmarkTailLatency measures the time from an append to its record in the tail, at an append a millisecond, beside
// bare fsnotify's time from an append to its event (goal: 1 ms at the 99th percentile).
func BenchmarkTailLatency(b *testing.B) {
	root := b.TempDir()
	must(b, os.Mkdir(filepath.Join(root, "t-0"), 0o755))
	log, err := openIndexed(filepath.Join(root, "t-0", "00000000000000000000"))
	must(b, err)
	defer log.close()
	d, err := Open([]string{root}, Options{})
	must(b, err)
	defer d.Close()
	tail, err := d.Tail(b.Context(), model.TailQuery{Topics: []string{"t"}})
	must(b, err)
	defer tail.Close()
	peer, err := fsnotify.NewWatcher()
	must(b, err)
	defer peer.Close()
	must(b, os.Mkdir(filepath.Join(root, "peer"), 0o755))
	must(b, peer.Add(filepath.Join(root, "peer")))
	other, err := os.Create(filepath.Join(root, "peer", "x.log"))
	must(b, err)
	defer other.Close()
	<-peer.Events

	one := batchOf(b, 0, 1, "a value of some length, as values are: 0123456789")
	p99 := func(took []float64) float64 {
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	var ours, bare, mid []float64
	for b.Loop() {
		var took, peers []float64
		ticker := time.NewTicker(time.Millisecond)
		for range 1000 {
			<-ticker.C
			was := tail.Stats().Matched
			begin := time.Now()
			must(b, log.append(one, 1))
			for tail.Stats().Matched == was {
				must(b, tail.Wait(b.Context(), was))
			}
			took = append(took, float64(time.Since(begin).Nanoseconds())/1e3)
		}
		for range 1000 {
			<-ticker.C
			begin := time.Now()
			_, err := other.Write([]byte("0123456789"))
			must(b, err)
			<-peer.Events
			peers = append(peers, float64(time.Since(begin).Nanoseconds())/1e3)
		}
		ticker.Stop()
		ours, bare = append(ours, p99(took)), append(bare, p99(peers))
		mid = append(mid, median(took))
	}
	b.ReportMetric(median(ours), "p99-µs")
	b.ReportMetric(median(mid), "p50-µs")
	b.ReportMetric(median(bare), "bare-p99-µs")
}

// BenchmarkTailMemory measures how much a tail from the start of a large log takes beside what was there before (goal:
// 32 MiB), with a filter that keeps it from passing anything over.
func BenchmarkTailMemory(b *testing.B) {
	root := b.TempDir()
	dir := filepath.Join(root, "t-0")
	must(b, os.Mkdir(dir, 0o755))
	f, err := openIndexed(filepath.Join(dir, "00000000000000000000"))
	must(b, err)
	one := batchOf(b, 0, 16, string(make([]byte, 1000)))
	const records = 1 << 18 // 256 MiB
	for range records / 16 {
		must(b, f.append(one, 16))
	}
	must(b, f.close())
	var grown []float64
	for b.Loop() {
		d, err := Open([]string{root}, Options{})
		must(b, err)
		must(b, d.Settle(b.Context()))
		debug.FreeOSMemory()
		before := resident(b)
		tail, err := d.Tail(b.Context(), model.TailQuery{Partitions: []model.TopicPartition{{Topic: "t"}}, From: []int64{0}, Pattern: "k"})
		must(b, err)
		most := before
		ctx, stop := context.WithTimeout(b.Context(), time.Minute)
		for tail.Stats().Seen < records {
			must(b, tail.Wait(ctx, tail.Stats().Matched))
			most = max(most, resident(b))
			runtime.Gosched()
		}
		most = max(most, resident(b))
		stop()
		must(b, tail.Close())
		must(b, d.Close())
		grown = append(grown, float64(most-before)/(1<<20))
	}
	b.ReportMetric(slices.Max(grown), "MiB")
}

// resident is the process's resident memory, in bytes.
func resident(b *testing.B) int64 {
	raw, err := os.ReadFile("/proc/self/statm")
	must(b, err)
	var size, rss int64
	_, err = fmt.Sscan(string(raw), &size, &rss)
	must(b, err)
	return rss * int64(os.Getpagesize())
}
