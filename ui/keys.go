package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
)

// everywhere is the heading of the root's own keys in the help overlay.
const everywhere = "everywhere"

// commands returns the root's own table.
func (r *root) commands() []page.Command {
	row := func(keys, help string, run func() tea.Cmd) page.Command {
		return page.Command{Key: page.Bind(keys, help), Group: everywhere, Quiet: true, Run: run}
	}
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd {
			f()
			return nil
		}
	}
	rows := []page.Command{
		row("esc h left backspace", "back", r.back),
		row(":", "go to a topic, address, command", r.openPalette),
		row("?", "help and all keys", do(r.openHelp)),
		row("q", "quit", func() tea.Cmd { return tea.Quit }),
	}
	if f, ok := r.top().page.(page.Filterer); ok {
		rows = append(rows, page.Command{Key: page.Bind("/", "filter"), Group: everywhere, Run: do(func() { r.overlay = newFilter(r.top().id, f) })})
	}
	rows = append(rows,
		row(".", "internal topics on or off", func() tea.Cmd { return r.setInternal(!r.settings.Internal) }),
		row("z", "times as local, UTC, epoch, ago", r.turnClock),
		row("m", "mouse on or off", r.toggleMouse),
		row("Y", "copy this page's address", r.copyAddress),
		row("ctrl+l", "draw again", func() tea.Cmd { return tea.ClearScreen }),
		row("ctrl+z", "suspend", r.suspend),
		row("ctrl+c", "quit at once", func() tea.Cmd { return tea.Quit }),
	)
	for _, v := range r.views() {
		if v.key == "" {
			continue
		}
		c := row(v.key, v.name, func() tea.Cmd { return r.view(v.kind) })
		c.Group, c.Off = "views", v.off
		rows = append(rows, c)
	}
	return append(rows, r.trafficCommands()...)
}

// trafficCommands drive the demo's traffic, where there is some.
func (r *root) trafficCommands() []page.Command {
	t, ok := r.src.(model.Traffic)
	if !ok {
		return nil
	}
	row := func(keys, help string, run func(s model.TrafficState)) page.Command {
		return page.Command{Key: page.Bind(keys, help), Group: "demo", Quiet: true, Run: func() tea.Cmd {
			run(t.TrafficState())
			return nil
		}}
	}
	return []page.Command{
		row("!", "pause the demo's traffic, or go on", func(s model.TrafficState) { t.SetPaused(!s.Paused) }),
		row("+ =", "twice the traffic", func(s model.TrafficState) { t.SetRate(min(1_000_000, max(1, s.Rate)*2)) }),
		row("-", "half the traffic", func(s model.TrafficState) { t.SetRate(max(1, s.Rate/2)) }),
	}
}

// keys takes a message of keys apart: what is typed fast comes as one. A paste stays whole, for inputs; it runs no
// commands.
func (r *root) keys(k tea.KeyMsg) tea.Cmd {
	if k.Paste && !r.takesText() {
		r.say(page.Info, "nothing here takes text")
		return nil
	}
	if k.Type != tea.KeyRunes || len(k.Runes) < 2 || k.Paste || k.Alt {
		return r.key(k)
	}
	cmds := make([]tea.Cmd, 0, len(k.Runes))
	for _, c := range k.Runes {
		cmds = append(cmds, r.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{c}}))
	}
	return tea.Batch(cmds...)
}

// takesText reports whether an input has the focus.
func (r *root) takesText() bool {
	if r.overlay != nil {
		return true
	}
	t, ok := r.top().page.(page.Typer)
	return ok && t.TakesText()
}

// key sends a key where it belongs: to the overlay, to an input of the page, to the page's table, to the root's.
func (r *root) key(k tea.KeyMsg) tea.Cmd {
	own := r.commands()
	c, mine := page.Find(own, k)
	if mine && page.Reserved(k.String()) && k.Type != tea.KeyRunes { // ctrl-c, ctrl-z: whatever is on screen
		return c.Run()
	}
	r.notice = page.Notice{}
	if r.overlay != nil {
		return r.overlayKey(k)
	}
	top := r.top()
	typing := r.takesText()
	if typing && page.IsText(k) {
		return r.toLayer(top.id, k)
	}
	if pc, ok := page.Find(top.page.Commands(), k); ok {
		return r.run(top.id, pc)
	}
	if f, ok := top.page.(page.Filterer); ok && k.Type == tea.KeyEsc && f.Filter() != "" {
		return r.wrap(top.id, f.SetFilter(""))
	}
	switch {
	case mine && (!typing || k.Type == tea.KeyEsc):
		return r.run(0, c)
	case typing:
		return r.toLayer(top.id, k)
	}
	r.say(page.Info, page.Label(k.String())+" does nothing here: ? shows the keys")
	return nil
}

