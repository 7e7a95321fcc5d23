package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// overlay takes the keys while it is there. It draws itself in one of three ways: over the whole body, as a sheet at the
// body's foot, or in the status line.
type overlay interface {
	// key takes a key; done takes the overlay away before cmd is run.
	key(r *root, k tea.KeyMsg) (cmd tea.Cmd, done bool)
	hints() []hint // at least two
}

type (
	fullOverlay interface {
		full(r *root, w, h int) string
	}
	sheetOverlay interface {
		sheet(r *root, w, h int) []string
	}
	lineOverlay interface {
		line(r *root, w int) string
	}
	scrollOverlay interface{ scroll(d int64) }
)

func (r *root) overlayKey(k tea.KeyMsg) tea.Cmd {
	o := r.overlay
	cmd, done := o.key(r, k)
	if done && r.overlay == o {
		r.overlay = nil
	}
	return cmd
}

func (r *root) overlayMouse(ev tea.MouseEvent) tea.Cmd {
	s, ok := r.overlay.(scrollOverlay)
	if !ok {
		return nil
	}
	switch ev.Button {
	case tea.MouseButtonWheelUp:
		s.scroll(-3)
	case tea.MouseButtonWheelDown:
		s.scroll(3)
	}
	return nil
}

// confirm asks a question.
type confirm struct {
	layer int
	ask   page.Confirm
	input kit.Input
	wrong bool
}

// leastInput is how many cells there must be for an input beside its prompt.
const leastInput = 20

func newConfirm(layer int, ask page.Confirm) *confirm { return &confirm{layer: layer, ask: ask} }

func (c *confirm) key(r *root, k tea.KeyMsg) (tea.Cmd, bool) {
	answer := func(ok bool) (tea.Cmd, bool) {
		return r.toLayer(c.layer, page.Confirmed{ID: c.ask.ID, OK: ok}), true
	}
	switch {
	case k.Type == tea.KeyEsc:
		return answer(false)
	case c.ask.Typed == "":
		switch {
		case same(k, "y", "Y"):
			return answer(true)
		case same(k, "n", "N", "q", "h"):
			return answer(false)
		}
	case k.Type == tea.KeyEnter:
		if c.input.Value() == c.ask.Typed {
			return answer(true)
		}
		c.wrong = true
	default:
		c.input.Update(k)
		c.wrong = false
	}
	return nil, false
}

// same reports whether a key is one of some letters.
func same(k tea.KeyMsg, letters ...string) bool {
	for _, l := range letters {
		if k.String() == l {
			return true
		}
	}
	return false
}

func (c *confirm) hints() []hint {
	if c.ask.Typed != "" {
		return []hint{{"enter", "do it", c.input.Value() != c.ask.Typed}, {"esc", "leave it as it is", false}}
	}
	return []hint{{"y", "yes", false}, {"n", "no", false}}
}

func (c *confirm) sheet(r *root, w, h int) []string {
	t := r.theme
	out := []string{" " + t.Bold.Wrap(kit.Cut(kit.Safe(c.ask.Title, kit.CellLimit(w)), max(0, w-2)))}
	for _, b := range c.ask.Body {
		for _, l := range kit.Wrap(kit.Safe(b, 4096), max(4, w-5)) {
			out = append(out, "   "+l)
		}
	}
	foot := c.foot(t, w)
	if room := max(1, h-len(foot)); len(out) > room {
		out = out[:room]
		if room > 1 {
			out[room-1] = t.Dim.Wrap("   " + t.Glyphs.Ellipsis)
		}
	}
	return append(out, foot...)
}

