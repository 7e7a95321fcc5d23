package records

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

const askPlace = "place"

func (p *records) Commands() []page.Command {
	cmds := []page.Command{
		{Key: page.Bind("enter l right", "open"), Off: p.whyNone, Run: p.open},
		{Key: page.Bind("/", "find"), Off: p.whyNoFind, Run: func() tea.Cmd { return p.askPattern("", "") }},
		{Key: page.Bind("n", "next hit"), Off: p.whyNoNextHit, Run: func() tea.Cmd { return p.search(false) }, Quiet: p.find.pattern.Text == ""},
		{Key: page.Bind("o", "offset or time"), Run: func() tea.Cmd { return p.askWhere("") }},
		{Key: page.Bind("c", p.committedHelp()), Run: p.toggleCommitted},
		{Key: page.Bind("t", "tail"), Off: p.needs(page.Able[model.Tailer](p.Src), "this source cannot be followed"), Run: p.goPage(page.Tail)},
		{Key: page.Bind("]", "next partition"), Off: p.whyNoNext, Run: p.sibling(1), Quiet: p.many < 2},
		{Key: page.Bind("[", "partition before"), Off: p.whyNoPrevious, Run: p.sibling(-1), Quiet: true},
		{Key: page.Bind("N", "hit before"), Off: p.whyNoNextHit, Run: func() tea.Cmd { return p.search(true) }, Quiet: true},
		{Key: page.Bind("F", "find in all partitions"), Off: p.whyNoFind, Run: p.findAll, Quiet: true},
		{Key: page.Bind("b", "the batch it lies in"), Off: p.whyNoBatches, Run: p.batch, Quiet: true},
		{Key: page.Bind("x", "lookup of this offset"), Off: p.whyNoFiles, Run: p.lookup, Quiet: true},
		{Key: page.Bind("y", "copy the value"), Off: p.whyNone, Run: p.copy("value"), Quiet: true},
		{Key: page.Bind("K", "copy the key"), Off: p.whyNone, Run: p.copy("key"), Quiet: true},
		{Key: page.Bind("J", "copy the record as JSON"), Off: p.whyNone, Run: p.copy("record"), Quiet: true},
		{Key: page.Bind("p", "produce"), Off: p.needs(page.Able[model.Producer](p.Src), "this source is read-only: nothing can be produced"), Run: p.goPage(page.Produce), Quiet: true},
		{Key: page.Bind("D", "delete the records before this one"), Off: p.whyNoDelete, Run: p.truncate, Quiet: true},
		{Key: page.Bind("ctrl+r", "read again"), Run: p.reload, Quiet: true},
	}
	if p.find.stream.Busy() {
		cmds = append([]page.Command{{Key: page.Bind("esc", "stop the search"), Run: p.stop}}, cmds...)
	}
	for _, c := range page.ListCommands(&p.list, p.moved) {
		switch c.Key.Keys()[0] {
		case "g":
			c.Run = p.home
		case "G":
			c.Run = p.end
			c.Key = page.Bind("G end", "last, and follow the end")
		}
		cmds = append(cmds, c)
	}
	return cmds
}

func (p *records) needs(ok bool, why string) func() string {
	return func() string {
		if !ok {
			return why
		}
		return ""
	}
}

func (p *records) committedHelp() string {
	if p.committed {
		return "show all"
	}
	return "committed only"
}

func (p *records) whyNone() string {
	if p.row() == nil {
		return "there is no record here"
	}
	return ""
}

func (p *records) whyNoFiles() string {
	if !page.Able[model.SegmentReader](p.Src) {
		return page.NoFiles(p.Src, "this source shows no files", "b shows its batch as Fetch gives it")
	}
	return p.whyNone()
}

func (p *records) whyNoBatches() string {
	if page.ShowsBatches(p.Src) {
		return p.whyNone()
	}
	return p.whyNoFiles()
}

func (p *records) whyNoDelete() string {
	if !page.Able[model.RecordDeleter](p.Src) {
		return "this source is read-only: nothing can be deleted"
	}
	return p.whyNone()
}

func (p *records) whyNoNext() string {
	if int(p.tp.Partition)+1 >= p.many {
		return "this is the topic's last partition"
	}
	return ""
}

func (p *records) whyNoPrevious() string {
	if p.tp.Partition <= 0 {
		return "this is the topic's first partition"
	}
	return ""
}

