package groups

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/strata-kafka/strata/model"
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
	s         *Service
	group, id string
}

// joined guards what Join reads and publishes, as the coordinator's groups do.
type joined struct{ mu sync.Mutex }

var joining joined

// Join makes a member that brings its assignment along.
func (s *Service) Join(group string, info MemberInfo) (*Membership, error) {
	if info.Client == "" {
		info.Client = "consumer"
	}
	if info.Host == "" {
		info.Host = "127.0.0.1"
	}
	m := &Membership{s: s, group: group, id: fmt.Sprintf("%s-%p", info.Client, &info)}
	err := m.change(func(l *Live) error {
		l.Members = append(l.Members, model.Member{ID: m.id, Instance: info.Instance, Client: info.Client, Host: info.Host, Assignment: info.Assignment})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("join group %q: %w", group, err)
	}
	return m, nil
}

// change publishes the group after f.
func (m *Membership) change(f func(*Live) error) error {
	joining.mu.Lock()
	defer joining.mu.Unlock()
	if err := m.s.writable(); err != nil {
		return err
	}
	k, err := m.s.Known(m.group)
	if err != nil {
		return err
	}
	l := Live{Type: TypeClassic, ProtocolType: "consumer", Generation: k.Generation + 1, State: model.GroupStable, Members: m.s.lookup(m.group).Members}
	if err := f(&l); err != nil {
		return err
	}
	state := []byte("members")
	if len(l.Members) == 0 {
		l.State, state = model.GroupEmpty, []byte{}
	}
	l.Topics = []string{}
	for _, x := range l.Members {
		for _, tp := range x.Assignment {
			l.Topics = append(l.Topics, tp.Topic)
		}
	}
	slices.Sort(l.Topics)
	return m.s.Publish(context.Background(), m.group, l, state)
}

// ID returns the member's id.
func (m *Membership) ID() string { return m.id }

func (m *Membership) index(ms []model.Member) (int, error) {
	i := slices.IndexFunc(ms, func(x model.Member) bool { return x.ID == m.id })
	if i < 0 {
		return i, fmt.Errorf("member %s of group %q has left: %w", m.id, m.group, model.ErrClosed)
	}
	return i, nil
}

// Commit stores offsets as a member. ErrClosed after Leave.
func (m *Membership) Commit(ctx context.Context, commits []model.Commit) error {
	if _, err := m.index(m.s.lookup(m.group).Members); err != nil {
		return err
	}
	return m.s.Commit(ctx, m.group, commits)
}

// SetAssignment replaces what the member reads.
func (m *Membership) SetAssignment(tps []model.TopicPartition) error {
	return m.change(func(l *Live) error {
		i, err := m.index(l.Members)
		if err == nil {
			l.Members[i].Assignment = tps
		}
		return err
	})
}

// Leave takes the member out. A second Leave does nothing.
func (m *Membership) Leave() error {
	return m.change(func(l *Live) error {
		if i, err := m.index(l.Members); err == nil {
			l.Members = slices.Delete(l.Members, i, i+1)
		}
		return nil
	})
}
