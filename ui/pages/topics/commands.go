package topics

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *topics) Commands() []page.Command {
	rows := []page.Command{
		{Key: page.Bind("enter l right", "open"), Off: p.whyNone, Run: p.open},
		{Key: page.Bind("t", "tail"), Off: p.needs(page.Tail), Run: p.tail},
		{Key: page.Bind("p", "produce"), Off: p.needs(page.Produce), Run: p.to(page.Produce)},
		{Key: page.Bind("g", "groups"), Off: p.whyNone, Run: p.to(page.Groups)},
		{Key: page.Bind("s", "sort"), Run: p.nextSort},
		{Key: page.Bind("c", "create"), Off: p.whyNoAdmin, Run: p.create},
		{Key: page.Bind("r", "records"), Off: p.whyNone, Run: p.to(page.Records), Quiet: true},
		{Key: page.Bind("v", "verify"), Off: p.needs(page.Check), Run: p.to(page.Check), Quiet: true},
		{Key: page.Bind("V", "verify everything"), Off: p.whyNoVerify, Run: p.verifyAll, Quiet: true},
		{Key: page.Bind("d", "disk"), Run: p.bare(page.Disk), Quiet: true},
		{Key: page.Bind("o", "what this directory is"), Off: p.whyNoOverview, Run: p.bare(page.Overview), Quiet: true},
		{Key: page.Bind("A", "alter configs, add partitions"), Off: p.needs(page.Alter), Run: p.to(page.Alter), Quiet: true},
		{Key: page.Bind("D", "delete"), Off: p.needs(page.Delete), Run: p.to(page.Delete), Quiet: true},
		{Key: page.Bind("#", "count exactly"), Off: p.whyNoCount, Run: p.count, Quiet: true},
		{Key: page.Bind("S", "turn the order"), Run: func() tea.Cmd { return p.sortBy(p.sorted) }, Quiet: true},
		{Key: page.Bind("y", "copy the name"), Off: p.whyNone, Run: p.copy, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Run: p.again, Quiet: true},
		page.MarkCommand(&p.table.VList),
	}
	for _, c := range page.ListCommands(&p.table.VList, nil) {
		if c.Key.Keys()[0] == "g" {
			// g is groups here: of what one wants to know of a topic that comes first.
			c.Key = page.Bind("home", c.Key.Help().Desc)
		}
		rows = append(rows, c)
	}
	return rows
}

func (p *topics) whyNone() string {
	if _, ok := p.at(); !ok {
		return "there is no topic here"
	}
	return ""
}

func (p *topics) whyNoAdmin() string {
	if _, ok := p.Src.(model.TopicAdmin); !ok {
		return "this source is read-only: topics can't be made or changed"
	}
	return ""
}

func (p *topics) whyNoVerify() string {
	if _, ok := p.Src.(model.Verifier); !ok {
		return page.NoFiles(p.Src, "this source shows no files to check", "strata DIR checks one of its brokers' files")
	}
	return ""
}

func (p *topics) whyNoOverview() string {
	if _, ok := p.Src.(model.Inspector); !ok {
		return page.NoFiles(p.Src, "this source is no log directory", "B shows its brokers' log directories")
	}
	return ""
}

func (p *topics) whyNoCount() string {
	if _, ok := p.Src.(model.Counter); !ok {
		return "this source cannot count records"
	}
	return p.whyNone()
}

// needs returns why a screen about the topic under the cursor cannot be opened.
func (p *topics) needs(k page.Kind) func() string {
	return func() string {
		var ok bool
		why := "this source is read-only"
		switch k {
		case page.Tail:
			_, ok = p.Src.(model.Tailer)
			why = "this source cannot be followed"
		case page.Produce:
			_, ok = p.Src.(model.Producer)
			why = "this source is read-only: nothing can be produced"
		case page.Check:
			return firstOf(p.whyNoVerify(), p.whyNone())
		case page.Alter, page.Delete:
			return firstOf(p.whyNoAdmin(), p.whyNone())
		}
		if !ok {
			return why
		}
		return p.whyNone()
	}
}

func firstOf(whys ...string) string {
	for _, w := range whys {
		if w != "" {
			return w
		}
	}
	return ""
}

// to opens a screen about the topic under the cursor.
func (p *topics) to(k page.Kind) func() tea.Cmd {
	return func() tea.Cmd {
		t, ok := p.at()
		if !ok {
			return nil
		}
		return page.Goto(k, model.TopicAddress(t.Name))
	}
}

// bare opens a screen about everything.
func (p *topics) bare(k page.Kind) func() tea.Cmd {
	return func() tea.Cmd { return page.Goto(k, model.TopicAddress("")) }
}

func (p *topics) open() tea.Cmd      { return p.to(page.Partitions)() }
func (p *topics) create() tea.Cmd    { return p.bare(page.Create)() }
func (p *topics) verifyAll() tea.Cmd { return p.bare(page.Check)() }

// tail follows the marked topics, or the one under the cursor.
func (p *topics) tail() tea.Cmd {
	if p.table.Marks() == 0 {
		return p.to(page.Tail)()
	}
	return page.Send(page.Open{Kind: page.Tail, Addr: model.TopicAddress(""), Args: page.Args{Topics: p.marked()}})
}

// marked returns the names of the marked topics, in the order of the source.
func (p *topics) marked() []string {
	var names []string
	for i := range p.rows {
		if p.table.Marked(int64(i)) {
			names = append(names, p.all[p.rows[i]].Name)
		}
	}
	return names
}

func (p *topics) copy() tea.Cmd {
	t, ok := p.at()
	if !ok {
		return nil
	}
	return page.Send(page.Copy{Text: t.Name, What: "name of " + kit.Safe(t.Name, 100)})
}

func (p *topics) again() tea.Cmd {
	p.due = true
	return p.reload()
}
