package batches

import (
	"fmt"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	split     = 12 // lines below which only one half is shown
	hexBeside = 66 // cells below which the bytes are left out
	// widestFields is the room for names, values and notes of fields.
	widestFields = 92
)

func (p *batches) View(w, h int) string {
	switch {
	case p.src == nil:
		return kit.Problem(p.Theme, w, h, page.NoFiles(p.Src, "this source shows no files", "r on a partition shows its records"), "esc goes back")
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r reads it again, esc goes back to the segments")
	case !p.loaded && p.win.Slow():
		return kit.Empty(p.Theme, w, h, "reading the batches of "+kit.Safe(p.tp.String(), 200), "they come as they are found")
	case !p.loaded || p.table.Len == 0 && !p.whole:
		return kit.Block("", w, h)
	case p.table.Len == 0:
		return kit.Empty(p.Theme, w, h, "this segment holds no batch", "what is produced next is written here; [ and ] go to its neighbours")
	}
	p.focus()
	if h < split {
		if p.inField {
			return p.lower(w, h)
		}
		return p.list(w, h)
	}
	top := p.listHeight(h)
	return p.list(w, top) + "\n" + p.lower(w, h-top)
}

// focus draws the cursor of the half without the keys without its background.
func (p *batches) focus() {
	p.calm = *p.Theme
	p.calm.Cursor, p.calm.Accent = kit.Style{}, p.Theme.Dim
	p.table.Theme, p.fields.Theme = p.Theme, &p.calm
	if p.inField {
		p.table.Theme, p.fields.Theme = &p.calm, p.Theme
	}
}

// listHeight shares the lines out: the list gets two fifths, but no more than it fills.
func (p *batches) listHeight(h int) int { return max(5, min(h*2/5, int(min(p.table.Len, 1000))+1)) }

func (p *batches) list(w, h int) string {
	p.listH = h
	return p.table.View(w, h, p.line)
}

func (p *batches) line(i int64) kit.Row {
	b, ok := p.rows[i]
	if !ok {
		return kit.Row{Line: p.Theme.Dim.Wrap(p.Theme.Glyphs.Ellipsis)}
	}
	row := append([]kit.Cell{{Text: kit.Number(b.Position), Style: p.Theme.Dim}}, p.row(&b, p.gap(i, &b))...)
	if b.Torn {
		row[2] = kit.Cell{Text: p.Theme.Glyphs.Unknown, Style: p.Theme.Dim}
	}
	return kit.Row{Cells: row}
}

// gap returns how many bytes before a batch belong to no batch.
func (p *batches) gap(i int64, b *model.Batch) int64 {
	if i == 0 {
		return b.Position
	}
	if before, ok := p.rows[i-1]; ok {
		return b.Position - before.Position - before.Bytes
	}
	return 0
}

// lower draws the batch under the cursor: a rule that names it, what is wrong, fields and bytes, the selected field.
func (p *batches) lower(w, h int) string {
	if h <= 0 {
		return ""
	}
	lines := []string{page.Rule(p.Theme, w, p.caption())}
	if wrong := p.wrong(); wrong != "" && h > 4 {
		var l kit.Line
		lines = append(lines, l.Space(1).Add(p.Theme.Bad, p.Theme.Glyphs.Bad+" "+wrong).Fit(w))
	}
	note := 0
	if h-len(lines) > 4 {
		note = 1
	}
	if body := h - len(lines) - note; body > 0 {
		lines = append(lines, p.inside(w, body))
	}
	if note > 0 {
		lines = append(lines, p.noteLine(w))
	}
	return kit.Block(strings.Join(lines, "\n"), w, h)
}

func (p *batches) caption() string {
	b, ok := p.at()
	if !ok {
		return "reading"
	}
	s := "batch " + kit.Number(p.table.Cursor()+1) + " · byte " + kit.Number(b.Position) + " · " + kit.BytesText(b.Bytes)
	if b.Inflated > 0 && b.Codec != "none" {
		s += ", " + kit.BytesText(b.Inflated) + " uncompressed"
	}
	return s
}

// wrong says what is wrong with the batch under the cursor, or with the bytes before it.
func (p *batches) wrong() string {
	b, ok := p.at()
	if !ok {
		return ""
	}
	at := b.Position
	if gap := p.gap(p.table.Cursor(), &b); gap > 0 {
		at -= gap
	}
	text := ""
	for i := range p.faults {
		f := &p.faults[i]
		if f.Position >= at && f.Position < b.Position+max(1, b.Bytes) && (text == "" || f.Severity == model.SevDamage) {
			text = f.What
			if f.Follows != "" {
				text += ". " + f.Follows
			}
		}
	}
	switch {
	case text != "":
		return kit.Safe(text, 500)
	case b.Err != nil:
		return kit.Safe(b.Err.Error(), 500)
	case !b.Valid && !b.Torn:
		return fmt.Sprintf("CRC is %08x, computed %08x", b.CRC, b.CRCComputed)
	case p.byteErr != nil:
		return kit.Safe(p.byteErr.Error(), 500)
	}
	return ""
}

// inside draws the fields, and beside them the bytes where there is room.
func (p *batches) inside(w, h int) string {
	if w < hexBeside {
		return p.fields.View(w, h, p.field)
	}
	left := w - 3 - kit.HexWidth(16)
	if left < 30 {
		left = w - 3 - kit.HexWidth(8)
	}
	left = min(left, widestFields)
	fields := strings.Split(p.fields.View(left, h, p.field), "\n")
	hex := strings.Split(p.hex.View(w-left-3, h), "\n")
	bar := " " + p.Theme.Rule.Wrap(p.Theme.Glyphs.VRule) + " "
	for i := range fields {
		fields[i] += bar + hex[i]
	}
	return strings.Join(fields, "\n")
}

func (p *batches) field(i int64) kit.Row {
	f := &p.shown.fields[i]
	name := p.Theme.Dim
	if p.inField && i == p.fields.Cursor() {
		name = kit.Style{}
	}
	short := f.Name
	if rest, ok := strings.CutPrefix(short, "record "); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		short = "#" + rest // a narrow column; the line below says it in full
	}
	return kit.Row{Cells: []kit.Cell{{Text: kit.Safe(short, 60), Style: name}, {Text: kit.Safe(f.Value, 100)}, {Text: kit.Safe(p.note(f), 100), Style: p.Theme.Dim}}}
}

// note is what is said beside a field's value. Times come in UTC, and are written as all times of the program are.
func (p *batches) note(f *model.Field) string {
	at, err := time.Parse("2006-01-02T15:04:05.000Z", f.Note)
	if err != nil {
		return f.Note
	}
	return p.Clock.Stamp(at.UnixMilli())
}

// noteLine says all of the field under the cursor.
func (p *batches) noteLine(w int) string {
	var l kit.Line
	i := p.fields.Cursor()
	if i >= int64(len(p.shown.fields)) {
		return kit.Blank(w)
	}
	f, t := &p.shown.fields[i], p.Theme
	l.Space(1).Add(t.Dim, kit.Safe(f.Name, 60)).Space(1).Text(kit.Safe(f.Value, 200))
	if note := p.note(f); note != "" {
		l.Space(2).Add(t.Dim, kit.Safe(note, 300))
	}
	return l.Add(t.Dim, fmt.Sprintf("  byte %d, %d long", p.shown.pos+int64(f.Pos), f.Len)).Fit(w)
}
