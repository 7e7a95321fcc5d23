package batches

import (
	"context"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	runLen   = 200  // batches a request, and offsets to go back at a time
	nearEdge = 50   // rows before an end of the list from which on more is asked for
	keepRuns = 4000 // rows kept in memory
)

// fetched is the page of a source that tells of batches and not where they lie. Invariants:
//   - rows is a gapless run of the partition's batches, ascending
//   - all before next was asked for; start and end are the log's bounds as of the last answer
type fetched struct {
	cells
	tp    model.TopicPartition
	src   model.BatchLister
	load  page.Slot[run]
	table kit.Table

	rows             []model.Batch
	next, start, end int64
	first            int64 // offset to begin at, or FromStart or FromEnd
	loaded           bool
	grown            bool // the log has, while something else was asked for
	err              error
	listH            int // lines of the list, as of the last View
}

// run is an answer and which way it continues the rows.
type run struct {
	got model.BatchRun
	way way
}

type way int8

const (
	anew way = iota
	forward
	backward
)

func newFetched(env page.Env, o page.Open, src model.BatchLister) *fetched {
	p := &fetched{cells: cells{env}, tp: o.Addr.TP(), src: src, first: o.Addr.Offset}
	if o.Addr.Offset < 0 {
		p.first = model.FromEnd
		if o.Addr.Segment >= 0 { // an address of files, whose name is an offset
			p.first = o.Addr.Segment
		}
	}
	p.table.Theme, p.table.Columns = env.Theme, columns()
	p.table.Columns[written].Drop, p.table.Columns[producer].Drop = 5, 4 // the time is told below the list
	p.table.KeyOf = func(i int64) string { return strconv.FormatInt(p.rows[i].Base, 10) }
	return p
}

func (p *fetched) Title() string   { return "batches" }
func (p *fetched) Init() tea.Cmd   { return p.ask(p.first, anew) }
func (p *fetched) Close()          { p.load.Cancel() }
func (p *fetched) Busy() bool      { return p.load.Slow() }
func (p *fetched) Focus() []string { return []string{p.tp.Topic} }

// Address is the first offset of the batch under the cursor.
func (p *fetched) Address() model.Address {
	a := model.PartitionAddress(p.tp)
	if b, ok := p.under(); ok {
		a.Offset = b.Base
	}
	return a
}

// Status says which offsets are listed, and of which log.
func (p *fetched) Status() string {
	if !p.loaded {
		return page.WithFault("", p.err)
	}
	s := "log " + kit.Number(p.start) + " to " + kit.Number(p.end)
	if n := len(p.rows); n > 0 {
		s = kit.Number(int64(n)) + " batches" + ", offsets " + kit.Number(p.rows[0].Base) + " to " + kit.Number(p.rows[n-1].Last) + " · " + s
	}
	return page.WithFault(s, p.err)
}

func (p *fetched) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[run]:
		if p.load.Owns(msg) {
			return p.take(msg.Val, msg.Err)
		}
	case page.Answered:
		return p.answered(msg)
	case model.Change:
		if msg.Touches(p.tp) {
			p.grown = true
			return p.more()
		}
	}
	return nil
}

// ask asks for batches from an offset on, or of those that end before it.
func (p *fetched) ask(at int64, w way) tea.Cmd {
	src, tp, start := p.src, p.tp, p.start
	return p.load.Start(p.Ctx, func(ctx context.Context) (run, error) {
		var got model.BatchRun
		var err error
		if w == backward {
			got.Batches, err = before(ctx, src, tp, start, at)
			return run{got, w}, err
		}
		got, err = src.ListBatches(ctx, tp, at, runLen)
		if err == nil && w == anew && (at == model.FromEnd || len(got.Batches) == 0) {
			got.Batches, err = before(ctx, src, tp, got.Start, got.End) // whole up to the end, however large or far
			got.Next = got.End
		}
		return run{got, w}, err
	})
}

func (p *fetched) take(r run, err error) tea.Cmd {
	if p.err = err; err != nil {
		return nil
	}
	got := r.got.Batches
	if r.way != backward {
		p.start, p.end = r.got.Start, r.got.End
	}
	switch r.way {
	case anew:
		p.rows, p.next, p.loaded = got, r.got.Next, true
		p.table.SetLen(int64(len(p.rows)))
		p.land()
	case forward:
		if len(got) == 0 && r.got.Next <= p.next {
			p.end = p.next // nothing comes, whatever the end is said to be
		}
		p.rows, p.next = append(p.rows, got...), max(p.next, r.got.Next)
		p.rows = p.rows[max(0, len(p.rows)-keepRuns):]
	case backward:
		if len(got) == 0 && len(p.rows) > 0 {
			p.start = p.rows[0].Base // nothing lies before it
		}
		if p.rows = append(got, p.rows...); len(p.rows) > keepRuns {
			p.rows = p.rows[:keepRuns]
			p.next = p.rows[keepRuns-1].Last + 1
		}
	}
	p.table.SetLen(int64(len(p.rows)))
	return p.more()
}

// land puts the cursor where the page is to begin.
func (p *fetched) land() {
	switch {
	case p.first == model.FromEnd:
		p.table.End()
	case p.first >= 0:
		i := slices.IndexFunc(p.rows, func(b model.Batch) bool { return b.Last >= p.first })
		p.table.SetCursor(int64(max(0, i)))
	default:
		p.table.Home()
	}
}

// before returns batches that reach up to an offset without a gap, the last ones before it. Brokers read forwards only: it
// asks from further and further back while nothing is there, and nearer where an answer ends too early.
func before(ctx context.Context, src model.BatchLister, tp model.TopicPartition, start, base int64) ([]model.Batch, error) {
	var found []model.Batch
	lo, hi := model.Unknown, base // nothing lies in [hi, base), and found ends at lo
	for step := int64(runLen); lo < hi && hi > start; {
		at := max(start, hi-step)
		if lo >= 0 {
			at = lo + (hi-lo)/2
		}
		r, err := src.ListBatches(ctx, tp, at, runLen)
		if err != nil {
			return nil, err
		}
		got := slices.DeleteFunc(r.Batches, func(b model.Batch) bool { return b.Base >= base })
		switch {
		case len(got) == 0:
			hi, step = at, 2*step
		case r.Next >= hi:
			return got, nil
		default:
			found, lo = got, r.Next
		}
	}
	return found, nil
}

// more asks for what is missing around the cursor.
func (p *fetched) more() tea.Cmd {
	at, n := p.table.Cursor(), p.table.Len
	switch {
	case !p.loaded || p.load.Busy():
		return nil
	case p.next >= p.end && p.grown, at >= n-nearEdge && p.next < p.end:
		p.grown = false
		return p.ask(p.next, forward)
	case at < nearEdge && n > 0 && p.rows[0].Base > p.start:
		return p.ask(p.rows[0].Base, backward)
	}
	return nil
}

// under returns the batch under the cursor.
func (p *fetched) under() (*model.Batch, bool) {
	if i := p.table.Cursor(); i < int64(len(p.rows)) {
		return &p.rows[i], true
	}
	return nil, false
}
