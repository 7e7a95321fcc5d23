package search

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

const (
	// perRun is how many hits one run finds; then it asks.
	perRun = 1000
	// maxHits is how many are kept in all.
	maxHits    = 20_000
	valueLimit = 1400 // bytes of a hit's key and value that are kept
	farIn      = 90   // bytes; a hit further in is shown from before on
	before     = 30
	headLines  = 4

	askPattern = "pattern"
	askSince   = "since"
)

// field is where a search looks.
type field int8

const (
	everywhere field = iota
	inKeys
	inValues
	inHeaders
)

func (f field) String() string { return [...]string{"everywhere", "keys", "values", "headers"}[f] }

// search is the page. Invariants:
//   - hits are in the order in which they were found
//   - rest are the partitions still to be looked at, restFrom where in each
type search struct {
	page.Env
	src    model.Searcher // nil: the source cannot
	addr   model.Address
	topics []string
	parts  []model.TopicPartition

	list   page.Slot[[]model.TopicPartition]
	stream page.Stream[model.SearchEvent]

	pattern   rows.Pattern
	last      string
	in        field
	backward  bool
	committed bool
	since     int64 // ms; 0 for none

	all      []model.TopicPartition
	rest     []model.TopicPartition
	restFrom []int64

	hits  []model.Record
	table rows.Table
	cur   kit.VList
	event model.SearchEvent
	began time.Time
	took  time.Duration
	read  int64  // records of the runs before this one
	end   string // in words; "" while it runs or before it has
	level page.Level
	more  bool // there is something left to go on with
	ran   bool
	err   error
}

// New makes the page for a partition, a topic, Args.Topics, Args.Partitions, or without any for all topics. With
// Args.Pattern it begins at once, else it asks.
func New(env page.Env, o page.Open) page.Page {
	p := &search{Env: env, addr: o.Addr, topics: o.Args.Topics, parts: o.Args.Partitions}
	p.src, _ = env.Src.(model.Searcher)
	switch {
	case o.Addr.Topic != "" && o.Addr.Partition >= 0:
		p.parts = append(p.parts, o.Addr.TP())
	case o.Addr.Topic != "" && !slices.Contains(p.topics, o.Addr.Topic):
		p.topics = append(p.topics, o.Addr.Topic)
	}
	p.last = env.Remembered("pattern")
	if o.Args.Pattern != "" {
		p.last = o.Args.Pattern
		if pat, err := rows.ParsePattern(p.last); err == nil {
			p.pattern = pat
		}
	}
	p.since = o.Args.Time
	p.table = rows.Table{Theme: env.Theme, Clock: env.Clock, Where: true, Topics: len(p.topics) != 1 || len(p.parts) > 0, NoSize: true}
	p.cur.Theme = env.Theme
	p.cur.KeyOf = func(i int64) string {
		return p.hits[i].TopicPartition.String() + "@" + strconv.FormatInt(p.hits[i].Offset, 10)
	}
	return p
}

func (p *search) Title() string          { return "search" }
func (p *search) Address() model.Address { return p.addr }
func (p *search) Busy() bool             { return p.list.Slow() || p.slow() }

// slow reports whether a search runs for longer than the eye takes for at once.
func (p *search) slow() bool {
	return p.stream.Busy() && p.Now().Sub(p.began) > 150*time.Millisecond
}

// Focus names the topics that are searched.
func (p *search) Focus() []string { return p.topics }

func (p *search) Close() {
	p.list.Cancel()
	p.stream.Cancel()
}

func (p *search) Init() tea.Cmd {
	switch {
	case p.src == nil:
		return nil
	case p.pattern.Text == "":
		return p.ask("", "")
	}
	return p.start()
}

// ask asks for a pattern; text is one that cannot be read, and why says so.
func (p *search) ask(text, why string) tea.Cmd {
	a := page.Ask{ID: askPattern, Prompt: "find in " + kit.Safe(p.scope(), 60), Initial: text, Hint: rows.PatternHint, Err: why}
	if p.last != "" {
		a.Choices = []string{p.last}
	}
	return page.Send(a)
}

