package kit

import (
	"encoding/json"
	"strconv"
	"strings"
)

// maxDepth is how deep a JSON value may nest to be shown folded and coloured; deeper ones are for Text.
const maxDepth = 200

// JSON shows a JSON value, a line for each of its parts: in the order in which they stand, numbers and strings as they
// were written, objects and lists foldable.
type JSON struct {
	VList

	lines  []jsonLine
	folded map[int]bool // by line
	rows   []jsonRow
	width  int    // that rows were laid out for
	theme  string // likewise
}

// jsonLine is one line of the value unfolded.
type jsonLine struct {
	depth int
	spans []jsonPart
	end   int // of an opening line: the line that closes it; else 0
	inner int // of an opening line: how many members
}

type jsonPart struct {
	kind byte // 'n'ame, 's'tring, 'd'igits, 'w'ord, 'p'unctuation
	text string
}

// jsonRow is what is drawn in one row: a line, or a continuation of it.
type jsonRow struct {
	line int
	text string
}

// SetJSON shows b. It reports false, and shows nothing, when b is no JSON object or list, is more than a mebibyte, or
// nests too deep.
func (x *JSON) SetJSON(b []byte) bool {
	x.lines, x.rows, x.folded, x.width = nil, nil, map[int]bool{}, 0
	x.Len, x.cursor, x.top = 0, 0, 0
	if len(b) == 0 || len(b) > maxText || !json.Valid(b) {
		return false
	}
	s := jsonScan{b: b}
	s.skip()
	if c := s.b[s.i]; c != '{' && c != '[' {
		return false
	}
	if !s.value(0, nil) {
		return false
	}
	x.lines = s.lines
	return true
}

// jsonScan walks over valid JSON.
type jsonScan struct {
	b     []byte
	i     int
	lines []jsonLine
}

func (s *jsonScan) skip() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\n' || s.b[s.i] == '\r') {
		s.i++
	}
}

// token returns the string, number or word at i.
func (s *jsonScan) token() jsonPart {
	from := s.i
	if s.b[s.i] == '"' {
		for s.i++; s.b[s.i] != '"'; s.i++ {
			if s.b[s.i] == '\\' {
				s.i++
			}
		}
		s.i++
		return jsonPart{'s', Safe(string(s.b[from:s.i]), 0)}
	}
	for s.i < len(s.b) && strings.IndexByte(",]} \t\r\n:", s.b[s.i]) < 0 {
		s.i++
	}
	kind := byte('d')
	if c := s.b[from]; c == 't' || c == 'f' || c == 'n' {
		kind = 'w'
	}
	return jsonPart{kind, string(s.b[from:s.i])}
}

// value adds the lines of the value at i; lead is what stands before it on its first line.
func (s *jsonScan) value(depth int, lead []jsonPart) bool {
	if depth > maxDepth {
		return false
	}
	s.skip()
	c := s.b[s.i]
	if c != '{' && c != '[' {
		s.lines = append(s.lines, jsonLine{depth: depth, spans: append(lead, s.token())})
		return true
	}
	first := len(s.lines)
	s.lines = append(s.lines, jsonLine{depth: depth, spans: append(lead, jsonPart{'p', string(c)})})
	s.i++
	n := 0
	for s.skip(); s.b[s.i] != '}' && s.b[s.i] != ']'; s.skip() {
		if s.b[s.i] == ',' {
			s.i++
			s.comma()
			continue
		}
		n++
		var name []jsonPart
		if c == '{' {
			name = []jsonPart{{'n', s.token().text}, {'p', ": "}}
			s.skip()
			s.i++ // the colon
		}
		if !s.value(depth+1, name) {
			return false
		}
	}
	closing := jsonPart{'p', string(s.b[s.i])}
	s.i++
	if n == 0 {
		s.lines[first].spans = append(s.lines[first].spans, closing)
		return true
	}
	s.lines[first].end, s.lines[first].inner = len(s.lines), n
	s.lines = append(s.lines, jsonLine{depth: depth, spans: []jsonPart{closing}})
	return true
}

// comma puts a comma behind the last line.
func (s *jsonScan) comma() {
	l := &s.lines[len(s.lines)-1]
	l.spans = append(l.spans, jsonPart{'p', ","})
}

// Fold folds what begins under the cursor, or unfolds it; on any other line it folds what the line is in.
func (x *JSON) Fold() {
	if x.cursor >= int64(len(x.rows)) {
		return
	}
	line := x.rows[x.cursor].line
	if x.lines[line].end == 0 {
		for line--; line > 0 && x.lines[line].end < x.rows[x.cursor].line; line-- {
		}
		line = max(line, 0)
	}
	x.folded[line] = !x.folded[line]
	x.rebuild(line)
}

// FoldAll folds all members of the outermost value, or unfolds everything when something is folded.
func (x *JSON) FoldAll() {
	any := false
	for _, f := range x.folded {
		any = any || f
	}
	x.folded = map[int]bool{}
	if !any {
		for i, l := range x.lines {
			if l.end > 0 && l.depth == 1 {
				x.folded[i] = true
			}
		}
	}
	x.rebuild(0)
}

// rebuild lays the rows out again and puts the cursor on a line.
func (x *JSON) rebuild(line int) {
	x.layout(x.width)
	for i, r := range x.rows {
		if r.line >= line {
			x.SetCursor(int64(i))
			return
		}
	}
}

func (x *JSON) layout(w int) {
	x.width, x.theme, x.rows = w, x.Theme.Name, x.rows[:0]
	for i := 0; i < len(x.lines); i++ {
		for _, text := range x.draw(i, w-Gutter) {
			x.rows = append(x.rows, jsonRow{i, text})
		}
		if x.folded[i] {
			i = x.lines[i].end
		}
	}
	x.Len = int64(len(x.rows))
	x.SetCursor(x.cursor)
}

func (x *JSON) draw(i, w int) []string {
	l, t := x.lines[i], x.Theme
	sign := "  "
	switch {
	case l.end > 0 && x.folded[i]:
		sign = t.Glyphs.Folded + " "
	case l.end > 0:
		sign = t.Glyphs.Unfolded + " "
	}
	indent := min(2*l.depth, max(0, w-12))
	spans := make([]Span, 0, len(l.spans)+2)
	for _, p := range l.spans {
		spans = append(spans, Span{p.text, x.look(p.kind)})
	}
	if x.folded[i] {
		end := x.lines[l.end]
		spans = append(spans, Span{" " + strconv.Itoa(l.inner) + " ", t.Dim})
		for _, p := range end.spans {
			spans = append(spans, Span{p.text, x.look(p.kind)})
		}
	}
	rows := wrapSpans(spans, w-indent-2)
	for n := range rows {
		if n == 0 {
			rows[n] = Blank(indent) + t.Dim.Wrap(sign) + rows[n]
		} else {
			rows[n] = Blank(indent+2) + rows[n]
		}
	}
	return rows
}

func (x *JSON) look(kind byte) Style {
	t := x.Theme
	switch kind {
	case 'n':
		return t.Field
	case 's':
		return t.Str
	case 'd':
		return t.Num
	case 'w':
		return t.Word
	}
	return t.Dim
}

// View returns exactly h lines of w cells.
func (x *JSON) View(w, h int) string {
	if w != x.width || x.theme != x.Theme.Name {
		line := 0
		if x.cursor < int64(len(x.rows)) {
			line = x.rows[x.cursor].line
		}
		x.width = w
		x.rebuild(line)
	}
	return x.VList.View(w, h, func(i int64) string { return x.rows[i].text })
}
