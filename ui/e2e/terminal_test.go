//go:build linux || darwin

package e2e

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/strata-kafka/strata/ui/termtest"
)

// terminal is the program in a terminal.
type terminal struct {
	*termtest.Terminal
	t *testing.T
}

// start runs the program in a terminal of a size.
func (w *world) start(cols, rows int, args ...string) *terminal {
	w.t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Dir = w.env(), w.home
	return &terminal{termtest.Start(w.t, cmd, cols, rows), w.t}
}

// ends waits for the end of the program, and checks that the terminal is as it was.
func (x *terminal) ends() int {
	x.t.Helper()
	code := x.End()
	x.Restored()
	return code
}

// sequences are the control sequences that the program itself uses: styles, cursor, erasing, modes.
var sequences = regexp.MustCompile(`^\x1b(\[[0-9;:]*[mABCDEFGHJKLMPSTXdfr]|\[\?[0-9;]+[hl]|\[[0-9]* q|\[>[0-9;]*[a-z]|[78=>]|\(B)`)

// clean checks that nothing reached the terminal but text and the program's own sequences.
func (x *terminal) clean() {
	x.t.Helper()
	b := x.Raw()
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
	x.Wait(`orders +3 +[\d,]+`)
	x.Wait(`clicks .* \d+/s`)
	x.Type("/orders\r")
	x.Wait(`1 of 5`)
	x.Type("\r")
	x.Wait(`strata ▸ orders`)
	x.Type("\r")
	x.Wait(`log start`)
	x.Type("\r")
	x.Wait(`zstd`)
	x.Type("?")
	x.Wait(`help and all keys`)
	x.Type("\x1b")
	x.Wait(`batch 1 of`)
	x.Until(func() bool { return !strings.Contains(x.Screen(), "help and all keys") }, "help stays")
	x.Type("q")
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
			x.Wait(`orders`)
			if err := x.Cmd.Process.Signal(sig); err != nil {
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
	x.Wait(`no topic`)
	x.Type("c")
	x.Wait(`▸ create|▸ new topic`)
	x.Type("\x1b")
	x.Wait(`there are no topics here`)
	x.Type("q")
	x.ends()
	w.run(0, "", "topics")
}

func TestResizeStorm(t *testing.T) {
	w := newWorld(t)
	x := w.start(120, 40, "demo")
	x.Wait(`orders`)
	for i := range 60 {
		x.Resize(20+(i*37)%180, 5+(i*13)%60)
		x.Type("j")
	}
	x.Resize(100, 30)
	x.Type("\x0c")
	x.Wait(`strata ▸ topics.*embedded`)
	x.Type("q")
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
	x.Wait(`x9b31m`)
	for i := 2; i >= 0; i-- {
		x.Type("v[")
		x.Wait("▸ @" + strconv.Itoa(i) + ` `)
	}
	x.Type("vvv")
	x.Wait(`␛\[2J`)
	x.Type("\x1b")
	x.Wait(`BASE OFFSET`)
	x.Type("r")
	x.Wait(`OFFSET +TIME`)
	x.Type("G")
	x.Wait(`xxxxxxxx`)
	x.Type("q")
	x.ends()
	x.clean()
	r := w.run(0, "", "read", "hostile", "--json")
	if i := strings.IndexFunc(r.out, func(r rune) bool { return r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e }); i >= 0 {
		t.Errorf("--json holds %q", r.out[i:min(i+8, len(r.out))])
	}
}
