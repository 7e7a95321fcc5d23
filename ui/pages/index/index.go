package index

import (
	"context"
	"fmt"
	"sort"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	chunk     = 256  // entries a request
	around    = 128  // rows kept ready on both sides of the cursor
	keep      = 8192 // rows kept in memory
	headLines = 2
	footLines = 2
)

// reader is what the page needs of a source.
type reader interface {
	Batches(ctx context.Context, q model.BatchQuery) (model.BatchPage, error)
	IndexEntries(ctx context.Context, tp model.TopicPartition, base int64, k model.IndexKind, first int64, limit int) ([]model.IndexEntry, int64, error)
}

// window is some entries of an index, and how many there are.
type window struct {
	entries []model.IndexEntry
	total   int64
	looked  int64 // entries that a hunt has passed
	seek    bool  // the cursor goes to entry at
	at      int64
}

// target is the batch to which an entry leads.
type target struct {
	number int64 // of the entry
	found  bool
	batch  model.Batch
}

// index is the page. Invariants:
//   - the table's Len is how many entries the index has
//   - rows holds some of them by number
type index struct {
	page.Env
	tp   model.TopicPartition
	base int64
	src  reader
	from int64 // offset to begin at; Unknown for none

	kind   kit.Choice
	win    page.Slot[window]
	lead   page.Slot[target]
	hunt   page.Slot[window]
	table  kit.Table
	rows   map[int64]model.IndexEntry
	wrong  map[int64]bool
	to     target
	toErr  error
	loaded bool
	stale  bool // changed while it was being read
	err    error
}

// New makes the page for a segment; o.Args.Index says which index comes first, and an offset the entry to begin at: the
// last one not beyond it.
func New(env page.Env, o page.Open) page.Page {
	p := &index{Env: env, tp: o.Addr.TP(), base: o.Addr.Segment, from: o.Addr.Offset}
	p.src, _ = env.Src.(reader)
	p.kind = kit.Choice{Options: []string{string(model.OffsetIndex), string(model.TimeIndex), string(model.TxnIndex)}}
	p.kind.Choose(string(o.Args.Index))
	p.table.Theme = env.Theme
	p.reset()
	return p
}

// reset makes the table ready for the chosen index.
func (p *index) reset() {
	p.rows, p.wrong, p.to, p.toErr, p.err = map[int64]model.IndexEntry{}, map[int64]bool{}, target{number: -1}, nil, nil
	p.loaded, p.table.Len = false, 0
	p.table.Home()
	p.table.Columns = columns(p.which())
	p.table.Forget()
}

func columns(k model.IndexKind) []kit.Column {
	cols := []kit.Column{{Name: "ENTRY", Right: true, Min: 7}}
	switch k {
	case model.TimeIndex:
		cols = append(cols, kit.Column{Name: "TIME", Min: 23}, kit.Column{Name: "OFFSET", Right: true, Min: 11})
	case model.TxnIndex:
		cols = append(cols, kit.Column{Name: "PRODUCER", Right: true}, kit.Column{Name: "FIRST", Right: true, Min: 11},
			kit.Column{Name: "ABORTED AT", Right: true, Min: 11}, kit.Column{Name: "LAST STABLE", Right: true, Drop: 1})
	default:
		cols = append(cols, kit.Column{Name: "OFFSET", Right: true, Min: 11}, kit.Column{Name: "RELATIVE", Right: true, Min: 10, Drop: 1},
			kit.Column{Name: "POSITION", Right: true, Min: 11}, kit.Column{Name: "STEP", Right: true, Min: 7, Drop: 2})
	}
	return append(cols, kit.Column{Name: "", Grow: true, Min: 1, Max: 120})
}

func (p *index) which() model.IndexKind { return model.IndexKind(p.kind.Value()) }

func (p *index) Title() string { return "index" }
func (p *index) Busy() bool    { return p.win.Slow() || p.hunt.Slow() || p.lead.Slow() }

// Init asks for the first entries, or for those around the one to begin at.
func (p *index) Init() tea.Cmd {
	if p.src == nil || p.from <= p.base {
		return p.ask(0)
	}
	k, from := p.which(), p.from
	return p.win.Start(p.Ctx, func(ctx context.Context) (window, error) {
		_, n, err := p.src.IndexEntries(ctx, p.tp, p.base, k, 0, 1)
		if err != nil {
			return window{}, err
		}
		// The entries' offsets rise: look for the first one beyond.
		at := sort.Search(int(n), func(i int) bool {
			e, _, err := p.src.IndexEntries(ctx, p.tp, p.base, k, int64(i), 1)
			return err != nil || len(e) == 0 || e[0].Offset > from
		})
		w := window{seek: true, at: max(0, int64(at)-1)}
		w.entries, w.total, err = p.src.IndexEntries(ctx, p.tp, p.base, k, max(0, w.at-around), chunk)
		return w, err
	})
}

