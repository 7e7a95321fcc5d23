package partitions

import (
	"context"
	"errors"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	headLines   = 2 // above the table
	detailLines = 2 // below it, where a partition has something odd
)

type partitions struct {
	page.Env
	topic   string
	load    page.Loader[[]model.Partition]
	counter page.Slot[struct{}]
	table   kit.Table
	all     []model.Partition
	rows    []int // what is shown, in order
	sum     summary
	loaded  bool
	err     error
	filter  page.Filter
	sorted  column
	desc    bool
	noted   bool // a partition has something odd, so there is a column for it
	leaders bool // there is more than one replica
	cluster bool // the source is one: leaders and replicas are what is asked first, and there are no files
	racks   map[int32]string
	cols    []column // what the table has, in order
	sized   bool     // the segments of a partition are known
	spread  bool     // they lie in several log directories
	sought  string
}

// New makes the page for o.Addr.Topic. With a partition the cursor begins there.
func New(env page.Env, o page.Open) page.Page {
	p := &partitions{Env: env, topic: o.Addr.Topic, cluster: page.Able[model.RackReader](env.Src)}
	p.table.Theme = env.Theme
	p.table.KeyOf = func(i int64) string { return keyOf(&p.all[p.rows[i]]) }
	if o.Addr.Partition >= 0 {
		p.sought = keyOf(&model.Partition{TopicPartition: o.Addr.TP()})
	}
	p.setColumns()
	return p
}

// keyOf names a row: two folders may hold the same partition while it moves.
func keyOf(r *model.Partition) string {
	k := strconv.Itoa(int(r.Partition))
	if r.State != model.Live {
		k += " " + r.State.String() + " " + r.Dir
	}
	return k
}

func (p *partitions) Title() string { return "partitions" }
func (p *partitions) Init() tea.Cmd { return p.reload() }
func (p *partitions) Busy() bool    { return p.load.Slow() || p.counter.Slow() }

func (p *partitions) Close() {
	p.load.Cancel()
	p.counter.Cancel()
}

func (p *partitions) reload() tea.Cmd {
	return p.load.Load(p.Ctx, func(ctx context.Context) ([]model.Partition, error) {
		return p.Src.Partitions(ctx, p.topic)
	})
}

func (p *partitions) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[[]model.Partition]:
		if mine, again := p.load.Took(p.Ctx, msg); mine {
			p.take(msg.Val, msg.Err)
			return again
		}
	case page.Result[struct{}]:
		if p.counter.Owns(msg) {
			return p.counted(msg.Err)
		}
	case model.Change:
		if msg.TouchesTopic(p.topic) {
			return p.reload()
		}
	}
	return nil
}

func (p *partitions) take(rows []model.Partition, err error) {
	p.err = err
	if err != nil {
		return
	}
	p.all, p.loaded = rows, true
	if r, ok := p.Src.(model.RackReader); ok {
		p.racks = r.Racks()
	}
	p.sum = p.add(rows)
	p.arrange()
}

// Address is the topic.
func (p *partitions) Address() model.Address { return model.TopicAddress(p.topic) }

// Focus names the topic on screen.
func (p *partitions) Focus() []string { return []string{p.topic} }

// Status says how many partitions there are.
func (p *partitions) Status() string {
	if !p.loaded {
		return ""
	}
	s := kit.Number(int64(len(p.rows))) + " of " + kit.Number(int64(len(p.all))) + " partitions"
	return page.WithFault(s, p.filter.Err(), p.err)
}

// Filter implements page.Filterer.
func (p *partitions) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer.
func (p *partitions) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.table.Rearrange(p.arrange)
	return nil
}

// Mouse sorts by the head that is clicked and opens what is clicked twice.
func (p *partitions) Mouse(m page.Mouse) tea.Cmd {
	hit := page.ListMouse(&p.table, m, headLines)
	switch {
	case !hit.OK:
	case hit.Head && m.Kind == page.Click:
		p.sortBy(p.cols[hit.Column])
	case !hit.Head && m.Kind == page.DoubleClick:
		return p.open()
	}
	return nil
}

// at returns the partition under the cursor.
func (p *partitions) at() (model.Partition, bool) {
	if i := p.table.Cursor(); i < int64(len(p.rows)) {
		return p.all[p.rows[i]], true
	}
	return model.Partition{}, false
}

// summary is what the head line says of the topic.
type summary struct {
	live, leftovers, segments int
	records                   model.Count
	bytes, most               int64
	broken                    int
	how                       string // they are broken, in words
	headless, under           int    // partitions without a leader, and with less than all replicas in sync
}

// add sums the partitions up.
func (p *partitions) add(rows []model.Partition) summary {
	s := summary{records: model.NoCount()}
	for i := range rows {
		r := &rows[i]
		if r.State != model.Live {
			s.leftovers++
			continue
		}
		s.live++
		s.segments += max(0, r.Segments)
		s.records = s.records.Add(r.Records)
		s.bytes += max(0, r.Bytes)
		s.most = max(s.most, r.Bytes)
		if r.Leader >= 0 && len(r.ISR) < len(r.Replicas) {
			s.under++
		}
		if p.headless(r) {
			s.headless++
			continue
		}
		if r.Err != nil {
			s.broken++
			var damage *model.CorruptError
			if s.how == "" && !errors.As(r.Err, &damage) {
				s.how = " not readable"
			} else if s.how == "" {
				s.how = " damaged"
			}
		}
	}
	return s
}

// skew is how much more the fullest partition holds than the mean; 0 where there is nothing to compare.
func (s summary) skew() float64 {
	if s.live < 2 || s.bytes == 0 {
		return 0
	}
	return float64(s.most) * float64(s.live) / float64(s.bytes)
}
