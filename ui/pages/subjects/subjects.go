package subjects

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// headLines is how many lines stand above the list.
const headLines = 1

// subjects is the page. Invariants: rows holds indexes into all, and list.Len is len(rows).
type subjects struct {
	page.Env
	src    model.SubjectLister // nil: the source has none
	load   page.Loader[[]string]
	list   kit.Table
	all    []string
	rows   []int
	loaded bool
	err    error
	filter page.Filter
}

// New makes the page.
func New(env page.Env, _ page.Open) page.Page {
	p := &subjects{Env: env}
	p.src, _ = env.Src.(model.SubjectLister)
	p.list.Theme = env.Theme
	p.list.Columns = []kit.Column{{Name: "SUBJECT", Grow: true, Min: 20, Max: 200}}
	p.list.KeyOf = func(i int64) string { return p.all[p.rows[i]] }
	return p
}

func (p *subjects) Title() string { return "subjects" }
func (p *subjects) Busy() bool    { return p.load.Slow() }
func (p *subjects) Close()        { p.load.Cancel() }
func (p *subjects) Init() tea.Cmd { return p.reload() }

func (p *subjects) reload() tea.Cmd {
	if p.src == nil {
		return nil
	}
	return p.load.Load(p.Ctx, p.src.Subjects)
}

func (p *subjects) Update(msg tea.Msg) tea.Cmd {
	if msg, ok := msg.(page.Result[[]string]); ok {
		if mine, again := p.load.Took(p.Ctx, msg); mine {
			if p.err = msg.Err; p.err == nil {
				p.all, p.loaded = msg.Val, true
				p.list.Rearrange(p.arrange)
			}
			return again
		}
	}
	return nil
}

// arrange makes the rows anew.
func (p *subjects) arrange() {
	p.rows = p.rows[:0]
	for i, s := range p.all {
		if p.filter.Match(s) {
			p.rows = append(p.rows, i)
		}
	}
	p.list.Len = int64(len(p.rows))
}

// Status says how many there are.
func (p *subjects) Status() string {
	if !p.loaded {
		return page.WithFault("", p.err)
	}
	return page.WithFault(kit.Number(int64(len(p.rows)))+" of "+kit.Plural(len(p.all), "subject"), p.filter.Err(), p.err)
}

// Filter implements page.Filterer.
func (p *subjects) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer.
func (p *subjects) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.list.Rearrange(p.arrange)
	return nil
}

// Mouse scrolls and selects.
func (p *subjects) Mouse(m page.Mouse) tea.Cmd {
	page.ListMouse(&p.list, m, headLines)
	return nil
}

// at returns the subject under the cursor.
func (p *subjects) at() (string, bool) {
	if i := p.list.Cursor(); i < int64(len(p.rows)) {
		return p.all[p.rows[i]], true
	}
	return "", false
}

func (p *subjects) Commands() []page.Command {
	return append([]page.Command{
		{Key: page.Bind("enter l right", "its topic"), Off: p.whyNoTopic, Run: p.open},
		{Key: page.Bind("y", "copy the name"), Off: p.whyNone, Run: p.copy},
		{Key: page.Bind("ctrl+r", "ask again"), Off: p.whyNoSource, Run: p.reload, Quiet: true},
	}, page.ListCommands(&p.list.VList, nil)...)
}

func (p *subjects) whyNoSource() string {
	if p.src == nil {
		return "this source has no schema registry"
	}
	return ""
}

func (p *subjects) whyNone() string {
	if _, ok := p.at(); !ok {
		if why := p.whyNoSource(); why != "" {
			return why
		}
		return "there is no subject here"
	}
	return ""
}

func (p *subjects) whyNoTopic() string {
	if why := p.whyNone(); why != "" {
		return why
	}
	if s, _ := p.at(); topic(s) == "" {
		return "this subject is not named after a topic, as orders-value is"
	}
	return ""
}

// topic returns the topic that a subject is named after; "" for none.
func topic(subject string) string {
	for _, end := range []string{"-value", "-key"} {
		if t, ok := strings.CutSuffix(subject, end); ok {
			return t
		}
	}
	return ""
}

func (p *subjects) open() tea.Cmd {
	s, _ := p.at()
	return page.Goto(page.Partitions, model.TopicAddress(topic(s)))
}

func (p *subjects) copy() tea.Cmd {
	s, _ := p.at()
	return page.Send(page.Copy{Text: s, What: "subject"})
}

func (p *subjects) View(w, h int) string {
	t := p.Theme
	switch {
	case p.src == nil:
		return kit.Empty(t, w, h, "this source has no schema registry", "a profile of the settings file names one: [profile.NAME.registry] with url, user and password_env")
	case !p.loaded && p.err != nil:
		return kit.Problem(t, w, h, p.err.Error(), "ctrl-r asks again")
	case !p.loaded && p.load.Slow():
		return kit.Empty(t, w, h, "asking the schema registry for its subjects", "")
	case !p.loaded:
		return kit.Block("", w, h)
	case len(p.all) == 0:
		return kit.Empty(t, w, h, "the schema registry has no subject", "ctrl-r asks again")
	case len(p.rows) == 0:
		return kit.Empty(t, w, h, "no subject matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	}
	head := page.Facts(t, w, page.Fact{Value: kit.Plural(len(p.all), "subject")})
	if h <= headLines {
		return kit.Block(head, w, h)
	}
	return head + "\n" + p.list.View(w, h-headLines, func(i int64) kit.Row {
		return kit.Row{Cells: []kit.Cell{{Spans: p.filter.Spans(t, kit.Style{}, p.all[p.rows[i]], 300)}}}
	})
}
