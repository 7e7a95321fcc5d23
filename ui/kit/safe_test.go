package kit

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// hostile are strings that a terminal would obey, hide or shear its columns by.
func hostile() []string {
	return []string{
		"\x1b[31mred\x1b[m", "\x1b[2J", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "\x1b]52;c;aGk=\x07", "\x1bP$q\x1b\\",
		"\x1b_apc\x1b\\", "\x1b^pm\x1b\\", "\x1bXsos\x1b\\", "\x9b31m", "\u009b31m", "\u009d0;t\u009c", "\x1b[31", "\x1b", "a\x00b", "over\rwrite",
		"a\bb", "a\vb\fc", "\x0e\x0f", "\x07", "\x7f", "\u0085", "\u202eevil", "\u2066x\u2069", "\u200e\u200f\u061c", "a\u200bb", "\u200c", "👨\u200d👩\u200d👧",
		"\u2060", "\ufeffbom", "so\u00adft", "\u3164", "\uffa0", "\u115f\u1160", "\u034f", "❤\ufe0f", "1\ufe0f\u20e3", "1\u20e3", "\U000e0041", "\u2028\u2029",
		"\ufff9\ufffb", "\ue000", "\uffff", "\xff\xfe", "\xed\xa0\x80", "\xc0\x9b", "z\u0300\u0301\u0302\u0303\u0304\u0305\u0306", "\u0300a", "\u180e",
		"\u2000\u2003\u205f", "注文トピック", "한국어", "🚀🇯🇵", "नमस्ते", "สวัสดี", "مرحبا", "\tx\n", strings.Repeat("\u0301", 50),
	}
}

func TestSafe(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"plain":         {"orders/2", "orders/2"},
		"escape":        {"\x1b[31m", "␛[31m"},
		"line feed":     {"a\nb\tc", "a␊b␉c"},
		"delete":        {"\x7f", "␡"},
		"C1":            {"\u009b1m", `\u{9b}1m`},
		"invalid":       {"a\xffb", `a\xffb`},
		"bidi":          {"\u202ex", `\u{202e}x`},
		"four marks":    {"e\u0301\u0302\u0303\u0304\u0305", "e\u0301\u0302\u0303\u0304" + `\u{305}`},
		"mark alone":    {"\u0301", `\u{301}`},
		"mark after ␛":  {"\x1b\u0301", `␛\u{301}`},
		"kept":          {"注文 é 🚀 a\u00a0b", "注文 é 🚀 a\u00a0b"},
		"wide blank":    {"a\u2003b", `a\u{2003}b`},
		"nothing":       {"", ""},
		"null is a nul": {"\x00", "␀"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Safe(tc.in, 0); got != tc.want {
				t.Errorf("Safe(%q) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
	if got := Safe("注文注文", 7); got != "注文" {
		t.Errorf("bounded within a letter: %q", got)
	}
	if got := Safe(strings.Repeat("x", 100), 10); len(got) != 10 {
		t.Errorf("bounded to %d bytes", len(got))
	}
}

// emulated returns in which column a terminal's cursor is after s, and what is on its lines.
func emulated(s string) (column int, text string) {
	e := vt.NewEmulator(4*len(s)+40, 3)
	_, _ = e.WriteString(s)
	return e.CursorPosition().X, e.String()
}

func checkSafe(t *testing.T, in string) {
	t.Helper()
	out := Safe(in, 0)
	if !utf8.ValidString(out) {
		t.Fatalf("Safe(%q) = %q: no UTF-8", in, out)
	}
	for _, r := range out {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || unseen(r) {
			t.Fatalf("Safe(%q) = %q: holds %U", in, out, r)
		}
	}
	if ansi.Strip(out) != out {
		t.Fatalf("Safe(%q) = %q: holds a sequence", in, out)
	}
	want := Width(out)
	if got, _ := emulated(out); got != want {
		t.Fatalf("Safe(%q) = %q: Width says %d cells, a terminal %d", in, out, want, got)
	}
	joined := ""
	theme, _ := NewTheme("dark", false)
	for _, s := range theme.SafeSpans(Style{}, in, 0) {
		joined += s.Text
	}
	if joined != out {
		t.Fatalf("spans of %q are %q, not %q", in, joined, out)
	}
}

func TestSafeAgainstHostileText(t *testing.T) {
	for _, s := range hostile() {
		checkSafe(t, s)
		checkSafe(t, "a"+s+s+"b")
	}
}

func FuzzSafe(f *testing.F) {
	for _, s := range hostile() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 2000 {
			return
		}
		checkSafe(t, s)
		for _, w := range []int{1, 7, 20} {
			if got := Width(Pad(Safe(s, CellLimit(w)), w)); got != w {
				t.Fatalf("Pad of Safe(%q) to %d takes %d cells", s, w, got)
			}
		}
	})
}

func BenchmarkSafe(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":  strings.Repeat("the quick brown fox ", 12),
		"cjk":    strings.Repeat("注文", 40),
		"binary": strings.Repeat("\x00\x01\xff\x1b", 60),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Safe(s, 0)
			}
		})
	}
}
