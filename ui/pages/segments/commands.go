package segments

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *segments) Commands() []page.Command {
	rows := []page.Command{
		{Key: page.Bind("enter l right", "batches"), Off: p.whyNone, Run: p.toSegment(page.Batches)},
		{Key: page.Bind("r", "records"), Run: p.records},
		{Key: page.Bind("x", "lookup"), Off: p.whyNoFiles, Run: p.to(page.Lookup)},
		{Key: page.Bind("v", "verify"), Off: p.whyNoVerify, Run: p.toSegment(page.Check)},
		{Key: page.Bind("i", "index"), Off: p.whyNone, Run: p.toSegment(page.Index)},
		{Key: page.Bind("/", "find"), Off: p.whyNone, Run: p.ask("")},
		{Key: page.Bind("t", "tail"), Off: p.whyNoTail, Run: p.to(page.Tail), Quiet: true},
		{Key: page.Bind("d", "disk"), Run: p.to(page.Disk), Quiet: true},
		{Key: page.Bind("V", "verify the partition"), Off: p.whyNoVerify, Run: p.to(page.Check), Quiet: true},
		{Key: page.Bind("p", "produce"), Off: p.whyNoProduce, Run: p.to(page.Produce), Quiet: true},
		{Key: page.Bind("D", "delete the records below this layer"), Off: p.whyNoDelete, Run: p.truncate, Quiet: true},
		{Key: page.Bind("#", "count exactly"), Off: p.whyNoCount, Run: p.countAll, Quiet: true},
		{Key: page.Bind("]", "next partition"), Off: p.whyNoNext, Run: p.sibling(1), Quiet: true},
		{Key: page.Bind("[", "previous partition"), Off: p.whyNoPrevious, Run: p.sibling(-1), Quiet: true},
		{Key: page.Bind("y", "copy the address"), Off: p.whyNone, Run: p.copy, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Run: p.again, Quiet: true},
	}
	return append(rows, p.moving()...)
}

// moving returns the rows that move the cursor from layer to layer.
func (p *segments) moving() []page.Command {
	row := func(keys, help string, to func() int) page.Command {
		return page.Command{Key: page.Bind(keys, help), Group: page.Moving, Quiet: true, Run: func() tea.Cmd {
			p.goTo(to())
			return nil
		}}
	}
	return []page.Command{
		row("j down", "down", func() int { return p.cursor + 1 }),
		row("k up", "up", func() int { return p.cursor - 1 }),
		row("ctrl+d", "half a page down", func() int { return p.jump(p.core.h / 2) }),
		row("ctrl+u", "half a page up", func() int { return p.jump(-p.core.h / 2) }),
		row("pgdown ctrl+f", "page down", func() int { return p.jump(p.core.h - 1) }),
		row("pgup ctrl+b", "page up", func() int { return p.jump(1 - p.core.h) }),
		row("g home", "newest layer", func() int { return 0 }),
		row("G end", "oldest layer", func() int { return len(p.segs) - 1 }),
	}
}

func (p *segments) goTo(i int) {
	p.cursor = max(0, min(i, len(p.segs)-1))
	if !p.core.stale { // else the next View shows it
		p.core.show(p.cursor)
	}
}

// jump returns the layer that is d lines further on, at least one layer on.
func (p *segments) jump(d int) int {
	if p.core.stale || len(p.core.starts) < 2 || d == 0 {
		return p.cursor
	}
	line := max(1, min(p.core.starts[p.cursor]+d, p.core.lines()-1))
	i, _ := p.core.layerAt(line)
	switch {
	case i < 0: // log start
		i = p.live - 1
	case i == p.cursor && d > 0:
		i++
	case i == p.cursor:
		i--
	}
	return i
}

// Mouse scrolls by lines, selects what is clicked and opens what is clicked twice.
func (p *segments) Mouse(m page.Mouse) tea.Cmd {
	switch m.Kind {
	case page.WheelUp:
		p.goTo(p.cursor - 1)
	case page.WheelDown:
		p.goTo(p.cursor + 1)
	default:
		y := m.Y - p.heads
		if y < 0 || y >= p.core.h || p.core.stale || len(p.core.starts) == 0 {
			return nil
		}
		if i, _ := p.core.layerAt(p.core.top + y); i >= 0 {
			p.goTo(i)
			if m.Kind == page.DoubleClick {
				return p.toSegment(page.Batches)()
			}
		}
	}
	return nil
}

func (p *segments) whyNone() string {
	if p.at() == nil {
		return "there is no segment here"
	}
	return ""
}

func (p *segments) whyNoFiles() string {
	if p.src == nil {
		return page.NoFiles(p.Src, "this source shows no files to look into", "r, then o finds an offset or a time")
	}
	return ""
}

func (p *segments) whyNoVerify() string {
	if !page.Able[model.Verifier](p.Src) {
		return page.NoFiles(p.Src, "this source shows no files to check", "strata DIR checks one of its brokers' files")
	}
	return p.whyNone()
}

