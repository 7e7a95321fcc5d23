//go:build linux || darwin

package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// broker is a real Apache Kafka in a folder.
type broker struct {
	t      *testing.T
	script string
	dir    string
	addr   string
	killed bool
}

// freePort returns a port of the loopback interface that was free a moment ago, and that the system gives to nobody who
// asks for any.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 15000 + rand.IntN(15000)
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func startKafka(t *testing.T, configs ...string) *broker {
	t.Helper()
	script := os.Getenv("STRATA_KAFKA")
	if script == "" {
		t.Skip("STRATA_KAFKA does not name a script that runs Apache Kafka; .ci/run sets it")
	}
	b := &broker{t: t, script: script, dir: filepath.Join(t.TempDir(), "kafka")}
	port := freePort(t)
	b.addr = "127.0.0.1:" + strconv.Itoa(port)
	controller := strconv.Itoa(freePort(t))
	cmd := exec.Command(script, "start", b.dir, strconv.Itoa(port), "log.segment.bytes=1048576")
	for _, c := range configs {
		cmd.Args = append(cmd.Args, strings.NewReplacer("{addr}", b.addr, "{controller}", "127.0.0.1:"+controller).Replace(c))
	}
	cmd.Env = append(os.Environ(), "KAFKA_CONTROLLER_PORT="+controller, "KAFKA_HEAP=-Xmx400m")
	log, err := os.Create(filepath.Join(t.TempDir(), "start.log")) // not a pipe: the broker keeps it open
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(log.Name())
		t.Fatalf("start Kafka: %v\n%s", err, said)
	}
	t.Cleanup(func() {
		if !b.killed {
			b.stop("KILL")
		}
	})
	return b
}

func (b *broker) stop(how ...string) {
	b.t.Helper()
	b.killed = true
	if out, err := exec.Command(b.script, append([]string{"stop", b.dir}, how...)...).CombinedOutput(); err != nil {
		b.t.Errorf("stop Kafka: %v\n%s", err, out)
	}
}

// tool runs one of Kafka's own tools and returns what it printed.
func (b *broker) tool(stdin string, args ...string) string {
	b.t.Helper()
	cmd := exec.Command(b.script, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		b.t.Fatalf("kafka %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String()
}

func sortedLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// TestBesideALiveBroker reads a running broker's own directory, and holds what is read against what the broker's own
// tools say; then the broker is killed, and it is read again.
func TestBesideALiveBroker(t *testing.T) {
	t.Parallel()
	b := startKafka(t)
	w := newWorld(t)
	dir := filepath.Join(b.dir, "data")
	b.tool("", "topics", "--bootstrap-server", b.addr, "--create", "--topic", "live", "--partitions", "3")
	var input strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&input, "key-%d\tvalue %d %s\n", i%97, i, strings.Repeat("x", i%300))
	}
	b.tool(input.String(), "console-producer", "--bootstrap-server", b.addr, "--topic", "live", "--reader-property", "parse.key=true",
		"--compression-codec", "lz4")
	theirs := b.tool("", "console-consumer", "--bootstrap-server", b.addr, "--topic", "live", "--group", "readers", "--from-beginning",
		"--max-messages", "3000", "--timeout-ms", "20000", "--formatter-property", "print.key=true", "--formatter-property", "print.partition=true",
		"--formatter-property", "print.offset=true")
	ours := w.run(0, "", "read", "live", "-s", dir, "-f", `Partition:%p\tOffset:%o\t%k\t%s\n`).out
	if sortedLines(ours) != sortedLines(theirs) {
		t.Errorf("records differ from what Kafka's consumer was given: %d bytes of ours, %d of theirs", len(ours), len(theirs))
	}
	described := b.tool("", "consumer-groups", "--bootstrap-server", b.addr, "--describe", "--group", "readers")
	for _, row := range w.run(0, "", "group", "readers", "-s", dir, "--json").objects(t)[1:] {
		want := fmt.Sprintf("live %v %v %v %v", row["partition"], row["committed"], row["logEnd"], row["lag"])
		if !strings.Contains(strings.Join(strings.Fields(described), " "), want) {
			t.Errorf("Kafka's tool does not say %q:\n%s", want, described)
		}
	}
	before := fingerprint(t, filepath.Join(dir, "live-0"))
	w.run(0, "", "verify", "live", "-s", dir)
	b.stop("KILL")
	w.run(0, "", "verify", "-s", dir)
	if got := w.run(0, "", "read", "live", "-s", dir, "-f", `Partition:%p\tOffset:%o\t%k\t%s\n`).out; got != ours {
		t.Error("after the kill other records are read")
	}
	if fingerprint(t, filepath.Join(dir, "live-0")) != before {
		t.Error("the partition's folder was changed")
	}
}
