package disk

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	tick      = "second"
	headLines = 2
	footLines = 2
	// askEvery is how long what is freed next is believed.
	askEvery = 10 * time.Second
	// maxAsked is how many partitions are asked for what they free next.
	maxAsked = 64
)

// segmenter is what the page needs of a source beyond model.Source.
type segmenter interface {
	Segments(ctx context.Context, tp model.TopicPartition) ([]model.Segment, error)
}

// item is a row: a topic, a partition or a segment.
type item struct {
	name  string
	addr  model.Address
	bytes int64
	parts int            // partitions of a topic, segments of a partition
	quiet bool           // internal, or left over
	seg   *model.Segment // of a segment; else nil
}

// freed is what retention takes away next of one item.
type freed struct {
	of    string
	due   int64 // bytes that are due already
	next  int64 // bytes of the next to go
	at    int64 // ms, or NoTime
	where string
	rule  string
	some  bool // not all of its partitions were asked
}

type disk struct {
	page.Env
	addr  model.Address
	src   segmenter // nil: the source shows no files
	load  page.Loader[[]item]
	ask   page.Slot[freed]
	table kit.Table

	all    []item
	rows   []int
	grows  map[string]*growth
	sum    int64
	total  float64 // bytes a second that all grow by
	next   freed
	asked  time.Time // when next was asked for
	asks   string    // and of what
	loaded bool
	due    bool // something has changed since it was read
	read   time.Time
	byName bool
	err    error
	filter page.Filter
}

// New makes the page: of all topics, of the partitions of o.Addr's topic, or of the segments of its partition.
func New(env page.Env, o page.Open) page.Page {
	p := &disk{Env: env, addr: o.Addr, grows: map[string]*growth{}}
	if p.addr.Topic == "" {
		p.addr = model.TopicAddress("")
	}
	p.src, _ = env.Src.(segmenter)
	p.table.Theme = env.Theme
	p.table.KeyOf = func(i int64) string { return p.all[p.rows[i]].name }
	p.table.Columns = p.columns()
	p.table.Sorted, p.table.Desc = int(colSize)+1, true
	return p
}

func (p *disk) Title() string { return "disk" }
func (p *disk) Busy() bool    { return p.load.Slow() }
func (p *disk) Init() tea.Cmd { return tea.Batch(p.reload(), p.arm()) }

func (p *disk) Close() {
	p.load.Cancel()
	p.ask.Cancel()
}

func (p *disk) arm() tea.Cmd { return page.Send(page.TickIn{After: time.Second, ID: tick}) }

// level returns what the rows are.
func (p *disk) level() string {
	switch {
	case p.addr.Topic == "":
		return "topic"
	case p.addr.Partition < 0:
		return "partition"
	}
	return "segment"
}

func (p *disk) reload() tea.Cmd {
	p.due = false
	return p.load.Load(p.Ctx, func(ctx context.Context) ([]item, error) {
		switch p.level() {
		case "topic":
			return p.topics(ctx)
		case "partition":
			return p.partitions(ctx)
		}
		return p.segments(ctx)
	})
}

func (p *disk) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[[]item]:
		if mine, again := p.load.Took(p.Ctx, msg); mine {
			return tea.Batch(again, p.take(msg.Val, msg.Err))
		}
	case page.Result[freed]:
		if p.ask.Owns(msg) && msg.Err == nil {
			p.next = msg.Val
		}
	case model.Change:
		if msg.Topics || msg.All || p.addr.Topic != "" && msg.TouchesTopic(p.addr.Topic) {
			p.due = true
			if p.Now().Sub(p.read) > time.Second/2 {
				return p.reload()
			}
		}
	case page.Tick:
		if msg.ID == tick {
			return p.second()
		}
	}
	return nil
}

// second sorts anew, and reads again what has changed: sizes need no more haste than that.
func (p *disk) second() tea.Cmd {
	p.arrange()
	p.addUp()
	cmd := tea.Batch(p.arm(), p.moved())
	if p.due {
		cmd = tea.Batch(cmd, p.reload())
	}
	return cmd
}

// addUp makes the total the sum of the growths in the rows.
func (p *disk) addUp() {
	now := p.Now()
	p.total = 0
	for i := range p.all {
		if r, ok := p.grows[p.all[i].name].rate(now); ok {
			p.total += r
		}
	}
}

func (p *disk) take(items []item, err error) tea.Cmd {
	p.err = err
	if err != nil {
		return nil
	}
	now := p.Now()
	p.read = now
	p.sum = 0
	for i := range items {
		it := &items[i]
		p.sum += max(0, it.bytes)
		g := p.grows[it.name]
		if g == nil {
			g = &growth{}
			p.grows[it.name] = g
		}
		g.add(now, it.bytes)
	}
	first := !p.loaded
	same := len(items) == len(p.all)
	p.all, p.loaded = items, true
	p.addUp()
	if first || !same {
		p.arrange() // else once a second: rows that move under the eye cannot be read
	}
	if first {
		return p.moved()
	}
	return nil
}

// arrange sorts the rows, the biggest first or by name.
func (p *disk) arrange() {
	p.rows = p.rows[:0]
	for i := range p.all {
		if p.filter.Match(p.all[i].name) {
			p.rows = append(p.rows, i)
		}
	}
	slices.SortStableFunc(p.rows, func(i, j int) int {
		if p.byName {
			return cmp.Compare(i, j) // the source's own order
		}
		return cmp.Or(cmp.Compare(p.all[j].bytes, p.all[i].bytes), cmp.Compare(i, j))
	})
	p.table.SetLen(int64(len(p.rows)))
}

// Address is what the rows are of.
func (p *disk) Address() model.Address { return p.addr }

// Focus names the topic on screen; nil for all.
func (p *disk) Focus() []string {
	if p.addr.Topic == "" {
		return nil
	}
	return []string{p.addr.Topic}
}

// Status says how many rows there are.
func (p *disk) Status() string {
	if !p.loaded {
		return ""
	}
	s := kit.Number(int64(len(p.rows))) + " of " + kit.Number(int64(len(p.all))) + " " + p.level() + "s"
	return page.WithFault(s, p.filter.Err(), p.err)
}

// Filter implements page.Filterer.
func (p *disk) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer.
func (p *disk) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.table.Rearrange(p.arrange)
	return p.moved()
}

// at returns the item under the cursor.
func (p *disk) at() (item, bool) {
	if i := p.table.Cursor(); i < int64(len(p.rows)) {
		return p.all[p.rows[i]], true
	}
	return item{}, false
}
