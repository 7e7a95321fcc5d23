package transactions

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// second is the ID of the timer by which ages go on.
const second = "second"

// held is what a transaction holds back in a partition.
type held struct {
	model.TopicPartition
	first, stable, water int64 // Unknown where not known
	err                  error
}

// holding is the answer for one transaction.
type holding struct {
	id   string
	rows []held
}

// transactions is the page. Invariants: rows holds indexes into all, and list's Len is len(rows); items' Len is
// len(holds.rows).
type transactions struct {
	page.Env
	src    model.TransactionReader // nil: the source knows none
	topic  string                  // only transactions that touch it; "" for all
	load   page.Loader[[]model.Transaction]
	look   page.Loader[holding]
	list   kit.Table
	items  kit.Table
	inside bool // the partitions have the screen and the keys
	all    []model.Transaction
	rows   []int
	holds  holding
	loaded bool
	err    error
	lookEr error
	filter page.Filter
	seenY  int // line of the partitions' table, as of the last View; 0 when it is not there
}

// New makes the page; with o.Addr.Topic it lists the transactions that touch this topic only.
func New(env page.Env, o page.Open) page.Page {
	p := &transactions{Env: env, topic: o.Addr.Topic}
	p.src, _ = env.Src.(model.TransactionReader)
	p.list.Theme, p.items.Theme = env.Theme, env.Theme
	p.list.KeyOf = func(i int64) string { return p.all[p.rows[i]].ID }
	p.items.KeyOf = func(i int64) string { return p.holds.rows[i].String() }
	p.list.Columns = []kit.Column{
		{Name: "TRANSACTIONAL ID", Grow: true, Min: 18, Max: 60},
		{Name: "STATE", Min: 14},
		{Name: "OPEN FOR", Right: true, Min: 8},
		{Name: "TIMES OUT", Right: true, Min: 9, Drop: 1},
		{Name: "PRODUCER", Right: true, Min: 8, Drop: 3},
		{Name: "EPOCH", Right: true, Drop: 4},
		{Name: "PARTITIONS", Right: true, Drop: 2},
		{Name: "GROUPS", Grow: true, Min: 8, Max: 40, Drop: 5},
	}
	p.items.Columns = []kit.Column{
		{Name: "PARTITION", Grow: true, Min: 14, Max: 60},
		{Name: "SINCE OFFSET", Right: true, Min: 12},
		{Name: "LAST STABLE", Right: true, Min: 12, Drop: 2},
		{Name: "HIGH WATERMARK", Right: true, Min: 14, Drop: 1},
		{Name: "HELD BACK", Right: true, Min: 9},
	}
	return p
}

func (p *transactions) Title() string { return "transactions" }
func (p *transactions) Busy() bool    { return p.load.Slow() || p.look.Slow() }
func (p *transactions) Init() tea.Cmd { return tea.Batch(p.reload(), p.arm()) }
func (p *transactions) arm() tea.Cmd  { return page.Send(page.TickIn{After: time.Second, ID: second}) }

func (p *transactions) Close() {
	p.load.Cancel()
	p.look.Cancel()
}

func (p *transactions) reload() tea.Cmd {
	if p.src == nil {
		return nil
	}
	return p.load.Load(p.Ctx, p.src.Transactions)
}

