package uitest

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/ui/page"
)

// maxSteps is how many messages one Drive feeds before it takes the page for one that never rests.
const maxSteps = 10_000

// Drive runs commands and feeds the page what they bring, until nothing is left. It returns the requests that were
// made of the root, in order.
func Drive(p page.Page, cmds ...tea.Cmd) []page.Request {
	var out []page.Request
	queue := append([]tea.Cmd(nil), cmds...)
	for step := 0; len(queue) > 0; step++ {
		if step > maxSteps {
			panic(fmt.Sprintf("uitest: page %q never rests", p.Title()))
		}
		cmd := queue[0]
		queue = queue[1:]
		if cmd == nil {
			continue
		}
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			queue = append(append([]tea.Cmd(nil), msg...), queue...)
		case page.Redraw:
		case page.Request:
			out = append(out, msg)
		default:
			queue = append(queue, p.Update(msg))
		}
	}
	return out
}

// Send feeds messages as if they came from outside: model.Change, page.Tick, page.Confirmed.
func Send(p page.Page, msgs ...tea.Msg) []page.Request {
	var out []page.Request
	for _, m := range msgs {
		out = append(out, Drive(p, p.Update(m))...)
	}
	return out
}

// Press presses keys by the names that page.Bind takes ("j", "enter", "ctrl+d", "space"), as the root would: through the
// page's commands, or to its input. A key whose command is off makes the notice that the root would show. An unknown
// key panics: the test is wrong.
func Press(p page.Page, keys ...string) []page.Request {
	var out []page.Request
	for _, k := range keys {
		out = append(out, press(p, Key(k))...)
	}
	return out
}

func press(p page.Page, k tea.KeyMsg) []page.Request {
	typing := false
	if t, ok := p.(page.Typer); ok {
		typing = t.TakesText()
	}
	if typing && page.IsText(k) {
		return Drive(p, p.Update(k))
	}
	c, ok := page.Find(p.Commands(), k)
	switch {
	case ok && c.Why() != "":
		return []page.Request{page.Notice{Text: c.Why(), Level: page.Warn}}
	case ok:
		return Drive(p, c.Run())
	case typing:
		return Drive(p, p.Update(k))
	case k.String() == "esc" || k.String() == "h":
		return []page.Request{page.Back{}}
	}
	panic(fmt.Sprintf("uitest: page %q has no key %q", p.Title(), k.String()))
}

// Type types text into the page's input.
func Type(p page.Page, text string) []page.Request {
	var out []page.Request
	for _, r := range text {
		out = append(out, press(p, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})...)
	}
	return out
}

// Key returns the message of a key by its name.
func Key(name string) tea.KeyMsg {
	if name == "space" || name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	alt := false
	if rest, ok := strings.CutPrefix(name, "alt+"); ok {
		alt, name = true, rest
	}
	if r := []rune(name); len(r) == 1 {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: r, Alt: alt}
	}
	for t := tea.KeyType(-100); t < 128; t++ {
		if k := (tea.KeyMsg{Type: t, Alt: alt}); t != tea.KeyRunes && k.String() == strings.TrimSpace(map[bool]string{true: "alt+"}[alt]+name) {
			return k
		}
	}
	panic("uitest: no key is called " + name)
}
