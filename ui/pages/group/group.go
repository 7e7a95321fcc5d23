package group

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/offsets"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	second  = "second" // ID of the timer of trends
	again   = "again"  // ID of the timer of a reading put off
	confirm = "delete" // ID of the question whether to delete the group
	leave   = "leave"  // ID of the timer that leaves the page of a deleted group

	readEvery = 250 * time.Millisecond
	// maxMeters is how many partitions have a trend of their own.
	maxMeters = 2000
)

// lagsCounted is what comes of counting the lags.
type lagsCounted struct{}

// undoable is the journal entry that u takes back; 0 for none.
type undoable uint64

// deleted is what the deletion of the group came to.
type deleted struct{}

// group is the page. Invariants: rows holds indexes into g.Offsets, and offsets' Len is len(rows).
type group struct {
	page.Env
	id      string
	load    page.Loader[model.Group]
	find    page.Slot[undoable]
	counter page.Slot[lagsCounted]
	drop    page.Slot[deleted]

	table   kit.Table // the offsets
	members kit.Table
	static  bool // a member has an instance id, so there is a column for it
	upper   bool // the focus is on the members
	g       model.Group
	rows    []int
	meter   offsets.Meter
	meters  map[model.TopicPartition]*offsets.Meter
	loaded  bool
	due     bool
	putOff  bool // a timer for due runs
	read    time.Time
	err     error
	filter  page.Filter
	sorted  column
	desc    bool
	cols    []column // what each column of the table is
	has     traits
	sum     summary
	seen    parts // as of the last View, for the mouse
}

// traits say which columns the table needs.
type traits struct{ odd, metadata, members bool }

// summary is what is said of all partitions at once.
type summary struct {
	topics, committed   int
	lost, ahead         int64
	lostIn, aheadIn     int
	held, idle, nowhere int // partitions held; members that hold none; partitions that no member holds
}

// New makes the page for o.Addr.Group.
func New(env page.Env, o page.Open) page.Page {
	p := &group{Env: env, id: o.Addr.Group, meters: map[model.TopicPartition]*offsets.Meter{}}
	p.table.Theme = env.Theme
	p.table.KeyOf = func(i int64) string { return p.g.Offsets[p.rows[i]].TopicPartition.String() }
	p.members.KeyOf = func(i int64) string { return p.g.Members[i].ID }
	p.members.Columns = memberColumns(false)
	p.focus(false)
	p.setColumns()
	return p
}

// focus puts the cursor into the members or into the offsets. The other table has a theme without a cursor.
func (p *group) focus(upper bool) {
	p.upper = upper
	p.table.Theme, p.members.Theme = p.Theme, p.Theme.Resting()
	if upper {
		p.table.Theme, p.members.Theme = p.Theme.Resting(), p.Theme
	}
}

func (p *group) Title() string { return kit.Safe(p.id, 100) }
func (p *group) Busy() bool {
	return p.load.Slow() || p.find.Slow() || p.drop.Slow() || p.counter.Slow()
}
func (p *group) Init() tea.Cmd { return tea.Batch(p.reload(), p.arm()) }

func (p *group) Close() {
	p.load.Cancel()
	p.find.Cancel()
	p.drop.Cancel()
	p.counter.Cancel()
}

func (p *group) arm() tea.Cmd { return page.Send(page.TickIn{After: time.Second, ID: second}) }

func (p *group) reload() tea.Cmd {
	p.due, p.read = false, p.Now()
	return p.load.Load(p.Ctx, func(ctx context.Context) (model.Group, error) {
		if r, ok := p.Src.(model.GroupReader); ok {
			return r.Group(ctx, p.id)
		}
		all, err := p.Src.Groups(ctx)
		if err != nil {
			return model.Group{}, err
		}
		names := make([]string, 0, len(all))
		for i := range all {
			if all[i].ID == p.id {
				return all[i], nil
			}
			names = append(names, all[i].ID)
		}
		return model.Group{}, model.NotFound(model.ErrNoGroup, p.id, names)
	})
}

func (p *group) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[model.Group]:
		if mine, more := p.load.Took(p.Ctx, msg); mine {
			p.take(msg.Val, msg.Err)
			return more
		}
	case page.Result[undoable]:
		if p.find.Owns(msg) {
			return p.found(msg.Val, msg.Err)
		}
	case page.Result[lagsCounted]:
		if p.counter.Owns(msg) {
			return p.counted(msg.Err)
		}
	case page.Result[deleted]:
		if p.drop.Owns(msg) {
			return p.gone(msg.Err)
		}
	case model.Change:
		if msg.Groups || msg.All || p.reads(msg) {
			return p.soon()
		}
	case page.Tick:
		return p.tick(msg)
	case page.Shown:
		p.meter.Reset()
		clear(p.meters)
		return p.reload()
	case page.Changed:
		p.focus(p.upper)
	case page.Confirmed:
		return p.confirmed(msg)
	}
	return nil
}

