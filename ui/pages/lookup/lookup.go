package lookup

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	headLines = 2
	footLines = 3
)

// reader is what the page needs of a source.
type reader interface {
	Segments(ctx context.Context, tp model.TopicPartition) ([]model.Segment, error)
	IndexEntries(ctx context.Context, tp model.TopicPartition, base int64, k model.IndexKind, first int64, limit int) ([]model.IndexEntry, int64, error)
	Lookup(ctx context.Context, tp model.TopicPartition, t model.Target) (model.LookupResult, error)
}

// answer is a lookup with the bars between its steps.
type answer struct {
	target model.Target
	result model.LookupResult
	probes map[string][]probe // by the step's word
}

// line is a line of the list: a step's beginning, one of its bars, or what came of it.
type line struct {
	step  int
	kind  lineKind
	probe int
}

type lineKind int8

const (
	lineStep lineKind = iota
	lineProbe
	lineValue
)

type lookup struct {
	page.Env
	tp    model.TopicPartition
	src   reader
	input kit.Input
	typed bool // the input has the focus
	wrong string
	run   page.Slot[answer]
	list  kit.VList
	last  answer
	lines []line
	known bool // last is an answer
	err   error
}

// New makes the page for a partition. With an offset or o.Args.Time that is looked up at once.
func New(env page.Env, o page.Open) page.Page {
	p := &lookup{Env: env, tp: o.Addr.TP(), typed: true}
	p.src, _ = env.Src.(reader)
	p.list.Theme = env.Theme
	p.input.Placeholder = page.TargetHint
	switch {
	case o.Args.Time != 0:
		p.input.SetValue(model.Where{Kind: model.ToTime, Time: o.Args.Time}.String())
	case o.Addr.Offset >= 0:
		p.input.SetValue(kit.Number(o.Addr.Offset))
	}
	return p
}

func (p *lookup) Title() string   { return "lookup" }
func (p *lookup) Busy() bool      { return p.run.Slow() }
func (p *lookup) Close()          { p.run.Cancel() }
func (p *lookup) TakesText() bool { return p.typed && p.src != nil }

func (p *lookup) Init() tea.Cmd {
	if p.input.Value() == "" {
		return nil
	}
	return p.start()
}

func (p *lookup) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[answer]:
		if p.run.Owns(msg) {
			p.take(msg.Val, msg.Err)
		}
	case tea.KeyMsg:
		if p.typed && p.input.Update(msg) {
			p.wrong = ""
		}
	}
	return nil
}

// start looks up what is typed.
func (p *lookup) start() tea.Cmd {
	if p.src == nil {
		return nil
	}
	t, err := page.ParseTarget(p.input.Value(), p.Now(), p.Clock.Location())
	if err != nil {
		p.wrong, p.typed = err.Error(), true
		return nil
	}
	p.wrong = ""
	return p.run.Start(p.Ctx, func(ctx context.Context) (answer, error) {
		r, err := p.src.Lookup(ctx, p.tp, t)
		if err != nil {
			return answer{target: t}, err
		}
		return answer{t, r, p.narrow(ctx, t, &r)}, nil
	})
}

func (p *lookup) take(a answer, err error) {
	p.err = err
	if err != nil {
		p.known, p.typed = false, true
		return
	}
	p.last, p.known, p.typed = a, true, len(a.result.Steps) == 0
	p.lines = p.lines[:0]
	drawn := map[string]bool{}
	for i, s := range a.result.Steps {
		p.lines = append(p.lines, line{step: i})
		if !drawn[s.Step] { // a step's word may come twice: the bars belong to the first
			for n := range a.probes[s.Step] {
				p.lines = append(p.lines, line{i, lineProbe, n})
			}
		}
		drawn[s.Step] = true
		p.lines = append(p.lines, line{i, lineValue, 0})
	}
	p.list.SetLen(int64(len(p.lines)))
	p.list.Home()
}

// Address is the partition, with what was found.
func (p *lookup) Address() model.Address {
	a := model.PartitionAddress(p.tp)
	if p.known && p.last.result.Found {
		a.Offset = p.last.result.Offset
	}
	return a
}

// Focus names the topic on screen.
func (p *lookup) Focus() []string { return []string{p.tp.Topic} }

// Status says how much was read.
func (p *lookup) Status() string {
	if !p.known {
		return ""
	}
	return kit.Number(int64(len(p.last.result.Steps))) + " steps · " + kit.BytesText(p.last.result.Scanned) + " of log read"
}
