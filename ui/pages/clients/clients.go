package clients

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// second is the ID of the timer by which the figures are read.
const second = "second"

// listing is what a load brings.
type listing struct {
	clients []model.Client
	apis    []model.APIStat
	last    model.Refusal // the last that was refused; zero for none
	refused int64         // how many were
	info    model.Info
}

// clients is the page. Invariants: rows holds indexes into all, and list's Len is len(rows); apis' Len is len(stats).
type clients struct {
	page.Env
	src    model.ClientReader // nil: nobody can connect to this source
	load   page.Loader[listing]
	list   kit.Table
	apis   kit.Table
	inside bool // the APIs have the screen and the keys
	all    []model.Client
	stats  []model.APIStat
	last   model.Refusal
	turned int64 // away
	info   model.Info
	rows   []int
	loaded bool
	err    error
	filter page.Filter
	sorted column
	desc   bool
	seenY  int // line of the APIs' table, as of the last View; 0 when it is not there
}

// New makes the page.
func New(env page.Env, _ page.Open) page.Page {
	p := &clients{Env: env}
	p.src, _ = env.Src.(model.ClientReader)
	p.list.Theme, p.apis.Theme = env.Theme, env.Theme
	p.list.KeyOf = func(i int64) string { return p.all[p.rows[i]].Address }
	p.apis.KeyOf = func(i int64) string { return p.stats[i].Name }
	p.list.Columns, p.apis.Columns = columns(), apiColumns()
	c, desc := page.ParseSort(env.Remembered("sort"), p.list.Columns)
	p.sorted, p.desc = column(c), desc
	if env.Remembered("sort") == "" {
		p.sorted = colSince
	}
	p.list.Sorted, p.list.Desc = int(p.sorted)+1, p.desc
	return p
}

func (p *clients) Title() string { return "clients" }
func (p *clients) Busy() bool    { return p.load.Slow() }
func (p *clients) Close()        { p.load.Cancel() }
func (p *clients) Init() tea.Cmd { return tea.Batch(p.reload(), p.arm()) }
func (p *clients) arm() tea.Cmd  { return page.Send(page.TickIn{After: time.Second, ID: second}) }

func (p *clients) reload() tea.Cmd {
	src, whole := p.src, p.Src
	if src == nil {
		return nil
	}
	return p.load.Load(p.Ctx, func(ctx context.Context) (l listing, err error) {
		if l.clients, err = src.Clients(ctx); err != nil {
			return l, err
		}
		if l.apis, err = src.APIs(ctx); err != nil {
			return l, err
		}
		if r, ok := whole.(model.RefusalReader); ok {
			var list []model.Refusal
			if list, l.refused, err = r.Refused(ctx); err != nil {
				return l, err
			}
			if n := len(list); n > 0 {
				l.last = list[n-1]
			}
		}
		l.info, err = whole.Info(ctx)
		return l, err
	})
}

func (p *clients) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[listing]:
		if mine, again := p.load.Took(p.Ctx, msg); mine {
			p.take(msg.Val, msg.Err)
			return again
		}
	case page.Shown:
		return p.reload()
	case page.Tick:
		if msg.ID == second {
			return tea.Batch(p.reload(), p.arm())
		}
	}
	return nil
}

func (p *clients) take(l listing, err error) {
	p.err = err
	if err != nil {
		return
	}
	p.all, p.stats, p.info, p.loaded = l.clients, l.apis, l.info, true
	p.last, p.turned = l.last, l.refused
	p.apis.SetLen(int64(len(p.stats)))
	if len(p.stats) == 0 {
		p.inside = false
	}
	p.arrange()
}

// at returns the client under the cursor.
func (p *clients) at() (*model.Client, bool) {
	if i := p.list.Cursor(); i < int64(len(p.rows)) {
		return &p.all[p.rows[i]], true
	}
	return nil, false
}

// Status says how many connections there are.
func (p *clients) Status() string {
	if !p.loaded {
		return page.WithFault("", p.err)
	}
	s := kit.Number(int64(len(p.rows))) + " of " + kit.Plural(len(p.all), "connection")
	return page.WithFault(s, p.filter.Err(), p.err)
}

// Filter implements page.Filterer.
func (p *clients) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer.
func (p *clients) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.list.Rearrange(p.arrange)
	return nil
}

// Mouse scrolls, selects and sorts; a double click gives the lower table the screen.
func (p *clients) Mouse(m page.Mouse) tea.Cmd {
	if p.inside {
		page.ListMouse(&p.apis, m, 1)
		return nil
	}
	if p.seenY > 0 && m.Y >= p.seenY && (m.Kind == page.Click || m.Kind == page.DoubleClick) {
		if m.Kind == page.DoubleClick {
			return p.enter()
		}
		return nil
	}
	hit := page.ListMouse(&p.list, m, 0)
	if hit.OK && hit.Head && m.Kind == page.Click {
		return p.sortBy(column(hit.Column))
	}
	return nil
}
