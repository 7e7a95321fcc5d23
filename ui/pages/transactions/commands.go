package transactions

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *transactions) Commands() []page.Command {
	group := page.Command{Key: page.Bind("o", "its group"), Off: p.whyNoGroup, Run: p.group}
	if p.inside {
		return append([]page.Command{
			{Key: page.Bind("esc h left tab", "transactions"), Run: p.leave},
			{Key: page.Bind("enter", "records there"), Off: p.whyNoRecords, Run: p.records},
			group,
		}, page.ListCommands(&p.items.VList, nil)...)
	}
	return append([]page.Command{
		{Key: page.Bind("enter tab l right", "partitions"), Off: p.whyNoPartitions, Run: p.enter},
		group,
		{Key: page.Bind("y", "copy the id"), Off: p.whyNone, Run: p.copy, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Off: p.whyNoSource, Run: p.reload, Quiet: true},
	}, page.ListCommands(&p.list.VList, p.follow)...)
}

func (p *transactions) whyNoSource() string {
	if p.src == nil {
		return "this source knows no transactions"
	}
	return ""
}

func (p *transactions) whyNone() string {
	if _, ok := p.at(); !ok {
		if why := p.whyNoSource(); why != "" {
			return why
		}
		return "there is no transaction here"
	}
	return ""
}

func (p *transactions) whyNoPartitions() string {
	if x, ok := p.at(); ok && len(x.Partitions) == 0 {
		return "it has written to no partition"
	}
	return p.whyNone()
}

func (p *transactions) whyNoGroup() string {
	if x, ok := p.at(); ok && len(x.Groups) == 0 {
		return "it commits no group's offsets"
	}
	return p.whyNone()
}

func (p *transactions) whyNoRecords() string {
	i := p.items.Cursor()
	if i >= int64(len(p.holds.rows)) {
		return "there is no partition here"
	}
	if p.holds.rows[i].first < 0 {
		return "nothing of the transaction is there"
	}
	return ""
}

// enter gives the partitions the screen.
func (p *transactions) enter() tea.Cmd {
	x, ok := p.at()
	p.inside = ok && len(x.Partitions) > 0
	return nil
}

func (p *transactions) leave() tea.Cmd {
	p.inside = false
	return nil
}

// group opens the first group whose offsets the transaction commits.
func (p *transactions) group() tea.Cmd {
	x, ok := p.at()
	if !ok || len(x.Groups) == 0 {
		return nil
	}
	a := model.TopicAddress("")
	a.Group = x.Groups[0]
	return page.Goto(page.Group, a)
}

// records opens the records at which the transaction begins in the partition under the cursor.
func (p *transactions) records() tea.Cmd {
	i := p.items.Cursor()
	if i >= int64(len(p.holds.rows)) {
		return nil
	}
	a := model.PartitionAddress(p.holds.rows[i].TopicPartition)
	a.Offset = p.holds.rows[i].first
	return page.Goto(page.Records, a)
}

func (p *transactions) copy() tea.Cmd {
	x, ok := p.at()
	if !ok {
		return nil
	}
	return page.Send(page.Copy{Text: x.ID, What: "transactional id " + kit.Safe(x.ID, 100)})
}
