package store

import (
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// TopicFacts is what clients are told of a topic.
type TopicFacts struct {
	Name string
	ID   layout.ID
	// Logs are its partitions by number, nil where the folder is missing. They are not to be changed.
	Logs []*partition.Log
}

// Find returns a partition's log, nil where there is none. It costs a map's lookup, and no memory.
func (e *Engine) Find(topic []byte, number int32) *partition.Log {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.topics[string(topic)].log(number)
}

// FindByID returns a partition's log by its topic's id, and the topic's name, which is "" where no topic has it.
func (e *Engine) FindByID(id layout.ID, number int32) (l *partition.Log, topic string) {
	e.mu.RLock()
	name, ok := e.ids[id]
	l = e.topics[name].log(number)
	e.mu.RUnlock()
	if ok {
		return l, name
	}
	if name, ok = e.TopicByID(id); !ok { // not asked for yet
		return nil, ""
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.topics[name].log(number), name
}

func (t *topic) log(number int32) *partition.Log {
	if t == nil || number < 0 || int(number) >= len(t.parts) {
		return nil
	}
	return t.parts[number]
}

// Facts returns what clients are told of a topic; false where there is no such topic.
func (e *Engine) Facts(name string) (TopicFacts, bool) {
	id, ok := e.TopicID(name)
	if !ok {
		return TopicFacts{}, false
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	t := e.topics[name]
	if t == nil {
		return TopicFacts{}, false
	}
	return TopicFacts{Name: name, ID: id, Logs: t.parts[:len(t.parts):len(t.parts)]}, true
}
