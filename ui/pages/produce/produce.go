package produce

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	editValue = "value" // ID of what is edited outside
	keepSent  = 500     // how many of the places are kept
)

type produce struct {
	page.Env
	topic string
	src   model.Producer // nil: the source takes no records
	form  kit.Form
	long  map[string][]byte // by label: bytes that the field's line cannot hold; see bytesOf
	load  page.Slot[int]
	parts int // how many partitions the topic has; 0 until known

	stream page.Stream[sent]
	halt   context.CancelFunc // stops what runs after its batch
	job    job
	count  int64 // written by the job
	began  int64 // ms
	ended  bool
	err    error
	table  kit.Table
	places []place // newest first
	seq    int64   // of the last place
	below  bool    // the focus is on the places
	tabY   int     // line of the places' table, as of the last View
}

// place is where a record went. seq tells places apart.
type place struct {
	seq int64
	model.Produced
}

// New makes the page for a topic, or a partition. With o.Args.Record it begins as a copy of that record.
func New(env page.Env, o page.Open) page.Page {
	p := &produce{Env: env, topic: o.Addr.Topic, long: map[string][]byte{}}
	p.src, _ = env.Src.(model.Producer)
	p.table.Theme = env.Theme
	p.table.KeyOf = func(i int64) string { return kit.Number(p.places[i].seq) }
	p.table.Columns = []kit.Column{
		{Name: "WENT TO", Min: 14, Max: 60},
		{Name: "OFFSET", Right: true, Min: 10},
		{Name: "TIME", Min: 12},
	}
	p.form.Theme = env.Theme
	p.form.Fields = fields()
	p.recall()
	if o.Args.Record != nil {
		p.copyOf(o.Args.Record)
	}
	if o.Addr.Partition >= 0 {
		p.form.Field(labelTo).Choice.Choose(toPartition)
		p.form.Field(labelPartition).Input.SetValue(kit.Number(int64(o.Addr.Partition)))
	}
	p.tidy()
	return p
}

func (p *produce) Title() string   { return "produce" }
func (p *produce) Busy() bool      { return p.stream.Busy() }
func (p *produce) TakesText() bool { return p.able() && !p.below }

func (p *produce) able() bool { return p.src != nil && p.topic != "" }

func (p *produce) Close() {
	p.load.Cancel()
	p.stream.Cancel()
	if p.halt != nil {
		p.halt()
	}
}

// Init asks how many partitions there are.
func (p *produce) Init() tea.Cmd {
	if !p.able() {
		return nil
	}
	return p.load.Start(p.Ctx, func(ctx context.Context) (int, error) {
		parts, err := p.Src.Partitions(ctx, p.topic)
		n := 0
		for i := range parts {
			if parts[i].State == model.Live {
				n++
			}
		}
		return n, err
	})
}

func (p *produce) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[int]:
		if !p.load.Owns(msg) {
			return nil
		}
		if p.parts = msg.Val; msg.Err != nil {
			p.err = msg.Err
		}
		p.tidy()
	case page.Items[sent]:
		if p.stream.Owns(msg) {
			return p.took(msg)
		}
	case page.Edited:
		return p.edited(msg)
	case tea.KeyMsg:
		if p.TakesText() {
			p.typed(msg)
		}
	}
	return nil
}

// typed gives a key to the field with the focus.
func (p *produce) typed(k tea.KeyMsg) {
	if p.form.Focus >= len(p.form.Fields) {
		return
	}
	f := &p.form.Fields[p.form.Focus]
	if _, held := p.long[f.Label]; held && f.Choice == nil && k.Type != tea.KeyCtrlN {
		delete(p.long, f.Label)
	}
	if p.form.Update(k) {
		if !p.stream.Busy() {
			p.err = nil
		}
		p.tidy()
	}
}

// Address is the topic or, when one was asked for, its partition.
func (p *produce) Address() model.Address { return model.TopicAddress(p.topic) }

// Focus names the topic on screen.
func (p *produce) Focus() []string { return []string{p.topic} }

// Status says how much was written.
func (p *produce) Status() string {
	if p.count == 0 {
		return ""
	}
	return kit.Number(p.count) + " written"
}

// Mouse puts the focus on the field that is clicked, or on a place; a double click opens the record.
func (p *produce) Mouse(m page.Mouse) tea.Cmd {
	if !p.able() {
		return nil
	}
	over := p.tabY > 0 && m.Y >= p.tabY
	switch {
	case m.Kind >= page.WheelUp && p.below:
		page.ListMouse(&p.table, m, p.tabY)
	case m.Kind == page.WheelDown:
		p.form.Next(1)
	case m.Kind == page.WheelUp:
		p.form.Next(-1)
	case over:
		hit := page.ListMouse(&p.table, m, p.tabY)
		if hit.OK && !hit.Head {
			p.below = true
			if m.Kind == page.DoubleClick && p.whyNoPlace() == "" {
				return p.open()
			}
		}
	default:
		focus := p.form.Focus
		if p.below {
			p.form.Focus = -1 // as it was drawn
		}
		i, ok := p.form.FieldAt(m.Y)
		if p.form.Focus = focus; ok {
			p.form.Focus, p.below = i, false
		}
	}
	return nil
}
