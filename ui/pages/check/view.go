package check

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	headLines = 3
	footLines = 4
	whatLines = footLines - 2
)

// severities returns the severities from the worst down.
func severities() []model.Severity {
	return []model.Severity{model.SevDamage, model.SevWarning, model.SevInfo}
}

func (p *check) setColumns() {
	cols := []kit.Column{
		{Name: "FAULT", Min: 9},
		{Name: "FILE", Min: 12, Max: 22},
		{Name: "BYTE", Right: true, Min: 9},
		{Name: "OFFSET", Right: true, Min: 9, Drop: 2},
		{Name: "WHAT", Grow: true, Min: 20},
	}
	if p.several {
		cols = slices.Insert(cols, 1, kit.Column{Name: "PARTITION", Max: 24, Drop: 1})
	}
	if len(cols) != len(p.table.Columns) {
		p.table.Columns = cols
	}
}

// arrange makes the rows anew: the worst first, or as found.
func (p *check) arrange() {
	p.setColumns()
	p.rows = p.rows[:0]
	for i := range p.faults {
		f := &p.faults[i]
		if p.filter.All() || p.filter.Match(f.TP.String()+" "+f.File+" "+f.Kind+" "+f.What) {
			p.rows = append(p.rows, i)
		}
	}
	if !p.found {
		slices.SortStableFunc(p.rows, func(a, b int) int { return rank(p.faults[a].Severity) - rank(p.faults[b].Severity) })
	}
	p.table.SetLen(int64(len(p.rows)))
}

func rank(s model.Severity) int {
	if i := slices.Index(severities(), s); i >= 0 {
		return i
	}
	return len(severities())
}

func (p *check) View(w, h int) string {
	if p.src == nil {
		return kit.Problem(p.Theme, w, h, page.NoFiles(p.Src, "this source shows no files to check", "strata DIR checks one of its brokers' files"), "esc goes back")
	}
	body := h - headLines
	if body < 1 {
		return kit.Block(p.progress(w), w, h)
	}
	var b strings.Builder
	b.WriteString(p.head(w) + "\n" + p.progress(w) + "\n" + page.Rule(p.Theme, w, "") + "\n")
	switch {
	case len(p.rows) == 0:
		b.WriteString(p.nothing(w, body))
	case body < footLines+4:
		b.WriteString(p.table.View(w, body, p.row))
	default:
		b.WriteString(p.table.View(w, body-footLines, p.row) + "\n" + page.Rule(p.Theme, w, "") + "\n" + p.foot(w))
	}
	return b.String()
}

