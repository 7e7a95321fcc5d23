//go:build linux || darwin

package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/strata-kafka/strata/ui/early"
	"github.com/strata-kafka/strata/ui/termtest"
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

// childEnviron is the whole environment of a child: the host's would change colours and questions.
func childEnviron(t *testing.T, mode string) []string {
	return []string{
		"STRATA_UI_CHILD=" + mode, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC", "HOME=" + t.TempDir(),
		"PATH=" + os.Getenv("PATH"), "STATE=" + t.TempDir() + "/state.toml", "PAGER=cat",
	}
}

// startChild runs the explorer in a terminal.
func startChild(t *testing.T, mode string, cols, rows int) *termtest.Terminal {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = childEnviron(t, mode)
	return termtest.Start(t, cmd, cols, rows)
}

// startShell runs a shell in a terminal.
func startShell(t *testing.T, cols, rows int) *termtest.Terminal {
	t.Helper()
	cmd := exec.Command("sh", "-i", "-m")
	cmd.Env = []string{"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "PS1=ready$ "}
	return termtest.Start(t, cmd, cols, rows)
}

func TestTerminalIsWholeAfterwards(t *testing.T) {
	for name, tc := range map[string]struct {
		mode string
		end  func(x *termtest.Terminal)
		code int
		says string
	}{
		"q":             {"run", func(x *termtest.Terminal) { x.Type("q") }, 0, "closed: Close"},
		"ctrl-c":        {"run", func(x *termtest.Terminal) { x.Type("\x03") }, 0, "closed: Close"},
		"SIGTERM":       {"run", func(x *termtest.Terminal) { _ = x.Cmd.Process.Signal(syscall.SIGTERM) }, 0, "closed: Close"},
		"SIGINT":        {"run", func(x *termtest.Terminal) { _ = x.Cmd.Process.Signal(os.Interrupt) }, 0, "closed: Close"},
		"SIGHUP":        {"run", func(x *termtest.Terminal) { _ = x.Cmd.Process.Signal(syscall.SIGHUP) }, 0, "closed: Close"},
		"panic, opened": {"panic", func(x *termtest.Terminal) { x.Type("j\r") }, 2, "(?s)fault of its own: a page's fault.*pty_test.go"},
	} {
		t.Run(name, func(t *testing.T) {
			x := startChild(t, tc.mode, 80, 24)
			x.Wait(`orders`)
			tc.end(x)
			if code := x.End(); code != tc.code {
				t.Errorf("exit code %d, want %d\n%s", code, tc.code, x.Screen())
			}
			x.Restored()
			if out := x.Raw(); !regexp.MustCompile(tc.says).MatchString(out) {
				t.Errorf("the child did not say %q:\n%s", tc.says, x.Screen())
			}
		})
	}
}

func TestClosedTerminalEndsTheProgram(t *testing.T) {
	x := startChild(t, "run", 80, 24)
	x.Wait(`orders`)
	x.HangUp() // when it has taken what the next key draws
	x.Type("j")
	if code := x.End(); code != 0 {
		t.Errorf("exit code %d: the program did not come to its own end", code)
	}
}

// TestSuspendAndResume has a shell between, since a process without one to wait for it cannot be stopped.
func TestSuspendAndResume(t *testing.T) {
	for name, stop := range map[string]func(x *termtest.Terminal, pid int){
		"ctrl-z":  func(x *termtest.Terminal, _ int) { x.Type("\x1a") },
		"SIGTSTP": func(x *termtest.Terminal, pid int) { _ = syscall.Kill(pid, syscall.SIGTSTP) },
	} {
		t.Run(name, func(t *testing.T) {
			x := startShell(t, 80, 24)
			x.Wait(`ready\$`)
			pidFile := t.TempDir() + "/pid"
			x.Type("STRATA_UI_CHILD=run PID=" + pidFile + " " + os.Args[0] + "\r")
			x.Wait(`3 of 4 topics`)
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
				x.Wait(`(?i)(stopped|suspended)`)
				if x.AltScreen() {
					t.Errorf("round %d: the alternate screen was not left before stopping", round)
				}
				x.Type("clear; fg\r")
				x.Wait(`3 of 4 topics`)
			}
			x.Type("j?") // in one piece: both are keys
			x.Wait(`(?s)half a page.*esc close`)
			x.Type("\x1b")
			x.Wait(`enter open`)
			x.Type("q")
			x.Wait(`closed: Close`)
			x.Type("exit\r")
			x.End()
			x.Restored()
		})
	}
}

