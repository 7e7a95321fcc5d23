package kit

import (
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
)

// Input is one line of typed text. Its text is kept as typed and drawn safe; a paste keeps its first line only.
type Input struct {
	Placeholder string   // shown dim while empty
	Choices     []string // completed with tab

	text   []rune
	cursor int
}

// NewInput returns an input with a text, the cursor at its end.
func NewInput(text string) Input {
	var in Input
	in.SetValue(text)
	return in
}

// Value returns the text.
func (in *Input) Value() string { return string(in.text) }

// SetValue replaces the text and puts the cursor at its end.
func (in *Input) SetValue(s string) {
	in.text = []rune(s)
	in.cursor = len(in.text)
}

// Update takes a key; it reports whether the key was one that an input takes.
func (in *Input) Update(k tea.KeyMsg) bool {
	switch k.Type {
	case tea.KeyRunes, tea.KeySpace:
		if k.Alt {
			return false
		}
		in.insert(k.Runes)
	case tea.KeyBackspace:
		in.remove(in.cursor-1, in.cursor)
	case tea.KeyDelete:
		in.remove(in.cursor, in.cursor+1)
	case tea.KeyLeft:
		in.cursor = max(0, in.cursor-1)
	case tea.KeyRight:
		in.cursor = min(len(in.text), in.cursor+1)
	case tea.KeyHome, tea.KeyCtrlA:
		in.cursor = 0
	case tea.KeyEnd, tea.KeyCtrlE:
		in.cursor = len(in.text)
	case tea.KeyCtrlU:
		in.remove(0, in.cursor)
	case tea.KeyCtrlK:
		in.remove(in.cursor, len(in.text))
	case tea.KeyCtrlW:
		in.remove(in.wordStart(), in.cursor)
	default:
		return false
	}
	return true
}

func (in *Input) insert(runes []rune) {
	line, _, _ := strings.Cut(string(runes), "\n")
	line, _, _ = strings.Cut(line, "\r")
	add := []rune(line)
	in.text = append(in.text[:in.cursor:in.cursor], append(add, in.text[in.cursor:]...)...)
	in.cursor += len(add)
}

func (in *Input) remove(from, to int) {
	from, to = max(0, from), min(len(in.text), to)
	if from >= to {
		return
	}
	in.text = append(in.text[:from:from], in.text[to:]...)
	in.cursor = from
}

func (in *Input) wordStart() int {
	i := in.cursor
	for i > 0 && unicode.IsSpace(in.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(in.text[i-1]) {
		i--
	}
	return i
}

// Complete goes to the next choice that begins as the text does; it reports whether there was one.
func (in *Input) Complete() bool {
	prefix := strings.ToLower(in.Value())
	at := -1
	for i, c := range in.Choices {
		if strings.ToLower(c) == prefix {
			at = i
		}
	}
	for d := 1; d <= len(in.Choices); d++ {
		c := in.Choices[(at+d+len(in.Choices))%len(in.Choices)]
		if at >= 0 || strings.HasPrefix(strings.ToLower(c), prefix) {
			in.SetValue(c)
			return true
		}
	}
	return false
}

// View returns the input in exactly w cells; with focus its cursor is drawn. What does not fit scrolls with the cursor.
func (in *Input) View(t *Theme, w int, focus bool) string {
	if w <= 0 {
		return ""
	}
	left, right := string(in.text[:in.cursor]), string(in.text[in.cursor:])
	l, r := Safe(left, 0), Safe(right, CellLimit(w))
	for Width(l) > w-1 && l != "" {
		first := cutRaw(l, 1)
		l = l[len(first):]
	}
	var line Line
	line.Text(l)
	switch {
	case !focus:
		line.Text(Cut(r, w-line.w))
	case r == "":
		line.Add(caret(), " ")
	default:
		head := cutRaw(r, 1)
		line.Add(caret(), head).Text(Cut(r[len(head):], w-line.w))
	}
	if len(in.text) == 0 {
		line.Add(t.Dim, Cut(in.Placeholder, w-line.w))
	}
	return line.Fit(w)
}

// caret is the look of the cursor: reverse, which every terminal has.
func caret() Style { return Style{"\x1b[7m", "\x1b[27m"} }
