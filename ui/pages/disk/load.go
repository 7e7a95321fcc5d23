package disk

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
)

func (p *disk) topics(ctx context.Context) ([]item, error) {
	topics, err := p.Src.Topics(ctx)
	out := make([]item, 0, len(topics))
	for i := range topics {
		t := &topics[i]
		out = append(out, item{name: t.Name, addr: model.TopicAddress(t.Name), bytes: t.Bytes, parts: t.Partitions, quiet: t.Internal})
	}
	return out, err
}

func (p *disk) partitions(ctx context.Context) ([]item, error) {
	parts, err := p.Src.Partitions(ctx, p.addr.Topic)
	out := make([]item, 0, len(parts))
	for i := range parts {
		r := &parts[i]
		it := item{name: r.String(), addr: model.PartitionAddress(r.TopicPartition), bytes: r.Bytes, parts: r.Segments}
		if r.State != model.Live {
			it.name, it.quiet = it.name+" ("+r.State.String()+", "+r.Dir+")", true
		}
		out = append(out, it)
	}
	return out, err
}

func (p *disk) segments(ctx context.Context) ([]item, error) {
	if p.src == nil {
		return nil, nil
	}
	segs, err := p.src.Segments(ctx, p.addr.TP())
	out := make([]item, 0, len(segs))
	for i := range segs {
		s := &segs[i]
		a := model.PartitionAddress(s.TopicPartition)
		a.Segment = s.Base
		it := item{name: kit.Number(s.Base), addr: a, bytes: s.Bytes, seg: s}
		if s.State != model.SegmentActive && s.State != model.SegmentSealed {
			it.name, it.quiet = it.name+" ("+string(s.State)+")", true
		}
		out = append(out, it)
	}
	return out, err
}

// moved asks what is freed next of what is under the cursor.
func (p *disk) moved() tea.Cmd {
	it, ok := p.at()
	if !ok || p.src == nil || p.level() == "segment" || p.asks == it.name && p.Now().Sub(p.asked) < askEvery {
		return nil
	}
	p.asked, p.asks = p.Now(), it.name
	return p.ask.Start(p.Ctx, func(ctx context.Context) (freed, error) { return p.frees(ctx, &it) })
}

// frees looks through the segments of an item for those that leave next.
func (p *disk) frees(ctx context.Context, it *item) (freed, error) {
	out := freed{of: it.name, at: model.NoTime}
	tps := []model.TopicPartition{it.addr.TP()}
	if it.addr.Partition < 0 {
		parts, err := p.Src.Partitions(ctx, it.addr.Topic)
		if err != nil {
			return out, err
		}
		tps = tps[:0]
		for i := range parts {
			if parts[i].State == model.Live {
				tps = append(tps, parts[i].TopicPartition)
			}
		}
	}
	if len(tps) > maxAsked {
		tps, out.some = tps[:maxAsked], true
	}
	now := p.Now().UnixMilli()
	for _, tp := range tps {
		segs, err := p.src.Segments(ctx, tp)
		if err != nil {
			return out, err
		}
		for i := range segs {
			out.add(&segs[i], now)
		}
	}
	return out, nil
}

// add takes a segment into account.
func (f *freed) add(s *model.Segment, now int64) {
	switch {
	case s.Leaves < 0 || s.State == model.SegmentActive:
	case s.Leaves <= now:
		f.due += s.Bytes
	case f.at == model.NoTime || s.Leaves < f.at:
		f.at, f.next, f.where, f.rule = s.Leaves, s.Bytes, s.String(), s.Rule
	}
}