// open goes to what the cursor is on: a record, a group, a damaged place.
func (p *records) open() tea.Cmd {
	it := p.row()
	if it == nil {
		return nil
	}
	switch it.kind {
	case aGroup:
		return page.Goto(page.Group, model.Address{Group: it.pegs[0].group, Partition: -1, Offset: model.Unknown, Segment: model.Unknown, Position: model.Unknown})
	case aFault:
		return p.batch()
	case aHole:
		return page.Say(page.Info, "offsets "+kit.Number(it.from)+" to "+kit.Number(it.from+it.n-1)+" hold no record")
	}
	a := model.PartitionAddress(p.tp)
	a.Offset = p.span.recs[it.rec].Offset
	return page.Goto(page.Record, a)
}

// batch opens the batches at the place that the cursor is on.
func (p *records) batch() tea.Cmd {
	it := p.row()
	if it == nil {
		return nil
	}
	a := model.PartitionAddress(p.tp)
	switch it.kind {
	case aRecord:
		r := &p.span.recs[it.rec]
		if a.Segment, a.Position = r.Segment, r.BatchPos; a.Segment < 0 {
			a.Offset = r.Offset
		}
	case aFault:
		f := &p.span.faults[it.fault]
		if !page.Able[model.SegmentReader](p.Src) && f.Offset >= 0 {
			a.Offset = f.Offset
			break
		}
		base, ok := segmentOf(f.File)
		if !ok {
			return page.Say(page.Warn, kit.Safe(f.File, 100)+": "+kit.Safe(f.What, 200))
		}
		a.Segment, a.Position = base, f.Position
	default:
		return page.Say(page.Info, "this line is no record")
	}
	return page.Goto(page.Batches, a)
}

func (p *records) lookup() tea.Cmd {
	a := model.PartitionAddress(p.tp)
	a.Offset = p.offsetOf(p.list.Cursor())
	return page.Goto(page.Lookup, a)
}

func (p *records) truncate() tea.Cmd {
	a := model.PartitionAddress(p.tp)
	a.Offset = p.offsetOf(p.list.Cursor())
	return page.Goto(page.Truncate, a)
}

// goPage opens a screen about the partition.
func (p *records) goPage(k page.Kind) func() tea.Cmd {
	return func() tea.Cmd { return page.Goto(k, model.PartitionAddress(p.tp)) }
}

func (p *records) sibling(d int32) func() tea.Cmd {
	return func() tea.Cmd {
		tp := p.tp
		tp.Partition += d
		return page.Send(page.Open{Kind: page.Records, Addr: model.PartitionAddress(tp), Replace: true})
	}
}

func (p *records) findAll() tea.Cmd {
	return page.Send(page.Open{Kind: page.Search, Addr: model.TopicAddress(p.tp.Topic), Args: page.Args{Pattern: p.find.pattern.Text}})
}

func (p *records) toggleCommitted() tea.Cmd {
	p.committed = !p.committed
	word := "all records are shown"
	if p.committed {
		word = "only what a read_committed consumer is given"
	}
	at := p.offsetOf(p.list.Cursor())
	cmd := p.fetch(jump, at)
	if at < 0 || p.follow {
		cmd = p.fetch(newest, model.FromEnd)
	}
	return tea.Batch(cmd, page.Say(page.Info, word))
}

func (p *records) home() tea.Cmd {
	if p.span.atStart {
		p.list.Home()
		p.follow = false
		return p.more()
	}
	return p.fetch(jump, model.FromStart)
}

func (p *records) end() tea.Cmd {
	if p.span.atEnd {
		p.toEnd()
	}
	return p.fetch(newest, model.FromEnd)
}

func (p *records) reload() tea.Cmd {
	p.err = nil
	cmds := []tea.Cmd{p.readParts(), p.readTopic()}
	if p.tp.Partition < 0 {
		return tea.Batch(cmds...)
	}
	cmds = append(cmds, p.readPegs())
	switch {
	case !p.loaded:
		cmds = append(cmds, p.begin())
	case p.follow:
		cmds = append(cmds, p.fetch(newest, model.FromEnd))
	default:
		cmds = append(cmds, p.fetch(anew, 0))
	}
	return tea.Batch(cmds...)
}

func (p *records) askWhere(why string) tea.Cmd {
	hint := "4812339, start, end, 50 %, 2026-11-30 09:00, @1796030400000, 2h30m (ago)"
	return page.Send(page.Ask{ID: askPlace, Prompt: "offset or time", Hint: hint, Err: why, Choices: []string{"start", "end"}})
}

func (p *records) answered(a page.Answered) tea.Cmd {
	text := strings.TrimSpace(a.Text)
	if !a.OK || text == "" {
		return nil
	}
	switch a.ID {
	case askFind:
		return p.searchFor(a.Text)
	case askPlace:
		return p.goWhere(text)
	}
	return nil
}

