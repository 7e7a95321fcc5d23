package access

import (
	"context"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// listing is what a load brings. Rules and quotas are asked for apart: a cluster may tell one and not the other.
type listing struct {
	acls     []model.ACL
	quotas   []model.Quota
	aclErr   error
	quotaErr error
}

// access is the page. Invariants: rows holds indexes into got.acls and rules' Len is len(rows); likewise bounds, got.quotas
// and limits.
type access struct {
	page.Env
	src    model.AccessReader // nil: the source cannot tell
	load   page.Loader[listing]
	rules  kit.Table
	limits kit.Table
	inside bool // the quotas have the screen and the keys
	got    listing
	rows   []int
	bounds []int
	denied int
	loaded bool
	err    error
	filter page.Filter
	sorted column
	desc   bool
	seenY  int // line of the quotas' table, as of the last View; 0 when it is not there
}

// New makes the page.
func New(env page.Env, _ page.Open) page.Page {
	p := &access{Env: env}
	p.src, _ = env.Src.(model.AccessReader)
	p.rules.Theme, p.limits.Theme = env.Theme, env.Theme
	p.rules.KeyOf = func(i int64) string { return fmt.Sprint(p.got.acls[p.rows[i]]) }
	p.limits.KeyOf = func(i int64) string {
		q := &p.got.quotas[p.bounds[i]]
		return q.Entity + " " + q.Key
	}
	p.rules.Columns, p.limits.Columns = columns(), quotaColumns()
	p.sorted = colMay
	if s := env.Remembered("sort"); s != "" {
		c, desc := page.ParseSort(s, p.rules.Columns)
		p.sorted, p.desc = column(c), desc
	}
	p.rules.Sorted, p.rules.Desc = int(p.sorted)+1, p.desc
	return p
}

func (p *access) Title() string { return "access" }
func (p *access) Busy() bool    { return p.load.Slow() }
func (p *access) Close()        { p.load.Cancel() }
func (p *access) Init() tea.Cmd { return p.reload() }

func (p *access) reload() tea.Cmd {
	src := p.src
	if src == nil {
		return nil
	}
	return p.load.Load(p.Ctx, func(ctx context.Context) (l listing, err error) {
		l.acls, l.aclErr = src.ACLs(ctx)
		l.quotas, l.quotaErr = src.Quotas(ctx)
		return l, ctx.Err()
	})
}

func (p *access) Update(msg tea.Msg) tea.Cmd {
	if msg, ok := msg.(page.Result[listing]); ok {
		if mine, again := p.load.Took(p.Ctx, msg); mine {
			p.take(msg.Val, msg.Err)
			return again
		}
	}
	return nil
}

func (p *access) take(l listing, err error) {
	if p.err = err; err != nil {
		return
	}
	if l.aclErr != nil {
		l.acls = nil
	}
	if p.loaded && l.aclErr != nil && p.got.aclErr == nil { // what was read stays, the error goes to the status line
		l.acls, p.err, l.aclErr = p.got.acls, l.aclErr, nil
	}
	if p.loaded && l.quotaErr != nil && p.got.quotaErr == nil {
		l.quotas, p.err, l.quotaErr = p.got.quotas, l.quotaErr, nil
	}
	p.got, p.loaded, p.denied = l, true, 0
	for i := range l.acls {
		if !l.acls[i].Allow {
			p.denied++
		}
	}
	p.arrange()
	if len(l.quotas) == 0 {
		p.inside = false
	}
}

// Status says how many rules, or quotas, there are.
func (p *access) Status() string {
	if !p.loaded {
		return page.WithFault("", p.err)
	}
	s := kit.Number(int64(len(p.rows))) + " of " + kit.Plural(len(p.got.acls), "rule")
	if p.inside {
		s = kit.Number(int64(len(p.bounds))) + " of " + kit.Plural(len(p.got.quotas), "quota")
	}
	return page.WithFault(s, p.filter.Err(), p.err)
}

// Filter implements page.Filterer.
func (p *access) Filter() string { return p.filter.Text() }

// SetFilter implements page.Filterer; it narrows both tables.
func (p *access) SetFilter(text string) tea.Cmd {
	p.filter = page.ParseFilter(text)
	p.rules.Rearrange(p.arrange)
	return nil
}

// Mouse scrolls, selects and sorts; a double click on the quotas gives them the screen.
func (p *access) Mouse(m page.Mouse) tea.Cmd {
	if p.inside {
		page.ListMouse(&p.limits, m, 1)
		return nil
	}
	if p.seenY > 0 && m.Y >= p.seenY && (m.Kind == page.Click || m.Kind == page.DoubleClick) {
		if m.Kind == page.DoubleClick && p.whyNoQuotas() == "" {
			return p.enter()
		}
		return nil
	}
	hit := page.ListMouse(&p.rules, m, headLines)
	if hit.OK && hit.Head && m.Kind == page.Click {
		return p.sortBy(column(hit.Column))
	}
	return nil
}

// at returns the rule under the cursor.
func (p *access) at() (*model.ACL, bool) {
	if i := p.rules.Cursor(); i < int64(len(p.rows)) {
		return &p.got.acls[p.rows[i]], true
	}
	return nil, false
}

func (p *access) Commands() []page.Command {
	brokers := page.Command{Key: page.Bind("b", "brokers"), Off: p.whyNoBrokers, Quiet: true,
		Run: func() tea.Cmd { return page.Goto(page.Brokers, model.TopicAddress("")) }}
	again := page.Command{Key: page.Bind("ctrl+r", "ask again"), Off: p.whyNoSource, Run: p.reload, Quiet: true}
	if p.inside {
		return append([]page.Command{
			{Key: page.Bind("esc h left tab", "rules"), Run: p.leave},
			brokers, again,
		}, page.ListCommands(&p.limits.VList, nil)...)
	}
	return append([]page.Command{
		{Key: page.Bind("tab", "quotas"), Off: p.whyNoQuotas, Run: p.enter},
		{Key: page.Bind("enter l right", "what it is about"), Off: p.whyNoThing, Run: p.open},
		{Key: page.Bind("s", "sort"), Run: p.nextSort},
		{Key: page.Bind("y", "copy the rule"), Off: p.whyNone, Run: p.copy},
		{Key: page.Bind("S", "turn the order"), Run: func() tea.Cmd { return p.sortBy(p.sorted) }, Quiet: true},
		brokers, again,
	}, page.ListCommands(&p.rules.VList, nil)...)
}

func (p *access) whyNoSource() string {
	if p.src == nil {
		return "this source cannot say who may do what"
	}
	return ""
}

func (p *access) whyNoBrokers() string {
	if !page.Able[model.BrokerReader](p.Src) {
		return "this source has no brokers to be shown"
	}
	return ""
}

func (p *access) whyNone() string {
	if _, ok := p.at(); !ok {
		if why := p.whyNoSource(); why != "" {
			return why
		}
		return "there is no rule here"
	}
	return ""
}

func (p *access) whyNoQuotas() string {
	switch {
	case p.src == nil:
		return p.whyNoSource()
	case p.got.quotaErr != nil:
		return kit.Safe(p.got.quotaErr.Error(), 120)
	case len(p.bounds) == 0:
		return "there is no quota here"
	}
	return ""
}

// whyNoThing says why what a rule is about cannot be opened.
func (p *access) whyNoThing() string {
	a, ok := p.at()
	switch {
	case !ok:
		return p.whyNone()
	case a.Resource != "Topic" && a.Resource != "Group":
		return "a rule about a " + kit.Safe(strings.ToLower(a.Resource), 40) + " leads nowhere"
	case a.Pattern != "Literal" || a.Name == "*":
		return "this rule is about many, not about one"
	}
	return ""
}

// open shows the topic or the group that the rule under the cursor is about.
func (p *access) open() tea.Cmd {
	a, ok := p.at()
	if !ok {
		return nil
	}
	if a.Resource == "Group" {
		addr := model.TopicAddress("")
		addr.Group = a.Name
		return page.Goto(page.Group, addr)
	}
	return page.Goto(page.Partitions, model.TopicAddress(a.Name))
}

func (p *access) enter() tea.Cmd {
	p.inside = true
	return nil
}

func (p *access) leave() tea.Cmd {
	p.inside = false
	return nil
}

func (p *access) copy() tea.Cmd {
	a, ok := p.at()
	if !ok {
		return nil
	}
	text := strings.Join([]string{a.Principal, may(a), a.Operation, a.Resource, a.Pattern, a.Name, "from", a.Host}, " ")
	return page.Send(page.Copy{Text: text, What: "rule of " + kit.Safe(a.Principal, 100)})
}
