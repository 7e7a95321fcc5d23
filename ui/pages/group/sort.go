package group

import (
	"cmp"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// column is a column of the offsets' table, in the order in which they stand.
type column int

const (
	colPartition column = iota
	colCommitted
	colStart
	colEnd
	colLag
	colTrend
	colWhen
	colNote
	colMember
	colMetadata
)

// columns returns the offsets' table's columns, and which each of them is. On a narrow screen they go from the highest
// Drop down; partition, committed and lag remain.
func columns(has traits) (cols []kit.Column, which []column) {
	all := []kit.Column{
		colPartition: {Name: "PARTITION", Grow: true, Min: 14, Max: 48},
		colCommitted: {Name: "COMMITTED", Right: true, Min: 10},
		colStart:     {Name: "START", Right: true, Drop: 7},
		colEnd:       {Name: "END", Right: true, Drop: 4},
		colLag:       {Name: "LAG", Right: true, Min: 9},
		colTrend:     {Name: "TREND", Min: 8, Drop: 5},
		colWhen:      {Name: "WHEN", Right: true, Min: 6, Drop: 2},
		colNote:      {Name: "NOTE", Grow: true, Min: 29, Max: 44, Drop: 1},
		colMember:    {Name: "MEMBER", Grow: true, Min: 16, Max: 44, Drop: 6},
		colMetadata:  {Name: "METADATA", Grow: true, Min: 12, Max: 60, Drop: 8},
	}
	for c, col := range all {
		switch column(c) {
		case colNote:
			if !has.odd {
				continue
			}
		case colMember:
			if !has.members {
				continue
			}
		case colMetadata:
			if !has.metadata {
				continue
			}
		}
		cols, which = append(cols, col), append(which, column(c))
	}
	return cols, which
}

// memberColumns returns the columns of the members' table; static says that a member has an instance id.
func memberColumns(static bool) []kit.Column {
	cols := []kit.Column{
		{Name: "CLIENT", Grow: true, Min: 10, Max: 30},
		{Name: "HOST", Min: 9, Drop: 2},
		{Name: "HOLDS", Right: true},
		{Name: "PARTITIONS", Grow: true, Min: 26, Max: 80},
		{Name: "MEMBER", Grow: true, Min: 24, Max: 60, Drop: 3},
	}
	if static {
		cols = append(cols, kit.Column{Name: "INSTANCE", Grow: true, Min: 8, Max: 30, Drop: 4})
	}
	return cols
}

func (p *group) setColumns() {
	p.table.Columns, p.cols = columns(p.has)
	p.mark()
}

// mark puts the arrow on the head of the column that sorts.
func (p *group) mark() {
	p.table.Sorted, p.table.Desc = slices.Index(p.cols, p.sorted)+1, p.desc
}

// arrange makes the rows anew: what is shown, and in which order.
func (p *group) arrange() {
	p.rows = p.rows[:0]
	has, name := p.has, 14
	for i := range p.g.Offsets {
		o := &p.g.Offsets[i]
		has.odd = has.odd || o.Err != nil || o.Lost > 0 || o.Ahead > 0
		has.metadata = has.metadata || o.Metadata != ""
		has.members = has.members || o.Member != ""
		if p.filter.Match(o.TopicPartition.String()) || p.filter.Match(o.Member) && o.Member != "" {
			p.rows = append(p.rows, i)
		}
		name = max(name, min(48, len(o.Topic)+4))
	}
	if has != p.has {
		p.has = has
		p.setColumns()
		p.table.Forget()
	}
	p.table.Columns[colPartition].Max = name
	if p.sorted != colPartition || p.desc {
		slices.SortStableFunc(p.rows, p.compare)
	}
	p.table.SetLen(int64(len(p.rows)))
}

func (p *group) compare(i, j int) int {
	a, b := &p.g.Offsets[i], &p.g.Offsets[j]
	var n int
	switch p.sorted {
	case colCommitted:
		n = cmp.Compare(a.Committed, b.Committed)
	case colStart:
		n = cmp.Compare(a.LogStart, b.LogStart)
	case colEnd:
		n = cmp.Compare(a.LogEnd, b.LogEnd)
	case colLag:
		n = page.CompareCounts(a.Lag, b.Lag)
	case colTrend:
		n = cmp.Compare(p.slope(a.TopicPartition), p.slope(b.TopicPartition))
	case colWhen:
		n = cmp.Compare(a.CommittedAt, b.CommittedAt)
	case colNote:
		n = cmp.Compare(a.Lost+a.Ahead, b.Lost+b.Ahead)
	case colMember:
		n = cmp.Compare(a.Member, b.Member)
	case colMetadata:
		n = cmp.Compare(a.Metadata, b.Metadata)
	default:
		n = a.Compare(b.TopicPartition)
	}
	if p.desc {
		n = -n
	}
	return cmp.Or(n, a.Compare(b.TopicPartition))
}

func (p *group) slope(tp model.TopicPartition) float64 {
	m := p.meters[tp]
	if m == nil {
		return 0
	}
	s, _ := m.Slope()
	return s
}

// nextSort sorts by the next column that there is.
func (p *group) nextSort() tea.Cmd {
	i := slices.Index(p.cols, p.sorted)
	p.sorted = p.cols[(i+1)%len(p.cols)]
	p.desc = p.sorted != colPartition && p.sorted != colMember && p.sorted != colMetadata
	p.resort()
	return nil
}

// sortBy sorts by a column, or turns the order when it sorts already.
func (p *group) sortBy(c column) {
	if c == p.sorted {
		p.desc = !p.desc
	} else {
		p.sorted, p.desc = c, c != colPartition && c != colMember && c != colMetadata
	}
	p.resort()
}

func (p *group) resort() {
	p.mark()
	p.arrange()
}