// goWhere goes to a place that was typed.
func (p *records) goWhere(text string) tea.Cmd {
	switch text {
	case "start":
		return p.home()
	case "end":
		return p.end()
	}
	plain := strings.ReplaceAll(text, ",", "")
	if share, ok := strings.CutSuffix(plain, "%"); ok {
		if n, err := strconv.ParseFloat(strings.TrimSpace(share), 64); err == nil && n >= 0 && n <= 100 {
			return p.to(p.span.start + int64(n/100*float64(p.span.end-p.span.start)))
		}
	}
	if n, err := strconv.ParseInt(plain, 10, 64); err == nil && n >= 0 {
		switch {
		case n < p.span.start:
			return tea.Batch(p.to(p.span.start), page.Say(page.Warn, "offset "+kit.Number(n)+" is below the log start, "+kit.Number(p.span.start)))
		case n >= max(p.span.end, p.part.LogEnd):
			return tea.Batch(p.end(), page.Say(page.Warn, "offset "+kit.Number(n)+" is beyond the log end, "+kit.Number(max(p.span.end, p.part.LogEnd))))
		}
		return p.to(n)
	}
	ms, err := model.ParseTime(text, p.Now(), p.Clock.Location())
	if err != nil {
		return p.askWhere(err.Error())
	}
	if cmd := p.toTime(ms); cmd != nil {
		return cmd
	}
	return page.Say(page.Warn, "this source cannot look times up")
}

// toTime looks for the first record at or after a time; nil where the source cannot.
func (p *records) toTime(ms int64) tea.Cmd {
	src, ok := p.Src.(model.SegmentReader)
	if !ok {
		return nil
	}
	tp := p.tp
	return p.place.Start(p.Ctx, func(ctx context.Context) (model.LookupResult, error) {
		return src.Lookup(ctx, tp, model.Target{ByTime: true, Time: ms})
	})
}

func (p *records) placed(r model.LookupResult, err error) tea.Cmd {
	switch {
	case err != nil && !p.loaded:
		p.err = err
		return nil
	case err != nil:
		return page.Say(page.Bad, kit.Safe(err.Error(), 300))
	case !r.Found:
		return tea.Batch(p.end(), page.Say(page.Warn, "there is no record at or after that time"))
	}
	return p.to(r.Offset)
}

// copy reads the record under the cursor whole, to copy a part of it.
func (p *records) copy(what string) func() tea.Cmd {
	return func() tea.Cmd {
		r := p.at()
		if r == nil {
			return page.Say(page.Info, "this line is no record")
		}
		p.copyWhat = what
		q := p.query(r.Offset, false, 1)
		q.ValueLimit = 0
		return p.take.Start(p.Ctx, func(ctx context.Context) (model.Record, error) {
			got, err := p.Src.Records(ctx, q)
			if err == nil && (len(got.Records) == 0 || got.Records[0].Offset != q.From) {
				err = fmt.Errorf("%w: offset %d is not there any more", model.ErrOutOfRange, q.From)
			}
			if err != nil {
				return model.Record{}, err
			}
			return got.Records[0], nil
		})
	}
}

func (p *records) copied(r model.Record, err error) tea.Cmd {
	if err != nil {
		return page.Say(page.Bad, kit.Safe(err.Error(), 300))
	}
	a := model.PartitionAddress(p.tp)
	a.Offset = r.Offset
	what := p.copyWhat + " of " + kit.Safe(a.String(), 200)
	part := r.Value
	switch p.copyWhat {
	case "record":
		return page.Send(page.Copy{Text: rows.JSON(&r), What: "JSON of " + kit.Safe(a.String(), 200)})
	case "key":
		part = r.Key
	}
	if part == nil {
		return page.Say(page.Warn, "the "+what+" is null: there is nothing to copy")
	}
	return page.Send(page.Copy{Text: string(part), What: what})
}

// Mouse scrolls, selects what is clicked and opens what is clicked twice.
func (p *records) Mouse(m page.Mouse) tea.Cmd {
	switch m.Kind {
	case page.WheelUp:
		p.list.Scroll(-3)
	case page.WheelDown:
		p.list.Scroll(3)
	default:
		i, ok := p.list.RowAt(m.Y - headLines)
		if !ok {
			return nil
		}
		p.list.SetCursor(i)
		if m.Kind == page.DoubleClick {
			return p.open()
		}
	}
	return p.moved()
}
