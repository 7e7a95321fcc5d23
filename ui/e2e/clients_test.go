//go:build linux || darwin

package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// checks returns the folder of the checks by other clients.
func checks(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("STRATA_CHECKS")
	if dir == "" {
		t.Skip("STRATA_CHECKS does not name the folder of checks by other clients; .ci/run sets it")
	}
	return filepath.Join(dir, name)
}

// check runs a script of checks, says what it says, and fails for each check that failed. What the script has started
// ends with it, and it ends before the test's time does.
func check(t *testing.T, script string, args ...string) {
	t.Helper()
	ctx := t.Context()
	if end, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-ending))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, script, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	end := func(s syscall.Signal) error { return syscall.Kill(-cmd.Process.Pid, s) }
	cmd.Cancel = func() error { return end(syscall.SIGTERM) }
	cmd.WaitDelay = ending / 2
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = end(syscall.SIGKILL) // as a rule there is nobody
	}
	passed := 0
	for l := range strings.Lines(string(out)) {
		switch l = strings.TrimRight(l, "\n"); {
		case strings.HasPrefix(l, "ok "):
			passed++
		case strings.HasPrefix(l, "FAIL "):
			t.Error(l)
		default:
			t.Log(l)
		}
	}
	name := filepath.Base(script)
	if ctx.Err() != nil {
		t.Errorf("%s has not ended in time, after %d checks that passed", name, passed)
	}
	if err != nil {
		t.Errorf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	t.Logf("%s: %.0f s", name, time.Since(begin).Seconds())
}

// ending is how long before the test's end checks are ended.
const ending = 30 * time.Second

// TestKafkaClients has other people's clients use a broker: kcat and librdkafka, Python, JavaScript, Go, Java, Kafka's own
// tools; and has others be hostile to it.
func TestKafkaClients(t *testing.T) {
	dir := checks(t, "clients")
	t.Parallel()
	clients := filepath.Join(dir, "clients")
	check(t, clients, "set-up") // one after the other: they share the package manager
	if t.Failed() {
		return
	}
	for _, client := range []string{"java", "kafka-cli", "kcat", "confluent-kafka", "kafka-python", "aiokafka", "kafkajs", "sarama", "franz-go"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			_, address := newWorld(t).serve()
			check(t, clients, address, client)
		})
	}
	t.Run("hostile", func(t *testing.T) {
		t.Parallel()
		server, address := newWorld(t).serve()
		check(t, filepath.Join(dir, "hostile"), address, strconv.Itoa(server.cmd.Process.Pid))
	})
}

// TestClientLibrarySuite runs franz-go's own tests against the broker.
func TestClientLibrarySuite(t *testing.T) {
	dir := checks(t, "clients")
	t.Parallel()
	_, address := newWorld(t).serve()
	check(t, filepath.Join(dir, "kgo-suite"), address, "5000")
}

// TestAnswersAsKafka asks single questions and holds the answers against those of Apache Kafka. What differs is listed with
// its reason, and nothing else may.
func TestAnswersAsKafka(t *testing.T) {
	dir := checks(t, "wireprobe")
	t.Parallel()
	_, address := newWorld(t).serve()
	probe := exec.CommandContext(t.Context(), "go", "run", ".", "-addr", address)
	probe.Dir = dir
	var errs bytes.Buffer
	probe.Stderr = &errs
	out, err := probe.Output()
	if err != nil {
		t.Fatalf("wireprobe: %v\n%s", err, errs.String())
	}
	lines := func(name string) []string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	balance := map[string]int{} // answers of strata, less those of Kafka
	for _, l := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		balance[l]++
	}
	for _, l := range lines("kafka-4.4.0.txt") {
		balance[l]--
	}
	for _, l := range lines("differences.txt") {
		switch {
		case strings.HasPrefix(l, "- "):
			balance[l[2:]]++
		case strings.HasPrefix(l, "+ "):
			balance[l[2:]]--
		}
	}
	for l, n := range balance {
		switch {
		case n > 0:
			t.Errorf("strata alone answers\n%s", l)
		case n < 0:
			t.Errorf("strata does not answer\n%s", l)
		}
	}
}
