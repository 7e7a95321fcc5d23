package reset

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// The IDs of what is asked of the root.
const (
	second  = "second"
	settle  = "settle " // with the number of the change that it waits for
	apply   = "apply"
	topics  = "topics"
	editing = "edit "

	// typingPause is how long after a key a plan is asked for.
	typingPause = 120 * time.Millisecond
	// rest is how many times the time that a plan took goes by before a change of the group makes another.
	rest = 10
)

// names is what inputs are completed with.
type names struct{ groups, topics []string }

// reset is the page. Invariants:
//   - plan is what is on screen; out and edits have been worked into it
//   - stale means that the plan is not what is chosen now, so that it must not be applied
type reset struct {
	page.Env
	group string
	undo  uint64 // the journal entry to be taken back; 0: a reset
	src   model.Resetter

	where  kit.Choice
	inputs [len(places)]kit.Input
	typing bool
	scope  []model.TopicSelector

	planning page.Slot[planned]
	applying page.Slot[model.ResetResult]
	naming   page.Slot[names]
	known    names
	seq      int
	plan     model.ResetPlan
	entry    *model.JournalEntry // what is being taken back, when known
	loaded   bool
	stale    bool
	began    time.Time     // the plan that runs or ran last
	took     time.Duration // that it took
	due      bool          // the group has changed since the plan
	wrong    string
	err      error
	out      map[model.TopicPartition]bool        // rows taken out or in by hand
	edits    map[model.TopicPartition]model.Where // targets of single rows
	moved    map[model.TopicPartition]int64       // what was committed in the plan before, where a refused one found it moved
	refused  string                               // by ApplyReset

	asked   *model.ResetPlan // what the question is about
	pending model.ResetPlan  // what is being applied
	done    *outcome

	table kit.Table
	tabY  int // line of the table's head, as of the last View
	width int // cells of the last View
}

// outcome is an applied plan and what was read back.
type outcome struct {
	plan   model.ResetPlan
	result model.ResetResult
	err    error
	at     int64 // ms
}

// New makes the page for the group o.Addr.Group, of its topic o.Addr.Topic only when there is one, or with o.Args.Undo for
// the taking back of a journal entry.
func New(env page.Env, o page.Open) page.Page {
	p := &reset{
		Env: env, group: o.Addr.Group, undo: o.Args.Undo,
		out: map[model.TopicPartition]bool{}, edits: map[model.TopicPartition]model.Where{},
	}
	p.src, _ = env.Src.(model.Resetter)
	if o.Addr.Topic != "" {
		p.scope = []model.TopicSelector{{Topic: o.Addr.Topic}}
	}
	for _, pl := range places {
		p.where.Options = append(p.where.Options, pl.word)
	}
	for i := range p.inputs {
		p.inputs[i].Placeholder = places[i].hint
	}
	p.table.Theme = env.Theme
	p.table.KeyOf = func(i int64) string { return p.shown()[i].TopicPartition.String() }
	p.table.Columns = planColumns()
	return p
}

func (p *reset) Title() string {
	if p.undo != 0 {
		return "undo"
	}
	return "reset"
}

func (p *reset) Busy() bool { return p.planning.Slow() || p.applying.Slow() }

// TakesText reports whether the place's text is being typed.
func (p *reset) TakesText() bool { return p.typing && p.done == nil && p.src != nil }

func (p *reset) Close() {
	p.planning.Cancel()
	p.applying.Cancel()
	p.naming.Cancel()
}

func (p *reset) Init() tea.Cmd {
	if p.src == nil {
		return nil
	}
	return tea.Batch(p.replan(), p.readNames(), p.arm())
}

func (p *reset) arm() tea.Cmd { return page.Send(page.TickIn{After: time.Second, ID: second}) }

func (p *reset) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[planned]:
		if p.planning.Owns(msg) {
			p.take(msg.Val, msg.Err)
		}
	case page.Result[model.ResetResult]:
		if p.applying.Owns(msg) {
			return p.applied(msg.Val, msg.Err)
		}
	case page.Result[names]:
		if p.naming.Owns(msg) && msg.Err == nil {
			p.known = msg.Val
			p.inputs[likeGroup].Choices = msg.Val.groups
		}
	case tea.KeyMsg:
		return p.typed(msg)
	case model.Change:
		p.due = p.due || msg.Groups || msg.All
	case page.Tick:
		return p.tick(msg)
	case page.Answered:
		return p.answered(msg)
	case page.Confirmed:
		return p.confirmed(msg)
	}
	return nil
}

func (p *reset) tick(t page.Tick) tea.Cmd {
	switch t.ID {
	case second:
		if p.due && p.Now().Sub(p.began) >= rest*p.took && p.done == nil && p.asked == nil && !p.planning.Busy() && !p.applying.Busy() {
			p.due = false
			return tea.Batch(p.replan(), p.arm())
		}
		return p.arm()
	case p.settleID():
		return p.replan()
	}
	return nil
}

// shown returns the rows on screen: those of the plan, or of the one that was applied.
func (p *reset) shown() []model.PlanRow {
	if p.done != nil {
		return p.done.plan.Rows
	}
	return p.plan.Rows
}

// at returns the row under the cursor.
func (p *reset) at() (*model.PlanRow, bool) {
	rows := p.shown()
	if i := p.table.Cursor(); i < int64(len(rows)) {
		return &rows[i], true
	}
	return nil, false
}

// Address is the group.
func (p *reset) Address() model.Address {
	a := model.TopicAddress("")
	a.Group = p.group
	return a
}

// Focus names the topics of the plan.
func (p *reset) Focus() []string {
	out, last := []string{}, ""
	for i := range p.plan.Rows {
		if t := p.plan.Rows[i].Topic; t != last {
			out, last = append(out, t), t
		}
	}
	return out
}

// Status says how old the plan is.
func (p *reset) Status() string {
	switch {
	case p.done != nil:
		return "applied " + p.Clock.Clock(p.done.at)
	case p.planning.Slow():
		return "planning"
	case !p.loaded:
		return ""
	}
	return "planned at " + p.Clock.Clock(p.plan.Made)
}

// Mouse chooses a place, scrolls and selects; a double click takes a row out or in.
func (p *reset) Mouse(m page.Mouse) tea.Cmd {
	if m.Kind == page.Click && m.Y == 0 && p.done == nil && p.undo == 0 && p.src != nil {
		if i, ok := p.where.OptionAt(m.X-whereAt, p.width-whereAt); ok {
			return p.choose(i)
		}
		return nil
	}
	if m.Kind == page.Click && m.Y == 1 && p.done == nil && places[p.where.Chosen].needs {
		p.typing = p.undo == 0 && p.src != nil
		return nil
	}
	if m.Kind < page.WheelUp && m.Y < p.tabY {
		return nil
	}
	hit := page.ListMouse(&p.table, m, p.tabY)
	if hit.OK && !hit.Head {
		p.typing = false
		if m.Kind == page.DoubleClick && p.whyNoExclude() == "" {
			return p.exclude()
		}
	}
	return nil
}

// safeGroup is the group's name as it is shown.
func (p *reset) safeGroup() string { return kit.Safe(p.group, 100) }
