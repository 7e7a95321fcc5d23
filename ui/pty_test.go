//go:build linux || darwin

package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"github.com/strata-kafka/strata/ui/early"
	"github.com/strata-kafka/strata/ui/uitest"
)

// TestMain runs the explorer instead of the tests when it is asked to, as the child in a terminal of the tests below.
func TestMain(m *testing.M) {
	early.Restore()
	if os.Getenv("STRATA_UI_CHILD") == "" {
		os.Exit(m.Run())
	}
	os.Exit(child())
}

func child() int {
	if file := os.Getenv("PID"); file != "" {
		if err := os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			return 4
		}
	}
	src := uitest.NewSource(uitest.Now())
	if os.Getenv("STRATA_UI_CHILD") == "panic" {
		src.Fail = func(method string) error {
			if method == "Partitions" {
				panic("a page's fault")
			}
			return nil
		}
	}
	err := Run(context.Background(), Options{Source: src, StatePath: os.Getenv("STATE")})
	_ = src.Close()
	fmt.Println("closed:", src.Calls()[len(src.Calls())-1])
	if err != nil {
		fmt.Println(err)
		var crash *CrashError
		if errors.As(err, &crash) {
			return 2
		}
		return 3
	}
	return 0
}

// term is a child in a terminal, and what it shows.
type term struct {
	t    *testing.T
	cmd  *exec.Cmd
	file *os.File
	mu   sync.Mutex
	emu  *vt.Emulator
	raw  bytes.Buffer
	done chan error
	// hangup makes the reader close the terminal.
	hangup bool
}

func startTerm(t *testing.T, mode string, w, h uint16) *term {
	t.Helper()
	x := &term{t: t, cmd: exec.Command(os.Args[0]), emu: vt.NewEmulator(int(w), int(h)), done: make(chan error, 1)}
	x.cmd.Env = []string{
		"STRATA_UI_CHILD=" + mode, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC", "HOME=" + t.TempDir(),
		"PATH=" + os.Getenv("PATH"), "STATE=" + t.TempDir() + "/state.toml", "PAGER=cat",
	}
	if mode == "shell" {
		x.cmd = exec.Command("sh", "-i", "-m")
		x.cmd.Env = []string{"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "PS1=ready$ "}
	}
	var err error
	if x.file, err = pty.StartWithSize(x.cmd, &pty.Winsize{Cols: w, Rows: h}); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(x.file, x.emu) }() // the terminal's answers; ends when the terminal is closed
	go func() {                                   // ends with the child
		b := make([]byte, 32<<10)
		for {
			n, err := x.file.Read(b)
			x.mu.Lock()
			x.raw.Write(b[:n])
			_, _ = x.emu.Write(b[:n])
			hangup := x.hangup
			x.mu.Unlock()
			if hangup {
				err = x.file.Close()
			}
			if err != nil || hangup {
				x.done <- x.cmd.Wait()
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		_ = x.file.Close()
	})
	return x
}

func (x *term) screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.emu.String()
}

// wait waits until the screen matches.
func (x *term) wait(re string) {
	x.t.Helper()
	want := regexp.MustCompile(re)
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !want.MatchString(x.screen()) {
		select {
		case <-deadline:
			x.t.Fatalf("no %q on the screen:\n%s", re, x.screen())
		case <-tick.C:
		}
	}
}

func (x *term) typed(s string) {
	x.t.Helper()
	if _, err := x.file.WriteString(s); err != nil {
		x.t.Fatal(err)
	}
}

// ended waits for the child's end and returns its exit code.
func (x *term) ended() int {
	x.t.Helper()
	select {
	case <-x.done:
	case <-time.After(20 * time.Second):
		x.t.Fatalf("the child does not end:\n%s", x.screen())
	}
	return x.cmd.ProcessState.ExitCode()
}

// restored fails unless the terminal is as it was: main screen, cursor shown, mouse and paste modes off.
func (x *term) restored() {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.emu.IsAltScreen() {
		x.t.Error("the alternate screen was not left")
	}
	out := x.raw.String()
	for _, mode := range []string{"\x1b[?25", "\x1b[?1002", "\x1b[?1006", "\x1b[?2004", "\x1b[?1049"} {
		on, off := mode+"h", mode+"l"
		if mode == "\x1b[?25" {
			on, off = off, on
		}
		if strings.LastIndex(out, off) < strings.LastIndex(out, on) {
			x.t.Errorf("mode %q was left on", mode[1:])
		}
	}
}

func TestTerminalIsWholeAfterwards(t *testing.T) {
	for name, tc := range map[string]struct {
		mode string
		end  func(x *term)
		code int
		says string
	}{
		"q":             {"", func(x *term) { x.typed("q") }, 0, "closed: Close"},
		"ctrl-c":        {"", func(x *term) { x.typed("\x03") }, 0, "closed: Close"},
		"SIGTERM":       {"", func(x *term) { _ = x.cmd.Process.Signal(syscall.SIGTERM) }, 0, "closed: Close"},
		"SIGINT":        {"", func(x *term) { _ = x.cmd.Process.Signal(os.Interrupt) }, 0, "closed: Close"},
		"SIGHUP":        {"", func(x *term) { _ = x.cmd.Process.Signal(syscall.SIGHUP) }, 0, "closed: Close"},
		"panic, opened": {"panic", func(x *term) { x.typed("j\r") }, 2, "(?s)fault of its own: a page's fault.*source_read.go|pty_test.go"},
	} {
		t.Run(name, func(t *testing.T) {
			x := startTerm(t, "run"+tc.mode, 80, 24)
			if tc.mode != "" {
				x = startTerm(t, tc.mode, 80, 24)
			}
			x.wait(`orders`)
			tc.end(x)
			if code := x.ended(); code != tc.code {
				t.Errorf("exit code %d, want %d\n%s", code, tc.code, x.screen())
			}
			x.restored()
			if out := x.raw.String(); !regexp.MustCompile(tc.says).MatchString(out) {
				t.Errorf("the child did not say %q:\n%s", tc.says, x.screen())
			}
		})
	}
}

