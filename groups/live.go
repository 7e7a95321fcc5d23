package groups

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// The types of group, named as Kafka's tools print them.
const (
	TypeClassic  = "Classic"
	TypeConsumer = "Consumer"
)

// Live is what screens, resets and deletes see of a group while it has members. The zero value has none.
type Live struct {
	State        model.GroupState // "" means Empty
	Type         string           // Classic, Consumer
	ProtocolType string           // "consumer", "connect", …
	Protocol     string           // the assignor chosen, or ""
	Generation   int32            // of a classic group, or a consumer group's epoch
	Members      []model.Member   // in the order of joining
	// Topics is what the members subscribe to, sorted; nil where that is not known. What is not among them expires while
	// the group is Stable.
	Topics []string
}

// Active reports whether the group has members, so that its offsets are not to be touched.
func (l *Live) Active() bool {
	return len(l.Members) > 0 || l.State != "" && l.State != model.GroupEmpty && l.State != model.GroupDead
}

// record is what is to be stored of the group.
func (l *Live) record(emptySince int64) groupRecord {
	return groupRecord{EmptySince: emptySince, Generation: l.Generation, Type: l.Type, ProtocolType: l.ProtocolType, Protocol: l.Protocol}
}

// live is a group in memory. fence is taken before mu, and held while the store is written, so that what was decided by
// the members is still so when it is on the disk.
type live struct {
	users int // who hold it or wait for its fence; guarded by Service.mu

	fence sync.Mutex

	mu  sync.Mutex
	now Live
}

