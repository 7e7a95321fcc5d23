package tail

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

func (p *tail) Commands() []page.Command {
	pause := "pause"
	if p.paused {
		pause = "go on"
	}
	cmds := []page.Command{
		{Key: page.Bind("space", pause), Off: p.whyNotRunning, Run: p.turn},
		{Key: page.Bind("enter l right", "open"), Off: p.whyNone, Run: p.openRecord},
		{Key: page.Bind("r", "records around it"), Off: p.whyNone, Run: p.around},
		{Key: page.Bind("c", p.committedHelp()), Off: p.whyNotRunning, Run: p.toggleCommitted},
		{Key: page.Bind("y", "copy the value"), Off: p.whyNone, Run: p.copyValue, Quiet: true},
		{Key: page.Bind("K", "copy the key"), Off: p.whyNone, Run: p.copyKey, Quiet: true},
		{Key: page.Bind("J", "copy the record as JSON"), Off: p.whyNone, Run: p.copyAll, Quiet: true},
		{Key: page.Bind("F", "search what was written before"), Off: p.whyNoSearch, Run: p.search, Quiet: true},
		{Key: page.Bind("p", "produce"), Off: p.whyNoProduce, Run: p.produce, Quiet: true},
		{Key: page.Bind("ctrl+r", "begin anew"), Run: p.again, Quiet: true},
	}
	for _, c := range page.ListCommands(mover{p}, nil) {
		if c.Key.Keys()[0] == "G" {
			c.Key, c.Quiet = page.Bind("G end", "newest, and go on"), !p.paused
		}
		cmds = append(cmds, c)
	}
	return cmds
}

// mover pauses before it moves up, so that nothing moves under the eye.
type mover struct{ p *tail }

func (m mover) do(d int64, f func(d int64)) {
	if d < 0 {
		m.p.pause()
	}
	f(d)
	if d > 0 && m.p.list.AtEnd() {
		m.p.extend()
	}
}

func (m mover) Move(d int64) { m.do(d, m.p.list.Move) }
func (m mover) Half(d int64) { m.do(d, m.p.list.Half) }
func (m mover) Page(d int64) { m.do(d, m.p.list.Page) }
func (m mover) Home()        { m.do(-1, func(int64) { m.p.list.Home() }) }
func (m mover) End()         { m.p.resume() }

func (p *tail) whyNotRunning() string {
	switch {
	case p.src == nil:
		return "this source cannot be followed"
	case p.run == nil:
		return "nothing is followed yet"
	}
	return ""
}

func (p *tail) whyNone() string {
	if p.at() == nil {
		return "there is no record here"
	}
	return ""
}

func (p *tail) whyNoSearch() string {
	if _, ok := p.Src.(model.Searcher); !ok {
		return "this source cannot be searched"
	}
	return ""
}

func (p *tail) whyNoProduce() string {
	_, ok := p.Src.(model.Producer)
	switch {
	case !ok:
		return "this source is read-only: nothing can be produced"
	case p.Address().Topic == "":
		return "several topics are followed: go to one of them"
	}
	return ""
}

func (p *tail) committedHelp() string {
	if p.committed {
		return "show all"
	}
	return "committed only"
}

func (p *tail) turn() tea.Cmd {
	if p.paused {
		p.resume()
	} else {
		p.pause()
	}
	return nil
}

// openRecord opens the record under the cursor, and holds still until one comes back.
func (p *tail) openRecord() tea.Cmd {
	p.pause()
	r := *p.at()
	a := model.PartitionAddress(r.TopicPartition)
	a.Offset = r.Offset
	return page.Send(page.Open{Kind: page.Record, Addr: a, Args: page.Args{Record: &r}})
}

func (p *tail) around() tea.Cmd {
	p.pause()
	r := p.at()
	a := model.PartitionAddress(r.TopicPartition)
	a.Offset = r.Offset
	return page.Goto(page.Records, a)
}

func (p *tail) toggleCommitted() tea.Cmd {
	p.committed = !p.committed
	word := "all records are shown, aborted ones too"
	if p.committed {
		word = "only committed records are shown, and only when their transaction has ended"
	}
	return tea.Batch(p.reopen(), page.Say(page.Info, word))
}

func (p *tail) search() tea.Cmd {
	return page.Send(page.Open{Kind: page.Search, Addr: p.Address(), Args: page.Args{Topics: p.topics, Partitions: p.parts, Pattern: p.filter.Text()}})
}

func (p *tail) produce() tea.Cmd { return page.Goto(page.Produce, p.Address()) }

func (p *tail) again() tea.Cmd {
	if p.src == nil {
		return nil
	}
	p.err = nil
	return p.start()
}

func (p *tail) copyValue() tea.Cmd { return p.copy(p.at().Value, "value") }
func (p *tail) copyKey() tea.Cmd   { return p.copy(p.at().Key, "key") }

func (p *tail) copyAll() tea.Cmd {
	return page.Send(page.Copy{Text: rows.JSON(p.at()), What: "JSON of " + p.address()})
}

func (p *tail) copy(b []byte, what string) tea.Cmd {
	if b == nil {
		return page.Say(page.Warn, "the "+what+" is null: there is nothing to copy")
	}
	return page.Send(page.Copy{Text: string(b), What: what + " of " + p.address()})
}

func (p *tail) address() string {
	r := p.at()
	a := model.PartitionAddress(r.TopicPartition)
	a.Offset = r.Offset
	return kit.Safe(a.String(), 200)
}

// Mouse scrolls, which pauses, and selects what is clicked.
func (p *tail) Mouse(m page.Mouse) tea.Cmd {
	switch m.Kind {
	case page.WheelUp:
		p.pause()
		p.list.Scroll(-3)
	case page.WheelDown:
		if p.paused {
			p.list.Scroll(3)
			if _, to := p.list.Window(); to >= p.list.Len {
				p.extend()
			}
		}
	default:
		i, ok := p.list.RowAt(m.Y - headLines)
		if !ok {
			return nil
		}
		key := p.lines[i].key()
		p.list.SetCursor(i)
		p.pause()
		if p.list.Select(key) && m.Kind == page.DoubleClick && p.at() != nil {
			return p.openRecord()
		}
	}
	return nil
}
