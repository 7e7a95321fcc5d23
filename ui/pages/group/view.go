package group

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/offsets"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	detailLines = 2 // at the foot
	sparkCells  = 12
)

// parts is how the lines of a screen are shared out. A part of 0 lines is not drawn.
type parts struct {
	warnings         int
	members, table   int // with their heads, without the rules above them
	rules            bool
	detail           int
	membersY, tableY int
}

// layout shares out h lines below the head line.
func (p *group) layout(h int) parts {
	l := parts{warnings: len(p.warnings()), table: h - 1}
	if l.table < 4 {
		l.warnings = 0
		l.tableY = 1
		return l
	}
	l.warnings = min(l.warnings, 2)
	l.table -= l.warnings
	if l.table >= 12 {
		l.detail = detailLines
		l.table -= detailLines
	}
	l.rules = l.table >= 6
	if l.rules {
		l.table--
	}
	if n := len(p.g.Members); n > 0 && l.table >= 8 {
		most := max(3, l.table/4)
		if p.upper {
			most = l.table / 2
		}
		l.members = min(n+1, most)
		l.table -= l.members
		if l.rules {
			l.table--
		}
	}
	y := 1 + l.warnings
	if l.members > 0 {
		if l.rules {
			y++
		}
		l.membersY = y
		y += l.members
	}
	if l.rules {
		y++
	}
	l.tableY = y
	return l
}

func (p *group) View(w, h int) string {
	switch {
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "esc goes back, 2 lists the groups, ctrl-r reads it again")
	case !p.loaded && p.load.Slow():
		return kit.Empty(p.Theme, w, h, "reading group "+kit.Safe(p.id, 100), "its lag is counted")
	case !p.loaded:
		return kit.Block("", w, h)
	}
	l := p.layout(h)
	p.seen = l
	out := make([]string, 0, h)
	out = append(out, p.head(w))
	for _, warning := range p.warnings()[:l.warnings] {
		var line kit.Line
		out = append(out, line.Space(1).Add(p.Theme.Warn, warning).Fit(w))
	}
	if l.members > 0 {
		if l.rules {
			out = append(out, page.Rule(p.Theme, w, p.membersTitle(l)))
		}
		out = append(out, p.members.View(w, l.members, p.memberRow))
	}
	if l.rules {
		out = append(out, page.Rule(p.Theme, w, "committed"))
	}
	if l.table > 0 {
		out = append(out, p.body(w, l.table))
	}
	if l.detail > 0 {
		out = append(out, p.detail(w))
	}
	return kit.Block(strings.Join(out, "\n"), w, h)
}

