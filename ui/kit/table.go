package kit

import "strings"

// gap is the number of blanks between two columns.
const gap = 2

// Column describes one column of a Table.
type Column struct {
	Name  string
	Right bool // numbers
	Min   int  // cells; 0 means as wide as its head
	Max   int  // cells; 0 means unbounded
	// Drop is the order in which columns go when the screen is too narrow: the highest goes first, 0 never goes.
	Drop int
	// Grow takes what the others leave over, up to Max, and gives it up before any column is dropped (down to Min).
	Grow bool
}

// Cell is one cell of a row. Text and Unit must be safe.
type Cell struct {
	Text  string
	Unit  string // drawn dim behind Text, after a blank
	Style Style
	Spans []Span // instead of Text and Unit: pieces in their own styles
}

// Width returns the cells that c wants.
func (c Cell) Width() int {
	if c.Spans != nil {
		return SpansWidth(c.Spans)
	}
	n := Width(c.Text)
	if c.Unit != "" {
		n += 1 + Width(c.Unit)
	}
	return n
}

// Row is one row of a Table: its cells, one a column, or a Line that runs through all columns.
type Row struct {
	Cells []Cell
	Line  string // styled; used when Cells is nil
}

// Table is a VList with columns and a head. Columns must be set before View; widths never shrink until Forget.
type Table struct {
	VList
	Columns []Column
	// Sorted is the column whose head carries the arrow, counted from 1; 0 for none. Desc turns the arrow.
	Sorted int
	Desc   bool
	NoHead bool

	widths []int
	shown  []placed // as of the last View
	buf    Line
}

type placed struct{ col, x, w int }

// Forget lets the widths be measured anew, as after a change of columns.
func (t *Table) Forget() { t.widths = nil }

// View returns exactly h lines of w cells: the head, and the rows on screen. row is called for these only.
func (t *Table) View(w, h int, row func(i int64) Row) string {
	if h <= 0 {
		return ""
	}
	body := h
	if !t.NoHead {
		body--
	}
	t.height = int64(max(body, 1))
	t.clamp()
	from, to := t.Window()
	rows := make([]Row, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, row(i))
	}
	t.measure(rows)
	t.place(w)
	list := t.VList.View(w, body, func(i int64) string { return t.line(rows[i-from], w-Gutter) })
	switch {
	case t.NoHead:
		return list
	case body <= 0:
		return t.head(w)
	}
	return t.head(w) + "\n" + list
}

// measure widens the columns to what is on screen.
func (t *Table) measure(rows []Row) {
	if len(t.widths) != len(t.Columns) {
		t.widths = make([]int, len(t.Columns))
	}
	for c, col := range t.Columns {
		n := max(t.widths[c], col.Min, Width(t.headText(c)))
		for _, r := range rows {
			if c < len(r.Cells) {
				n = max(n, r.Cells[c].Width())
			}
		}
		if col.Max > 0 {
			n = min(n, max(col.Max, Width(t.headText(c))))
		}
		t.widths[c] = n
	}
}

// place decides which columns are shown and where.
func (t *Table) place(w int) {
	show := make([]bool, len(t.Columns))
	for c := range show {
		show[c] = true
	}
	room := w - Gutter
	for t.needs(show) > room {
		worst := -1
		for c, col := range t.Columns {
			if show[c] && col.Drop > 0 && (worst < 0 || col.Drop > t.Columns[worst].Drop) {
				worst = c
			}
		}
		if worst < 0 {
			break
		}
		show[worst] = false
	}
	grow := 0
	for c, col := range t.Columns {
		if show[c] && col.Grow {
			grow++
		}
	}
	left := max(0, room-t.needs(show))
	t.shown = t.shown[:0]
	x := Gutter
	for c, col := range t.Columns {
		if !show[c] {
			continue
		}
		cw := t.widths[c]
		if col.Grow {
			share := left / grow
			if col.Max > 0 {
				share = max(0, min(share, max(col.Max, Width(t.headText(c)))-t.least(c)))
			}
			cw, left = t.least(c)+share, left-share
			grow--
		}
		cw = min(cw, w-x)
		if cw <= 0 {
			break
		}
		t.shown = append(t.shown, placed{c, x, cw})
		x += cw + gap
	}
}

// least returns the width that column c needs at the least.
func (t *Table) least(c int) int {
	if t.Columns[c].Grow {
		return min(t.widths[c], max(t.Columns[c].Min, Width(t.headText(c))))
	}
	return t.widths[c]
}

func (t *Table) needs(show []bool) int {
	n := -gap
	for c := range t.Columns {
		if show[c] {
			n += t.least(c) + gap
		}
	}
	return n
}

func (t *Table) headText(c int) string {
	name := t.Columns[c].Name
	switch {
	case t.Sorted != c+1:
		return name
	case t.Desc:
		return name + t.Theme.Glyphs.Down
	}
	return name + t.Theme.Glyphs.Up
}

func (t *Table) head(w int) string {
	var l Line
	for _, p := range t.shown {
		l.To(p.x).Cell(t.Theme.Head, t.headText(p.col), p.w, t.Columns[p.col].Right)
	}
	return l.Fit(w)
}

func (t *Table) line(r Row, w int) string {
	if r.Cells == nil {
		return Cut(r.Line, w)
	}
	l := &t.buf
	l.Reset()
	for _, p := range t.shown {
		l.To(p.x - Gutter)
		if p.col >= len(r.Cells) {
			continue
		}
		t.cell(l, r.Cells[p.col], p.w, t.Columns[p.col].Right)
	}
	return l.String()
}

func (t *Table) cell(l *Line, c Cell, w int, right bool) {
	n := c.Width()
	if right && n < w {
		l.Space(w - n)
	}
	switch {
	case c.Spans != nil:
		l.Spans(c.Spans, w)
	case c.Unit != "" && n <= w:
		l.Add(c.Style, c.Text).Space(1).Add(t.Theme.Dim, c.Unit)
	case c.Unit != "":
		l.Add(c.Style, Cut(c.Text+" "+c.Unit, w))
	default:
		l.Add(c.Style, Cut(c.Text, w))
	}
}

// HeadAt returns the column whose head is at cell x, counted from 0; false when there is none.
func (t *Table) HeadAt(x int) (int, bool) {
	for _, p := range t.shown {
		if x >= p.x && x < p.x+p.w {
			return p.col, true
		}
	}
	return 0, false
}

// Shown returns the names of the columns on screen, as of the last View.
func (t *Table) Shown() string {
	var names []string
	for _, p := range t.shown {
		names = append(names, t.Columns[p.col].Name)
	}
	return strings.Join(names, " ")
}

// Hit is what a mouse event on a Table met.
type Hit struct {
	Head   bool
	Column int   // with Head
	Row    int64 // without
	OK     bool
}

// HitAt returns what is at cell x of line y of the table, as of the last View.
func (t *Table) HitAt(x, y int) Hit {
	if !t.NoHead {
		if y == 0 {
			c, ok := t.HeadAt(x)
			return Hit{Head: true, Column: c, OK: ok}
		}
		y--
	}
	i, ok := t.RowAt(y)
	return Hit{Row: i, OK: ok}
}
