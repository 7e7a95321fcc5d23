//go:build linux || darwin

package e2e

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// TestAClusterSaysWhatItsOwnToolsSay opens a real broker by its address, and holds what is told against Kafka's own tools.
func TestAClusterSaysWhatItsOwnToolsSay(t *testing.T) {
	b := startKafka(t)
	w := newWorld(t)
	at := []string{"--bootstrap-server", b.addr}
	kafka := func(stdin string, args ...string) string {
		t.Helper()
		return b.tool(stdin, append(args[:1:1], append(at, args[1:]...)...)...)
	}
	kafka("", "topics", "--create", "--topic", "live", "--partitions", "3")
	kafka("", "topics", "--create", "--topic", "state", "--partitions", "1", "--config", "cleanup.policy=compact", "--config", "segment.ms=100",
		"--config", "min.cleanable.dirty.ratio=0.001")
	kafka("", "topics", "--create", "--topic", "money", "--partitions", "1")
	kafka("", "topics", "--create", "--topic", "empty", "--partitions", "2")
	var live, state strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&live, "key-%d\tvalue %d %s\n", i%97, i, strings.Repeat("x", i%300))
		fmt.Fprintf(&state, "key-%d\tvalue %d\n", i%20, i)
	}
	keyed := []string{"--reader-property", "parse.key=true", "--compression-codec", "zstd"}
	kafka(live.String(), append([]string{"console-producer", "--topic", "live"}, keyed...)...)
	kafka(state.String(), append([]string{"console-producer", "--topic", "state"}, keyed...)...)
	b.tool("", "producer-perf-test", "--topic", "money", "--num-records", "200", "--record-size", "30", "--throughput", "1000",
		"--transactional-id", "till", "--transaction-duration-ms", "20", "--bootstrap-server", b.addr)
	kafka("", "console-consumer", "--topic", "live", "--group", "readers", "--from-beginning", "--max-messages", "700", "--timeout-ms", "20000")

	t.Run("offsets", func(t *testing.T) {
		var want []string
		for line := range strings.Lines(kafka("", "get-offsets", "--exclude-internal-topics")) {
			want = append(want, strings.TrimSpace(line))
		}
		sort.Strings(want)
		var got []string
		for _, o := range w.run(0, "", "partitions", "-s", b.addr, "--json").objects(t) {
			if !strings.HasPrefix(fmt.Sprint(o["topic"]), "__") {
				got = append(got, fmt.Sprintf("%v:%v:%v", o["topic"], o["partition"], o["highWatermark"]))
			}
		}
		sort.Strings(got)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("ours:\n%s\nget-offsets:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	t.Run("groups", func(t *testing.T) {
		described := strings.Join(strings.Fields(kafka("", "consumer-groups", "--describe", "--group", "readers")), " ")
		rows := w.run(0, "", "group", "readers", "-s", b.addr, "--json").objects(t)[1:]
		if len(rows) != 3 {
			t.Errorf("%d rows", len(rows))
		}
		for _, row := range rows {
			if want := fmt.Sprintf("live %v %v %v %v", row["partition"], row["committed"], row["logEnd"], row["lag"]); !strings.Contains(described, want) {
				t.Errorf("Kafka's tool does not say %q:\n%s", want, described)
			}
		}
	})
	for name, committed := range map[string][]string{"live": nil, "state": nil, "money": {"--committed"}, "empty": nil} {
		t.Run("records of "+name, func(t *testing.T) {
			ours := w.run(0, "", append([]string{"read", name, "-s", b.addr, "-f", `Partition:%p\tOffset:%o\t%k\t%s\n`}, committed...)...).out
			isolation, timeout := "read_uncommitted", "60000" // it ends with the last message, or waits for one that does not come
			if committed != nil {
				isolation = "read_committed"
			}
			n := strings.Count(ours, "\n")
			if n == 0 {
				n, timeout = 1, "3000"
			}
			theirs := kafka("", "console-consumer", "--topic", name, "--from-beginning", "--timeout-ms", timeout, "--isolation-level", isolation,
				"--max-messages", fmt.Sprint(n), "--formatter-property", "print.key=true", "--formatter-property", "print.partition=true",
				"--formatter-property", "print.offset=true")
			ours = strings.ReplaceAll(ours, "\t∅\t", "\tnull\t")
			theirs = strings.ReplaceAll(theirs, "\tnull\t", "\t\t")
			ours = strings.ReplaceAll(ours, "\tnull\t", "\t\t")
			if sortedLines(ours) != sortedLines(theirs) {
				t.Errorf("records differ from what Kafka's consumer was given: %d bytes of ours, %d of theirs", len(ours), len(theirs))
			}
			last := w.run(0, "", append([]string{"read", name, "-s", b.addr, "--from", "-5", "-f", `Partition:%p\tOffset:%o\t%k\t%s\n`}, committed...)...).out
			for line := range strings.Lines(strings.ReplaceAll(strings.ReplaceAll(last, "\t∅\t", "\t\t"), "\tnull\t", "\t\t")) {
				if !strings.Contains(theirs, strings.TrimRight(line, "\n")) {
					t.Errorf("of the last five Kafka's consumer was not given %q", line)
				}
			}
			if name == "money" && strings.Count(last, "\n") != 5 {
				t.Errorf("the last five behind a marker:\n%s", last)
			}
		})
	}
	t.Run("batches", func(t *testing.T) {
		for _, at := range []string{"live/0", "live/2", "money/0"} {
			files, network := w.run(0, "", "batches", at, "-s", filepath.Join(b.dir, "data"), "--json").objects(t), w.run(0, "", "batches", at, "-s", b.addr, "--json").objects(t)
			for _, o := range files {
				o["position"] = nil // no broker tells it
			}
			if fmt.Sprint(files) != fmt.Sprint(network) || len(files) == 0 {
				t.Errorf("%s: %d batches in the files, %d by Fetch:\n%v\n%v", at, len(files), len(network), files, network)
			}
		}
		if got := strings.Join(field(w.run(0, "", "batches", "money/0", "-s", b.addr, "--json").objects(t), "control"), " "); !strings.Contains(got, "commit") {
			t.Errorf("no control batch is shown: %s", got)
		}
	})
	t.Run("no trace", func(t *testing.T) {
		for _, g := range strings.Fields(kafka("", "consumer-groups", "--list")) {
			if g != "readers" && !strings.HasPrefix(g, "console-consumer-") { // Kafka's own consumer leaves those
				t.Errorf("looking at the cluster has left the group %q behind", g)
			}
		}
	})
	t.Run("reset", func(t *testing.T) {
		w.run(0, "", "reset", "readers", "--to", "earliest", "--apply", "-s", b.addr)
		described := strings.Join(strings.Fields(kafka("", "consumer-groups", "--describe", "--group", "readers")), " ")
		for p := range 3 {
			if !strings.Contains(described, fmt.Sprintf("live %d 0 ", p)) {
				t.Errorf("after the reset Kafka's tool says:\n%s", described)
			}
		}
	})
}
