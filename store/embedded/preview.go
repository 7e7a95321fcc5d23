package embedded

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/layout"
)

// PreviewAlter says what AlterTopic with these changes would delete, by the files and the owner's configs.
func (a *Attached) PreviewAlter(ctx context.Context, topic string, changes []model.ConfigChange) (model.Preview, error) {
	p := model.Preview{Topic: topic, Records: model.Exactly(0)}
	ps, err := a.Partitions(ctx, topic)
	if err != nil {
		return p, err
	}
	old := a.configsOf(topic)
	now := maps.Clone(old)
	if now == nil {
		now = map[string]string{}
	}
	for _, ch := range changes {
		if ch.Unset {
			delete(now, ch.Name)
			continue
		}
		if err := layout.ValidateConfig(ch.Name, ch.Value); err != nil {
			return p, fmt.Errorf("alter topic %s: %w", topic, err)
		}
		now[ch.Name] = ch.Value
	}
	before, after := layout.ParseTopicConfig(old), layout.ParseTopicConfig(now)
	p.Notes = store.Notes(before, after)
	for i := range ps {
		if ps[i].State != model.Live {
			continue
		}
		was, err := a.SegmentsBy(ctx, ps[i].TopicPartition, before.Retention())
		if err != nil {
			return p, err
		}
		will, err := a.SegmentsBy(ctx, ps[i].TopicPartition, after.Retention())
		if err != nil {
			return p, err
		}
		compare(&p, was, will)
	}
	slices.SortStableFunc(p.Later, func(x, y model.Segment) int { return cmp.Compare(x.Leaves, y.Leaves) })
	return p, nil
}

// compare adds what goes at once, and what goes sooner than it would.
func compare(p *model.Preview, was, will []model.Segment) {
	now := time.Now().UnixMilli()
	due := map[int64]int64{}
	for i := range was {
		due[was[i].Base] = was[i].Leaves
	}
	for i := range will {
		s := &will[i]
		before, ok := due[s.Base]
		switch {
		case !ok || s.Leaves == model.NoTime || s.State != model.SegmentSealed && s.State != model.SegmentActive:
		case s.Leaves <= now:
			goes(p, s)
		case before == model.NoTime || s.Leaves < before:
			p.Later = append(p.Later, *s)
		}
	}
}

// goes adds a segment that is deleted at once.
func goes(p *model.Preview, s *model.Segment) {
	p.Now = append(p.Now, *s)
	p.Bytes += s.Bytes
	p.Records = p.Records.Add(s.Records)
}

// PreviewDelete says what DeleteRecords would delete, by the files. Errors are those of DeleteRecords.
func (a *Attached) PreviewDelete(ctx context.Context, tp model.TopicPartition, before int64) (model.Preview, error) {
	p := model.Preview{Topic: tp.Topic, Records: model.Exactly(0)}
	start, end, err := a.Bounds(ctx, tp)
	if err != nil {
		return p, err
	}
	if before == model.FromEnd {
		before = end
	}
	switch {
	case !layout.ParseTopicConfig(a.configsOf(tp.Topic)).Delete:
		return p, fmt.Errorf("delete records of %s: %w: its cleanup.policy has no delete", tp, model.ErrRefused)
	case before < 0 || before > end:
		return p, fmt.Errorf("delete records of %s before %d: %w: it reaches from %d to %d", tp, before, model.ErrOutOfRange, start, end)
	}
	before = max(before, start)
	segs, err := a.Segments(ctx, tp)
	if err != nil {
		return p, err
	}
	kept := int64(0)
	for i := range segs {
		s := &segs[i]
		if s.State != model.SegmentSealed && s.State != model.SegmentActive {
			continue
		}
		if kept = s.Base; max(s.Last, s.Base-1) >= before || s.Last < 0 {
			break
		}
		goes(&p, s)
		kept = s.Last + 1
	}
	p.Notes = append(p.Notes, fmt.Sprintf("log start goes from %d to %d", start, before))
	if before > kept && before > start {
		p.Notes = append(p.Notes, "records below it in a segment that stays are hidden, their bytes stay")
	}
	return p, nil
}
