package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// put writes a value of a key, "" for a tombstone, to partition 0 of a topic.
func put(t testing.TB, e *Engine, topic, key, value string) {
	t.Helper()
	r := model.ProduceRecord{Key: []byte(key)}
	if value != "" {
		r.Value = []byte(value)
	}
	if _, err := e.Produce(t.Context(), model.ProduceRequest{Topic: topic, Acks: -1, Records: []model.ProduceRecord{r}}); err != nil {
		t.Fatal(err)
	}
}

// latest returns the last value of each key in a partition, without those that are deleted, and how many records there
// are.
func latest(t testing.TB, dir string, tp model.TopicPartition) (map[string]string, int) {
	t.Helper()
	v, err := partition.OpenView(filepath.Join(dir, layout.DirName(tp)), tp, model.Live, partition.ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown, EndIsHW: true})
	if err != nil {
		t.Fatal(err)
	}
	last, n := map[string]string{}, 0
	for from := model.FromStart; ; {
		p, err := v.Records(context.Background(), model.RecordQuery{TP: tp, From: from, Max: 5000, Committed: true})
		if err != nil || len(p.Faults) > 0 {
			t.Fatal(err, p.Faults)
		}
		for _, r := range p.Records {
			if last[string(r.Key)] = string(r.Value); r.Value == nil {
				delete(last, string(r.Key))
			}
			n++
		}
		if p.AtEnd {
			return last, n
		}
		from = p.Next
	}
}

