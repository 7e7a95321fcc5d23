package lookup

import (
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	nameCells = 11 // a step's word
	barCells  = 32
)

func (p *lookup) View(w, h int) string {
	if p.src == nil {
		return kit.Problem(p.Theme, w, h, page.NoFiles(p.Src, "this source shows no files to look into", "r on a partition, then o finds an offset or a time"), "esc goes back")
	}
	if h <= headLines {
		return kit.Block(p.head(w), w, h)
	}
	out := p.head(w) + "\n" + page.Rule(p.Theme, w, "") + "\n"
	body := h - headLines
	switch {
	case p.wrong != "":
		return out + kit.Problem(p.Theme, w, body, p.wrong, "enter looks up what is typed")
	case p.err != nil:
		return out + kit.Problem(p.Theme, w, body, p.err.Error(), "enter tries again, esc goes back")
	case !p.known && p.run.Slow():
		return out + kit.Empty(p.Theme, w, body, "looking it up", "the steps come when it is found")
	case !p.known && p.run.Busy():
		return out + kit.Block("", w, body)
	case !p.known:
		return out + kit.Empty(p.Theme, w, body, "this shows how a record is found: which segment, which index entry, which bytes",
			"type an offset or a time, then enter")
	case body < 8:
		return out + p.list.View(w, body, p.line(w))
	}
	body -= footLines
	return out + p.list.View(w, body, p.line(w)) + "\n" + p.foot(w)
}

func (p *lookup) head(w int) string {
	var l kit.Line
	l.Space(1).Add(p.Theme.Dim, "offset or time").Space(2)
	l.Text(p.input.View(p.Theme, max(0, w-l.Width()-1), p.TakesText()))
	return l.Fit(w)
}

// line returns the function that draws a line of the list.
func (p *lookup) line(w int) func(i int64) string {
	return func(i int64) string {
		var l kit.Line
		at, t := p.lines[i], p.Theme
		step := &p.last.result.Steps[at.step]
		switch at.kind {
		case lineStep:
			l.Cell(t.Accent, kit.Safe(step.Step, 40), nameCells, false).Text(kit.Safe(step.What, 400))
		case lineProbe:
			l.Space(nameCells)
			p.probe(&l, step.Step, at, w)
		case lineValue:
			l.Space(nameCells).Add(t.Dim, t.Glyphs.To+" ").Text(kit.Safe(step.Value, 400))
		}
		return l.String()
	}
}

// probe draws what is left of a list, and the thing that is compared now.
func (p *lookup) probe(l *kit.Line, step string, at line, w int) {
	t := p.Theme
	probes := p.last.probes[step]
	if at.probe >= len(probes) {
		return
	}
	b := &probes[at.probe]
	cells := int64(max(8, min(barCells, (w-nameCells)/3)))
	n := max(1, b.n)
	from, mid := min(cells-1, b.lo*cells/n), min(cells-1, (2*b.mid+1)*cells/(2*n))
	to := max(mid, min(cells, b.hi*cells/n)-1)
	l.Add(t.Rule, strings.Repeat(t.Glyphs.BarEmpty, int(from)))
	l.Add(t.Dim, strings.Repeat(t.Glyphs.Shade[len(t.Glyphs.Shade)-1], int(mid-from)))
	l.Add(t.Accent, t.Glyphs.Bar)
	l.Add(t.Dim, strings.Repeat(t.Glyphs.Shade[len(t.Glyphs.Shade)-1], int(to-mid)))
	l.Add(t.Rule, strings.Repeat(t.Glyphs.BarEmpty, int(cells-1-to))).Space(2)
	word := " > "
	if b.right {
		word = " ≤ "
	}
	what := "entry "
	if step == "segments" {
		what = "segment "
	}
	l.Add(t.Dim, what+kit.PadLeft(kit.Number(b.mid), kit.Width(kit.Number(b.n)))+"  ")
	widest := 0
	for i := range probes {
		widest = max(widest, kit.Width(p.figure(&probes[i], probes[i].value)))
	}
	l.Text(kit.PadLeft(p.figure(b, b.value), widest)).Add(t.Dim, word)
	goal := p.figure(b, b.goal)
	if l.Width()+kit.Width(goal)+kit.Gutter > w {
		goal = "target" // it stands in the input, too
	}
	l.Add(t.Dim, goal)
}

// figure writes what is compared: an offset, or a time.
func (p *lookup) figure(b *probe, n int64) string {
	if b.time {
		return p.Clock.Stamp(n)
	}
	return kit.Number(n)
}

// foot says what was found.
func (p *lookup) foot(w int) string {
	r, t := &p.last.result, p.Theme
	var l kit.Line
	l.Space(1)
	if r.Found {
		l.Add(t.Good, t.Glyphs.Good+" ").Add(t.Dim, "offset ").Text(kit.Number(r.Offset)).Add(t.Dim, " at ").Text(p.Clock.Stamp(r.Time))
		l.Add(t.Dim, ", in the batch at byte ").Text(kit.Number(r.Position))
	} else {
		l.Add(t.Warn, t.Glyphs.Bad+" there is no record at or after it").Add(t.Dim, ": the log ends at ").Text(kit.Number(r.Offset))
	}
	var second kit.Line
	second.Space(1)
	if len(r.Faults) > 0 {
		f := &r.Faults[0]
		second.Add(t.Bad, t.Glyphs.Bad+" "+kit.Safe(f.File+": "+f.What, 500))
		if n := len(r.Faults) - 1; n > 0 {
			second.Add(t.Dim, " and "+kit.Number(int64(n))+" more")
		}
	}
	if text := p.cutText(w); text != "" && len(r.Faults) == 0 {
		second.Add(t.Dim, text)
	}
	return page.Rule(t, w, "") + "\n" + l.Fit(w) + "\n" + second.Fit(w)
}

// cutText is the text under the cursor where the line has no room for all of it.
func (p *lookup) cutText(w int) string {
	i := p.list.Cursor()
	if i >= int64(len(p.lines)) {
		return ""
	}
	at := p.lines[i]
	step := &p.last.result.Steps[at.step]
	text := step.What
	if at.kind == lineValue {
		text = step.Value
	}
	if text = kit.Safe(text, 400); at.kind == lineProbe || kit.Width(text) <= w-nameCells-kit.Gutter-2 {
		return ""
	}
	return text
}

// indexOf returns the index that a step looked into.
func indexOf(step string) (model.IndexKind, bool) {
	switch k := model.IndexKind(step); k {
	case model.OffsetIndex, model.TimeIndex, model.TxnIndex:
		return k, true
	}
	return "", false
}
