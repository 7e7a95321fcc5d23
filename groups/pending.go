package groups

import (
	"encoding/binary"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// pendingPrefix is how many bytes of a pending offset's key come before the key it will have when it is committed.
const pendingPrefix = 8

// pendingKey names an offset that waits for a producer's transaction.
type pendingKey struct {
	producer int64
	group    string
	model.TopicPartition
}

func appendPendingKey(dst []byte, k pendingKey) []byte {
	return appendOffsetKey(binary.BigEndian.AppendUint64(dst, uint64(k.producer)), k.group, k.TopicPartition)
}

func parsePendingKey(b []byte) (k pendingKey, err error) {
	if len(b) < pendingPrefix {
		return k, errShort
	}
	k.producer = int64(binary.BigEndian.Uint64(b))
	k.group, k.TopicPartition, err = parseOffsetKey(b[pendingPrefix:])
	return k, err
}

// pendingIndex is the keys of the pending offsets, in memory: every fetch of stable offsets asks for them.
//
// Invariants:
//   - once loaded, it holds at least what is in the store and was answered
type pendingIndex struct {
	mu       sync.RWMutex
	loaded   bool
	groups   map[string]map[model.TopicPartition]int // how many producers' transactions a partition waits for
	producer map[int64]map[pendingKey]struct{}
}

// load reads the keys where that was not done yet. p.mu is held.
func (p *pendingIndex) load(db *DB) error {
	if p.loaded {
		return nil
	}
	p.groups, p.producer = map[string]map[model.TopicPartition]int{}, map[int64]map[pendingKey]struct{}{}
	err := db.view(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(pendingBucket))
		if b == nil {
			return nil
		}
		return b.ForEach(func(key, _ []byte) error {
			if k, err := parsePendingKey(key); err == nil {
				p.put(k)
			}
			return nil
		})
	})
	p.loaded = err == nil
	return err
}

func (p *pendingIndex) put(k pendingKey) {
	if p.producer[k.producer] == nil {
		p.producer[k.producer] = map[pendingKey]struct{}{}
	}
	if _, ok := p.producer[k.producer][k]; ok {
		return
	}
	p.producer[k.producer][k] = struct{}{}
	if p.groups[k.group] == nil {
		p.groups[k.group] = map[model.TopicPartition]int{}
	}
	p.groups[k.group][k.TopicPartition]++
}

func (p *pendingIndex) remove(k pendingKey) {
	if _, ok := p.producer[k.producer][k]; !ok {
		return
	}
	delete(p.producer[k.producer], k)
	if len(p.producer[k.producer]) == 0 {
		delete(p.producer, k.producer)
	}
	tps := p.groups[k.group]
	if tps[k.TopicPartition]--; tps[k.TopicPartition] <= 0 {
		delete(tps, k.TopicPartition)
	}
	if len(tps) == 0 {
		delete(p.groups, k.group)
	}
}

// update runs do with the keys loaded, and p.mu held.
func (p *pendingIndex) update(db *DB, do func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(db); err != nil {
		return err
	}
	do()
	return nil
}

// add takes up keys that were stored.
func (p *pendingIndex) add(db *DB, keys []pendingKey) error {
	return p.update(db, func() {
		for _, k := range keys {
			p.put(k)
		}
	})
}

// drop lets go of keys that were removed.
func (p *pendingIndex) drop(db *DB, keys []pendingKey) error {
	return p.update(db, func() {
		for _, k := range keys {
			p.remove(k)
		}
	})
}

// which returns the keys that match.
func (p *pendingIndex) which(db *DB, match func(pendingKey) bool) (keys []pendingKey, err error) {
	err = p.update(db, func() {
		for _, of := range p.producer {
			for k := range of {
				if match(k) {
					keys = append(keys, k)
				}
			}
		}
	})
	return keys, err
}

// of returns a producer's keys.
func (p *pendingIndex) of(db *DB, producer int64) (keys []pendingKey, err error) {
	err = p.update(db, func() {
		for k := range p.producer[producer] {
			keys = append(keys, k)
		}
	})
	return keys, err
}

func (p *pendingIndex) known() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.loaded
}

// in reports whether any offset of a group is pending. What cannot be read is not.
func (p *pendingIndex) in(db *DB, group string) bool {
	p.mu.RLock()
	loaded, n := p.loaded, len(p.groups[group])
	p.mu.RUnlock()
	if !loaded {
		_ = p.update(db, func() { n = len(p.groups[group]) })
	}
	return n > 0
}

// dropPending removes the pending offsets that match.
func (db *DB) dropPending(match func(pendingKey) bool) error {
	keys, err := db.pending.which(db, match)
	if err != nil || len(keys) == 0 {
		return err
	}
	err = db.update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(pendingBucket))
		for _, k := range keys {
			if err := b.Delete(appendPendingKey(nil, k)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return db.pending.drop(db, keys)
}

// PendingIn returns the partitions of a group for which an open transaction has given an offset, nil for none. Who wants
// to know whether a committed offset is stable asks before reading it: what is committed in between is then read.
func (s *Service) PendingIn(group string) (map[model.TopicPartition]bool, error) {
	p := &s.db.pending
	if p.known() && !p.in(s.db, group) {
		return nil, nil
	}
	var out map[model.TopicPartition]bool
	err := p.update(s.db, func() {
		for tp := range p.groups[group] {
			if out == nil {
				out = map[model.TopicPartition]bool{}
			}
			out[tp] = true
		}
	})
	return out, err
}

// DropPending removes the offsets of a group that wait for transactions, of some partitions where tps is not nil: who
// deletes what was committed deletes these too.
func (s *Service) DropPending(group string, tps []model.TopicPartition) error {
	only := map[model.TopicPartition]bool{}
	for _, tp := range tps {
		only[tp] = true
	}
	return s.db.dropPending(func(k pendingKey) bool { return k.group == group && (tps == nil || only[k.TopicPartition]) })
}
