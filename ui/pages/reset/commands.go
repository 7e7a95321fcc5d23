package reset

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/offsets"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *reset) Commands() []page.Command {
	switch {
	case p.done != nil:
		return p.doneCommands()
	case p.typing:
		return p.typingCommands()
	}
	rows := []page.Command{
		{Key: page.Bind("A", "apply"), Off: p.whyNoApply, Run: p.ask},
		{Key: page.Bind("space", "take out"), Off: p.whyNoExclude, Run: p.exclude},
	}
	if p.undo == 0 {
		rows = append([]page.Command{
			{Key: page.Bind("right", "next place"), Off: p.whyNoSource, Run: p.turn(1)},
			{Key: page.Bind("left", "place before"), Off: p.whyNoSource, Run: p.turn(-1), Quiet: true},
			{Key: page.Bind("enter tab i", "type it"), Off: p.whyNoText, Run: p.enter},
		}, append(rows,
			page.Command{Key: page.Bind("e", "edit row"), Off: p.whyNoEdit, Run: p.edit},
			page.Command{Key: page.Bind("t", "topics"), Off: p.whyNoSource, Run: p.askTopics},
		)...)
	}
	rows = append(rows,
		page.Command{Key: page.Bind("r", "records it will read"), Off: p.whyNoRecords, Run: p.records, Quiet: true},
		page.Command{Key: page.Bind("*", "take all out or in"), Off: p.whyNoExclude, Run: p.excludeAll, Quiet: true},
		page.Command{Key: page.Bind("J", "journal"), Off: p.whyNoJournal, Run: p.journal, Quiet: true},
		page.Command{Key: page.Bind("ctrl+r", "plan again"), Off: p.whyNoSource, Run: p.replan, Quiet: true},
	)
	return append(rows, page.ListCommands(&p.table.VList, nil)...)
}

// typingCommands are the keys beside the text while it is typed.
func (p *reset) typingCommands() []page.Command {
	move := func(keys, help string, d int64) page.Command {
		return page.Command{Key: page.Bind(keys, help), Group: page.Moving, Quiet: true, Run: func() tea.Cmd {
			p.table.Move(d)
			return nil
		}}
	}
	rows := []page.Command{
		{Key: page.Bind("enter", "to the plan"), Run: p.leave},
		{Key: page.Bind("esc", "to the plan"), Run: p.leave, Quiet: true},
	}
	complete := page.Command{Key: page.Bind("tab", "to the plan"), Run: p.leave, Quiet: true}
	if p.place().kind == model.ToGroup {
		complete = page.Command{Key: page.Bind("tab", "complete"), Run: p.complete}
	}
	return append(rows, complete, move("down", "down", 1), move("up", "up", -1))
}

// doneCommands are the keys once a plan was applied.
func (p *reset) doneCommands() []page.Command {
	return append([]page.Command{
		{Key: page.Bind("u", "undo"), Off: p.whyNoUndo, Run: p.takeBack},
		{Key: page.Bind("enter", "records it will read"), Off: p.whyNoRecords, Run: p.records},
		{Key: page.Bind("n", "plan another"), Off: p.whyNoOther, Run: p.replanFresh},
		{Key: page.Bind("J", "journal"), Off: p.whyNoJournal, Run: p.journal},
	}, page.ListCommands(&p.table.VList, nil)...)
}

func (p *reset) whyNoSource() string {
	if p.src == nil {
		return "this source is read-only: offsets cannot be moved"
	}
	return ""
}

func (p *reset) whyNoApply() string {
	_, err := p.chosen()
	switch {
	case p.src == nil:
		return p.whyNoSource()
	case p.applying.Busy():
		return "the plan is being applied"
	case p.wrong != "":
		return kit.Safe(p.wrong, 200)
	case p.undo == 0 && err != nil:
		return "nothing typed yet: enter to type " + p.place().noun
	case p.err != nil:
		return kit.Safe(p.err.Error(), 200)
	case !p.loaded || p.stale:
		return "the plan is being made"
	case p.plan.Refused != "":
		return kit.Safe(p.plan.Refused, 300)
	case p.plan.Changes() == 0:
		return "nothing would change"
	}
	return ""
}

func (p *reset) whyNoText() string {
	switch {
	case p.src == nil:
		return p.whyNoSource()
	case !p.place().needs:
		return p.place().word + " needs no text"
	}
	return ""
}

func (p *reset) whyNoRow() string {
	if _, ok := p.at(); !ok || p.src == nil {
		return "there is no partition here"
	}
	return ""
}

func (p *reset) whyNoExclude() string {
	r, ok := p.at()
	switch {
	case !ok || p.src == nil:
		return p.whyNoRow()
	case r.From == r.To && !r.Excluded:
		return "this row changes nothing"
	}
	return ""
}

func (p *reset) whyNoEdit() string {
	if why := p.whyNoRow(); why != "" {
		return why
	}
	if _, err := p.chosen(); err != nil {
		return "first say where the others go"
	}
	return ""
}

func (p *reset) whyNoRecords() string {
	if r, ok := p.at(); ok && r.To < 0 {
		return "nothing is committed then"
	}
	return p.whyNoRow()
}

func (p *reset) whyNoJournal() string { return offsets.WhyNoJournal(p.Src) }

