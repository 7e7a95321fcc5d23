package groups

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
)

// PlanInput is what a plan is computed from.
type PlanInput struct {
	Request  model.ResetRequest
	Stored   []Committed    // what the group has committed
	Like     []Committed    // ToGroup: what the other group has committed
	Now      time.Time      // for ToAgo and for ResetPlan.Made
	Location *time.Location // of the times in notes; nil means UTC
}

// Plan computes a reset: where each partition would go, what that changes, and the first record that would be read. It
// changes nothing and asks the logs alone. Targets outside a log are put at its nearest end, and the note says so, as
// Kafka's own tool does. A partition that has nowhere to go (nothing to shift, nothing committed by the other group, a
// topic that is gone) is a row that changes nothing, with the reason in its note.
//
// Errors: ErrNoTopic, ErrNoPartition for what was asked for by name; ErrInvalid where there is nothing to reset.
func Plan(ctx context.Context, logs Logs, in PlanInput) (model.ResetPlan, error) {
	if in.Location == nil {
		in.Location = time.UTC
	}
	p := planner{PlanInput: in, logs: logs, stored: byPartition(in.Stored), like: byPartition(in.Like)}
	plan := model.ResetPlan{Group: in.Request.Group, Where: in.Request.Where.String(), Made: in.Now.UnixMilli()}
	targets, err := p.targets(ctx)
	if err != nil {
		return plan, err
	}
	for _, t := range targets {
		row, err := p.row(ctx, t)
		if err != nil {
			return plan, err
		}
		plan.Rows = append(plan.Rows, row)
	}
	return plan, nil
}

func byPartition(cs []Committed) map[model.TopicPartition]Committed {
	m := make(map[model.TopicPartition]Committed, len(cs))
	for _, c := range cs {
		m[c.TopicPartition] = c
	}
	return m
}

type planner struct {
	PlanInput
	logs         Logs
	stored, like map[model.TopicPartition]Committed
}

// target is a partition to be reset.
type target struct {
	model.TopicPartition
	named bool  // asked for by name: that it does not exist is an error
	row   int64 // ToFile: the offset
}

