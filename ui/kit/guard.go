package kit

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Guard is the last look at a line that was drawn: colours pass, everything else that a terminal would obey is escaped
// as Safe does. It is there for what was forgotten to be made Safe, not instead of that.
func Guard(line string) string {
	if _, ok := quickWidth(line); ok {
		return line
	}
	b := make([]byte, 0, len(line)+16)
	for i := 0; i < len(line); {
		if n := colourAt(line[i:]); n > 0 {
			b = append(b, line[i:i+n]...)
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		switch {
		case r < 0x20:
			b = utf8.AppendRune(b, 0x2400+r)
		case r == 0x7f:
			b = append(b, "␡"...)
		case r == utf8.RuneError && n == 1:
			b = append(append(b, `\x`...), strconv.FormatUint(uint64(line[i]), 16)...)
		case unseen(r):
			b = append(append(append(b, `\u{`...), strconv.FormatInt(int64(r), 16)...), '}')
		default:
			b = append(b, line[i:i+n]...)
		}
		i += n
	}
	return string(b)
}

// The terminal's automatic margins: with them off, what is too wide ends at the edge instead of on the next line.
const (
	marginOff = "\x1b[?7l"
	marginOn  = "\x1b[?7h"
)

// OneLine keeps a whole line of the screen on its line where terminals disagree on how wide its letters are (skin tones,
// joined letters of Indic scripts, vowel signs): what a terminal takes for wider is cut off at the edge, and shears
// nothing but its own line.
func OneLine(line string) string {
	if _, ok := quickWidth(line); ok {
		return line
	}
	return marginOff + line + marginOn
}

// colourAt returns the length of the colour sequence that s begins with, 0 for none.
func colourAt(s string) int {
	if len(s) < 3 || s[0] != 0x1b || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// ToASCII turns the signs that pages draw with into ASCII of the same width. Letters of the data that are no ASCII stay.
func ToASCII(line string) string {
	if !strings.ContainsFunc(line, func(r rune) bool { return r > 0x7e }) {
		return line
	}
	return strings.Map(asciiSign, line)
}

func asciiSign(r rune) rune {
	switch r {
	case '·', '•':
		return '.'
	case '…', '≈':
		return '~'
	case '×', '✗':
		return 'x'
	case '–', '─', '▔', '▁', '‑', '—':
		return '-'
	case '│', '┃':
		return '|'
	case '→', '▸', '›', '▶':
		return '>'
	case '←', '◂', '‹', '◀':
		return '<'
	case '↑', '▲':
		return '^'
	case '↓', '▼', '▾', '✓':
		return 'v'
	case '█', '▓':
		return '#'
	case '▒':
		return '='
	case '░':
		return '.'
	case '▌', '▐':
		return '|'
	case '●':
		return '*'
	case '○':
		return 'o'
	case '∅':
		return '0'
	case 'µ':
		return 'u'
	case '⏸':
		return '"'
	}
	if r >= 0x2400 && r <= 0x2421 {
		return '?'
	}
	return r
}
