//go:build linux || darwin

package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
)

// TestBrokersSayWhatKafkasToolsSay holds what is told of brokers, their directories, configs and quotas against Kafka's own
// tools, on a real broker.
func TestBrokersSayWhatKafkasToolsSay(t *testing.T) {
	t.Parallel()
	b := startKafka(t)
	w := newWorld(t)
	at := []string{"--bootstrap-server", b.addr}
	kafka := func(stdin string, args ...string) string {
		t.Helper()
		return b.tool(stdin, append(args[:1:1], append(at, args[1:]...)...)...)
	}
	kafka("", "topics", "--create", "--topic", "live", "--partitions", "3")
	kafka(strings.Repeat("a value\n", 500), "console-producer", "--topic", "live")
	kafka("", "configs", "--alter", "--entity-type", "clients", "--entity-name", "billing", "--add-config", "producer_byte_rate=1048576,request_percentage=12.5")
	kafka("", "configs", "--alter", "--entity-type", "users", "--entity-default", "--add-config", "consumer_byte_rate=2048")
	kafka("", "configs", "--alter", "--entity-type", "brokers", "--entity-name", "1", "--add-config", "log.cleaner.threads=2")

	t.Run("log directories", func(t *testing.T) {
		said := kafka("", "log-dirs", "--describe")
		var tool struct {
			Brokers []struct {
				Broker  int
				LogDirs []struct {
					LogDir     string
					Partitions []struct{ Size int64 }
				}
			}
		}
		if err := json.Unmarshal([]byte(said[strings.Index(said, "{"):]), &tool); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		var want []string
		for _, d := range tool.Brokers[0].LogDirs {
			sum := int64(0)
			for _, p := range d.Partitions {
				sum += p.Size
			}
			want = append(want, fmt.Sprintf("%s %d %d", d.LogDir, len(d.Partitions), sum))
		}
		rows := w.run(0, "", "brokers", "-s", b.addr, "--json").objects(t)
		if len(rows) != 1 || fmt.Sprint(rows[0]["id"]) != "1" || rows[0]["alive"] != true || rows[0]["address"] != b.addr {
			t.Fatalf("%v", rows)
		}
		var got []string
		for _, d := range rows[0]["logDirs"].([]any) {
			m := d.(map[string]any)
			got = append(got, fmt.Sprintf("%v %v %v", m["path"], m["partitions"], m["bytes"]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("ours %v, log-dirs %v", got, want)
		}
	})
	t.Run("controller", func(t *testing.T) {
		said := kafka("", "metadata-quorum", "describe", "--status")
		leader := regexp.MustCompile(`LeaderId:\s+(\d+)`).FindStringSubmatch(said)
		for _, o := range w.run(0, "", "brokers", "-s", b.addr, "--json").objects(t) {
			if leads := leader != nil && fmt.Sprint(o["id"]) == leader[1]; o["controller"] != leads {
				t.Errorf("broker %v: controller %v, and the quorum says\n%s", o["id"], o["controller"], said)
			}
		}
	})
	t.Run("configs", func(t *testing.T) {
		want := map[string]string{}
		entry := regexp.MustCompile(`^\s+([a-z0-9.-]+)=(.*) sensitive=(true|false) synonyms=`)
		for line := range strings.Lines(kafka("", "configs", "--describe", "--entity-type", "brokers", "--entity-name", "1", "--all")) {
			if m := entry.FindStringSubmatch(line); m != nil {
				if want[m[1]] = m[2]; m[2] == "null" {
					want[m[1]] = ""
				}
			}
		}
		rows := w.run(0, "", "brokers", "-s", b.addr, "--configs", "1", "--json").objects(t)
		if len(rows) != len(want) || len(rows) < 100 {
			t.Errorf("%d configs, Kafka's tool has %d", len(rows), len(want))
		}
		for _, o := range rows {
			name := fmt.Sprint(o["name"])
			if fmt.Sprint(o["value"]) != want[name] {
				t.Errorf("%s is %q, Kafka's tool says %q", name, o["value"], want[name])
			}
			if name == "log.cleaner.threads" && (fmt.Sprint(o["source"]) != "broker" || fmt.Sprint(o["default"]) != "1") {
				t.Errorf("%v", o)
			}
		}
	})
	t.Run("quotas", func(t *testing.T) {
		var got []string
		for _, o := range w.run(0, "", "quotas", "-s", b.addr, "--json").objects(t) {
			got = append(got, fmt.Sprintf("%v %v %v", o["entity"], o["key"], o["value"]))
		}
		sort.Strings(got)
		want := []string{"client-id=billing producer_byte_rate 1048576", "client-id=billing request_percentage 12.5", "user=<default> consumer_byte_rate 2048"}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
	t.Run("access rules", func(t *testing.T) {
		r := w.run(1, "", "acls", "-s", b.addr)
		if !strings.Contains(r.err, "security is disabled") || r.out != "" {
			t.Errorf("%q %q", r.out, r.err)
		}
	})
}