func (p *transactions) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[[]model.Transaction]:
		if mine, again := p.load.Took(p.Ctx, msg); mine {
			return tea.Batch(p.take(msg.Val, msg.Err), again)
		}
	case page.Result[holding]:
		if mine, again := p.look.Took(p.Ctx, msg); mine {
			p.takeHolding(msg.Val, msg.Err)
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

func (p *transactions) take(all []model.Transaction, err error) tea.Cmd {
	p.err = err
	if err != nil {
		return nil
	}
	p.loaded, p.all = true, all
	p.arrange()
	return p.follow()
}

// arrange makes the rows anew: the open ones first, the oldest of them at the top, then the others by name.
func (p *transactions) arrange() {
	p.rows = p.rows[:0]
	name, groups := 18, 8
	for i := range p.all {
		x := &p.all[i]
		touches := p.topic == "" || slices.ContainsFunc(x.Partitions, func(tp model.TopicPartition) bool { return tp.Topic == p.topic })
		if touches && (p.filter.Match(x.ID) || p.filter.Match(string(x.State)) || slices.ContainsFunc(x.Groups, p.filter.Match)) {
			p.rows = append(p.rows, i)
			name = max(name, min(60, kit.Width(kit.Safe(x.ID, 200))))
			groups = max(groups, min(40, kit.Width(kit.Safe(strings.Join(x.Groups, " "), 300))))
		}
	}
	p.list.Columns[0].Max, p.list.Columns[len(p.list.Columns)-1].Max = name, groups
	slices.SortStableFunc(p.rows, func(i, j int) int {
		a, b := &p.all[i], &p.all[j]
		if ao, bo := a.State.Open(), b.State.Open(); ao != bo {
			if ao {
				return -1
			}
			return 1
		} else if ao {
			return cmp.Or(cmp.Compare(a.Started, b.Started), strings.Compare(a.ID, b.ID))
		}
		return strings.Compare(a.ID, b.ID)
	})
	p.list.SetLen(int64(len(p.rows)))
}

// follow asks what the transaction under the cursor holds back.
func (p *transactions) follow() tea.Cmd {
	x, ok := p.at()
	if !ok || len(x.Partitions) == 0 {
		p.takeHolding(holding{}, nil)
		return nil
	}
	if p.holds.id != x.ID {
		p.holds = holding{id: x.ID}
		p.items.SetLen(0)
		p.items.Home()
	}
	src, whole := p.src, p.Src
	want := holding{id: x.ID}
	producer, tps := x.ProducerID, slices.Clone(x.Partitions)
	return p.look.Load(p.Ctx, func(ctx context.Context) (holding, error) {
		for _, tp := range tps {
			if err := ctx.Err(); err != nil {
				return want, err
			}
			want.rows = append(want.rows, lookAt(ctx, src, whole, tp, producer))
		}
		return want, nil
	})
}

// lookAt finds what a producer's transaction holds back in a partition.
func lookAt(ctx context.Context, src model.TransactionReader, whole model.Source, tp model.TopicPartition, producer int64) held {
	row := held{TopicPartition: tp, first: model.Unknown, stable: model.Unknown, water: model.Unknown}
	states, err := src.Producers(ctx, tp)
	if err != nil {
		row.err = err
		return row
	}
	for i := range states {
		if states[i].ProducerID == producer {
			row.first = states[i].TxnFirst
		}
	}
	parts, err := whole.Partitions(ctx, tp.Topic)
	if err != nil {
		row.err = err
		return row
	}
	for i := range parts {
		if parts[i].TopicPartition == tp && parts[i].State == model.Live {
			row.stable, row.water = parts[i].LastStable, parts[i].HighWatermark
		}
	}
	return row
}

func (p *transactions) takeHolding(h holding, err error) {
	x, ok := p.at()
	if ok && h.id != "" && h.id != x.ID {
		return // the cursor has gone on
	}
	p.lookEr = err
	if err != nil {
		return
	}
	p.holds = h
	p.items.SetLen(int64(len(h.rows)))
	if len(h.rows) == 0 {
		p.inside = false
	}
}

// at returns the transaction under the cursor.
func (p *transactions) at() (*model.Transaction, bool) {
	if i := p.list.Cursor(); i < int64(len(p.rows)) {
		return &p.all[p.rows[i]], true
	}
	return nil, false
}

// Address is that of the topic whose transactions are listed.
func (p *transactions) Address() model.Address { return model.TopicAddress(p.topic) }

// Status says how many there are, and how many are open.
func (p *transactions) Status() string {
	if !p.loaded {
		return page.WithFault("", p.err)
	}
	open := 0
	for i := range p.all {
		if p.all[i].State.Open() {
			open++
		}
	}
	s := kit.Number(int64(open)) + " open · " + kit.Number(int64(len(p.rows))) + " of " + kit.Plural(len(p.all), "transactional id")
	return page.WithFault(s, p.filter.Err(), p.err, p.lookEr)
}

// Filter implements page.Filterer.
func (p *transactions) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer.
func (p *transactions) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.list.Rearrange(p.arrange)
	return p.follow()
}

// Mouse scrolls and selects; a double click gives the partitions the screen.
func (p *transactions) Mouse(m page.Mouse) tea.Cmd {
	if p.inside {
		page.ListMouse(&p.items, m, 1)
		return nil
	}
	hit := page.ListMouse(&p.list, m, 0)
	if hit.OK && !hit.Head && (p.seenY == 0 || m.Y < p.seenY) {
		cmd := p.follow()
		if m.Kind == page.DoubleClick {
			return tea.Batch(cmd, p.enter())
		}
		return cmd
	}
	return nil
}
