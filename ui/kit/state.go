package kit

import "strings"

// Empty fills h lines of w cells with what a page would show and the key that makes it so.
func Empty(t *Theme, w, h int, what, next string) string {
	return centred(w, h, append(wrapped(nil, what, "", w, Style{}), wrapped(nil, next, "", w, t.Dim)...))
}

// wrapped appends the lines of s for a page of w cells, each behind lead.
func wrapped(spans []Span, s, lead string, w int, style Style) []Span {
	for _, l := range Wrap(s, max(10, min(w-6, 90))) {
		spans = append(spans, Span{lead + l, style})
	}
	return spans
}

// Problem fills h lines of w cells with an error and what can be done next. Both are made safe here.
func Problem(t *Theme, w, h int, err, next string) string {
	spans := []Span{}
	for i, l := range Wrap(Safe(err, 2000), max(10, min(w-6, 90))) {
		sign := "  "
		if i == 0 {
			sign = t.Glyphs.Bad + " "
		}
		spans = append(spans, Span{sign + l, t.Bad})
	}
	return centred(w, h, wrapped(spans, Safe(next, 400), "  ", w, t.Dim))
}

// centred puts lines a third down, at the same left edge.
func centred(w, h int, lines []Span) string {
	if h <= 0 {
		return ""
	}
	widest := 0
	for _, l := range lines {
		widest = max(widest, Width(l.Text))
	}
	left := max(0, min(3, (w-widest)/2))
	if w-widest > 20 {
		left = 3
	}
	top := max(0, min(1, h-len(lines)))
	out := make([]string, h)
	for y := range out {
		var l Line
		if i := y - top; i >= 0 && i < len(lines) {
			l.Space(left).Add(lines[i].Style, Cut(lines[i].Text, w-left))
		}
		out[y] = l.Fit(w)
	}
	return strings.Join(out, "\n")
}

// Wrap breaks s, which must be safe and without escape sequences, into lines of at most w cells, at blanks where there
// are some.
func Wrap(s string, w int) []string {
	w = max(w, 2)
	var out []string
	for para := range strings.SplitSeq(s, "\n") {
		for Width(para) > w {
			head := cutRaw(para, w)
			if at := strings.LastIndexByte(head, ' '); at > 0 && !strings.HasPrefix(para[len(head):], " ") {
				head = head[:at]
			}
			out = append(out, strings.TrimRight(head, " "))
			para = strings.TrimLeft(para[len(head):], " ")
		}
		out = append(out, para)
	}
	return out
}
