package record

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/ui/kit"
)

// part is what of the record fills the body.
type part int8

const (
	valuePart part = iota
	keyPart
	headersPart
)

func (x part) String() string { return [...]string{"value", "key", "headers"}[x] }

// form is a way of showing bytes.
type form int8

const (
	noForm form = iota - 1
	decodedForm
	jsonForm
	textForm
	hexForm
)

var formNames = [...]string{"decoded", "json", "text", "hex"}

func (f form) String() string { return formNames[f] }

func formNamed(name string) form {
	for i, n := range formNames {
		if n == name {
			return form(i)
		}
	}
	return noForm
}

// bytes returns what the body shows: the value, the key, or the value of the header under the cursor.
func (p *record) bytes() []byte {
	switch {
	case p.rec == nil:
		return nil
	case p.part == keyPart:
		return p.rec.Key
	case p.part == headersPart:
		if i := p.headers.Cursor(); i < int64(len(p.rec.Headers)) {
			return p.rec.Headers[i].Value
		}
		return nil
	}
	return p.rec.Value
}

// show fills the views with the part on screen and finds out which forms it has.
func (p *record) show() {
	b := p.bytes()
	p.forms = p.forms[:0]
	if p.part == valuePart && p.worded {
		p.forms = append(p.forms, decodedForm)
	}
	p.layout.Cancel()
	p.due = p.part != headersPart && len(b) > atOnce && mayBeJSON(b)
	if p.part != headersPart {
		if !p.due && p.json.SetJSON(b) {
			p.forms = append(p.forms, jsonForm)
		}
		p.forms = append(p.forms, textForm, hexForm)
	}
	p.chooseForm(b)
}

// chooseForm chooses the form that was chosen last, where there is that, else the one that suits the bytes.
func (p *record) chooseForm(b []byte) {
	p.choice.Options = p.choice.Options[:0]
	for _, f := range p.forms {
		p.choice.Options = append(p.choice.Options, f.String())
	}
	p.choice.Chosen = 0
	switch {
	case p.chosen != noForm && p.choice.Choose(p.chosen.String()):
	case len(p.forms) > 0 && p.forms[0] == textForm && !readable(b):
		p.choice.Choose(hexForm.String())
	}
	p.hex.SetData(b, 0)
	p.retext()
}

// atOnce is up to how many bytes of JSON are laid out on the UI goroutine.
const atOnce = 64 << 10

// mayBeJSON reports whether bytes begin as an object or a list.
func mayBeJSON(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 0 && (b[0] == '{' || b[0] == '[')
}

// laid is JSON that was laid out.
type laid struct {
	json *kit.JSON // nil: it is none
}

// prepare lays long JSON out off the UI goroutine.
func (p *record) prepare() tea.Cmd {
	if !p.due {
		return nil
	}
	p.due = false
	b, w, theme := p.bytes(), p.width, *p.Theme
	return p.layout.Start(p.Ctx, func(context.Context) (laid, error) {
		j := &kit.JSON{}
		j.Theme = &theme
		if !j.SetJSON(b) {
			return laid{}, nil
		}
		if w > 0 {
			j.View(w, 1)
		}
		return laid{j}, nil
	})
}

// prepared takes JSON that was laid out.
func (p *record) prepared(l laid) {
	if l.json == nil {
		return
	}
	p.json = *l.json
	p.json.Theme = p.Theme
	at := 0
	if len(p.forms) > 0 && p.forms[0] == decodedForm {
		at = 1
	}
	p.forms = slices.Insert(p.forms, at, jsonForm)
	p.chooseForm(p.bytes())
}

// retext gives the text view the words, or the bytes.
func (p *record) retext() {
	if p.form() == decodedForm {
		p.text.SetText(p.words)
	} else {
		p.text.SetText(string(p.bytes()))
	}
}

// form returns the form on screen.
func (p *record) form() form {
	if p.choice.Chosen < len(p.forms) {
		return p.forms[p.choice.Chosen]
	}
	return noForm
}

// readable reports whether bytes are text for the most part.
func readable(b []byte) bool {
	if len(b) > 4096 {
		b = b[:4096]
		for i := 0; i < utf8.UTFMax && len(b) > 0 && !utf8.RuneStart(b[len(b)-1]); i++ {
			b = b[:len(b)-1]
		}
		b = b[:max(0, len(b)-1)]
	}
	odd := 0
	for rest := b; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 || r < 0x20 && r != '\n' && r != '\t' && r != '\r' && r != 0x1b {
			odd++
		}
		rest = rest[n:]
	}
	return odd*4 <= len(b)
}

// mover is what the moving keys move.
func (p *record) mover() kit.Mover {
	switch {
	case p.part == headersPart:
		return &p.headers
	case p.form() == jsonForm:
		return &p.json
	case p.form() == hexForm:
		return &p.hex
	}
	return &p.text
}

// plain returns what the body shows as text for another program, and what its file should end in.
func (p *record) plain() (text, ext string) {
	b := p.bytes()
	switch p.form() {
	case decodedForm:
		return p.words, ".txt"
	case jsonForm:
		var out bytes.Buffer
		if json.Indent(&out, b, "", "  ") == nil {
			return out.String(), ".json"
		}
		return string(b), ".json"
	case hexForm:
		return hex.Dump(b), ".txt"
	}
	return string(b), ".txt"
}
