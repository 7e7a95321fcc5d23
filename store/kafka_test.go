package store

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// kafkaEnv names a script that runs Apache Kafka's own tools: SCRIPT dump-log ARG….
const kafkaEnv = "STRATA_KAFKA"

// TestKafkaFinds has everything in a directory that this engine writes: all codecs, rolls, transactions, deleted
// records, restarts, a crash, preallocation. The read side checks every byte of it, and where kafkaEnv is set Kafka's
// own dump tool does, and must find nothing to complain about.
func TestKafkaFinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeAll(t, dir)
	files := map[string][]string{}
	for _, name := range folders(t, dir) {
		d, ok := layout.ParseDirName(name)
		if !ok || d.State != model.Live {
			continue
		}
		values(t, dir, d.TP)
		entries, err := os.ReadDir(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if f, ok := layout.ParseFileName(e.Name()); ok && f.Suffix == "" {
				files[f.Kind] = append(files[f.Kind], filepath.Join(dir, name, e.Name()))
			}
		}
	}
	for kind, least := range map[string]int{layout.KindLog: 12, layout.KindIndex: 12, layout.KindTimeIndex: 12, layout.KindTxnIndex: 1, layout.KindSnapshot: 10} {
		if len(files[kind]) < least {
			t.Errorf("only %d files of %s", len(files[kind]), kind)
		}
	}
	script := os.Getenv(kafkaEnv)
	if script == "" {
		return
	}
	records := 0
	for _, path := range files[layout.KindLog] {
		err := segment.WalkHeaders(path, 0, func(h record.Header, _ int64) bool { records += int(h.Count); return true })
		if err != nil {
			t.Fatal(err)
		}
	}
	out := dump(t, script, files[layout.KindLog], "--deep-iteration")
	if got := strings.Count(out, "| offset: "); got != records {
		t.Errorf("Kafka counts %d records, want %d", got, records)
	}
	if strings.Contains(out, "isvalid: false") {
		t.Errorf("Kafka finds a bad checksum")
	}
	indexes := slices.Concat(files[layout.KindIndex], files[layout.KindTimeIndex])
	out = dump(t, script, indexes, "--index-sanity-check")
	if got := strings.Count(out, "passed sanity check") + strings.Count(out, "index is empty"); got != len(indexes) {
		t.Errorf("%d of %d indexes pass Kafka's sanity check: %s", got, len(indexes), out)
	}
	dump(t, script, slices.Concat(indexes, files[layout.KindTxnIndex], files[layout.KindSnapshot]))
}

var harmless = regexp.MustCompile(`(?m)^Non-consecutive offsets in \S+\n( +-1 is followed by \d+\n)+`)

// dump runs Kafka's dump tool over files. It must end well and say nothing of mismatches. That the first offset of a
// segment follows none is said of every one that does not begin at 0.
func dump(t *testing.T, script string, files []string, flags ...string) string {
	t.Helper()
	args := append([]string{"dump-log", "--files", strings.Join(files, ",")}, flags...)
	out, err := exec.CommandContext(t.Context(), script, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", script, flags, err, tail(string(out)))
	}
	text := harmless.ReplaceAllString(string(out), "")
	for _, bad := range []string{"ismatch", "Non-consecutive", "out of order", "not found", "xception", "orrupt", "Could not"} {
		if i := strings.Index(text, bad); i >= 0 {
			t.Errorf("Kafka says: %s", tail(text[:min(len(text), i+300)]))
		}
	}
	return text
}

func tail(s string) string { return s[max(0, len(s)-600):] }

// writeAll fills a directory, over three lives, and stops cleanly.
func writeAll(t *testing.T, dir string) {
	t.Helper()
	c := newClock()
	o := Options{Now: c.now, RetentionEvery: time.Hour, Configs: &memory{all: map[string]map[string]string{}}}
	e := open(t, o, dir)
	create(t, e, "plain", 2, "segment.bytes=4000", "index.interval.bytes=500")
	create(t, e, "byTime", 1, "segment.ms=5000", "message.timestamp.type=LogAppendTime")
	create(t, e, "prealloc", 1, "preallocate=true", "segment.bytes=6000")
	create(t, e, "fullIndex", 1, "segment.index.bytes=120", "index.interval.bytes=0")
	create(t, e, "txn", 1, "segment.bytes=1500", "index.interval.bytes=100")
	create(t, e, "empty", 1)
	for life := range 3 {
		for i, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
			for _, topic := range []string{"plain", "byTime", "prealloc", "fullIndex"} {
				fillTopic(t, e, topic, codec, 30+i)
				c.move(time.Second)
			}
		}
		transactions(t, e, life)
		if life == 1 {
			if _, err := e.DeleteRecords(t.Context(), tp("plain", 0), 100); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if life == 1 { // as if it had not been clean
			if err := os.Remove(filepath.Join(dir, layout.CleanShutdownFile)); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, layout.RecoveryPointFile)); err != nil {
				t.Fatal(err)
			}
		}
		e = open(t, o, dir)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func fillTopic(t *testing.T, e *Engine, topic, codec string, n int) {
	t.Helper()
	r := model.ProduceRequest{Topic: topic, Codec: codec}
	for i := range n {
		r.Records = append(r.Records, model.ProduceRecord{Key: fmt.Appendf(nil, "key %d", i), Value: []byte(strings.Repeat("value ", i*3)), Partition: -1,
			Headers: []model.Header{{Name: "trace", Value: []byte("1")}, {Name: "none"}}})
	}
	if _, err := e.Produce(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// transactions has two producers write, of which one commits and one aborts, and a third leave its transaction open.
func transactions(t *testing.T, e *Engine, life int) {
	t.Helper()
	l, err := e.Log(tp("txn", 0))
	if err != nil {
		t.Fatal(err)
	}
	add := func(raw []byte, internal bool) {
		t.Helper()
		if _, err := l.Append(raw, partition.AppendOptions{Internal: internal}); err != nil {
			t.Fatal(err)
		}
	}
	now := e.nowMS()
	data := func(id int64, epoch int16, seq int32) {
		t.Helper()
		recs := []record.Input{{Timestamp: now, Value: []byte("one")}, {Timestamp: now, Value: []byte("two")}}
		raw, err := record.AppendBatch(nil, record.Spec{HasProducer: true, ProducerID: id, ProducerEpoch: epoch, BaseSequence: seq, Transactional: true}, recs)
		if err != nil {
			t.Fatal(err)
		}
		add(raw, false)
	}
	mark := func(id int64, epoch int16, commit bool) {
		t.Helper()
		add(record.AppendMarker(nil, record.Marker{Commit: commit, Timestamp: now, ProducerID: id, ProducerEpoch: epoch, CoordinatorEpoch: int32(life)}), true)
	}
	for i := range int16(6) {
		epoch := int16(life*6) + i
		data(1000, epoch, 0)
		data(1001, epoch, 0)
		data(1000, epoch, 2)
		mark(1001, epoch+1, i%2 == 0)
		mark(1000, epoch+1, i%2 == 1)
	}
	data(int64(2000+life), 0, 0)
}
