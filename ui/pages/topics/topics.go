package topics

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// tick is the ID of the page's one timer, which goes every second.
const tick = "second"

// topics is the page. Invariants:
//   - len(meters) == len(all), and meters[i] is of all[i]
//   - rows holds indexes into all, and the table's Len is len(rows)
type topics struct {
	page.Env
	load  page.Loader[[]model.Topic]
	table kit.Table

	all     []model.Topic // as the source gave them
	meters  []meter
	rows    []int // what is shown, in order
	hidden  int   // internal topics left out
	noted   bool  // a topic has a note, so there is a column for it
	spark   int   // cells of the sparklines: one until something moves
	loaded  bool
	spread  bool // was covered: what came meanwhile is spread over that time
	read    time.Time
	err     error
	filter  page.Filter
	sorted  column
	desc    bool
	sought  string // the topic that was asked for and has not been seen yet
	counter page.Slot[struct{}]

	reading  page.Slot[map[string]readers]
	readers  map[string]readers // by topic; nil until known
	groupErr error
	due      bool // groups have changed since they were read
}

// New makes the page. An address with a topic puts the cursor there.
func New(env page.Env, o page.Open) page.Page {
	p := &topics{Env: env, sought: o.Addr.Topic, sorted: colTopic, spark: 1}
	p.table.Theme = env.Theme
	p.table.KeyOf = func(i int64) string { return p.all[p.rows[i]].Name }
	p.sorted, p.desc = parseSort(env.Remembered("sort"))
	p.setColumns()
	return p
}

// Focus names the topics on screen; nil, which stands for all, until there are any.
func (p *topics) Focus() []string {
	from, to := p.table.Window()
	var names []string
	for i := from; i < to && i < int64(len(p.rows)); i++ {
		names = append(names, p.all[p.rows[i]].Name)
	}
	return names
}

func (p *topics) Title() string { return "topics" }
func (p *topics) Busy() bool    { return p.load.Slow() || p.counter.Slow() }

func (p *topics) Close() {
	p.load.Cancel()
	p.reading.Cancel()
	p.counter.Cancel()
}

func (p *topics) Init() tea.Cmd {
	p.due = true
	return tea.Batch(p.reload(), p.arm())
}

func (p *topics) arm() tea.Cmd { return page.Send(page.TickIn{After: time.Second, ID: tick}) }

func (p *topics) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[[]model.Topic]:
		if mine, again := p.load.Took(p.Ctx, msg); mine {
			return tea.Batch(again, p.take(msg.Val, msg.Err))
		}
	case page.Result[map[string]readers]:
		if p.reading.Owns(msg) {
			p.takeReaders(msg.Val, msg.Err)
		}
	case page.Result[struct{}]:
		if p.counter.Owns(msg) {
			return tea.Batch(p.counted(msg.Err), p.reload())
		}
	case model.Change:
		return p.changed(msg)
	case page.Tick:
		if msg.ID == tick {
			return tea.Batch(p.second(), p.arm())
		}
	case page.Shown:
		p.spread = true
	case page.Changed:
		p.arrange()
	}
	return nil
}

// Address is the list itself.
func (p *topics) Address() model.Address { return model.TopicAddress("") }

// Status says how many topics there are.
func (p *topics) Status() string {
	if !p.loaded {
		return ""
	}
	s := kit.Number(int64(len(p.rows))) + " of " + kit.Number(int64(len(p.all))) + " topics"
	switch {
	case p.filter.Err() != nil:
		s = kit.Safe(p.filter.Err().Error(), 80) + " · " + s
	case p.err != nil:
		s = kit.Safe(p.err.Error(), 80) + " · " + s
	case p.groupErr != nil:
		s = "groups not known: 2 says why · " + s
	}
	if n := p.table.Marks(); n > 0 {
		s = kit.Number(int64(n)) + " marked · " + s
	}
	if t, ok := p.at(); ok && t.Note != "" && !strings.Contains(p.table.Shown(), "NOTE") {
		s = kit.Safe(t.Note, 60) + " · " + s // the column had no room
	}
	return s
}

// Filter implements page.Filterer.
func (p *topics) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer.
func (p *topics) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.table.Rearrange(p.arrange)
	return nil
}

// Mouse sorts by the head that is clicked and opens what is clicked twice.
func (p *topics) Mouse(m page.Mouse) tea.Cmd {
	hit := page.ListMouse(&p.table, m, 0)
	switch {
	case !hit.OK:
	case hit.Head && m.Kind == page.Click:
		return p.sortBy(column(hit.Column))
	case !hit.Head && m.Kind == page.DoubleClick:
		return p.open()
	}
	return nil
}

// at returns the topic under the cursor.
func (p *topics) at() (model.Topic, bool) {
	if i := p.table.Cursor(); i < int64(len(p.rows)) {
		return p.all[p.rows[i]], true
	}
	return model.Topic{}, false
}
