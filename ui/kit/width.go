package kit

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// blanks is cut for padding; longer pads are repeated.
const blanks = "                                                                                                                                "

// Width returns how many cells s takes; escape sequences take none.
func Width(s string) int {
	if plain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// Cut returns s in at most w cells; if something is left off, the last cell is an ellipsis. s may be styled.
func Cut(s string, w int) string {
	switch {
	case w <= 0:
		return ""
	case len(s) <= w && plain(s):
		return s
	case plain(s):
		return s[:w-1] + "…"
	case ansi.StringWidth(s) <= w:
		return s
	}
	return ansi.Truncate(s, w, "…")
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