// TestCleaner compacts what is due, remembers how far over a restart, and forgets it with the topic.
func TestCleaner(t *testing.T) {
	dir := t.TempDir()
	e := open(t, Options{Configs: &memory{all: map[string]map[string]string{}}}, dir)
	create(t, e, "c", 1, "cleanup.policy=compact", "segment.bytes=300")
	create(t, e, "d", 1, "segment.bytes=300")
	for i := range 40 {
		put(t, e, "c", fmt.Sprint(i%3), fmt.Sprint("value ", i))
		put(t, e, "d", fmt.Sprint(i%3), fmt.Sprint("value ", i))
	}
	var refused error
	if _, refused = e.Produce(t.Context(), model.ProduceRequest{Topic: "c", Records: []model.ProduceRecord{{Value: []byte("no key")}}}); !errors.Is(refused, model.ErrRefused) {
		t.Errorf("a record without a key: %v", refused)
	}
	if err := e.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	last, n := latest(t, dir, tp("c", 0))
	if n > 10 || last["0"] != "value 39" || last["1"] != "value 37" || last["2"] != "value 38" {
		t.Errorf("%d records, %v", n, last)
	}
	if _, n := latest(t, dir, tp("d", 0)); n != 40 {
		t.Errorf("%d records of a topic that is not compacted", n)
	}
	line := func() string {
		b, err := os.ReadFile(filepath.Join(dir, layout.CleanerFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	was := line()
	if !strings.HasPrefix(was, "0\n1\nc 0 ") {
		t.Errorf("checkpoint %q", was)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, Options{Configs: &memory{all: map[string]map[string]string{"c": {"cleanup.policy": "compact", "segment.bytes": "300"}}}}, dir)
	l, err := e.Log(tp("c", 0))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := l.Dirty(); err != nil || d.DirtyBytes != 0 || !strings.HasSuffix(was, fmt.Sprintf(" %d\n", d.First)) {
		t.Errorf("after a restart: %+v, %v; the checkpoint says %q", d, err, was)
	}
	if err := e.DeleteTopic(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	create(t, e, "c", 1, "cleanup.policy=compact")
	if got := line(); got != "0\n0\n" {
		t.Errorf("checkpoint %q though the topic is a new one", got)
	}
}

// TestCleanerDirtiestFirst takes the log with the highest dirty ratio, leaves the damaged one alone for good, and goes on
// with the others.
func TestCleanerDirtiestFirst(t *testing.T) {
	dir := t.TempDir()
	e := open(t, Options{}, dir)
	for _, name := range []string{"a", "b", "bad"} {
		create(t, e, name, 1, "cleanup.policy=compact", "segment.bytes=300")
	}
	for i := range 20 {
		put(t, e, "a", "k", fmt.Sprint("value ", i))
		put(t, e, "b", "k", fmt.Sprint("value ", i))
		put(t, e, "bad", "k", fmt.Sprint("value ", i))
	}
	path := filepath.Join(dir, "bad-0", layout.FileName(0, layout.KindLog))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(bytes.Clone(b[:70]), bytes.ToUpper(b[70:])...), 0o644); err != nil {
		t.Fatal(err)
	}
	var corrupt *model.CorruptError
	for range 5 {
		if err := e.Compact(t.Context()); err != nil && !errors.As(err, &corrupt) {
			t.Fatal(err)
		}
	}
	if corrupt == nil {
		t.Error("the damage was not told")
	}
	for _, name := range []string{"a", "b"} {
		if _, n := latest(t, dir, tp(name, 0)); n > 5 {
			t.Errorf("%s: %d records are left", name, n)
		}
	}
	if e.cleaner.rest[mustLog(t, e, tp("bad", 0))] != forEver {
		t.Error("the damaged log is not left alone")
	}
}

func mustLog(t *testing.T, e *Engine, tp model.TopicPartition) *partition.Log {
	t.Helper()
	l, err := e.Log(tp)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestCleanerOnFullDisk leaves nothing of a compaction that has no room, appends go on being refused and taken as the disk
// says, and records can be deleted, which makes room.
func TestCleanerOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	var disk faulty
	clock := newClock()
	e := open(t, Options{OpenFile: disk.open, Now: clock.now}, dir)
	create(t, e, "c", 1, "cleanup.policy=compact,delete", "segment.bytes=300", "file.delete.delay.ms=0", "message.timestamp.type=LogAppendTime")
	for i := range 30 {
		put(t, e, "c", fmt.Sprint(i%3), fmt.Sprint("value ", i))
	}
	disk.noRoom.Store(true)
	if err := e.Compact(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("compaction without room: %v", err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "c-0"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range entries {
		if strings.HasSuffix(f.Name(), layout.SuffixCleaned) || strings.HasSuffix(f.Name(), layout.SuffixSwap) {
			t.Errorf("left %s", f.Name())
		}
	}
	if start, err := e.DeleteRecords(t.Context(), tp("c", 0), 12); err != nil || start != 12 {
		t.Errorf("delete records without room: %d, %v", start, err)
	}
	if err := e.Retain(t.Context()); err != nil {
		t.Errorf("retention without room: %v", err)
	}
	disk.noRoom.Store(false)
	put(t, e, "c", "0", "last")
	clock.move(time.Minute) // it is tried again
	if err := e.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	last, n := latest(t, dir, tp("c", 0))
	if n > 10 || last["0"] != "last" || last["1"] != "value 28" {
		t.Errorf("%d records, %v", n, last)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if got := file(t, dir, "c-0", layout.EpochsFile); got != "0\n1\n0 12\n" && !strings.HasPrefix(got, "0\n1\n0 ") {
		t.Errorf("epochs %q", got)
	}
}

const cleanKeys = 25

// cleanChild puts values to keys for ever, with the cleaner always at work, and tells of each what it is about to write
// and what was acknowledged, until it is killed.
func cleanChild() {
	seed, err := strconv.ParseUint(os.Args[2], 10, 64)
	if err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	e, err := Open(os.Args[1:2], Options{Properties: os.Args[3], CheckpointEvery: 3 * time.Millisecond})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	for _, n := range e.Notices() {
		fmt.Println("notice", n)
	}
	if len(e.Topics()) == 0 {
		if err := e.CreateTopic(context.Background(), model.TopicSpec{Name: "c", Partitions: 1}); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	fmt.Println("ready")
	for i := 0; ; i++ {
		key, value := strconv.Itoa(r.IntN(cleanKeys)), fmt.Sprintf("%d.%d.%s", seed, i, strings.Repeat("x", r.IntN(100)))
		rec := model.ProduceRecord{Key: []byte(key), Value: []byte(value)}
		if r.IntN(6) == 0 {
			value, rec.Value = "-", nil
		}
		fmt.Println("try", key, value)
		if _, err := e.Produce(context.Background(), model.ProduceRequest{Topic: "c", Acks: -1, Records: []model.ProduceRecord{rec}}); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("ack", key, value)
	}
}

// TestKillCleaning kills a process again and again that compacts all the time. Every key has the value that was last
// acknowledged, or that was about to be written; and nothing of a compaction is left when the directory is opened.
func TestKillCleaning(t *testing.T) {
	dir, properties := t.TempDir(), filepath.Join(t.TempDir(), "server.properties")
	err := os.WriteFile(properties, []byte("log.cleanup.policy=compact\nlog.segment.bytes=3000\nlog.cleaner.backoff.ms=1\nlog.cleaner.min.cleanable.ratio=0.01\nlog.cleaner.delete.retention.ms=20\n"), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	acked := map[string]string{}
	finished, half := 0, 0
	for round := range *killRounds {
		c, out := child(t, "clean", dir, strconv.Itoa(round), properties)
		out.Buffer(nil, 1<<20)
		var tried []string
		for out.Scan() {
			word, rest, _ := strings.Cut(out.Text(), " ")
			f := strings.Fields(rest)
			switch {
			case word == "ready":
				defer time.AfterFunc(time.Duration(r.Int64N(int64(150*time.Millisecond))), func() { _ = c.Process.Kill() }).Stop()
			case word == "try" && len(f) == 2:
				tried = f
			case word == "ack" && len(f) == 2 && slices.Equal(f, tried):
				acked[f[0]], tried = f[1], nil
			case word == "error":
				t.Errorf("the child says %s", rest)
			}
		}
		_ = c.Wait() // it was killed
		e, err := Open([]string{dir}, Options{Properties: properties})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range e.Notices() {
			if strings.Contains(n, "finished the compaction") {
				finished++
			} else if strings.Contains(n, "did not finish") {
				half++
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if !exists(filepath.Join(dir, "c-0")) {
			continue
		}
		kindsIn(t, filepath.Join(dir, "c-0"))
		values(t, dir, tp("c", 0))
		last, _ := latest(t, dir, tp("c", 0))
		for k := range cleanKeys {
			key := strconv.Itoa(k)
			got, ok := last[key]
			if !ok {
				got = "-"
			}
			want, was := acked[key]
			if !was {
				want = "-"
			}
			if len(tried) == 2 && tried[0] == key && tried[1] == got {
				acked[key] = got // it was written, but the answer was not
				continue
			}
			if got != want {
				t.Errorf("round %d: key %s is %q, acknowledged was %q", round, key, got, want)
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d rounds, %d compactions were finished by the next start, %d taken back", *killRounds, finished, half)
	if len(acked) == 0 {
		t.Error("nothing was acknowledged in any round")
	}
}
