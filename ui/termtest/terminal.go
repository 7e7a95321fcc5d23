//go:build linux || darwin

package termtest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// Terminal is a program in a terminal, and what it shows.
type Terminal struct {
	Cmd *exec.Cmd

	t    *testing.T
	file *os.File
	done chan error // the program's end; capacity 1

	hangUp atomic.Bool
	slow   atomic.Int64 // bytes that are read at once; 0: all

	mu  sync.Mutex
	emu *vt.Emulator
	raw bytes.Buffer
}

// Start runs a program in a terminal of a size. It is killed when the test ends.
func Start(t *testing.T, cmd *exec.Cmd, cols, rows int) *Terminal {
	t.Helper()
	x := &Terminal{Cmd: cmd, t: t, emu: vt.NewEmulator(cols, rows), done: make(chan error, 1)}
	var err error
	if x.file, err = pty.StartWithSize(cmd, size(cols, rows)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(x.file, x.emu) }() // the terminal's answers; ends when the terminal is closed
	go x.show()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = x.file.Close()
	})
	return x
}

func size(cols, rows int) *pty.Winsize { return &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)} }

// show feeds the emulator until the program has ended or the terminal was closed.
func (x *Terminal) show() {
	b := make([]byte, 32<<10)
	for {
		part := b
		if n := x.slow.Load(); n > 0 {
			<-time.After(slowEvery)
			part = b[:n]
		}
		n, err := x.file.Read(part)
		x.mu.Lock()
		x.raw.Write(part[:n])
		_, _ = x.emu.Write(part[:n])
		x.mu.Unlock()
		gone := x.hangUp.Load()
		if gone {
			_ = x.file.Close()
		}
		if err != nil || gone { // EIO when the program has ended
			x.done <- x.Cmd.Wait()
			return
		}
	}
}

// slowEvery is how often a slow terminal takes something.
const slowEvery = 50 * time.Millisecond

// Slow makes the terminal take so many bytes every 50 ms; 0 makes it as fast as it can be again.
func (x *Terminal) Slow(bytes int64) { x.slow.Store(bytes) }

// HangUp closes the terminal once it has taken what comes next.
func (x *Terminal) HangUp() { x.hangUp.Store(true) }

// Screen returns what is on the screen.
func (x *Terminal) Screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.emu.String()
}

// Raw returns all bytes that the program has written.
func (x *Terminal) Raw() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.raw.String()
}

// AltScreen reports whether the program is on the alternate screen.
func (x *Terminal) AltScreen() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.emu.IsAltScreen()
}

// Wait waits until the screen matches a regular expression.
func (x *Terminal) Wait(re string) {
	x.t.Helper()
	want := regexp.MustCompile(re)
	x.Until(func() bool { return want.MatchString(x.Screen()) }, "no "+re+" on the screen")
}

// Until waits until ok; what says what was waited for in vain.
func (x *Terminal) Until(ok func() bool, what string) {
	x.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			x.t.Fatalf("%s:\n%s", what, x.Screen())
		case <-tick.C:
		}
	}
}

// Type types keys, in one piece.
func (x *Terminal) Type(keys string) {
	x.t.Helper()
	if _, err := x.file.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// Resize makes the terminal another size.
func (x *Terminal) Resize(cols, rows int) {
	x.t.Helper()
	x.mu.Lock()
	x.emu.Resize(cols, rows)
	x.mu.Unlock()
	if err := pty.Setsize(x.file, size(cols, rows)); err != nil {
		x.t.Fatal(err)
	}
}

// End waits for the program's end and returns its exit code.
func (x *Terminal) End() int {
	x.t.Helper()
	select {
	case err := <-x.done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			x.t.Fatal(err)
		}
	case <-time.After(patience):
		x.t.Fatalf("it does not end:\n%s", x.Screen())
	}
	return x.Cmd.ProcessState.ExitCode()
}

// Restored fails unless the terminal is as it was: main screen, cursor shown, mouse and paste modes off.
func (x *Terminal) Restored() {
	x.t.Helper()
	if x.AltScreen() {
		x.t.Error("the alternate screen was not left")
	}
	out := x.Raw()
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
