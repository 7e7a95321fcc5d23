package partitions

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// column is a column of the table, in the order in which they stand.
type column int

const (
	colPartition column = iota
	colStart
	colHW
	colLSO
	colLEO
	colRecords
	colSize
	colSegments
	colNewest
	colLeader
	colReplicas
	colSkew
	colDir
	colNote
)

const barCells = 8

// setColumns chooses the columns. On a narrow screen they go from the highest Drop down; number, log start and log end
// remain, and of a cluster leader and replicas.
func (p *partitions) setColumns() {
	all := [...]kit.Column{
		colPartition: {Name: "P", Right: true, Min: 3},
		colStart:     {Name: "LOG START", Right: true},
		colHW:        {Name: "HW", Right: true, Min: 9, Drop: 1},
		colLSO:       {Name: "LSO", Right: true, Min: 9, Drop: 7},
		colLEO:       {Name: "LEO", Right: true, Min: 9},
		colRecords:   {Name: "RECORDS", Right: true, Min: 9, Drop: 2},
		colSize:      {Name: "SIZE", Right: true, Min: 8, Drop: 3},
		colSegments:  {Name: "SEGS", Right: true, Drop: 5},
		colNewest:    {Name: "NEWEST", Right: true, Drop: 6},
		colLeader:    {Name: "EPOCH", Right: true, Drop: 8},
		colReplicas:  {Name: "REPLICAS", Min: 8, Max: 40},
		colSkew:      {Name: "SKEW", Min: barCells + 6, Drop: 4},
		colDir:       {Name: "DIR", Max: 28, Drop: 9},
		colNote:      {Name: "NOTE", Grow: true, Min: 14, Max: 100},
	}
	if p.leaders || p.cluster {
		all[colLeader].Name = "LEADER"
	}
	p.cols = []column{colPartition, colStart, colHW, colLSO, colLEO, colRecords, colSize, colSegments, colNewest, colLeader, colSkew}
	if p.cluster {
		all[colLeader].Drop, all[colStart].Drop, all[colHW].Drop, all[colSkew].Drop = 0, 2, 8, 9
		p.cols = []column{colPartition, colLeader, colReplicas, colStart, colHW, colLSO, colLEO, colRecords, colSize, colSegments, colNewest, colSkew}
		if !p.sized {
			p.cols = slices.DeleteFunc(p.cols, func(c column) bool { return c == colSegments })
		}
	}
	if p.spread {
		p.cols = append(p.cols, colDir)
	}
	if p.noted {
		p.cols = append(p.cols, colNote)
	}
	p.table.Columns = make([]kit.Column, 0, len(p.cols))
	for _, c := range p.cols {
		p.table.Columns = append(p.table.Columns, all[c])
	}
	p.mark()
}

// mark puts the arrow at the column that sorts.
func (p *partitions) mark() {
	p.table.Sorted, p.table.Desc = slices.Index(p.cols, p.sorted)+1, p.desc
}

// arrange makes the rows anew: what is shown, and in which order. Leftovers stay below whatever sorts.
func (p *partitions) arrange() {
	p.rows = p.rows[:0]
	noted, leaders, spread, sized := p.noted, p.leaders, p.spread, p.sized
	for i := range p.all {
		r := &p.all[i]
		noted = noted || p.note(r) != ""
		sized = sized || r.Segments >= 0
		leaders = leaders || len(r.Replicas) > 1
		spread = spread || filepath.Dir(r.Dir) != filepath.Dir(p.all[0].Dir)
		if p.filter.Match(strconv.Itoa(int(r.Partition)) + " " + p.note(r)) {
			p.rows = append(p.rows, i)
		}
	}
	if noted != p.noted || leaders != p.leaders || spread != p.spread || sized != p.sized {
		p.noted, p.leaders, p.spread, p.sized = noted, leaders, spread, sized
		p.setColumns()
	}
	slices.SortStableFunc(p.rows, p.compare)
	p.table.SetLen(int64(len(p.rows)))
	if p.sought != "" && p.table.Select(p.sought) {
		p.sought = ""
	}
}

func (p *partitions) compare(i, j int) int {
	a, b := &p.all[i], &p.all[j]
	if x, y := a.State != model.Live, b.State != model.Live; x != y {
		if x {
			return 1
		}
		return -1
	}
	n := 0
	switch p.sorted {
	case colStart:
		n = cmp.Compare(a.LogStart, b.LogStart)
	case colHW:
		n = cmp.Compare(a.HighWatermark, b.HighWatermark)
	case colLSO:
		n = cmp.Compare(a.LastStable, b.LastStable)
	case colLEO:
		n = cmp.Compare(a.LogEnd, b.LogEnd)
	case colRecords:
		n = page.CompareCounts(a.Records, b.Records)
	case colSize, colSkew:
		n = cmp.Compare(a.Bytes, b.Bytes)
	case colSegments:
		n = cmp.Compare(a.Segments, b.Segments)
	case colNewest:
		n = cmp.Compare(a.Newest, b.Newest)
	case colLeader:
		n = cmp.Or(cmp.Compare(a.Leader, b.Leader), cmp.Compare(a.LeaderEpoch, b.LeaderEpoch))
	case colReplicas: // what lacks most comes first
		n = cmp.Or(cmp.Compare(len(a.Replicas)-len(a.ISR), len(b.Replicas)-len(b.ISR)), slices.Compare(b.Replicas, a.Replicas))
	case colDir:
		n = cmp.Compare(a.Dir, b.Dir)
	case colNote:
		n = cmp.Compare(p.note(a), p.note(b))
	case colPartition:
		n = cmp.Compare(a.Partition, b.Partition)
	}
	if p.desc {
		n = -n
	}
	return cmp.Or(n, cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Dir, b.Dir))
}

// nextSort sorts by the column right of the one that sorts now.
func (p *partitions) nextSort() tea.Cmd {
	next := p.cols[(slices.Index(p.cols, p.sorted)+1)%len(p.cols)]
	p.desc = next == colPartition // so that sortBy turns it the right way
	p.sorted = next
	p.sortBy(next)
	return nil
}

// sortBy sorts by a column, or turns the order when it sorts already. Figures begin with the highest.
func (p *partitions) sortBy(c column) {
	if c == p.sorted {
		p.desc = !p.desc
	} else {
		p.sorted, p.desc = c, c != colPartition
	}
	p.mark()
	p.arrange()
}
