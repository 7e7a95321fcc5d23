package groups

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unicode/utf16"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// stored is a group as it lies in the store.
type stored struct {
	record  groupRecord
	known   bool // record is stored: the group had members once
	offsets []Committed
	bad     int // entries that cannot be read and are left out
}

// readAll reads every group. Damaged entries are counted and left out; one whose key tells no group is left out altogether.
func readAll(db *DB, tx *bbolt.Tx) (map[string]*stored, error) {
	all := map[string]*stored{}
	at := func(id string) *stored {
		if all[id] == nil {
			all[id] = &stored{}
		}
		return all[id]
	}
	err := tx.Bucket([]byte(groupsBucket)).ForEach(func(k, v []byte) error {
		s := at(string(k))
		rec, err := parseGroupRecord(v)
		if err != nil {
			s.bad++
			return nil
		}
		s.record, s.known = rec, true
		return nil
	})
	if err != nil {
		return nil, err
	}
	var last *stored
	var prefix []byte
	err = tx.Bucket([]byte(offsetsBucket)).ForEach(func(k, v []byte) error {
		group, _, err := parseOffsetKey(k)
		if err != nil {
			return nil
		}
		// Offsets of one group lie together.
		if last == nil || !bytes.HasPrefix(k, prefix) {
			last, prefix = at(group), appendGroupPrefix(prefix[:0], group)
		}
		if c, err := db.parseOffset(k, v); err != nil {
			last.bad++
		} else {
			last.offsets = append(last.offsets, c)
		}
		return nil
	})
	for _, s := range all {
		s.sort()
	}
	return all, err
}

// readGroup reads one group; it has no offsets and is not known where there is none. Damage is an error: what is to be
// changed must be known whole.
func readGroup(db *DB, tx *bbolt.Tx, id string) (*stored, error) {
	s := lookAt(db, tx, id)
	if s.bad > 0 {
		return s, db.corrupt("%d entries of group %q cannot be read", s.bad, id)
	}
	return s, nil
}

// lookAt reads one group as readAll does.
func lookAt(db *DB, tx *bbolt.Tx, id string) *stored {
	s := &stored{}
	if v := tx.Bucket([]byte(groupsBucket)).Get([]byte(id)); v != nil {
		rec, err := parseGroupRecord(v)
		if err != nil {
			s.bad++
		} else {
			s.record, s.known = rec, true
		}
	}
	prefix := appendGroupPrefix(nil, id)
	c := tx.Bucket([]byte(offsetsBucket)).Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if committed, err := db.parseOffset(k, v); err != nil {
			s.bad++
		} else {
			s.offsets = append(s.offsets, committed)
		}
	}
	s.sort()
	return s
}

// readOffset reads one partition's offset; ok is false where nothing is committed.
func readOffset(db *DB, tx *bbolt.Tx, group string, tp model.TopicPartition) (c Committed, ok bool, err error) {
	k := appendOffsetKey(nil, group, tp)
	v := tx.Bucket([]byte(offsetsBucket)).Get(k)
	if v == nil {
		c.TopicPartition, c.Offset, c.LeaderEpoch = tp, model.Unknown, -1
		return c, false, nil
	}
	c, err = db.parseOffset(k, v)
	return c, err == nil, err
}

func (db *DB) parseOffset(k, v []byte) (Committed, error) {
	group, tp, err := parseOffsetKey(k)
	if err != nil {
		return Committed{}, db.corrupt("key %x of an offset: %v", k, err)
	}
	c, err := parseCommitted(v)
	if err != nil {
		return Committed{}, db.corrupt("offset of group %q in %s: %v", group, tp, err)
	}
	c.TopicPartition = tp
	return c, nil
}

// sort puts the offsets in the order of their partitions. The keys are nearly so: shorter topic names come first.
func (s *stored) sort() {
	slices.SortFunc(s.offsets, func(a, b Committed) int { return a.Compare(b.TopicPartition) })
}

// offset returns the offset of a partition.
func (s *stored) offset(tp model.TopicPartition) (Committed, bool) {
	i, ok := slices.BinarySearchFunc(s.offsets, tp, func(c Committed, tp model.TopicPartition) int { return c.Compare(tp) })
	if !ok {
		return Committed{Commit: model.Commit{TopicPartition: tp, Offset: model.Unknown, LeaderEpoch: -1}}, false
	}
	return s.offsets[i], true
}

// checkCommit says what is wrong with an offset to be committed.
func checkCommit(group string, c model.Commit) error {
	switch {
	case group == "" || len(group) > maxGroupID:
		return fmt.Errorf("%w group's name: want 1 to %d bytes, have %d", model.ErrInvalid, maxGroupID, len(group))
	case c.Topic == "" || len(c.Topic) > maxTopic:
		return fmt.Errorf("%w topic's name %q: want 1 to %d bytes", model.ErrInvalid, c.Topic, maxTopic)
	case c.Partition < 0:
		return fmt.Errorf("%w partition %d of %s", model.ErrInvalid, c.Partition, c.Topic)
	case c.Offset < 0 || c.Offset == math.MaxInt64:
		return fmt.Errorf("%w offset %d of %s", model.ErrInvalid, c.Offset, c.TopicPartition)
	case len(c.Metadata) > maxMetadata && len(utf16.Encode([]rune(c.Metadata))) > maxMetadata:
		return fmt.Errorf("%w metadata of %s: %d bytes, at most %d letters", model.ErrInvalid, c.TopicPartition, len(c.Metadata), maxMetadata)
	}
	return nil
}

func offsetEntry(group string, c Committed) entry {
	return entry{bucket: offsetsBucket, key: appendOffsetKey(nil, group, c.TopicPartition), value: appendCommitted(nil, c)}
}

func groupEntry(id string, rec groupRecord) entry {
	return entry{bucket: groupsBucket, key: []byte(id), value: appendGroupRecord(nil, rec)}
}

// forget removes what is stored of a group beside its offsets.
func forget(tx *bbolt.Tx, id string) error {
	if id == "" {
		return nil // it can have offsets only
	}
	if err := tx.Bucket([]byte(membersBucket)).Delete([]byte(id)); err != nil {
		return err
	}
	return tx.Bucket([]byte(groupsBucket)).Delete([]byte(id))
}
