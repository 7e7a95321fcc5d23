package change

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// The IDs of what the page asks of the root.
const (
	askValue  = "value "
	askGrow   = "grow"
	sureAlter = "alter"
	sureGrow  = "grown "
)

// seen is a previewed change.
type seen struct {
	change  model.ConfigChange
	preview model.Preview
}

// altered is what a change came to, in words.
type altered string

// known is what is read of a topic.
type known struct {
	configs    []model.ConfigEntry
	partitions int
}

type alter struct {
	page.Env
	topic  string
	reader model.ConfigReader // nil: the source says no configs
	admin  model.TopicAdmin   // nil: the source changes none

	load    page.Loader[known]
	pace    throttle
	looking page.Slot[seen]
	doing   page.Slot[altered]
	table   kit.Table
	all     []model.ConfigEntry
	rows    []int
	parts   int
	loaded  bool
	err     error
	filter  page.Filter

	ready  *seen // a change that is shown and not made yet
	effect preview
}

// NewAlter makes the page of the configs of o.Addr.Topic.
func NewAlter(env page.Env, o page.Open) page.Page {
	p := &alter{Env: env, topic: o.Addr.Topic, effect: newPreview(env)}
	p.reader, _ = env.Src.(model.ConfigReader)
	p.admin, _ = env.Src.(model.TopicAdmin)
	p.table.Theme = env.Theme
	p.table.KeyOf = func(i int64) string { return p.all[p.rows[i]].Name }
	p.table.Columns = []kit.Column{
		{Name: "CONFIG", Grow: true, Min: 24, Max: 44},
		{Name: "VALUE", Right: true, Min: 12, Max: 40},
		{Name: "", Min: 10, Drop: 1},
		{Name: "SET BY", Min: 7},
		{Name: "DEFAULT", Right: true, Max: 30, Drop: 2},
	}
	return p
}

func (p *alter) Title() string { return "configs" }
func (p *alter) Busy() bool    { return p.load.Slow() || p.looking.Slow() || p.doing.Slow() }
func (p *alter) Init() tea.Cmd { return p.reload() }

func (p *alter) Close() {
	p.load.Cancel()
	p.looking.Cancel()
	p.doing.Cancel()
}

func (p *alter) reload() tea.Cmd {
	if p.reader == nil {
		return nil
	}
	return p.load.Load(p.Ctx, func(ctx context.Context) (known, error) {
		var k known
		var err error
		if k.configs, err = p.reader.TopicConfig(ctx, p.topic); err != nil {
			return k, err
		}
		parts, err := p.Src.Partitions(ctx, p.topic)
		for i := range parts {
			if parts[i].State == model.Live {
				k.partitions++
			}
		}
		return k, err
	})
}

func (p *alter) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[known]:
		mine, again := p.load.Took(p.Ctx, msg)
		if !mine {
			return nil
		}
		if p.err = msg.Err; p.err == nil {
			p.all, p.parts, p.loaded = ownFirst(msg.Val.configs), msg.Val.partitions, true
			p.arrange()
		}
		return again
	case page.Result[seen]:
		if p.looking.Owns(msg) {
			return p.looked(msg.Val, msg.Err)
		}
	case page.Result[altered]:
		if p.doing.Owns(msg) {
			p.ready = nil
			return tea.Batch(page.Notify(msg.Err, string(msg.Val)), p.reload())
		}
	case model.Change:
		if msg.Topics || msg.All {
			return p.pace.changed(p.Now(), p.reload)
		}
	case page.Tick:
		if msg.ID == again {
			return p.pace.tick(p.Now(), p.reload)
		}
	case page.Answered:
		return p.answered(msg)
	case page.Confirmed:
		return p.confirmed(msg)
	}
	return nil
}

// ownFirst puts what is not at its default before the rest.
func ownFirst(all []model.ConfigEntry) []model.ConfigEntry {
	slices.SortStableFunc(all, func(a, b model.ConfigEntry) int {
		return cmp.Or(cmp.Compare(rank(a.Source), rank(b.Source)), strings.Compare(a.Name, b.Name))
	})
	return all
}

func rank(source string) int {
	switch source {
	case "topic":
		return 0
	case "default":
		return 2
	}
	return 1
}

func (p *alter) arrange() {
	p.rows = p.rows[:0]
	for i := range p.all {
		if p.filter.Match(p.all[i].Name) || p.filter.Match(p.all[i].Value) {
			p.rows = append(p.rows, i)
		}
	}
	p.table.SetLen(int64(len(p.rows)))
}

// at returns the config under the cursor.
func (p *alter) at() (*model.ConfigEntry, bool) {
	if i := p.table.Cursor(); i < int64(len(p.rows)) {
		return &p.all[p.rows[i]], true
	}
	return nil, false
}

