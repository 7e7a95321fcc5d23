package kit

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestQuickWidthAgreesWithTheRenderer(t *testing.T) {
	for r := rune(0x20); r < 0x20000; r++ {
		w := quickRune(r)
		if w == 0 {
			continue
		}
		s := string(r)
		if want := ansi.StringWidth(s); want != w {
			t.Errorf("%U %s: %d, the renderer says %d", r, s, w, want)
		}
		if pair := "a" + s + s + "한"; ansi.StringWidth(pair) != 1+2*w+2 {
			t.Errorf("%U joins with its neighbours", r)
		}
	}
	for _, s := range []string{"", "plain", "\x1b[38;2;1;2;3mcolour\x1b[39m", "e\u0301", "🚀", "🇯🇵", "👨‍👩‍👧", "a\x1b[2Kb", "नमस्ते", "─▌●"} {
		if got, want := Width(s), ansi.StringWidth(s); got != want {
			t.Errorf("%q: %d, the renderer says %d", s, got, want)
		}
	}
}

func TestCutAndPad(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		w    int
		want string
	}{
		"short":          {"ab", 4, "ab  "},
		"exact":          {"abcd", 4, "abcd"},
		"long":           {"abcdef", 4, "abc…"},
		"wide":           {"注文注文", 5, "注文…"},
		"half of a wide": {"注文", 3, "注…"},
		"nothing":        {"abc", 0, ""},
		"negative":       {"abc", -3, ""},
		"one":            {"abc", 1, "…"},
		"styled":         {"\x1b[1mabcdef\x1b[22m", 4, "\x1b[1mabc…\x1b[22m"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Pad(tc.in, tc.w); got != tc.want {
				t.Errorf("Pad(%q, %d) = %q, want %q", tc.in, tc.w, got, tc.want)
			}
		})
	}
	if got := PadLeft("12", 5); got != "   12" {
		t.Errorf("PadLeft: %q", got)
	}
	if got := Block("a\nbb\nccc", 2, 2); got != "a \nbb" {
		t.Errorf("Block: %q", got)
	}
	if got := strings.Join(Wrap("the quick brown fox jumps", 10), "|"); got != "the quick|brown fox|jumps" {
		t.Errorf("Wrap: %q", got)
	}
	if got := strings.Join(Wrap("注文注文注文", 5), "|"); got != "注文|注文|注文" {
		t.Errorf("Wrap: %q", got)
	}
}