func (p *group) body(w, h int) string {
	switch {
	case len(p.rows) == 0 && !p.filter.All():
		return kit.Empty(p.Theme, w, h, "no partition matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	case len(p.rows) == 0 && len(p.g.Members) > 0:
		return kit.Empty(p.Theme, w, h, "the members hold nothing and have committed nothing yet", "offsets appear here with the first commit")
	case len(p.rows) == 0:
		next := "a consumer of this name begins where its auto.offset.reset says"
		if p.whyNoReset() == "" {
			next = "R puts it where you want it, else auto.offset.reset decides where it begins"
		}
		return kit.Empty(p.Theme, w, h, "this group has committed nothing", next)
	}
	return p.table.View(w, h, p.row)
}

func (p *group) membersTitle(l parts) string {
	if shown := l.members - 1; shown < len(p.g.Members) {
		return "members, " + kit.Number(int64(shown)) + " of " + kit.Number(int64(len(p.g.Members))) + " (tab to scroll)"
	}
	return "members"
}

// head is the line of facts.
func (p *group) head(w int) string {
	t, g := p.Theme, &p.g
	facts := []page.Fact{{Value: kit.Safe(string(g.State), 40), Style: offsets.StateStyle(t, g.State)}}
	lag := page.Fact{Name: "lag", Value: page.CountText(t, g.Lag)}
	if v := shape(p.meter.Values()); len(v) > 1 && w >= 100 {
		lag.Name += " " + kit.Sparkline(t, v, len(v))
	}
	facts = append(facts, lag)
	if c := p.meter.Cell(t); c.Text != "" {
		facts = append(facts, page.Fact{Value: c.Text, Style: c.Style})
	}
	if d, ok := p.meter.Drain(g.Lag); ok {
		facts = append(facts, page.Fact{Name: "gone in", Value: kit.Duration(d)})
	}
	if p.sum.lost > 0 {
		facts = append(facts, page.Fact{Value: t.Glyphs.Bad + " " + kit.Number(p.sum.lost) + " lost", Style: t.Bad})
	}
	if p.sum.ahead > 0 {
		facts = append(facts, page.Fact{Value: kit.Number(p.sum.ahead) + " past the end", Style: t.Warn})
	}
	members := "no members"
	if len(g.Members) > 0 {
		members = kit.Plural(len(g.Members), "member")
	}
	facts = append(facts, page.Fact{Value: members})
	if g.Protocol != "" {
		facts = append(facts, page.Fact{Name: "assigned by", Value: kit.Safe(g.Protocol, 60)})
	}
	facts = append(facts, page.Fact{Value: kit.Safe(g.Type, 40)})
	return page.Facts(t, w, facts...)
}

// shape returns the newest of v as what lies above their smallest; nil when nothing moves.
func shape(v []float64) []float64 {
	v = v[max(0, len(v)-sparkCells):]
	if len(v) < 2 || slices.Min(v) == slices.Max(v) {
		return nil
	}
	low := slices.Min(v)
	for i := range v {
		v[i] -= low
	}
	return v
}

// warnings are the lines about what is odd with the group as a whole.
func (p *group) warnings() []string {
	var out []string
	s := p.sum
	if s.idle > 0 && s.held > 0 {
		text := kit.Plural(len(p.g.Members), "member") + " for " + kit.Plural(s.held, "partition") + ": " + kit.Number(int64(s.idle))
		if s.idle == 1 {
			text += " has nothing to do"
		} else {
			text += " have nothing to do"
		}
		out = append(out, text+"; more partitions or fewer members would help")
	}
	if p.g.Note != "" {
		out = append(out, kit.Safe(p.g.Note, 300))
	}
	return out
}

func (p *group) memberRow(i int64) kit.Row {
	m, t := &p.g.Members[i], p.Theme
	client := t.SafeSpans(kit.Style{}, m.Client, 200)
	if m.Client == "" {
		client = []kit.Span{{Text: t.Glyphs.None, Style: t.Dim}}
	}
	holds := kit.Cell{Text: kit.Number(int64(len(m.Assignment)))}
	what := kit.Cell{Text: kit.Safe(assignment(m.Assignment), 500)}
	if len(m.Assignment) == 0 {
		holds, what = kit.Cell{Text: t.Glyphs.None, Style: t.Dim}, kit.Cell{Text: "nothing", Style: t.Warn}
	}
	return kit.Row{Cells: []kit.Cell{
		{Spans: client},
		{Spans: t.SafeSpans(kit.Style{}, strings.TrimPrefix(m.Host, "/"), 100)},
		holds, what,
		{Spans: t.SafeSpans(t.Dim, m.ID, 200)},
		{Spans: t.SafeSpans(t.Dim, m.Instance, 100)}, // shown where there is a column for it
	}}
}

// assignment writes partitions as orders 0-3 7, payments 0. The result is not safe yet.
func assignment(tps []model.TopicPartition) string {
	tps = slices.Clone(tps)
	slices.SortFunc(tps, func(a, b model.TopicPartition) int { return a.Compare(b) })
	var b strings.Builder
	for i := 0; i < len(tps) && b.Len() < 500; {
		if i == 0 || tps[i].Topic != tps[i-1].Topic {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(tps[i].Topic)
		}
		from, to := i, i
		for to+1 < len(tps) && tps[to+1].Topic == tps[from].Topic && tps[to+1].Partition == tps[to].Partition+1 {
			to++
		}
		b.WriteString(" " + strconv.Itoa(int(tps[from].Partition)))
		if to > from {
			b.WriteString("-" + strconv.Itoa(int(tps[to].Partition)))
		}
		i = to + 1
	}
	return b.String()
}

func (p *group) row(i int64) kit.Row {
	o, t := &p.g.Offsets[p.rows[i]], p.Theme
	none := kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	committed := none
	if o.Committed >= 0 {
		committed = kit.Cell{Text: kit.Number(o.Committed)}
	}
	trend := kit.Cell{}
	if m := p.meters[o.TopicPartition]; m != nil {
		trend = m.Cell(t)
	}
	when := none
	if o.CommittedAt >= 0 {
		when = kit.Cell{Text: p.Clock.Ago(o.CommittedAt)}
	}
	start, end := page.OffsetCell(t, o.LogStart), page.OffsetCell(t, o.LogEnd)
	odd, style := offsets.Odd(t, o)
	if odd != "" {
		odd = t.Glyphs.Bad + " " + odd
		switch {
		case o.Lost > 0:
			start.Style = t.Bad
		case o.Ahead > 0:
			end.Style = t.Warn
		}
	}
	all := [...]kit.Cell{
		colPartition: {Spans: p.filter.Spans(t, kit.Style{}, o.TopicPartition.String(), 300)},
		colCommitted: committed,
		colStart:     start,
		colEnd:       end,
		colLag:       page.CountCell(t, o.Lag),
		colTrend:     trend,
		colWhen:      when,
		colNote:      {Text: odd, Style: style},
		colMember:    {Spans: t.SafeSpans(t.Dim, p.holder(o.Member), 200)},
		colMetadata:  {Spans: t.SafeSpans(t.Dim, o.Metadata, 300)},
	}
	cells := make([]kit.Cell, 0, len(all))
	for _, c := range p.cols {
		cells = append(cells, all[c])
	}
	return kit.Row{Cells: cells}
}

// holder names the member that holds a partition as people know it: by its client and host.
func (p *group) holder(id string) string {
	for i := range p.g.Members {
		if m := &p.g.Members[i]; m.ID == id && m.Client != "" {
			return m.Client + "@" + strings.TrimPrefix(m.Host, "/")
		}
	}
	return id
}

// detail says of what is under the cursor all that columns have no room for.
func (p *group) detail(w int) string {
	t := p.Theme
	var what []page.Fact
	if p.upper {
		what = p.memberDetail()
	} else if o, ok := p.at(); ok {
		what = p.offsetDetail(o)
	}
	lines := []string{page.Rule(t, w, ""), page.Facts(t, w, what...)}
	return kit.Block(strings.Join(lines, "\n"), w, detailLines)
}

func (p *group) memberDetail() []page.Fact {
	i := p.members.Cursor()
	if i >= int64(len(p.g.Members)) {
		return nil
	}
	m := &p.g.Members[i]
	out := []page.Fact{{Name: "member", Value: kit.Safe(m.ID, 200)}, {Name: "host", Value: kit.Safe(m.Host, 100)}}
	if m.Instance != "" {
		out = append(out, page.Fact{Name: "instance", Value: kit.Safe(m.Instance, 100)})
	}
	return append(out, page.Fact{Name: "holds", Value: kit.Safe(assignment(m.Assignment), 500)})
}

func (p *group) offsetDetail(o *model.GroupOffset) []page.Fact {
	t := p.Theme
	if odd, style := offsets.Odd(t, o); odd != "" {
		return []page.Fact{{Name: kit.Safe(o.TopicPartition.String(), 100), Value: odd, Style: style}, {Name: "log", Value: p.extent(o)}}
	}
	out := []page.Fact{{Name: kit.Safe(o.TopicPartition.String(), 100), Value: p.extent(o)}}
	if o.Committed >= 0 {
		out = append(out, page.Fact{Name: "committed", Value: p.Clock.Clock(o.CommittedAt)})
	}
	if o.ExpiresAt >= 0 {
		out = append(out, page.Fact{Name: "expires in", Value: kit.Duration(max(0, -p.Clock.Since(o.ExpiresAt)).Round(time.Second))})
	}
	if o.Member != "" {
		out = append(out, page.Fact{Name: "held by", Value: kit.Safe(o.Member, 200)})
	}
	if o.Metadata != "" {
		out = append(out, page.Fact{Name: "metadata", Value: kit.Safe(o.Metadata, 400)})
	}
	if o.LeaderEpoch >= 0 {
		out = append(out, page.Fact{Name: "leader epoch", Value: strconv.Itoa(int(o.LeaderEpoch))})
	}
	return out
}

func (p *group) extent(o *model.GroupOffset) string {
	return page.OffsetText(p.Theme, o.LogStart) + " " + p.Theme.Glyphs.To + " " + page.OffsetText(p.Theme, o.LogEnd)
}
