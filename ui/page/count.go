package page

import (
	"cmp"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
)

// CountText writes a count so that it never lies: 4,812,339, ≈ 4,812,339, – for none, ? for not known.
func CountText(t *kit.Theme, c model.Count) string {
	switch c.State {
	case model.CountExact:
		return kit.Number(c.N)
	case model.CountEstimate:
		return t.Glyphs.About + " " + kit.Number(c.N)
	case model.CountNone:
		return t.Glyphs.None
	}
	return t.Glyphs.Unknown
}

// Counted is CountText with what is counted behind it, in the plural where it is not one.
func Counted(t *kit.Theme, c model.Count, what string) string {
	if !c.Known() || c.N != 1 {
		what += "s"
	}
	return CountText(t, c) + " " + what
}

// CountCell is CountText as a cell; what is no exact number is dim.
func CountCell(t *kit.Theme, c model.Count) kit.Cell {
	cell := kit.Cell{Text: CountText(t, c)}
	if !c.Known() {
		cell.Style = t.Dim
	}
	return cell
}

// CompareCounts orders counts by their number, and what has none by why it has none.
func CompareCounts(a, b model.Count) int {
	if !a.Known() || !b.Known() {
		return cmp.Compare(a.State, b.State)
	}
	return cmp.Compare(a.N, b.N)
}

// OffsetText writes an offset whole, ? when it is not known.
func OffsetText(t *kit.Theme, offset int64) string {
	if offset < 0 {
		return t.Glyphs.Unknown
	}
	return kit.Number(offset)
}

// OffsetCell is OffsetText as a cell.
func OffsetCell(t *kit.Theme, offset int64) kit.Cell {
	cell := kit.Cell{Text: OffsetText(t, offset)}
	if offset < 0 {
		cell.Style = t.Dim
	}
	return cell
}
