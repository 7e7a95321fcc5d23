package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/partition"
)

// PreviewAlter says what AlterTopic with these changes would delete at once, and which segments it would have deleted
// sooner than they are now. Errors are those of AlterTopic.
func (e *Engine) PreviewAlter(ctx context.Context, name string, changes []model.ConfigChange) (model.Preview, error) {
	p := model.Preview{Topic: name, Records: model.Exactly(0)}
	t, err := e.topic(name)
	if err != nil {
		return p, err
	}
	e.mu.RLock()
	old := t.configs
	e.mu.RUnlock()
	configs, err := change(old, changes)
	if err != nil {
		return p, fmt.Errorf("alter topic %s: %w", name, err)
	}
	before, after := e.config(old), e.config(configs)
	p.Notes = notes(before, after)
	for _, l := range e.topicLogs(name) {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		was, err := l.Plan(before, 0)
		if err != nil {
			return p, err
		}
		will, err := l.Plan(after, 0)
		if err != nil {
			return p, err
		}
		if err := add(&p, l, was, will); err != nil {
			return p, err
		}
	}
	sortLater(&p)
	return p, nil
}

// PreviewDelete says what DeleteRecords would delete. Errors are those of DeleteRecords.
func (e *Engine) PreviewDelete(ctx context.Context, tp model.TopicPartition, before int64) (model.Preview, error) {
	p := model.Preview{Topic: tp.Topic, Records: model.Exactly(0)}
	if err := ctx.Err(); err != nil {
		return p, err
	}
	l, err := e.Log(tp)
	if err != nil {
		return p, err
	}
	b, err := l.Bounds()
	if err != nil {
		return p, err
	}
	to, err := l.CheckDelete(before)
	if err != nil {
		return p, err
	}
	c := l.Config()
	will, err := l.Plan(c, to)
	if err != nil {
		return p, err
	}
	was, err := l.Plan(c, 0)
	if err != nil {
		return p, err
	}
	if err := add(&p, l, was, will); err != nil {
		return p, err
	}
	p.Notes = append(p.Notes, fmt.Sprintf("log start goes from %d to %d", b.Start, to))
	if kept := to - nextAfter(will); kept > 0 && to > b.Start {
		p.Notes = append(p.Notes, "records below it in a segment that stays are hidden, their bytes stay")
	}
	return p, nil
}

// nextAfter returns the base offset of the first segment that stays.
func nextAfter(plan []partition.Planned) int64 {
	for _, s := range plan {
		if !s.Now {
			return s.Segment.Base
		}
	}
	return 0
}

// add compares two plans of one partition, segment by segment, and counts what would go.
func add(p *model.Preview, l *partition.Log, was, will []partition.Planned) (err error) {
	for i := range will {
		s := will[i].Segment
		switch {
		case will[i].Now:
			if s.Records, err = l.Count(s); err != nil {
				return err
			}
			p.Now = append(p.Now, s)
			p.Bytes += s.Bytes
			p.Records = p.Records.Add(s.Records)
		case s.Leaves == model.NoTime:
		case i >= len(was) || was[i].Now:
		case was[i].Segment.Leaves == model.NoTime || s.Leaves < was[i].Segment.Leaves:
			p.Later = append(p.Later, s)
		}
	}
	return nil
}

func sortLater(p *model.Preview) {
	slices.SortStableFunc(p.Later, func(a, b model.Segment) int { return cmp.Compare(a.Leaves, b.Leaves) })
}
