package kit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func theme(t testing.TB) *Theme {
	t.Helper()
	th, err := NewTheme("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func TestVListAsksForVisibleRowsOnly(t *testing.T) {
	l := VList{Len: 1 << 40, Theme: theme(t)}
	l.SetCursor(1 << 39)
	asked := 0
	l.View(80, 20, func(int64) string { asked++; return "x" })
	if asked != 20 {
		t.Errorf("asked for %d rows of 20", asked)
	}
}

func TestVListKeepsItsThing(t *testing.T) {
	rows := []string{"a", "b", "c", "d"}
	l := VList{Theme: theme(t)}
	l.KeyOf = func(i int64) string { return rows[i] }
	set := func(r ...string) {
		rows = r
		l.SetLen(int64(len(r)))
	}
	set(rows...)
	l.View(10, 3, func(i int64) string { return rows[i] })
	l.SetCursor(2) // c
	l.Mark()       // and moves on to d
	l.Move(-1)
	set("0", "1", "c", "a")
	if rows[l.Cursor()] != "c" {
		t.Errorf("the cursor is on %s", rows[l.Cursor()])
	}
	set("x", "y", "z", "a", "b", "c")
	if rows[l.Cursor()] != "c" || !l.Marked(5) || l.Marked(2) {
		t.Errorf("cursor on %s, mark on 5 %v", rows[l.Cursor()], l.Marked(5))
	}
	set("p", "q")
	if l.Cursor() != 1 {
		t.Errorf("the thing is gone and the cursor on row %d", l.Cursor())
	}
	set()
	if l.Cursor() != 0 {
		t.Errorf("cursor %d in an empty list", l.Cursor())
	}
	set("q", "p")
	if !l.Select("p") || l.Cursor() != 1 || l.Select("nothing") {
		t.Error("Select")
	}
}

func TestVListMoves(t *testing.T) {
	l := VList{Len: 100, Theme: theme(t)}
	draw := func() { l.View(10, 10, func(i int64) string { return fmt.Sprint(i) }) }
	draw()
	for name, tc := range map[string]struct {
		do          func()
		cursor, top int64
	}{
		"down":            {func() { l.Move(1) }, 51, 45},
		"up over the top": {func() { l.Move(-7) }, 43, 43},
		"half down":       {func() { l.Half(1) }, 55, 50},
		"half up":         {func() { l.Half(-1) }, 45, 40},
		"page down":       {func() { l.Page(1) }, 59, 54},
		"home":            {func() { l.Home() }, 0, 0},
		"end":             {func() { l.End() }, 99, 90},
		"past the end":    {func() { l.Move(1000) }, 99, 90},
		"wheel":           {func() { l.Scroll(3) }, 50, 48},
		"wheel far":       {func() { l.Scroll(20) }, 65, 65},
		"wheel back":      {func() { l.Scroll(-20) }, 34, 25},
	} {
		t.Run(name, func(t *testing.T) {
			l.SetCursor(50)
			l.top = 45
			tc.do()
			draw()
			if l.Cursor() != tc.cursor || l.Top() != tc.top {
				t.Errorf("cursor %d, top %d; want %d, %d", l.Cursor(), l.Top(), tc.cursor, tc.top)
			}
		})
	}
}

func sampleTable(t testing.TB) *Table {
	tb := &Table{Columns: []Column{
		{Name: "TOPIC", Grow: true, Min: 8},
		{Name: "PARTS", Right: true, Drop: 3},
		{Name: "RECORDS", Right: true},
		{Name: "SIZE", Right: true, Drop: 1},
		{Name: "KEEPS", Drop: 2, Max: 10},
	}}
	tb.Theme, tb.Len, tb.Sorted = theme(t), 3, 3
	return tb
}

func sampleRow(th *Theme) func(i int64) Row {
	return func(i int64) Row {
		if i == 2 {
			return Row{Line: th.Warn.Wrap("── a line through all columns ──")}
		}
		name := []string{"orders", "注文トピック-with-a-long-name"}[i]
		return Row{Cells: []Cell{{Text: name}, {Text: "6"}, {Text: Number(4_812_339 * (i + 1))}, {Text: "1.9", Unit: "GiB"}, {Text: "compact, delete"}}}
	}
}

func TestTableDropsColumnsInOrder(t *testing.T) {
	for w, want := range map[int]string{
		120: "TOPIC PARTS RECORDS SIZE KEEPS", 56: "TOPIC PARTS RECORDS SIZE KEEPS", 46: "TOPIC RECORDS SIZE KEEPS", 34: "TOPIC RECORDS SIZE", 24: "TOPIC RECORDS", 12: "TOPIC",
	} {
		tb := sampleTable(t)
		tb.View(w, 5, sampleRow(tb.Theme))
		if got := tb.Shown(); got != want {
			t.Errorf("at %d: %s, want %s", w, got, want)
		}
	}
}

func TestTableFitsAndKeepsItsWidths(t *testing.T) {
	tb := sampleTable(t)
	for _, w := range []int{1, 2, 3, 10, 24, 33, 46, 60, 80, 200} {
		for h := range 7 {
			frame := tb.View(w, h, sampleRow(tb.Theme))
			lines := strings.Split(frame, "\n")
			if h > 0 && len(lines) != h {
				t.Fatalf("%dx%d: %d lines", w, h, len(lines))
			}
			for _, l := range lines {
				if h > 0 && ansi.StringWidth(l) != w {
					t.Fatalf("%dx%d: a line of %d cells: %q", w, h, ansi.StringWidth(l), ansi.Strip(l))
				}
			}
		}
	}
	head := func() string { return strings.Split(tb.View(80, 5, sampleRow(tb.Theme)), "\n")[0] }
	wide := head()
	narrow := strings.Split(tb.View(80, 5, func(int64) Row { return Row{Cells: []Cell{{Text: "x"}, {Text: "1"}, {Text: "1"}}} }), "\n")[0]
	if wide != narrow {
		t.Errorf("columns shrank:\n%s\n%s", ansi.Strip(wide), ansi.Strip(narrow))
	}
	if !strings.Contains(ansi.Strip(wide), "RECORDS▲") {
		t.Errorf("no arrow at the sorted column: %s", ansi.Strip(wide))
	}
	x := ansi.StringWidth(ansi.Strip(wide)[:strings.Index(ansi.Strip(wide), "SIZE")])
	if hit := tb.HitAt(x, 0); !hit.Head || hit.Column != 3 {
		t.Errorf("click on SIZE hit %+v", hit)
	}
	if hit := tb.HitAt(5, 2); hit.Head || hit.Row != 1 || !hit.OK {
		t.Errorf("click on the second row hit %+v", hit)
	}
	if hit := tb.HitAt(5, 9); hit.OK {
		t.Errorf("click below the rows hit %+v", hit)
	}
}

func BenchmarkTable(b *testing.B) {
	tb := sampleTable(b)
	tb.Len = 1_000_000
	row := sampleRow(tb.Theme)
	b.ReportAllocs()
	for b.Loop() {
		tb.Move(1)
		_ = tb.View(200, 60, func(i int64) Row { return row(i % 2) })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2e6, "of_2ms")
}
