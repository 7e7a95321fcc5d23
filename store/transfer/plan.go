package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// Plan implements model.Copier. It only looks.
func (c *Copy) Plan(ctx context.Context, q model.CopyQuery) (model.CopyPlan, error) {
	p := model.CopyPlan{Query: q, From: c.from.Name, To: c.to.Name}
	var refuse []string
	seen := map[string]string{}
	for _, name := range q.Topics {
		to := name
		if as := q.Rename[name]; as != "" {
			to = as
		}
		if was, twice := seen[to]; twice {
			if was == name {
				continue
			}
			return p, fmt.Errorf("%w: %s and %s would both become %s", model.ErrInvalid, was, name, to)
		}
		seen[to] = name
		t, why, err := c.planTopic(ctx, q, name, to)
		if err != nil {
			return p, err
		}
		if why != "" {
			refuse = append(refuse, why)
		}
		for _, part := range t.Partitions {
			p.Offsets += max(0, part.To-part.From)
		}
		if p.Bytes != model.Unknown {
			p.Bytes += t.Bytes
		}
		if t.Bytes == model.Unknown {
			p.Bytes = model.Unknown
		}
		p.Topics = append(p.Topics, t)
	}
	if len(p.Topics) == 0 {
		return p, fmt.Errorf("%w: no topic to copy", model.ErrInvalid)
	}
	why, err := c.planGroups(ctx, &p)
	if err != nil {
		return p, err
	}
	p.Refuse = strings.Join(append(refuse, why...), "; ")
	return p, nil
}

// planTopic plans for one topic. why says why it cannot be copied.
func (c *Copy) planTopic(ctx context.Context, q model.CopyQuery, from, to string) (t model.CopyTopic, why string, err error) {
	t = model.CopyTopic{From: from, To: to, Records: model.Exactly(0)}
	if strings.HasPrefix(to, "__") {
		return t, "", fmt.Errorf("%w: %s is kept by brokers themselves; groups are copied with --groups", model.ErrInvalid, to)
	}
	rows, err := c.from.Partitions(ctx, from)
	if err != nil {
		return t, "", err
	}
	rows = slices.DeleteFunc(rows, func(p model.Partition) bool { return p.State != model.Live })
	slices.SortFunc(rows, func(a, b model.Partition) int { return a.Compare(b.TopicPartition) })
	t.Partitions = make([]model.CopyPartition, len(rows))
	for i := range rows {
		if int(rows[i].Partition) != i {
			return t, "", fmt.Errorf("%w: %s has no partition %d here: copy from all log directories of the broker", model.ErrNoPartition, from, i)
		}
		t.Records = t.Records.Add(rows[i].Records)
		if rows[i].Bytes < 0 || t.Bytes < 0 {
			t.Bytes = model.Unknown
		} else {
			t.Bytes += rows[i].Bytes
		}
	}
	there, err := c.to.Partitions(ctx, to)
	switch {
	case errors.Is(err, model.ErrNoTopic):
		t.Create = true
	case err != nil:
		return t, "", err
	case len(there) != len(rows):
		why = fmt.Sprintf("%s has %d partitions there, and %s %d here", to, len(there), from, len(rows))
	}
	if why == "" {
		if err := c.bounds(ctx, &t); err != nil {
			return t, "", err
		}
		if written := filled(&t); written > 0 && !q.Resume {
			why = fmt.Sprintf("%s holds %d records there already: --resume goes on with a copy that was cut short", to, written)
		}
	}
	odd, err := c.planConfigs(ctx, q, &t)
	if why == "" {
		why = odd
	}
	return t, why, err
}

// filled counts the offsets that are taken on the other side.
func filled(t *model.CopyTopic) (n int64) {
	for _, p := range t.Partitions {
		n += p.End - p.Start
	}
	return n
}

// measurer is the ability to measure many partitions at once, which a cluster has.
type measurer interface {
	// TopicBounds returns what ScanBounds returns, of so many partitions from 0 on.
	TopicBounds(ctx context.Context, topic string, partitions int) (starts, stables []int64, err error)
}