// start begins from the first partition on.
func (p *search) start() tea.Cmd {
	p.hits, p.read, p.took, p.err = nil, 0, 0, nil
	p.event, p.end, p.more, p.ran = model.SearchEvent{}, "", false, true
	p.cur.SetLen(0)
	p.table.Find = page.ParseFilter(p.pattern.Text)
	p.stream.Cancel()
	src, topics, parts, internal := p.Src, p.topics, p.parts, p.Settings.Internal
	return p.list.Start(p.Ctx, func(ctx context.Context) ([]model.TopicPartition, error) {
		return partitions(ctx, src, topics, parts, internal)
	})
}

// partitions lists what is to be searched, by topic and number.
func partitions(ctx context.Context, src model.Source, topics []string, parts []model.TopicPartition, internal bool) ([]model.TopicPartition, error) {
	out := slices.Clone(parts)
	if len(topics)+len(parts) == 0 {
		list, err := src.Topics(ctx)
		if err != nil {
			return nil, err
		}
		for i := range list {
			if !list[i].Internal || internal {
				topics = append(topics, list[i].Name)
			}
		}
	}
	for _, t := range topics {
		rows, err := src.Partitions(ctx, t)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if rows[i].State == model.Live {
				out = append(out, rows[i].TopicPartition)
			}
		}
	}
	slices.SortFunc(out, model.TopicPartition.Compare)
	return slices.Compact(out), nil
}

func (p *search) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[[]model.TopicPartition]:
		if p.list.Owns(msg) {
			return p.listed(msg.Val, msg.Err)
		}
	case page.Items[model.SearchEvent]:
		if p.stream.Owns(msg) {
			return p.found(msg)
		}
	case page.Answered:
		return p.answered(msg)
	case page.Changed:
		p.table.Forget()
		p.table.Measure(p.hits)
	}
	return nil
}

func (p *search) listed(parts []model.TopicPartition, err error) tea.Cmd {
	if err != nil {
		p.err = err
		return nil
	}
	p.all, p.rest = parts, parts
	p.restFrom = make([]int64, len(parts))
	for i := range p.restFrom {
		p.restFrom[i] = model.FromStart
		if p.backward {
			p.restFrom[i] = model.FromEnd
		}
	}
	if len(parts) == 0 {
		p.end, p.level = "there is no partition to search", page.Warn
		return nil
	}
	return p.run()
}

// run searches what is left.
func (p *search) run() tea.Cmd {
	q := model.SearchQuery{
		Partitions: p.rest, From: p.restFrom, Pattern: p.pattern.Expr, Regexp: p.pattern.Regexp, Fold: p.pattern.Fold,
		Keys: p.in == inKeys, Values: p.in == inValues, Headers: p.in == inHeaders,
		Backward: p.backward, Committed: p.committed, MaxHits: perRun, Since: p.since,
	}
	p.began, p.end, p.more = p.Now(), "", false
	src, find := p.src, page.ParseFilter(p.pattern.Text)
	return p.stream.Start(p.Ctx, func(ctx context.Context, emit func(model.SearchEvent) bool) error {
		return rows.Search(ctx, src, q, func(e model.SearchEvent) bool {
			if e.Hit != nil {
				e.Hit = cut(e.Hit, find)
			}
			return emit(e)
		})
	})
}

