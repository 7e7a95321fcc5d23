package tail

import (
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

func (p *tail) View(w, h int) string {
	switch {
	case p.src == nil:
		return kit.Problem(p.Theme, w, h, "this source cannot be followed", "esc goes back")
	case p.run == nil && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r begins anew, esc goes back")
	case !p.opened && p.Busy():
		return kit.Empty(p.Theme, w, h, "looking for the ends of the logs", "esc goes back")
	case !p.opened:
		return kit.Block("", w, h)
	case p.run == nil && len(p.topics)+len(p.parts) == 0:
		return kit.Empty(p.Theme, w, h, "there are no topics to follow", ". shows internal topics, ctrl-r looks again")
	case h <= headLines:
		return kit.Block(p.head(w), w, h)
	}
	var b strings.Builder
	b.WriteString(p.head(w) + "\n" + p.graph(w) + "\n" + page.Rule(p.Theme, w, "") + "\n")
	if len(p.lines) == 0 {
		what, next := p.teach()
		b.WriteString(kit.Empty(p.Theme, w, h-headLines+1, what, next))
		return b.String()
	}
	b.WriteString(kit.Pad(kit.Blank(kit.Gutter)+p.table.Head(max(0, w-kit.Gutter)), w) + "\n")
	b.WriteString(p.list.View(w, h-headLines, func(i int64) string { return p.line(&p.lines[i], max(0, w-kit.Gutter)) }))
	return b.String()
}

func (p *tail) line(r *row, w int) string {
	if r.gap > 0 {
		noun := " records "
		if r.gap == 1 {
			noun = " record "
		}
		return p.table.Mark(w, rows.Mark{Offset: model.Unknown, Text: kit.Number(r.gap) + noun + r.why, Style: p.Theme.Warn, Ruled: true})
	}
	return p.table.Row(w, &r.rec, 0)
}

func (p *tail) teach() (what, next string) {
	if !p.filter.All() {
		return "no record matches " + kit.Safe(p.filter.Text(), 60) + " yet, of " + kit.Number(p.stats.Seen) + " read", "esc takes the filter away"
	}
	return "nothing yet: the next record of " + kit.Safe(p.what(), 200) + " appears here", "p on a topic produces one; strata demo shows live data"
}

// what names what is followed.
func (p *tail) what() string {
	if p.all {
		return "all topics"
	}
	names := append([]string(nil), p.topics...)
	for _, tp := range p.parts {
		names = append(names, model.PartitionAddress(tp).String())
	}
	return strings.Join(names, ", ")
}

// head says how the tail stands.
func (p *tail) head(w int) string {
	t, s := p.Theme, &p.stats
	state := page.Fact{Value: t.Glyphs.Live + " following", Style: t.Good}
	switch {
	case p.err != nil:
		state = page.Fact{Value: t.Glyphs.Bad + " ended: " + kit.Safe(p.err.Error(), 100), Style: t.Bad}
	case p.paused && p.arrived() > 0:
		state = page.Fact{Value: t.Glyphs.Pause + " " + kit.Number(p.arrived()) + " new (G goes on)", Style: t.Warn}
	case p.paused:
		state = page.Fact{Value: t.Glyphs.Pause + " paused (G goes on)", Style: t.Warn}
	}
	facts := []page.Fact{state}
	if s.Dropped > 0 {
		facts = append(facts, page.Fact{Value: kit.Number(s.Dropped) + " not shown", Style: t.Bad})
	}
	if p.committed {
		facts = append(facts, page.Fact{Value: "committed only", Style: t.Warn})
	}
	facts = append(facts, page.Fact{Value: kit.Safe(p.what(), 200)}, page.Fact{Value: kit.Number(s.Seen) + " arrived"})
	if p.asked != "" {
		facts = append(facts, page.Fact{Value: kit.Number(s.Matched) + " match"})
	}
	if s.Behind > 0 {
		facts = append(facts, page.Fact{Value: kit.Number(s.Behind) + " behind"})
	}
	return page.Facts(t, w, facts...)
}

// graph draws the rate, a cell a second.
func (p *tail) graph(w int) string {
	t := p.Theme
	rate := p.meter.rate(p.Now())
	var l kit.Line
	l.Space(1).Cell(kit.Style{}, rateText(rate), 7, true).Space(2)
	peak := "peak " + rateText(max(p.meter.peak, rate))
	n := min(ringSecs-1, w-l.Width()-kit.Width(peak)-3)
	if n < 8 {
		return l.Fit(w)
	}
	secs := p.meter.seconds(n)
	l.Add(t.Accent, kit.Sparkline(t, secs, n)).Space(2).Add(t.Dim, peak)
	return l.Fit(w)
}

func rateText(perSecond float64) string { return kit.Short(perSecond) + "/s" }

// Status says what came in vain, and how much is kept.
func (p *tail) Status() string {
	var out []string
	if err := p.filter.Err(); err != nil {
		out = append(out, kit.Safe(err.Error(), 80))
	}
	if p.stats.Err != nil {
		out = append(out, kit.Safe(p.stats.Err.Error(), 120))
	}
	if p.paused {
		out = append(out, kit.Number(int64(len(p.lines)))+" lines held")
	}
	return strings.Join(out, " · ")
}
