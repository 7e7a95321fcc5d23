package ui

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// root is the program's model: all of it runs on the UI goroutine, but for the fields that say otherwise.
//
// Invariants:
//   - stack holds at least one layer, the last one is on screen
//   - frame is what draw would return, unless dirty
type root struct {
	opts     Options
	ctx      context.Context
	cancel   context.CancelFunc
	src      model.Source
	pages    map[page.Kind]page.Constructor
	theme    *kit.Theme
	clock    *kit.Clock
	settings *page.Settings
	now      func() time.Time
	env      environ
	term     *terminal // nil in tests
	state    state
	mouse    bool

	stack   []*layer
	parked  map[page.Kind][]*layer // stacks of views that are not shown, by the view
	lastID  int
	overlay overlay // nil for none
	notice  page.Notice
	noticed int      // seconds that the notice has been there
	pending []string // notices still to be said
	info    model.Info
	profile model.Profile // by which the source was opened; the zero one for none
	asking  page.Loader[model.Info]
	names   names

	w, h     int
	dirty    bool
	frame    string
	lines    []string // memory of the frame's lines, used again by the next
	spin     int
	spinning bool
	click    lastClick
	focus    string

	crash      *CrashError
	gone       atomic.Bool // a signal ended the program; set by the watch
	suspending atomic.Bool // the terminal is being given back, to stop; read by the watch
}

// lastClick is what a double click is told by.
type lastClick struct {
	x, y int
	at   time.Time
}

// names is what the palette completes with.
type names struct {
	load   page.Slot[names]
	topics []string
	groups []string
}

// The root's own messages.
type (
	changeMsg struct {
		change model.Change
		open   bool // false: the channel was closed
	}
	secondMsg  struct{}
	spinMsg    struct{}
	suspendMsg struct{}
	crashMsg   struct{ err *CrashError }
	editedMsg  struct {
		layer int
		page.Edited
	}
	// from is a message that a layer's command brought.
	from struct {
		layer int
		msg   tea.Msg
	}
)

func newRoot(ctx context.Context, o Options) (*root, error) {
	r := &root{opts: o, src: o.Source, pages: registry(), parked: map[page.Kind][]*layer{}, settings: &page.Settings{}, now: o.Now, mouse: !o.NoMouse, dirty: true}
	if r.now == nil {
		r.now = time.Now
	}
	r.env = readEnviron(o.Environ)
	st, err := loadState(o.StatePath)
	if err != nil {
		r.pending = append(r.pending, "the state file is damaged and left out: "+err.Error())
	}
	r.state = st
	r.settings.Internal = st.Internal
	if st.NoMouse {
		r.mouse = false
	}
	r.theme, err = r.chooseTheme()
	if err != nil {
		return nil, err
	}
	r.clock = &kit.Clock{Form: o.Form, Zone: o.Zone, Now: r.now}
	if o.Form == kit.LocalTime {
		r.clock.Form = formOf(st.Times)
	}
	r.pending = append(r.pending, o.Notices...)
	if p, ok := o.Source.(model.Profiled); ok {
		r.profile = p.Profile()
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.reset(r.first())
	return r, nil
}

// close ends all pages and everything that they started.
func (r *root) close() {
	for l := range r.layers() {
		l.close()
	}
	r.stack, r.parked = nil, nil
	r.names.load.Cancel()
	r.asking.Cancel()
	r.cancel()
}

// Init starts what always runs: the changes, the second, the first page.
func (r *root) Init() tea.Cmd {
	top := r.top()
	return tea.Batch(r.wrap(top.id, top.page.Init()), r.nextChange(0), r.askInfo(), second(), r.tellFocus())
}

// Update is Bubble Tea's. It never panics: a fault ends the program with the terminal restored.
func (r *root) Update(msg tea.Msg) (m tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			r.crash = &CrashError{v, debug.Stack()}
			m, cmd = r, tea.Quit
		}
	}()
	if r.crash != nil {
		return r, tea.Quit
	}
	r.dirty = true
	cmd = tea.Batch(r.update(msg), r.startSpin(), r.tellFocus())
	return r, cmd
}

