package brokers

import (
	"context"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	// tick is the ID of the timer by which the brokers are asked again.
	tick = "again"
	// every is how long that takes, and soon how long while a broker was not heard yet.
	every = 5 * time.Second
	soon  = 500 * time.Millisecond
	// headLines stand above the table.
	headLines = 2
)

// screen is the part of the page that has the screen and the keys.
type screen int8

const (
	listScreen screen = iota
	configScreen
	quorumScreen
)

// listing is what a load brings.
type listing struct {
	brokers   []model.Broker
	quorum    []model.QuorumNode
	quorumErr error
}

// brokers is the page. Invariants: rows holds indexes into all, and list's Len is len(rows); shown holds indexes into
// configs, and settings' Len is len(shown); dirs' Len is the number of the cursor's broker's log directories.
type brokers struct {
	page.Env
	src      model.BrokerReader // nil: the source has no nodes
	load     page.Loader[listing]
	reading  page.Slot[[]model.ConfigEntry]
	list     kit.Table
	dirs     kit.Table
	voters   kit.Table
	settings kit.Table

	all       []model.Broker
	quorum    []model.QuorumNode
	quorumErr error
	rows      []int
	racks     bool // a broker has one, so that there is a column for it
	longest   int  // bytes of the longest address
	loaded    bool
	heard     time.Time // when the listing came
	err       error
	filter    page.Filter
	sorted    column
	desc      bool

	screen    screen
	of        int32 // the broker whose configs are shown
	configs   []model.ConfigEntry
	shown     []int
	whole     bool // configs at their defaults too
	configErr error
	got       bool // configs were read

	dirsY, quorumY int // lines of the lower tables, as of the last View; 0 for one that is not there
}

// New makes the page.
func New(env page.Env, _ page.Open) page.Page {
	p := &brokers{Env: env}
	p.src, _ = env.Src.(model.BrokerReader)
	p.list.Theme, p.dirs.Theme, p.voters.Theme, p.settings.Theme = env.Theme, env.Theme, env.Theme, env.Theme
	p.list.KeyOf = func(i int64) string { return strconv.Itoa(int(p.all[p.rows[i]].ID)) }
	p.voters.KeyOf = func(i int64) string { return strconv.Itoa(int(p.quorum[i].ID)) }
	p.settings.KeyOf = func(i int64) string { return p.configs[p.shown[i]].Name }
	c, desc := page.ParseSort(env.Remembered("sort"), columns(true, 0))
	p.sorted, p.desc = column(c), desc
	p.setColumns()
	p.dirs.Columns, p.voters.Columns, p.settings.Columns = dirColumns(), quorumColumns(), configColumns()
	return p
}

func (p *brokers) Title() string { return "brokers" }
func (p *brokers) Busy() bool    { return p.load.Slow() || p.reading.Slow() }

func (p *brokers) Init() tea.Cmd {
	if p.src == nil {
		return nil
	}
	return p.reload()
}

func (p *brokers) Close() {
	p.load.Cancel()
	p.reading.Cancel()
}

func (p *brokers) reload() tea.Cmd {
	src := p.src
	if src == nil {
		return nil
	}
	return p.load.Load(p.Ctx, func(ctx context.Context) (l listing, err error) {
		if l.brokers, err = src.Brokers(ctx); err != nil {
			return l, err
		}
		l.quorum, l.quorumErr = src.Quorum(ctx)
		return l, ctx.Err()
	})
}

// arm asks for the next reading: soon, while somebody was not heard yet.
func (p *brokers) arm() tea.Cmd {
	after := every
	for i := range p.all {
		if asking(&p.all[i]) {
			after = soon
		}
	}
	return page.Send(page.TickIn{After: after, ID: tick})
}

// asking reports whether a broker has not answered yet, nor failed to.
func asking(b *model.Broker) bool { return !b.Alive && b.Err == nil }

