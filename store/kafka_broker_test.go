package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// TestKafkaTakesOver gives partitions that this engine wrote to an Apache Kafka broker as its own, without the mark of a
// clean stop, so that it reads every batch and builds all indexes anew: they must be the very ones that we wrote, and a
// consumer of committed records must be given what our read side shows. Without kafkaEnv our own recovery is held
// against what appending has written, in the same way.
func TestKafkaTakesOver(t *testing.T) {
	t.Parallel()
	ours, theirs := t.TempDir(), t.TempDir()
	writeAll(t, ours)
	script := os.Getenv(kafkaEnv)
	if script == "" {
		if err := os.CopyFS(theirs, os.DirFS(ours)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{layout.CleanShutdownFile, layout.RecoveryPointFile} {
			if err := os.Remove(filepath.Join(theirs, name)); err != nil {
				t.Fatal(err)
			}
		}
		e := open(t, Options{Configs: &memory{all: takenConfigs()}, Now: newClock().now}, theirs)
		if n := e.Notices(); len(n) > 0 {
			t.Errorf("notices %v", n)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		compareTaken(t, ours, theirs)
		return
	}
	k := kafka{t: t, script: script, dir: theirs, port: freePort(t), controller: freePort(t)}
	k.run("start", theirs, k.port, "log.retention.ms=-1")
	stopped := false
	defer func() {
		if !stopped {
			k.run("stop", theirs, "KILL")
		}
	}()
	for name, configs := range takenConfigs() {
		args := []string{"topics", "--bootstrap-server", k.address(), "--create", "--topic", name, "--partitions", fmt.Sprint(partitionsOf(t, ours, name))}
		for key, value := range configs {
			args = append(args, "--config", key+"="+value)
		}
		k.run(args...)
	}
	k.run("stop", theirs)
	stopped = true
	data := filepath.Join(theirs, "data")
	for name := range takenConfigs() {
		for p := range partitionsOf(t, ours, name) {
			replacePartition(t, filepath.Join(ours, fmt.Sprintf("%s-%d", name, p)), filepath.Join(data, fmt.Sprintf("%s-%d", name, p)))
		}
	}
	for _, name := range []string{layout.CleanShutdownFile, layout.RecoveryPointFile, layout.HighWatermarkFile, layout.LogStartFile} {
		if err := os.Remove(filepath.Join(data, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	k.run("start", theirs, k.port)
	stopped = false
	want := committed(t, ours, tp("txn", 0))
	out := k.run("console-consumer", "--bootstrap-server", k.address(), "--topic", "txn", "--from-beginning",
		"--isolation-level", "read_committed", "--max-messages", fmt.Sprint(want), "--timeout-ms", "20000")
	if got := strings.Count(out, "one\n") + strings.Count(out, "two\n"); got != want {
		t.Errorf("Kafka's consumer is given %d committed records, we show %d", got, want)
	}
	k.run("stop", theirs)
	stopped = true
	compareTaken(t, ours, data)
}

// takenConfigs are the topics that are compared, with those configs of writeAll that indexes depend on.
func takenConfigs() map[string]map[string]string {
	return map[string]map[string]string{
		"plain":     {"index.interval.bytes": "500"},
		"byTime":    {},
		"prealloc":  {},
		"fullIndex": {"index.interval.bytes": "0", "segment.index.bytes": "120"},
		"txn":       {"index.interval.bytes": "100"},
	}
}

func partitionsOf(t *testing.T, dir, topic string) int {
	t.Helper()
	n := 0
	for _, name := range folders(t, dir) {
		if d, ok := layout.ParseDirName(name); ok && d.TP.Topic == topic {
			n++
		}
	}
	return n
}

// replacePartition puts our files in the place of the broker's own, but for the topic's id.
func replacePartition(t *testing.T, from, to string) {
	t.Helper()
	id := file(t, to, layout.PartitionMetaFile)
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, layout.PartitionMetaFile), []byte(id), 0o644); err != nil {
		t.Fatal(err)
	}
}

// compareTaken holds what a recovery has left against what was appended.
func compareTaken(t *testing.T, ours, theirs string) {
	t.Helper()
	compared := 0
	for name := range takenConfigs() {
		for p := range partitionsOf(t, ours, name) {
			folder := fmt.Sprintf("%s-%d", name, p)
			entries, err := os.ReadDir(filepath.Join(ours, folder))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				f, ok := layout.ParseFileName(e.Name())
				if !ok || f.Suffix != "" || f.Kind == layout.KindSnapshot {
					continue
				}
				a, b := []byte(file(t, ours, folder, e.Name())), []byte(file(t, theirs, folder, e.Name()))
				if f.Kind == layout.KindTimeIndex {
					// Each stop in between has added an entry, which no recovery would.
					a = within(a, b)
				}
				if !bytes.Equal(a, b) {
					t.Errorf("%s/%s: ours has %d bytes %x…, theirs %d bytes %x…", folder, e.Name(), len(a), a[:min(40, len(a))], len(b), b[:min(40, len(b))])
				}
				compared++
			}
		}
	}
	if compared < 40 {
		t.Errorf("only %d files were compared", compared)
	}
}

// within returns those 12-byte entries of a that b has too.
func within(a, b []byte) []byte {
	has := map[string]bool{}
	for e := range slices.Chunk(b, 12) {
		has[string(e)] = true
	}
	var out []byte
	last := int64(-1)
	for e := range slices.Chunk(a, 12) {
		if ms := int64(binary.BigEndian.Uint64(e)); has[string(e)] && ms > last {
			out, last = append(out, e...), ms
		}
	}
	return out
}

// committed counts what a reader of committed records is shown.
func committed(t *testing.T, dir string, tp model.TopicPartition) int {
	t.Helper()
	v, err := partition.OpenView(filepath.Join(dir, layout.DirName(tp)), tp, model.Live, partition.ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown, EndIsHW: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := v.Records(t.Context(), model.RecordQuery{TP: tp, From: model.FromStart, Max: 10000, Committed: true})
	if err != nil {
		t.Fatal(err)
	}
	return len(p.Records)
}

// kafka is a broker of Apache Kafka's.
type kafka struct {
	t                *testing.T
	script, dir      string
	port, controller string
}

func (k kafka) address() string { return "127.0.0.1:" + k.port }

// run runs the script, which must end well, and returns what it says.
func (k kafka) run(args ...string) string {
	k.t.Helper()
	c := exec.Command(k.script, args...)
	c.Env = append(os.Environ(), "KAFKA_CONTROLLER_PORT="+k.controller, "KAFKA_HEAP=-Xmx512m")
	log, err := os.CreateTemp(k.t.TempDir(), "kafka")
	if err != nil {
		k.t.Fatal(err)
	}
	defer log.Close()
	// A file, not a pipe: the broker that start leaves running would keep a pipe open.
	c.Stdout, c.Stderr = log, log
	err = c.Run()
	out, rerr := os.ReadFile(log.Name())
	if err != nil || rerr != nil {
		k.t.Fatalf("%v: %v, %v\n%s", args, err, rerr, tail(string(out)))
	}
	return string(out)
}

// freePort returns a port of the loopback interface that was free a moment ago, and that the system gives to nobody who
// asks for any.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := fmt.Sprint(15000 + rand.IntN(15000))
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}
