package records

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

const (
	tick      = "facts" // ID of the timer that reads the head's figures again
	tickEvery = 500 * time.Millisecond
	headLines = 3 // facts, rule, heads of columns
)

// records is the page. Invariants:
//   - items are the rows of span
//   - follow: the cursor is on the last record or behind it, and that is the end of the log
type records struct {
	page.Env
	tp   model.TopicPartition // Partition is -1 until one was chosen
	look rows.Table
	reader
	decode model.Decoder // nil: the source cannot

	load  page.Slot[read]
	parts page.Loader[[]model.Partition]
	pegs  page.Loader[[]peg]
	topic page.Slot[model.Retention]
	take  page.Slot[model.Record] // a whole record, to be copied
	place page.Slot[model.LookupResult]
	find  find

	table  *rows.Table
	list   kit.VList
	span   span
	items  []item
	marks  []peg
	part   model.Partition // the zero Partition until known
	many   int             // partitions of the topic
	err    error
	pegErr error

	loaded    bool
	follow    bool
	again     bool // something has changed while a request ran
	armed     bool // the timer runs
	stale     bool // an open transaction on screen may have ended
	due       bool // groups have moved
	compacted bool
	wanted    int64 // where to begin
	wantTime  int64 // ms; 0 for none
	copyWhat  string
}

// read is what a request brings, and what it was for.
type read struct {
	span
	how how
	at  int64 // jump: the offset to go to
}

// how says what is to be done with a span.
type how int8

const (
	jump   how = iota // it takes the place of the window
	down              // it goes behind the window
	up                // it goes before the window
	newest            // it takes the place of the window, the cursor follows the end
	anew              // it takes the place of the window, the cursor stays
)

// New makes the page for a partition, or for a topic, of which it chooses the partition with the newest record. With an
// offset or a time the cursor begins there, else at the end.
func New(env page.Env, o page.Open) page.Page {
	p := &records{Env: env, tp: o.Addr.TP(), wanted: model.FromEnd, wantTime: o.Args.Time}
	if o.Addr.Offset >= 0 {
		p.wanted = o.Addr.Offset
	}
	p.decode, _ = env.Src.(model.Decoder)
	p.look = rows.Table{Theme: env.Theme, Clock: env.Clock}
	p.table = &p.look
	p.reader = reader{src: env.Src, tp: p.tp}
	if len(p.tp.Topic) > 1 && p.tp.Topic[:2] == "__" && p.decode != nil {
		p.look.Decode, p.whole = p.decode.Decode, true
	}
	p.list.Theme = env.Theme
	p.list.KeyOf = p.key
	p.find.last, p.find.resume = env.Remembered("pattern"), model.Unknown
	return p
}

func (p *records) Title() string { return "records" }

// Address is the partition.
func (p *records) Address() model.Address { return model.PartitionAddress(p.tp) }

// Focus names the topic on screen.
func (p *records) Focus() []string { return []string{p.tp.Topic} }

func (p *records) Busy() bool {
	return p.load.Slow() || p.take.Slow() || p.place.Slow() || p.tp.Partition < 0 && p.parts.Slow()
}

func (p *records) Close() {
	p.load.Cancel()
	p.parts.Cancel()
	p.pegs.Cancel()
	p.topic.Cancel()
	p.take.Cancel()
	p.place.Cancel()
	p.find.stream.Cancel()
}

func (p *records) Init() tea.Cmd {
	cmds := []tea.Cmd{p.readParts(), p.readTopic()}
	if p.tp.Partition >= 0 {
		cmds = append(cmds, p.begin(), p.readPegs())
	}
	return tea.Batch(cmds...)
}

// begin goes to where the page was asked to begin.
func (p *records) begin() tea.Cmd {
	if p.wantTime > 0 {
		ms := p.wantTime
		p.wantTime = 0
		if cmd := p.toTime(ms); cmd != nil {
			return cmd
		}
	}
	if p.wanted == model.FromEnd {
		return p.fetch(newest, model.FromEnd)
	}
	return p.fetch(jump, p.wanted)
}

func (p *records) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[read]:
		if p.load.Owns(msg) {
			return p.took(msg.Val, msg.Err)
		}
	case page.Result[[]model.Partition]:
		if mine, again := p.parts.Took(p.Ctx, msg); mine {
			return tea.Batch(again, p.tookParts(msg.Val, msg.Err))
		}
	case page.Result[[]peg]:
		if mine, again := p.pegs.Took(p.Ctx, msg); mine {
			p.tookPegs(msg.Val, msg.Err)
			return again
		}
	case page.Result[model.Retention]:
		if p.topic.Owns(msg) && msg.Err == nil {
			p.compacted = msg.Val.Known && msg.Val.Compact
			p.table.Tombstones = p.compacted
		}
	case page.Result[model.LookupResult]:
		if p.place.Owns(msg) {
			return p.placed(msg.Val, msg.Err)
		}
	case page.Result[model.Record]:
		if p.take.Owns(msg) {
			return p.copied(msg.Val, msg.Err)
		}
	case page.Items[model.SearchEvent]:
		return p.found(msg)
	default:
		return p.told(msg)
	}
	return nil
}

// told takes what comes unasked.
func (p *records) told(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case model.Change:
		return p.changed(msg)
	case page.Tick:
		if msg.ID == tick {
			return p.ticked()
		}
	case page.Answered:
		return p.answered(msg)
	case page.Changed:
		p.table.Forget()
		p.measure()
	}
	return nil
}

// moved follows the cursor after it was moved by hand.
func (p *records) moved() tea.Cmd {
	p.follow = p.span.atEnd && p.list.Len > 0 && p.list.Cursor() >= p.lastRecord()
	return p.more()
}

// goTo puts the cursor on the first row at or after an offset that lies in the window.
func (p *records) goTo(offset int64) {
	at := int64(len(p.items)) - 1
	if offset < 0 {
		at = 0
	}
	for i := range p.items {
		if offset < 0 {
			break
		}
		if it := &p.items[i]; it.kind == aRecord && p.span.recs[it.rec].Offset >= offset {
			at = int64(i)
			break
		}
	}
	p.list.SetCursor(at)
	p.follow = false
}

// to goes to an offset, in the window or not.
func (p *records) to(offset int64) tea.Cmd {
	if p.loaded && p.span.holds(offset) {
		p.goTo(offset)
		return p.more()
	}
	return p.fetch(jump, offset)
}

// at returns the record under the cursor.
func (p *records) at() *model.Record {
	if it := p.row(); it != nil && it.kind == aRecord {
		return &p.span.recs[it.rec]
	}
	return nil
}

// row returns the row under the cursor; nil when there is none.
func (p *records) row() *item {
	if i := p.list.Cursor(); i < int64(len(p.items)) {
		return &p.items[i]
	}
	return nil
}
