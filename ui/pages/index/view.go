package index

import (
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *index) View(w, h int) string {
	if p.src == nil {
		return kit.Problem(p.Theme, w, h, page.NoFiles(p.Src, "this source shows no files", "r on a partition shows its records"), "esc goes back")
	}
	body := h - headLines
	if body < 1 {
		return kit.Block(p.head(w), w, h)
	}
	var b strings.Builder
	b.WriteString(p.head(w) + "\n" + page.Rule(p.Theme, w, "") + "\n")
	switch {
	case !p.loaded && p.err != nil:
		b.WriteString(kit.Problem(p.Theme, w, body, p.err.Error(), "tab shows the other indexes, ctrl-r reads this one again"))
	case !p.loaded:
		b.WriteString(kit.Block("", w, body))
	case p.table.Len == 0:
		what, why := p.teach()
		b.WriteString(kit.Empty(p.Theme, w, body, what, why))
	case body < 8:
		b.WriteString(p.table.View(w, body, p.row))
	default:
		b.WriteString(p.table.View(w, body-footLines-1, p.row) + "\n" + page.Rule(p.Theme, w, "") + "\n" + p.foot(w))
	}
	return b.String()
}

// teach says why an index is empty.
func (p *index) teach() (what, why string) {
	switch p.which() {
	case model.TimeIndex:
		return "this time index has no entry", "one comes each time the offset index gets one and the youngest time has grown"
	case model.TxnIndex:
		return "this segment has no aborted transaction", "a transaction that is aborted leaves an entry here, and consumers skip its records by it"
	}
	return "this offset index has no entry", "one comes with the first batch behind each index.interval.bytes (4 KiB) of log"
}

func (p *index) head(w int) string {
	var l kit.Line
	l.Space(1).Text(p.kind.View(p.Theme, max(0, w-2), false))
	if p.loaded {
		words := "  " + kit.Number(p.table.Len) + " entries"
		if p.table.Len == 1 {
			words = "  1 entry"
		}
		l.Add(p.Theme.Dim, words)
		if n := len(p.wrong); n > 0 {
			l.Add(p.Theme.Bad, " · "+p.Theme.Glyphs.Bad+" "+kit.Number(int64(n))+" wrong")
		}
	}
	return l.Fit(w)
}

func (p *index) row(i int64) kit.Row {
	e, ok := p.rows[i]
	t := p.Theme
	if !ok {
		return kit.Row{Line: t.Dim.Wrap(t.Glyphs.Ellipsis)}
	}
	cells := []kit.Cell{{Text: kit.Number(e.Number), Style: t.Dim}}
	switch p.which() {
	case model.TimeIndex:
		cells = append(cells, kit.Cell{Text: p.Clock.Stamp(e.Timestamp)}, page.OffsetCell(t, e.Offset))
	case model.TxnIndex:
		cells = append(cells, kit.Cell{Text: strconv.FormatInt(e.Producer, 10)}, page.OffsetCell(t, e.Offset), page.OffsetCell(t, e.Last), page.OffsetCell(t, e.Stable))
	default:
		relative, step := kit.Cell{Text: t.Glyphs.Unknown, Style: t.Dim}, kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
		if e.Offset >= 0 {
			relative = kit.Cell{Text: kit.Number(e.Offset - p.base), Style: t.Dim}
		}
		if before, ok := p.rows[i-1]; ok && e.Position >= 0 && before.Position >= 0 {
			step = kit.Cell{Text: "+" + kit.Number(e.Position-before.Position), Style: t.Dim}
		} else if i == 0 && e.Position >= 0 {
			step = kit.Cell{Text: "+" + kit.Number(e.Position), Style: t.Dim}
		}
		cells = append(cells, page.OffsetCell(t, e.Offset), relative, page.OffsetCell(t, e.Position), step)
	}
	if e.Err != nil {
		cells = append(cells, kit.Cell{Text: t.Glyphs.Bad + " " + kit.Safe(e.Err.Error(), 300), Style: t.Bad})
	}
	return kit.Row{Cells: cells}
}

// foot says where the entry under the cursor leads, and what is wrong with it.
func (p *index) foot(w int) string {
	var first, second kit.Line
	e, ok := p.at()
	t := p.Theme
	if !ok {
		return kit.Block("", w, footLines)
	}
	first.Space(1)
	if e.Position >= 0 {
		first.Add(t.Dim, "leads to byte ").Text(kit.Number(e.Position))
	} else {
		first.Add(t.Dim, "leads to offset ").Text(page.OffsetText(t, e.Offset))
	}
	switch {
	case p.to.number != e.Number:
	case p.toErr != nil:
		first.Add(t.Bad, " "+t.Glyphs.Bad+" "+kit.Safe(p.toErr.Error(), 300))
	case !p.to.found:
		first.Add(t.Bad, ", where no batch is")
	default:
		p.batch(&first, &e)
	}
	if e.Err != nil {
		second.Space(1).Add(t.Bad, t.Glyphs.Bad+" "+kit.Safe(e.Err.Error(), 400))
	}
	return first.Fit(w) + "\n" + second.Fit(w)
}

// batch says what lies where an entry leads.
func (p *index) batch(l *kit.Line, e *model.IndexEntry) {
	b, t := &p.to.batch, p.Theme
	l.Add(t.Dim, ", in batch ").Text(page.OffsetText(t, b.Base))
	if b.Last != b.Base {
		l.Add(t.Dim, " "+t.Glyphs.Ellipsis+" ").Text(page.OffsetText(t, b.Last))
	}
	records := " records"
	if b.Count == 1 {
		records = " record"
	}
	l.Add(t.Dim, ", "+kit.Number(int64(b.Count))+records+", CRC ")
	if b.Valid {
		l.Add(t.Good, t.Glyphs.Good)
	} else {
		l.Add(t.Bad, t.Glyphs.Bad+" bad")
	}
	switch {
	case e.Position >= 0 && b.Position != e.Position:
		l.Add(t.Bad, "  "+t.Glyphs.Bad+" the batch begins at byte "+kit.Number(b.Position))
	case e.Position >= 0 && e.Offset >= 0 && (e.Offset < b.Base || e.Offset > b.Last):
		l.Add(t.Bad, "  "+t.Glyphs.Bad+" the batch does not hold offset "+kit.Number(e.Offset))
	case p.which() == model.TimeIndex && b.MaxTimestamp >= 0 && e.Timestamp > b.MaxTimestamp:
		l.Add(t.Bad, "  "+t.Glyphs.Bad+" the batch holds no record as young as that")
	}
}
