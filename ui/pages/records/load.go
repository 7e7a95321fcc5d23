package records

import (
	"context"
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *records) readParts() tea.Cmd {
	topic := p.tp.Topic
	return p.parts.Load(p.Ctx, func(ctx context.Context) ([]model.Partition, error) { return p.Src.Partitions(ctx, topic) })
}

func (p *records) readPegs() tea.Cmd {
	p.due = false
	tp := p.tp
	return p.pegs.Load(p.Ctx, func(ctx context.Context) ([]peg, error) {
		groups, err := p.Src.Groups(ctx)
		return pegsOf(groups, tp), err
	})
}

// readTopic asks whether the topic is compacted.
func (p *records) readTopic() tea.Cmd {
	topic := p.tp.Topic
	return p.topic.Start(p.Ctx, func(ctx context.Context) (model.Retention, error) {
		topics, err := p.Src.Topics(ctx)
		for i := range topics {
			if topics[i].Name == topic {
				return topics[i].Retention, err
			}
		}
		return model.Retention{}, err
	})
}

// fetch reads a part of the log. A request that runs is given up for it, unless it is one to make the window longer.
func (p *records) fetch(h how, at int64) tea.Cmd {
	rd, s := p.reader, p.span
	n := min(maxRows, max(fetchRows, len(s.recs)))
	return p.load.Start(p.Ctx, func(ctx context.Context) (read, error) {
		var err error
		r := read{how: h, at: at}
		switch h {
		case down:
			r.span, err = rd.read(ctx, s.next, false, fetchRows)
		case up:
			r.span, err = rd.read(ctx, s.prev, true, fetchRows)
		case anew:
			r.span, err = rd.read(ctx, s.prev, false, n)
		case newest:
			r.span, err = rd.around(ctx, model.FromEnd)
		default:
			r.span, err = rd.around(ctx, at)
		}
		return r, err
	})
}

// took puts a span on screen.
func (p *records) took(r read, err error) tea.Cmd {
	again := p.again
	p.again = false
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return nil
		}
		p.err = err
		return nil
	}
	p.err = nil
	switch r.how {
	case down:
		start := r.span.start
		if len(r.recs) == 0 && r.next <= p.span.next {
			r.atEnd = true // there is no way on
		}
		p.span = p.span.join(r.span)
		p.span.trim(false)
		p.span.raise(start)
	case up:
		if len(r.recs) == 0 && r.prev >= p.span.prev {
			r.atStart = true
		}
		p.span = r.span.join(p.span)
		p.span.trim(true)
	default:
		p.span = r.span
	}
	p.loaded = true
	p.measure()
	p.arrange()
	switch r.how {
	case newest:
		p.toEnd()
	case jump:
		p.goTo(r.at)
	}
	if r.how == down && p.follow {
		p.toEnd()
	}
	if again {
		return p.refresh()
	}
	return p.more()
}

func (p *records) measure() {
	p.table.Reach(p.span.end)
	p.table.Measure(p.span.recs)
}

func (p *records) arrange() {
	p.table.Gaps = p.table.Gaps || dense(&p.span)
	p.items = arrange(&p.span, p.marks, p.table.Gaps)
	for i := range p.items {
		if p.table.Gaps && p.items[i].kind == aRecord {
			p.table.ReachGap(p.items[i].n)
		}
	}
	p.list.SetLen(int64(len(p.items)))
}

func (p *records) tookPegs(pegs []peg, err error) {
	p.pegErr = err
	if err != nil || len(pegs) > 0 && pegs[0].row.TopicPartition != p.tp {
		return
	}
	p.marks = pegs
	p.arrange()
	if p.follow {
		p.toEnd()
	}
}

// toEnd follows the end: the cursor on the last record, and what is said behind it on screen.
func (p *records) toEnd() {
	p.follow = true
	p.list.End()
	p.list.SetCursor(p.lastRecord())
}

// lastRecord returns the row of the last record, or the last row where there is none.
func (p *records) lastRecord() int64 {
	for i := len(p.items) - 1; i >= 0; i-- {
		if p.items[i].kind == aRecord {
			return int64(i)
		}
	}
	return int64(len(p.items)) - 1
}

func (p *records) tookParts(parts []model.Partition, err error) tea.Cmd {
	if err != nil {
		if !p.loaded {
			p.err = err
		}
		return nil
	}
	p.many = 0
	best := -1
	for i := range parts {
		q := &parts[i]
		if q.State != model.Live {
			continue
		}
		p.many = max(p.many, int(q.Partition)+1)
		if best < 0 || q.Newest > parts[best].Newest {
			best = i
		}
		if q.Partition == p.tp.Partition {
			p.part = *q
			p.table.Reach(q.LogEnd)
		}
	}
	if p.tp.Partition >= 0 || best < 0 {
		return nil
	}
	p.part = parts[best]
	p.tp = parts[best].TopicPartition
	p.reader.tp = p.tp
	return tea.Batch(p.begin(), p.readPegs())
}

// changed reads again what is on screen when something has happened to it.
func (p *records) changed(c model.Change) tea.Cmd {
	var cmds []tea.Cmd
	if c.Groups || c.All {
		p.due = true
		cmds = append(cmds, p.arm())
	}
	if c.TouchesTopic(p.tp.Topic) {
		cmds = append(cmds, p.arm())
	}
	if c.Touches(p.tp) {
		cmds = append(cmds, p.refresh())
	}
	return tea.Batch(cmds...)
}

// refresh reads what may be new.
func (p *records) refresh() tea.Cmd {
	switch {
	case p.load.Busy():
		p.again = true
	case !p.loaded:
		return p.begin()
	case p.follow:
		return p.fetch(newest, model.FromEnd)
	case len(p.span.recs) == 0:
		return p.fetch(anew, 0)
	default:
		// How transactions have ended is read with the next tick, not at each change.
		p.stale = p.stale || p.span.undecided() >= 0
		p.span.atEnd = false
		return p.more()
	}
	return nil
}

func (p *records) arm() tea.Cmd {
	if p.armed {
		return nil
	}
	p.armed = true
	return page.Send(page.TickIn{After: tickEvery, ID: tick})
}

func (p *records) ticked() tea.Cmd {
	p.armed = false
	cmds := []tea.Cmd{p.readParts()}
	switch {
	case !p.stale || !p.loaded:
	case p.load.Busy():
		cmds = append(cmds, p.arm())
	default:
		p.stale = false
		cmds = append(cmds, p.fetch(anew, 0))
	}
	if p.due && p.tp.Partition >= 0 {
		cmds = append(cmds, p.readPegs())
	}
	return tea.Batch(cmds...)
}

// more reads on where the screen comes near an edge of the window.
func (p *records) more() tea.Cmd {
	if !p.loaded || p.load.Busy() {
		return nil
	}
	from, to := p.list.Window()
	switch {
	case !p.span.atEnd && to+nearEdge >= int64(len(p.items)):
		return p.fetch(down, 0)
	case !p.span.atStart && from < nearEdge:
		return p.fetch(up, 0)
	}
	return nil
}