func (p *index) Close() {
	p.win.Cancel()
	p.lead.Cancel()
	p.hunt.Cancel()
}

func (p *index) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[window]:
		switch {
		case p.win.Owns(msg):
			return p.take(msg.Val, msg.Err)
		case p.hunt.Owns(msg):
			return p.caught(msg.Val, msg.Err)
		}
	case page.Result[target]:
		if p.lead.Owns(msg) {
			p.to, p.toErr = msg.Val, msg.Err
		}
	case model.Change:
		if msg.Touches(p.tp) {
			if p.win.Busy() {
				p.stale = true
				return nil
			}
			return p.refresh()
		}
	}
	return nil
}

// refresh asks again for the entries on screen, and how many there are.
func (p *index) refresh() tea.Cmd {
	p.stale = false
	return p.ask(max(0, p.table.Cursor()-around))
}

// ask asks for a window of entries from number first on.
func (p *index) ask(first int64) tea.Cmd {
	if p.src == nil {
		return nil
	}
	k := p.which()
	return p.win.Start(p.Ctx, func(ctx context.Context) (window, error) {
		e, n, err := p.src.IndexEntries(ctx, p.tp, p.base, k, first, chunk)
		return window{entries: e, total: n}, err
	})
}

func (p *index) take(w window, err error) tea.Cmd {
	p.err = err
	if err != nil {
		return nil
	}
	p.loaded = true
	news := p.store(w)
	if w.seek {
		p.table.SetCursor(w.at)
	}
	if p.stale {
		return p.refresh()
	}
	if !news {
		return p.follow()
	}
	return p.moved()
}

// store keeps the entries of a window; it reports whether some are new.
func (p *index) store(w window) (news bool) {
	if len(p.rows) > keep {
		at := p.table.Cursor()
		for n := range p.rows {
			if n < at-keep/4 || n > at+keep/4 {
				delete(p.rows, n)
			}
		}
	}
	for _, e := range w.entries {
		if _, had := p.rows[e.Number]; !had {
			news = true
		}
		p.rows[e.Number] = e
		if e.Err != nil {
			p.wrong[e.Number] = true
		} else {
			delete(p.wrong, e.Number)
		}
	}
	p.table.SetLen(w.total)
	return news
}

// moved follows the cursor: the entries around it, and where it leads.
func (p *index) moved() tea.Cmd {
	at := p.table.Cursor()
	for d := int64(0); d < around; d++ {
		for _, n := range [...]int64{at + d, at - d} {
			if _, ok := p.rows[n]; !ok && n >= 0 && n < p.table.Len {
				return tea.Batch(p.ask(n-n%chunk), p.follow())
			}
		}
	}
	return p.follow()
}

// follow asks for the batch to which the entry under the cursor leads.
func (p *index) follow() tea.Cmd {
	e, ok := p.at()
	if !ok || p.src == nil || p.to.number == e.Number && p.to.found {
		return nil
	}
	q := model.BatchQuery{TP: p.tp, Base: p.base, Max: 1, Check: true, Seek: model.SeekOffset, AtOffset: e.Offset}
	if e.Position >= 0 {
		q.Seek, q.AtPosition = model.SeekPosition, e.Position
	}
	return p.lead.Start(p.Ctx, func(ctx context.Context) (target, error) {
		got, err := p.src.Batches(ctx, q)
		if err != nil || len(got.Batches) == 0 {
			return target{number: e.Number}, err
		}
		return target{e.Number, true, got.Batches[0]}, nil
	})
}

// at returns the entry under the cursor, if it has come.
func (p *index) at() (model.IndexEntry, bool) {
	e, ok := p.rows[p.table.Cursor()]
	return e, ok
}

// Address is the segment.
func (p *index) Address() model.Address {
	a := model.PartitionAddress(p.tp)
	a.Segment = p.base
	return a
}

// Focus names the topic on screen.
func (p *index) Focus() []string { return []string{p.tp.Topic} }

// Status says which entry of how many.
func (p *index) Status() string {
	if !p.loaded {
		return ""
	}
	s := fmt.Sprintf("entry %s of %s", kit.Number(min(p.table.Cursor()+1, p.table.Len)), kit.Number(p.table.Len))
	if p.err != nil {
		s = kit.Safe(p.err.Error(), 80) + " · " + s
	}
	if p.hunt.Busy() {
		s = "looking for what is wrong · " + s
	}
	return s
}