func (r *root) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		r.w, r.h = msg.Width, msg.Height
	case tea.KeyMsg:
		return r.keys(msg)
	case tea.MouseMsg:
		return r.mouseEvent(msg)
	case from:
		return r.received(msg)
	case changeMsg:
		return r.changed(msg)
	case page.Result[model.Info]:
		mine, again := r.asking.Took(r.ctx, msg)
		if mine && msg.Err == nil {
			r.learn(msg.Val)
		}
		return own(again)
	case editedMsg:
		return tea.Batch(r.toLayer(msg.layer, msg.Edited), r.mouseAgain())
	case page.Result[places]:
		if p, ok := r.overlay.(*palette); ok && p.load.Owns(msg) {
			p.places = msg.Val
			p.match(r)
		}
	case page.Result[names]:
		if r.names.load.Owns(msg) && msg.Err == nil {
			r.names.topics, r.names.groups = msg.Val.topics, msg.Val.groups
			if p, ok := r.overlay.(*palette); ok {
				p.gather(r)
			}
		}
	default:
		return r.housekeeping(msg)
	}
	return nil
}

// housekeeping takes the messages of clocks and of the terminal.
func (r *root) housekeeping(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case secondMsg:
		r.fade()
		r.sayPending()
		return second()
	case spinMsg:
		r.spin, r.spinning = r.spin+1, false
	case suspendMsg:
		return r.suspend()
	case tea.ResumeMsg:
		r.suspending.Store(false)
		return r.mouseAgain()
	case crashMsg:
		r.crash = msg.err
		return tea.Quit
	}
	return nil
}

// View is Bubble Tea's: the last frame, unless something may have changed it.
func (r *root) View() (frame string) {
	if !r.dirty {
		return r.frame
	}
	defer func() {
		if v := recover(); v != nil && r.crash == nil {
			r.crash = &CrashError{v, debug.Stack()}
			r.cancel() // ends the program: a View cannot return a command
			frame = r.frame
		}
	}()
	if r.crash == nil && r.w > 0 && r.h > 0 {
		r.frame = r.draw()
	}
	r.dirty = false
	return r.frame
}

// received takes what a layer's command brought.
func (r *root) received(m from) tea.Cmd {
	l := r.layer(m.layer)
	if l == nil {
		return nil // closed meanwhile
	}
	if req, ok := m.msg.(page.Request); ok {
		return r.request(l, req)
	}
	return r.toLayer(l.id, m.msg)
}

// toLayer gives a page a message.
func (r *root) toLayer(id int, msg tea.Msg) tea.Cmd {
	l := r.layer(id)
	if l == nil {
		return nil
	}
	return r.wrap(id, l.page.Update(msg))
}

// wrap makes a page's command bring its messages under the page's name, and outlive its panics.
func (r *root) wrap(id int, cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return outlive(cmd, func(m tea.Msg) tea.Msg { return from{id, m} })
}

// own makes a command of the root's outlive the panics of the source that it asks.
func own(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return outlive(cmd, func(m tea.Msg) tea.Msg { return m })
}

// outlive turns a panic of a command, or of those that it stands for, into a message: in Bubble Tea's goroutine it would
// end the process with the terminal as it is. named is what becomes of the other messages.
func outlive(cmd tea.Cmd, named func(tea.Msg) tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				msg = crashMsg{&CrashError{v, debug.Stack()}}
			}
		}()
		switch m := cmd().(type) {
		case nil:
			return nil
		case tea.BatchMsg:
			all := make(tea.BatchMsg, 0, len(m))
			for _, c := range m {
				if c != nil {
					all = append(all, outlive(c, named))
				}
			}
			return all
		default:
			return named(m)
		}
	}
}

// askInfo asks what the source says of itself, once at a time however often that changes.
func (r *root) askInfo() tea.Cmd { return own(r.asking.Load(r.ctx, r.src.Info)) }

func second() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return secondMsg{} }) }
