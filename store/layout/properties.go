package layout

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Property is a key and a value of a properties file.
type Property struct {
	Key, Value string
	Line       int // where it begins, from 1
}

// ParseProperties reads a file in the syntax of Java's properties: # and ! begin comments, the key ends at =, : or
// blank, a backslash escapes and, at a line's end, goes on with the next. Keys may come twice; the last one counts.
// Bytes that are no UTF-8 are taken for Latin-1. With an error, which is a *FormatError and the first of them, come the
// properties of the other lines.
func ParseProperties(b []byte) ([]Property, error) {
	text := string(b)
	if !utf8.ValidString(text) {
		text = latin1(b)
	}
	lines := strings.Split(lineEnds.Replace(text), "\n")
	var props []Property
	var first error
	for i := 0; i < len(lines); i++ {
		n := i + 1
		line := unindent(lines[i])
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		var whole strings.Builder
		for continued(line) {
			whole.WriteString(line[:len(line)-1])
			line = ""
			if i++; i < len(lines) {
				line = unindent(lines[i])
			}
		}
		whole.WriteString(line)
		key, value := splitProperty(whole.String())
		k, err := unescape(key, n)
		v, verr := unescape(value, n)
		if err == nil {
			err = verr
		}
		switch {
		case err == nil:
			props = append(props, Property{k, v, n})
		case first == nil:
			first = err
		}
	}
	return props, first
}

// lineEnds makes every kind of line end the same.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// AppendProperties appends the properties, a line each, escaped so that ParseProperties reads them back. Line is not
// looked at.
func AppendProperties(dst []byte, props []Property) []byte {
	for _, p := range props {
		dst = append(escape(dst, p.Key, true), '=')
		dst = append(escape(dst, p.Value, false), '\n')
	}
	return dst
}

// property returns the value that counts for a key.
func property(props []Property, key string) (p Property, ok bool) {
	for _, q := range props {
		if q.Key == key {
			p, ok = q, true
		}
	}
	return p, ok
}

func latin1(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return s.String()
}

func unindent(line string) string { return strings.TrimLeft(line, " \t\f") }

// continued reports whether a line ends in an odd number of backslashes.
func continued(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// splitProperty cuts a line behind its key: at the first =, : or blank that is not escaped.
func splitProperty(line string) (key, value string) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
			continue
		}
		if strings.IndexByte("=: \t\f", line[i]) >= 0 {
			end = i
			break
		}
	}
	value = unindent(line[end:])
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = unindent(value[1:])
	}
	return line[:end], value
}

func unescape(s string, line int) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out.WriteByte(s[i])
			continue
		}
		if i++; i >= len(s) {
			break
		}
		switch s[i] {
		case 't':
			out.WriteByte('\t')
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 'f':
			out.WriteByte('\f')
		case 'u':
			r, used := unicodeEscapes(s[i+1:])
			if used == 0 {
				return "", badLine(line, `%s: \u wants four hex digits`, short(s))
			}
			out.WriteRune(r)
			i += used
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String(), nil
}

// unicodeEscapes reads the four digits behind a \u, and a second \u escape where the two are halves of one rune. It
// returns how many bytes that took; 0 where there are no four digits.
func unicodeEscapes(s string) (r rune, used int) {
	hex4 := func(s string) (rune, bool) {
		if len(s) < 4 {
			return 0, false
		}
		n, err := strconv.ParseUint(s[:4], 16, 16)
		return rune(n), err == nil
	}
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) && len(s) >= 10 && s[4:6] == `\u` {
		if low, ok := hex4(s[6:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, 10
			}
		}
	}
	return r, 4 // half a rune alone becomes the replacement character
}

func escape(dst []byte, s string, key bool) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\\', '=', ':', '#', '!':
			dst = append(dst, '\\', c)
		case ' ':
			if key || i == 0 {
				dst = append(dst, '\\')
			}
			dst = append(dst, ' ')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