// nothing is what stands in place of an empty list.
func (p *check) nothing(w, h int) string {
	t := p.Theme
	switch {
	case p.err != nil:
		return kit.Problem(t, w, h, p.err.Error(), "ctrl-r checks again")
	case len(p.faults) > 0:
		return kit.Empty(t, w, h, "no fault matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	case p.phase == running:
		return kit.Empty(t, w, h, "no fault so far", "every length, checksum, offset and index entry is being looked at; c stops")
	case p.phase == stopped:
		return kit.Empty(t, w, h, "no fault as far as it came", "ctrl-r checks again from the beginning")
	}
	how := "every length, checksum, offset and index entry was looked at"
	if p.scope.Value() != everything {
		how += "; tab widens what is checked"
	}
	return kit.Empty(t, w, h, t.Glyphs.Good+" nothing is wrong", how)
}

func (p *check) head(w int) string {
	var l kit.Line
	l.Space(1).Text(p.scope.View(p.Theme, max(0, w-2), false)).Space(2)
	if a := p.Address().String(); a != "" {
		l.Add(p.Theme.Dim, kit.Safe(a, 300))
	}
	return l.Fit(w)
}

// progress says how far the check is, or how it ended.
func (p *check) progress(w int) string {
	t := p.Theme
	var l kit.Line
	l.Space(1)
	switch p.phase {
	case running:
		words := kit.BytesText(p.read) + " of " + kit.BytesText(p.all)
		if secs := p.took.Seconds(); secs > 0.3 && p.read > 0 {
			rate := float64(p.read) / secs
			words += " · " + kit.BytesText(int64(rate)) + "/s · " + kit.Duration(time.Duration(float64(p.all-p.read)/rate*float64(time.Second)).Round(time.Second)) + " to go"
		}
		if p.at != "" {
			words += " · " + kit.Safe(p.at, 200)
		}
		if p.all == 0 {
			words = "looking at what is there"
		}
		l.Text(kit.Progress(t, p.read, p.all, words, max(0, w-1)))
	case stopped:
		l.Add(t.Warn, "stopped")
		if p.all > 0 {
			l.Add(t.Warn, " after "+kit.Number(100*p.read/p.all)+" %").Add(t.Dim, ", "+kit.BytesText(p.read)+" of "+kit.BytesText(p.all))
		}
	case failed:
		l.Add(t.Bad, t.Glyphs.Bad+" "+kit.Safe(p.err.Error(), 300))
	case done:
		p.verdict(&l)
	case idle:
	}
	return l.Fit(w)
}

func (p *check) verdict(l *kit.Line) {
	t, s := p.Theme, p.sum
	if n := p.counts[model.SevDamage]; n > 0 {
		l.Add(t.Bad, t.Glyphs.Bad+" "+kit.Number(n)+" damaged").Add(t.Dim, " in ")
	} else {
		l.Add(t.Good, t.Glyphs.Good+" no damage").Add(t.Dim, " in ")
	}
	l.Text(count(s.Files, "file")).Add(t.Dim, " · ").Text(count(s.Batches, "batch")).Add(t.Dim, " · ").Text(count(s.Records, "record"))
	l.Add(t.Dim, " · ").Text(kit.BytesText(s.Bytes)).Add(t.Dim, " in "+p.tookText())
	if n := p.total() - int64(len(p.faults)); n > 0 {
		l.Add(t.Warn, " · "+kit.Number(n)+" faults more than are listed")
	}
}

// tookText says how long the check took, no finer than it is measured.
func (p *check) tookText() string {
	if p.took < 10*time.Millisecond {
		return "under 10 ms"
	}
	return kit.Duration(p.took.Round(10 * time.Millisecond))
}

func (p *check) total() (n int64) {
	for _, c := range p.counts {
		n += c
	}
	return n
}

func count(n int64, what string) string {
	switch {
	case n == 1:
	case what == "batch":
		what = "batches"
	default:
		what += "s"
	}
	return kit.Number(n) + " " + what
}

func (p *check) row(i int64) kit.Row {
	f, t := &p.faults[p.rows[i]], p.Theme
	sign, style := p.look(f.Severity)
	cells := []kit.Cell{{Text: sign + " " + kit.Safe(string(f.Severity), 20), Style: style}}
	if p.several {
		name := "–"
		if f.TP.Topic != "" {
			name = f.TP.String()
		}
		cells = append(cells, kit.Cell{Text: kit.Safe(name, 200)})
	}
	cells = append(cells,
		kit.Cell{Spans: p.filter.Spans(t, kit.Style{}, shortName(f.File), 200)},
		unknown(t, f.Position), unknown(t, f.Offset),
		kit.Cell{Spans: p.filter.Spans(t, kit.Style{}, f.What, 500)})
	return kit.Row{Cells: cells}
}

// unknown writes a number that a fault may do without.
func unknown(t *kit.Theme, n int64) kit.Cell {
	if n < 0 {
		return kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	}
	return kit.Cell{Text: kit.Number(n)}
}

// look returns the sign and the colour of a severity.
func (p *check) look(s model.Severity) (string, kit.Style) {
	switch s {
	case model.SevDamage:
		return p.Theme.Glyphs.Bad, p.Theme.Bad
	case model.SevWarning:
		return "!", p.Theme.Warn
	}
	return "·", p.Theme.Dim
}

// shortName is a file's name without its folder and without the zeros in front: 4640112.log.
func shortName(file string) string {
	base := path.Base(file)
	short := strings.TrimLeft(base, "0")
	if short == "" || short == base {
		return base
	}
	if short[0] == '.' {
		return "0" + short
	}
	return short
}

// foot says all of the fault under the cursor.
func (p *check) foot(w int) string {
	f, ok := p.under()
	if !ok {
		return kit.Block("", w, footLines-1)
	}
	t := p.Theme
	var l kit.Line
	l.Space(1).Text(kit.Safe(fullName(&f), 400))
	if f.Position >= 0 {
		l.Add(t.Dim, ", byte ").Text(kit.Number(f.Position))
	}
	if f.Offset >= 0 {
		l.Add(t.Dim, ", offset ").Text(kit.Number(f.Offset))
	}
	l.Add(t.Dim, ": "+kit.Safe(f.Kind, 40))
	out := l.Fit(w)
	_, style := p.look(f.Severity)
	lines := kit.Wrap(kit.Safe(sentence(&f), 1000), max(10, w-2))
	for _, text := range lines[:min(len(lines), whatLines)] {
		var l kit.Line
		out += "\n" + l.Space(1).Add(style, text).Fit(w)
	}
	return kit.Block(out, w, footLines-1)
}

func fullName(f *model.Fault) string {
	if f.TP.Topic == "" || strings.Contains(f.File, "/") {
		return f.File
	}
	return f.TP.String() + "/" + f.File
}

func sentence(f *model.Fault) string {
	if f.Follows == "" {
		return f.What
	}
	return strings.TrimSuffix(f.What, ".") + ". " + f.Follows
}
