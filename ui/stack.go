package ui

import (
	"context"
	"fmt"
	"iter"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
)

// layer is a page on the stack.
type layer struct {
	id     int
	open   page.Open
	page   page.Page
	cancel context.CancelFunc
	missed *model.Change // while covered
}

func (l *layer) close() {
	l.page.Close()
	l.cancel()
}

// address returns where the layer is.
func (l *layer) address() model.Address {
	if a, ok := l.page.(page.Addressed); ok {
		return a.Address()
	}
	return whole(l.open.Addr)
}

// whole turns the zero value, whose partition would be 0, into the address of no place.
func whole(a model.Address) model.Address {
	if a == (model.Address{}) {
		return model.TopicAddress("")
	}
	return a
}

func (r *root) top() *layer { return r.stack[len(r.stack)-1] }

// layer returns a layer of any stack; nil when it was closed.
func (r *root) layer(id int) *layer {
	for l := range r.layers() {
		if l.id == id {
			return l
		}
	}
	return nil
}

// layers walks over all that is open: what is on screen, what it covers, and the stacks that are parked.
func (r *root) layers() iter.Seq[*layer] {
	return func(yield func(*layer) bool) {
		for _, l := range r.stack {
			if !yield(l) {
				return
			}
		}
		for _, stack := range r.parked {
			for _, l := range stack {
				if !yield(l) {
					return
				}
			}
		}
	}
}

// make builds a layer; nil when no page of that kind exists.
func (r *root) make(o page.Open) *layer {
	build, ok := r.pages[o.Kind]
	if !ok {
		return nil
	}
	o.Addr = whole(o.Addr)
	r.lastID++
	ctx, cancel := context.WithCancel(r.ctx)
	kind := o.Kind
	env := page.Env{
		Ctx: ctx, Src: r.src, Theme: r.theme, Clock: r.clock, Now: r.now, Settings: r.settings,
		Recall: func(key string) string { return r.state.recall(kind, key) },
	}
	return &layer{id: r.lastID, open: o, page: build(env, o), cancel: cancel}
}

// reset makes a place the only one on the stack; its Init is the caller's to run.
func (r *root) reset(o page.Open) {
	l := r.make(o)
	if l == nil {
		l = r.make(page.Open{Kind: page.Topics})
	}
	if l == nil {
		l = &layer{open: o, page: blank{}, cancel: func() {}}
	}
	for _, old := range r.stack {
		old.close()
	}
	r.stack = []*layer{l}
}

// push opens a page on top, or with Replace in the place of the one on top.
func (r *root) push(o page.Open) tea.Cmd {
	l := r.make(o)
	if l == nil {
		r.say(page.Warn, fmt.Sprintf("there is no page %q", o.Kind))
		return nil
	}
	r.leave()
	if o.Replace {
		r.top().close()
		r.stack[len(r.stack)-1] = l
	} else {
		r.stack = append(r.stack, l)
	}
	return r.wrap(l.id, l.page.Init())
}

// keeps reports whether the stack of a view is parked while another is shown, so that one comes back to where one was.
// The others would go on working unseen.
func keeps(k page.Kind) bool { return k == page.Topics || k == page.Groups }

// view switches to a view: to where it was left, or, when it is shown already, to its first page.
func (r *root) view(k page.Kind) tea.Cmd {
	base := r.stack[0].open.Kind
	if base == k && len(r.stack) > 1 {
		r.leave()
		for _, l := range r.stack[1:] {
			l.close()
		}
		r.stack = r.stack[:1]
		return r.uncover()
	}
	if base == k || !r.has(k) {
		return nil
	}
	if keeps(base) {
		r.parked[base] = r.stack
		r.stack = nil
	}
	stack, ok := r.parked[k]
	if !ok {
		return r.jump(page.Open{Kind: k})
	}
	r.leave()
	for _, l := range r.stack {
		l.close()
	}
	r.stack = stack
	delete(r.parked, k)
	return r.uncover()
}

// jump makes a place the only one on the stack.
func (r *root) jump(o page.Open) tea.Cmd {
	if _, ok := r.pages[o.Kind]; !ok {
		r.say(page.Warn, fmt.Sprintf("there is no page %q", o.Kind))
		return nil
	}
	r.leave()
	r.reset(o)
	return r.wrap(r.top().id, r.top().page.Init())
}

// back uncovers the page below; at the bottom it goes to where one would have come from.
func (r *root) back() tea.Cmd {
	if len(r.stack) > 1 {
		r.leave()
		r.top().close()
		r.stack = r.stack[:len(r.stack)-1]
		return r.uncover()
	}
	up, ok := r.parent(r.top())
	if !ok {
		r.say(page.Info, "this is the first page: q leaves strata")
		return nil
	}
	return r.jump(up)
}

// leave takes away the overlay that belongs to the page on top.
func (r *root) leave() {
	switch r.overlay.(type) {
	case *help, *palette:
	default:
		r.overlay = nil
	}
}

// uncover tells the page that is on top again what it missed.
func (r *root) uncover() tea.Cmd {
	l := r.top()
	cmds := []tea.Cmd{r.toLayer(l.id, page.Shown{})}
	if l.missed != nil {
		c := *l.missed
		l.missed = nil
		cmds = append(cmds, r.toLayer(l.id, c))
	}
	return tea.Batch(cmds...)
}

// tellFocus tells the source which topics are on screen, when these are others than before.
func (r *root) tellFocus() tea.Cmd {
	f, ok := r.src.(model.Focuser)
	if !ok || len(r.stack) == 0 {
		return nil
	}
	var topics []string
	top := r.top()
	if p, ok := top.page.(page.Focused); ok {
		topics = p.Focus()
	} else if t := top.address().Topic; t != "" {
		topics = []string{t}
	}
	key := "/" + strings.Join(topics, "\n")
	if key == r.focus {
		return nil
	}
	r.focus = key
	return own(func() tea.Msg {
		f.Focus(topics)
		return nil
	})
}

// blank is what stands there when there is no page at all.
type blank struct{}

func (blank) Title() string            { return "nothing" }
func (blank) Init() tea.Cmd            { return nil }
func (blank) Update(tea.Msg) tea.Cmd   { return nil }
func (blank) View(int, int) string     { return "   this build holds no pages" }
func (blank) Commands() []page.Command { return nil }
func (blank) Close()                   {}
