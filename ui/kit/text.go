package kit

import "strings"

// maxText is how many bytes of a value a Text or a JSON shows; more is for a pager.
const maxText = 1 << 20

// Text shows a value as wrapped lines. Line feeds break lines; all else that is no text is escaped.
type Text struct {
	Scroller
	Theme *Theme

	raw   string
	width int    // that lines were wrapped for
	theme string // likewise
	lines []string
}

// SetText shows another value.
func (x *Text) SetText(s string) {
	x.raw, x.width = s, 0
	x.Home()
}

// View returns exactly h lines of w cells.
func (x *Text) View(w, h int) string {
	if w != x.width || x.theme != x.Theme.Name {
		x.wrap(w)
	}
	x.resize(h)
	out := make([]string, 0, h)
	for y := range int64(h) {
		line := ""
		if i := x.top + y; i < x.Len {
			line = x.lines[i]
		}
		out = append(out, Pad(line, w))
	}
	return strings.Join(out, "\n")
}

func (x *Text) wrap(w int) {
	x.width, x.theme, x.lines = w, x.Theme.Name, x.lines[:0]
	text := bound(x.raw, maxText)
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    ")
		spans := x.Theme.SafeSpans(Style{}, line, 0)
		x.lines = append(x.lines, wrapSpans(spans, w)...)
	}
	if n := len(x.raw) - len(text); n > 0 {
		x.lines = append(x.lines, x.Theme.Warn.Wrap("… "+BytesText(int64(n))+" more are not shown here"))
	}
	x.Len = int64(len(x.lines))
}

// wrapSpans breaks styled pieces into lines of at most w cells, letter by letter.
func wrapSpans(spans []Span, w int) []string {
	w = max(w, 2)
	var out []string
	var l Line
	for _, s := range spans {
		rest := s.Text
		for rest != "" {
			if l.w >= w {
				out = append(out, l.String())
				l.Reset()
			}
			near := bound(rest, 32*w+256) // more than w cells, or all: what is far must not be counted for each line
			head := near
			if l.w+Width(near) > w {
				head = cutRaw(near, w-l.w)
				if l.w > 0 && l.w+Width(head) > w {
					out = append(out, l.String())
					l.Reset()
					continue
				}
			}
			l.Add(s.Style, head)
			rest = rest[len(head):]
		}
	}
	return append(out, l.String())
}
