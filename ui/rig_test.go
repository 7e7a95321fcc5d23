package ui

import (
	"fmt"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

// sample is a page that can be told what to do.
type sample struct {
	page.Env
	open    page.Open
	list    kit.VList
	filter  string
	got     []tea.Msg
	typing  bool
	typed   string
	onKey   func() tea.Cmd
	onView  func()
	closed  int
	busy    bool
	changes []model.Change
}

func (p *sample) Title() string   { return string(p.open.Kind) }
func (p *sample) Init() tea.Cmd   { return nil }
func (p *sample) Close()          { p.closed++ }
func (p *sample) Filter() string  { return p.filter }
func (p *sample) TakesText() bool { return p.typing }
func (p *sample) Busy() bool      { return p.busy }
func (p *sample) Status() string  { return "1 of 40" }
func (p *sample) SetFilter(s string) tea.Cmd {
	p.filter = s
	return nil
}

func (p *sample) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case model.Change:
		p.changes = append(p.changes, msg)
	case tea.KeyMsg:
		p.typed += msg.String()
	default:
		p.got = append(p.got, msg)
	}
	return nil
}

func (p *sample) View(w, h int) string {
	if p.onView != nil {
		p.onView()
	}
	return p.list.View(w, h, func(i int64) string { return fmt.Sprintf("row %d 注文", i) })
}

func (p *sample) Commands() []page.Command {
	return append([]page.Command{
		{Key: page.Bind("enter l", "open"), Run: func() tea.Cmd {
			return page.Goto(page.Partitions, model.TopicAddress("orders"))
		}},
		{Key: page.Bind("D", "delete"), Off: func() string { return "this source is read-only" }, Run: func() tea.Cmd { return nil }},
		{Key: page.Bind("x", "act"), Run: func() tea.Cmd {
			if p.onKey == nil {
				return nil
			}
			return p.onKey()
		}},
	}, page.ListCommands(&p.list, nil)...)
}

// rig is a root without a program.
type rig struct {
	t *testing.T
	*root
	src   *uitest.Source
	made  []*sample
	clock time.Time
	quit  bool
}

func newRig(t *testing.T, o Options) *rig {
	t.Helper()
	g := &rig{t: t, clock: uitest.Now()}
	if o.Source == nil {
		g.src = uitest.NewSource(uitest.Now())
		o.Source = g.src
	}
	o.Now = func() time.Time { return g.clock }
	o.Environ = append(o.Environ, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8")
	o.Form = kit.UTCTime
	r, err := newRoot(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	g.root = r
	r.pages = map[page.Kind]page.Constructor{}
	for _, k := range []page.Kind{page.Topics, page.Partitions, page.Segments, page.Batches, page.Records, page.Record, page.Groups, page.Group, page.Reset} {
		r.pages[k] = func(env page.Env, o page.Open) page.Page {
			p := &sample{Env: env, open: o, list: kit.VList{Len: 40, Theme: env.Theme}}
			g.made = append(g.made, p)
			return p
		}
	}
	r.reset(r.first())
	g.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	return g
}

// send feeds a message and what comes of it, but for commands that wait.
func (g *rig) send(msgs ...tea.Msg) {
	g.t.Helper()
	for _, m := range msgs {
		_, cmd := g.Update(m)
		g.drive(cmd)
	}
}

func (g *rig) drive(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch m := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range m {
			g.drive(c)
		}
	case tea.QuitMsg:
		g.quit = true
	default:
		g.send(m)
	}
}

// learns answers what the root asks the source of itself.
func (g *rig) learns(in model.Info) {
	g.t.Helper()
	g.askInfo()
	g.send(g.asking.Done(in, nil))
}

func (g *rig) press(keys ...string) {
	g.t.Helper()
	for _, k := range keys {
		g.send(uitest.Key(k))
	}
}

func (g *rig) page() *sample { return g.top().page.(*sample) }

func (g *rig) shows(words ...string) {
	g.t.Helper()
	uitest.Contains(g.t, g.View(), words...)
}
