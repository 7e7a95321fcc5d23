package batches

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	chunk   = 32                // batches a request
	around  = 64                // rows kept ready on both sides of the cursor
	keep    = 4096              // rows kept in memory
	lastOne = int64(1)<<40 - 1  // a number behind every batch
	askFind = "offset or time?" // ID of the question
)

// reader is what the page needs of a source.
type reader interface {
	Segments(ctx context.Context, tp model.TopicPartition) ([]model.Segment, error)
	Batches(ctx context.Context, q model.BatchQuery) (model.BatchPage, error)
	BatchBytes(ctx context.Context, tp model.TopicPartition, base, pos int64) ([]byte, []model.Field, error)
	Lookup(ctx context.Context, tp model.TopicPartition, t model.Target) (model.LookupResult, error)
}

// window is a page of batches and the segment it is of.
type window struct {
	base int64
	page model.BatchPage
	seek bool // the cursor goes to its first batch
}

// inside is one batch in bytes.
type inside struct {
	pos    int64
	raw    []byte
	fields []model.Field
}

// batches is the page. Invariants:
//   - the table's Len is how many batches are known of
//   - rows holds some of them by number, those around the cursor first of all
type batches struct {
	cells
	tp   model.TopicPartition
	base int64 // Unknown until it is found
	from page.Open
	src  reader

	win    page.Slot[window]
	probe  page.Loader[model.BatchPage]
	bytes  page.Slot[inside]
	hunt   page.Stream[hunted]
	hunted hunted // how far the hunt is
	jump   page.Slot[jumped]
	table  kit.Table
	rows   map[int64]model.Batch
	faults []model.Fault
	bad    map[int64]bool // numbers of damaged batches seen
	whole  bool
	loaded bool
	err    error

	inField bool // the keys move in the fields
	fields  kit.Table
	hex     kit.Hex
	shown   inside
	asked   int64 // position of the batch whose bytes were asked for last
	byteErr error
	listH   int       // lines of the list, as of the last View
	calm    kit.Theme // the theme without a cursor
}

// New makes the page for a segment, or for the one that holds o.Addr.Offset; without either for the newest. A source that
// shows no files, and tells of batches all the same, has the page of those.
func New(env page.Env, o page.Open) page.Page {
	src, files := env.Src.(reader)
	if told, ok := env.Src.(model.BatchLister); ok && !files {
		return newFetched(env, o, told)
	}
	p := &batches{cells: cells{env}, tp: o.Addr.TP(), base: o.Addr.Segment, from: o, src: src, rows: map[int64]model.Batch{}, bad: map[int64]bool{}}
	p.shown.pos = model.Unknown
	p.table.Theme, p.fields.Theme, p.hex.Theme = env.Theme, env.Theme, env.Theme
	p.table.Columns = append([]kit.Column{{Name: "POS", Right: true, Min: 9}}, columns()...)
	p.fields.NoHead = true
	p.fields.Columns = []kit.Column{{Name: "field", Grow: true, Min: 14, Max: 30}, {Name: "value", Right: true, Min: 8, Max: 26}, {Name: "note", Min: 24, Max: 36, Drop: 1}}
	return p
}

func (p *batches) Title() string { return "batches" }
func (p *batches) Busy() bool {
	return p.win.Slow() || p.bytes.Slow() || p.hunt.Busy() && p.hunted.looked > 0 || p.jump.Slow()
}

func (p *batches) Close() {
	p.win.Cancel()
	p.probe.Cancel()
	p.bytes.Cancel()
	p.hunt.Cancel()
	p.jump.Cancel()
}

// Init finds the segment and the batch to begin with.
func (p *batches) Init() tea.Cmd {
	if p.src == nil {
		return nil
	}
	a, base := p.from.Addr, p.base
	return p.win.Start(p.Ctx, func(ctx context.Context) (window, error) {
		base, err := p.segment(ctx, base, a.Offset)
		if err != nil {
			return window{base: base}, err
		}
		q := model.BatchQuery{TP: p.tp, Base: base, Max: chunk, Check: true}
		switch {
		case a.Position > 0:
			q.Seek, q.AtPosition = model.SeekPosition, a.Position
		case a.Offset > 0:
			q.Seek, q.AtOffset = model.SeekOffset, a.Offset
		}
		got, err := p.src.Batches(ctx, q)
		return window{base, got, q.Seek != model.SeekNumber}, err
	})
}

// segment returns base, or when that is not known the segment that holds an offset, or the newest.
func (p *batches) segment(ctx context.Context, base, offset int64) (int64, error) {
	if base >= 0 {
		return base, nil
	}
	segs, err := p.src.Segments(ctx, p.tp)
	if err != nil {
		return base, err
	}
	for i := range segs {
		s := &segs[i]
		if s.State != model.SegmentActive && s.State != model.SegmentSealed {
			continue
		}
		if offset < 0 || s.Base <= offset {
			base = s.Base
		}
	}
	if base < 0 {
		return base, fmt.Errorf("%w: none of %s holds offset %d", model.ErrNoSegment, p.tp, offset)
	}
	return base, nil
}

func (p *batches) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[window]:
		if p.win.Owns(msg) {
			return p.take(msg.Val, msg.Err)
		}
	case page.Result[model.BatchPage]:
		if mine, again := p.probe.Took(p.Ctx, msg); mine {
			return tea.Batch(again, p.probed(msg.Val, msg.Err))
		}
	case page.Result[inside]:
		if p.bytes.Owns(msg) {
			p.takeBytes(msg.Val, msg.Err)
		}
	case page.Items[hunted]:
		if p.hunt.Owns(msg) {
			return p.follow(msg)
		}
	case page.Result[jumped]:
		if p.jump.Owns(msg) {
			return p.jumpedTo(msg.Val, msg.Err)
		}
	case page.Answered:
		return p.answered(msg)
	case model.Change:
		if msg.Touches(p.tp) && p.loaded && p.whole {
			return p.look()
		}
	}
	return nil
}

// Address is the segment, with the batch under the cursor once it is known.
func (p *batches) Address() model.Address {
	a := model.PartitionAddress(p.tp)
	a.Segment = p.base
	if b, ok := p.at(); ok {
		a.Position = b.Position
	}
	return a
}

// Focus names the topic on screen.
func (p *batches) Focus() []string { return []string{p.tp.Topic} }

// Status says which batch of how many.
func (p *batches) Status() string {
	if !p.loaded || p.table.Len == 0 {
		return ""
	}
	s := "batch " + kit.Number(p.table.Cursor()+1) + " of " + kit.Number(p.table.Len)
	if !p.whole {
		s += "+"
	}
	if n := len(p.bad); n > 0 {
		s += " · " + kit.Number(int64(n)) + " damaged"
		if !p.whole || int64(len(p.rows)) < p.table.Len {
			s += " so far"
		}
	}
	if p.hunt.Busy() {
		s = "looked at " + kit.Number(p.hunted.looked) + " for damage (c stops) · " + s
	}
	return page.WithFault(s, p.err)
}

// at returns the batch under the cursor, if it has come.
func (p *batches) at() (model.Batch, bool) {
	b, ok := p.rows[p.table.Cursor()]
	return b, ok
}

// damaged reports whether something is wrong with a batch.
func damaged(b *model.Batch) bool { return !b.Valid || b.Torn || b.Err != nil }
