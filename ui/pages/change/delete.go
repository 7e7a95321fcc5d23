package change

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	sureDelete = "delete"
	leave      = "leave" // ID of the timer that leaves the page of what is gone
	leaveAfter = 20 * time.Millisecond
)

// contents is what a topic holds, and who reads it.
type contents struct {
	topic  model.Topic
	found  bool
	groups []reader
}

// reader is a group that has committed offsets of the topic.
type reader struct {
	id        string
	active    bool
	committed int
	lag       model.Count
}

// gone is what a deletion came to.
type gone struct{}

type remove struct {
	page.Env
	topic string
	src   interface {
		DeleteTopic(ctx context.Context, topic string) error
	}
	load   page.Loader[contents]
	pace   throttle
	doing  page.Slot[gone]
	table  kit.Table
	what   contents
	loaded bool
	err    error
	failed error
}

// NewDelete makes the page that deletes o.Addr.Topic.
func NewDelete(env page.Env, o page.Open) page.Page {
	p := &remove{Env: env, topic: o.Addr.Topic}
	if a, ok := env.Src.(model.TopicAdmin); ok {
		p.src = a
	}
	p.table.Theme = env.Theme
	p.table.KeyOf = func(i int64) string { return p.what.groups[i].id }
	p.table.Columns = []kit.Column{
		{Name: "GROUP", Grow: true, Min: 16, Max: 60},
		{Name: "COMMITTED", Right: true},
		{Name: "STILL TO READ", Right: true},
		{Name: "", Min: 12, Drop: 1},
	}
	return p
}

func (p *remove) Title() string { return "delete" }
func (p *remove) Busy() bool    { return p.load.Slow() || p.doing.Slow() }
func (p *remove) Init() tea.Cmd { return p.reload() }

func (p *remove) Close() {
	p.load.Cancel()
	p.doing.Cancel()
}

func (p *remove) reload() tea.Cmd {
	return p.load.Load(p.Ctx, func(ctx context.Context) (contents, error) {
		var c contents
		topics, err := p.Src.Topics(ctx)
		if err != nil {
			return c, err
		}
		names := make([]string, 0, len(topics))
		for i := range topics {
			names = append(names, topics[i].Name)
			if topics[i].Name == p.topic {
				c.topic, c.found = topics[i], true
			}
		}
		if !c.found {
			return c, model.NotFound(model.ErrNoTopic, p.topic, names)
		}
		groups, err := p.Src.Groups(ctx)
		for i := range groups {
			g := &groups[i]
			r := reader{id: g.ID, active: g.Active(), lag: model.NoCount()}
			for _, o := range g.Offsets {
				if o.Topic == p.topic && o.Committed >= 0 {
					r.committed++
					r.lag = r.lag.Add(o.Lag)
				}
			}
			if r.committed > 0 {
				c.groups = append(c.groups, r)
			}
		}
		return c, err
	})
}

func (p *remove) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[contents]:
		mine, again := p.load.Took(p.Ctx, msg)
		if !mine {
			return nil
		}
		if p.err = msg.Err; msg.Val.found {
			p.what, p.loaded = msg.Val, true
			p.table.SetLen(int64(len(p.what.groups)))
		}
		return again
	case page.Result[gone]:
		if !p.doing.Owns(msg) {
			return nil
		}
		if p.failed = msg.Err; p.failed != nil {
			return page.Say(page.Bad, p.failed.Error())
		}
		return tea.Batch(page.Say(page.Good, "deleted topic "+kit.Safe(p.topic, 200)), page.Send(page.TickIn{After: leaveAfter, ID: leave}))
	case model.Change:
		if (msg.All || msg.Groups || msg.TouchesTopic(p.topic)) && !p.doing.Busy() {
			return p.pace.changed(p.Now(), p.reload)
		}
	case page.Tick:
		switch msg.ID {
		case leave:
			return page.Send(page.Back{})
		case again:
			return p.pace.tick(p.Now(), p.reload)
		}
	case page.Confirmed:
		if msg.ID == sureDelete && msg.OK && p.src != nil {
			return p.doing.Start(p.Ctx, func(ctx context.Context) (gone, error) { return gone{}, p.src.DeleteTopic(ctx, p.topic) })
		}
	}
	return nil
}