// reads reports whether a change concerns a topic that the group reads.
func (p *group) reads(c model.Change) bool {
	last := ""
	for i := range p.g.Offsets {
		if t := p.g.Offsets[i].Topic; t != last {
			if c.TouchesTopic(t) {
				return true
			}
			last = t
		}
	}
	return c.Topics && len(c.Partitions) == 0
}

// soon reads the group again, at most four times a second.
func (p *group) soon() tea.Cmd {
	left := readEvery - p.Now().Sub(p.read)
	if left <= 0 {
		return p.reload()
	}
	p.due = true
	if p.putOff {
		return nil
	}
	p.putOff = true
	return page.Send(page.TickIn{After: left, ID: again})
}

func (p *group) tick(t page.Tick) tea.Cmd {
	switch t.ID {
	case again:
		p.putOff = false
		if p.due {
			return p.reload()
		}
	case leave:
		return page.Send(page.Back{})
	case second:
		p.sample()
		return p.arm()
	}
	return nil
}

// sample adds the lags as they are to the trends.
func (p *group) sample() {
	if !p.loaded {
		return
	}
	now := p.Now()
	p.meter.Add(now, p.g.Lag)
	if len(p.g.Offsets) > maxMeters {
		return
	}
	for i := range p.g.Offsets {
		o := &p.g.Offsets[i]
		m := p.meters[o.TopicPartition]
		if m == nil {
			m = &offsets.Meter{}
			p.meters[o.TopicPartition] = m
		}
		m.Add(now, o.Lag)
	}
}

// take puts what the source answered on screen.
func (p *group) take(g model.Group, err error) {
	p.err = err
	if err != nil {
		return
	}
	p.g, p.loaded = g, true
	p.sum = sum(&g)
	p.sample()
	p.members.SetLen(int64(len(g.Members)))
	if !p.static && slices.ContainsFunc(g.Members, func(m model.Member) bool { return m.Instance != "" }) {
		p.static = true
		p.members.Columns = memberColumns(true)
	}
	if len(g.Members) == 0 && p.upper {
		p.focus(false)
	}
	p.arrange()
}

func sum(g *model.Group) summary {
	var s summary
	last := ""
	for i := range g.Offsets {
		o := &g.Offsets[i]
		if o.Topic != last {
			s.topics, last = s.topics+1, o.Topic
		}
		if o.Committed >= 0 {
			s.committed++
		}
		if o.Lost > 0 {
			s.lost, s.lostIn = s.lost+o.Lost, s.lostIn+1
		}
		if o.Ahead > 0 {
			s.ahead, s.aheadIn = s.ahead+o.Ahead, s.aheadIn+1
		}
		if o.Member == "" && o.Err == nil {
			s.nowhere++
		}
	}
	for i := range g.Members {
		s.held += len(g.Members[i].Assignment)
		if len(g.Members[i].Assignment) == 0 {
			s.idle++
		}
	}
	return s
}

// Address is the group.
func (p *group) Address() model.Address {
	a := model.TopicAddress("")
	a.Group = p.id
	return a
}

// Focus names the topics that the group reads.
func (p *group) Focus() []string {
	out, last := []string{}, ""
	for i := range p.g.Offsets {
		if t := p.g.Offsets[i].Topic; t != last {
			out, last = append(out, t), t
		}
	}
	return out
}

// Status says how many partitions there are.
func (p *group) Status() string {
	if !p.loaded {
		return ""
	}
	s := kit.Plural(len(p.rows), "partition")
	if !p.filter.All() {
		s = kit.Number(int64(len(p.rows))) + " of " + kit.Plural(len(p.g.Offsets), "partition")
	}
	s += " of " + kit.Plural(p.sum.topics, "topic")
	return page.WithFault(s, p.filter.Err(), p.err)
}

// Filter implements page.Filterer.
func (p *group) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer.
func (p *group) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.table.Rearrange(p.arrange)
	return nil
}

// at returns the partition under the cursor.
func (p *group) at() (*model.GroupOffset, bool) {
	if i := p.table.Cursor(); i < int64(len(p.rows)) {
		return &p.g.Offsets[p.rows[i]], true
	}
	return nil, false
}
