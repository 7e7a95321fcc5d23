package search

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

func (p *search) Commands() []page.Command {
	order := "newest first"
	if p.backward {
		order = "oldest first"
	}
	cmds := []page.Command{
		{Key: page.Bind("/", "what to find"), Off: p.whyNot, Run: func() tea.Cmd { return p.ask("", "") }},
		{Key: page.Bind("enter l right", "open"), Off: p.whyNone, Run: p.open},
		{Key: page.Bind("n", "go on"), Off: p.whyNoMore, Run: p.goOn},
		{Key: page.Bind("d", order), Off: p.whyNoPattern, Run: p.again(func() { p.backward = !p.backward })},
		{Key: page.Bind("w", "where: "+((p.in+1)%4).String()), Off: p.whyNoPattern, Run: p.again(func() { p.in = (p.in + 1) % 4 })},
		{Key: page.Bind("s", "since when"), Off: p.whyNoPattern, Run: func() tea.Cmd { return p.askTime("") }},
		{Key: page.Bind("c", p.committedHelp()), Off: p.whyNoPattern, Run: p.again(func() { p.committed = !p.committed }), Quiet: true},
		{Key: page.Bind("r", "records around it"), Off: p.whyNone, Run: p.around, Quiet: true},
		{Key: page.Bind("y", "copy the address"), Off: p.whyNone, Run: p.copy, Quiet: true},
		{Key: page.Bind("ctrl+r", "search again"), Off: p.whyNoPattern, Run: p.again(func() {}), Quiet: true},
	}
	if p.stream.Busy() {
		cmds = append([]page.Command{{Key: page.Bind("esc", "stop"), Run: p.stop}}, cmds...)
	}
	return append(cmds, page.ListCommands(&p.cur, nil)...)
}

func (p *search) committedHelp() string {
	if p.committed {
		return "aborted records too"
	}
	return "committed only"
}

func (p *search) whyNot() string {
	if p.src == nil {
		return "this source cannot be searched"
	}
	return ""
}

func (p *search) whyNoPattern() string {
	if p.pattern.Text == "" && p.src != nil {
		return "nothing was looked for yet: / asks"
	}
	return p.whyNot()
}

func (p *search) whyNone() string {
	if p.at() == nil {
		return "there is no hit here"
	}
	return ""
}

func (p *search) whyNoMore() string {
	switch {
	case p.stream.Busy():
		return "it runs: esc stops it"
	case !p.more:
		return "there is nothing left to look at"
	}
	return p.whyNoPattern()
}

// again changes something and begins anew.
func (p *search) again(change func()) func() tea.Cmd {
	return func() tea.Cmd {
		change()
		return p.start()
	}
}

func (p *search) askTime(why string) tea.Cmd {
	return page.Send(page.Ask{ID: askSince, Prompt: "since", Hint: "2026-11-30 09:00, 2h30m (ago), 7d; empty for all times", Err: why})
}

func (p *search) answered(a page.Answered) tea.Cmd {
	if !a.OK {
		if a.ID == askPattern && !p.ran {
			return page.Send(page.Back{})
		}
		return nil
	}
	if a.ID == askSince {
		return p.setSince(strings.TrimSpace(a.Text))
	}
	if a.ID != askPattern {
		return nil
	}
	pat, err := rows.ParsePattern(a.Text)
	if err != nil {
		return p.ask(a.Text, err.Error())
	}
	p.last, p.pattern = a.Text, pat
	return tea.Batch(page.Send(page.Remember{Key: "pattern", Value: a.Text}), p.start())
}

func (p *search) setSince(text string) tea.Cmd {
	p.since = 0
	if text != "" {
		ms, err := model.ParseTime(text, p.Now(), p.Clock.Location())
		if err != nil {
			return p.askTime(err.Error())
		}
		p.since = ms
	}
	return p.start()
}

func (p *search) address() model.Address {
	r := p.at()
	a := model.PartitionAddress(r.TopicPartition)
	a.Offset = r.Offset
	return a
}

func (p *search) open() tea.Cmd   { return page.Goto(page.Record, p.address()) }
func (p *search) around() tea.Cmd { return page.Goto(page.Records, p.address()) }

func (p *search) copy() tea.Cmd {
	a := p.address().String()
	return page.Send(page.Copy{Text: a, What: "address " + kit.Safe(a, 200)})
}

// Mouse scrolls, selects what is clicked and opens what is clicked twice.
func (p *search) Mouse(m page.Mouse) tea.Cmd {
	switch m.Kind {
	case page.WheelUp:
		p.cur.Scroll(-3)
	case page.WheelDown:
		p.cur.Scroll(3)
	default:
		if i, ok := p.cur.RowAt(m.Y - headLines); ok {
			p.cur.SetCursor(i)
			if m.Kind == page.DoubleClick {
				return p.open()
			}
		}
	}
	return nil
}