func (p *segments) whyNoTail() string {
	if !page.Able[model.Tailer](p.Src) {
		return "this source cannot be followed"
	}
	return ""
}

func (p *segments) whyNoProduce() string {
	if !page.Able[model.Producer](p.Src) {
		return "this source is read-only: nothing can be produced"
	}
	return ""
}

func (p *segments) whyNoDelete() string {
	switch {
	case !page.Able[model.RecordDeleter](p.Src):
		return "this source is read-only: nothing can be deleted"
	case p.cursor >= p.live:
		return "these files are left over"
	}
	return ""
}

func (p *segments) whyNoCount() string {
	if !page.Able[model.Counter](p.Src) {
		return "this source cannot count records"
	}
	return ""
}

func (p *segments) whyNoNext() string {
	if int(p.tp.Partition)+1 >= p.many {
		return "this is the topic's last partition"
	}
	return ""
}

func (p *segments) whyNoPrevious() string {
	if p.tp.Partition == 0 {
		return "this is the topic's first partition"
	}
	return ""
}

// to opens a screen about the partition.
func (p *segments) to(k page.Kind) func() tea.Cmd {
	return func() tea.Cmd { return page.Goto(k, model.PartitionAddress(p.tp)) }
}

// toSegment opens a screen about the layer under the cursor.
func (p *segments) toSegment(k page.Kind) func() tea.Cmd {
	return func() tea.Cmd {
		s := p.at()
		if s == nil {
			return nil
		}
		if p.cursor >= p.live && leftoverKey(s.State) != "" {
			return page.Say(page.Warn, "these files are left over ("+string(s.State)+"), not part of the log")
		}
		a := model.PartitionAddress(p.tp)
		a.Segment = s.Base
		return page.Goto(k, a)
	}
}

func (p *segments) records() tea.Cmd {
	a := model.PartitionAddress(p.tp)
	if s := p.at(); s != nil && p.cursor < p.live {
		a.Offset = max(s.Base, p.part.LogStart)
	}
	return page.Goto(page.Records, a)
}

func (p *segments) truncate() tea.Cmd {
	a := model.PartitionAddress(p.tp)
	if s := p.at(); s != nil {
		a.Offset = s.Base
	}
	return page.Goto(page.Truncate, a)
}

func (p *segments) sibling(d int32) func() tea.Cmd {
	return func() tea.Cmd {
		tp := p.tp
		tp.Partition += d
		return page.Send(page.Open{Kind: page.Segments, Addr: model.PartitionAddress(tp), Replace: true})
	}
}

func (p *segments) copy() tea.Cmd {
	s := p.at()
	if s == nil {
		return nil
	}
	a := model.PartitionAddress(p.tp)
	a.Segment = s.Base
	return page.Send(page.Copy{Text: a.String(), What: "address " + kit.Safe(a.String(), 200)})
}

func (p *segments) again() tea.Cmd { return tea.Batch(p.reload(), p.readGroups()) }

// ask asks for an offset or a time.
func (p *segments) ask(why string) func() tea.Cmd {
	return func() tea.Cmd {
		return page.Send(page.Ask{ID: askFind, Prompt: "offset or time", Hint: page.TargetHint, Err: why})
	}
}

func (p *segments) answered(a page.Answered) tea.Cmd {
	if a.ID != askFind || !a.OK || a.Text == "" {
		return nil
	}
	t, err := page.ParseTarget(a.Text, p.Now(), p.Clock.Location())
	switch {
	case err != nil:
		return p.ask(err.Error())()
	case t.ByTime:
		return p.look.Start(p.Ctx, func(ctx context.Context) (model.LookupResult, error) { return p.src.Lookup(ctx, p.tp, t) })
	}
	if r := &p.part; r.Topic != "" && (t.Offset < r.LogStart || t.Offset >= r.LogEnd) {
		return page.Say(page.Warn, "offset "+kit.Number(t.Offset)+" is outside the log, "+kit.Number(r.LogStart)+" to "+kit.Number(r.LogEnd))
	}
	p.goTo(p.layerOf(t.Offset))
	return nil
}

func (p *segments) found(r model.LookupResult, err error) tea.Cmd {
	switch {
	case err != nil:
		return page.Say(page.Bad, kit.Safe(err.Error(), 300))
	case !r.Found:
		return page.Say(page.Warn, "there is no record at or after that time")
	}
	p.goTo(p.layerOf(r.Offset))
	return nil
}

// countAll makes the topic's counts exact.
func (p *segments) countAll() tea.Cmd {
	c, ok := p.Src.(model.Counter)
	if !ok {
		return nil
	}
	return p.count.Start(p.Ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.Count(ctx, []string{p.tp.Topic})
	})
}

func (p *segments) counted(err error) tea.Cmd {
	if err != nil {
		return page.Say(page.Bad, "counting: "+kit.Safe(err.Error(), 200))
	}
	return tea.Batch(page.Say(page.Good, "counted"), p.reload())
}