// Address is the topic.
func (p *alter) Address() model.Address { return model.TopicAddress(p.topic) }

// Focus names the topic on screen.
func (p *alter) Focus() []string { return []string{p.topic} }

// Status says how many configs are not at their defaults.
func (p *alter) Status() string {
	if !p.loaded {
		return ""
	}
	own := 0
	for i := range p.all {
		if p.all[i].Source != "default" {
			own++
		}
	}
	s := kit.Number(int64(own)) + " set, " + kit.Number(int64(len(p.all)-own)) + " at their defaults · " + kit.Plural(p.parts, "partition")
	return page.WithFault(s, p.filter.Err(), p.err)
}

// Filter implements page.Filterer.
func (p *alter) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer.
func (p *alter) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.table.Rearrange(p.arrange)
	return nil
}

// Mouse scrolls and selects; a double click edits.
func (p *alter) Mouse(m page.Mouse) tea.Cmd {
	if p.ready != nil {
		page.ListMouse(&p.effect.table, m, 3)
		return nil
	}
	hit := page.ListMouse(&p.table, m, 0)
	if hit.OK && !hit.Head && m.Kind == page.DoubleClick && p.whyNoEdit() == "" {
		return p.edit()
	}
	return nil
}

func (p *alter) Commands() []page.Command {
	if p.ready != nil {
		return append([]page.Command{
			{Key: page.Bind("A", "make the change"), Off: p.whyBusy, Run: p.sure},
			{Key: page.Bind("esc h left", "leave it as it is"), Run: p.forget},
		}, page.ListCommands(&p.effect.table.VList, nil)...)
	}
	return append([]page.Command{
		{Key: page.Bind("enter e", "change"), Off: p.whyNoEdit, Run: p.edit},
		{Key: page.Bind("x", "back to default"), Off: p.whyNoUnset, Run: p.unset},
		{Key: page.Bind("P", "add partitions"), Off: p.whyNoAdmin, Run: p.askGrow},
		{Key: page.Bind("D", "delete topic"), Off: p.whyNoAdmin, Run: p.toDelete},
		{Key: page.Bind("y", "copy"), Off: p.whyNone, Run: p.copy, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Run: p.reload, Quiet: true},
	}, page.ListCommands(&p.table.VList, nil)...)
}

func (p *alter) whyNone() string {
	if _, ok := p.at(); !ok {
		return "there is no config here"
	}
	return ""
}

func (p *alter) whyNoAdmin() string {
	if p.admin == nil {
		return "this source is read-only: topics can't be changed"
	}
	return p.whyBusy()
}

func (p *alter) whyBusy() string {
	if p.doing.Busy() {
		return "a change is being made"
	}
	return ""
}

func (p *alter) whyNoEdit() string {
	if why := p.whyNoAdmin(); why != "" {
		return why
	}
	return p.whyNone()
}

func (p *alter) whyNoUnset() string {
	if e, ok := p.at(); ok && p.admin != nil && e.Source != "topic" {
		return "the topic does not set it itself"
	}
	return p.whyNoEdit()
}

func (p *alter) copy() tea.Cmd {
	e, ok := p.at()
	if !ok {
		return nil
	}
	return page.Send(page.Copy{Text: e.Name + "=" + e.Value, What: kit.Safe(e.Name, 100)})
}

func (p *alter) toDelete() tea.Cmd { return page.Goto(page.Delete, p.Address()) }

// edit asks for another value of the config under the cursor.
func (p *alter) edit() tea.Cmd {
	e, ok := p.at()
	if !ok {
		return nil
	}
	return page.Send(p.question(e, e.Value, ""))
}

func (p *alter) question(e *model.ConfigEntry, text, wrong string) page.Ask {
	hint := "default " + e.Default
	if words := said(e.Name, e.Default); words != "" {
		hint += " (" + words + ")"
	}
	switch {
	case strings.HasSuffix(e.Name, ".ms"):
		hint += "; 7d and 90s are understood"
	case strings.HasSuffix(e.Name, ".bytes"):
		hint += "; 512MiB and 1GiB are understood"
	}
	return page.Ask{ID: askValue + e.Name, Prompt: e.Name, Initial: text, Hint: hint + "; nothing takes it back to the default", Err: wrong}
}

func (p *alter) entry(name string) *model.ConfigEntry {
	for i := range p.all {
		if p.all[i].Name == name {
			return &p.all[i]
		}
	}
	return nil
}

func (p *alter) answered(a page.Answered) tea.Cmd {
	if !a.OK {
		return nil
	}
	if a.ID == askGrow {
		return p.grown(a.Text)
	}
	name, mine := strings.CutPrefix(a.ID, askValue)
	e := p.entry(name)
	if !mine || e == nil {
		return nil
	}
	c := model.ConfigChange{Name: name, Value: plainValue(name, a.Text)}
	if c.Value == "" {
		c.Unset = true
	}
	if !c.Unset && c.Value == e.Value || c.Unset && e.Source != "topic" {
		return page.Say(page.Info, name+" is that already")
	}
	return p.look(c)
}

