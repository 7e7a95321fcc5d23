package delivery

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *delivery) Commands() []page.Command {
	row := func(keys, help string, f func()) page.Command {
		return page.Command{Key: page.Bind(keys, help), Group: page.Moving, Quiet: true, Run: func() tea.Cmd {
			f()
			p.follow()
			return nil
		}}
	}
	move := func(d int64) func() {
		return func() {
			p.table.Move(d)
			p.steps.Home()
		}
	}
	turn := func(d int) func() {
		return func() {
			p.mode = min(max(p.mode+d, 0), len(p.modes)-1)
			p.steps.Home()
		}
	}
	return []page.Command{
		{Key: page.Bind("r", "run all"), Off: p.whyNoRun, Run: func() tea.Cmd { return p.start(nil, nil) }},
		{Key: page.Bind("enter", "run this one"), Off: p.whyNoRun, Run: p.one},
		{Key: page.Bind("c", "stop"), Off: p.whyNoStop, Run: p.stop},
		{Key: page.Bind("o", "its records"), Off: p.whyNoRecords, Run: p.records},
		{Key: page.Bind("X", "transactions"), Off: p.whyNoTransactions, Run: p.transactions},
		row("j down", "next fault", move(1)),
		row("k up", "fault before", move(-1)),
		row("l right", "next mode", turn(1)),
		row("h left", "mode before", turn(-1)),
		row("g home", "first fault", p.table.Home),
		row("G end", "last fault", p.table.End),
		row("ctrl+d", "steps: half a page down", func() { p.steps.Half(1) }),
		row("ctrl+u", "steps: half a page up", func() { p.steps.Half(-1) }),
		row("pgdown ctrl+f", "steps: page down", func() { p.steps.Page(1) }),
		row("pgup ctrl+b", "steps: page up", func() { p.steps.Page(-1) }),
	}
}

func (p *delivery) whyNoRun() string {
	switch {
	case p.src == nil:
		return "this source runs no broker of its own"
	case p.run.Busy():
		return "it is running"
	}
	return ""
}

func (p *delivery) whyNoStop() string {
	if !p.run.Busy() {
		return "nothing is running"
	}
	return ""
}

func (p *delivery) whyNoRecords() string {
	if p.at().result == nil {
		return "it was not run yet"
	}
	return ""
}

func (p *delivery) whyNoTransactions() string {
	if !page.Able[model.TransactionReader](p.Src) {
		return "this source knows no transactions"
	}
	return ""
}

// one runs what is under the cursor.
func (p *delivery) one() tea.Cmd {
	return p.start([]model.DeliveryMode{p.modes[p.mode]}, []model.DeliveryFault{p.faults[p.table.Cursor()]})
}

// stop ends the experiment; what was counted stays.
func (p *delivery) stop() tea.Cmd {
	p.run.Cancel()
	p.settle()
	return nil
}

// records opens the records of a run.
func (p *delivery) records() tea.Cmd {
	r := p.at().result
	if r == nil {
		return nil
	}
	return page.Goto(page.Records, model.PartitionAddress(model.TopicPartition{Topic: r.Topic}))
}

func (p *delivery) transactions() tea.Cmd {
	return page.Goto(page.Transactions, model.TopicAddress(""))
}
