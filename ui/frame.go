package ui

import (
	"strings"
	"unicode/utf8"

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

// leastCrumb is how short a part of the address may be cut before parts are left out.
const leastCrumb = 12

// breadcrumb draws the address, and at its right the source. Where both have no room the source's words go first, then
// the zeros before a segment's name, then the ends of long names, and then the parts of the address from the left.
func (r *root) breadcrumb() string {
	t := r.theme
	name := "strata"
	if r.profile.Name != "" {
		name = kit.Safe(r.profile.Name, 100)
	}
	band, banded := t.Bands[r.profile.Colour]
	if banded {
		t = t.Band()
	}
	line := r.address(t, name)
	if banded {
		return band.Wrap(line)
	}
	return line
}

// address draws the breadcrumb in the styles of a theme.
func (r *root) address(t *kit.Theme, name string) string {
	crumbs := r.crumbs(r.top())
	full := 1 + kit.Width(name)
	for i, c := range crumbs {
		crumbs[i] = kit.Safe(c, 300)
		full += 3 + kit.Width(crumbs[i])
	}
	const around = 4 // a cell at the right end, one between, two for the spinner
	right := r.sourceState(t, r.w-full-around)
	rw := kit.SpansWidth(right)
	if r.w < 60 && rw > r.w/2 || r.w < 30 && full > r.w-rw-around {
		right, rw = nil, 0
	}
	if r.w < 45 && full > r.w-rw-around {
		full, name = full-kit.Width(name), "" // the place says more
	}
	crumbs, dropped := r.shorten(crumbs, full-(r.w-rw-around))
	var l kit.Line
	l.Space(1).Add(t.Dim, name)
	for i, c := range crumbs {
		style := t.Accent
		if i < len(crumbs)-1 {
			style = kit.Style{}
		}
		sep := " " + t.Glyphs.Sep + " "
		switch {
		case i == 0 && dropped:
			sep = " " + t.Glyphs.Ellipsis + " "
		case i == 0 && name == "":
			sep = ""
		}
		l.Add(t.Dim, sep).Add(style, kit.Cut(c, max(0, r.w-l.Width()-rw-2)))
	}
	if r.busy() {
		l.Space(1).Add(t.Accent, t.Glyphs.Spin[r.spin%len(t.Glyphs.Spin)])
	}
	if l.Width()+rw+1 < r.w {
		l.To(r.w-rw-1).Spans(right, rw)
	}
	return l.Fit(r.w)
}

// shorten takes so many cells too many from the parts of an address, and says whether parts were left out at the left.
func (r *root) shorten(crumbs []string, over int) ([]string, bool) {
	for i, c := range crumbs {
		if over <= 0 {
			return crumbs, false
		}
		if bare := strings.TrimLeft(c, "0"); len(c)-len(bare) > 4 && strings.Contains(bare, ".") {
			if bare == "" || bare[0] < '0' || bare[0] > '9' {
				bare = "0" + bare // base offset 0
			}
			crumbs[i] = r.theme.Glyphs.Ellipsis + bare
			over -= kit.Width(c) - kit.Width(crumbs[i])
		}
	}
	for over > 0 {
		widest, cells := -1, leastCrumb
		for i, c := range crumbs {
			if w := kit.Width(c); w > cells {
				widest, cells = i, w
			}
		}
		if widest < 0 {
			break
		}
		crumbs[widest] = kit.Cut(crumbs[widest], max(leastCrumb, cells-over))
		over -= cells - kit.Width(crumbs[widest])
	}
	dropped := false
	for ; over > 0 && len(crumbs) > 1; dropped = true {
		over -= 3 + kit.Width(crumbs[0])
		crumbs = crumbs[1:]
	}
	return crumbs, dropped
}

// sourceState says what is looked at: ● embedded · 127.0.0.1:9092 · 14.3 GiB. What has no room in so many cells is left
// out, but never the kind.
func (r *root) sourceState(t *kit.Theme, room int) []kit.Span {
	in := r.info
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
	room -= kit.SpansWidth(out)
	add := func(s string, style kit.Style) {
		s = kit.Safe(s, 200)
		if w := 3 + kit.Width(s); s != "" && w <= room {
			out = append(out, kit.Span{Text: " · ", Style: t.Dim}, kit.Span{Text: s, Style: style})
			room -= w
		}
	}
	const leastPath = 16
	if at := min(room-3, r.w/3); in.Address != "" && r.w >= 70 {
		add(in.Address, kit.Style{})
	} else if r.w >= 70 && at >= leastPath {
		add(shortPath(in.Name, at), kit.Style{})
	}
	if in.State != "" && r.w >= 100 {
		add(kit.Cut(kit.Safe(in.State, 200), r.w/4), t.Warn)
	}
	if in.Bytes > 0 && r.w >= 90 {
		add(kit.BytesText(in.Bytes), t.Dim)
	}
	return out
}

// shortPath keeps the end of a path that is too long.
func shortPath(s string, w int) string {
	s = kit.Safe(s, 400)
	if kit.Width(s) <= w {
		return s
	}
	for kit.Width(s) > w-1 {
		_, n := utf8.DecodeRuneInString(s)
		s = s[n:]
	}
	return "…" + s
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
