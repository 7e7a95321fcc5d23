package delivery

import (
	"context"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// maxSteps bounds what is kept of one run; an experiment of the greatest size has fewer.
const maxSteps = 10_000

// cell is one run: a fault in the way of a mode.
type cell struct {
	steps  []model.DeliveryStep
	result *model.DeliveryResult
	due    bool // asked for, and not begun
}

// delivery is the page. Invariants: cells has a row for each fault and in it a column for each mode; table's Len is the
// number of faults.
type delivery struct {
	page.Env
	src    model.Deliverer // nil: the source runs no broker
	run    page.Stream[model.DeliveryEvent]
	faults []model.DeliveryFault
	modes  []model.DeliveryMode
	cells  [][]cell
	table  kit.Table
	steps  kit.Scroller
	mode   int // column of the cursor
	err    error
}

// New makes the page.
func New(env page.Env, _ page.Open) page.Page {
	p := &delivery{Env: env, faults: model.DeliveryFaults(), modes: model.DeliveryModes()}
	p.src, _ = env.Src.(model.Deliverer)
	for range p.faults {
		p.cells = append(p.cells, make([]cell, len(p.modes)))
	}
	p.table.Theme = env.Theme
	p.table.KeyOf = func(i int64) string { return string(p.faults[i]) }
	p.table.Columns = []kit.Column{
		{Name: "FAULT", Min: 16},
		{Name: "AT MOST ONCE", Grow: true, Min: 18, Max: 26},
		{Name: "AT LEAST ONCE", Grow: true, Min: 18, Max: 26},
		{Name: "EXACTLY ONCE", Grow: true, Min: 18, Max: 26},
	}
	p.table.SetLen(int64(len(p.faults)))
	return p
}

func (p *delivery) Title() string { return "delivery" }
func (p *delivery) Init() tea.Cmd { return nil }
func (p *delivery) Close()        { p.run.Cancel() }
func (p *delivery) Busy() bool    { return p.run.Busy() }

// start runs some of the experiment: of all modes and faults where they are nil.
func (p *delivery) start(modes []model.DeliveryMode, faults []model.DeliveryFault) tea.Cmd {
	if p.src == nil {
		return nil
	}
	p.err = nil
	for i, f := range p.faults {
		for k, m := range p.modes {
			if (faults == nil || slices.Contains(faults, f)) && (modes == nil || slices.Contains(modes, m)) {
				p.cells[i][k] = cell{due: true}
			}
		}
	}
	p.follow()
	src, q := p.src, model.DeliveryQuery{Modes: modes, Faults: faults}
	return p.run.Start(p.Ctx, func(ctx context.Context, emit func(model.DeliveryEvent) bool) error {
		return src.Deliver(ctx, q, emit)
	})
}

func (p *delivery) Update(msg tea.Msg) tea.Cmd {
	it, ok := msg.(page.Items[model.DeliveryEvent])
	if !ok || !p.run.Owns(it) {
		return nil
	}
	for i := range it.Vals {
		p.take(&it.Vals[i])
	}
	if !it.Done {
		return p.run.Next()
	}
	p.err = it.Err
	p.settle()
	return nil
}

// take puts a step or a result where it belongs.
func (p *delivery) take(e *model.DeliveryEvent) {
	if s := e.Step; s != nil {
		if c := p.cell(s.Fault, s.Mode); c != nil && len(c.steps) < maxSteps {
			c.due = false
			c.steps = append(c.steps, *s)
		}
	}
	if r := e.Result; r != nil {
		if c := p.cell(r.Fault, r.Mode); c != nil {
			c.due, c.result = false, r
		}
	}
	p.follow()
}

// settle ends what was asked for and did not come.
func (p *delivery) settle() {
	for i := range p.cells {
		for k := range p.cells[i] {
			c := &p.cells[i][k]
			if c.due || c.result == nil && len(c.steps) > 0 {
				*c = cell{}
			}
		}
	}
	p.follow()
}

// cell finds a run.
func (p *delivery) cell(f model.DeliveryFault, m model.DeliveryMode) *cell {
	i, k := slices.Index(p.faults, f), slices.Index(p.modes, m)
	if i < 0 || k < 0 {
		return nil
	}
	return &p.cells[i][k]
}

// at returns the run under the cursor.
func (p *delivery) at() *cell { return &p.cells[p.table.Cursor()][p.mode] }

// follow shows the steps of the run under the cursor.
func (p *delivery) follow() {
	n := int64(len(p.at().steps))
	if n < p.steps.Len {
		p.steps.Home()
	}
	p.steps.Len = n
}

// Status says how far the experiment is.
func (p *delivery) Status() string {
	ended, asked := 0, 0
	for i := range p.cells {
		for k := range p.cells[i] {
			c := &p.cells[i][k]
			if c.result != nil {
				ended++
			}
			if c.due || c.result != nil || len(c.steps) > 0 {
				asked++
			}
		}
	}
	if asked == 0 {
		return page.WithFault("", p.err)
	}
	return page.WithFault(kit.Number(int64(ended))+" of "+kit.Plural(asked, "run"), p.err)
}

// Mouse selects a run and scrolls its steps.
func (p *delivery) Mouse(m page.Mouse) tea.Cmd {
	switch {
	case m.Kind == page.WheelUp:
		p.steps.Move(-3)
	case m.Kind == page.WheelDown:
		p.steps.Move(3)
	default:
		if hit := page.ListMouse(&p.table, m, 0); hit.OK && !hit.Head {
			if col, ok := p.table.HeadAt(m.X); ok && col > 0 {
				p.mode = col - 1
			}
			p.steps.Home()
			p.follow()
		}
	}
	return nil
}
