package groups

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/offsets"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	second    = "second"  // ID of the page's one timer
	askNew    = "new"     // ID of the question for a new group's name
	askDelete = "delete " // begins the ID of the question whether to delete a group
)

// listing is what a load brings.
type listing struct {
	groups []model.Group
	info   model.Info
	stored bool // the source has the topic in which brokers keep groups
}

// group is a row: a group, and what is shown of it.
type group struct {
	model.Group
	topics int
	lost   int64
	ahead  int64
	broken int
}

// groups is the page. Invariants: rows holds indexes into all, and the table's Len is len(rows).
type groups struct {
	page.Env
	topic string // only the groups that read it; "" for all
	load  page.Loader[listing]
	drop  page.Slot[string]
	table kit.Table

	all    []group
	meters map[string]*offsets.Meter
	rows   []int
	loaded bool
	due    bool // something has changed since the last load began
	read   time.Time
	last   listing
	err    error
	filter page.Filter
	sorted column
	desc   bool
	noted  bool
}

// New makes the page. With o.Addr.Topic it lists the groups that read this topic only.
func New(env page.Env, o page.Open) page.Page {
	p := &groups{Env: env, topic: o.Addr.Topic, meters: map[string]*offsets.Meter{}}
	p.table.Theme = env.Theme
	p.table.KeyOf = func(i int64) string { return p.all[p.rows[i]].ID }
	p.sorted, p.desc = parseSort(env.Remembered("sort"))
	p.setColumns()
	return p
}

func (p *groups) Title() string { return "groups" }
func (p *groups) Busy() bool    { return p.load.Slow() || p.drop.Slow() }

func (p *groups) Init() tea.Cmd { return tea.Batch(p.reload(), p.arm()) }

func (p *groups) Close() {
	p.load.Cancel()
	p.drop.Cancel()
}

func (p *groups) arm() tea.Cmd { return page.Send(page.TickIn{After: time.Second, ID: second}) }

// reload asks for the groups, and where there are none for what tells why.
func (p *groups) reload() tea.Cmd {
	p.due, p.read = false, p.Now()
	return p.load.Load(p.Ctx, func(ctx context.Context) (listing, error) {
		gs, err := p.Src.Groups(ctx)
		if err != nil || len(gs) > 0 {
			return listing{groups: gs}, err
		}
		var l listing
		if l.info, err = p.Src.Info(ctx); err != nil {
			return l, err
		}
		topics, err := p.Src.Topics(ctx)
		for i := range topics {
			l.stored = l.stored || topics[i].Name == "__consumer_offsets"
		}
		return l, err
	})
}

func (p *groups) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[listing]:
		if mine, again := p.load.Took(p.Ctx, msg); mine {
			p.take(msg.Val, msg.Err)
			return again
		}
	case page.Result[string]:
		if p.drop.Owns(msg) {
			return tea.Batch(page.Notify(msg.Err, "deleted group "+kit.Safe(msg.Val, 100)+"; J shows the journal, which can bring its offsets back"), p.reload())
		}
	case model.Change:
		return p.changed(msg)
	case page.Tick:
		if msg.ID == second {
			return tea.Batch(p.tick(), p.arm())
		}
	case page.Shown:
		for _, m := range p.meters {
			m.Reset()
		}
		return p.reload()
	case page.Changed:
		p.arrange()
	case page.Answered:
		return p.answered(msg)
	case page.Confirmed:
		return p.confirmed(msg)
	}
	return nil
}

// changed reads again at once when it was quiet, else with the next second.
func (p *groups) changed(c model.Change) tea.Cmd {
	if !c.Groups && !c.All && !c.Topics && len(c.Partitions) == 0 {
		return nil
	}
	if p.Now().Sub(p.read) < time.Second {
		p.due = true
		return nil
	}
	return p.reload()
}

func (p *groups) tick() tea.Cmd {
	now := p.Now()
	for i := range p.all {
		p.meter(p.all[i].ID).Add(now, p.all[i].Lag)
	}
	if p.due && !p.load.Busy() {
		return p.reload()
	}
	return nil
}

func (p *groups) meter(id string) *offsets.Meter {
	m := p.meters[id]
	if m == nil {
		m = &offsets.Meter{}
		p.meters[id] = m
	}
	return m
}

// take puts what the source answered on screen.
func (p *groups) take(l listing, err error) {
	p.err = err
	if err != nil {
		return
	}
	p.loaded, p.last = true, l
	p.all = p.all[:0]
	now := p.Now()
	for i := range l.groups {
		g, reads := p.narrow(l.groups[i])
		if !reads {
			continue
		}
		p.meter(g.ID).Add(now, g.Lag)
		p.all = append(p.all, g)
	}
	p.arrange()
}

// narrow sums up what a row shows of a group; reads is false where the list is of a topic that it does not read.
func (p *groups) narrow(g model.Group) (row group, reads bool) {
	row = group{Group: g}
	seen := map[string]bool{}
	if p.topic != "" {
		row.Lag = model.NoCount()
	}
	for i := range g.Offsets {
		o := &g.Offsets[i]
		if p.topic != "" && o.Topic != p.topic {
			continue
		}
		if p.topic != "" && o.Committed >= 0 {
			row.Lag = row.Lag.Add(o.Lag)
		}
		seen[o.Topic] = true
		row.lost += o.Lost
		row.ahead += o.Ahead
		if o.Err != nil {
			row.broken++
		}
	}
	row.topics = len(seen)
	return row, p.topic == "" || len(seen) > 0
}

// Address is the list of groups, which has no address of its own; with a topic it is that topic's.
func (p *groups) Address() model.Address { return model.TopicAddress(p.topic) }

// Focus asks for all topics to be watched alike: any of them may be read by a group.
func (p *groups) Focus() []string {
	if p.topic != "" {
		return []string{p.topic}
	}
	return nil
}

// Status says how many groups there are.
func (p *groups) Status() string {
	if !p.loaded {
		return ""
	}
	s := kit.Number(int64(len(p.rows))) + " of " + kit.Number(int64(len(p.all))) + " groups"
	if p.topic != "" {
		s += " that read " + kit.Safe(p.topic, 60)
	}
	return page.WithFault(s, p.filter.Err(), p.err)
}

// Filter implements page.Filterer.
func (p *groups) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer.
func (p *groups) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.table.Rearrange(p.arrange)
	return nil
}

// Mouse sorts by the head that is clicked and opens what is clicked twice.
func (p *groups) Mouse(m page.Mouse) tea.Cmd {
	hit := page.ListMouse(&p.table, m, 0)
	switch {
	case !hit.OK:
	case hit.Head && m.Kind == page.Click:
		return p.sortBy(column(hit.Column))
	case !hit.Head && m.Kind == page.DoubleClick:
		return p.to(page.Group)()
	}
	return nil
}

// at returns the group under the cursor.
func (p *groups) at() (*group, bool) {
	if i := p.table.Cursor(); i < int64(len(p.rows)) {
		return &p.all[p.rows[i]], true
	}
	return nil, false
}
