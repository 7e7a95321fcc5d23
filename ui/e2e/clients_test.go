//go:build linux || darwin

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
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

// check runs a script of checks and fails with those that failed.
func check(t *testing.T, script string, args ...string) {
	t.Helper()
	out, err := exec.Command(script, args...).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, l := range lines {
		if !strings.HasPrefix(l, "ok ") {
			t.Log(l)
		}
	}
	if err != nil {
		t.Errorf("%s: %v: %s", filepath.Base(script), err, lines[len(lines)-1])
	}
}

// TestKafkaClients has other people's clients use the broker: kcat and librdkafka, Python, JavaScript, Go, Java, Kafka's
// own tools.
func TestKafkaClients(t *testing.T) {
	dir := checks(t, "clients")
	server, address := newWorld(t).serve()
	check(t, filepath.Join(dir, "clients"), address)
	check(t, filepath.Join(dir, "hostile"), address, strconv.Itoa(server.cmd.Process.Pid))
}

// TestClientLibrarySuite runs franz-go's own tests against the broker.
func TestClientLibrarySuite(t *testing.T) {
	dir := checks(t, "clients")
	_, address := newWorld(t).serve()
	check(t, filepath.Join(dir, "kgo-suite"), address, "5000")
}

// TestAnswersAsKafka asks single questions and holds the answers against those of Apache Kafka. What differs is listed with
// its reason, and nothing else may.
func TestAnswersAsKafka(t *testing.T) {
	dir := checks(t, "wireprobe")
	_, address := newWorld(t).serve()
	probe := exec.Command("go", "run", ".", "-addr", address)
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
