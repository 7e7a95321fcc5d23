package groups

import (
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// expiry returns how to tell when an offset of a group expires (ms, or NoTime): when a client asked for it, else after the
// retention, counted as Kafka counts it: from when the group lost its last member, from the commit in a group that never
// had any, and for topics that none of its members subscribes to while it is Stable. What they do subscribe to does not
// expire.
func (s *Service) expiry(st *stored, g *model.Group) func(Committed) int64 {
	keep := s.o.Retention.Milliseconds()
	topics, subscribed := s.topics(g.ID)
	return func(c Committed) int64 {
		_, read := slices.BinarySearch(topics, c.Topic)
		switch {
		case g.Active() && (read || !subscribed):
			return model.NoTime
		case c.Expires != model.NoTime:
			return c.Expires
		case g.Active():
			return c.At + keep
		case st.known && st.record.EmptySince != model.NoTime:
			return st.record.EmptySince + keep
		case st.known:
			return model.NoTime // its members died with their process: Expire starts the count
		}
		return c.At + keep
	}
}

// Expire removes the offsets whose time has come, and the groups that are left without any, and returns how many offsets
// those were. It is to be called now and then; a store that is read-only is left alone.
func (s *Service) Expire(now time.Time) (int, error) {
	if s.db.ReadOnly() {
		return 0, nil
	}
	all, err := s.stored()
	if err != nil {
		return 0, fmt.Errorf("expire offsets: %w", err)
	}
	total := 0
	for id, st := range all {
		if !s.due(id, st, now.UnixMilli()) {
			continue
		}
		n, err := s.expireGroup(id, now.UnixMilli())
		total += n
		if err != nil {
			return total, fmt.Errorf("expire offsets of group %q: %w", id, err)
		}
	}
	if total > 0 {
		s.tell()
	}
	return total, nil
}

// due reports whether Expire has anything to write for a group.
func (s *Service) due(id string, st *stored, now int64) bool {
	g := s.lookup(id)
	if st.known && !g.Active() && (st.record.EmptySince == model.NoTime || len(st.offsets) == 0) {
		return true
	}
	expires := s.expiry(st, &g)
	for _, c := range st.offsets {
		if at := expires(c); at != model.NoTime && now >= at {
			return true
		}
	}
	return false
}

// expireGroup looks at a group again, in the transaction that removes what is due of it.
func (s *Service) expireGroup(id string, now int64) (n int, err error) {
	defer s.release(id, s.hold(id))
	g := s.lookup(id)
	pending, err := s.PendingIn(id)
	if err != nil {
		return 0, err
	}
	err = s.db.update(func(tx *bbolt.Tx) error {
		n = 0
		st, err := readGroup(s.db, tx, id)
		if err != nil {
			return err
		}
		groups := tx.Bucket([]byte(groupsBucket))
		if st.known && !g.Active() && st.record.EmptySince == model.NoTime {
			st.record.EmptySince = now
			return groups.Put([]byte(id), appendGroupRecord(nil, st.record))
		}
		expires := s.expiry(st, &g)
		offsets := tx.Bucket([]byte(offsetsBucket))
		for _, c := range st.offsets {
			at := expires(c)
			if at == model.NoTime || now < at {
				continue
			}
			if err := offsets.Delete(appendOffsetKey(nil, id, c.TopicPartition)); err != nil {
				return err
			}
			n++
		}
		if !g.Active() && n == len(st.offsets) && st.known && len(pending) == 0 {
			return forget(tx, id)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
