package groups

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// column is a column of the table, in the order in which they stand.
type column int

const (
	colGroup column = iota
	colState
	colType
	colProtocol
	colMembers
	colTopics
	colLag
	colTrend
	colNote
)

// columns returns the table's columns. On a narrow screen they go from the highest Drop down; name, state and lag remain.
func columns(noted bool) []kit.Column {
	cols := []kit.Column{
		colGroup:    {Name: "GROUP", Grow: true, Min: 16, Max: 60},
		colState:    {Name: "STATE", Min: 8},
		colType:     {Name: "TYPE", Min: 7, Drop: 5},
		colProtocol: {Name: "PROTOCOL", Drop: 4},
		colMembers:  {Name: "MEMBERS", Right: true, Drop: 2},
		colTopics:   {Name: "TOPICS", Right: true, Drop: 3},
		colLag:      {Name: "LAG", Right: true, Min: 11},
		colTrend:    {Name: "TREND", Min: 8, Drop: 1},
	}
	if noted {
		cols = append(cols, kit.Column{Name: "NOTE", Grow: true, Min: 10, Max: 70, Drop: 1})
	}
	return cols
}

func (p *groups) setColumns() {
	p.table.Columns = columns(p.noted)
	p.table.Sorted, p.table.Desc = int(p.sorted)+1, p.desc
}

// arrange makes the rows anew: what is shown, and in which order.
func (p *groups) arrange() {
	p.rows = p.rows[:0]
	noted, name := false, 16
	for i := range p.all {
		g := &p.all[i]
		noted = noted || g.lost > 0 || g.ahead > 0 || g.broken > 0 || g.Note != ""
		if p.filter.Match(g.ID) {
			p.rows = append(p.rows, i)
		}
		name = max(name, min(60, len(g.ID)))
	}
	if noted && !p.noted {
		p.noted = true
		p.setColumns()
	}
	p.table.Columns[colGroup].Max = name
	slices.SortStableFunc(p.rows, p.compare)
	p.table.SetLen(int64(len(p.rows)))
}

func (p *groups) compare(i, j int) int {
	a, b := &p.all[i], &p.all[j]
	var n int
	switch p.sorted {
	case colState:
		n = strings.Compare(string(a.State), string(b.State))
	case colType:
		n = strings.Compare(a.Type, b.Type)
	case colProtocol:
		n = strings.Compare(a.Protocol, b.Protocol)
	case colMembers:
		n = cmp.Compare(len(a.Members), len(b.Members))
	case colTopics:
		n = cmp.Compare(a.topics, b.topics)
	case colLag:
		n = page.CompareCounts(a.Lag, b.Lag)
	case colTrend:
		x, _ := p.meter(a.ID).Slope()
		y, _ := p.meter(b.ID).Slope()
		n = cmp.Compare(x, y)
	case colNote:
		n = cmp.Compare(a.lost+a.ahead, b.lost+b.ahead)
	default:
		n = strings.Compare(a.ID, b.ID)
	}
	if p.desc {
		n = -n
	}
	return cmp.Or(n, strings.Compare(a.ID, b.ID))
}

// nextSort sorts by the column right of the one that sorts now.
func (p *groups) nextSort() tea.Cmd {
	next := p.sorted + 1
	if int(next) >= len(p.table.Columns) {
		next = colGroup
	}
	p.sorted, p.desc = next, next >= colMembers
	return p.resort()
}

// sortBy sorts by a column, or turns the order when it sorts already.
func (p *groups) sortBy(c column) tea.Cmd {
	if c == p.sorted {
		p.desc = !p.desc
		return p.resort()
	}
	p.sorted, p.desc = c, c >= colMembers
	return p.resort()
}

func (p *groups) resort() tea.Cmd {
	p.table.Sorted, p.table.Desc = int(p.sorted)+1, p.desc
	p.arrange()
	return page.Send(page.Remember{Key: "sort", Value: page.SortText(&p.table)})
}

// parseSort reads a remembered order; what it does not know is the order by name.
func parseSort(s string) (column, bool) {
	c, desc := page.ParseSort(s, columns(false))
	return column(c), desc
}