// Address is the topic.
func (p *remove) Address() model.Address { return model.TopicAddress(p.topic) }

func (p *remove) Commands() []page.Command {
	return append([]page.Command{
		{Key: page.Bind("D enter", "delete"), Off: p.whyNot, Run: p.ask},
		{Key: page.Bind("ctrl+r", "read again"), Run: p.reload, Quiet: true},
	}, page.ListCommands(&p.table.VList, nil)...)
}

func (p *remove) whyNot() string {
	switch {
	case p.src == nil:
		return "this source is read-only: topics can't be deleted"
	case p.doing.Busy():
		return "it is being deleted"
	case !p.loaded:
		return "what it holds is not known yet"
	}
	return ""
}

func (p *remove) ask() tea.Cmd {
	body := []string{p.words()}
	switch n := len(p.what.groups); {
	case n == 1:
		body = append(body, "1 group reads it; its offsets of it go too")
	case n > 1:
		body = append(body, kit.Plural(n, "group")+" read it; their offsets of it go too")
	}
	return page.Send(page.Confirm{
		ID: sureDelete, Title: "delete topic " + kit.Safe(p.topic, 250) + "?", Typed: p.topic,
		Body: append(body, "that cannot be taken back"),
	})
}

// words says what goes.
func (p *remove) words() string {
	t := p.what.topic
	return kit.Plural(t.Partitions, "partition") + ", " + page.CountText(p.Theme, t.Records) + " records, " + kit.BytesText(t.Bytes) + " go"
}

// Mouse scrolls the groups.
func (p *remove) Mouse(m page.Mouse) tea.Cmd {
	page.ListMouse(&p.table, m, 4)
	return nil
}

func (p *remove) View(w, h int) string {
	t := p.Theme
	switch {
	case !p.loaded && p.err != nil:
		return kit.Problem(t, w, h, p.err.Error(), "esc goes back")
	case p.src == nil:
		return kit.Problem(t, w, h, "this source is read-only: topics can't be deleted", "esc goes back")
	case !p.loaded:
		return kit.Block("", w, h)
	}
	var a, b kit.Line
	a.Space(1).Add(t.Bold, "deletion of ").Spans(t.SafeSpans(t.Bold, p.topic, 250), max(0, w-14))
	b.Space(1).Add(t.Bad, t.Glyphs.Bad+" "+p.words())
	if p.what.topic.Newest >= 0 {
		b.Add(t.Dim, ", the newest written "+ago(p.Clock.Ago(p.what.topic.Newest)))
	}
	if p.failed != nil {
		b.Reset()
		b.Space(1).Add(t.Bad, t.Glyphs.Bad+" "+kit.Safe(p.failed.Error(), 300))
	}
	out := a.Fit(w) + "\n" + b.Fit(w) + "\n" + page.Rule(t, w, "groups that read it")
	if h <= 3 {
		return kit.Block(out, w, h)
	}
	if len(p.what.groups) == 0 {
		return out + "\n" + kit.Empty(t, w, h-3, "no group has committed an offset of it", "D deletes the topic; its name has to be typed")
	}
	return out + "\n" + p.table.View(w, h-3, p.row)
}

// ago writes an age as people say it.
func ago(age string) string {
	if age == "now" {
		return age
	}
	return age + " ago"
}

func (p *remove) row(i int64) kit.Row {
	r, t := &p.what.groups[i], p.Theme
	state := kit.Cell{}
	if r.active {
		state = kit.Cell{Text: "reads it now", Style: t.Warn}
	}
	return kit.Row{Cells: []kit.Cell{
		{Spans: t.SafeSpans(kit.Style{}, r.id, 200)}, {Text: kit.Plural(r.committed, "partition")}, page.CountCell(t, r.lag), state,
	}}
}
