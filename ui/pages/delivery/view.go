package delivery

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *delivery) View(w, h int) string {
	if p.src == nil {
		return kit.Empty(p.Theme, w, h, "no experiment here: this source runs no broker of its own", "strata, strata demo and strata serve run one")
	}
	upper := min(len(p.faults)+1, h)
	out := []string{p.table.View(w, upper, p.row)}
	if h > upper {
		out = append(out, page.Rule(p.Theme, w, string(p.faults[p.table.Cursor()])+", "+string(p.modes[p.mode])))
	}
	if left := h - upper - 1; left > 0 {
		out = append(out, p.lower(w, left))
	}
	return kit.Block(strings.Join(out, "\n"), w, h)
}

func (p *delivery) row(i int64) kit.Row {
	cells := []kit.Cell{{Text: string(p.faults[i])}}
	for k := range p.modes {
		c := p.outcome(&p.cells[i][k])
		lead := "  "
		if i == p.table.Cursor() && k == p.mode {
			lead = p.Theme.Glyphs.Right + " "
			c.Style = c.Style.And(p.Theme.Bold)
		}
		c.Text = lead + c.Text
		cells = append(cells, c)
	}
	return kit.Row{Cells: cells}
}

// outcome writes in a word what came of a run.
func (p *delivery) outcome(c *cell) kit.Cell {
	t := p.Theme
	switch r := c.result; {
	case r == nil && len(c.steps) > 0:
		return kit.Cell{Text: "running", Style: t.Accent}
	case r == nil && c.due:
		return kit.Cell{Text: "waiting", Style: t.Dim}
	case r == nil:
		return kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	case r.Err != nil:
		return kit.Cell{Text: t.Glyphs.Bad + " failed", Style: t.Bad}
	case len(r.Lost) > 0 && len(r.Doubled) > 0:
		return kit.Cell{Text: fmt.Sprintf("%s %d lost, %d doubled", t.Glyphs.Bad, len(r.Lost), len(r.Doubled)), Style: t.Bad}
	case len(r.Lost) > 0:
		return kit.Cell{Text: fmt.Sprintf("%s %d lost", t.Glyphs.Bad, len(r.Lost)), Style: t.Bad}
	case len(r.Doubled) > 0:
		return kit.Cell{Text: fmt.Sprintf("%s %d doubled", t.Glyphs.Bad, len(r.Doubled)), Style: t.Warn}
	}
	return kit.Cell{Text: t.Glyphs.Good + " right", Style: t.Good}
}

// lower draws what is known of the run under the cursor: figures, why, steps.
func (p *delivery) lower(w, h int) string {
	c, t := p.at(), p.Theme
	var lines []string
	switch r := c.result; {
	case r == nil && len(c.steps) == 0 && c.due:
		return kit.Empty(t, w, h, "it waits for its turn", "")
	case r == nil && len(c.steps) == 0:
		return kit.Empty(t, w, h, "r runs all fifteen, enter this one", "real clients send 100 records through the broker and work on them, with a fault put in their way; it takes a few seconds")
	case r != nil && r.Err != nil:
		for _, l := range kit.Wrap(kit.Safe(r.Err.Error(), 1000), w-4) {
			lines = append(lines, "  "+t.Bad.Wrap(l))
		}
	case r != nil:
		lines = append(lines, p.figures(w, r))
		for _, l := range kit.Wrap(kit.Safe(r.Why, 1000), w-4) {
			lines = append(lines, "  "+l)
		}
	}
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	lines = lines[:min(len(lines), h)]
	if left := h - len(lines); left > 0 {
		lines = append(lines, p.steps.View(left, func(i int64) string { return p.step(&c.steps[i], w) }))
	}
	return kit.Block(strings.Join(lines, "\n"), w, h)
}

// figures counts a run up in a line.
func (p *delivery) figures(w int, r *model.DeliveryResult) string {
	t := p.Theme
	facts := []page.Fact{
		{Name: "sent", Value: strconv.Itoa(r.Sent)}, {Name: "in the log", Value: strconv.Itoa(r.InLog)}, {Name: "worked on", Value: strconv.Itoa(r.Worked)},
	}
	if len(r.Lost) > 0 {
		facts = append(facts, page.Fact{Name: "lost", Value: spans(r.Lost), Style: t.Bad})
	}
	if len(r.Doubled) > 0 {
		facts = append(facts, page.Fact{Name: "doubled", Value: spans(r.Doubled), Style: t.Warn})
	}
	return " " + page.Facts(t, w-1, facts...)
}

// step draws a line of what happened.
func (p *delivery) step(s *model.DeliveryStep, w int) string {
	t := p.Theme
	var l kit.Line
	l.Space(1).Cell(t.Dim, kit.Number(s.At)+" ms", 9, true).Space(2)
	style := t.Dim
	if s.Who == "network" {
		style = t.Warn
	}
	l.Cell(style, kit.Safe(s.Who, 20), 9, false).Space(1)
	l.Text(kit.Safe(s.What, 300))
	return l.Fit(w)
}

// spans writes numbers, ascending, as people do: 40–49, 60.
func spans(list []int) string {
	var words []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		if k == i {
			words = append(words, strconv.Itoa(list[i]))
		} else {
			words = append(words, fmt.Sprintf("%d–%d", list[i], list[k]))
		}
		i = k + 1
		if len(words) == 5 && i < len(list) {
			words = append(words, "…")
			break
		}
	}
	return strings.Join(words, ", ")
}
