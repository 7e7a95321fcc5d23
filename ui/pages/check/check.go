package check

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	maxFaults = 20_000 // kept; more are counted
	// every is how often progress is told.
	every = 30 * time.Millisecond
)

// event is what a check tells: an event, or at its end the sum.
type event struct {
	model.VerifyEvent
	fault model.Fault
	sum   model.VerifySummary
	whole bool // sum is there
}

// phase is how far a check is.
type phase int8

const (
	idle phase = iota
	running
	done
	stopped
	failed
)

// check is the page. Invariants:
//   - counts holds all faults told, faults the first maxFaults of them
//   - rows holds indexes into faults
type check struct {
	page.Env
	src   model.Verifier // nil: the source shows no files
	addr  model.Address
	scope kit.Choice
	run   page.Stream[event]
	table kit.Table

	faults  []model.Fault
	rows    []int
	counts  map[model.Severity]int64
	filter  page.Filter
	found   bool // sorted as found; else by severity
	phase   phase
	began   time.Time
	took    time.Duration
	at      string
	read    int64
	all     int64
	sum     model.VerifySummary
	err     error
	several bool // the faults are of several partitions
}

// New makes the page for what o.Addr names: a segment, a partition, a topic, or everything.
func New(env page.Env, o page.Open) page.Page {
	p := &check{Env: env, addr: o.Addr}
	p.src, _ = env.Src.(model.Verifier)
	p.table.Theme = env.Theme
	p.table.KeyOf = func(i int64) string { return kit.Number(int64(p.rows[i])) }
	switch {
	case o.Addr.Topic == "":
		p.scope.Options = []string{everything}
	case o.Addr.Partition < 0:
		p.scope.Options = []string{topic, everything}
	case o.Addr.Segment < 0:
		p.scope.Options = []string{partition, topic, everything}
	default:
		p.scope.Options = []string{segment, partition, topic, everything}
	}
	p.setColumns()
	return p
}

// The scopes.
const (
	segment    = "segment"
	partition  = "partition"
	topic      = "topic"
	everything = "everything"
)

func (p *check) Title() string { return "check" }
func (p *check) Init() tea.Cmd { return p.start() }
func (p *check) Close()        { p.run.Cancel() }

// query returns what the chosen scope asks for.
func (p *check) query() model.VerifyQuery {
	q := model.VerifyQuery{Topic: p.addr.Topic, Partition: p.addr.Partition, Segment: p.addr.Segment}
	switch p.scope.Value() {
	case partition:
		q.Segment = model.Unknown
	case topic:
		q.Partition, q.Segment = -1, model.Unknown
	case everything:
		q = model.VerifyQuery{Partition: -1, Segment: model.Unknown}
	}
	return q
}

// start begins the check anew.
func (p *check) start() tea.Cmd {
	if p.src == nil {
		return nil
	}
	p.faults, p.rows, p.counts = nil, nil, map[model.Severity]int64{}
	p.read, p.all, p.at, p.sum, p.err, p.several = 0, 0, "", model.VerifySummary{}, nil, false
	p.phase, p.began = running, p.Now()
	p.setColumns()
	p.table.SetLen(0)
	q := p.query()
	return p.run.Start(p.Ctx, func(ctx context.Context, emit func(event) bool) error {
		var told time.Time
		sum, err := p.src.Verify(ctx, q, func(e model.VerifyEvent) {
			out := event{VerifyEvent: e}
			if e.Fault != nil {
				out.fault = *e.Fault
			} else if now := p.Now(); now.Sub(told) < every {
				return // the next one says more
			} else {
				told = now
			}
			emit(out)
		})
		emit(event{sum: sum, whole: true})
		return err
	})
}

func (p *check) Update(msg tea.Msg) tea.Cmd {
	if it, ok := msg.(page.Items[event]); ok && p.run.Owns(it) {
		for i := range it.Vals {
			p.take(&it.Vals[i])
		}
		first := p.table.Cursor() == 0
		p.arrange()
		if first { // whoever has not moved sees the worst, however the faults come in
			p.table.Home()
		}
		p.took = p.Now().Sub(p.began)
		if !it.Done {
			return p.run.Next()
		}
		p.phase, p.err = done, it.Err
		if it.Err != nil {
			p.phase = failed
		}
	}
	return nil
}

func (p *check) take(e *event) {
	switch {
	case e.whole:
		p.sum = e.sum
		return
	case e.Fault != nil:
		p.counts[e.fault.Severity]++
		if len(p.faults) < maxFaults {
			p.faults = append(p.faults, e.fault)
			p.several = p.several || e.fault.TP != p.faults[0].TP
		}
	}
	if e.BytesAll > 0 {
		p.read, p.all = e.BytesDone, e.BytesAll
	}
	if e.At != "" {
		p.at = e.At
	}
}

// cancel stops the check and keeps what it found.
func (p *check) cancel() tea.Cmd {
	p.run.Cancel()
	p.phase = stopped
	return nil
}

// Address is what is checked.
func (p *check) Address() model.Address {
	q := p.query()
	a := model.TopicAddress(q.Topic)
	a.Partition, a.Segment = q.Partition, q.Segment
	if q.Topic == "" {
		a.Partition = -1
	}
	return a
}

// Status says what was found, by severity.
func (p *check) Status() string {
	s := ""
	for _, sev := range severities() {
		if n := p.counts[sev]; n > 0 {
			if s != "" {
				s += " · "
			}
			s += kit.Number(n) + " " + string(sev)
		}
	}
	return page.WithFault(s, p.filter.Err())
}

// Filter implements page.Filterer.
func (p *check) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer.
func (p *check) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.table.Rearrange(p.arrange)
	return nil
}

// under returns the fault under the cursor.
func (p *check) under() (model.Fault, bool) {
	if i := p.table.Cursor(); i < int64(len(p.rows)) {
		return p.faults[p.rows[i]], true
	}
	return model.Fault{}, false
}
