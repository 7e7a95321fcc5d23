package partitions

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *partitions) Commands() []page.Command {
	return append([]page.Command{
		{Key: page.Bind("enter l right", "open"), Off: p.whyNone, Run: p.open},
		{Key: page.Bind("r", "records"), Off: p.whyNotLive, Run: p.to(page.Records)},
		{Key: page.Bind("t", "tail"), Off: p.needs("this source cannot be followed", page.Able[model.Tailer]), Run: p.to(page.Tail)},
		{Key: page.Bind("x", "lookup"), Off: p.needs(page.NoFiles(p.Src, "this source shows no files to look into", "r, then o finds an offset or a time"), page.Able[model.SegmentReader]), Run: p.to(page.Lookup)},
		{Key: page.Bind("v", "verify"), Off: p.needs(page.NoFiles(p.Src, "this source shows no files to check", "strata DIR checks one of its brokers' files"), page.Able[model.Verifier]), Run: p.to(page.Check)},
		{Key: page.Bind("s", "sort"), Run: p.nextSort},
		{Key: page.Bind("b", "batches, the newest"), Off: p.needs("this source shows no batches", page.ShowsBatches), Run: p.to(page.Batches), Quiet: true},
		{Key: page.Bind("p", "produce"), Off: p.needs("this source is read-only: nothing can be produced", page.Able[model.Producer]), Run: p.to(page.Produce), Quiet: true},
		{Key: page.Bind("c", "groups that read this topic"), Run: p.whole(page.Groups), Quiet: true},
		{Key: page.Bind("R", "records of all partitions"), Run: p.whole(page.Records), Quiet: true},
		{Key: page.Bind("T", "tail all partitions"), Off: p.whyNoTail, Run: p.whole(page.Tail), Quiet: true},
		{Key: page.Bind("A", "alter configs, add partitions"), Off: p.whyNoAdmin, Run: p.whole(page.Alter), Quiet: true},
		{Key: page.Bind("D", "delete records"), Off: p.needs("this source is read-only: nothing can be deleted", page.Able[model.RecordDeleter]), Run: p.to(page.Truncate), Quiet: true},
		{Key: page.Bind("#", "count exactly"), Off: p.whyNoCount, Run: p.count, Quiet: true},
		{Key: page.Bind("S", "turn the order"), Run: p.turn, Quiet: true},
		{Key: page.Bind("y", "copy the address"), Off: p.whyNone, Run: p.copy, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Run: p.reload, Quiet: true},
	}, page.ListCommands(&p.table.VList, nil)...)
}

func (p *partitions) whyNone() string {
	if _, ok := p.at(); !ok {
		return "there is no partition here"
	}
	return ""
}

// whyNotLive is for what works on partitions in use only.
func (p *partitions) whyNotLive() string {
	if r, ok := p.at(); ok && r.State != model.Live {
		return "this folder is left over (" + r.State.String() + "), not the partition in use"
	}
	return p.whyNone()
}

func (p *partitions) needs(why string, has func(model.Source) bool) func() string {
	return func() string {
		if !has(p.Src) {
			return why
		}
		return p.whyNotLive()
	}
}

func (p *partitions) whyNoTail() string {
	if !page.Able[model.Tailer](p.Src) {
		return "this source cannot be followed"
	}
	return ""
}

func (p *partitions) whyNoAdmin() string {
	if !page.Able[model.TopicAdmin](p.Src) {
		return "this source is read-only: topics can't be changed"
	}
	return ""
}

func (p *partitions) whyNoCount() string {
	if !page.Able[model.Counter](p.Src) {
		return "this source cannot count records"
	}
	return ""
}

// open goes in: to the segments, or where the source shows none to the records.
func (p *partitions) open() tea.Cmd {
	r, _ := p.at()
	switch {
	case r.State != model.Live:
		return page.Say(page.Warn, p.whyNotLive())
	case page.Able[model.SegmentReader](p.Src):
		return p.to(page.Segments)()
	}
	return p.to(page.Records)()
}

// to opens a screen about the partition under the cursor.
func (p *partitions) to(k page.Kind) func() tea.Cmd {
	return func() tea.Cmd {
		r, ok := p.at()
		if !ok {
			return nil
		}
		return page.Goto(k, model.PartitionAddress(r.TopicPartition))
	}
}

// whole opens a screen about the topic.
func (p *partitions) whole(k page.Kind) func() tea.Cmd {
	return func() tea.Cmd { return page.Goto(k, model.TopicAddress(p.topic)) }
}

func (p *partitions) turn() tea.Cmd {
	p.sortBy(p.sorted)
	return nil
}

func (p *partitions) copy() tea.Cmd {
	r, ok := p.at()
	if !ok {
		return nil
	}
	text := model.PartitionAddress(r.TopicPartition).String()
	return page.Send(page.Copy{Text: text, What: "address " + kit.Safe(text, 200)})
}

// count makes the topic's counts exact.
func (p *partitions) count() tea.Cmd {
	c, ok := p.Src.(model.Counter)
	if !ok {
		return nil
	}
	return p.counter.Start(p.Ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.Count(ctx, []string{p.topic})
	})
}

func (p *partitions) counted(err error) tea.Cmd {
	if err != nil {
		return page.Say(page.Bad, "counting: "+kit.Safe(err.Error(), 200))
	}
	return tea.Batch(page.Say(page.Good, "counted"), p.reload())
}
