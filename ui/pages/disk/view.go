package disk

import (
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

type column int

const (
	colName column = iota
	colSize
	colShare
	colPercent
	colGrowth
	colParts
	colLeaves
)

const barCells = 20

func (p *disk) columns() []kit.Column {
	inside := map[string]string{"topic": "PARTS", "partition": "SEGS", "segment": ""}[p.level()]
	cols := []kit.Column{
		colName:    {Name: strings.ToUpper(p.level()), Grow: true, Min: 14, Max: 60},
		colSize:    {Name: "SIZE", Right: true, Min: 8},
		colShare:   {Name: "SHARE", Min: barCells, Drop: 2},
		colPercent: {Name: "", Right: true, Min: 5},
		colGrowth:  {Name: "GROWTH", Right: true, Min: 9, Drop: 1},
		colParts:   {Name: inside, Right: true, Min: 5, Drop: 3},
	}
	if p.level() == "segment" {
		cols = append(cols[:colParts], kit.Column{Name: "LEAVES", Min: 14, Drop: 1})
	}
	return cols
}

func (p *disk) View(w, h int) string {
	switch {
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r reads it again, esc goes back")
	case p.level() == "segment" && p.src == nil:
		return kit.Problem(p.Theme, w, h, page.NoFiles(p.Src, "this source shows no files", "brokers tell a partition's size and no more"), "esc goes back")
	case !p.loaded && p.load.Slow():
		return kit.Empty(p.Theme, w, h, "adding up the sizes", "the biggest comes first")
	case !p.loaded:
		return kit.Block("", w, h)
	case len(p.all) == 0:
		return kit.Empty(p.Theme, w, h, "nothing lies here", "what is produced takes space, and is shown here by size")
	case len(p.rows) == 0:
		return kit.Empty(p.Theme, w, h, "nothing matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	case h <= headLines:
		return kit.Block(p.head(w), w, h)
	}
	head := p.head(w) + "\n" + page.Rule(p.Theme, w, "") + "\n"
	body := h - headLines
	if body < footLines+4 || p.level() == "segment" {
		return head + p.table.View(w, body, p.row)
	}
	return head + p.table.View(w, body-footLines, p.row) + "\n" + page.Rule(p.Theme, w, "") + "\n" + p.foot(w)
}

func (p *disk) head(w int) string {
	what := kit.Number(int64(len(p.all))) + " " + p.level()
	if len(p.all) != 1 {
		what += "s"
	}
	facts := []page.Fact{{Value: kit.BytesText(p.sum) + " in " + what}}
	if p.total >= 1 {
		facts = append(facts, page.Fact{Name: "growing", Value: kit.BytesText(int64(p.total)) + "/s"}, page.Fact{Value: kit.BytesText(int64(p.total*86400)) + " a day"})
	}
	return page.Facts(p.Theme, w, facts...)
}

func (p *disk) row(i int64) kit.Row {
	it, t := &p.all[p.rows[i]], p.Theme
	var name kit.Style
	if it.quiet {
		name = t.Dim
	}
	share := float64(it.bytes) / float64(max(1, p.sum))
	cells := []kit.Cell{
		colName:    {Spans: p.filter.Spans(t, name, it.name, 300)},
		colSize:    t.BytesCell(it.bytes),
		colShare:   {Text: kit.Bar(t, share, barCells), Style: t.Dim},
		colPercent: {Text: percent(share), Style: t.Dim},
		colGrowth:  p.growth(it),
		colParts:   {Text: kit.Number(int64(it.parts)), Style: t.Dim},
	}
	if p.level() == "segment" {
		cells = append(cells[:colParts], p.leaves(it.seg))
	}
	return kit.Row{Cells: cells}
}

func percent(share float64) string {
	switch {
	case share == 0:
		return "0 %"
	case share < 0.01:
		return "<1 %"
	}
	return strconv.Itoa(int(share*100+0.5)) + " %"
}

func (p *disk) growth(it *item) kit.Cell {
	t := p.Theme
	if it.seg != nil && it.seg.State != model.SegmentActive {
		return kit.Cell{Text: t.Glyphs.None, Style: t.Dim} // closed: it will never grow
	}
	switch r, ok := p.grows[it.name].rate(p.Now()); {
	case !ok:
		return kit.Cell{Text: t.Glyphs.Unknown, Style: t.Dim}
	case r < 1:
		return kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	default:
		num, unit := kit.Bytes(int64(r))
		return kit.Cell{Text: num, Unit: unit + "/s"}
	}
}

func (p *disk) leaves(s *model.Segment) kit.Cell {
	t := p.Theme
	if s.Leaves < 0 {
		text := kit.Safe(s.Rule, 60)
		if text == "" {
			text = t.Glyphs.Unknown
		}
		return kit.Cell{Text: text, Style: t.Dim}
	}
	when := "due now"
	if in := p.in(s.Leaves); in > 0 {
		when = "in " + kit.Duration(in)
	}
	if s.Rule == "active" {
		return kit.Cell{Text: "active, " + when, Style: t.Dim} // as the segments page says it
	}
	return kit.Cell{Spans: []kit.Span{{Text: when}, {Text: " (" + kit.Safe(s.Rule, 60) + ")", Style: t.Dim}}}
}

func (p *disk) in(ms int64) time.Duration {
	return (time.Duration(min(ms-p.Now().UnixMilli(), 1<<42)) * time.Millisecond).Round(time.Second)
}

// foot says what retention frees next of the item under the cursor.
func (p *disk) foot(w int) string {
	it, ok := p.at()
	t := p.Theme
	var l kit.Line
	if !ok || p.next.of != it.name {
		return kit.Blank(w)
	}
	f := &p.next
	l.Space(1).Text(kit.Safe(it.name, 200)).Add(t.Dim, ": ")
	if f.due > 0 {
		l.Add(t.Warn, kit.BytesText(f.due)+" due to be freed now")
	}
	if f.at != model.NoTime {
		if f.due > 0 {
			l.Add(t.Dim, ", then ")
		}
		l.Text(kit.BytesText(f.next)).Add(t.Dim, " are freed in ").Text(kit.Duration(p.in(f.at))).Add(t.Dim, " ("+kit.Safe(f.where+", "+f.rule, 200)+")")
	} else if f.due == 0 {
		l.Add(t.Dim, "retention frees nothing of it that is known")
	}
	if f.some {
		l.Add(t.Dim, "; of its first "+kit.Number(maxAsked)+" partitions")
	}
	return l.Fit(w)
}

func (p *disk) Commands() []page.Command {
	return append([]page.Command{
		{Key: page.Bind("enter l right", "go in"), Off: p.whyNone, Run: p.open},
		{Key: page.Bind("s", "sort"), Run: p.sort},
		{Key: page.Bind("a", "alter retention"), Off: p.whyNoAlter, Run: p.alter},
		{Key: page.Bind("v", "verify"), Off: p.whyNoVerify, Run: p.to(page.Check)},
		{Key: page.Bind("y", "copy the address"), Off: p.whyNone, Run: p.copy, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Run: p.reload, Quiet: true},
	}, page.ListCommands(&p.table.VList, p.moved)...)
}

func (p *disk) whyNone() string {
	if _, ok := p.at(); !ok {
		return "there is nothing here"
	}
	return ""
}

func (p *disk) whyNoAlter() string {
	if _, ok := p.Src.(model.TopicAdmin); !ok {
		return "this source is read-only: topics can't be changed"
	}
	return p.whyNone()
}

func (p *disk) whyNoVerify() string {
	if _, ok := p.Src.(model.Verifier); !ok {
		return page.NoFiles(p.Src, "this source shows no files to check", "strata DIR checks one of its brokers' files")
	}
	return p.whyNone()
}

// open goes one level down; a segment shows its batches.
func (p *disk) open() tea.Cmd {
	if p.level() == "segment" {
		return p.to(page.Batches)()
	}
	return p.to(page.Disk)()
}

func (p *disk) to(k page.Kind) func() tea.Cmd {
	return func() tea.Cmd {
		it, ok := p.at()
		switch {
		case !ok:
			return nil
		case it.quiet && p.level() != "topic":
			return page.Say(page.Warn, "these files are left over")
		}
		return page.Goto(k, it.addr)
	}
}

func (p *disk) alter() tea.Cmd {
	it, ok := p.at()
	if !ok {
		return nil
	}
	return page.Goto(page.Alter, model.TopicAddress(it.addr.Topic))
}

func (p *disk) sort() tea.Cmd {
	p.byName = !p.byName
	p.table.Sorted, p.table.Desc = int(colSize)+1, true
	if p.byName {
		p.table.Sorted, p.table.Desc = int(colName)+1, false
	}
	p.arrange()
	return nil
}

func (p *disk) copy() tea.Cmd {
	it, ok := p.at()
	if !ok {
		return nil
	}
	text := it.addr.String()
	return page.Send(page.Copy{Text: text, What: "address " + kit.Safe(text, 200)})
}

// Mouse sorts by the head that is clicked and opens what is clicked twice.
func (p *disk) Mouse(m page.Mouse) tea.Cmd {
	hit := page.ListMouse(&p.table, m, headLines)
	switch {
	case hit.OK && hit.Head && m.Kind == page.Click && (column(hit.Column) == colName) != p.byName:
		return p.sort()
	case hit.OK && !hit.Head && m.Kind == page.DoubleClick:
		return p.open()
	}
	return p.moved()
}