// targets returns what to reset: what the request selects, or else the rows of the file, or all that the group has
// committed, or where that is nothing and it shall be like another group, all that the other one has.
func (p *planner) targets(ctx context.Context) ([]target, error) {
	var out []target
	w := p.Request.Where
	selected, err := p.selected(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case w.Kind == model.ToFile:
		for _, c := range w.Rows {
			if selected == nil || selected[c.TopicPartition] {
				out = append(out, target{TopicPartition: c.TopicPartition, named: true, row: c.Offset})
			}
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("%w file %s: no row for the topics chosen", model.ErrInvalid, w.File)
		}
	case selected != nil:
		for tp := range selected {
			out = append(out, target{TopicPartition: tp, named: true})
		}
	case len(p.stored) == 0 && w.Kind == model.ToGroup:
		for tp := range p.like {
			out = append(out, target{TopicPartition: tp})
		}
	default:
		for tp := range p.stored {
			out = append(out, target{TopicPartition: tp})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w request: group %q has committed nothing; name the topics to reset", model.ErrInvalid, p.Request.Group)
	}
	slices.SortStableFunc(out, func(a, b target) int { return a.Compare(b.TopicPartition) })
	for i := 1; i < len(out); i++ {
		if out[i].TopicPartition == out[i-1].TopicPartition {
			return nil, fmt.Errorf("%w file %s: two rows for %s", model.ErrInvalid, w.File, out[i].TopicPartition)
		}
	}
	return out, nil
}

// selected returns the partitions that the request names, or nil where it names none.
func (p *planner) selected(ctx context.Context) (map[model.TopicPartition]bool, error) {
	if len(p.Request.Topics) == 0 {
		return nil, nil
	}
	set := map[model.TopicPartition]bool{}
	for _, sel := range p.Request.Topics {
		ids, err := p.logs.PartitionIDs(ctx, sel.Topic)
		if err != nil {
			return nil, err
		}
		want := sel.Partitions
		if want == nil {
			want = ids
		}
		for _, n := range want {
			if !slices.Contains(ids, n) {
				return nil, noPartition(sel.Topic, n, ids)
			}
			set[model.TopicPartition{Topic: sel.Topic, Partition: n}] = true
		}
	}
	return set, nil
}

func noPartition(topic string, n int32, ids []int32) error {
	if len(ids) == 0 {
		return fmt.Errorf("%w: %s/%d; %s has none", model.ErrNoPartition, topic, n, topic)
	}
	return fmt.Errorf("%w: %s/%d; %s has %d to %d", model.ErrNoPartition, topic, n, topic, ids[0], ids[len(ids)-1])
}

// row computes one partition's row.
func (p *planner) row(ctx context.Context, t target) (model.PlanRow, error) {
	row := model.PlanRow{TopicPartition: t.TopicPartition, From: model.Unknown, To: model.Unknown, Change: model.NoCount(),
		LeaderEpoch: -1, FromEpoch: -1}
	if c, ok := p.stored[t.TopicPartition]; ok {
		row.From, row.FromEpoch, row.FromMetadata = c.Offset, c.LeaderEpoch, c.Metadata
	}
	start, end, err := p.logs.Bounds(ctx, t.TopicPartition)
	if err != nil {
		gone := errors.Is(err, model.ErrNoTopic) || errors.Is(err, model.ErrNoPartition)
		if t.named || !gone {
			return row, err
		}
		stay(&row, err.Error())
		return row, nil
	}
	to, notes, err := p.aim(ctx, t, row.From, start, end)
	if err != nil {
		return row, err
	}
	if to < 0 {
		stay(&row, notes...)
		return row, nil
	}
	row.To = to
	if to == row.From {
		row.LeaderEpoch, row.Metadata = row.FromEpoch, row.FromMetadata
	}
	if row.From >= 0 && row.From < start {
		notes = append(notes, fmt.Sprintf("%d lost", start-row.From))
	}
	row.Note = strings.Join(notes, "; ")
	return row, measure(ctx, p.logs, &row, start, end)
}

// stay makes a row that changes nothing.
func stay(row *model.PlanRow, notes ...string) {
	row.To, row.LeaderEpoch, row.Metadata = row.From, row.FromEpoch, row.FromMetadata
	row.Change = model.NoCount()
	if row.From >= 0 {
		row.Change = model.Exactly(0)
	}
	row.Note = strings.Join(notes, "; ")
}

// measure fills in how many records a row's change reads again (negative) or skips, and the first one that will be read.
func measure(ctx context.Context, logs Logs, row *model.PlanRow, start, end int64) error {
	if row.To < 0 {
		row.Change = model.NoCount()
		return nil
	}
	if row.From >= 0 {
		// Offsets outside the log hold nothing that could be read again or skipped.
		from, to := clamp(row.From, start, end), clamp(row.To, start, end)
		n := model.Exactly(0)
		var err error
		if from != to {
			n, err = logs.CountBetween(ctx, row.TopicPartition, min(from, to), max(from, to))
		}
		if err != nil {
			return fmt.Errorf("count the records of %s: %w", row.TopicPartition, err)
		}
		if to < from {
			n.N = -n.N
		}
		row.Change = n
	}
	first, err := logs.FirstRecord(ctx, row.TopicPartition, row.To)
	if err != nil {
		return fmt.Errorf("read %s at %d: %w", row.TopicPartition, row.To, err)
	}
	row.First = first
	return nil
}

func clamp(off, start, end int64) int64 { return min(max(off, start), end) }

// aim finds where a partition shall go: an offset within [start, end], or a negative one where it stays as it is. The
// notes say what is not as one might expect.
func (p *planner) aim(ctx context.Context, t target, from, start, end int64) (int64, []string, error) {
	w := p.Request.Where
	switch w.Kind {
	case model.ToEarliest:
		return start, []string{"log start"}, nil
	case model.ToLatest:
		return end, []string{"log end"}, nil
	case model.ToOffset:
		to, notes := within("", w.N, start, end)
		return to, notes, nil
	case model.ToFile:
		to, notes := within("", t.row, start, end)
		return to, notes, nil
	case model.ToTime:
		return p.atTime(ctx, t.TopicPartition, w.Time, start, end)
	case model.ToAgo:
		return p.atTime(ctx, t.TopicPartition, p.Now.UnixMilli()-w.N, start, end)
	case model.ToShift:
		if from < 0 {
			return model.Unknown, []string{"nothing committed to shift"}, nil
		}
		to, notes := within(fmt.Sprintf("%d%+d is ", from, w.N), shifted(from, w.N), start, end)
		return to, notes, nil
	case model.ToGroup:
		c, ok := p.like[t.TopicPartition]
		if !ok {
			return model.Unknown, []string{fmt.Sprintf("group %s has committed nothing here", w.Group)}, nil
		}
		to, notes := within(fmt.Sprintf("group %s is at ", w.Group), c.Offset, start, end)
		return to, notes, nil
	}
	return 0, nil, fmt.Errorf("%w place: kind %d", model.ErrInvalid, w.Kind)
}

// within puts an offset into the log, and says so where it lay outside.
func within(lead string, off, start, end int64) (int64, []string) {
	switch {
	case off < start:
		return start, []string{fmt.Sprintf("%s%d, before the log start, so %d", lead, off, start)}
	case off > end:
		return end, []string{fmt.Sprintf("%s%d, past the log end, so %d", lead, off, end)}
	}
	return off, nil
}

// shifted adds without overflow.
func shifted(from, by int64) int64 {
	sum := from + by
	if by > 0 && sum < from {
		return 1<<63 - 1
	}
	return sum
}

// atTime finds the first record at or after a time.
func (p *planner) atTime(ctx context.Context, tp model.TopicPartition, ms, start, end int64) (int64, []string, error) {
	off, found, err := p.logs.AtTime(ctx, tp, ms)
	if err != nil {
		return 0, nil, fmt.Errorf("look for %d ms in %s: %w", ms, tp, err)
	}
	if !found || off >= end {
		at := time.UnixMilli(ms).In(p.Location).Format("2006-01-02 15:04:05.999Z07:00")
		return end, []string{fmt.Sprintf("nothing after %s, so the log end, %d", at, end)}, nil
	}
	if off <= start {
		return start, []string{"log start"}, nil
	}
	return off, nil, nil
}
