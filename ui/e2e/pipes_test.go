package e2e

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// twoSegments lays the kitchen segment down in two files, the second with base offset 6.
func twoSegments(t *testing.T) (folder string) {
	t.Helper()
	dir := kitchenDir(t, func(b []byte) []byte { return b[:251] })
	folder = filepath.Join(dir, "kitchen-0")
	if err := os.WriteFile(filepath.Join(folder, "00000000000000000006.log"), kitchen(t)[251:], 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestAFileIsOneSegment(t *testing.T) {
	w := newWorld(t)
	folder := twoSegments(t)
	file := filepath.Join(folder, "00000000000000000006.log")
	if err := os.Rename(filepath.Join(folder, "00000000000000000000.log"), filepath.Join(folder, "00000000000000000000.log.deleted")); err != nil {
		t.Fatal(err)
	}
	deleted := filepath.Join(folder, "00000000000000000000.log.deleted")
	other := filepath.Join(w.home, "taken.bin")
	if err := os.WriteFile(other, kitchen(t)[251:], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args        []string
		field, want string
	}{
		{[]string{"batches", file}, "base", "6 8 9 11 16 20 30 32"},
		{[]string{"batches", other}, "base", "6 8 9 11 16 20 30 32"},
		{[]string{"batches", deleted}, "base", "0 3 5"},
		{[]string{"read", file, "--control"}, "offset", "6 7 8 9 10 16 17 18 19 23 27 30 31 32"},
		{[]string{"read", file, "--from", "-2"}, "offset", "31 32"},
		{[]string{"read", file, "--to", "9"}, "offset", "6 7"},
	} {
		if got := strings.Join(field(w.run(0, "", append(tc.args, "--json")...).objects(t), tc.field), " "); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.args, got, tc.want)
		}
	}
	if r := w.run(0, "", "verify", file); !strings.Contains(r.err, "1 files, 8 batches") {
		t.Errorf("verify: %s", r.err)
	}
}

func TestAFileBesideOthersIsReadAlone(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(twoSegments(t), "00000000000000000000.log")
	if got := strings.Join(field(w.run(0, "", "read", file, "--json").objects(t), "offset"), " "); got != "0 1 2 3 4" {
		t.Errorf("offsets %s", got)
	}
	if got := strings.Join(field(w.run(0, "", "batches", file, "--json").objects(t), "base"), " "); got != "0 3 5" {
		t.Errorf("batches %s", got)
	}
}

// commands are those that print much.
func commands(dir string) [][]string {
	return [][]string{
		{"topics", "-s", dir}, {"partitions", "-s", dir, "--json"}, {"segments", "kitchen/0", "-s", dir}, {"batches", "kitchen/0", "-s", dir, "--json"},
		{"read", "kitchen", "-s", dir}, {"read", "kitchen", "-s", dir, "-f", "%s"}, {"lookup", "kitchen/0", "3", "-s", dir}, {"groups", "-s", dir}, {"--help"},
	}
}

// TestAFullDiskIsAnError prints to a device that is always full.
func TestAFullDiskIsAnError(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Logf("there is no /dev/full on %s", runtime.GOOS)
		return
	}
	w := newWorld(t)
	for _, args := range commands(kitchenDir(t, nil)) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		cmd := exec.Command(binary, args...)
		cmd.Env, cmd.Stdout, cmd.Stderr = w.env(), full, &errs
		_ = cmd.Run() // its exit code is looked at
		_ = full.Close()
		if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%v: exit %d, %s", args, code, errs.String())
		}
	}
}

// TestAClosedPipeEndsQuietly closes the reading end before anything is printed.
func TestAClosedPipeEndsQuietly(t *testing.T) {
	w := newWorld(t)
	for _, args := range commands(kitchenDir(t, nil)) {
		r, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		var errs bytes.Buffer
		cmd := exec.Command(binary, args...)
		cmd.Env, cmd.Stdout, cmd.Stderr = w.env(), out, &errs
		_ = cmd.Run() // its exit code is looked at
		_ = out.Close()
		if code := cmd.ProcessState.ExitCode(); code != 0 || errs.Len() > 0 {
			t.Errorf("%v: exit %d, %q", args, code, errs.String())
		}
	}
}

func TestInterruptedIs130(t *testing.T) {
	w := newWorld(t)
	cmd := exec.Command(binary, "read", "kitchen", "--follow", "-s", kitchenDir(t, nil))
	cmd.Env = w.env()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for range 18 { // all there is: it waits for more now
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	_ = cmd.Wait() // its exit code is looked at
	if code := cmd.ProcessState.ExitCode(); err != nil || len(rest) > 0 || code != 130 {
		t.Errorf("exit %d, rest %q, %v", code, rest, err)
	}
}

func TestATypingErrorMakesNothing(t *testing.T) {
	w := newWorld(t)
	r := w.run(2, "", "topcis")
	if !strings.Contains(r.err, "near are topic") {
		t.Errorf("stderr: %s", r.err)
	}
	if left, err := os.ReadDir(w.home); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestALargeSegmentIsCounted lists a segment that is too large to be counted by the way; most of it is a hole.
func TestALargeSegmentIsCounted(t *testing.T) {
	w := newWorld(t)
	dir := kitchenDir(t, nil)
	if err := os.Truncate(filepath.Join(dir, "kitchen-0", "00000000000000000000.log"), 200<<20); err != nil {
		t.Fatal(err)
	}
	got := w.run(0, "", "segments", "kitchen/0", "-s", dir, "--json").objects(t)
	if s := strings.Join(append(field(got, "records"), field(got, "batches")...), " "); s != "18 11" {
		t.Errorf("records and batches: %s", s)
	}
}

// TestBatchesTellWhatIsNone lists a segment with a batch whose length is damaged.
func TestBatchesTellWhatIsNone(t *testing.T) {
	w := newWorld(t)
	dir := kitchenDir(t, func(b []byte) []byte { copy(b[94+8:], []byte{0x7f, 0xff, 0xff, 0xff}); return b })
	r := w.run(1, "", "batches", "kitchen/0", "-s", dir, "--json")
	if n := len(r.objects(t)); n != 10 || !strings.Contains(r.err, "byte 94: length 2147483647") {
		t.Errorf("%d batches, %s", n, r.err)
	}
}
