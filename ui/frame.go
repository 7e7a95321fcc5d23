package ui

import (
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// layout returns on which line the body begins, how many lines it has, and how many lines follow it. Low screens give up
// the rule, then the keys, then the breadcrumb, then the status line.
func (r *root) layout() (top, body, below int) {
	switch {
	case r.h >= 8:
		return 2, r.h - 4, 2
	case r.h >= 6:
		return 1, r.h - 3, 2
	case r.h >= 4:
		return 1, r.h - 2, 1
	case r.h >= 2:
		return 0, r.h - 1, 1
	}
	return 0, r.h, 0
}

// draw returns the whole frame: exactly h lines of exactly w cells.
func (r *root) draw() string {
	top, body, below := r.layout()
	lines := r.lines[:0]
	if top > 0 {
		lines = append(lines, r.breadcrumb())
	}
	if top > 1 {
		lines = append(lines, r.theme.Rule.Wrap(strings.Repeat(r.theme.Glyphs.Rule, r.w)))
	}
	lines = append(lines, r.body(body)...)
	if below > 1 {
		lines = append(lines, r.keysLine())
	}
	if below > 0 {
		lines = append(lines, r.statusLine())
	}
	if r.opts.ASCII {
		for i := range lines {
			lines[i] = kit.ToASCII(lines[i])
		}
	}
	r.lines = lines
	return strings.Join(lines, "\n")
}

// body returns the page's lines, with the overlay over them.
func (r *root) body(h int) []string {
	lines := make([]string, h)
	if full, ok := r.overlay.(fullOverlay); ok {
		return r.fill(lines, full.full(r, r.w, h))
	}
	lines = r.fill(lines, r.top().page.View(r.w, h))
	if sheet, ok := r.overlay.(sheetOverlay); ok {
		over := sheet.sheet(r, r.w, max(1, h-1))
		rule := r.theme.Accent.Wrap(strings.Repeat(r.theme.Glyphs.Rule, r.w))
		over = append([]string{rule}, over...)
		if len(over) > h {
			over = over[len(over)-h:]
		}
		for i, l := range over {
			lines[h-len(over)+i] = kit.OneLine(kit.Pad(kit.Guard(l), r.w))
		}
	}
	return lines
}

// fill copies the lines of a view, guarded, cut and padded.
func (r *root) fill(lines []string, view string) []string {
	for i := range lines {
		line, rest, _ := strings.Cut(view, "\n")
		lines[i], view = kit.OneLine(kit.Pad(kit.Guard(line), r.w)), rest
	}
	return lines
}

// breadcrumb draws the address, and at its right the source.
func (r *root) breadcrumb() string {
	t := r.theme
	right := r.sourceState()
	rw := spansWidth(right)
	if rw > r.w*2/3 {
		right = right[:min(2, len(right))]
		rw = spansWidth(right)
	}
	if rw > r.w/2 && r.w < 60 {
		right, rw = nil, 0
	}
	crumbs := r.crumbs(r.top())
	room := r.w - rw - 3
	var l kit.Line
	l.Space(1).Add(t.Dim, "strata")
	full := len("strata")
	for _, c := range crumbs {
		full += 3 + kit.Width(kit.Safe(c, 300))
	}
	dropped := 0
	for dropped < len(crumbs)-1 && full > room {
		full -= 3 + kit.Width(kit.Safe(crumbs[dropped], 300))
		dropped++
	}
	for i, c := range crumbs[dropped:] {
		style := t.Accent
		if dropped+i < len(crumbs)-1 {
			style = kit.Style{}
		}
		sep := " " + t.Glyphs.Sep + " "
		if i == 0 && dropped > 0 {
			sep = " " + t.Glyphs.Ellipsis + " "
		}
		l.Add(t.Dim, sep).Add(style, kit.Cut(kit.Safe(c, 300), max(0, r.w-l.Width()-rw-2)))
	}
	if r.busy() {
		l.Space(1).Add(t.Accent, t.Glyphs.Spin[r.spin%len(t.Glyphs.Spin)])
	}
	if l.Width()+rw+1 < r.w {
		l.To(r.w-rw-1).Spans(right, rw)
	}
	return l.Fit(r.w)
}

func spansWidth(spans []kit.Span) int {
	n := 0
	for _, s := range spans {
		n += kit.Width(s.Text)
	}
	return n
}

// sourceState says what is looked at: ● embedded · 127.0.0.1:9092 · 14.3 GiB. The first two spans are the kind.
func (r *root) sourceState() []kit.Span {
	t, in := r.theme, r.info
	if in.Kind == "" {
		return nil
	}
	var out []kit.Span
	kind := string(in.Kind)
	if in.ReadOnly {
		out, kind = append(out, kit.Span{Text: t.Glyphs.ReadOnly, Style: t.Warn}), "read-only"
	} else {
		out = append(out, kit.Span{Text: t.Glyphs.Live, Style: t.Good})
	}
	out = append(out, kit.Span{Text: " " + kit.Safe(kind, 40)})
	add := func(s string, style kit.Style) {
		if s != "" {
			out = append(out, kit.Span{Text: " · ", Style: t.Dim}, kit.Span{Text: kit.Safe(s, 200), Style: style})
		}
	}
	if r.w >= 70 {
		add(shortPath(in.Name, r.w/3), kit.Style{})
	}
	if in.Bytes > 0 && r.w >= 90 {
		add(kit.BytesText(in.Bytes), t.Dim)
	}
	if in.State != "" && r.w >= 100 {
		add(kit.Cut(kit.Safe(in.State, 200), r.w/4), t.Warn)
	}
	return out
}

// shortPath keeps the end of a path that is too long.
func shortPath(s string, w int) string {
	s = kit.Safe(s, 400)
	if kit.Width(s) <= w {
		return s
	}
	r := []rune(s)
	return "…" + string(r[max(0, len(r)-w+1):])
}

// keysLine draws the keys that matter here: those of the page that are not quiet, then filter, go to and help.
func (r *root) keysLine() string {
	t := r.theme
	var l kit.Line
	l.Space(1)
	hints := r.hints()
	always := hints[len(hints)-2:]
	room := r.w - 1
	for _, h := range always {
		room -= h.width() + 2
	}
	for _, h := range hints[:len(hints)-2] {
		if h.width()+2 > room {
			continue
		}
		room -= h.width() + 2
		h.draw(&l, t)
	}
	for _, h := range always {
		h.draw(&l, t)
	}
	return l.Fit(r.w)
}

// hint is one entry of the keys line.
type hint struct {
	key, help string
	off       bool
}

func (h hint) width() int { return kit.Width(h.key) + 1 + kit.Width(h.help) }

func (h hint) draw(l *kit.Line, t *kit.Theme) {
	if h.off {
		l.Add(t.Faint, h.key+" "+h.help).Space(2)
		return
	}
	l.Add(t.Accent, h.key).Space(1).Add(t.Dim, h.help).Space(2)
}

func (r *root) hints() []hint {
	if r.overlay != nil {
		return r.overlay.hints()
	}
	var out []hint
	seen := map[string]bool{}
	for _, rows := range [][]page.Command{r.top().page.Commands(), r.commands()} {
		for _, c := range rows {
			h := c.Key.Help()
			if c.Quiet || seen[h.Key] {
				continue
			}
			seen[h.Key] = true
			out = append(out, hint{h.Key, h.Desc, c.Why() != ""})
		}
	}
	return append(out, hint{":", "go to", false}, hint{"?", "help", false})
}

// statusLine draws at the left the input of the filter, a notice, or how things are; at the right what the page says.
func (r *root) statusLine() string {
	t := r.theme
	right := r.statusRight()
	rw := kit.Width(right)
	var l kit.Line
	l.Space(1)
	room := r.w - 2 - rw - 2
	if line, ok := r.overlay.(lineOverlay); ok {
		return l.Text(line.line(r, r.w-1)).Fit(r.w)
	}
	switch n := r.notice; {
	case n.Text != "":
		if kit.Width(kit.Safe(n.Text, kit.CellLimit(r.w))) > room {
			room, rw = r.w-2, 0
		}
		style, sign := r.levelLook(n.Level)
		text := kit.Safe(strings.ReplaceAll(n.Text, "\n", " "), kit.CellLimit(r.w))
		l.Add(style, kit.Cut(sign+text, max(0, room)))
	default:
		l.Spans(r.statusLeft(), max(0, room))
	}
	if rw > 0 && rw < r.w-1 {
		if l.Width() > r.w-rw-2 {
			return l.Fit(r.w)
		}
		l.To(r.w-rw-1).Add(t.Dim, right)
	}
	return l.Fit(r.w)
}

func (r *root) levelLook(level page.Level) (kit.Style, string) {
	t := r.theme
	switch level {
	case page.Good:
		return t.Good, t.Glyphs.Good + " "
	case page.Warn:
		return t.Warn, ""
	case page.Bad:
		return t.Bad, t.Glyphs.Bad + " "
	}
	return kit.Style{}, ""
}

// statusLeft says how things are: live or not, the demo's traffic, the filter that is on.
func (r *root) statusLeft() []kit.Span {
	t := r.theme
	var out []kit.Span
	if f, ok := r.top().page.(page.Filterer); ok && f.Filter() != "" {
		out = append(out, kit.Span{Text: "/", Style: t.Accent}, kit.Span{Text: kit.Safe(f.Filter(), 200), Style: t.Match}, kit.Span{Text: "  esc shows all   ", Style: t.Dim})
	}
	if r.info.Live {
		out = append(out, kit.Span{Text: "live", Style: t.Good})
	} else if r.info.Kind != "" {
		out = append(out, kit.Span{Text: "as it was when opened", Style: t.Dim})
	}
	out = append(out, kit.Span{Text: " · " + kit.Safe(r.clock.Name(), 40), Style: t.Dim})
	if d, ok := r.src.(model.Traffic); ok {
		s := d.TrafficState()
		text := " · demo " + kit.Number(int64(s.Actual)) + " rec/s"
		if s.Paused {
			text = " · demo " + t.Glyphs.Pause + " paused (! goes on)"
		}
		out = append(out, kit.Span{Text: text, Style: t.Dim})
	}
	if r.info.State != "" && r.w < 100 {
		out = append(out, kit.Span{Text: " · " + kit.Safe(r.info.State, 200), Style: t.Warn})
	}
	return out
}

func (r *root) statusRight() string {
	s, ok := r.top().page.(page.Stater)
	if !ok {
		return ""
	}
	return kit.Cut(kit.Safe(s.Status(), kit.CellLimit(r.w)), r.w*2/3)
}
