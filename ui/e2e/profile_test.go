//go:build linux || darwin

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProductionIsReadAndNotWritten reaches a broker that asks for a password by a profile that is read-only, with each
// command that would write, and in the explorer. The password is in no output.
func TestProductionIsReadAndNotWritten(t *testing.T) {
	const password = "correct-horse-battery"
	w := newWorld(t)
	w.run(0, password+"\n", "user", "add", "ada")
	_, addr := w.serve("--sasl")
	word := filepath.Join(w.home, "word")
	text := `
[profile.prod]
brokers = "` + addr + `"
read_only = true
colour = "red"
sasl = { mechanism = "SCRAM-SHA-512", user = "ada", password_file = "` + word + `" }
[profile.work]
brokers = "` + addr + `"
sasl = { mechanism = "PLAIN", user = "ada", password_command = "cat '` + word + `'" }
[profile.wrong]
brokers = "` + addr + `"
sasl = { mechanism = "PLAIN", user = "ada", password = "` + password + `x" }
`
	if err := os.WriteFile(word, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.config, "strata", "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	silent := func(r result) result {
		t.Helper()
		if strings.Contains(r.out+r.err, password) {
			t.Errorf("the password is told: %s%s", r.out, r.err)
		}
		return r
	}
	silent(w.run(0, "", "topic", "create", "orders", "-p", "2", "-s", "work"))
	silent(w.run(0, "a\nb\nc\n", "produce", "orders", "--partition", "0", "-s", "work"))

	if r := silent(w.run(0, "", "read", "orders/0", "-f", "%s ", "-s", "prod")); r.out != "a b c " {
		t.Errorf("read %q", r.out)
	}
	for _, args := range [][]string{
		{"topic", "create", "x"}, {"topic", "grow", "orders", "-p", "9"}, {"topic", "alter", "orders", "-c", "retention.ms=1"},
		{"topic", "delete", "orders", "--yes"}, {"delete-records", "orders/0", "--before", "1"}, {"produce", "orders", "-v", "x"},
		{"consume", "orders", "-g", "g"}, {"reset", "g", "--to", "earliest", "--topic", "orders", "--apply"},
	} {
		if r := silent(w.run(2, "", append(args, "-s", "prod")...)); !strings.Contains(r.err, "read-only") {
			t.Errorf("%v: %s", args, r.err)
		}
	}
	if r := w.run(0, "", "groups", "-s", "work", "--json"); r.out != "" {
		t.Errorf("a group was left behind: %s", r.out)
	}
	if got := field(w.run(0, "", "partitions", "orders", "-s", "work", "--json").objects(t), "logEnd"); strings.Join(got, " ") != "3 0" {
		t.Errorf("log ends are %v", got)
	}

	if r := silent(w.run(0, "", "profiles")); !strings.Contains(r.out, "SASL_PLAINTEXT SCRAM-SHA-512  ada   read-only") {
		t.Errorf("%s", r.out)
	}
	if r := silent(w.run(0, "", "profile", "test", "prod")); !strings.Contains(r.out, "ok    listener") {
		t.Errorf("%s", r.out)
	}
	if r := silent(w.run(2, "", "profile", "test", "wrong")); !strings.Contains(r.out, "FAIL  SASL") {
		t.Errorf("%s", r.out)
	}
	if r := silent(w.run(2, "", "topics", "-s", "wrong")); !strings.Contains(r.err, "strata profile test wrong says at which step") {
		t.Errorf("%s", r.err)
	}

	x := w.start(120, 40, "prod")
	x.Wait(`prod ▸ topics .* read-only`)
	x.Wait(`orders +2 `)
	if raw := x.Raw(); !strings.Contains(raw, "\x1b[48;2;179;38;30m") || strings.Contains(raw, password) {
		t.Error("the line at the top is not red, or the password is on the screen")
	}
	x.Type("c")
	x.Wait(`this source is read-only: topics can't be made or changed`)
	x.Type("p")
	x.Wait(`this source is read-only: nothing can be produced`)
	x.Type("q")
	if code := x.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	x.clean()
}
