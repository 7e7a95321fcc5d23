package batches

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// cells draws what a batch says of itself, wherever it comes from.
type cells struct{ page.Env }

// Places of columns that one of the pages treats differently.
const (
	written  = 4
	producer = 5
)

// columns returns the columns of those cells, in the order of row.
func columns() []kit.Column {
	return []kit.Column{
		{Name: "OFFSETS", Min: 12},
		{Name: "N", Right: true, Min: 4},
		{Name: "SIZE", Right: true, Min: 8, Drop: 1},
		{Name: "CODEC", Min: 6, Drop: 3},
		{Name: "WRITTEN", Min: 12, Drop: 4},
		{Name: "PRODUCER", Drop: 5},
		{Name: "KIND", Min: 6, Drop: 2},
		{Name: "CRC", Min: 5},
	}
}

// row returns a batch's cells; gap is how many bytes before it belong to no batch.
func (p *cells) row(b *model.Batch, gap int64) []kit.Cell {
	return []kit.Cell{
		p.offsets(b),
		{Text: kit.Number(int64(b.Count))},
		p.Theme.BytesCell(b.Bytes),
		p.codec(b),
		p.written(b),
		p.producer(b),
		p.kind(b, gap),
		p.crc(b),
	}
}

func (p *cells) offsets(b *model.Batch) kit.Cell {
	switch {
	case b.Base < 0:
		return kit.Cell{Text: p.Theme.Glyphs.Unknown, Style: p.Theme.Dim}
	case b.Base == b.Last:
		return kit.Cell{Text: kit.Number(b.Base)}
	}
	return kit.Cell{Spans: []kit.Span{{Text: kit.Number(b.Base)}, {Text: " " + p.Theme.Glyphs.Ellipsis + " ", Style: p.Theme.Dim}, {Text: kit.Number(b.Last)}}}
}

func (p *cells) codec(b *model.Batch) kit.Cell {
	if b.Torn || b.Codec == "" || b.Codec == "none" {
		return kit.Cell{Text: p.Theme.Glyphs.None, Style: p.Theme.Dim}
	}
	c := kit.Cell{Text: kit.Safe(b.Codec, 30)}
	if b.Inflated > 0 && b.Bytes > 0 {
		c.Unit = fmt.Sprintf("%.1f×", float64(b.Inflated)/float64(b.Bytes))
	}
	return c
}

func (p *cells) written(b *model.Batch) kit.Cell {
	at := b.FirstTimestamp
	if at < 0 {
		at = b.MaxTimestamp
	}
	if at < 0 {
		return kit.Cell{Text: p.Theme.Glyphs.None, Style: p.Theme.Dim}
	}
	c := kit.Cell{Text: p.Clock.Clock(at)}
	if d := b.MaxTimestamp - at; d > 0 && d < 1<<42 {
		c.Unit = "+" + kit.Duration(time.Duration(d)*time.Millisecond)
	}
	return c
}

func (p *cells) producer(b *model.Batch) kit.Cell {
	if b.ProducerID < 0 {
		return kit.Cell{Text: p.Theme.Glyphs.None, Style: p.Theme.Dim}
	}
	c := kit.Cell{Text: strconv.FormatInt(b.ProducerID, 10) + "/" + strconv.Itoa(int(b.ProducerEpoch))}
	if b.BaseSequence >= 0 {
		c.Unit = "#" + strconv.Itoa(int(b.BaseSequence))
	}
	return c
}

func (p *cells) kind(b *model.Batch, gap int64) kit.Cell {
	t := p.Theme
	switch {
	case gap > 0:
		return kit.Cell{Text: t.Glyphs.Bad + " " + kit.BytesText(gap) + " lost before", Style: t.Bad}
	case b.Torn:
		return kit.Cell{Text: "torn", Style: t.Warn}
	case b.Control != "":
		return kit.Cell{Text: strings.ToUpper(kit.Safe(b.Control, 30)), Style: t.Null}
	case b.Count == 0:
		return kit.Cell{Text: "emptied", Style: t.Dim}
	case b.Transactional:
		return kit.Cell{Text: "txn"}
	case b.DeleteHorizon >= 0:
		return kit.Cell{Text: "horizon", Style: t.Dim}
	case b.Magic >= 0 && b.Magic < 2:
		return kit.Cell{Text: "magic " + strconv.Itoa(int(b.Magic)), Style: t.Dim}
	}
	return kit.Cell{}
}

func (p *cells) crc(b *model.Batch) kit.Cell {
	t := p.Theme
	switch {
	case b.Torn:
		return kit.Cell{Text: t.Glyphs.Unknown, Style: t.Dim}
	case !b.Valid:
		return kit.Cell{Text: t.Glyphs.Bad + " bad", Style: t.Bad}
	case b.Err != nil:
		return kit.Cell{Text: t.Glyphs.Good + " " + t.Glyphs.Bad, Style: t.Bad}
	}
	return kit.Cell{Text: t.Glyphs.Good, Style: t.Good}
}
