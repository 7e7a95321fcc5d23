package remote

import (
	"context"
	"errors"
	"time"

	"github.com/strata-kafka/strata/model"
)

// seenWithin is how long a change of topics may take to reach the brokers that tell of them.
const seenWithin = 3 * time.Second

// Groups implements model.Source.
func (c *Cluster) Groups(ctx context.Context) ([]model.Group, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	c.watch.asked(&c.watch.groups)
	defer c.watch.costs(time.Now())
	return c.groups.Groups(ctx)
}

// Group implements model.GroupReader.
func (c *Cluster) Group(ctx context.Context, id string) (model.Group, error) {
	if err := c.begin(ctx); err != nil {
		return model.Group{}, err
	}
	c.watch.asked(&c.watch.groups)
	return c.groups.Group(ctx, id)
}

// PlanReset implements model.Resetter.
func (c *Cluster) PlanReset(ctx context.Context, r model.ResetRequest) (model.ResetPlan, error) {
	return c.groups.PlanReset(ctx, r)
}

// ApplyReset implements model.Resetter.
func (c *Cluster) ApplyReset(ctx context.Context, p model.ResetPlan) (model.ResetResult, error) {
	res, err := c.groups.ApplyReset(ctx, p)
	c.out.tell(&pending{groups: true})
	return res, err
}

// Journal implements model.Resetter: a cluster keeps none, see WhyNoJournal.
func (c *Cluster) Journal(context.Context) ([]model.JournalEntry, error) { return nil, nil }

// PlanUndo implements model.Resetter: there is no journal to be taken back from.
func (c *Cluster) PlanUndo(context.Context, uint64) (model.ResetPlan, error) {
	return model.ResetPlan{}, errors.New("undo: " + c.WhyNoJournal())
}

// WhyNoJournal implements model.JournalReason.
func (c *Cluster) WhyNoJournal() string {
	return "a cluster keeps no journal of resets, and others may commit at any time; plan a reset to where the group was"
}

// DeleteGroup implements model.Resetter.
func (c *Cluster) DeleteGroup(ctx context.Context, id string) error {
	err := c.groups.DeleteGroup(ctx, id)
	c.out.tell(&pending{groups: true})
	return err
}

// JoinGroup implements model.GroupJoiner.
func (c *Cluster) JoinGroup(ctx context.Context, r model.JoinRequest) (model.Membership, error) {
	m, err := c.Client.JoinGroup(ctx, r)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Produce implements model.Producer.
func (c *Cluster) Produce(ctx context.Context, r model.ProduceRequest) ([]model.Produced, error) {
	out, err := c.Client.Produce(ctx, r)
	c.watch.wake()
	return out, err
}

// CreateTopic implements model.TopicAdmin.
func (c *Cluster) CreateTopic(ctx context.Context, s model.TopicSpec) error {
	if err := c.Client.CreateTopic(ctx, s); err != nil {
		return err
	}
	c.await(ctx, func(t *table) bool { return t.topics[s.Name] != nil && t.topics[s.Name].err == nil })
	return nil
}

// GrowTopic implements model.TopicAdmin.
func (c *Cluster) GrowTopic(ctx context.Context, topic string, partitions int32) error {
	if err := c.Client.GrowTopic(ctx, topic, partitions); err != nil {
		return err
	}
	c.await(ctx, func(t *table) bool { m := t.topics[topic]; return m == nil || len(m.parts) >= int(partitions) })
	return nil
}

// AlterTopic implements model.TopicAdmin.
func (c *Cluster) AlterTopic(ctx context.Context, topic string, changes []model.ConfigChange) error {
	err := c.Client.AlterTopic(ctx, topic, changes)
	c.mu.Lock()
	delete(c.facts, topic)
	c.mu.Unlock()
	c.watch.wake()
	return err
}

// DeleteTopic implements model.TopicAdmin.
func (c *Cluster) DeleteTopic(ctx context.Context, topic string) error {
	was := c.current().topics[topic]
	if err := c.Client.DeleteTopic(ctx, topic); err != nil {
		return err
	}
	c.await(ctx, func(t *table) bool { m := t.topics[topic]; return m == nil || was != nil && m.id != was.id })
	return nil
}

// DeleteRecords implements model.RecordDeleter.
func (c *Cluster) DeleteRecords(ctx context.Context, tp model.TopicPartition, before int64) (int64, error) {
	start, err := c.Client.DeleteRecords(ctx, tp, before)
	if err == nil {
		_, err = c.endsNow(ctx, tp)
	}
	return start, err
}

// await asks for the metadata until it shows a change, for a while: brokers hear of it one after the other.
func (c *Cluster) await(ctx context.Context, seen func(*table) bool) {
	ctx, done := c.within(ctx, seenWithin)
	defer done()
	for wait := 20 * time.Millisecond; ; wait *= 2 {
		if err := c.refresh(ctx); err != nil || seen(c.current()) || c.pause(ctx, wait) != nil {
			return // the watcher will see it
		}
	}
}
