package kit

// Span is a piece of text in one style. Text must be safe.
type Span struct {
	Text  string
	Style Style
}

// SpansWidth returns the cells that spans take.
func SpansWidth(spans []Span) int {
	n := 0
	for i := range spans {
		n += Width(spans[i].Text)
	}
	return n
}

// Line builds one line of the screen and counts its cells. The zero Line is empty; Reset makes it so again.
type Line struct {
	b []byte
	w int
}

// Add appends text, which must be safe, in a style.
func (l *Line) Add(s Style, text string) *Line {
	if text == "" {
		return l
	}
	l.b = append(append(append(l.b, s.On...), text...), s.Off...)
	l.w += Width(text)
	return l
}

// Text appends plain text, which must be safe but may be styled.
func (l *Line) Text(text string) *Line { return l.Add(Style{}, text) }

// Space appends n blanks.
func (l *Line) Space(n int) *Line {
	if n > 0 {
		l.b = append(l.b, Blank(n)...)
		l.w += n
	}
	return l
}

// Cell appends text in exactly w cells, at the right of them or at the left.
func (l *Line) Cell(s Style, text string, w int, right bool) *Line {
	text = Cut(text, w)
	pad := w - Width(text)
	if right {
		return l.Space(pad).Add(s, text)
	}
	return l.Add(s, text).Space(pad)
}

// Spans appends pieces, at most w cells of them.
func (l *Line) Spans(spans []Span, w int) *Line {
	for _, s := range spans {
		if w <= 0 {
			return l
		}
		text := Cut(s.Text, w)
		l.Add(s.Style, text)
		w -= Width(text)
		if len(text) != len(s.Text) {
			return l
		}
	}
	return l
}

// To pads up to cell w; it does nothing when the line is there already.
func (l *Line) To(w int) *Line { return l.Space(w - l.w) }

// Width returns the cells so far.
func (l *Line) Width() int { return l.w }

// Reset empties the line and keeps its memory.
func (l *Line) Reset() { l.b, l.w = l.b[:0], 0 }

// String returns the line.
func (l *Line) String() string { return string(l.b) }

// Fit returns the line in exactly w cells.
func (l *Line) Fit(w int) string {
	if l.w > w {
		return Pad(string(l.b), w)
	}
	return l.To(w).String()
}

// SafeSpans escapes the first limit bytes of s (0: all) into spans: what is literal in the style, what was escaped in
// the theme's Escape style, so that an escaped byte and the letters \x9b differ.
func (t *Theme) SafeSpans(style Style, s string, limit int) []Span {
	s = bound(s, limit)
	if plain(s) || clean(s) {
		return []Span{{s, style}}
	}
	var cuts []int
	b := appendSafe(make([]byte, 0, len(s)+32), s, func(from, to int) {
		if n := len(cuts); n > 0 && cuts[n-1] == from {
			cuts[n-1] = to
			return
		}
		cuts = append(cuts, from, to)
	})
	text, at := string(b), 0
	spans := make([]Span, 0, len(cuts)+1)
	for i := 0; i < len(cuts); i += 2 {
		if cuts[i] > at {
			spans = append(spans, Span{text[at:cuts[i]], style})
		}
		spans = append(spans, Span{text[cuts[i]:cuts[i+1]], t.Escape})
		at = cuts[i+1]
	}
	if at < len(text) {
		spans = append(spans, Span{text[at:], style})
	}
	return spans
}