// run runs a command, or says why not. id is the layer that it belongs to, 0 for the root.
func (r *root) run(id int, c page.Command) tea.Cmd {
	if why := c.Why(); why != "" {
		r.say(page.Warn, c.Key.Help().Desc+": "+why)
		return nil
	}
	cmd := c.Run()
	if id == 0 {
		return cmd
	}
	return r.prompt(r.wrap(id, cmd))
}

// promptWait is how long a key waits for what it asked for; a request to the root is there in microseconds.
const promptWait = 2 * time.Millisecond

// prompt does at once what a command brings at once, so that a key typed ahead meets the page that the key before it
// has opened. What takes longer goes the usual way.
func (r *root) prompt(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	c := make(chan tea.Msg, 1)
	go func() { c <- cmd() }() // ends with the command
	t := time.NewTimer(promptWait)
	defer t.Stop()
	select {
	case msg := <-c:
		if m, ok := msg.(from); ok {
			return r.received(m)
		}
		return func() tea.Msg { return msg }
	case <-t.C:
		return func() tea.Msg { return <-c }
	}
}

// doubleClick is the longest time between the two clicks of a double click.
const doubleClick = 400 * time.Millisecond

// mouseEvent gives wheel and clicks to the page on top.
func (r *root) mouseEvent(m tea.MouseMsg) tea.Cmd {
	ev := tea.MouseEvent(m)
	if r.overlay != nil {
		return r.overlayMouse(ev)
	}
	top, _, _ := r.layout()
	pm := page.Mouse{X: ev.X, Y: ev.Y - top}
	switch {
	case ev.Button == tea.MouseButtonWheelUp:
		pm.Kind = page.WheelUp
	case ev.Button == tea.MouseButtonWheelDown:
		pm.Kind = page.WheelDown
	case ev.Button == tea.MouseButtonLeft && ev.Action == tea.MouseActionPress:
		pm.Kind = page.Click
		at := r.now()
		if r.click.x == ev.X && r.click.y == ev.Y && at.Sub(r.click.at) < doubleClick {
			pm.Kind, at = page.DoubleClick, time.Time{}
		}
		r.click = lastClick{ev.X, ev.Y, at}
	default:
		return nil
	}
	return r.pageMouse(pm)
}

func (r *root) pageMouse(pm page.Mouse) tea.Cmd {
	_, height, _ := r.layout()
	l := r.top()
	if pm.Kind <= page.DoubleClick && (pm.Y < 0 || pm.Y >= height) {
		return nil
	}
	if p, ok := l.page.(page.Mouser); ok {
		return r.wrap(l.id, p.Mouse(pm))
	}
	name := map[page.MouseKind]tea.KeyType{page.WheelUp: tea.KeyUp, page.WheelDown: tea.KeyDown}[pm.Kind]
	if pm.Kind < page.WheelUp {
		return nil
	}
	var cmds []tea.Cmd
	for range 3 {
		if c, ok := page.Find(l.page.Commands(), tea.KeyMsg{Type: name}); ok && c.Why() == "" {
			cmds = append(cmds, r.wrap(l.id, c.Run()))
		}
	}
	return tea.Batch(cmds...)
}

func (r *root) toggleMouse() tea.Cmd {
	r.mouse = !r.mouse
	r.state.NoMouse = !r.mouse
	if r.mouse {
		r.say(page.Info, "mouse on: the wheel scrolls, a click selects; hold shift to select text")
		return tea.EnableMouseCellMotion
	}
	r.say(page.Info, "mouse off: text can be selected")
	return tea.DisableMouse
}

// mouseAgain turns the mouse on after the terminal was given away, which turned it off.
func (r *root) mouseAgain() tea.Cmd {
	if !r.mouse {
		return nil
	}
	return tea.EnableMouseCellMotion
}

func (r *root) suspend() tea.Cmd {
	r.suspending.Store(true)
	return tea.Suspend
}
