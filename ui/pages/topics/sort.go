package topics

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// column is a column of the table, in the order in which they stand.
type column int

const (
	colTopic column = iota
	colParts
	colRecords
	colSize
	colSpark
	colRate
	colNewest
	colKeeps
	colGroups
	colLag
	colNote
)

// widest is the longest name that a wide screen makes room for.
const widest = 60

// columns returns the table's columns. On a narrow screen they go from the highest Drop down; name, records and lag
// remain.
func columns(nameWidth, spark int, noted bool) []kit.Column {
	cols := []kit.Column{
		colTopic:   {Name: "TOPIC", Grow: true, Min: min(nameWidth, 18), Max: nameWidth},
		colParts:   {Name: "PARTS", Right: true, Drop: 5},
		colRecords: {Name: "RECORDS", Right: true, Min: 10},
		colSize:    {Name: "SIZE", Right: true, Min: 8, Drop: 2},
		colSpark:   {Min: spark, Drop: 7},
		colRate:    {Name: "RATE", Right: true, Min: 6, Drop: 1},
		colNewest:  {Name: "NEWEST", Right: true, Drop: 3},
		colKeeps:   {Name: "KEEPS", Min: 7, Drop: 6},
		colGroups:  {Name: "GROUPS", Right: true, Drop: 4},
		colLag:     {Name: "LAG", Right: true, Min: 9},
	}
	if noted {
		cols = append(cols, kit.Column{Name: "NOTE", Grow: true, Min: 12, Max: 60, Drop: 8})
	}
	return cols
}

// arrange makes the rows anew: what is shown, and in which order.
func (p *topics) arrange() {
	p.rows, p.hidden = p.rows[:0], 0
	name, noted := 12, false
	for i := range p.all {
		t := &p.all[i]
		if t.Internal && !p.Settings.Internal {
			p.hidden++
			continue
		}
		if p.filter.Match(t.Name) {
			p.rows = append(p.rows, i)
		}
		n := len(t.Name)
		if t.Note != "" {
			n, noted = n+2, true
		}
		name = max(name, n)
	}
	if name = min(name, widest); name > p.table.Columns[colTopic].Max || noted != p.noted {
		p.noted = noted
		p.setColumns(max(name, p.table.Columns[colTopic].Max))
	}
	if p.sorted != colTopic || p.desc {
		slices.SortStableFunc(p.rows, p.compare)
	}
	p.table.SetLen(int64(len(p.rows)))
	if p.sought != "" && p.table.Select(p.sought) {
		p.sought = ""
	}
}

func (p *topics) setColumns(name ...int) {
	w := 12
	for _, n := range name {
		w = n
	}
	p.table.Columns = columns(w, p.spark, p.noted)
	p.table.Sorted, p.table.Desc = int(p.sorted)+1, p.desc
}

func (p *topics) compare(i, j int) int {
	a, b := &p.all[i], &p.all[j]
	n := 0
	switch p.sorted {
	case colTopic:
		n = strings.Compare(a.Name, b.Name)
	case colParts:
		n = cmp.Compare(a.Partitions, b.Partitions)
	case colRecords:
		n = page.CompareCounts(a.Records, b.Records)
	case colSize:
		n = cmp.Compare(a.Bytes, b.Bytes)
	case colRate, colSpark:
		now := p.Now()
		x, _ := p.meters[i].rate(now)
		y, _ := p.meters[j].rate(now)
		n = cmp.Compare(x, y)
	case colNewest:
		n = cmp.Compare(a.Newest, b.Newest)
	case colKeeps:
		n = cmp.Compare(keepRank(a.Retention), keepRank(b.Retention))
	case colGroups:
		n = cmp.Compare(p.readers[a.Name].groups, p.readers[b.Name].groups)
	case colLag:
		n = page.CompareCounts(p.readers[a.Name].lag, p.readers[b.Name].lag)
	case colNote:
		n = strings.Compare(a.Note, b.Note)
	}
	if p.desc {
		n = -n
	}
	return cmp.Or(n, strings.Compare(a.Name, b.Name))
}

// keepRank orders retentions by time: what is kept for ever, or until a newer record comes, is last.
func keepRank(r model.Retention) int64 {
	if !r.Known || !r.Delete || r.MS < 0 {
		return 1 << 62
	}
	return r.MS
}

// nextSort sorts by the column right of the one that sorts now.
func (p *topics) nextSort() tea.Cmd {
	next := p.sorted + 1
	if next == colSpark {
		next++
	}
	if int(next) >= len(p.table.Columns) {
		next = colTopic
	}
	p.sorted = next
	p.desc = next != colTopic
	return p.resort()
}

// sortBy sorts by a column, or turns the order when it sorts already.
func (p *topics) sortBy(c column) tea.Cmd {
	if c == colSpark {
		c = colRate
	}
	if c == p.sorted {
		p.desc = !p.desc
		return p.resort()
	}
	p.sorted, p.desc = c, c != colTopic
	return p.resort()
}

func (p *topics) resort() tea.Cmd {
	p.table.Sorted, p.table.Desc = int(p.sorted)+1, p.desc
	p.arrange()
	return page.Send(page.Remember{Key: "sort", Value: page.SortText(&p.table)})
}

// parseSort reads a remembered order; what it does not know is the order by name.
func parseSort(s string) (column, bool) {
	c, desc := page.ParseSort(s, columns(0, 1, false))
	return column(c), desc
}
