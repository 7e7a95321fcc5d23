package tail

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

const (
	// keep is how many records the source keeps, and the most that a pause copies.
	keep = 10_000
	// backlog is how many records from before are shown first; with a filter, among how many of them it looks.
	backlog       = 200
	backlogFilter = 2000
	// onScreen is how many of the newest are looked at while following: more than any screen has lines.
	onScreen = 300
	// stepRows is how many are added when a paused list is read on downwards.
	stepRows = 500
	// frameEvery is how often the page looks for more.
	frameEvery = 50 * time.Millisecond
	filterWait = 150 * time.Millisecond
	maxGaps    = 200
	headLines  = 4

	tickMore   = "more"
	tickSecond = "second"
	tickFilter = "filter"
)

// row is a line: a record, or a gap before it.
type row struct {
	seq int64
	rec model.Record
	gap int64 // records that were not shown; 0 for a record
	why string
}

// gap is where the source passed over records.
type gap struct{ seq, n int64 }

// tail is the page. Invariants:
//   - lines are what is on screen: while following the newest, while paused a copy that only grows
//   - paused: nothing that arrives moves a line
type tail struct {
	page.Env
	src    model.Tailer // nil: the source cannot
	topics []string
	parts  []model.TopicPartition
	all    bool // the topics are all there are

	names page.Slot[[]string]
	open  page.Slot[model.Tail]
	wait  page.Slot[struct{}]
	run   model.Tail // nil until opened

	table     rows.Table
	list      kit.VList
	lines     []row
	gaps      []gap
	stats     model.TailStats
	paused    bool
	pausedAt  int64 // Matched when it was paused
	meter     meter
	filter    page.Filter
	asked     string // the filter of the running tail
	waiting   bool   // a timer for the filter runs
	committed bool
	opened    bool
	err       error
}

// New makes the page for a topic, a partition, Args.Topics or Args.Partitions; without any for all topics.
func New(env page.Env, o page.Open) page.Page {
	p := &tail{Env: env, topics: o.Args.Topics, parts: o.Args.Partitions}
	p.src, _ = env.Src.(model.Tailer)
	switch {
	case o.Addr.Topic != "" && o.Addr.Partition >= 0:
		p.parts = append(p.parts, o.Addr.TP())
	case o.Addr.Topic != "":
		p.topics = append(p.topics, o.Addr.Topic)
	}
	p.all = len(p.topics)+len(p.parts) == 0
	p.filter = page.ParseFilter(o.Args.Pattern)
	p.table = rows.Table{Theme: env.Theme, Clock: env.Clock, NoSize: true}
	p.list.Theme = env.Theme
	p.list.KeyOf = func(i int64) string { return p.lines[i].key() }
	p.shape()
	return p
}

func (r *row) key() string {
	if r.gap > 0 {
		return "g" + strconv.FormatInt(r.seq, 10)
	}
	return strconv.FormatInt(r.seq, 10)
}

// shape decides the columns by what is followed.
func (p *tail) shape() {
	p.table.Where = len(p.parts) != 1 || len(p.topics) > 0
	names := map[string]bool{}
	internal := true
	for _, t := range p.topics {
		names[t] = true
	}
	for _, tp := range p.parts {
		names[tp.Topic] = true
	}
	for t := range names {
		internal = internal && strings.HasPrefix(t, "__")
	}
	p.table.Topics = len(names) > 1
	if d, ok := p.Src.(model.Decoder); ok && internal && len(names) > 0 {
		p.table.Decode = d.Decode
	}
}

func (p *tail) Title() string { return "tail" }
func (p *tail) Busy() bool    { return p.open.Slow() || p.names.Slow() }

// Address is the topic or the partition that is followed, if it is one.
func (p *tail) Address() model.Address {
	switch {
	case p.all:
	case len(p.topics) == 1 && len(p.parts) == 0:
		return model.TopicAddress(p.topics[0])
	case len(p.topics) == 0 && len(p.parts) == 1:
		return model.PartitionAddress(p.parts[0])
	}
	return model.TopicAddress("")
}

// Focus names the topics that are followed.
func (p *tail) Focus() []string {
	out := append([]string(nil), p.topics...)
	for _, tp := range p.parts {
		out = append(out, tp.Topic)
	}
	return out
}

func (p *tail) Close() {
	p.names.Cancel()
	p.open.Cancel()
	p.stop()
}

