package kit

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// Field is one row of a Form: a text, or a Choice.
type Field struct {
	Label  string
	Input  Input
	Choice *Choice // instead of Input
	Null   bool    // the text is null: drawn as ∅, until something is typed. See Nullable
	// Nullable lets ctrl-n turn Null.
	Nullable bool
	Hint     string // dim, behind or below
	Err      string // what is wrong with it; shown instead of Hint
	Hidden   bool   // not shown, not focused
}

// Value returns the field's text or chosen word.
func (f *Field) Value() string {
	if f.Choice != nil {
		return f.Choice.Value()
	}
	return f.Input.Value()
}

// Form is a column of labelled fields of which one has the focus.
type Form struct {
	Theme  *Theme
	Fields []Field
	Focus  int

	top int
}

// Next moves the focus by d fields, past hidden ones, round and round.
func (f *Form) Next(d int) {
	n := len(f.Fields)
	for range n {
		f.Focus = ((f.Focus+d)%n + n) % n
		if !f.Fields[f.Focus].Hidden {
			return
		}
	}
}

// Field returns the field with a label; nil when there is none.
func (f *Form) Field(label string) *Field {
	for i := range f.Fields {
		if f.Fields[i].Label == label {
			return &f.Fields[i]
		}
	}
	return nil
}

// Update gives a key to the field with the focus; it reports whether the field took it. The field's Err is taken away.
func (f *Form) Update(k tea.KeyMsg) bool {
	if f.Focus >= len(f.Fields) {
		return false
	}
	field := &f.Fields[f.Focus]
	if field.Choice != nil {
		switch k.Type {
		case tea.KeyLeft:
			field.Choice.Move(-1)
		case tea.KeyRight, tea.KeySpace:
			field.Choice.Move(1)
		default:
			return false
		}
		field.Err = ""
		return true
	}
	if k.Type == tea.KeyCtrlN && field.Nullable {
		field.Null = !field.Null
		return true
	}
	if !field.Input.Update(k) {
		return false
	}
	field.Err = ""
	if k.Type == tea.KeyRunes || k.Type == tea.KeySpace {
		field.Null = false
	}
	return true
}

// View returns exactly h lines of w cells; it scrolls with the focus.
func (f *Form) View(w, h int) string {
	if h <= 0 {
		return ""
	}
	label := 0
	for i := range f.Fields {
		label = max(label, Width(f.Fields[i].Label))
	}
	label = min(label, w/3)
	lines, at := []string{}, 0
	for i := range f.Fields {
		field := &f.Fields[i]
		if field.Hidden {
			continue
		}
		if i == f.Focus {
			at = len(lines)
		}
		lines = append(lines, f.row(field, i == f.Focus, label, w))
		if note := field.Err; note != "" {
			lines = append(lines, f.note(f.Theme.Glyphs.Bad+" "+note, f.Theme.Bad, label, w))
		} else if i == f.Focus && field.Hint != "" {
			lines = append(lines, f.note(field.Hint, f.Theme.Dim, label, w))
		}
	}
	f.top = max(0, min(f.top, len(lines)-h))
	if at < f.top {
		f.top = at
	} else if at+1 >= f.top+h {
		f.top = max(0, min(at, at+2-h))
	}
	return Block(strings.Join(lines[f.top:], "\n"), w, h)
}

func (f *Form) row(field *Field, focus bool, label, w int) string {
	t := f.Theme
	var l Line
	if focus {
		l.Add(t.Accent, t.Glyphs.Cursor).Space(1).Cell(t.Accent, field.Label, label, false)
	} else {
		l.Space(2).Cell(t.Dim, field.Label, label, false)
	}
	l.Space(2)
	room := w - l.w
	switch {
	case field.Choice != nil:
		l.Text(field.Choice.View(t, room, focus))
	case field.Null:
		l.Add(t.Null, Cut(t.Glyphs.Null+" null", room))
	default:
		l.Text(field.Input.View(t, room, focus))
	}
	return l.Fit(w)
}

func (f *Form) note(text string, s Style, label, w int) string {
	var l Line
	l.Space(label+4).Add(s, Cut(Safe(text, 512), max(0, w-label-4)))
	return l.Fit(w)
}

// FieldAt returns the field drawn in line y, as of the last View; false when there is none.
func (f *Form) FieldAt(y int) (int, bool) {
	line := -f.top
	for i := range f.Fields {
		field := &f.Fields[i]
		if field.Hidden {
			continue
		}
		n := 1
		if field.Err != "" || i == f.Focus && field.Hint != "" {
			n = 2
		}
		if y >= line && y < line+n {
			return i, true
		}
		line += n
	}
	return 0, false
}
