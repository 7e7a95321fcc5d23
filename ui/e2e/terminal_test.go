//go:build linux || darwin

package e2e

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// terminal is the program in a terminal, and what it shows.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	file *os.File
	done chan error

	mu  sync.Mutex
	emu *vt.Emulator
	raw bytes.Buffer
}

// start runs the program in a terminal of a size.
func (w *world) start(cols, rows int, args ...string) *terminal {
	w.t.Helper()
	x := &terminal{t: w.t, cmd: exec.Command(binary, args...), emu: vt.NewEmulator(cols, rows), done: make(chan error, 1)}
	x.cmd.Env, x.cmd.Dir = w.env(), w.home
	var err error
	if x.file, err = pty.StartWithSize(x.cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		w.t.Fatal(err)
	}
	go func() { _, _ = io.Copy(x.file, x.emu) }() // the terminal's answers; ends when the terminal is closed
	go x.show()
	w.t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		_ = x.file.Close()
	})
	return x
}

// show feeds the emulator until the program has ended.
func (x *terminal) show() {
	b := make([]byte, 32<<10)
	for {
		n, err := x.file.Read(b)
		x.mu.Lock()
		x.raw.Write(b[:n])
		_, _ = x.emu.Write(b[:n])
		x.mu.Unlock()
		if err != nil { // EIO when the program has ended
			x.done <- x.cmd.Wait()
			return
		}
	}
}

func (x *terminal) screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.emu.String()
}

// wait waits until the screen matches.
func (x *terminal) wait(re string) {
	x.t.Helper()
	want := regexp.MustCompile(re)
	x.until(func() bool { return want.MatchString(x.screen()) }, "no "+re+" on the screen")
}

func (x *terminal) until(ok func() bool, what string) {
	x.t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			x.t.Fatalf("%s:\n%s", what, x.screen())
		case <-tick.C:
		}
	}
}

func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := x.file.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// ends waits for the end of the program, and checks that the terminal is as it was.
func (x *terminal) ends() int {
	x.t.Helper()
	select {
	case err := <-x.done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			x.t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		x.t.Fatalf("it does not end:\n%s", x.screen())
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.emu.IsAltScreen() {
		x.t.Error("the alternate screen was not left")
	}
	if strings.LastIndex(x.raw.String(), "\x1b[?25l") > strings.LastIndex(x.raw.String(), "\x1b[?25h") {
		x.t.Error("the cursor was left hidden")
	}
	return x.cmd.ProcessState.ExitCode()
}

// sequences are the control sequences that the program itself uses: styles, cursor, erasing, modes.
var sequences = regexp.MustCompile(`^\x1b(\[[0-9;:]*[mABCDEFGHJKLMPSTXdfr]|\[\?[0-9;]+[hl]|\[[0-9]* q|\[>[0-9;]*[a-z]|[78=>]|\(B)`)

// clean checks that nothing reached the terminal but text and the program's own sequences.
func (x *terminal) clean() {
	x.t.Helper()
	x.mu.Lock()
	b := x.raw.String()
	x.mu.Unlock()
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == 0x1b:
			m := sequences.FindString(b[i:])
			if m == "" {
				x.t.Fatalf("a sequence that is not the program's own: %q", b[i:min(len(b), i+30)])
			}
			i += len(m)
		case c < 0x20 && c != '\r' && c != '\n' && c != '\b' && c != '\t' || c == 0x7f:
			x.t.Fatalf("control byte %#x in %q", c, b[max(0, i-20):min(len(b), i+20)])
		case c == 0xc2 && i+1 < len(b) && b[i+1] < 0xa0:
			x.t.Fatalf("a C1 control in %q", b[max(0, i-20):min(len(b), i+20)])
		default:
			i++
		}
	}
}

