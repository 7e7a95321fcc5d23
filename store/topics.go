package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// maxPartitions bounds a topic; more is a slip of the hand, or a folder like backup-20260101.
const maxPartitions = 100_000

// begin keeps Close waiting until done is called. The error is model.ErrClosed.
func (e *Engine) begin(ctx context.Context) (done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.running.RLock()
	e.mu.RLock()
	closed := e.closed
	e.mu.RUnlock()
	if closed {
		e.running.RUnlock()
		return nil, model.ErrClosed
	}
	return e.running.RUnlock, nil
}

// take finds a topic to be changed: Close, and other changes, wait until done is called. Errors are those of begin and
// topic.
func (e *Engine) take(ctx context.Context, name string) (t *topic, done func(), err error) {
	end, err := e.begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	e.admin.Lock()
	done = func() {
		e.admin.Unlock()
		end()
	}
	if t, err = e.topic(name); err != nil {
		done()
		return nil, nil, err
	}
	return t, done, nil
}

// names returns the topics' names. e.mu must be held.
func (e *Engine) names() []string { return slices.Sorted(maps.Keys(e.topics)) }

// topic finds a topic. Errors wrap model.ErrNoTopic.
func (e *Engine) topic(name string) (*topic, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t := e.topics[name]
	if t == nil {
		return nil, model.NotFound(model.ErrNoTopic, name, e.names())
	}
	return t, nil
}

// topicLogs returns a topic's logs, none where there is no such topic.
func (e *Engine) topicLogs(name string) []*partition.Log {
	e.mu.RLock()
	defer e.mu.RUnlock()
	var logs []*partition.Log
	if t := e.topics[name]; t != nil {
		for _, l := range t.parts {
			if l != nil {
				logs = append(logs, l)
			}
		}
	}
	return logs
}

// Log returns a partition's log, for what the engine itself does not offer. Errors wrap model.ErrNoTopic and
// model.ErrNoPartition.
func (e *Engine) Log(tp model.TopicPartition) (*partition.Log, error) {
	t, err := e.topic(tp.Topic)
	if err != nil {
		return nil, err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if tp.Partition < 0 || int(tp.Partition) >= len(t.parts) || t.parts[tp.Partition] == nil {
		return nil, fmt.Errorf("%w: %s has %d partitions, no %d", model.ErrNoPartition, tp.Topic, len(t.parts), tp.Partition)
	}
	return t.parts[tp.Partition], nil
}

// Topics returns the names of all topics, in order.
func (e *Engine) Topics() []string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.names()
}

// OwnConfigs returns the configs that a topic was given itself.
func (e *Engine) OwnConfigs(topic string) map[string]string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if t := e.topics[topic]; t != nil {
		return maps.Clone(t.configs)
	}
	return nil
}

// EffectiveConfigs returns, by name, the configs of a topic that are not at Kafka's default: its own, those set while the
// broker ran, the flags' and the properties'.
func (e *Engine) EffectiveConfigs(topic string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, e.broker.Topic)
	maps.Copy(all, e.o.Broker)
	maps.Copy(all, e.dynamic.Load().topic)
	maps.Copy(all, e.OwnConfigs(topic))
	return all
}

// save keeps a topic's own configs. e.admin is held.
func (e *Engine) save(name string, configs map[string]string) error {
	if len(configs) == 0 {
		return e.unsave(name)
	}
	e.saved[name] = true
	return e.keeper.Save(name, configs)
}

// unsave forgets a topic's own configs, where any are kept. e.admin is held.
func (e *Engine) unsave(name string) error {
	if !e.saved[name] {
		return nil
	}
	if err := e.keeper.Delete(name); err != nil {
		return err
	}
	delete(e.saved, name)
	return nil
}

// change returns configs with changes made. Errors wrap model.ErrInvalid.
func change(configs map[string]string, changes []model.ConfigChange) (map[string]string, error) {
	out := maps.Clone(configs)
	if out == nil {
		out = map[string]string{}
	}
	for _, c := range changes {
		if c.Unset {
			if _, ok := layout.Config(c.Name); !ok {
				return nil, layout.ValidateConfig(c.Name, "")
			}
			delete(out, c.Name)
			continue
		}
		if err := layout.ValidateConfig(c.Name, c.Value); err != nil {
			return nil, err
		}
		out[c.Name] = strings.TrimSpace(c.Value)
	}
	return out, nil
}

// AlterTopic changes a topic's own configs, from now on, and has its retention looked at. Errors wrap model.ErrNoTopic
// and model.ErrInvalid; then nothing is changed.
func (e *Engine) AlterTopic(ctx context.Context, name string, changes []model.ConfigChange) error {
	t, done, err := e.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	configs, err := change(t.configs, changes)
	if err != nil {
		return fmt.Errorf("alter topic %s: %w", name, err)
	}
	if err := e.save(name, configs); err != nil {
		return fmt.Errorf("alter topic %s: %w", name, err)
	}
	e.mu.Lock()
	t.configs, t.effective = configs, nil
	effective := e.effective(t)
	e.mu.Unlock()
	for _, l := range e.topicLogs(name) {
		l.SetConfig(effective)
	}
	e.lookSoon(name)
	return nil
}

// TopicConfig returns all configs of a topic by name, with where each value comes from: "topic", "broker" (set
// while it ran, or flags), "file" (server.properties) or "default". Errors wrap model.ErrNoTopic.
func (e *Engine) TopicConfig(ctx context.Context, name string) ([]model.ConfigEntry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := e.topic(name); err != nil {
		return nil, err
	}
	own := e.OwnConfigs(name)
	layers := []struct {
		source string
		values map[string]string
	}{{"topic", own}, {"broker", e.dynamic.Load().topic}, {"broker", e.o.Broker}, {"file", e.broker.Topic}}
	var list []model.ConfigEntry
	for _, d := range layout.Configs() {
		c := model.ConfigEntry{Name: d.Name, Value: d.Default, Default: d.Default, Source: "default", Doc: d.Doc}
		for _, l := range layers {
			if v, ok := l.values[d.Name]; ok {
				c.Value, c.Source = v, l.source
				break
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// DeleteRecords moves a partition's log start up to an offset, model.FromEnd for its end, and returns where it is now.
// It is on the disk when it returns; whole segments below it go soon after. Errors wrap model.ErrRefused (the cleanup
// policy has no delete) and model.ErrOutOfRange.
func (e *Engine) DeleteRecords(ctx context.Context, tp model.TopicPartition, before int64) (int64, error) {
	done, err := e.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	l, err := e.Log(tp)
	if err != nil {
		return 0, err
	}
	start, err := l.DeleteRecords(before)
	if err != nil {
		return start, err
	}
	e.doLater(func() { _, _ = l.RetainStart() }) // what fails here is told by the next Retain
	return start, errors.Join(e.checkpoint(logStarts), e.syncDirs())
}
