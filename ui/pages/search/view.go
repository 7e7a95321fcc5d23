package search

import (
	"time"

	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

func (p *search) View(w, h int) string {
	switch {
	case p.src == nil:
		return kit.Problem(p.Theme, w, h, "this source cannot be searched", "esc goes back")
	case !p.ran:
		return kit.Empty(p.Theme, w, h, "type what to find", "in "+kit.Safe(p.scope(), 200)+"; "+rows.PatternHint)
	case p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r searches again, esc goes back")
	case h <= headLines:
		return kit.Block(p.progress(w), w, h)
	}
	frame := p.head(w) + "\n" + p.progress(w) + "\n" + page.Rule(p.Theme, w, "") + "\n"
	if len(p.hits) == 0 {
		return frame + p.none(w, h-headLines+1)
	}
	frame += kit.Pad(kit.Blank(kit.Gutter)+p.table.Head(max(0, w-kit.Gutter)), w) + "\n"
	return frame + p.cur.View(w, h-headLines, func(i int64) string { return p.table.Row(max(0, w-kit.Gutter), &p.hits[i], 0) })
}

// none stands where hits would.
func (p *search) none(w, h int) string {
	switch {
	case p.end == "":
		return kit.Block("", w, h)
	case p.more:
		return kit.Empty(p.Theme, w, h, "nothing found so far", "n goes on")
	}
	return kit.Empty(p.Theme, w, h, "no record holds "+kit.Safe(p.pattern.Text, 60), "/ looks for something else, w looks elsewhere, s at other times")
}

// head says what is looked for, and where.
func (p *search) head(w int) string {
	t := p.Theme
	order := "oldest first"
	if p.backward {
		order = "newest first"
	}
	facts := []page.Fact{
		{Value: kit.Safe(p.pattern.Text, 60), Style: t.Match},
		{Name: "in", Value: kit.Safe(p.scope(), 60)},
		{Value: p.in.String()},
		{Value: order},
	}
	if p.since > 0 {
		facts = append(facts, page.Fact{Name: "since", Value: p.Clock.Stamp(p.since)})
	}
	if p.committed {
		facts = append(facts, page.Fact{Value: "committed only", Style: t.Warn})
	}
	if p.pattern.Fold {
		facts = append(facts, page.Fact{Value: "any case"})
	}
	return page.Facts(t, w, facts...)
}

// progress says how far it has come, or how it ended.
func (p *search) progress(w int) string {
	t := p.Theme
	if p.end == "" {
		if !p.slow() && len(p.hits) == 0 {
			return kit.Pad("", w)
		}
		return rows.Progress(t, p.event, p.Now().Sub(p.began), kit.Number(int64(len(p.hits)))+" found", w)
	}
	style, sign := kit.Style{}, ""
	switch p.level {
	case page.Good:
		style, sign = t.Good, t.Glyphs.Good+" "
	case page.Warn:
		style = t.Warn
	case page.Bad:
		style, sign = t.Bad, t.Glyphs.Bad+" "
	}
	end := kit.Safe(p.end, 400)
	if p.more {
		end += ": n goes on"
	}
	took := "under 1 ms"
	if p.took >= time.Millisecond {
		took = kit.Duration(p.took.Round(time.Millisecond))
	}
	return page.Facts(t, w,
		page.Fact{Value: kit.Cut(sign+end, max(8, w-20)), Style: style},
		page.Fact{Value: kit.Number(int64(len(p.hits))) + " found"},
		page.Fact{Value: kit.Number(p.read) + " records looked at"},
		page.Fact{Name: "in", Value: took})
}

// Status says where the search is.
func (p *search) Status() string {
	if !p.stream.Busy() || p.event.At.Topic == "" {
		return ""
	}
	return "at " + kit.Safe(p.event.At.String(), 100) + "@" + kit.Number(p.event.Offset)
}