// stop ends the running tail.
func (p *tail) stop() {
	p.wait.Cancel()
	if p.run != nil {
		_ = p.run.Close() // what it could not read was said while it ran
		p.run = nil
	}
}

func (p *tail) Init() tea.Cmd {
	if p.src == nil {
		return nil
	}
	return tea.Batch(p.start(), page.Send(page.TickIn{After: time.Second, ID: tickSecond}))
}

// start asks for the topics where none were named, and opens the tail.
func (p *tail) start() tea.Cmd {
	if !p.all || len(p.topics) > 0 {
		return p.reopen()
	}
	internal := p.Settings.Internal
	return p.names.Start(p.Ctx, func(ctx context.Context) ([]string, error) {
		topics, err := p.Src.Topics(ctx)
		var names []string
		for i := range topics {
			if !topics[i].Internal || internal {
				names = append(names, topics[i].Name)
			}
		}
		return names, err
	})
}

// reopen begins a tail with the filter as it is now.
func (p *tail) reopen() tea.Cmd {
	p.asked = p.filter.Text()
	q := model.TailQuery{Topics: p.topics, Partitions: p.parts, Backlog: backlog, Keep: keep, Committed: p.committed}
	if !p.filter.All() {
		q.Backlog = backlogFilter
		q.Pattern, q.Fold = p.asked, true
		if expr, ok := strings.CutPrefix(p.asked, "/"); ok {
			q.Pattern, q.Regexp, q.Fold = strings.TrimSuffix(expr, "/"), true, false
		}
	}
	src, life := p.src, p.Ctx
	return p.open.Start(p.Ctx, func(ctx context.Context) (model.Tail, error) {
		t, err := src.Tail(ctx, q)
		if err != nil {
			return nil, err
		}
		// The page may be gone before the answer reaches it.
		return owned{t, context.AfterFunc(life, func() { _ = t.Close() })}, nil
	})
}

// owned is a tail that ends with its page. After Close the page holds on to it no more, nor to the records that it keeps.
type owned struct {
	model.Tail
	forget func() bool
}

func (o owned) Close() error {
	o.forget()
	return o.Tail.Close()
}

func (p *tail) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[model.Tail]:
		return p.started(msg)
	case page.Result[struct{}]:
		if p.wait.Owns(msg) {
			return p.more(msg.Err)
		}
	case page.Result[[]string]:
		if p.names.Owns(msg) {
			return p.named(msg.Val, msg.Err)
		}
	case page.Tick:
		return p.ticked(msg.ID)
	case page.Changed:
		p.table.Forget()
		p.look()
		p.measure()
	}
	return nil
}

// measure widens the columns to the lines on screen.
func (p *tail) measure() {
	from, to := p.list.Window()
	recs := make([]model.Record, 0, to-from)
	for i := from; i < min(to, int64(len(p.lines))); i++ {
		if p.lines[i].gap == 0 {
			recs = append(recs, p.lines[i].rec)
		}
	}
	p.table.Measure(recs)
}

func (p *tail) named(names []string, err error) tea.Cmd {
	switch {
	case err != nil:
		p.err = err
		return nil
	case len(names) == 0:
		p.opened = true
		return nil
	}
	p.topics = names
	p.shape()
	return p.reopen()
}

// started takes a tail that was opened.
func (p *tail) started(msg page.Result[model.Tail]) tea.Cmd {
	if !p.open.Owns(msg) {
		if msg.Val != nil {
			_ = msg.Val.Close() // an older one, which nobody looks at
		}
		return nil
	}
	if msg.Err != nil {
		if !errors.Is(msg.Err, context.Canceled) {
			p.err = msg.Err
		}
		return nil
	}
	p.stop()
	p.run, p.opened, p.err = msg.Val, true, nil
	p.paused, p.gaps, p.lines, p.stats = false, nil, nil, model.TailStats{}
	p.meter.known = false
	p.look()
	return p.await()
}

// await waits for more, off the UI goroutine.
func (p *tail) await() tea.Cmd {
	if p.run == nil {
		return nil
	}
	run, matched := p.run, p.stats.Matched
	return page.Send(page.Later{Cmd: p.wait.Start(p.Ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, run.Wait(ctx, matched)
	})})
}

// more takes what has come, and waits for a frame before it asks again.
func (p *tail) more(err error) tea.Cmd {
	switch {
	case errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		p.err = err
		return nil
	}
	p.look()
	return page.Send(page.TickIn{After: frameEvery, ID: tickMore})
}

