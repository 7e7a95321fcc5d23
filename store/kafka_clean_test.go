package store

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// TestKafkaCleansAlike gives a copy of what is to be compacted to Apache Kafka's cleaner, and compacts it here: the same
// batches stay, with the same records, in segments of the same names, and the transaction indexes are the same. Then
// Kafka's dump tool reads what ours has left, and a broker takes it over and gives a consumer the same records. Without
// kafkaEnv only our read side looks at it.
func TestKafkaCleansAlike(t *testing.T) {
	t.Parallel()
	before, ours := t.TempDir(), t.TempDir()
	topics := map[string]map[string]string{
		"once":  {"cleanup.policy": "compact", "segment.bytes": "1048576", "min.cleanable.dirty.ratio": "0.01"},
		"twice": {"cleanup.policy": "compact", "segment.bytes": "1048576", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "0"},
		"both":  {"cleanup.policy": "compact,delete", "segment.bytes": "1073741824", "min.cleanable.dirty.ratio": "0.01", "retention.ms": "-1"},
	}
	cleaned := map[string]int64{}
	for i, name := range slices.Sorted(maps.Keys(topics)) {
		cleaned[name] = writeToClean(t, filepath.Join(before, name+"-0"), uint64(i), topics[name])
	}
	if err := os.CopyFS(ours, os.DirFS(before)); err != nil {
		t.Fatal(err)
	}
	var logs []string
	for name, configs := range topics {
		compactDir(t, filepath.Join(ours, name+"-0"), configs, cleaned[name])
		values(t, ours, tp(name, 0))
		for kind, n := range kindsIn(t, filepath.Join(ours, name+"-0")) {
			if kind == layout.KindLog {
				logs = append(logs, n...)
			}
		}
	}
	script := os.Getenv(kafkaEnv)
	if script == "" {
		return
	}
	dumpCleaned(t, script, logs)
	theirs := t.TempDir()
	k := kafka{t: t, script: script, dir: theirs, port: freePort(t), controller: freePort(t)}
	running := false
	defer func() {
		if running {
			k.run("stop", theirs, "KILL")
		}
	}()
	start := func(args ...string) {
		k.run(append([]string{"start", theirs, k.port}, args...)...)
		running = true
	}
	stop := func() {
		k.run("stop", theirs)
		running = false
	}
	start("log.retention.ms=-1", "log.cleaner.backoff.ms=200")
	for name, configs := range topics {
		args := []string{"topics", "--bootstrap-server", k.address(), "--create", "--topic", name, "--partitions", "1"}
		for key, value := range configs {
			args = append(args, "--config", key+"="+value)
		}
		k.run(args...)
	}
	stop()
	data := filepath.Join(theirs, "data")
	put := func(from string) {
		for name := range topics {
			replacePartition(t, filepath.Join(from, name+"-0"), filepath.Join(data, name+"-0"))
		}
		for _, name := range []string{layout.CleanShutdownFile, layout.RecoveryPointFile, layout.HighWatermarkFile, layout.LogStartFile, layout.CleanerFile} {
			if err := os.Remove(filepath.Join(data, name)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
	put(before)
	lines := layout.AppendOffsets(nil, []layout.OffsetLine{{TP: tp("twice", 0), Offset: cleaned["twice"]}})
	if err := os.WriteFile(filepath.Join(data, layout.CleanerFile), lines, 0o644); err != nil {
		t.Fatal(err)
	}
	start()
	awaitCleaner(t, data, topics, cleaned)
	stop()
	for name := range topics {
		compareCleaned(t, name, filepath.Join(ours, name+"-0"), filepath.Join(data, name+"-0"))
	}
	put(ours)
	properties := filepath.Join(theirs, "server.properties")
	if err := os.WriteFile(properties, []byte(file(t, properties)+"log.cleaner.enable=false\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	start()
	for name := range topics {
		want := committed(t, ours, tp(name, 0))
		out := k.run("console-consumer", "--bootstrap-server", k.address(), "--topic", name, "--from-beginning",
			"--isolation-level", "read_committed", "--max-messages", fmt.Sprint(want), "--timeout-ms", "20000")
		if got := strings.Count(out, "value ") + strings.Count(out, "null\n"); got != want {
			t.Errorf("%s: Kafka's consumer is given %d committed records, we show %d", name, got, want)
		}
	}
	stop()
}

// writeToClean writes a partition by its log: of producers of all kinds, aborted and committed, with tombstones. It
// returns how far it was compacted in between.
func writeToClean(t *testing.T, dir string, seed uint64, configs map[string]string) int64 {
	t.Helper()
	small := maps.Clone(configs)
	small["segment.bytes"] = "60000"
	now := time.Now().UnixMilli()
	l, err := partition.CreateLog(partition.LogOptions{Dir: dir, TP: tp("x", 0), Config: layout.ParseTopicConfig(small)}, layout.NewID())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 3))
	seqs := map[int64]int32{}
	add := func(id int64, txn bool) {
		recs := make([]record.Input, 1+r.IntN(30))
		for i := range recs {
			recs[i] = record.Input{Timestamp: now - int64(r.IntN(1000)), Key: fmt.Appendf(nil, "key %d", r.IntN(300))}
			if r.IntN(6) > 0 {
				recs[i].Value = fmt.Appendf(nil, "value %d %0*d", r.Int32(), 1+r.IntN(100), 7)
			}
			if r.IntN(4) == 0 {
				recs[i].Headers = []record.RecordHeader{{Name: "h", Value: []byte("x")}, {Name: "h"}}
			}
		}
		s := record.Spec{Codec: []record.Codec{record.None, record.Gzip, record.Snappy, record.Lz4, record.Zstd}[r.IntN(5)], Transactional: txn}
		if id > 0 {
			s.HasProducer, s.ProducerID, s.BaseSequence = true, id, seqs[id]
			seqs[id] += int32(len(recs))
		}
		raw, err := record.AppendBatch(nil, s, recs)
		if err == nil {
			_, err = l.Append(raw, partition.AppendOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	end := func(id int64) {
		raw := record.AppendMarker(nil, record.Marker{Commit: r.IntN(2) == 0, Timestamp: now, ProducerID: id})
		if _, err := l.Append(raw, partition.AppendOptions{Internal: true}); err != nil {
			t.Fatal(err)
		}
	}
	write := func(n int) {
		for range n {
			switch k := r.IntN(10); {
			case k < 4:
				add(0, false)
			case k < 6:
				add(10+int64(r.IntN(3)), false)
			default:
				id := 20 + int64(r.IntN(3))
				add(id, true)
				if r.IntN(3) == 0 {
					end(id)
				}
			}
		}
		for id := int64(20); id < 23; id++ {
			if seqs[id] > 0 {
				add(id, true)
				end(id)
			}
		}
	}
	write(500)
	to := int64(0)
	if configs["delete.retention.ms"] == "0" {
		c, err := l.Compact(t.Context(), partition.CompactOptions{})
		if err != nil {
			t.Fatal(err)
		}
		to = c.To
		write(300)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return to
}

// compactDir compacts a partition's folder once.
func compactDir(t *testing.T, dir string, configs map[string]string, cleaned int64) {
	t.Helper()
	l := partition.OpenLog(partition.LogOptions{Dir: dir, TP: tp("x", 0), Config: layout.ParseTopicConfig(configs), Cleaned: cleaned})
	if _, err := l.Recover(); err != nil {
		t.Fatal(err)
	}
	c, err := l.Compact(t.Context(), partition.CompactOptions{})
	if err != nil || c.To <= cleaned || c.Kept >= c.Records {
		t.Errorf("%s: %+v, %v", dir, c, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// kindsIn returns the paths of a folder's segment files by kind, in order.
func kindsIn(t *testing.T, dir string) map[string][]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{}
	for _, e := range entries {
		if f, ok := layout.ParseFileName(e.Name()); ok {
			if f.Suffix != "" && f.Suffix != layout.SuffixDeleted {
				t.Errorf("%s is left", e.Name())
			}
			if f.Suffix == "" {
				files[f.Kind] = append(files[f.Kind], filepath.Join(dir, e.Name()))
			}
		}
	}
	return files
}

// dumpCleaned has Kafka's dump tool read cleaned segments. That offsets are missing is as it should be.
func dumpCleaned(t *testing.T, script string, logs []string) {
	t.Helper()
	var all, indexes []string
	records := 0
	for _, path := range logs {
		base := strings.TrimSuffix(path, layout.KindLog)
		all = append(all, path)
		indexes = append(indexes, base+layout.KindIndex, base+layout.KindTimeIndex)
		if exists(base + layout.KindTxnIndex) {
			all = append(all, base+layout.KindTxnIndex)
		}
		err := segment.WalkHeaders(path, 0, func(h record.Header, _ int64) bool { records += int(h.Count); return true })
		if err != nil {
			t.Fatal(err)
		}
	}
	k := kafka{t: t, script: script}
	out := k.run("dump-log", "--files", strings.Join(append(all, indexes...), ","), "--deep-iteration")
	if got := strings.Count(out, "| offset: "); got != records {
		t.Errorf("Kafka counts %d records, want %d", got, records)
	}
	for _, bad := range []string{"isvalid: false", "ismatch", "out of order", "not found", "xception", "orrupt", "Could not"} {
		if i := strings.Index(out, bad); i >= 0 {
			t.Errorf("Kafka says: %s", tail(out[:min(len(out), i+300)]))
		}
	}
	out = k.run("dump-log", "--files", strings.Join(indexes, ","), "--index-sanity-check")
	if got := strings.Count(out, "passed sanity check") + strings.Count(out, "index is empty"); got != len(indexes) {
		t.Errorf("%d of %d indexes pass Kafka's sanity check: %s", got, len(indexes), out)
	}
}

// awaitCleaner waits until Kafka's cleaner has been through the topics.
func awaitCleaner(t *testing.T, data string, topics map[string]map[string]string, were map[string]int64) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 1200 {
		<-tick.C
		b, _ := os.ReadFile(filepath.Join(data, layout.CleanerFile)) // not there yet, or being replaced
		lines, _ := layout.ParseOffsets(b)
		n := 0
		for _, l := range lines {
			if _, ok := topics[l.TP.Topic]; ok && l.Offset > were[l.TP.Topic] {
				n++
			}
		}
		if n == len(topics) {
			return
		}
	}
	t.Fatal("Kafka's cleaner did not come")
}

// compareCleaned holds two cleaned folders against each other.
func compareCleaned(t *testing.T, name, ours, theirs string) {
	t.Helper()
	a, b := kindsIn(t, ours), kindsIn(t, theirs)
	base := func(list []string) (names []string) {
		for _, p := range list {
			names = append(names, filepath.Base(p))
		}
		return names
	}
	for _, kind := range []string{layout.KindLog, layout.KindTxnIndex} {
		if x, y := base(a[kind]), base(b[kind]); !slices.Equal(x, y) {
			t.Errorf("%s: we have %v, Kafka %v", name, x, y)
			return
		}
	}
	for i, p := range a[layout.KindTxnIndex] {
		x, y := file(t, p), file(t, b[layout.KindTxnIndex][i])
		if x != y {
			t.Errorf("%s: %s has %d bytes, Kafka's %d, or others", name, filepath.Base(p), len(x), len(y))
		}
	}
	batches, records := 0, 0
	for i, p := range a[layout.KindLog] {
		x, y := batchLines(t, p), batchLines(t, b[layout.KindLog][i])
		for j := range min(len(x), len(y)) {
			if x[j] != y[j] {
				t.Errorf("%s: %s: we have\n%s\nKafka\n%s", name, filepath.Base(p), x[j], y[j])
				return
			}
			records += strings.Count(x[j], "\n")
		}
		if len(x) != len(y) {
			n := min(len(x), len(y))
			t.Errorf("%s: %s has %d batches, Kafka's %d; more are %q, %q", name, filepath.Base(p), len(x), len(y), x[n:], y[n:])
			return
		}
		batches += len(x)
	}
	t.Logf("%s: %d segments, %d batches, %d records are the same", name, len(a[layout.KindLog]), batches, records)
}

// batchLines describes each batch of a .log with its records. The delete horizon is that it has one.
func batchLines(t *testing.T, path string) (list []string) {
	t.Helper()
	raw := []byte(file(t, path))
	var rd record.Reader
	for len(raw) > 0 {
		if err := rd.Reset(raw); err != nil {
			t.Fatal(err)
		}
		h := rd.Header()
		var b bytes.Buffer
		fmt.Fprintf(&b, "batch %d-%d count %d attributes %#x max %d producer %d/%d/%d epoch %d", h.BaseOffset, h.LastOffset(), h.Count,
			h.Attributes, h.MaxTimestamp, h.ProducerID, h.ProducerEpoch, h.BaseSequence, h.LeaderEpoch)
		for rd.Next() {
			r := rd.Record()
			fmt.Fprintf(&b, "\n  %d at %d %q=%q null %v headers %d %x", r.Offset, r.Timestamp, r.Key, r.Value, r.Value == nil, r.HeaderCount, r.RawHeaders)
		}
		if err := rd.Err(); err != nil {
			t.Fatal(err)
		}
		list = append(list, b.String())
		raw = raw[h.Size():]
	}
	return list
}