func (p *alter) unset() tea.Cmd {
	e, ok := p.at()
	if !ok {
		return nil
	}
	return p.look(model.ConfigChange{Name: e.Name, Unset: true})
}

// look asks what a change would delete; the source also says whether the value will do.
func (p *alter) look(c model.ConfigChange) tea.Cmd {
	return p.looking.Start(p.Ctx, func(ctx context.Context) (seen, error) {
		v, err := p.admin.PreviewAlter(ctx, p.topic, []model.ConfigChange{c})
		return seen{c, v}, err
	})
}

// looked shows what a change would do, or asks for another value.
func (p *alter) looked(s seen, err error) tea.Cmd {
	e := p.entry(s.change.Name)
	switch {
	case err != nil && e != nil && !s.change.Unset:
		return page.Send(p.question(e, s.change.Value, err.Error()))
	case err != nil:
		return page.Say(page.Bad, err.Error())
	}
	p.ready = &s
	p.effect.set(s.preview)
	p.effect.table.Home()
	if dangerous(s.change.Name) || len(s.preview.Now)+len(s.preview.Later) > 0 {
		return nil
	}
	return p.sure() // there is nothing to be read
}

// sure asks whether the change shall be made. What deletes records wants the topic's name.
func (p *alter) sure() tea.Cmd {
	if p.ready == nil {
		return nil
	}
	q := page.Confirm{ID: sureAlter, Title: p.changeWords() + "?", Body: []string{p.effect.words()}}
	for _, n := range p.ready.preview.Notes {
		q.Body = append(q.Body, kit.Safe(n, 300))
	}
	if p.effect.deletes() {
		q.Typed = p.topic
	}
	return page.Send(q)
}

func (p *alter) forget() tea.Cmd {
	p.ready = nil
	return nil
}

// changeWords says what would be changed: retention.ms of orders: 604800000 (7 d) → 60000 (1 min).
func (p *alter) changeWords() string {
	c := p.ready.change
	word := func(v string) string {
		s := kit.Safe(v, 100)
		if w := said(c.Name, v); w != "" {
			s += " (" + w + ")"
		}
		return s
	}
	s := kit.Safe(c.Name, 100) + " of " + kit.Safe(p.topic, 100) + ": "
	e := p.entry(c.Name)
	if e != nil {
		s += word(e.Value) + " " + p.Theme.Glyphs.To + " "
	}
	switch {
	case !c.Unset:
		return s + word(c.Value)
	case e != nil:
		return s + "default, " + word(e.Default)
	}
	return s + "default"
}

func (p *alter) confirmed(c page.Confirmed) tea.Cmd {
	if grow, mine := strings.CutPrefix(c.ID, sureGrow); mine {
		n, err := strconv.ParseInt(grow, 10, 32)
		if !c.OK || err != nil {
			return nil
		}
		return p.doing.Start(p.Ctx, func(ctx context.Context) (altered, error) {
			return altered(fmt.Sprintf("%s has %d partitions now", kit.Safe(p.topic, 200), n)), p.admin.GrowTopic(ctx, p.topic, int32(n))
		})
	}
	if c.ID != sureAlter || p.ready == nil {
		return nil
	}
	change := p.ready.change
	if !c.OK {
		if !dangerous(change.Name) {
			p.ready = nil
		}
		return nil
	}
	words := p.changeWords()
	return p.doing.Start(p.Ctx, func(ctx context.Context) (altered, error) {
		return altered(words), p.admin.AlterTopic(ctx, p.topic, []model.ConfigChange{change})
	})
}

func (p *alter) askGrow() tea.Cmd {
	return page.Send(page.Ask{ID: askGrow, Prompt: "partitions in all", Hint: fmt.Sprintf("it has %d; they can only become more", p.parts)})
}

// grown asks whether the topic shall have so many partitions.
func (p *alter) grown(text string) tea.Cmd {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	if err != nil || n <= int64(p.parts) {
		return page.Send(page.Ask{ID: askGrow, Prompt: "partitions in all", Initial: text, Err: fmt.Sprintf("want a number above %d", p.parts), Hint: "they can only become more"})
	}
	return page.Send(page.Confirm{
		ID: sureGrow + strconv.FormatInt(n, 10), Title: fmt.Sprintf("give %s %d partitions instead of %d?", kit.Safe(p.topic, 200), n, p.parts),
		Body: []string{"records with a key go to other partitions than before, so that their order with older ones is lost", "partitions cannot be taken away again"},
	})
}
