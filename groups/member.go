package groups

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/strata-kafka/strata/model"
)

// The types of group, named as Kafka's tools print them.
const (
	typeClassic      = "Classic"
	protocolConsumer = "consumer"
)

// MemberInfo describes a member that joins.
type MemberInfo struct {
	Client     string // client.id; "" means consumer
	Host       string // "" means 127.0.0.1
	Instance   string // group.instance.id, or ""
	Assignment []model.TopicPartition
}

// Membership is a member's place in a group. Its methods may be called from any goroutine.
type Membership struct {
	s     *Service
	group string
	id    string
}

// Join makes an in-process consumer a member. The group is Stable while it has members: each brings its own assignment.
// It ends with Leave or with the Service; a member that the process takes with it when it dies is gone at the next start.
func (s *Service) Join(group string, info MemberInfo) (*Membership, error) {
	if err := s.writable(); err != nil {
		return nil, fmt.Errorf("join group %q: %w", group, err)
	}
	if group == "" || len(group) > maxGroupID {
		return nil, fmt.Errorf("join: %w group's name: want 1 to %d bytes, have %d", model.ErrInvalid, maxGroupID, len(group))
	}
	if info.Client == "" {
		info.Client = "consumer"
	}
	if info.Host == "" {
		info.Host = "127.0.0.1"
	}
	l := s.group(group)
	l.fence.Lock()
	defer l.fence.Unlock()
	// The process may have been another one when the group had members last.
	st, err := s.read(group)
	if err != nil {
		return nil, fmt.Errorf("join group %q: %w", group, err)
	}
	m := &model.Member{ID: memberID(info.Client), Instance: info.Instance, Client: info.Client, Host: info.Host, Assignment: slices.Clone(info.Assignment)}
	l.mu.Lock()
	first := len(l.members) == 0
	l.generation = max(l.generation, st.record.Generation)
	rec := l.record(model.NoTime)
	rec.Type = typeClassic
	rec.Generation++
	l.mu.Unlock()
	if first {
		if err := s.db.put(context.Background(), []entry{groupEntry(group, rec)}); err != nil {
			return nil, fmt.Errorf("join group %q: %w", group, err)
		}
	}
	l.mu.Lock()
	err = l.turn(model.GroupStable)
	if err == nil {
		l.kind = typeClassic
		l.generation++
		l.members = append(l.members, m)
	}
	l.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("join group %q: %w", group, err)
	}
	s.tell()
	return &Membership{s: s, group: group, id: m.ID}, nil
}

// memberID makes an id as Kafka's brokers do: the client's, and 128 random bits.
func memberID(client string) string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	x := hex.EncodeToString(b[:])
	return client + "-" + x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

// ID returns the member's id.
func (m *Membership) ID() string { return m.id }

// Group returns the group's name.
func (m *Membership) Group() string { return m.group }

// member returns the member's place, or nil after it left. l.mu is held.
func (m *Membership) member(l *live) (int, *model.Member) {
	for i, x := range l.members {
		if x.ID == m.id {
			return i, x
		}
	}
	return -1, nil
}

// Commit stores offsets as a member. ErrClosed after Leave.
func (m *Membership) Commit(ctx context.Context, commits []model.Commit) error {
	l := m.s.group(m.group)
	l.mu.Lock()
	_, x := m.member(l)
	l.mu.Unlock()
	if x == nil {
		return fmt.Errorf("commit offsets of group %q: member %s has left: %w", m.group, m.id, model.ErrClosed)
	}
	return m.s.Commit(ctx, m.group, commits)
}

// Committed returns what the group has committed for the member's assignment.
func (m *Membership) Committed(ctx context.Context) ([]Committed, error) {
	l := m.s.group(m.group)
	l.mu.Lock()
	_, x := m.member(l)
	tps := []model.TopicPartition{}
	if x != nil {
		tps = slices.Clone(x.Assignment)
	}
	l.mu.Unlock()
	if x == nil {
		return nil, fmt.Errorf("fetch offsets of group %q: member %s has left: %w", m.group, m.id, model.ErrClosed)
	}
	return m.s.Fetch(ctx, m.group, tps)
}

// SetAssignment replaces what the member reads.
func (m *Membership) SetAssignment(tps []model.TopicPartition) error {
	l := m.s.group(m.group)
	l.mu.Lock()
	_, x := m.member(l)
	if x != nil {
		x.Assignment = slices.Clone(tps)
		l.generation++
	}
	l.mu.Unlock()
	if x == nil {
		return fmt.Errorf("assign to member %s of group %q: it has left: %w", m.id, m.group, model.ErrClosed)
	}
	m.s.tell()
	return nil
}

// Leave takes the member out; the last one leaves the group Empty, and the time of that is stored, for the expiry of its
// offsets. A second Leave does nothing. The member is gone even when the error says that the time could not be stored.
func (m *Membership) Leave() error {
	l := m.s.group(m.group)
	l.fence.Lock()
	defer l.fence.Unlock()
	l.mu.Lock()
	i, x := m.member(l)
	if x == nil {
		l.mu.Unlock()
		return nil
	}
	l.members = slices.Delete(l.members, i, i+1)
	l.generation++
	last := len(l.members) == 0
	var err error
	if last {
		err = l.turn(model.GroupEmpty)
	}
	rec := l.record(m.s.o.Now().UnixMilli())
	l.mu.Unlock()
	if last && err == nil {
		err = m.s.db.put(context.Background(), []entry{groupEntry(m.group, rec)})
	}
	m.s.tell()
	if err != nil {
		return fmt.Errorf("leave group %q: %w", m.group, err)
	}
	return nil
}
