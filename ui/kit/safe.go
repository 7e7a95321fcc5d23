package kit

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks one base may carry; more of them spill over the rows above and below.
const maxMarks = 4

// Safe returns at most limit bytes of s as text that holds no control byte, no invisible letter and nothing that moves
// a cursor: control bytes as their pictures (␛ ␊ ␉), what is no UTF-8 as \x9b, what cannot be seen as \u{202e}. limit 0
// means all of s. Plain text comes back as it is, uncopied.
func Safe(s string, limit int) string {
	s = bound(s, limit)
	if plain(s) || clean(s) {
		return s
	}
	return string(appendSafe(make([]byte, 0, len(s)+32), s, nil))
}

// CellLimit is how many bytes of a value are enough to fill w cells.
func CellLimit(w int) int { return 4*w + 64 }

// bound cuts s to limit bytes, back to the start of a rune.
func bound(s string, limit int) string {
	if limit <= 0 || len(s) <= limit {
		return s
	}
	cut := limit
	for i := 0; i < utf8.UTFMax-1 && cut > 0 && !utf8.RuneStart(s[cut]); i++ {
		cut--
	}
	if !utf8.RuneStart(s[cut]) {
		cut = limit
	}
	return s[:cut]
}

func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

// clean reports whether s is made of letters that stand for themselves.
func clean(s string) bool {
	for _, r := range s {
		if (r < 0x20 || r > 0x7e) && quickRune(r) == 0 {
			return false
		}
	}
	return true
}

// appendSafe appends s escaped to dst. escaped, if not nil, is told of each run of dst that is no literal text.
func appendSafe(dst []byte, s string, escaped func(from, to int)) []byte {
	marks := maxMarks // nothing to stand on yet
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f {
			dst, marks = append(dst, c), 0
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		from := len(dst)
		switch {
		case quickRune(r) > 0:
			dst, marks = append(dst, s[i:i+n]...), 0
			i += n
			continue
		case c < 0x20:
			dst = utf8.AppendRune(dst, 0x2400+rune(c))
		case c == 0x7f:
			dst = append(dst, "␡"...)
		case r == utf8.RuneError && n == 1:
			dst = append(dst, '\\', 'x')
			dst = append(dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		case unicode.IsMark(r) && !unseen(r) && marks < maxMarks:
			marks++
			dst = append(dst, s[i:i+n]...)
			i += n
			continue
		case unicode.IsMark(r) || unseen(r):
			dst = append(dst, `\u{`...)
			dst = strconv.AppendInt(dst, int64(r), 16)
			dst = append(dst, '}')
		default:
			dst, marks = append(dst, s[i:i+n]...), 0
			i += n
			continue
		}
		if escaped != nil {
			escaped(from, len(dst))
		}
		marks = maxMarks // a mark after an escape has no base of its own
		i += n
	}
	return dst
}

// unseen reports whether r must not reach a terminal: it is not graphic, changes its neighbours' look or direction, or
// is a blank of unusual width.
func unseen(r rune) bool {
	switch {
	case r == 0xA0 || r == 0x3000:
		return false
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0000 && r <= 0xE0FFF: // variation selectors, tags
		return true
	case r >= 0x1F3FB && r <= 0x1F3FF: // skin tones: terminals disagree on whether they take cells of their own
		return true
	case r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x034F, r == 0x20E3: // fillers, joiner, keycap
		return true
	case r >= 0x180B && r <= 0x180F, r >= 0x17B4 && r <= 0x17B5, r >= 0xFFF0 && r <= 0xFFFB:
		return true
	}
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) && r != ' '
}
