package overview

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const footLines = 3

// inspector is what the page needs of a source.
type inspector interface {
	Overview(ctx context.Context) ([]model.DirOverview, error)
}

// kind is what a row is.
type kind int8

const (
	blank kind = iota
	directory
	section
	fact
	odd
	fault
	record
)

// row is one line of the list.
type row struct {
	kind              kind
	name, value, note string
	severity          model.Severity
}

type overview struct {
	page.Env
	src    inspector // nil: the source is no log directory
	load   page.Loader[[]model.DirOverview]
	table  kit.Table
	all    []row
	rows   []int // what is shown
	loaded bool
	err    error
	filter page.Filter
	faults int
}

// New makes the page.
func New(env page.Env, _ page.Open) page.Page {
	p := &overview{Env: env}
	p.src, _ = env.Src.(inspector)
	p.table.Theme, p.table.NoHead = env.Theme, true
	p.table.KeyOf = func(i int64) string {
		r := &p.all[p.rows[i]]
		return r.name + "\x00" + r.value
	}
	p.table.Columns = []kit.Column{{Name: "name", Min: nameCells, Max: nameCells}, {Name: "value", Grow: true, Min: 20}}
	return p
}

func (p *overview) Title() string { return "overview" }
func (p *overview) Init() tea.Cmd { return p.reload() }
func (p *overview) Busy() bool    { return p.load.Slow() }
func (p *overview) Close()        { p.load.Cancel() }

func (p *overview) reload() tea.Cmd {
	if p.src == nil {
		return nil
	}
	return p.load.Load(p.Ctx, p.src.Overview)
}

func (p *overview) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[[]model.DirOverview]:
		mine, again := p.load.Took(p.Ctx, msg)
		if !mine {
			return nil
		}
		if p.err = msg.Err; msg.Err == nil {
			p.take(msg.Val)
		}
		return again
	case model.Change:
		if msg.Info || msg.Topics || msg.All {
			return p.reload()
		}
	}
	return nil
}

// take turns the directories into rows.
func (p *overview) take(dirs []model.DirOverview) {
	p.loaded, p.all, p.faults = true, nil, 0
	for i := range dirs {
		d := &dirs[i]
		if i > 0 {
			p.add(row{})
		}
		p.add(row{kind: directory, name: d.Path})
		for _, f := range d.Facts {
			p.add(row{kind: fact, name: f.Name, value: f.Value, note: f.Note})
		}
		p.section("what is wrong", len(d.Faults))
		for j := range d.Faults {
			f := &d.Faults[j]
			p.faults++
			p.add(row{kind: fault, name: f.File, value: f.Kind, note: f.What, severity: f.Severity})
		}
		p.section("left over, or not understood", len(d.Odd))
		for _, f := range d.Odd {
			p.add(row{kind: odd, name: f.Name, value: f.Value, note: f.Note})
		}
		p.section("metadata log, the newest records", len(d.Records))
		for _, r := range d.Records {
			p.add(row{kind: record, name: kit.Number(r.Offset), value: r.Type, note: r.Text})
		}
	}
	p.arrange()
}

func (p *overview) add(r row) { p.all = append(p.all, r) }

// section begins a part of n rows, unless that is empty.
func (p *overview) section(name string, n int) {
	if n > 0 {
		p.add(row{})
		p.add(row{kind: section, name: name})
	}
}

// arrange leaves out what does not match the filter, and with it the headings.
func (p *overview) arrange() {
	p.rows = p.rows[:0]
	for i := range p.all {
		r := &p.all[i]
		if p.filter.All() || r.kind > section && p.filter.Match(r.name+" "+r.value+" "+r.note) {
			p.rows = append(p.rows, i)
		}
	}
	p.table.SetLen(int64(len(p.rows)))
}

// Status says how much is wrong.
func (p *overview) Status() string {
	switch {
	case p.err != nil && p.loaded:
		return kit.Safe(p.err.Error(), 100)
	case p.filter.Err() != nil:
		return kit.Safe(p.filter.Err().Error(), 100)
	case p.faults > 0:
		return kit.Number(int64(p.faults)) + " wrong"
	}
	return ""
}

// Filter implements page.Filterer.
func (p *overview) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer.
func (p *overview) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.table.Rearrange(p.arrange)
	return nil
}

// at returns the row under the cursor.
func (p *overview) at() (row, bool) {
	if i := p.table.Cursor(); i < int64(len(p.rows)) {
		return p.all[p.rows[i]], true
	}
	return row{}, false
}
