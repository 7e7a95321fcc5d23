package groups

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// TopicConfigs keeps the configs that topics were given, for the engine. What it has saved is on the disk.
type TopicConfigs struct{ db *DB }

// TopicConfigs returns the store's part for topic configs.
func (db *DB) TopicConfigs() TopicConfigs { return TopicConfigs{db} }

// Lost reports whether topics had configs that are gone; see DB.ConfigsLost.
func (c TopicConfigs) Lost() bool { return c.db.ConfigsLost() }

// Load returns every topic's own configs, by topic and name. A damaged entry is an error: whoever deletes by a config must not
// take its default instead.
func (c TopicConfigs) Load() (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	err := c.db.view(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(configsBucket)).ForEach(func(k, v []byte) error {
			configs, err := parseConfigs(v)
			if err != nil {
				return c.db.corrupt("configs of topic %q: %v", k, err)
			}
			all[string(k)] = configs
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("load topic configs: %w", err)
	}
	return all, nil
}

// Save replaces a topic's own configs. What else has configs (brokers, groups) has a name that no topic can have.
func (c TopicConfigs) Save(topic string, configs map[string]string) error {
	if topic == "" || len(topic) > maxTopic && (!strings.Contains(topic, ":") || len(topic) > 2*maxGroupID) {
		return fmt.Errorf("save configs: %w topic's name %q", model.ErrInvalid, topic)
	}
	err := c.db.put(context.Background(), []entry{{bucket: configsBucket, key: []byte(topic), value: appendConfigs(nil, configs)}})
	if err != nil {
		return fmt.Errorf("save configs of %s: %w", topic, err)
	}
	return nil
}

// Replace makes these the configs of all topics, in one step, and so makes good what was lost: Lost is false from then on.
// It is for whoever opens the store, before anybody else uses it.
func (c TopicConfigs) Replace(all map[string]map[string]string) error {
	err := c.db.update(func(tx *bbolt.Tx) error {
		if err := tx.DeleteBucket([]byte(configsBucket)); err != nil {
			return err
		}
		b, err := tx.CreateBucket([]byte(configsBucket))
		if err != nil {
			return err
		}
		for _, topic := range slices.Sorted(maps.Keys(all)) {
			if err := b.Put([]byte(topic), appendConfigs(nil, all[topic])); err != nil {
				return fmt.Errorf("topic %s: %w", topic, err)
			}
		}
		return tx.Bucket([]byte(schemaBucket)).Delete([]byte(lostKey))
	})
	if err != nil {
		return fmt.Errorf("replace the configs of %d topics: %w", len(all), err)
	}
	c.db.lost = false
	return nil
}

// Delete forgets a topic's own configs. One that has none is no error.
func (c TopicConfigs) Delete(topic string) error {
	if topic == "" {
		return fmt.Errorf("delete configs: %w topic's name %q", model.ErrInvalid, topic)
	}
	err := c.db.put(context.Background(), []entry{{bucket: configsBucket, key: []byte(topic)}})
	if err != nil {
		return fmt.Errorf("delete configs of %s: %w", topic, err)
	}
	return nil
}

// corrupt says that a value in the store is not what it should be.
func (db *DB) corrupt(format string, args ...any) error {
	return &model.CorruptError{Path: db.path, Pos: model.Unknown, What: fmt.Sprintf(format, args...)}
}
