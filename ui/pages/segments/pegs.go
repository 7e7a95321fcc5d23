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

// pegSpans draws the pegs of one line: the first ones, and how many more there are.
func (p *segments) pegSpans(pegs []peg) []kit.Span {
	if len(pegs) == 0 {
		return nil
	}
	t := p.Theme
	spans := []kit.Span{{Text: t.Glyphs.Peg + " ", Style: t.Accent}}
	for i := range pegs {
		if i == 2 && len(pegs) > 3 {
			return append(spans, kit.Span{Text: " · +" + kit.Number(int64(len(pegs)-i)), Style: t.Dim})
		}
		if i > 0 {
			spans = append(spans, kit.Span{Text: " · ", Style: t.Dim})
		}
		g := &pegs[i]
		spans = append(spans, t.SafeSpans(kit.Style{}, g.group, 60)...)
		switch {
		case g.lost > 0:
			spans = append(spans, kit.Span{Text: " " + t.Glyphs.Bad + " " + kit.Number(g.lost) + " lost", Style: t.Bad})
		case g.ahead > 0:
			spans = append(spans, kit.Span{Text: " " + t.Glyphs.Bad + " " + kit.Number(g.ahead) + " past the end", Style: t.Bad})
		default:
			spans = append(spans, kit.Span{Text: " " + page.CountText(t, g.lag), Style: t.Dim})
		}
	}
	return spans
}

func spansWidth(spans []kit.Span) int {
	n := 0
	for _, s := range spans {
		n += kit.Width(s.Text)
	}
	return n
}
