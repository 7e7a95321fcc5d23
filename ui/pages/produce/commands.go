package produce

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *produce) Commands() []page.Command {
	if p.below {
		return append([]page.Command{
			{Key: page.Bind("enter l right", "open the record"), Off: p.whyNoPlace, Run: p.open},
			{Key: page.Bind("ctrl+s s", "send again"), Off: p.whyNot, Run: p.send},
			{Key: page.Bind("tab esc i", "to the form"), Run: p.focus(false)},
			{Key: page.Bind("ctrl+x x", "stop"), Off: p.whyNoStop, Run: p.stop},
		}, page.ListCommands(&p.table.VList, nil)...)
	}
	rows := page.FormCommands(&p.form, "send", p.send)
	rows[0].Off = p.whyNot
	return append(rows,
		page.Command{Key: page.Bind("ctrl+n", "null or not"), Off: p.whyNoNull, Run: p.turnNull},
		page.Command{Key: page.Bind("ctrl+o", "value in $EDITOR"), Off: p.whyNoValue, Run: p.edit},
		page.Command{Key: page.Bind("ctrl+x", "stop"), Off: p.whyNoStop, Run: p.stop},
		page.Command{Key: page.Bind("pgdown", "what was sent"), Off: p.whyNoPlaces, Run: p.focus(true)},
		page.Command{Key: page.Bind("enter", "next field"), Quiet: true, Run: p.next})
}

func (p *produce) whyNoForm() string {
	switch {
	case p.src == nil:
		return "this source is read-only: nothing can be produced"
	case p.topic == "":
		return "no topic: p on a topic"
	}
	return ""
}

func (p *produce) whyNot() string {
	switch {
	case !p.able():
		return p.whyNoForm()
	case p.stream.Busy():
		return "the last ones are still being sent: ctrl-x stops them"
	}
	if err := p.wrong(); err != nil {
		return err.Error()
	}
	return ""
}

func (p *produce) whyNoStop() string {
	if !p.stream.Busy() {
		return "nothing is being sent"
	}
	return ""
}

func (p *produce) whyNoNull() string {
	if !p.able() {
		return p.whyNoForm()
	}
	if !p.form.Fields[p.form.Focus].Nullable {
		return "only key and value turn to null; a header without = is null"
	}
	return ""
}

func (p *produce) whyNoValue() string {
	if p.form.Field(labelValue).Hidden {
		return "the values come from the file"
	}
	return p.whyNoForm()
}

func (p *produce) whyNoPlaces() string {
	if len(p.places) == 0 {
		return "nothing was sent yet"
	}
	return ""
}

func (p *produce) whyNoPlace() string {
	i := p.table.Cursor()
	switch {
	case i >= int64(len(p.places)):
		return "nothing was sent yet"
	case p.places[i].Offset < 0:
		return "with acks 0 nobody says where it went"
	}
	return ""
}

func (p *produce) focus(below bool) func() tea.Cmd {
	return func() tea.Cmd {
		p.below = below
		return nil
	}
}

func (p *produce) next() tea.Cmd {
	p.form.Next(1)
	return nil
}

func (p *produce) turnNull() tea.Cmd {
	f := &p.form.Fields[p.form.Focus]
	f.Null = !f.Null
	return nil
}

// open opens the record at the place under the cursor.
func (p *produce) open() tea.Cmd {
	i := p.table.Cursor()
	if i >= int64(len(p.places)) {
		return nil
	}
	a := model.PartitionAddress(model.TopicPartition{Topic: p.topic, Partition: p.places[i].Partition})
	a.Offset = p.places[i].Offset
	return page.Goto(page.Record, a)
}

// edit opens the value in $EDITOR.
func (p *produce) edit() tea.Cmd {
	text := string(p.bytesOf(labelValue))
	ext := ".txt"
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
		ext = ".json"
	}
	return page.Send(page.Edit{ID: editValue, Text: text, Ext: ext})
}

func (p *produce) edited(e page.Edited) tea.Cmd {
	if e.ID != editValue {
		return nil
	}
	if e.Err != nil {
		return page.Say(page.Bad, e.Err.Error())
	}
	was := string(p.bytesOf(labelValue))
	text := e.Text
	if !strings.HasSuffix(was, "\n") {
		text = strings.TrimSuffix(text, "\n") // editors end a file with one
	}
	if text == "" && p.form.Field(labelValue).Null {
		return nil // it was null, and was left alone
	}
	p.setBytes(labelValue, []byte(text))
	p.tidy()
	return nil
}
