package store

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// HasTopic reports whether there is a topic of that name.
func (e *Engine) HasTopic(name string) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.topics[name] != nil
}

// PartitionCount returns how many partitions a topic has; 0 means that there is no such topic.
func (e *Engine) PartitionCount(name string) int {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if t := e.topics[name]; t != nil {
		return len(t.parts)
	}
	return 0
}

// TopicsVersion returns a number that rises whenever a topic comes, goes or grows.
func (e *Engine) TopicsVersion() uint64 { return e.shape.Load() }

// DefaultPartitions returns how many partitions a topic gets that is made without a number.
func (e *Engine) DefaultPartitions() int32 { return e.o.Partitions }

// Collides returns the topic, if any, for whose sake Kafka would not make one of that name: the two differ only in dots and
// underscores. "" means that there is none.
func (e *Engine) Collides(name string) string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for other := range e.topics {
		if layout.Collides(name, other) {
			return other
		}
	}
	return ""
}

// TopicID returns a topic's id; ok is false where there is no such topic.
func (e *Engine) TopicID(name string) (id layout.ID, ok bool) {
	e.mu.RLock()
	t := e.topics[name]
	if t != nil {
		id = t.id
	}
	e.mu.RUnlock()
	if t == nil {
		return layout.ID{}, false
	}
	if !id.IsZero() {
		return id, true
	}
	return e.learnID(t), true
}

// TopicByID returns the name of the topic that has the id; ok is false where none has it, any more or ever.
func (e *Engine) TopicByID(id layout.ID) (name string, ok bool) {
	if id.IsZero() {
		return "", false
	}
	e.allIDs.Do(func() {
		for _, name := range e.Topics() {
			e.TopicID(name)
		}
	})
	e.mu.RLock()
	defer e.mu.RUnlock()
	name, ok = e.ids[id]
	return name, ok
}

// learnID reads the id of a topic that was there when the directories were opened. Where none of its folders says one, as
// before Kafka 2.8, it gets one.
func (e *Engine) learnID(t *topic) layout.ID {
	e.learning.Lock()
	defer e.learning.Unlock()
	e.mu.RLock()
	id, parts := t.id, t.parts
	e.mu.RUnlock()
	if !id.IsZero() {
		return id
	}
	id, found := readTopicID(parts)
	if !found {
		id = layout.NewID()
		for _, l := range parts {
			if l == nil {
				continue
			}
			path := filepath.Join(l.Dir(), layout.PartitionMetaFile)
			if err := partition.WriteFile(path, layout.AppendPartitionMeta(nil, id), nil); err != nil {
				e.notice(fmt.Sprintf("topic %s has an id until the next start only: %v", t.name, err))
				break
			}
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t.id = id
	if e.topics[t.name] == t {
		e.ids[id] = t.name
	}
	return id
}

// readTopicID reads a topic's id from the first partition that says it.
func readTopicID(parts []*partition.Log) (id layout.ID, found bool) {
	for _, l := range parts {
		if l == nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join(l.Dir(), layout.PartitionMetaFile))
		if err != nil {
			continue
		}
		if id, err := layout.ParsePartitionMeta(b); err == nil {
			return id, true
		}
	}
	return layout.ID{}, false
}
