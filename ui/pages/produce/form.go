package produce

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// The labels of the fields.
const (
	labelKey       = "key"
	labelValue     = "value"
	labelHeader    = "header " // and its number
	labelTo        = "to"
	labelPartition = "partition"
	labelCodec     = "codec"
	labelAcks      = "acks"
	labelTimes     = "times"
	labelRate      = "per second"
	labelFile      = "from file"
	labelSep       = "separator"
)

// The ways to a partition.
const (
	toKey       = "by key"
	toRound     = "round robin"
	toRandom    = "random"
	toPartition = "partition"
)

const (
	maxHeaders  = 20
	maxLine     = 2000    // longest text of a field's line, bytes
	maxRemember = 8 << 10 // longest form that is remembered, bytes
	maxTimes    = 1_000_000_000
)

func fields() []kit.Field {
	empty := kit.Input{Placeholder: `"" empty`}
	choice := func(options ...string) *kit.Choice { return &kit.Choice{Options: options} }
	return []kit.Field{
		{Label: labelKey, Input: empty, Null: true, Nullable: true, Hint: "the same key always goes to the same partition; ctrl-n turns null"},
		{Label: labelValue, Input: empty, Nullable: true, Hint: "ctrl-o $EDITOR, ctrl-n null; {{n}} counts, {{now}} is the time in ms"},
		{Label: labelHeader + "1", Input: kit.Input{Placeholder: "none"}, Hint: "name=value; name= is empty; name alone is null"},
		{Label: labelTo, Choice: choice(toKey, toRound, toRandom, toPartition), Hint: "by key: its hash as the Java client has it; without a key one partition a batch"},
		{Label: labelPartition, Input: kit.NewInput("0"), Hidden: true},
		{Label: labelCodec, Choice: choice("none", "gzip", "snappy", "lz4", "zstd"), Hint: "how the batch is compressed, unless the topic says otherwise"},
		{Label: labelAcks, Choice: choice("all", "1", "0"), Hint: "0 asks for no answer, so that no offset is known"},
		{Label: labelTimes, Input: kit.NewInput("1"), Hint: "how many records, all the same but for {{n}} and {{now}}"},
		{Label: labelRate, Input: kit.Input{Placeholder: "as fast as it goes"}, Hint: "records a second"},
		{Label: labelFile, Input: kit.Input{Placeholder: "none"}, Hint: "a file whose lines are the values"},
		{Label: labelSep, Input: kit.Input{Placeholder: "lines have no key"}, Hidden: true, Hint: "what stands between key and value in a line, as ; or \\t for a tab"},
	}
}

// tidy shows and hides fields as the others have it, keeps one header empty, and says what is wrong with each.
func (p *produce) tidy() {
	f := p.form.Field(labelPartition)
	f.Hidden = p.form.Field(labelTo).Value() != toPartition
	if f.Hint = "its number"; p.parts > 0 {
		f.Hint = "0 to " + strconv.Itoa(p.parts-1)
	}
	lines := p.form.Field(labelFile).Value() != ""
	p.form.Field(labelSep).Hidden = !lines
	p.form.Field(labelValue).Hidden = lines
	p.form.Field(labelTimes).Hidden = lines
	if p.form.Fields[p.form.Focus].Hidden {
		p.form.Next(1)
	}
	p.oneMoreHeader()
	for i := range p.form.Fields {
		f := &p.form.Fields[i]
		f.Err = ""
		if err := p.check(f); err != nil {
			f.Err = err.Error()
		}
	}
}

// oneMoreHeader adds a field when the last header has something.
func (p *produce) oneMoreHeader() {
	last, n := -1, 0
	for i := range p.form.Fields {
		if strings.HasPrefix(p.form.Fields[i].Label, labelHeader) {
			last, n = i, n+1
		}
	}
	if last < 0 || p.form.Fields[last].Value() == "" && p.long[p.form.Fields[last].Label] == nil || n >= maxHeaders {
		return
	}
	next := kit.Field{Label: labelHeader + strconv.Itoa(n+1), Input: kit.Input{Placeholder: "none"}, Hint: p.form.Fields[last].Hint}
	p.form.Fields = append(p.form.Fields[:last+1:last+1], append([]kit.Field{next}, p.form.Fields[last+1:]...)...)
}

func (p *produce) check(f *kit.Field) error {
	text := strings.TrimSpace(f.Value())
	switch {
	case f.Hidden, f.Choice != nil, text == "" && f.Label != labelPartition && f.Label != labelTimes:
	case f.Label == labelPartition:
		n, err := number(text)
		if err != nil || n < 0 || p.parts > 0 && n >= int64(p.parts) {
			return errors.New("want a partition's number, " + f.Hint)
		}
	case f.Label == labelTimes:
		if n, err := number(text); err != nil || n < 1 || n > maxTimes {
			return errors.New("want a number from 1 on")
		}
	case f.Label == labelRate:
		if n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64); err != nil || n <= 0 || n > 1e7 {
			return errors.New("want a number above 0, like 100 or 0.5")
		}
	case strings.HasPrefix(f.Label, labelHeader):
		if strings.HasPrefix(text, "=") {
			return errors.New("a header needs a name before the =")
		}
	}
	return nil
}

