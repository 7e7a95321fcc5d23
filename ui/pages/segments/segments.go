package segments

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	tick    = "second" // ID of the page's one timer
	askFind = "find"   // ID of the question for an offset or a time
)

// reader is what the page needs of a source beyond model.Source.
type reader interface {
	Segments(ctx context.Context, tp model.TopicPartition) ([]model.Segment, error)
	Lookup(ctx context.Context, tp model.TopicPartition, t model.Target) (model.LookupResult, error)
}

// segments is the page. Invariants:
//   - segs holds the layers from the newest down, live of them, then the leftovers
//   - 0 <= cursor < len(segs), or cursor == 0
type segments struct {
	page.Env
	tp    model.TopicPartition
	src   reader // nil: the source shows no files
	load  page.Loader[[]model.Segment]
	parts page.Loader[[]model.Partition]
	read  page.Loader[[]peg]
	look  page.Slot[model.LookupResult]
	count page.Slot[struct{}]

	segs   []model.Segment
	live   int
	part   model.Partition // the zero Partition until known
	many   int             // partitions of the topic
	skew   float64         // 0 where there is nothing to compare
	pegs   []peg
	loaded bool
	err    error
	pegErr error
	due    bool  // groups may have moved since they were read
	sought int64 // offset to begin at; Unknown for none

	cursor int
	core   core
	grid   grid
	heads  int // lines above the core, as of the last View
}

// New makes the page for a partition. With an offset or a segment the cursor begins there.
func New(env page.Env, o page.Open) page.Page {
	p := &segments{Env: env, tp: o.Addr.TP(), sought: model.Unknown}
	p.src, _ = env.Src.(reader)
	if o.Addr.Offset > 0 {
		p.sought = o.Addr.Offset
	}
	if o.Addr.Segment > 0 {
		p.sought = o.Addr.Segment
	}
	p.grid = newGrid()
	return p
}

func (p *segments) Title() string { return "segments" }
func (p *segments) Busy() bool    { return p.load.Slow() || p.look.Slow() || p.count.Slow() }

func (p *segments) Close() {
	p.load.Cancel()
	p.parts.Cancel()
	p.read.Cancel()
	p.look.Cancel()
	p.count.Cancel()
}

func (p *segments) Init() tea.Cmd {
	return tea.Batch(p.reload(), p.readGroups(), p.arm())
}

func (p *segments) arm() tea.Cmd { return page.Send(page.TickIn{After: time.Second, ID: tick}) }

// reload asks for the segments and the offsets of the partition.
func (p *segments) reload() tea.Cmd {
	if p.src == nil {
		return nil
	}
	return tea.Batch(
		p.load.Load(p.Ctx, func(ctx context.Context) ([]model.Segment, error) { return p.src.Segments(ctx, p.tp) }),
		p.parts.Load(p.Ctx, func(ctx context.Context) ([]model.Partition, error) { return p.Src.Partitions(ctx, p.tp.Topic) }),
	)
}

func (p *segments) readGroups() tea.Cmd {
	p.due = false
	return p.read.Load(p.Ctx, func(ctx context.Context) ([]peg, error) {
		groups, err := p.Src.Groups(ctx)
		return pegsOf(groups, p.tp), err
	})
}

func (p *segments) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[[]model.Segment]:
		if mine, again := p.load.Took(p.Ctx, msg); mine {
			p.take(msg.Val, msg.Err)
			return again
		}
	case page.Result[[]model.Partition]:
		if mine, again := p.parts.Took(p.Ctx, msg); mine {
			p.takeParts(msg.Val, msg.Err)
			return again
		}
	case page.Result[[]peg]:
		if mine, again := p.read.Took(p.Ctx, msg); mine {
			p.takePegs(msg.Val, msg.Err)
			return again
		}
	case page.Result[model.LookupResult]:
		if p.look.Owns(msg) {
			return p.found(msg.Val, msg.Err)
		}
	case page.Result[struct{}]:
		if p.count.Owns(msg) {
			return p.counted(msg.Err)
		}
	case page.Answered:
		return p.answered(msg)
	case model.Change:
		p.due = p.due || msg.Groups || msg.All || msg.Touches(p.tp)
		if msg.Touches(p.tp) {
			return p.reload()
		}
	case page.Tick:
		return p.second()
	}
	return nil
}

// second goes on with the page's one timer, and reads the groups again when these may have moved.
func (p *segments) second() tea.Cmd {
	if p.due && !p.read.Busy() {
		return tea.Batch(p.readGroups(), p.arm())
	}
	return p.arm()
}

// Address is the partition.
func (p *segments) Address() model.Address { return model.PartitionAddress(p.tp) }

// Focus names the topic on screen.
func (p *segments) Focus() []string { return []string{p.tp.Topic} }

// Status says where the cursor is.
func (p *segments) Status() string {
	if !p.loaded {
		return ""
	}
	s := kit.Number(int64(p.live)) + " segments"
	if p.live == 1 {
		s = "1 segment"
	}
	if p.live > 1 && p.cursor < p.live {
		s = kit.Number(int64(p.cursor+1)) + " of " + s
	}
	switch {
	case p.err != nil:
		s = kit.Safe(p.err.Error(), 80) + " · " + s
	case p.pegErr != nil:
		s = "groups: " + kit.Safe(p.pegErr.Error(), 80) + " · " + s
	}
	return s
}

// at returns the segment under the cursor; nil when there is none.
func (p *segments) at() *model.Segment {
	if p.cursor < len(p.segs) {
		return &p.segs[p.cursor]
	}
	return nil
}

// layerOf returns the layer that holds an offset: the newest one that begins at or below it.
func (p *segments) layerOf(offset int64) int {
	lo, hi := 0, p.live
	for lo < hi {
		mid := (lo + hi) / 2
		if p.segs[mid].Base <= offset {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return max(0, min(lo, p.live-1))
}
