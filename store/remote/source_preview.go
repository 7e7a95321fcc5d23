package remote

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/strata-kafka/strata/model"
)

// PreviewDelete implements model.RecordDeleter. Errors are those of DeleteRecords.
func (c *Cluster) PreviewDelete(ctx context.Context, tp model.TopicPartition, before int64) (model.Preview, error) {
	p := model.Preview{Topic: tp.Topic, Records: model.Exactly(0), Runs: true}
	if err := c.begin(ctx); err != nil {
		return p, err
	}
	e, err := c.endsNow(ctx, tp)
	if err != nil {
		return p, err
	}
	if before == model.FromEnd {
		before = e.hw
	}
	if before < 0 || before > e.hw {
		return p, fmt.Errorf("%w: %d of %s; it ends at %d", model.ErrOutOfRange, before, tp, e.hw)
	}
	ctx, done := c.bound(ctx)
	defer done()
	if err := c.addRun(ctx, &p, tp, &e, before); err != nil {
		return p, err
	}
	p.Notes = append(p.Notes, fmt.Sprintf("log start goes from %d to %d", e.start, max(e.start, before)))
	return p, nil
}

// addRun adds what lies below an offset to what goes at once.
func (c *Cluster) addRun(ctx context.Context, p *model.Preview, tp model.TopicPartition, e *ends, before int64) error {
	if before <= e.start {
		return nil
	}
	n, err := ledger{c}.CountBetween(ctx, tp, e.start, before)
	if err != nil {
		return err
	}
	s := model.Segment{TopicPartition: tp, Base: e.start, Last: before - 1, Records: n, Inflated: model.Unknown, IndexEntries: -1,
		FirstTimestamp: model.NoTime, LastTimestamp: model.NoTime, Leaves: model.NoTime}
	c.mu.Lock()
	if size, ok := c.facts[tp.Topic].sizes[tp.Partition]; ok && e.hw > e.start {
		s.Bytes = int64(float64(size) * float64(before-e.start) / float64(e.hw-e.start))
	}
	c.mu.Unlock()
	p.Now = append(p.Now, s)
	p.Records = p.Records.Add(n)
	p.Bytes += s.Bytes
	return nil
}

// PreviewAlter implements model.TopicAdmin. Which segments would go only the brokers' files show: what is told is how many
// records are older than a retention.ms that gets shorter.
func (c *Cluster) PreviewAlter(ctx context.Context, topic string, changes []model.ConfigChange) (model.Preview, error) {
	p := model.Preview{Topic: topic, Records: model.Exactly(0), Runs: true}
	if err := c.begin(ctx); err != nil {
		return p, err
	}
	m, err := c.topic(ctx, topic)
	if err != nil {
		return p, err
	}
	before, err := c.TopicConfig(ctx, topic)
	if err != nil {
		return p, err
	}
	was, will := map[string]string{}, map[string]string{}
	for i := range before {
		was[before[i].Name], will[before[i].Name] = before[i].Value, before[i].Value
	}
	for _, ch := range changes {
		if _, ok := was[ch.Name]; !ok {
			return p, fmt.Errorf("alter topic %s: %w config %q: the cluster knows no such one", topic, model.ErrInvalid, ch.Name)
		}
		will[ch.Name] = ch.Value
		if ch.Unset {
			i := slices.IndexFunc(before, func(e model.ConfigEntry) bool { return e.Name == ch.Name })
			will[ch.Name] = before[i].Default
			if before[i].Source != "topic" {
				will[ch.Name] = before[i].Value
			}
		}
	}
	p.Notes = alterNotes(was, will)
	ms, old := number(will["retention.ms"]), number(was["retention.ms"])
	if ms < 0 || old >= 0 && ms >= old || !deletes(will) {
		return p, nil
	}
	ctx, done := c.bound(ctx)
	defer done()
	tps := partitionsOf([]*topicMeta{m})
	at := c.list(ctx, tps, max(0, time.Now().UnixMilli()-ms), 0)
	for tp, e := range c.measure(ctx, tps) {
		if e.err != nil || at[tp].err != nil {
			p.Records = model.Count{}
			continue
		}
		to := at[tp].offset
		if to < 0 { // nothing is younger
			to = e.hw
		}
		if err := c.addRun(ctx, &p, tp, &e, to); err != nil {
			return p, err
		}
	}
	slices.SortFunc(p.Now, func(a, b model.Segment) int { return a.Compare(b.TopicPartition) })
	if len(p.Now) > 0 {
		p.Notes = append(p.Notes, "that many are older; they go with the segments whose newest record is, which only the brokers' files show")
	}
	return p, ctx.Err()
}

func deletes(configs map[string]string) bool {
	p := configs["cleanup.policy"]
	return p == "" || p == "delete" || len(p) > len("delete")
}

// alterNotes puts into words what a change of configs does beside deleting by age.
func alterNotes(was, will map[string]string) []string {
	var notes []string
	if a, b := number(was["retention.bytes"]), number(will["retention.bytes"]); b >= 0 && (a < 0 || b < a) {
		notes = append(notes, fmt.Sprintf("partitions above %d bytes lose their oldest segments", b))
	}
	if a, b := was["cleanup.policy"], will["cleanup.policy"]; a != b {
		notes = append(notes, fmt.Sprintf("cleanup.policy goes from %s to %s: what it removes does not come back", a, b))
	}
	if a, b := number(was["max.message.bytes"]), number(will["max.message.bytes"]); b < a {
		notes = append(notes, fmt.Sprintf("batches above %d bytes are refused from now on", b))
	}
	return notes
}
