package kit

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestGuard(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"drawn":        {"\x1b[38;2;1;2;3morders\x1b[39m ▌ 注文", "\x1b[38;2;1;2;3morders\x1b[39m ▌ 注文"},
		"erase":        {"a\x1b[2Jb", "a␛[2Jb"},
		"clipboard":    {"\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"},
		"C1":           {"\u009b2J", `\u{9b}2J`},
		"raw C1":       {"\x9b2J", `\x9b2J`},
		"bidi":         {"\u202e", `\u{202e}`},
		"tab":          {"a\tb\r", "a␉b␍"},
		"open colour":  {"\x1b[38;2", "␛[38;2"},
		"key mode":     {"\x1b[>4;2m", "␛[>4;2m"},
		"private mode": {"\x1b[?25l", "␛[?25l"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Guard(tc.in); got != tc.want {
				t.Errorf("Guard(%q) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
	for _, s := range hostile() {
		if got := ansi.Strip(Guard(s)); strings.ContainsAny(got, "\x1b\x07\r\n\t\u009b\u202e") {
			t.Errorf("Guard(%q) leaves %q", s, got)
		}
	}
}

func TestToASCIIKeepsTheWidth(t *testing.T) {
	g := unicodeGlyphs()
	all := []string{g.Cursor, g.Mark, g.Unmark, g.Rule, g.VRule, g.Sep, g.Ellipsis, g.Up, g.Down, g.Left, g.Right, g.To, g.Good, g.Bad, g.Null, g.None, g.About, g.Peg, g.TopEdge, g.BottomEdge, "·", "×", "␛"}
	for _, s := range append(all, g.Shade...) {
		got := ToASCII(s)
		if !plain(got) || Width(got) != Width(s) {
			t.Errorf("%q becomes %q", s, got)
		}
	}
	if got := ToASCII("注文 é"); got != "注文 é" {
		t.Errorf("data becomes %q", got)
	}
}