func TestClosedTerminalEndsTheProgram(t *testing.T) {
	x := startTerm(t, "run", 80, 24)
	x.wait(`orders`)
	x.mu.Lock()
	x.hangup = true // the reader closes the terminal when it has read what the next key draws
	x.mu.Unlock()
	x.typed("j")
	if code := x.ended(); code != 0 {
		t.Errorf("exit code %d: the program did not come to its own end", code)
	}
}

// TestSuspendAndResume has a shell between, since a process without one to wait for it cannot be stopped.
func TestSuspendAndResume(t *testing.T) {
	for name, stop := range map[string]func(x *term, pid int){
		"ctrl-z":  func(x *term, _ int) { x.typed("\x1a") },
		"SIGTSTP": func(x *term, pid int) { _ = syscall.Kill(pid, syscall.SIGTSTP) },
	} {
		t.Run(name, func(t *testing.T) {
			x := startTerm(t, "shell", 80, 24)
			x.wait(`ready\$`)
			pidFile := t.TempDir() + "/pid"
			x.typed("STRATA_UI_CHILD=run PID=" + pidFile + " " + os.Args[0] + "\r")
			x.wait(`3 of 4 topics`)
			b, err := os.ReadFile(pidFile)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(string(b))
			if err != nil {
				t.Fatal(err)
			}
			for round := range 2 { // the second time shows that the signal is watched again
				stop(x, pid)
				x.wait(`(?i)(stopped|suspended)`)
				x.mu.Lock()
				alt := x.emu.IsAltScreen()
				x.mu.Unlock()
				if alt {
					t.Errorf("round %d: the alternate screen was not left before stopping", round)
				}
				x.typed("clear; fg\r")
				x.wait(`3 of 4 topics`)
			}
			x.typed("j?") // in one piece: both are keys
			x.wait(`(?s)half a page.*esc close`)
			x.typed("\x1b")
			x.wait(`enter open`)
			x.typed("q")
			x.wait(`closed: Close`)
			x.typed("exit\r")
			x.ended()
			x.restored()
		})
	}
}

func TestResizeStorm(t *testing.T) {
	x := startTerm(t, "run", 80, 24)
	x.wait(`orders`)
	for i := range 200 {
		w, h := uint16(20+i*7%200), uint16(5+i*3%60)
		if err := pty.Setsize(x.file, &pty.Winsize{Cols: w, Rows: h}); err != nil {
			t.Fatal(err)
		}
		x.mu.Lock()
		x.emu.Resize(int(w), int(h))
		x.mu.Unlock()
	}
	if err := pty.Setsize(x.file, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	x.mu.Lock()
	x.emu.Resize(100, 30)
	x.mu.Unlock()
	x.typed("?")
	x.wait(`(?s)half a page.*esc close`)
	x.typed("\x1b")
	x.wait(`enter open`)
	x.typed("q")
	if code := x.ended(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// allowed are the sequences that frames are made of; nothing else may reach the terminal.
var allowed = regexp.MustCompile(`\x1b\[[0-9;]*[mKJHABCDfGd]|\x1b\[\?(7|25|1002|1003|1006|1015|1049|2004|1000|1004)[hl]`)

func TestNothingButFramesReachesTheTerminal(t *testing.T) {
	x := startTerm(t, "run", 100, 30)
	x.wait(`orders`)
	x.typed("j\r?") // typed ahead: the help is that of the page that enter opens
	x.wait(`(?s)groups that read this topic.*esc close`)
	x.typed("\x1b")
	x.wait(`enter open`)
	x.typed("q")
	x.ended()
	rest := allowed.ReplaceAllString(x.raw.String(), "")
	rest = strings.NewReplacer("\r", "", "\n", "").Replace(rest)
	for _, c := range rest {
		if c < 0x20 || c >= 0x7f && c < 0xa0 {
			i := strings.IndexRune(rest, c)
			t.Fatalf("control byte %q near %q", c, rest[max(0, i-20):min(len(rest), i+20)])
		}
	}
}

func TestCopyGoesToTheClipboardBetweenFrames(t *testing.T) {
	x := startTerm(t, "run", 100, 30)
	x.wait(`orders`)
	x.typed("j\r")
	x.wait(`▸ orders`)
	x.typed("Y")
	x.wait(`copied: orders`)
	x.typed("q")
	x.ended()
	if !strings.Contains(x.raw.String(), "\x1b]52;c;b3JkZXJz\x07") {
		t.Error("no OSC 52 with the address")
	}
}

func TestPagerGetsTheTerminalAndGivesItBack(t *testing.T) {
	x := startTerm(t, "run", 100, 30)
	x.wait(`orders`)
	x.typed(":orders/1@4812330\r")
	x.wait(`user-`)
	x.typed("|")
	x.waitRaw("\x1b[?1049h", 2)
	x.waitRaw("\x1b[?1002h", 2) // the mouse is on again
	x.wait(`user-`)
	x.typed("q")
	if code := x.ended(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	x.restored()
	if !strings.Contains(x.raw.String(), "9223372036854775807") {
		t.Error("the pager was given no value")
	}
}

// waitRaw waits until the child has written something n times.
func (x *term) waitRaw(what string, n int) {
	x.t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		x.mu.Lock()
		have := strings.Count(x.raw.String(), what)
		x.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-deadline:
			x.t.Fatalf("%q was written %d times, want %d:\n%s", what, have, n, x.screen())
		case <-tick.C:
		}
	}
}