func (l *live) snapshot() Live {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// Publish says what a group is now, and stores state, the coordinator's own record of its members, with it: a nil one
// changes nothing in the store, an empty one takes away what is there. It returns when that is on the disk. A reset or a
// deletion under way is waited for, so that a member comes after it or it meets the member. The slices of l are the
// Service's from then on.
func (s *Service) Publish(ctx context.Context, group string, l Live, state []byte) error {
	w, err := s.Post(group, l, state)
	if err != nil {
		return err
	}
	return w.Wait(ctx)
}

// Post is Publish without the wait for the disk, for which there is the Write. What is posted for a group is written in
// the order of the calls.
func (s *Service) Post(group string, l Live, state []byte) (*Write, error) {
	if state != nil {
		if err := s.writable(); err != nil {
			return nil, fmt.Errorf("store members of group %q: %w", group, err)
		}
		if group == "" || len(group) > maxGroupID {
			return nil, fmt.Errorf("store members: %w group's name: want 1 to %d bytes, have %d", model.ErrInvalid, maxGroupID, len(group))
		}
	}
	x := s.hold(group)
	defer s.release(group, x)
	w := written()
	if state != nil {
		since := model.NoTime
		if !l.Active() {
			since = s.o.Now().UnixMilli()
		}
		entries := []entry{groupEntry(group, l.record(since)), {bucket: membersBucket, key: []byte(group)}}
		if len(state) > 0 {
			entries[1].value = append([]byte{formatV1}, state...)
		}
		var err error
		if w, err = s.db.enqueue(entries, s.tell); err != nil {
			return nil, fmt.Errorf("store members of group %q: %w", group, err)
		}
	}
	x.mu.Lock()
	x.now = l
	x.mu.Unlock()
	s.tell()
	return w, nil
}

// Restore returns what Publish has stored of the members of each group: of those that had members when the broker ended.
// What cannot be read is left out: its members join anew.
func (s *Service) Restore() map[string][]byte {
	all := map[string][]byte{}
	_ = s.db.view(func(tx *bbolt.Tx) error { // a store that cannot be read has been told of
		b := tx.Bucket([]byte(membersBucket))
		if b == nil {
			return nil
		}
		return b.ForEach(func(k, v []byte) error {
			if len(v) > 1 && v[0] == formatV1 {
				all[string(k)] = slices.Clone(v[1:])
			}
			return nil
		})
	})
	return all
}

// Known is what is stored of a group without members.
type Known struct {
	Exists       bool // it has had members, or has offsets, be they a transaction's that is open
	Type         string
	ProtocolType string
	Protocol     string
	Generation   int32 // the last one
}

// Known returns what is stored of a group.
func (s *Service) Known(group string) (k Known, err error) {
	err = s.db.view(func(tx *bbolt.Tx) error {
		k = knownIn(tx, group)
		return nil
	})
	if !k.Exists && s.db.pending.in(s.db, group) {
		k = known(groupRecord{})
	}
	if err != nil {
		return Known{}, fmt.Errorf("look up group %q: %w", group, err)
	}
	return k, nil
}

// AllKnown returns what is stored of all groups, by name.
func (s *Service) AllKnown() (map[string]Known, error) {
	all := map[string]Known{}
	err := s.db.view(func(tx *bbolt.Tx) error {
		clear(all)
		err := tx.Bucket([]byte(groupsBucket)).ForEach(func(k, v []byte) error {
			rec, err := parseGroupRecord(v)
			if err != nil {
				rec = groupRecord{} // it is there, whatever it is
			}
			all[string(k)] = known(rec)
			return nil
		})
		if err != nil {
			return err
		}
		c := tx.Bucket([]byte(offsetsBucket)).Cursor()
		for k, _ := c.First(); k != nil; {
			group, _, err := parseOffsetKey(k)
			if err != nil {
				k, _ = c.Next()
				continue
			}
			if _, ok := all[group]; !ok {
				all[group] = known(groupRecord{})
			}
			// A topic's name is behind a length whose first byte is 0.
			k, _ = c.Seek(append(appendGroupPrefix(nil, group), 1))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	return all, nil
}

func known(r groupRecord) Known {
	k := Known{Exists: true, Type: r.Type, ProtocolType: r.ProtocolType, Protocol: r.Protocol, Generation: r.Generation}
	if k.Type == "" {
		k.Type = TypeClassic
	}
	return k
}

func knownIn(tx *bbolt.Tx, group string) Known {
	if v := tx.Bucket([]byte(groupsBucket)).Get([]byte(group)); v != nil {
		if rec, err := parseGroupRecord(v); err == nil {
			return known(rec)
		}
		return known(groupRecord{})
	}
	prefix := appendGroupPrefix(nil, group)
	if k, _ := tx.Bucket([]byte(offsetsBucket)).Cursor().Seek(prefix); len(k) > len(prefix) && string(k[:len(prefix)]) == string(prefix) {
		return known(groupRecord{})
	}
	return Known{}
}

// hold returns a group's place in memory with its fence taken, for release.
func (s *Service) hold(id string) *live {
	s.mu.Lock()
	l := s.live[id]
	if l == nil {
		l = &live{}
		s.live[id] = l
	}
	l.users++
	s.mu.Unlock()
	l.fence.Lock()
	return l
}

// release lets go of the fence; a group without members needs no memory.
func (s *Service) release(id string, l *live) {
	l.fence.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	l.users--
	if now := l.snapshot(); l.users == 0 && !now.Active() {
		delete(s.live, id)
	}
}

// lookup returns state and members of a group as the caller's own, Empty where it has none.
func (s *Service) lookup(id string) model.Group {
	s.mu.Lock()
	l := s.live[id]
	s.mu.Unlock()
	g := model.Group{ID: id, State: model.GroupEmpty}
	if l == nil {
		return g
	}
	now := l.snapshot()
	if now.State != "" {
		g.State = now.State
	}
	if !now.Active() {
		return g
	}
	g.Type, g.ProtocolType, g.Protocol = now.Type, now.ProtocolType, now.Protocol
	for _, m := range now.Members {
		m.Assignment = slices.Clone(m.Assignment)
		g.Members = append(g.Members, m)
	}
	return g
}

// topics returns what a group's members subscribe to; known is false where that is not known.
func (s *Service) topics(id string) (topics []string, known bool) {
	s.mu.Lock()
	l := s.live[id]
	s.mu.Unlock()
	if l == nil {
		return nil, false
	}
	now := l.snapshot()
	return now.Topics, now.Topics != nil && now.State == model.GroupStable
}
