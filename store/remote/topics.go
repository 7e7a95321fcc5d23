package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// TopicNames returns the names of all topics, internal ones too.
func (c *Client) TopicNames(ctx context.Context) ([]string, error) {
	ctx, done := c.bound(ctx)
	defer done()
	m, err := c.admin.Metadata(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", c.why(ctx, err))
	}
	var names []string
	for name, t := range m.Topics {
		if !errors.Is(t.Err, kerr.UnknownTopicOrPartition) { // as one is remembered that was asked for in vain
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// CreateTopic makes a topic; the broker decides what the spec leaves open. ErrExists, ErrInvalid.
func (c *Client) CreateTopic(ctx context.Context, s model.TopicSpec) error {
	if err := c.writing("create topic " + s.Name); err != nil {
		return err
	}
	ctx, done := c.bound(ctx)
	defer done()
	configs := map[string]*string{}
	for _, ch := range s.Configs {
		if !ch.Unset {
			configs[ch.Name] = &ch.Value
		}
	}
	partitions := s.Partitions
	if partitions == 0 {
		partitions = -1
	}
	r, err := c.admin.CreateTopic(ctx, partitions, -1, configs, s.Name)
	if err != nil {
		return fmt.Errorf("create topic %s: %w", s.Name, c.told(ctx, err, r.ErrMessage))
	}
	return nil
}

// GrowTopic gives a topic so many partitions in all. ErrNoTopic, ErrInvalid.
func (c *Client) GrowTopic(ctx context.Context, topic string, partitions int32) error {
	if err := c.writing("grow topic " + topic); err != nil {
		return err
	}
	ctx, done := c.bound(ctx)
	defer done()
	rs, err := c.admin.UpdatePartitions(ctx, int(partitions), topic)
	r := rs[topic]
	if err = errors.Join(err, r.Err); err != nil {
		return fmt.Errorf("grow topic %s: %w", topic, c.told(ctx, c.nearest(ctx, err, topic, -1), r.ErrMessage))
	}
	return nil
}

// AlterTopic changes configs, all of them or none. ErrNoTopic, ErrInvalid.
func (c *Client) AlterTopic(ctx context.Context, topic string, changes []model.ConfigChange) error {
	if err := c.writing("alter topic " + topic); err != nil {
		return err
	}
	ctx, done := c.bound(ctx)
	defer done()
	list := make([]kadm.AlterConfig, 0, len(changes))
	for _, ch := range changes {
		a := kadm.AlterConfig{Op: kadm.SetConfig, Name: ch.Name, Value: &ch.Value}
		if ch.Unset {
			a.Op, a.Value = kadm.DeleteConfig, nil
		}
		list = append(list, a)
	}
	rs, err := c.admin.AlterTopicConfigs(ctx, list, topic)
	message := ""
	for _, r := range rs {
		err, message = errors.Join(err, r.Err), r.ErrMessage
	}
	if err != nil {
		return fmt.Errorf("alter topic %s: %w", topic, c.told(ctx, c.nearest(ctx, err, topic, -1), message))
	}
	return nil
}

// DeleteTopic deletes a topic with its records. ErrNoTopic.
func (c *Client) DeleteTopic(ctx context.Context, topic string) error {
	if err := c.writing("delete topic " + topic); err != nil {
		return err
	}
	ctx, done := c.bound(ctx)
	defer done()
	r, err := c.admin.DeleteTopic(ctx, topic)
	if err != nil {
		return fmt.Errorf("delete topic %s: %w", topic, c.told(ctx, c.nearest(ctx, err, topic, -1), r.ErrMessage))
	}
	return nil
}

// DeleteRecords moves a partition's log start forward and returns where it is then. before may be model.FromEnd: all.
// ErrNoTopic, ErrOutOfRange, ErrRefused.
func (c *Client) DeleteRecords(ctx context.Context, tp model.TopicPartition, before int64) (int64, error) {
	if err := c.writing("delete records of " + tp.String()); err != nil {
		return model.Unknown, err
	}
	ctx, done := c.bound(ctx)
	defer done()
	if before == model.FromEnd {
		before = -1
	}
	var os kadm.Offsets
	os.Add(kadm.Offset{Topic: tp.Topic, Partition: tp.Partition, At: before})
	rs, err := c.admin.DeleteRecords(ctx, os)
	r := rs[tp.Topic][tp.Partition]
	if err = errors.Join(err, r.Err); err != nil {
		return model.Unknown, fmt.Errorf("delete records of %s: %w", tp, c.told(ctx, c.nearest(ctx, err, tp.Topic, tp.Partition), ""))
	}
	return r.LowWatermark, nil
}

// TopicConfig returns a topic's configs. ErrNoTopic.
func (c *Client) TopicConfig(ctx context.Context, topic string) ([]model.ConfigEntry, error) {
	ctx, done := c.bound(ctx)
	defer done()
	rs, err := c.admin.DescribeTopicConfigs(ctx, topic)
	var out []model.ConfigEntry
	message := ""
	for i := range rs {
		err, message = errors.Join(err, rs[i].Err), rs[i].ErrMessage
		for j := range rs[i].Configs {
			out = append(out, entry(&rs[i].Configs[j]))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("configs of topic %s: %w", topic, c.told(ctx, c.nearest(ctx, err, topic, -1), message))
	}
	return out, nil
}

// entry puts a config into the words of model.
func entry(k *kadm.Config) model.ConfigEntry {
	e := model.ConfigEntry{Name: k.Key, Value: k.MaybeValue(), Source: "broker"}
	switch k.Source {
	case kmsg.ConfigSourceDynamicTopicConfig:
		e.Source = "topic"
	case kmsg.ConfigSourceDefaultConfig:
		e.Source, e.Default = "default", e.Value
	case kmsg.ConfigSourceStaticBrokerConfig:
		e.Source = "file"
	}
	for i := range k.Synonyms {
		if s := &k.Synonyms[i]; s.Source == kmsg.ConfigSourceDefaultConfig && s.Value != nil {
			e.Default = *s.Value
		}
	}
	return e
}

// SetConfigs returns the configs of topics that are not at Kafka's default, by topic; nil topics means all.
func (c *Client) SetConfigs(ctx context.Context, topics []string) (map[string]map[string]string, error) {
	if topics == nil {
		var err error
		if topics, err = c.TopicNames(ctx); err != nil {
			return nil, err
		}
	}
	ctx, done := c.bound(ctx)
	defer done()
	rs, err := c.admin.DescribeTopicConfigs(ctx, topics...)
	if err != nil {
		return nil, fmt.Errorf("configs of %d topics: %w", len(topics), c.why(ctx, err))
	}
	all := make(map[string]map[string]string, len(rs))
	for i := range rs {
		if rs[i].Err != nil {
			continue
		}
		set := map[string]string{}
		for j := range rs[i].Configs {
			if k := &rs[i].Configs[j]; k.Source != kmsg.ConfigSourceDefaultConfig && k.Value != nil {
				set[k.Key] = *k.Value
			}
		}
		all[rs[i].Name] = set
	}
	return all, nil
}

// told is why with what the broker says itself.
func (c *Client) told(ctx context.Context, err error, message string) error {
	if ctx.Err() != nil || message == "" || errors.Is(err, model.ErrNoTopic) {
		return c.why(ctx, err)
	}
	return answer(err, message)
}

// nearest names the topics that resemble one that is not there. Of what is asked of one partition (not of a topic: -1)
// it may be the partition that is missing.
func (c *Client) nearest(ctx context.Context, err error, topic string, partition int32) error {
	if !errors.Is(err, kerr.UnknownTopicOrPartition) {
		return err
	}
	names, lerr := c.TopicNames(ctx)
	if lerr != nil {
		return err
	}
	if slices.Contains(names, topic) {
		if partition < 0 { // it has just gone
			return fmt.Errorf("%w: %q", model.ErrNoTopic, topic)
		}
		return fmt.Errorf("%w: %s/%d", model.ErrNoPartition, topic, partition)
	}
	return model.NotFound(model.ErrNoTopic, topic, names)
}
