package segments

import (
	"cmp"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// peg is a group's committed offset in the partition.
type peg struct {
	group string
	at    int64
	lag   model.Count
	lost  int64 // offsets between at and the log start
	ahead int64 // offsets that at lies past the log end
}

// pegsOf returns the pegs of a partition, from the log end down.
func pegsOf(groups []model.Group, tp model.TopicPartition) []peg {
	var pegs []peg
	for i := range groups {
		for _, o := range groups[i].Offsets {
			if o.TopicPartition == tp && o.Committed >= 0 {
				pegs = append(pegs, peg{group: groups[i].ID, at: o.Committed, lag: o.Lag, lost: o.Lost, ahead: o.Ahead})
			}
		}
	}
	slices.SortStableFunc(pegs, func(a, b peg) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.group, b.group)) })
	return pegs
}

// pegSpans draws the pegs of one line in at most room cells: as many as fit, and how many more there are.
func (p *segments) pegSpans(pegs []peg, room int) []kit.Span {
	if len(pegs) == 0 {
		return nil
	}
	t := p.Theme
	spans := []kit.Span{{Text: t.Glyphs.Peg + " ", Style: t.Accent}}
	used := kit.SpansWidth(spans)
	for i := range pegs {
		one := p.pegSpan(&pegs[i])
		more := ""
		if left := len(pegs) - i; left > 1 {
			more = " +" + kit.Number(int64(left-1))
		}
		if i > 0 {
			one = append([]kit.Span{{Text: " · ", Style: t.Dim}}, one...)
			if used+kit.SpansWidth(one)+kit.Width(more) > room {
				return append(spans, kit.Span{Text: " +" + kit.Number(int64(len(pegs)-i)), Style: t.Dim})
			}
		} else if n := room - used - kit.Width(more); kit.SpansWidth(one) > n {
			one = cutName(one, n)
		}
		spans = append(spans, one...)
		used += kit.SpansWidth(one)
	}
	return spans
}

// pegSpan is a group's name, and behind it its lag or what is wrong.
func (p *segments) pegSpan(g *peg) []kit.Span {
	t := p.Theme
	spans := t.SafeSpans(kit.Style{}, g.group, 60)
	switch {
	case g.lost > 0:
		return append(spans, kit.Span{Text: " " + t.Glyphs.Bad + " " + kit.Number(g.lost) + " lost", Style: t.Bad})
	case g.ahead > 0:
		return append(spans, kit.Span{Text: " " + t.Glyphs.Bad + " " + kit.Number(g.ahead) + " ahead", Style: t.Bad})
	}
	return append(spans, kit.Span{Text: " " + page.CountText(t, g.lag), Style: t.Dim})
}

// cutName shortens the name in front of the last span, so that the figure is whole in n cells.
func cutName(spans []kit.Span, n int) []kit.Span {
	last := spans[len(spans)-1]
	name := ""
	for _, s := range spans[:len(spans)-1] {
		name += s.Text
	}
	return []kit.Span{{Text: kit.Cut(name, max(1, n-kit.Width(last.Text)))}, last}
}
