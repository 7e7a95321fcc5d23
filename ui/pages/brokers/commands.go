package brokers

import (
	"context"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// lateVoter is how far behind a voter is worth a warning.
const lateVoter = 10 * time.Second

func (p *brokers) Commands() []page.Command {
	access := page.Command{Key: page.Bind("w", "who may do what"), Off: p.whyNoAccess, Run: p.access, Quiet: true}
	switch p.screen {
	case configScreen:
		return append([]page.Command{
			{Key: page.Bind("esc h left", "brokers"), Run: p.leave},
			{Key: page.Bind("a", "all, or what differs"), Run: p.turnWhole},
			{Key: page.Bind("y", "copy the value"), Off: p.whyNoConfig, Run: p.copyConfig},
			{Key: page.Bind("ctrl+r", "read again"), Run: p.readConfigs, Quiet: true},
		}, page.ListCommands(&p.settings.VList, nil)...)
	case quorumScreen:
		return append([]page.Command{
			{Key: page.Bind("esc h left tab", "brokers"), Run: p.leave},
			{Key: page.Bind("ctrl+r", "ask again"), Run: p.reload, Quiet: true},
		}, page.ListCommands(&p.voters.VList, nil)...)
	}
	return append([]page.Command{
		{Key: page.Bind("enter l right", "configs"), Off: p.whyNoConfigs, Run: p.enter},
		{Key: page.Bind("tab", "quorum"), Off: p.whyNoQuorum, Run: p.toQuorum},
		{Key: page.Bind("s", "sort"), Run: p.nextSort},
		{Key: page.Bind("y", "copy the address"), Off: p.whyNoAddress, Run: p.copy},
		access,
		{Key: page.Bind("S", "turn the order"), Run: func() tea.Cmd { return p.sortBy(p.sorted) }, Quiet: true},
		{Key: page.Bind("ctrl+r", "ask again"), Off: p.whyNoSource, Run: p.reload, Quiet: true},
	}, page.ListCommands(&p.list.VList, p.follow)...)
}

func (p *brokers) whyNoSource() string {
	if p.src == nil {
		return "this source has no brokers to be shown"
	}
	return ""
}

func (p *brokers) whyNone() string {
	if _, ok := p.at(); !ok {
		if why := p.whyNoSource(); why != "" {
			return why
		}
		return "there is no broker here"
	}
	return ""
}

func (p *brokers) whyNoConfigs() string {
	if b, ok := p.at(); ok && b.Err != nil {
		return "broker " + strconv.Itoa(int(b.ID)) + " does not answer"
	}
	return p.whyNone()
}

func (p *brokers) whyNoAddress() string {
	if b, ok := p.at(); ok && b.Address == "" {
		return "its address is not known: it is not in the cluster"
	}
	return p.whyNone()
}

func (p *brokers) whyNoQuorum() string {
	switch {
	case p.src == nil:
		return p.whyNoSource()
	case p.quorumErr != nil:
		return kit.Safe(p.quorumErr.Error(), 120)
	case len(p.quorum) == 0:
		return "this cluster has no metadata quorum that could be asked"
	}
	return ""
}

func (p *brokers) whyNoAccess() string {
	if !page.Able[model.AccessReader](p.Src) {
		return "this source cannot say who may do what"
	}
	return ""
}

func (p *brokers) whyNoConfig() string {
	if p.settings.Cursor() >= int64(len(p.shown)) {
		return "there is no config here"
	}
	return ""
}

// enter shows the configs of the broker under the cursor.
func (p *brokers) enter() tea.Cmd {
	b, ok := p.at()
	if !ok || b.Err != nil {
		return nil
	}
	p.screen, p.of, p.got, p.configErr = configScreen, b.ID, false, nil
	p.configs, p.shown, p.filter = nil, nil, page.Filter{}
	p.settings.SetLen(0)
	p.arrange()
	return p.readConfigs()
}

func (p *brokers) readConfigs() tea.Cmd {
	src, id := p.src, p.of
	return p.reading.Start(p.Ctx, func(ctx context.Context) ([]model.ConfigEntry, error) { return src.BrokerConfig(ctx, id) })
}

func (p *brokers) leave() tea.Cmd {
	p.reading.Cancel()
	p.screen, p.filter = listScreen, page.Filter{}
	p.arrange()
	return nil
}

func (p *brokers) toQuorum() tea.Cmd {
	p.screen = quorumScreen
	return nil
}

func (p *brokers) turnWhole() tea.Cmd {
	p.whole = !p.whole
	p.settings.Rearrange(p.arrangeConfigs)
	return nil
}

func (p *brokers) access() tea.Cmd { return page.Goto(page.Access, model.TopicAddress("")) }

func (p *brokers) copy() tea.Cmd {
	b, ok := p.at()
	if !ok {
		return nil
	}
	return page.Send(page.Copy{Text: b.Address, What: "address of broker " + strconv.Itoa(int(b.ID))})
}

func (p *brokers) copyConfig() tea.Cmd {
	i := p.settings.Cursor()
	if i >= int64(len(p.shown)) {
		return nil
	}
	c := &p.configs[p.shown[i]]
	return page.Send(page.Copy{Text: c.Value, What: "value of " + kit.Safe(c.Name, 100)})
}