func (p *reset) whyNoUndo() string {
	if why := p.whyNoJournal(); why != "" {
		return why
	}
	if p.done == nil || p.done.result.Journal == 0 {
		return "there is no journal entry to take back"
	}
	return ""
}

func (p *reset) whyNoOther() string {
	if p.undo != 0 {
		return "this was an undo: the group's page plans another reset"
	}
	return ""
}

func (p *reset) turn(d int) func() tea.Cmd {
	return func() tea.Cmd {
		n := len(p.where.Options)
		return p.choose((p.where.Chosen + d + n) % n)
	}
}

func (p *reset) enter() tea.Cmd {
	p.typing = true
	return nil
}

// leave goes from the text to the plan, which is asked for at once if the last key is still being waited for.
func (p *reset) leave() tea.Cmd {
	p.typing = false
	if p.stale && !p.planning.Busy() {
		p.seq++
		return p.replan()
	}
	return nil
}

func (p *reset) complete() tea.Cmd {
	if !p.inputs[p.where.Chosen].Complete() {
		return page.Say(page.Info, "no other group begins like that")
	}
	return p.retyped()
}

func (p *reset) exclude() tea.Cmd {
	r, ok := p.at()
	if !ok {
		return nil
	}
	r.Excluded = !r.Excluded
	p.out[r.TopicPartition] = r.Excluded
	p.table.Move(1)
	return nil
}

// excludeAll takes all rows out, or when some are out all in.
func (p *reset) excludeAll() tea.Cmd {
	out := true
	for i := range p.plan.Rows {
		out = out && !p.plan.Rows[i].Excluded
	}
	for i := range p.plan.Rows {
		r := &p.plan.Rows[i]
		if r.From != r.To || r.Excluded {
			r.Excluded = out
			p.out[r.TopicPartition] = out
		}
	}
	return nil
}

// edit asks where the row under the cursor shall go instead.
func (p *reset) edit() tea.Cmd {
	r, ok := p.at()
	if !ok {
		return nil
	}
	initial := ""
	if w, edited := p.edits[r.TopicPartition]; edited {
		initial = w.String()
	} else if r.To >= 0 {
		initial = fmt.Sprint(r.To)
	}
	return page.Send(page.Ask{
		ID: editing + r.TopicPartition.String(), Prompt: kit.Safe(r.TopicPartition.String(), 100) + " to", Initial: initial,
		Hint: "an offset, earliest, latest, a time, 2h for that long ago, -100, group:NAME; nothing takes the edit back",
	})
}

// askTopics asks which topics and partitions the reset is about.
func (p *reset) askTopics() tea.Cmd {
	return page.Send(page.Ask{
		ID: topics, Prompt: "topics", Initial: p.scopeText(), Choices: p.known.topics,
		Hint: "orders payments:0,2; nothing means all that the group has committed",
	})
}

// scopeText writes the topics as they are typed.
func (p *reset) scopeText() string {
	var words []string
	for _, s := range p.scope {
		word := s.Topic
		for i, n := range s.Partitions {
			sep := ","
			if i == 0 {
				sep = ":"
			}
			word += sep + fmt.Sprint(n)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func (p *reset) answered(a page.Answered) tea.Cmd {
	tp, isEdit := strings.CutPrefix(a.ID, editing)
	switch {
	case !a.OK:
		return nil
	case isEdit:
		return p.edited(tp, a.Text)
	case a.ID != topics:
		return nil
	}
	var scope []model.TopicSelector
	for word := range strings.FieldsSeq(a.Text) {
		s, err := model.ParseSelector(word)
		if err != nil {
			return page.Send(page.Ask{
				ID: topics, Prompt: "topics", Initial: a.Text, Choices: p.known.topics, Err: err.Error(),
				Hint: "orders payments:0,2; nothing means all that the group has committed",
			})
		}
		scope = append(scope, s)
	}
	p.scope = scope
	p.changed()
	return p.replan()
}

func (p *reset) edited(tp, text string) tea.Cmd {
	for i := range p.plan.Rows {
		r := &p.plan.Rows[i]
		if r.TopicPartition.String() != tp {
			continue
		}
		if strings.TrimSpace(text) == "" {
			delete(p.edits, r.TopicPartition)
			p.changed()
			return p.replan()
		}
		w, err := editWhere(text, p.Now(), p.Clock.Location())
		if err != nil {
			return page.Send(page.Ask{ID: editing + tp, Prompt: kit.Safe(tp, 100) + " to", Initial: text, Err: err.Error(), Hint: "an offset, earliest, latest, a time, 2h for that long ago, -100, group:NAME"})
		}
		p.edits[r.TopicPartition] = w
		p.out[r.TopicPartition] = false
		p.changed()
		return p.replan()
	}
	return nil
}

// records opens the records where the group would go on.
func (p *reset) records() tea.Cmd {
	r, ok := p.at()
	if !ok {
		return nil
	}
	a := model.PartitionAddress(r.TopicPartition)
	a.Offset = r.To
	return page.Goto(page.Records, a)
}

func (p *reset) journal() tea.Cmd { return page.Goto(page.Journal, p.Address()) }

// takeBack plans the undo of what was just applied.
func (p *reset) takeBack() tea.Cmd {
	return page.Send(page.Open{Kind: page.Reset, Addr: p.Address(), Args: page.Args{Undo: p.done.result.Journal}, Replace: true})
}
