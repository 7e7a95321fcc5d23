package page

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/ui/kit"
)

// Command is one row of a page's table: the dispatcher, the keys line, the ? overlay and the README are made of it.
type Command struct {
	Key   key.Binding    // see Bind
	Group string         // heading in the ? overlay; "" means "this page"
	Off   func() string  // why it cannot work now, in a few words; nil or "" means that it can
	Run   func() tea.Cmd // runs on the UI goroutine; may change the page
	Quiet bool           // not on the keys line, only in the overlay
}

// Moving is the Group of the keys that move a cursor.
const Moving = "moving"

// Why returns why the command cannot work now; "" when it can.
func (c Command) Why() string {
	if c.Off == nil {
		return ""
	}
	return c.Off()
}

// Bind makes a key binding out of keys as Bubble Tea names them, separated by blanks, and its help. "space" stands for
// the blank. The first key is the one shown.
//
//	Bind("R", "reset offsets")
//	Bind("enter l right", "open")
func Bind(keys, help string) key.Binding {
	names := strings.Fields(keys)
	for i, n := range names {
		if n == "space" {
			names[i] = " "
		}
	}
	first, _, _ := strings.Cut(keys, " ")
	return key.NewBinding(key.WithKeys(names...), key.WithHelp(Label(first), help))
}

// Label returns a key's name as people write it: ctrl-d, ↑, space, pgdn.
func Label(k string) string {
	switch k {
	case " ":
		return "space"
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	case "pgdown":
		return "pgdn"
	}
	if k == "+" {
		return k
	}
	return strings.ReplaceAll(k, "+", "-")
}

// Find returns the command that a key belongs to.
func Find(commands []Command, k tea.KeyMsg) (Command, bool) {
	name := k.String()
	for _, c := range commands {
		for _, have := range c.Key.Keys() {
			if have == name && c.Key.Enabled() {
				return c, true
			}
		}
	}
	return Command{}, false
}

// ListCommands returns the rows that move a list, a table, a JSON, a text or a hex view. moved, which may be nil, is called after each move, as
// to fetch the rows that have come on screen.
func ListCommands(l kit.Mover, moved func() tea.Cmd) []Command {
	row := func(keys, help string, f func()) Command {
		return Command{Key: Bind(keys, help), Group: Moving, Quiet: true, Run: func() tea.Cmd {
			f()
			if moved == nil {
				return nil
			}
			return moved()
		}}
	}
	return []Command{
		row("j down", "down", func() { l.Move(1) }),
		row("k up", "up", func() { l.Move(-1) }),
		row("ctrl+d", "half a page down", func() { l.Half(1) }),
		row("ctrl+u", "half a page up", func() { l.Half(-1) }),
		row("pgdown ctrl+f", "page down", func() { l.Page(1) }),
		row("pgup ctrl+b", "page up", func() { l.Page(-1) }),
		row("g home", "first", l.Home),
		row("G end", "last", l.End),
	}
}

// MarkCommand returns the row that marks what is under the cursor.
func MarkCommand(l *kit.VList) Command {
	return Command{Key: Bind("space", "mark"), Group: Moving, Quiet: true, Run: func() tea.Cmd {
		l.Mark()
		return nil
	}}
}

// ListMouse lets the wheel scroll a table and a click select. It returns what a click met, for the page to sort by or,
// on a DoubleClick, to open. y is the line of the page on which the table begins.
func ListMouse(t *kit.Table, m Mouse, y int) kit.Hit {
	switch m.Kind {
	case WheelUp:
		t.Scroll(-3)
	case WheelDown:
		t.Scroll(3)
	default:
		hit := t.HitAt(m.X, m.Y-y)
		if hit.OK && !hit.Head {
			t.SetCursor(hit.Row)
		}
		return hit
	}
	return kit.Hit{}
}

// IsText reports whether a key types or edits text, so that an input that has the focus takes it before any command.
func IsText(k tea.KeyMsg) bool {
	if k.Alt {
		return false
	}
	switch k.Type {
	case tea.KeyRunes, tea.KeySpace, tea.KeyBackspace, tea.KeyDelete, tea.KeyLeft, tea.KeyRight, tea.KeyHome, tea.KeyEnd,
		tea.KeyCtrlA, tea.KeyCtrlE, tea.KeyCtrlU, tea.KeyCtrlK, tea.KeyCtrlW, tea.KeyCtrlV:
		return true
	}
	return k.Paste
}

// Reserved reports whether a key is the root's alone.
func Reserved(k string) bool {
	switch k {
	case "q", "?", ":", "ctrl+c", "ctrl+z":
		return true
	}
	return false
}
