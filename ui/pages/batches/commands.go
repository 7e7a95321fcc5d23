package batches

import (
	"encoding/hex"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *batches) Commands() []page.Command {
	tab := page.Bind("tab", "fields")
	list, moved := &p.table.VList, p.moved
	if p.inField {
		tab = page.Bind("tab", "batches")
		list, moved = &p.fields.VList, p.light
	}
	rows := []page.Command{
		{Key: tab, Off: p.whyNone, Run: p.turn},
		{Key: page.Bind("enter l right r", "records"), Off: p.whyNotWhole, Run: p.records},
		{Key: page.Bind("n", "next damage"), Off: p.whyNone, Run: p.huntFrom(1)},
		{Key: page.Bind("/", "find"), Off: p.whyNone, Run: p.question("")},
		{Key: page.Bind("i", "index"), Off: p.whyNone, Run: p.to(page.Index)},
		{Key: page.Bind("y", "copy"), Off: p.whyNone, Run: p.copy},
		{Key: page.Bind("N", "previous damage"), Off: p.whyNone, Run: p.huntFrom(-1), Quiet: true},
		{Key: page.Bind("Y", "copy the field's bytes as hex"), Off: p.whyNone, Run: p.copyHex, Quiet: true},
		{Key: page.Bind("x", "lookup"), Off: p.whyNone, Run: p.lookup, Quiet: true},
		{Key: page.Bind("v", "verify this segment"), Off: p.whyNoVerify, Run: p.to(page.Check), Quiet: true},
		{Key: page.Bind("]", "next segment"), Off: p.whyNone, Run: p.neighbour(1), Quiet: true},
		{Key: page.Bind("[", "previous segment"), Off: p.whyNone, Run: p.neighbour(-1), Quiet: true},
		{Key: page.Bind("c", "stop looking"), Off: p.whyIdle, Run: p.stop, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Run: p.again, Quiet: true},
	}
	for _, c := range page.ListCommands(list, moved) {
		if !p.inField && c.Key.Keys()[0] == "G" {
			c.Run = p.toEnd
		}
		rows = append(rows, c)
	}
	return rows
}

func (p *batches) turn() tea.Cmd {
	p.inField = !p.inField
	return nil
}

func (p *batches) whyNone() string {
	if p.src == nil {
		return page.NoFiles(p.Src, "this source shows no files", "r on a partition shows its records")
	}
	if !p.loaded {
		return "the batches have not come yet"
	}
	return ""
}

func (p *batches) whyNotWhole() string {
	b, ok := p.at()
	switch {
	case !ok:
		return "the batch has not come yet"
	case b.Torn:
		return "this batch is not whole: there is no record to be read in it"
	}
	return ""
}

func (p *batches) whyNoVerify() string {
	if _, ok := p.Src.(model.Verifier); !ok {
		return page.NoFiles(p.Src, "this source shows no files to check", "strata DIR checks one of its brokers' files")
	}
	return p.whyNone()
}

func (p *batches) whyIdle() string {
	if !p.hunt.Busy() && !p.jump.Busy() {
		return "nothing is being looked for"
	}
	return ""
}

func (p *batches) stop() tea.Cmd {
	p.hunt.Cancel()
	p.jump.Cancel()
	return nil
}

// records opens the records from the batch under the cursor on.
func (p *batches) records() tea.Cmd {
	b, ok := p.at()
	if !ok {
		return nil
	}
	a := model.PartitionAddress(p.tp)
	a.Offset = b.Base
	return page.Goto(page.Records, a)
}

func (p *batches) lookup() tea.Cmd {
	a := model.PartitionAddress(p.tp)
	if b, ok := p.at(); ok && b.Base >= 0 {
		a.Offset = b.Base
	}
	return page.Goto(page.Lookup, a)
}

// to opens a screen about the segment.
func (p *batches) to(k page.Kind) func() tea.Cmd {
	return func() tea.Cmd {
		a := model.PartitionAddress(p.tp)
		a.Segment = p.base
		if b, ok := p.at(); ok && k == page.Index {
			a.Offset = b.Base // the index begins at the entry that leads here
		}
		return page.Goto(k, a)
	}
}

// copy copies the batch's address, or among the fields the field's value.
func (p *batches) copy() tea.Cmd {
	if f, ok := p.under(); ok && p.inField {
		return page.Send(page.Copy{Text: f.Value, What: kit.Safe(f.Name, 60)})
	}
	text := p.Address().String()
	return page.Send(page.Copy{Text: text, What: "address " + kit.Safe(text, 200)})
}

// maxHex is how many bytes are copied as hex.
const maxHex = 64 << 10

func (p *batches) copyHex() tea.Cmd {
	f, ok := p.under()
	if !ok || f.Pos+f.Len > len(p.shown.raw) {
		return page.Say(page.Warn, "there is no field here")
	}
	if f.Len > maxHex {
		return page.Say(page.Warn, "this field has "+kit.BytesText(int64(f.Len))+": too much for a clipboard")
	}
	return page.Send(page.Copy{Text: hex.EncodeToString(p.shown.raw[f.Pos : f.Pos+f.Len]), What: "bytes of " + kit.Safe(f.Name, 60)})
}

// under returns the field under the cursor.
func (p *batches) under() (model.Field, bool) {
	if i := p.fields.Cursor(); i < int64(len(p.shown.fields)) {
		return p.shown.fields[i], true
	}
	return model.Field{}, false
}

// Mouse scrolls and selects in the half under the pointer, and opens a batch that is clicked twice.
func (p *batches) Mouse(m page.Mouse) tea.Cmd {
	if m.Y < p.listH {
		hit := page.ListMouse(&p.table, m, 0)
		if m.Kind == page.Click || m.Kind == page.DoubleClick {
			p.inField = false
		}
		if hit.OK && !hit.Head && m.Kind == page.DoubleClick && p.whyNotWhole() == "" {
			return p.records()
		}
		return p.moved()
	}
	first := p.listH + 1
	if p.wrong() != "" {
		first++
	}
	if hit := page.ListMouse(&p.fields, m, first); hit.OK {
		p.inField = true
	}
	return p.light()
}
