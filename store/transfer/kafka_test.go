package transfer_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/transfer"
)

// kafkaEnv names a script that runs Apache Kafka: SCRIPT start DIR PORT, SCRIPT stop DIR, SCRIPT TOOL ARG….
const kafkaEnv = "STRATA_KAFKA"

// kafka starts a real broker; ok is false where there is none to start.
func kafka(t testing.TB) (run func(args ...string) string, address, dir string, ok bool) {
	t.Helper()
	script := os.Getenv(kafkaEnv)
	if script == "" {
		return nil, "", "", false
	}
	port := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer l.Close()
		return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	}
	home := filepath.Join(t.TempDir(), "kafka")
	address = port()
	log, err := os.Create(filepath.Join(t.TempDir(), "log")) // no pipe: the broker keeps it open
	must(t, err)
	defer log.Close()
	cmd := exec.Command(script, "start", home, address)
	cmd.Env = append(os.Environ(), "KAFKA_CONTROLLER_PORT="+port(), "KAFKA_HEAP=-Xmx400m")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(log.Name())
		t.Fatalf("start Kafka: %v\n%s", err, said)
	}
	t.Cleanup(func() {
		if out, err := exec.Command(script, "stop", home, "KILL").CombinedOutput(); err != nil {
			t.Errorf("stop Kafka: %v\n%s", err, out)
		}
	})
	address = "127.0.0.1:" + address
	return func(args ...string) string {
		out, err := exec.Command(script, append(args, "--bootstrap-server", address)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}, address, filepath.Join(home, "data"), true
}

// TestKafka copies what real brokers wrote to a real broker, from there to one of our own, and from there back. All three
// hold the same, and Kafka's own tools say the same numbers.
func TestKafka(t *testing.T) {
	run, address, dir, ok := kafka(t)
	if !ok {
		return
	}
	old := unpack(t, "clean")
	src := files(t, false, filepath.Join(old, "data"))
	names := topics(t, src)
	first := model.TopicPartition{Topic: "trimmed", Partition: 2}
	_, offsets := read(t, src, first)
	g := model.Group{ID: "g", State: model.GroupEmpty, Offsets: []model.GroupOffset{commit(first, offsets[17])}}
	there := there{reading{Reader: src, configs: map[string]string{"retention.ms": "-1"}}, g}
	c := connect(t, address)
	good(t, transferred(t, there, to(c), model.CopyQuery{Topics: names, Configs: true, Groups: []string{"g"}}, transfer.Options{}))

	b := start(t, t.TempDir())
	good(t, transferred(t, connect(t, address), to(b.cluster), model.CopyQuery{Topics: names, Configs: true, Groups: []string{"g"}}, transfer.Options{}))

	rename := map[string]string{}
	for _, n := range names {
		rename[n] = n + ".back"
	}
	back := connect(t, address)
	good(t, transferred(t, files(t, true, b.dir), to(back), model.CopyQuery{Topics: names, Rename: rename}, transfer.Options{}))

	ours, theirs := files(t, true, b.dir), files(t, false, dir)
	said := run("get-offsets")
	for _, name := range names {
		ps, err := src.Partitions(t.Context(), name)
		must(t, err)
		for _, p := range ps {
			if p.State != model.Live {
				continue
			}
			again := model.TopicPartition{Topic: name + ".back", Partition: p.Partition}
			n := equal(t, src, ours, p.TopicPartition, p.TopicPartition)
			equal(t, src, theirs, p.TopicPartition, p.TopicPartition)
			equal(t, src, theirs, p.TopicPartition, again)
			for _, tp := range []model.TopicPartition{p.TopicPartition, again} {
				if line := fmt.Sprintf("%s:%d:%d\n", tp.Topic, tp.Partition, n); !strings.Contains(said, line) {
					t.Errorf("Kafka does not say %q in\n%s", line, said)
				}
			}
		}
	}
	if said := run("consumer-groups", "--describe", "--group", "g"); !strings.Contains(strings.Join(strings.Fields(said), " "), "g trimmed 2 17 524 507") {
		t.Errorf("Kafka says of the group\n%s", said)
	}
}