// foot is how the question is answered.
func (c *confirm) foot(t *kit.Theme, w int) []string {
	if c.ask.Typed == "" {
		return []string{" " + t.Accent.Wrap("y") + " yes   " + t.Accent.Wrap("n") + " no"}
	}
	var out []string
	want := kit.Safe(c.ask.Typed, 300)
	prompt := " type " + t.Accent.Wrap(want) + " and enter: "
	if kit.Width(prompt)+leastInput > w { // a long name, or a narrow screen: what is typed has a line of its own
		for _, l := range kit.Wrap(want, max(4, w-3)) {
			out = append(out, "   "+t.Accent.Wrap(l))
		}
		prompt = " type it: "
	}
	out = append(out, prompt+c.input.View(t, max(1, w-kit.Width(prompt)-1), true))
	if c.wrong {
		out = append(out, t.Bad.Wrap("   that is not the name"))
	}
	return out
}

// ask asks for one line.
type ask struct {
	layer int
	ask   page.Ask
	input kit.Input
}

func newAsk(layer int, a page.Ask) *ask {
	in := kit.NewInput(a.Initial)
	in.Choices = a.Choices
	return &ask{layer: layer, ask: a, input: in}
}

func (a *ask) key(r *root, k tea.KeyMsg) (tea.Cmd, bool) {
	switch k.Type {
	case tea.KeyEsc:
		return r.toLayer(a.layer, page.Answered{ID: a.ask.ID}), true
	case tea.KeyEnter:
		return r.toLayer(a.layer, page.Answered{ID: a.ask.ID, Text: a.input.Value(), OK: true}), true
	case tea.KeyTab:
		a.input.Complete()
	default:
		a.input.Update(k)
		a.ask.Err = ""
	}
	return nil, false
}

func (a *ask) hints() []hint {
	out := []hint{{"enter", "go", false}, {"esc", "leave", false}}
	if len(a.ask.Choices) > 0 {
		out = append([]hint{{"tab", "complete", false}}, out...)
	}
	return out
}

func (a *ask) sheet(r *root, w, _ int) []string {
	t := r.theme
	prompt := " " + kit.Cut(kit.Safe(a.ask.Prompt, 300), max(1, w/2)) + " "
	out := []string{t.Accent.Wrap(prompt) + a.input.View(t, max(4, w-kit.Width(prompt)-1), true)}
	switch {
	case a.ask.Err != "":
		out = append(out, t.Bad.Wrap(kit.Cut("   "+t.Glyphs.Bad+" "+kit.Safe(a.ask.Err, kit.CellLimit(w)), w)))
	case a.ask.Hint != "":
		out = append(out, t.Dim.Wrap(kit.Cut("   "+kit.Safe(a.ask.Hint, kit.CellLimit(w)), w)))
	}
	return out
}

// filter narrows the page on top while it is typed.
type filter struct {
	layer int
	page  page.Filterer
	input kit.Input
	was   string
}

func newFilter(layer int, p page.Filterer) *filter {
	return &filter{layer: layer, page: p, input: kit.NewInput(p.Filter()), was: p.Filter()}
}

func (f *filter) key(r *root, k tea.KeyMsg) (tea.Cmd, bool) {
	switch k.Type {
	case tea.KeyEsc:
		return r.wrap(f.layer, f.page.SetFilter("")), true
	case tea.KeyEnter:
		return nil, true
	case tea.KeyUp, tea.KeyDown, tea.KeyPgUp, tea.KeyPgDown:
		if c, ok := page.Find(r.top().page.Commands(), k); ok {
			return r.run(f.layer, c), false
		}
	default:
		if f.input.Update(k) {
			return r.wrap(f.layer, f.page.SetFilter(f.input.Value())), false
		}
	}
	return nil, false
}

func (f *filter) hints() []hint {
	return []hint{{"enter", "keep the filter", false}, {"esc", "show all", false}}
}

func (f *filter) line(r *root, w int) string {
	var l kit.Line
	l.Add(r.theme.Accent, "/")
	room := w - 1
	note := ""
	if s, ok := f.page.(page.Stater); ok {
		note = kit.Safe(s.Status(), 100)
	}
	if n := kit.Width(note); note != "" && n+20 < w {
		room -= n + 2
	} else {
		note = ""
	}
	l.Text(f.input.View(r.theme, room, true))
	if note != "" {
		l.Space(1).Add(r.theme.Dim, strings.TrimSpace(note))
	}
	return l.String()
}