// bounds asks where the logs of a topic begin and end.
func (c *Copy) bounds(ctx context.Context, t *model.CopyTopic) error {
	from, to, err := c.measure(ctx, c.from.Reader, t.From, len(t.Partitions))
	if err != nil {
		return err
	}
	for i := range t.Partitions {
		p := &t.Partitions[i]
		p.Partition, p.From, p.To = int32(i), from[i], to[i]
	}
	if t.Create {
		return nil
	}
	if from, to, err = c.measure(ctx, c.to.Reader, t.To, len(t.Partitions)); err != nil {
		return err
	}
	for i := range t.Partitions {
		t.Partitions[i].Start, t.Partitions[i].End = from[i], to[i]
	}
	return nil
}

func (c *Copy) measure(ctx context.Context, r Reader, topic string, n int) (starts, stables []int64, err error) {
	if m, ok := r.(measurer); ok {
		return m.TopicBounds(ctx, topic, n)
	}
	starts, stables = make([]int64, n), make([]int64, n)
	err = each(ctx, c.o.Parallel, n, func(ctx context.Context, i int) (err error) {
		starts[i], stables[i], err = r.ScanBounds(ctx, model.TopicPartition{Topic: topic, Partition: int32(i)})
		return err
	})
	return starts, stables, err
}

// planConfigs says which configs the topic is to have. why is not empty where it has one already that would spoil the copy.
func (c *Copy) planConfigs(ctx context.Context, q model.CopyQuery, t *model.CopyTopic) (why string, err error) {
	if q.Configs {
		have, err := c.from.TopicConfig(ctx, t.From)
		if err != nil {
			return "", err
		}
		t.Configs = own(have)
		if len(have) > 0 && have[0].Source == "unknown" {
			note(&t.Note, "the source does not tell its configs")
		}
	}
	if t.Create {
		return "", c.knownConfigs(ctx, t)
	}
	there, err := c.to.TopicConfig(ctx, t.To)
	if err != nil {
		return "", err
	}
	if held(there) { // it was made by a copy that was cut short, perhaps before its first record
		return "", c.knownConfigs(ctx, t)
	}
	if other := differing(t.Configs, there); len(other) > 0 {
		note(&t.Note, "it keeps its configs there: "+strings.Join(other, ", "))
	}
	t.Configs = nil
	if configOf(there, timestampType) == "LogAppendTime" {
		return fmt.Sprintf("%s dates records itself there (%s=LogAppendTime), so that they would lose their times", t.To, timestampType), nil
	}
	return "", nil
}

// knownConfigs takes out what the other side does not know or does not want.
func (c *Copy) knownConfigs(ctx context.Context, t *model.CopyTopic) error {
	if c.to.Writer == nil || len(t.Configs) == 0 {
		return nil
	}
	check := func(cs []model.ConfigChange) error {
		// A name of its own: the topic itself may be there already, from a copy that was cut short.
		_, err := c.to.Writer.CheckTopic(ctx, model.TopicSpec{Name: checkName(t.To), Partitions: 1, Configs: cs})
		return err
	}
	err := check(t.Configs)
	if errors.Is(err, model.ErrReadOnly) {
		return nil // it may only be looked at: what the plan is for then
	}
	if err == nil || !refusal(err) {
		return err
	}
	var good []model.ConfigChange
	for _, ch := range t.Configs {
		switch err := check([]model.ConfigChange{ch}); {
		case err == nil:
			good = append(good, ch)
		case refusal(err):
			note(&t.Note, fmt.Sprintf("without %s=%s, which is not taken there: %v", ch.Name, ch.Value, err))
		default:
			return err
		}
	}
	t.Configs = good
	return nil
}

// checkName is a name that no topic has.
func checkName(topic string) string { return topic[:min(len(topic), 200)] + "-strata.check" }

func refusal(err error) bool {
	return errors.Is(err, model.ErrInvalid) || errors.Is(err, model.ErrRefused)
}

// note adds to a note.
func note(s *string, more string) {
	if *s != "" {
		*s += "; "
	}
	*s += more
}
