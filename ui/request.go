package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// request does what a page asked for. What takes the screen is only done for the page that is on top.
func (r *root) request(l *layer, req page.Request) tea.Cmd {
	onTop := l == r.top()
	switch req := req.(type) {
	case page.Notice:
		r.say(req.Level, req.Text)
	case page.Remember:
		r.state.remember(l.open.Kind, req.Key, req.Value)
	case page.TickIn:
		id, tick := l.id, page.Tick{ID: req.ID}
		return tea.Tick(req.After, func(time.Time) tea.Msg { return from{id, tick} })
	case page.Later:
		return r.wrap(l.id, req.Cmd)
	case page.Copy:
		return r.copy(req)
	case page.Switch:
		return r.setInternal(req.Internal)
	default:
		if onTop {
			return r.screenRequest(l, req)
		}
	}
	return nil
}

// screenRequest does what takes the screen.
func (r *root) screenRequest(l *layer, req page.Request) tea.Cmd {
	switch req := req.(type) {
	case page.Open:
		return r.push(req)
	case page.Back:
		return r.back()
	case page.Confirm:
		r.overlay = newConfirm(l.id, req)
	case page.Ask:
		r.overlay = newAsk(l.id, req)
	case page.Pager:
		return r.pager(req)
	case page.Edit:
		return r.edit(l.id, req)
	}
	return nil
}

// setInternal shows or hides internal topics and groups everywhere.
func (r *root) setInternal(on bool) tea.Cmd {
	r.settings.Internal, r.state.Internal = on, on
	if on {
		r.say(page.Info, "internal topics are shown")
	} else {
		r.say(page.Info, "internal topics are hidden")
	}
	return r.tellAll(page.Changed{})
}

// tellAll gives all pages a message.
func (r *root) tellAll(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for l := range r.layers() {
		cmds = append(cmds, r.toLayer(l.id, msg))
	}
	return tea.Batch(cmds...)
}

// turnClock goes to the next form of times.
func (r *root) turnClock() tea.Cmd {
	r.clock.Turn()
	r.state.Times = nameOf(r.clock.Form)
	r.say(page.Info, "times: "+r.clock.Name())
	return r.tellAll(page.Changed{})
}

// setTheme changes the theme in place, so that the pages' pointers stay good.
func (r *root) setTheme(name string) tea.Cmd {
	t, err := kit.NewThemeDepth(name, r.opts.ASCII, r.env.depth())
	if err != nil {
		r.say(page.Bad, err.Error())
		return nil
	}
	*r.theme = *t
	r.state.Theme = name
	r.say(page.Info, "theme "+t.Name)
	return r.tellAll(page.Changed{})
}