// TestSlowTerminal types two hundred keys into a program whose terminal takes 20 KiB a second: it must not gather frames
// meanwhile, and answer as ever once it can.
func TestSlowTerminal(t *testing.T) {
	x := startChild(t, "run", 200, 60)
	x.Wait(`orders`)
	before := memory(t, x)
	x.Slow(1 << 10)
	for round := range 10 {
		was := len(x.Raw())
		x.Type("?" + strings.Repeat("jk", 10)) // the help comes or goes: most of the screen
		x.Resize(199-round, 60)                // and a whole frame is due, even if two rounds met in one and undid each other
		x.Until(func() bool { return len(x.Raw()) > was+512 }, "the terminal takes nothing")
	}
	if after := memory(t, x); after > before+32<<10 {
		t.Errorf("%d KiB of memory became %d", before, after)
	}
	x.Slow(0)
	x.Type("1:payments\r")
	x.Wait(`▸ payments`)
	x.Type("q")
	if code := x.End(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	x.Restored()
}

// memory returns the KiB that a child has in memory.
func memory(t *testing.T, x *termtest.Terminal) int {
	t.Helper()
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(x.Cmd.Process.Pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestResizeStorm(t *testing.T) {
	x := startChild(t, "run", 80, 24)
	x.Wait(`orders`)
	for i := range 200 {
		x.Resize(20+i*7%200, 5+i*3%60)
	}
	x.Resize(100, 30)
	x.Type("?")
	x.Wait(`(?s)half a page.*esc close`)
	x.Type("\x1b")
	x.Wait(`enter open`)
	x.Type("q")
	if code := x.End(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// allowed are the sequences that frames are made of; nothing else may reach the terminal.
var allowed = regexp.MustCompile(`\x1b\[[0-9;]*[mKJHABCDfGd]|\x1b\[\?(7|25|1002|1003|1006|1015|1049|2004|1000|1004)[hl]`)

func TestNothingButFramesReachesTheTerminal(t *testing.T) {
	x := startChild(t, "run", 100, 30)
	x.Wait(`orders`)
	x.Type("j\r?") // typed ahead: the help is that of the page that enter opens
	x.Wait(`(?s)groups that read this topic.*esc close`)
	x.Type("\x1b")
	x.Wait(`enter open`)
	x.Type("q")
	x.End()
	rest := allowed.ReplaceAllString(x.Raw(), "")
	rest = strings.NewReplacer("\r", "", "\n", "").Replace(rest)
	for _, c := range rest {
		if c < 0x20 || c >= 0x7f && c < 0xa0 {
			i := strings.IndexRune(rest, c)
			t.Fatalf("control byte %q near %q", c, rest[max(0, i-20):min(len(rest), i+20)])
		}
	}
}

func TestCopyGoesToTheClipboardBetweenFrames(t *testing.T) {
	x := startChild(t, "run", 100, 30)
	x.Wait(`orders`)
	x.Type("j\r")
	x.Wait(`▸ orders`)
	x.Type("Y")
	x.Wait(`copied: orders`)
	x.Type("q")
	x.End()
	if !strings.Contains(x.Raw(), "\x1b]52;c;b3JkZXJz\x07") {
		t.Error("no OSC 52 with the address")
	}
}

func TestPagerGetsTheTerminalAndGivesItBack(t *testing.T) {
	x := startChild(t, "run", 100, 30)
	x.Wait(`orders`)
	x.Type(":orders/1@4812330\r")
	x.Wait(`user-`)
	x.Type("|")
	wrote(x, "\x1b[?1049h", 2)
	wrote(x, "\x1b[?1002h", 2) // the mouse is on again
	x.Wait(`user-`)
	x.Type("q")
	if code := x.End(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	x.Restored()
	if !strings.Contains(x.Raw(), "9223372036854775807") {
		t.Error("the pager was given no value")
	}
}

// wrote waits until the child has written something n times.
func wrote(x *termtest.Terminal, what string, n int) {
	x.Until(func() bool { return strings.Count(x.Raw(), what) >= n }, fmt.Sprintf("%q was not written %d times", what, n))
}
