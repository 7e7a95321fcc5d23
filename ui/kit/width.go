package kit

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// blanks is cut for padding; longer pads are repeated.
const blanks = "                                                                                                                                "

// ambiguousWide says that this terminal's letters of ambiguous width, such as lines and blocks, take two cells
// (RUNEWIDTH_EASTASIAN=1). The width function of the renderer reads that once, and so does this.
var ambiguousWide = ansi.StringWidth("─") > 1

// ellipsis returns the sign for what is left off; it takes one cell.
func ellipsis() string {
	if ambiguousWide {
		return "~"
	}
	return "…"
}

// Width returns how many cells s takes; escape sequences take none.
func Width(s string) int {
	if n, ok := quickWidth(s); ok {
		return n
	}
	return ansi.StringWidth(s)
}

// quickWidth counts what the frames are made of without looking for grapheme clusters: ASCII, colours, and letters that
// neither join with their neighbours nor change their width. ok is false when s holds anything else.
func quickWidth(s string) (n int, ok bool) {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= 0x20 && c < 0x7f:
			n++
			i++
			continue
		case c == 0x1b && i+1 < len(s) && s[i+1] == '[':
			end := i + 2
			for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == ';') {
				end++
			}
			if end == len(s) || s[end] != 'm' {
				return 0, false
			}
			i = end + 1
			continue
		case c < 0x80:
			return 0, false
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		w := quickRune(r)
		if w == 0 {
			return 0, false
		}
		n, i = n+w, i+size
	}
	return n, true
}

// quickRune returns the cells of a letter that stands for itself, 0 for one that may not.
func quickRune(r rune) int {
	switch {
	case ambiguousWide && r < 0x3000:
		return 0
	case r >= 0xA1 && r <= 0x2FF && r != 0xA9 && r != 0xAD && r != 0xAE, r >= 0x391 && r <= 0x3C9 && r != 0x3A2, r >= 0x410 && r <= 0x44F:
		return 1
	case r >= 0x2010 && r <= 0x2026, r >= 0x2500 && r <= 0x25A9, r >= 0x2800 && r <= 0x28FF, r >= 0x2400 && r <= 0x2426:
		return 1
	case r == '∅', r == '≈', r == '→', r == '✓', r == '✗', r == '●', r == '○', r == '▲', r == '▼', r == '▸', r == '▾', r == '◂', r == '◀':
		return 1
	case r >= 0x3041 && r <= 0x3096, r >= 0x30A1 && r <= 0x30FA, r >= 0x4E00 && r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7A3:
		return 2
	}
	return 0
}

// Cut returns s in at most w cells; if something is left off, the last cell is an ellipsis. s may be styled.
func Cut(s string, w int) string {
	switch {
	case w <= 0:
		return ""
	case len(s) <= w && plain(s):
		return s
	case plain(s):
		return s[:w-1] + ellipsis()
	case Width(s) <= w:
		return s
	}
	return ansi.Truncate(s, w, ellipsis())
}

// Pad returns s in exactly w cells: cut, or filled with blanks at its right.
func Pad(s string, w int) string {
	n := Width(s)
	if n > w {
		s = Cut(s, w)
		n = Width(s)
	}
	return s + Blank(w-n)
}

// PadLeft returns s in exactly w cells: cut, or filled with blanks at its left.
func PadLeft(s string, w int) string {
	s = Cut(s, w)
	return Blank(w-Width(s)) + s
}

// Blank returns n blanks; none when n is negative.
func Blank(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blanks):
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// Block returns s as exactly h lines of exactly w cells.
func Block(s string, w, h int) string {
	if h <= 0 {
		return ""
	}
	lines := strings.Split(s, "\n")
	var b strings.Builder
	for i := range h {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i < len(lines) {
			b.WriteString(Pad(lines[i], w))
		} else {
			b.WriteString(Blank(w))
		}
	}
	return b.String()
}

// cutRaw returns the longest front of s that fits into w cells, at least one letter of it. s must be safe and unstyled.
func cutRaw(s string, w int) string {
	if plain(s) {
		return s[:min(len(s), max(w, 1))]
	}
	head := ansi.Truncate(s, w, "")
	if head != "" {
		return head
	}
	first, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return first
}