func (p *tail) ticked(id string) tea.Cmd {
	switch id {
	case tickMore:
		if !p.wait.Busy() {
			return p.await()
		}
	case tickSecond:
		p.meter.roll(p.Now())
		return page.Send(page.TickIn{After: time.Second, ID: tickSecond})
	case tickFilter:
		p.waiting = false
		if p.filter.Text() != p.asked && p.filter.Err() == nil {
			return p.reopen()
		}
	}
	return nil
}

// look takes the counters, and while following the newest records.
func (p *tail) look() {
	if p.run == nil {
		return
	}
	was := p.stats
	p.stats = p.run.Stats()
	if n := p.stats.Dropped - was.Dropped; n > 0 {
		p.gaps = append(p.gaps, gap{was.Matched, n})
		p.gaps = p.gaps[max(0, len(p.gaps)-maxGaps):]
	}
	p.meter.add(p.Now(), p.stats.Seen+p.stats.Dropped)
	if p.paused {
		return
	}
	recs, first := p.run.Window(-1, onScreen)
	p.lines = p.weave(p.lines[:0], recs, first)
	p.table.Measure(recs)
	p.list.SetLen(int64(len(p.lines)))
	p.list.End()
}

// weave appends records to lines, with the gaps before them.
func (p *tail) weave(lines []row, recs []model.Record, first int64) []row {
	g := 0
	for g < len(p.gaps) && p.gaps[g].seq < first {
		g++
	}
	for i := range recs {
		seq := first + int64(i)
		for g < len(p.gaps) && p.gaps[g].seq <= seq {
			lines = append(lines, row{seq: seq, gap: p.gaps[g].n, why: "not shown: they came faster than they could be read"})
			g++
		}
		lines = append(lines, row{seq: seq, rec: recs[i]})
	}
	return lines
}

// pause keeps what is on screen, and puts before it what the source keeps of older records. What has come since the last
// look is new.
func (p *tail) pause() {
	if p.paused || p.run == nil {
		return
	}
	p.paused, p.pausedAt = true, p.stats.Matched
	if len(p.lines) == 0 {
		return
	}
	recs, first := p.run.Window(p.lines[0].seq, keep)
	lines := p.weave(make([]row, 0, len(recs)+len(p.gaps)+len(p.lines)), recs, first)
	older := int64(len(lines))
	at := p.list.Cursor()
	p.lines = append(lines, p.lines...)
	// Go there by counting: to look for the line's name would take as long as all else.
	p.list.Len = int64(len(p.lines))
	p.list.Scroll(older)
	p.list.SetCursor(at + older)
}

// resume follows the newest again.
func (p *tail) resume() {
	p.paused, p.lines = false, nil // lets go of what was held
	p.look()
}

// extend adds to a paused list what has come since, a step of it.
func (p *tail) extend() {
	if !p.paused || p.run == nil || p.pausedAt >= p.stats.Matched {
		return
	}
	end := min(p.stats.Matched, p.pausedAt+stepRows)
	recs, first := p.run.Window(end, int(end-p.pausedAt))
	if len(recs) == 0 { // all of these have gone
		recs, first = p.run.Window(p.run.Stats().First+stepRows, stepRows)
	}
	if lost := first - p.pausedAt; lost > 0 && len(recs) > 0 {
		p.lines = append(p.lines, row{seq: first, gap: lost, why: "came meanwhile and are not kept any more"})
	}
	p.lines = p.weave(p.lines, recs, first)
	if over := len(p.lines) - 2*keep; over > 0 {
		p.lines = append([]row(nil), p.lines[over:]...)
	}
	p.pausedAt = first + int64(len(recs))
	p.table.Measure(recs)
	p.list.SetLen(int64(len(p.lines)))
}

// arrived returns how many records have come since the pause.
func (p *tail) arrived() int64 { return max(0, p.stats.Matched-p.pausedAt) }

// at returns the record under the cursor.
func (p *tail) at() *model.Record {
	if i := p.list.Cursor(); i < int64(len(p.lines)) && p.lines[i].gap == 0 {
		return &p.lines[i].rec
	}
	return nil
}

// Filter implements page.Filterer.
func (p *tail) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer. The tail begins anew when typing has rested.
func (p *tail) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.table.Find = p.filter
	if p.waiting || p.src == nil {
		return nil
	}
	p.waiting = true
	return page.Send(page.TickIn{After: filterWait, ID: tickFilter})
}
