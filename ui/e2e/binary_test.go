package e2e

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "embed"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(build(m))
}

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "strata-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "strata")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/strata-kafka/strata").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// world is a home directory and what the program is run with in it.
type world struct {
	t      *testing.T
	home   string
	config string
	data   string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home, config := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(config, "strata"), 0o755); err != nil {
		t.Fatal(err)
	}
	// The usual port may be anybody's.
	if err := os.WriteFile(filepath.Join(config, "strata", "config.toml"), []byte("listen = \"127.0.0.1:0\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return &world{t: t, home: home, config: config, data: filepath.Join(home, ".local", "share", "strata")}
}

func (w *world) env() []string {
	return []string{"HOME=" + w.home, "XDG_CONFIG_HOME=" + w.config, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + w.home, "TZ=UTC", "LANG=C.UTF-8", "TERM=xterm-256color", "COLORTERM=truecolor"}
}

// result is what a command gave.
type result struct {
	out, err string
	code     int
}

// run runs a command with stdin, and fails the test when the exit code is another than want.
func (w *world) run(want int, stdin string, args ...string) result {
	w.t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = w.env()
	cmd.Dir = w.home
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	r := result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	if r.code != want {
		w.t.Fatalf("strata %s: exit %d, want %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), r.code, want, r.out, r.err)
	}
	return r
}

// objects reads one JSON object a line.
func (r result) objects(t *testing.T) []map[string]any {
	t.Helper()
	var all []map[string]any
	d := json.NewDecoder(strings.NewReader(r.out))
	d.UseNumber()
	for d.More() {
		var o map[string]any
		if err := d.Decode(&o); err != nil {
			t.Fatalf("%v in %s", err, r.out)
		}
		all = append(all, o)
	}
	return all
}

// field returns a field of each object, printed.
func field(objects []map[string]any, name string) []string {
	var vs []string
	for _, o := range objects {
		vs = append(vs, fmt.Sprint(o[name]))
	}
	return vs
}

// kitchen is a segment with every kind of batch in 893 bytes.
//
//go:embed testdata/kitchen.hex
var kitchenHex string

func kitchen(t *testing.T) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimSpace(kitchenHex))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// kitchenDir lays the kitchen segment down as a log directory of one partition.
func kitchenDir(t *testing.T, edit func([]byte) []byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.MkdirAll(filepath.Join(dir, "kitchen-0"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := kitchen(t)
	if edit != nil {
		b = edit(b)
	}
	if err := os.WriteFile(filepath.Join(dir, "kitchen-0", "00000000000000000000.log"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}
