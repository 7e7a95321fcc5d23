package clients

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *clients) Commands() []page.Command {
	group := page.Command{Key: page.Bind("o", "its group"), Off: p.whyNoGroup, Run: p.group}
	txns := page.Command{Key: page.Bind("t", "transactions"), Off: p.whyNoTransactions, Run: p.transactions}
	if p.inside {
		return append([]page.Command{
			{Key: page.Bind("esc h left tab", "clients"), Run: p.leave},
			txns,
		}, page.ListCommands(&p.apis.VList, nil)...)
	}
	return append([]page.Command{
		{Key: page.Bind("enter tab l right", "APIs"), Off: p.whyNoAPIs, Run: p.enter},
		group, txns,
		{Key: page.Bind("s", "sort"), Run: p.nextSort},
		{Key: page.Bind("S", "turn the order"), Run: func() tea.Cmd { return p.sortBy(p.sorted) }, Quiet: true},
		{Key: page.Bind("y", "copy the address"), Off: p.whyNone, Run: p.copy, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Off: p.whyNoSource, Run: p.reload, Quiet: true},
	}, page.ListCommands(&p.list.VList, nil)...)
}

func (p *clients) whyNoSource() string {
	if p.src == nil {
		return "no client connects to this source"
	}
	return ""
}

func (p *clients) whyNone() string {
	if _, ok := p.at(); !ok {
		if why := p.whyNoSource(); why != "" {
			return why
		}
		return "there is no client here"
	}
	return ""
}

func (p *clients) whyNoAPIs() string {
	if why := p.whyNoSource(); why != "" {
		return why
	}
	if len(p.stats) == 0 {
		return "nothing was asked yet"
	}
	return ""
}

func (p *clients) whyNoGroup() string {
	if c, ok := p.at(); ok && len(c.Groups) == 0 {
		return "this client is a member of no group"
	}
	return p.whyNone()
}

func (p *clients) whyNoTransactions() string {
	if !page.Able[model.TransactionReader](p.Src) {
		return "this source knows no transactions"
	}
	return ""
}

// enter gives the APIs the screen.
func (p *clients) enter() tea.Cmd {
	p.inside = len(p.stats) > 0
	return nil
}

func (p *clients) leave() tea.Cmd {
	p.inside = false
	return nil
}

// group opens the newest group in which the client under the cursor is a member.
func (p *clients) group() tea.Cmd {
	c, ok := p.at()
	if !ok || len(c.Groups) == 0 {
		return nil
	}
	a := model.TopicAddress("")
	a.Group = c.Groups[len(c.Groups)-1]
	return page.Goto(page.Group, a)
}

func (p *clients) transactions() tea.Cmd {
	return page.Goto(page.Transactions, model.TopicAddress(""))
}

func (p *clients) copy() tea.Cmd {
	c, ok := p.at()
	if !ok {
		return nil
	}
	return page.Send(page.Copy{Text: c.Address, What: "address of " + kit.Safe(name(c), 100)})
}