// cut copies of a hit what is shown, so that the rest of its bytes can go: the beginning of the value, or what is around
// the place that was found when that is far in.
func cut(r *model.Record, find page.Filter) *model.Record {
	c := *r
	short := func(b []byte) []byte {
		if len(b) <= valueLimit {
			return b
		}
		return slices.Clone(b[:valueLimit])
	}
	c.Key, c.Value = short(r.Key), short(r.Value)
	if at := find.Index(r.Value); at > farIn {
		at -= before
		for n := 0; n < utf8.UTFMax && !utf8.RuneStart(r.Value[at]); n++ {
			at--
		}
		c.Value = append([]byte("…"), r.Value[at:min(len(r.Value), at+valueLimit)]...)
	}
	c.Headers = make([]model.Header, len(r.Headers))
	for i, h := range r.Headers {
		c.Headers[i] = model.Header{Name: h.Name, Value: short(h.Value)}
	}
	return &c
}

// found takes hits and progress.
func (p *search) found(msg page.Items[model.SearchEvent]) tea.Cmd {
	had := len(p.hits)
	for _, e := range msg.Vals {
		p.event = e
		p.reached(e)
		if e.Hit != nil {
			p.hits = append(p.hits, *e.Hit)
		}
	}
	if len(p.hits) > had {
		p.table.Measure(p.hits[had:])
		p.cur.SetLen(int64(len(p.hits)))
	}
	if !msg.Done {
		return p.stream.Next()
	}
	p.took += p.Now().Sub(p.began)
	p.read += p.event.Records
	p.finish(msg.Err)
	return nil
}

// reached notes how far the search has come, so that it can go on there.
func (p *search) reached(e model.SearchEvent) {
	i := slices.Index(p.rest, e.At)
	if i < 0 {
		return
	}
	p.rest, p.restFrom = p.rest[i:], slices.Clone(p.restFrom[i:])
	switch from := &p.restFrom[0]; {
	case !p.backward:
		*from = max(*from, e.Offset+1)
	case e.Hit != nil && (*from < 0 || e.Offset < *from):
		// Progress backwards names the newest record of what was read, so that only a hit says how far.
		*from = e.Offset
	}
}

// finish says how a run ended.
func (p *search) finish(err error) {
	p.level = page.Info
	var e *rows.EndError
	if !errors.As(err, &e) {
		p.end, p.level, p.more = err.Error(), page.Bad, true
		return
	}
	p.end = e.End.Reason
	switch {
	case e.End.Whole:
		p.level = page.Good
		if p.end == "" {
			p.end = model.ReasonEnd
		}
		p.rest = nil
	case e.End.Reason == model.ReasonLimit:
		p.more = len(p.hits) < maxHits
	case e.End.Reason == model.ReasonCancelled:
		p.more = true
	default:
		p.level, p.more = page.Bad, true
	}
	if n := len(e.End.Faults); n > 0 {
		p.end += " · " + kit.Number(int64(n)) + " damaged places passed over"
	}
}

// stop cancels the run; n goes on.
func (p *search) stop() tea.Cmd {
	p.stream.Cancel()
	p.took += p.Now().Sub(p.began)
	p.read += p.event.Records
	p.end, p.level, p.more = model.ReasonCancelled, page.Warn, true
	if p.event.At.Topic != "" {
		p.end += " at " + kit.Safe(p.event.At.String(), 100) + "@" + strconv.FormatInt(p.event.Offset, 10)
	}
	return nil
}

// goOn searches what is left.
func (p *search) goOn() tea.Cmd {
	p.event = model.SearchEvent{}
	return p.run()
}

// scope names what is searched.
func (p *search) scope() string {
	switch n := len(p.topics) + len(p.parts); {
	case n == 0:
		return "all topics"
	case n == 1 && len(p.topics) == 1:
		return p.topics[0]
	case n == 1:
		return model.PartitionAddress(p.parts[0]).String()
	case len(p.parts) == 0:
		return strconv.Itoa(n) + " topics"
	}
	return strconv.Itoa(len(p.topics)+len(p.parts)) + " places"
}

// at returns the hit under the cursor.
func (p *search) at() *model.Record {
	if i := p.cur.Cursor(); i < int64(len(p.hits)) {
		return &p.hits[i]
	}
	return nil
}
