package journal

import (
	"context"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/offsets"
	"github.com/strata-kafka/strata/ui/page"
)

// second is the ID of the timer by which ages go on.
const second = "second"

// lister is what the page needs of a source.
type lister interface {
	Journal(ctx context.Context) ([]model.JournalEntry, error)
}

// journal is the page. Invariants: rows holds indexes into all, and list's Len is len(rows); items' Len is that of the
// entry under the list's cursor.
type journal struct {
	page.Env
	src    lister // nil: the source keeps none
	group  string // only its entries; "" for all
	load   page.Loader[[]model.JournalEntry]
	list   kit.Table
	items  kit.Table // the rows of the entry under the cursor
	inside bool      // the rows have the screen and the keys
	all    []model.JournalEntry
	rows   []int
	loaded bool
	due    bool
	err    error
	filter page.Filter
	seenY  int // line of the rows' table, as of the last View; 0 when it is not there
}

// New makes the page; with o.Addr.Group it lists the resets of this group only.
func New(env page.Env, o page.Open) page.Page {
	p := &journal{Env: env, group: o.Addr.Group}
	p.src, _ = env.Src.(lister)
	p.list.Theme, p.items.Theme = env.Theme, env.Theme
	p.list.KeyOf = func(i int64) string { return strconv.FormatUint(p.all[p.rows[i]].ID, 10) }
	p.list.Columns = []kit.Column{
		{Name: "#", Right: true, Min: 3},
		{Name: "WHEN", Right: true, Min: 6},
		{Name: "GROUP", Grow: true, Min: 12, Max: 40, Drop: 2},
		{Name: "RESET", Grow: true, Min: 18, Max: 60},
		{Name: "ROWS", Right: true, Drop: 3},
		{Name: "WHO", Min: 8, Max: 30, Drop: 4},
		{Name: "STANDS", Min: 16},
	}
	p.items.Columns = []kit.Column{
		{Name: "PARTITION", Grow: true, Min: 14, Max: 48},
		{Name: "WAS", Right: true, Min: 9},
		{Name: "BECAME", Right: true, Min: 11},
		{Name: "CHANGE", Min: 18},
		{Name: "NOTE", Grow: true, Min: 16, Max: 80, Drop: 1},
	}
	return p
}

func (p *journal) Title() string { return "journal" }
func (p *journal) Busy() bool    { return p.load.Slow() }
func (p *journal) Close()        { p.load.Cancel() }
func (p *journal) Init() tea.Cmd { return tea.Batch(p.reload(), p.arm()) }
func (p *journal) arm() tea.Cmd  { return page.Send(page.TickIn{After: time.Second, ID: second}) }

func (p *journal) reload() tea.Cmd {
	if p.src == nil {
		return nil
	}
	p.due = false
	return p.load.Load(p.Ctx, p.src.Journal)
}

func (p *journal) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[[]model.JournalEntry]:
		if mine, again := p.load.Took(p.Ctx, msg); mine {
			p.take(msg.Val, msg.Err)
			return again
		}
	case model.Change:
		p.due = p.due || msg.Groups || msg.All
	case page.Shown:
		return p.reload()
	case page.Tick:
		if msg.ID != second {
			return nil
		}
		if p.due {
			return tea.Batch(p.reload(), p.arm())
		}
		return p.arm()
	}
	return nil
}

func (p *journal) take(entries []model.JournalEntry, err error) {
	p.err = err
	if err != nil {
		return
	}
	p.all, p.loaded = p.all[:0], true
	for i := range entries {
		if p.group == "" || entries[i].Group == p.group {
			p.all = append(p.all, entries[i])
		}
	}
	p.arrange()
}

func (p *journal) arrange() {
	p.rows = p.rows[:0]
	name := 12
	for i := range p.all {
		e := &p.all[i]
		name = max(name, min(40, kit.Width(kit.Safe(e.Group, 200))))
		if p.filter.Match(e.Group) || p.filter.Match(e.Who) || p.filter.Match(offsets.WhereWords(e.Where)) {
			p.rows = append(p.rows, i)
		}
	}
	p.list.Columns[2].Max = name
	p.list.SetLen(int64(len(p.rows)))
	p.follow()
}

// follow shows the rows of the entry under the cursor.
func (p *journal) follow() {
	n := 0
	if e, ok := p.at(); ok {
		n = len(e.Rows)
	} else {
		p.inside = false
	}
	if int64(n) != p.items.Len {
		p.items.Len = int64(n)
	}
	if !p.inside {
		p.items.Home()
	}
}

// at returns the entry under the cursor.
func (p *journal) at() (*model.JournalEntry, bool) {
	if i := p.list.Cursor(); i < int64(len(p.rows)) {
		return &p.all[p.rows[i]], true
	}
	return nil, false
}

// Address is that of the group whose journal it is.
func (p *journal) Address() model.Address {
	a := model.TopicAddress("")
	a.Group = p.group
	return a
}

// Status says how many entries there are.
func (p *journal) Status() string {
	if !p.loaded {
		return ""
	}
	s := kit.Number(int64(len(p.rows))) + " of " + kit.Number(int64(len(p.all))) + " resets"
	return page.WithFault(s, p.filter.Err(), p.err)
}

// Filter implements page.Filterer.
func (p *journal) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer.
func (p *journal) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.list.Rearrange(p.arrange)
	return nil
}

// Mouse scrolls and selects; a double click gives the rows the screen.
func (p *journal) Mouse(m page.Mouse) tea.Cmd {
	if p.inside {
		page.ListMouse(&p.items, m, 1)
		return nil
	}
	hit := page.ListMouse(&p.list, m, 0)
	if hit.OK && !hit.Head && (p.seenY == 0 || m.Y < p.seenY) {
		p.follow()
		if m.Kind == page.DoubleClick {
			return p.enter()
		}
	}
	return nil
}
