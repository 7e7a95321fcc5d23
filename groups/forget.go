package groups

import (
	"fmt"

	"go.etcd.io/bbolt"
)

// ForgetTopic is ForgetTopics for one topic.
func (s *Service) ForgetTopic(topic string) (n int, err error) {
	return s.ForgetTopics([]string{topic})
}

// ForgetTopics deletes what groups have committed of topics that are deleted, what waits for transactions too, and returns
// how many offsets that were. It takes one look at all offsets, whatever the number of topics, and writes nothing where there
// are none of theirs.
func (s *Service) ForgetTopics(topics []string) (n int, err error) {
	for _, t := range topics {
		s.counts.forget(t)
	}
	if n, err = s.db.ForgetTopics(topics); err != nil {
		return 0, err
	}
	if n > 0 {
		s.tell()
	}
	return n, nil
}

// ForgetTopics is Service.ForgetTopics before there is a Service.
func (db *DB) ForgetTopics(topics []string) (n int, err error) {
	gone := make(map[string]bool, len(topics))
	for _, t := range topics {
		gone[t] = true
	}
	find := func(tx *bbolt.Tx) (keys [][]byte, err error) {
		err = tx.Bucket([]byte(offsetsBucket)).ForEach(func(k, _ []byte) error {
			_, tp, err := parseOffsetKey(k)
			if err != nil {
				return db.corrupt("key %x of an offset: %v", k, err)
			}
			if gone[tp.Topic] {
				keys = append(keys, append([]byte(nil), k...))
			}
			return nil
		})
		return keys, err
	}
	var keys [][]byte
	err = db.view(func(tx *bbolt.Tx) (err error) {
		keys, err = find(tx)
		return err
	})
	if err == nil && len(keys) > 0 {
		err = db.update(func(tx *bbolt.Tx) (err error) {
			if keys, err = find(tx); err != nil { // what has been committed since, too
				return err
			}
			b := tx.Bucket([]byte(offsetsBucket))
			for _, k := range keys {
				if err := b.Delete(k); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err == nil {
		err = db.dropPending(func(k pendingKey) bool { return gone[k.Topic] })
	}
	if err != nil {
		return 0, fmt.Errorf("forget offsets of %d topics, %q: %w", len(topics), topics[:min(len(topics), 3)], err)
	}
	return len(keys), nil
}