func (p *brokers) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[listing]:
		if mine, again := p.load.Took(p.Ctx, msg); mine {
			p.take(msg.Val, msg.Err)
			if again != nil {
				return again
			}
			return p.arm()
		}
	case page.Result[[]model.ConfigEntry]:
		if p.reading.Owns(msg) {
			p.takeConfigs(msg.Val, msg.Err)
		}
	case page.Tick:
		if msg.ID == tick {
			return p.reload()
		}
	}
	return nil
}

func (p *brokers) take(l listing, err error) {
	p.err = err
	if err != nil {
		return
	}
	p.all, p.quorum, p.quorumErr, p.loaded = l.brokers, l.quorum, l.quorumErr, true
	p.heard = p.Now()
	p.voters.SetLen(int64(len(p.quorum)))
	p.arrange()
	if p.screen == quorumScreen && len(p.quorum) == 0 {
		p.screen = listScreen
	}
}

func (p *brokers) takeConfigs(list []model.ConfigEntry, err error) {
	if p.configErr = err; err != nil {
		return
	}
	p.configs, p.got = list, true
	p.arrangeConfigs()
}

// arrangeConfigs makes the rows of the configs anew.
func (p *brokers) arrangeConfigs() {
	p.shown = p.shown[:0]
	for i := range p.configs {
		if c := &p.configs[i]; (p.whole || c.Source != "default") && (p.filter.Match(c.Name) || p.filter.Match(c.Value)) {
			p.shown = append(p.shown, i)
		}
	}
	p.settings.SetLen(int64(len(p.shown)))
}

// at returns the broker under the cursor.
func (p *brokers) at() (*model.Broker, bool) {
	if i := p.list.Cursor(); i < int64(len(p.rows)) {
		return &p.all[p.rows[i]], true
	}
	return nil, false
}

// Status says how many brokers, or configs, there are.
func (p *brokers) Status() string {
	switch {
	case p.screen == configScreen && p.got:
		s := kit.Number(int64(len(p.shown))) + " of " + kit.Plural(len(p.configs), "config")
		return page.WithFault(s, p.filter.Err(), p.configErr)
	case !p.loaded:
		return page.WithFault("", p.err)
	}
	s := kit.Number(int64(len(p.rows))) + " of " + kit.Plural(len(p.all), "broker")
	return page.WithFault(s, p.filter.Err(), p.err)
}

// Filter implements page.Filterer.
func (p *brokers) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer: it narrows what has the screen.
func (p *brokers) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	if p.screen == configScreen {
		p.settings.Rearrange(p.arrangeConfigs)
		return nil
	}
	p.list.Rearrange(p.arrange)
	return nil
}

// Mouse scrolls, selects and sorts; a double click shows a broker's configs, or gives the quorum the screen.
func (p *brokers) Mouse(m page.Mouse) tea.Cmd {
	switch p.screen {
	case configScreen:
		page.ListMouse(&p.settings, m, headLines)
		return nil
	case quorumScreen:
		page.ListMouse(&p.voters, m, 1)
		return nil
	}
	lower := p.dirsY > 0 && m.Y >= p.dirsY
	if lower && (m.Kind == page.Click || m.Kind == page.DoubleClick) {
		if m.Kind == page.DoubleClick && p.quorumY > 0 && m.Y >= p.quorumY {
			return p.toQuorum()
		}
		return nil
	}
	hit := page.ListMouse(&p.list, m, headLines)
	p.follow()
	switch {
	case !hit.OK:
	case hit.Head && m.Kind == page.Click:
		return p.sortBy(column(hit.Column))
	case !hit.Head && m.Kind == page.DoubleClick:
		return p.enter()
	}
	return nil
}

// follow makes the lower table that of the broker under the cursor.
func (p *brokers) follow() tea.Cmd {
	n := 0
	if b, ok := p.at(); ok {
		n = len(b.Dirs)
	}
	p.dirs.SetLen(int64(n))
	return nil
}
