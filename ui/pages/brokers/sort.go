package brokers

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// column is a column of the table, in the order in which they stand.
type column int

const (
	colID column = iota
	colAddress
	colRack
	colState
	colVersion
	colLed
	colHosted
	colLagging
	colSize
)

// columns returns the table's columns; address is the length of the longest one. On a narrow screen they go from the highest Drop down; id, address, state and what
// is out of sync remain.
func columns(racks bool, address int) []kit.Column {
	cols := []kit.Column{
		colID:      {Name: "ID", Right: true, Min: 3},
		colAddress: {Name: "ADDRESS", Grow: true, Min: max(14, min(address, 22)), Max: 60},
		colRack:    {Name: "RACK", Min: 4, Max: 24, Drop: 4},
		colState:   {Name: "STATE", Grow: true, Min: 12, Max: 60},
		colVersion: {Name: "VERSION", Max: 16, Drop: 5},
		colLed:     {Name: "LED", Right: true, Min: 5, Drop: 1},
		colHosted:  {Name: "REPLICAS", Right: true, Drop: 3},
		colLagging: {Name: "OUT OF SYNC", Right: true},
		colSize:    {Name: "SIZE", Right: true, Min: 8, Drop: 2},
	}
	if !racks {
		cols[colRack] = kit.Column{Min: 1, Drop: 9} // left out first, and empty where there is room
	}
	return cols
}

func dirColumns() []kit.Column {
	return []kit.Column{
		{Name: "PATH", Grow: true, Min: 16},
		{Name: "PARTITIONS", Right: true},
		{Name: "SIZE", Right: true, Min: 8},
		{Name: "VOLUME", Min: barCells + 10, Drop: 2},
		{Name: "FREE", Right: true, Min: 8, Drop: 1},
	}
}

func quorumColumns() []kit.Column {
	return []kit.Column{
		{Name: "NODE", Right: true, Min: 5},
		{Name: "ROLE", Min: 8},
		{Name: "LOG END", Right: true, Min: 9},
		{Name: "BEHIND", Right: true, Min: 7},
		{Name: "CAUGHT UP", Min: 9, Drop: 1},
	}
}

func configColumns() []kit.Column {
	return []kit.Column{
		{Name: "CONFIG", Grow: true, Min: 20, Max: 60},
		{Name: "VALUE", Grow: true, Min: 14, Max: 100},
		{Name: "DEFAULT", Grow: true, Min: 10, Max: 40, Drop: 2},
		{Name: "FROM", Min: 7, Drop: 1},
	}
}

func (p *brokers) setColumns() {
	p.list.Columns = columns(p.racks, p.longest)
	p.list.Sorted, p.list.Desc = int(p.sorted)+1, p.desc
}

// arrange makes the rows anew: what is shown, and in which order.
func (p *brokers) arrange() {
	p.rows = p.rows[:0]
	racks, longest := p.racks, p.longest
	for i := range p.all {
		b := &p.all[i]
		racks, longest = racks || b.Rack != "", max(longest, len(b.Address))
		if p.screen == configScreen || p.filter.Match(strconv.Itoa(int(b.ID))) || p.filter.Match(b.Address) || p.filter.Match(b.Rack) || p.filter.Match(state(b)) {
			p.rows = append(p.rows, i)
		}
	}
	if racks != p.racks || longest != p.longest {
		p.racks, p.longest = racks, longest
		p.setColumns()
	}
	slices.SortStableFunc(p.rows, p.compare)
	p.list.SetLen(int64(len(p.rows)))
	p.follow()
}

func (p *brokers) compare(i, j int) int {
	a, b := &p.all[i], &p.all[j]
	n := 0
	switch p.sorted {
	case colAddress:
		n = strings.Compare(a.Address, b.Address)
	case colRack:
		n = strings.Compare(a.Rack, b.Rack)
	case colState:
		n = strings.Compare(state(a), state(b))
	case colVersion:
		n = strings.Compare(a.Version, b.Version)
	case colLed:
		n = cmp.Compare(a.Led, b.Led)
	case colHosted:
		n = cmp.Compare(a.Hosted, b.Hosted)
	case colLagging:
		n = cmp.Compare(a.Lagging, b.Lagging)
	case colSize:
		n = cmp.Compare(a.Bytes, b.Bytes)
	case colID:
		n = cmp.Compare(a.ID, b.ID)
	}
	if p.desc {
		n = -n
	}
	return cmp.Or(n, cmp.Compare(a.ID, b.ID))
}

// figures are sorted from the greatest down at first.
func (c column) figures() bool { return c >= colLed }

// nextSort sorts by the column right of the one that sorts now.
func (p *brokers) nextSort() tea.Cmd {
	next := p.sorted + 1
	if next == colRack && !p.racks {
		next++
	}
	if int(next) >= len(p.list.Columns) {
		next = colID
	}
	p.sorted, p.desc = next, next.figures()
	return p.resort()
}

// sortBy sorts by a column, or turns the order when it sorts already.
func (p *brokers) sortBy(c column) tea.Cmd {
	if c == p.sorted {
		p.desc = !p.desc
	} else {
		p.sorted, p.desc = c, c.figures()
	}
	return p.resort()
}

func (p *brokers) resort() tea.Cmd {
	p.list.Sorted, p.list.Desc = int(p.sorted)+1, p.desc
	p.list.Rearrange(p.arrange)
	return page.Send(page.Remember{Key: "sort", Value: page.SortText(&p.list)})
}

// state puts into words whether a broker lives.
func state(b *model.Broker) string {
	switch {
	case b.Err != nil:
		return b.Err.Error()
	case b.Alive && b.Controller:
		return "controller"
	case b.Alive:
		return "alive"
	}
	return "being asked"
}
