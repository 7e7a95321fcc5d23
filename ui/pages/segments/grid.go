package segments

import "github.com/strata-kafka/strata/ui/kit"

// The columns beside the core, in the order in which they stand.
const (
	colBase = iota
	colLast
	colRecords
	colBatches
	colSize
	colRatio
	colIndex
	colWritten
	colLeaves
	colGroups
)

const (
	gutter    = 1 // the cursor
	coreCells = 6
	gap       = 2
	minLeaves = 14
	// fullLeaves is room for a rule beside the time.
	fullLeaves = 26
	minGroups  = 26
	maxGroups  = 44
	lesser     = 5 // columns with this drop or more go first
)

// column is one column beside the core.
type column struct {
	name  string
	right bool
	drop  int // the highest goes first on a narrow screen; 0 never goes
	w     int // cells it has asked for; never shrinks
	x     int // where it stands; -1 when it is left out
	got   int // cells it has
}

// grid places the columns. Widths never shrink while the page lives.
type grid struct {
	cols  []column
	tight bool // LEAVES does without the rule
}

func newGrid() grid {
	return grid{cols: []column{
		colBase:    {name: "BASE OFFSET", right: true},
		colLast:    {name: "LAST", right: true, drop: 7},
		colRecords: {name: "RECORDS", right: true, drop: 2},
		colBatches: {name: "BATCHES", right: true, drop: 9},
		colSize:    {name: "SIZE", right: true, drop: 1, w: 8},
		colRatio:   {name: "RATIO", right: true, drop: 6},
		colIndex:   {name: "INDEX", right: true, drop: 8},
		colWritten: {name: "WRITTEN", drop: 5, w: 13},
		colLeaves:  {name: "LEAVES", drop: 3, w: minLeaves},
		colGroups:  {name: "GROUPS", drop: 4},
	}}
}

// ask widens column c to a cell.
func (g *grid) ask(c, w int) { g.cols[c].w = max(g.cols[c].w, w, kit.Width(g.cols[c].name)) }

// place puts the columns that fit into w cells. The lesser columns go before LEAVES and GROUPS give up cells, the others
// after that.
func (g *grid) place(w int, pegs bool) {
	show := make([]bool, len(g.cols))
	for c := range show {
		show[c] = c != colGroups || pegs
	}
	g.tight = false
	g.leaveOut(show, w, lesser)
	g.tight = g.needs(show) > w
	g.leaveOut(show, w, 1)
	left := max(0, w-g.needs(show))
	x := gutter + coreCells + gap
	for c := range g.cols {
		col := &g.cols[c]
		col.x = -1
		if !show[c] {
			continue
		}
		col.got = g.least(c)
		if more := min(left, col.w-col.got); more > 0 {
			col.got, left = col.got+more, left-more
		}
		if c == colGroups {
			col.got = w - x
		}
		if x+col.got > w {
			col.got = w - x
		}
		if col.got <= 0 {
			break
		}
		col.x = x
		x += col.got + gap
	}
}

// leaveOut takes columns away whose drop is at least from, the highest first, until the rest fits into w cells.
func (g *grid) leaveOut(show []bool, w, from int) {
	for g.needs(show) > w {
		worst := -1
		for c := range g.cols {
			if show[c] && g.cols[c].drop >= from && (worst < 0 || g.cols[c].drop > g.cols[worst].drop) {
				worst = c
			}
		}
		if worst < 0 {
			return
		}
		show[worst] = false
	}
}

// least is what column c can live with.
func (g *grid) least(c int) int {
	switch w := max(g.cols[c].w, len(g.cols[c].name)); {
	case c == colLeaves && g.tight:
		return min(w, minLeaves)
	case c == colLeaves:
		return min(w, fullLeaves)
	case c == colGroups:
		return min(w, minGroups)
	default:
		return w
	}
}

func (g *grid) needs(show []bool) int {
	n := gutter + coreCells
	for c := range g.cols {
		if show[c] {
			n += gap + g.least(c)
		}
	}
	return n
}

// shown reports whether column c is on screen.
func (g *grid) shown(c int) bool { return g.cols[c].x >= 0 }

// cell draws a cell into its column.
func (g *grid) cell(l *kit.Line, t *kit.Theme, c int, cell kit.Cell) {
	col := &g.cols[c]
	if col.x < 0 {
		return
	}
	n := cell.Width()
	l.To(col.x)
	if col.right {
		l.Space(col.got - n)
	}
	switch {
	case c == colLeaves && len(cell.Spans) == 2 && n > col.got:
		l.Spans(cell.Spans[:1], col.got) // when, without the rule, rather than a rule that is cut
	case cell.Spans != nil:
		l.Spans(cell.Spans, col.got)
	case cell.Unit != "" && n <= col.got:
		l.Add(cell.Style, cell.Text).Space(1).Add(t.Dim, cell.Unit)
	default:
		l.Add(cell.Style, kit.Cut(cell.Text, col.got))
	}
}