func number(text string) (int64, error) {
	return strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), 10, 64)
}

// bytesOf returns what a field holds: nil for null.
func (p *produce) bytesOf(label string) []byte {
	f := p.form.Field(label)
	if f.Null {
		return nil
	}
	if b, held := p.long[label]; held {
		return b
	}
	return []byte(f.Input.Value())
}

// setBytes puts bytes into a field: as text where a line can hold them.
func (p *produce) setBytes(label string, b []byte) {
	f := p.form.Field(label)
	delete(p.long, label)
	f.Null = b == nil && f.Nullable
	f.Input.Placeholder = `"" empty`
	if len(b) <= maxLine && utf8.Valid(b) && !bytes.ContainsAny(b, "\n\r") {
		f.Input.SetValue(string(b))
		return
	}
	f.Input.SetValue("")
	p.long[label] = b
	what := kit.BytesText(int64(len(b)))
	if n := bytes.Count(b, []byte{'\n'}); n > 0 {
		what += ", " + kit.Number(int64(n+1)) + " lines"
	}
	f.Input.Placeholder = what + ": " + kit.Safe(string(b[:min(len(b), 300)]), 300)
}

// headers reads the headers in order.
func (p *produce) headers() []model.Header {
	var out []model.Header
	for i := range p.form.Fields {
		f := &p.form.Fields[i]
		if !strings.HasPrefix(f.Label, labelHeader) {
			continue
		}
		text := string(p.bytesOf(f.Label))
		if text == "" {
			continue
		}
		name, value, has := strings.Cut(text, "=")
		h := model.Header{Name: name}
		if has {
			h.Value = []byte(value)
		}
		out = append(out, h)
	}
	return out
}

// copyOf fills the form with a record.
func (p *produce) copyOf(r *model.Record) {
	p.setBytes(labelKey, r.Key)
	p.setBytes(labelValue, r.Value)
	for i, h := range r.Headers[:min(len(r.Headers), maxHeaders)] {
		text := []byte(h.Name)
		if h.Value != nil {
			text = append(append(text, '='), h.Value...)
		}
		label := labelHeader + strconv.Itoa(i+1)
		p.setBytes(label, text)
		p.oneMoreHeader()
	}
	p.form.Field(labelFile).Input.SetValue("")
	p.form.Field(labelTimes).Input.SetValue("1")
}

// remembered is a form as it is kept for the next time.
type remembered struct {
	Text map[string]string `json:"text"`
	Null []string          `json:"null,omitempty"`
}

// remember asks the root to keep the form.
func (p *produce) remember() tea.Cmd {
	r := remembered{Text: map[string]string{}}
	for i := range p.form.Fields {
		f := &p.form.Fields[i]
		if f.Label == labelTimes || f.Label == labelFile || f.Label == labelPartition {
			continue // to be said each time
		}
		v := f.Value()
		if b, held := p.long[f.Label]; held {
			if !utf8.Valid(b) {
				continue
			}
			v = string(b)
		}
		if f.Null {
			r.Null = append(r.Null, f.Label)
		}
		if v != "" {
			r.Text[f.Label] = v
		}
	}
	b, err := json.Marshal(r)
	if err != nil || len(b) > maxRemember {
		return nil
	}
	return page.Send(page.Remember{Key: "form", Value: string(b)})
}

// recall fills the form with what was remembered.
func (p *produce) recall() {
	var r remembered
	if json.Unmarshal([]byte(p.Remembered("form")), &r) != nil {
		return // none, or of another version
	}
	for n := 1; n <= maxHeaders; n++ {
		text, ok := r.Text[labelHeader+strconv.Itoa(n)]
		if !ok {
			break
		}
		p.setBytes(labelHeader+strconv.Itoa(n), []byte(text))
		p.oneMoreHeader()
	}
	for i := range p.form.Fields {
		f := &p.form.Fields[i]
		text, ok := r.Text[f.Label]
		switch {
		case strings.HasPrefix(f.Label, labelHeader):
		case f.Choice != nil && ok && text != toPartition:
			f.Choice.Choose(text)
		case f.Choice == nil && ok && f.Nullable:
			p.setBytes(f.Label, []byte(text))
		case f.Choice == nil && ok:
			f.Input.SetValue(text)
		}
		if f.Nullable && r.Text != nil {
			f.Null = false
			for _, label := range r.Null {
				f.Null = f.Null || label == f.Label
			}
		}
	}
}

// wrong returns what must be put right before anything is sent.
func (p *produce) wrong() error {
	for i := range p.form.Fields {
		if f := &p.form.Fields[i]; f.Err != "" && !f.Hidden {
			return fmt.Errorf("%s: %s", f.Label, f.Err)
		}
	}
	return nil
}