func TestDemoFromTheFirstKeyToTheLast(t *testing.T) {
	w := newWorld(t)
	x := w.start(120, 40, "demo")
	x.wait(`orders +3 +[\d,]+`)
	x.wait(`clicks .* \d+/s`)
	x.press("/orders\r")
	x.wait(`1 of 5`)
	x.press("\r")
	x.wait(`strata ▸ orders`)
	x.press("\r")
	x.wait(`log start`)
	x.press("\r")
	x.wait(`zstd`)
	x.press("?")
	x.wait(`help and all keys`)
	x.press("\x1b")
	x.wait(`batch 1 of`)
	x.until(func() bool { return !strings.Contains(x.screen(), "help and all keys") }, "help stays")
	x.press("q")
	if code := x.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	x.clean()
	left, err := filepath.Glob(filepath.Join(w.home, "strata-demo-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestSignalsLeaveTheTerminalWhole(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"term": syscall.SIGTERM, "hangup": syscall.SIGHUP, "interrupt": syscall.SIGINT} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			x := w.start(80, 24, "demo")
			x.wait(`orders`)
			if err := x.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			x.ends()
			left, err := filepath.Glob(filepath.Join(w.home, "strata-demo-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

func TestAnEmptyBrokerTeaches(t *testing.T) {
	w := newWorld(t)
	x := w.start(80, 24)
	x.wait(`no topic`)
	x.press("c")
	x.wait(`▸ create|▸ new topic`)
	x.press("\x1b")
	x.wait(`there are no topics here`)
	x.press("q")
	x.ends()
	w.run(0, "", "topics")
}

func TestResizeStorm(t *testing.T) {
	w := newWorld(t)
	x := w.start(120, 40, "demo")
	x.wait(`orders`)
	for i := range 60 {
		cols, rows := 20+(i*37)%180, 5+(i*13)%60
		x.mu.Lock()
		x.emu.Resize(cols, rows)
		x.mu.Unlock()
		if err := pty.Setsize(x.file, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
			t.Fatal(err)
		}
		x.press("j")
	}
	x.mu.Lock()
	x.emu.Resize(100, 30)
	x.mu.Unlock()
	if err := pty.Setsize(x.file, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	x.press("\x0c")
	x.wait(`strata ▸ topics.*embedded`)
	x.press("q")
	if code := x.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// hostile are bytes that must not do to a terminal what they say.
var hostile = []string{
	"\x1b[2J\x1b[31mred", "\x1b]0;title\x07", "\x1b]52;c;aGVsbG8=\x07", "\x9b31m", "\xc2\x9b31m", "\xc2\x9d0;t\xc2\x9c", "a\rb\x08\x00\x07\x0b\x0c\x0e\x0f",
	"\u202egnp.exe", "\u200b\u200d\ufeff", "\xff\xfe\xed\xa0\x80", "\x1bP1$r\x1b\\", "日本語\t👩‍👩‍👧é́́́́́́", "\x7f\x85\u2028", strings.Repeat("x", 100_000),
}

func TestHostileBytesNeverReachTheTerminal(t *testing.T) {
	w := newWorld(t)
	w.run(0, "", "topic", "create", "hostile")
	for _, h := range hostile {
		if strings.ContainsRune(h, 0) {
			continue // no argument can hold it
		}
		w.run(0, "", "produce", "hostile", "-k", h[:min(len(h), 1000)], "-v", h, "-H", h[:min(len(h), 1000)]+"=1")
	}
	x := w.start(100, 30, "hostile/0@3")
	x.wait(`x9b31m`)
	for i := 2; i >= 0; i-- {
		x.press("v[")
		x.wait("▸ @" + strconv.Itoa(i) + ` `)
	}
	x.press("vvv")
	x.wait(`␛\[2J`)
	x.press("\x1b")
	x.wait(`BASE OFFSET`)
	x.press("r")
	x.wait(`OFFSET +TIME`)
	x.press("G")
	x.wait(`xxxxxxxx`)
	x.press("q")
	x.ends()
	x.clean()
	r := w.run(0, "", "read", "hostile", "--json")
	if i := strings.IndexFunc(r.out, func(r rune) bool { return r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e }); i >= 0 {
		t.Errorf("--json holds %q", r.out[i:min(i+8, len(r.out))])
	}
}
