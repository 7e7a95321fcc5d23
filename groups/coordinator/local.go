package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

const (
	localRebalance = 10 * time.Second // how long others wait for a member in this process; it comes at once
	localRetry     = time.Second      // after a refusal
	localLook      = 5 * time.Second  // how often a leader in this process looks whether topics have grown
)

// MemberInfo describes a member in this process.
type MemberInfo struct {
	Client string   // client.id; "" means consumer
	Host   string   // "" means 127.0.0.1
	Topics []string // what it subscribes to
}

// Member is a member in this process: it joins, syncs and assigns (by range) as any client does, and goes on until Leave.
// Its methods may be called from any goroutine.
type Member struct {
	c           *Coordinator
	group       string
	info        MemberInfo
	ctx         context.Context // ends with Leave
	stop        context.CancelFunc
	signal      chan struct{} // cap 1: a rebalance, or the member is out
	done        chan struct{} // closed when the goroutine has ended
	begun       chan struct{} // closed when the group has taken or refused the member for the first time
	beginOnce   sync.Once
	leaveOnce   sync.Once
	leaveResult error

	mu         sync.Mutex
	id         string
	generation int32
	assigned   []model.TopicPartition
	refused    groups.Code   // why it is not in, if it is not
	turn       chan struct{} // closed when generation, assigned or refused change
	in         bool          // has an assignment that is valid as far as is known
}

// JoinHere makes a consumer in this process a member, and returns as soon as it is known to the group; Assignment is empty
// until the group has agreed.
func (c *Coordinator) JoinHere(group string, info MemberInfo) (*Member, error) {
	if group == "" || len(group) > maxGroupID {
		return nil, fmt.Errorf("join: %w group's name: want 1 to %d bytes, have %d", model.ErrInvalid, maxGroupID, len(group))
	}
	info.Client = cmp.Or(info.Client, "consumer")
	info.Host = cmp.Or(info.Host, "127.0.0.1")
	m := &Member{c: c, group: group, info: info, signal: make(chan struct{}, 1), done: make(chan struct{}), begun: make(chan struct{}), turn: make(chan struct{})}
	m.ctx, m.stop = context.WithCancel(context.Background())
	c.mu.Lock()
	closed := c.closed
	if !closed {
		c.locals.Add(1)
	}
	c.mu.Unlock()
	if closed {
		return nil, fmt.Errorf("join group %q: %w", group, model.ErrClosed)
	}
	go m.run() // ended by Leave, or by Close
	<-m.begun
	return m, nil
}

// run keeps the member in its group, until Leave or the Coordinator's Close.
func (m *Member) run() {
	defer m.c.locals.Done()
	defer close(m.done)
	defer m.begin()
	for m.ctx.Err() == nil {
		code := m.round()
		switch code {
		case groups.None, groups.RebalanceInProgress, groups.IllegalGeneration:
			continue
		case groups.UnknownMemberID:
			m.forgetID()
			continue
		case groups.NotCoordinator:
			m.set(0, nil, false, code)
			return
		}
		m.set(0, nil, false, code)
		select {
		case <-m.ctx.Done():
		case <-m.signal:
		case <-time.After(localRetry):
		}
	}
}

// round joins, syncs, and waits for the next rebalance.
func (m *Member) round() groups.Code {
	a := m.c.Join(m.ctx, JoinRequest{
		Group: m.group, Member: m.ID(), Client: m.info.Client, Host: m.info.Host, Rebalance: localRebalance, ProtocolType: consumerType,
		Protocols: []Protocol{{"range", encodeSubscription(m.info.Topics)}}, local: m,
	})
	if a.Code != groups.None {
		return a.Code
	}
	r := SyncRequest{Group: m.group, Member: a.MemberID, Generation: a.Generation}
	leads := a.Leader == a.MemberID
	var counts map[string]int32
	if leads {
		r.Assignments, counts = m.c.assignRange(a.Members)
	}
	s := m.c.Sync(m.ctx, r)
	if s.Code != groups.None {
		return s.Code
	}
	m.set(a.Generation, parseAssignment(s.Assignment), true, groups.None)
	look := time.NewTicker(localLook)
	defer look.Stop()
	for {
		select {
		case <-m.ctx.Done():
			return groups.None
		case <-m.signal:
			return groups.None
		case <-look.C:
			if leads && m.c.grown(counts) {
				return groups.None // a leader that joins anew has all assigned anew
			}
		}
	}
}

// assignRange gives every topic's partitions to those who subscribe to it, in the order of their names: each as many as the
// next, the first ones one more. It returns what it took for the topics' sizes.
func (c *Coordinator) assignRange(members []JoinMember) ([]Assigned, map[string]int32) {
	readers := map[string][]string{}
	for _, m := range members {
		topics, _ := parseSubscription(m.Metadata)
		for _, t := range topics {
			readers[t] = append(readers[t], m.ID)
		}
	}
	byMember := map[string][]model.TopicPartition{}
	counts := map[string]int32{}
	for topic, ids := range readers {
		slices.Sort(ids)
		ids = slices.Compact(ids)
		n := c.partitions(topic)
		counts[topic] = n
		each, more := n/int32(len(ids)), n%int32(len(ids))
		next := int32(0)
		for i, id := range ids {
			end := next + each
			if int32(i) < more {
				end++
			}
			for ; next < end; next++ {
				byMember[id] = append(byMember[id], model.TopicPartition{Topic: topic, Partition: next})
			}
		}
	}
	out := make([]Assigned, 0, len(members))
	for _, m := range members {
		tps := byMember[m.ID]
		slices.SortFunc(tps, model.TopicPartition.Compare)
		out = append(out, Assigned{Member: m.ID, Assignment: encodeAssignment(tps)})
	}
	return out, counts
}

// partitions returns how many a topic has; 0 where there is none.
func (c *Coordinator) partitions(topic string) int32 {
	if c.o.Partitions == nil {
		return 0
	}
	return c.o.Partitions(topic)
}

// grown reports whether topics are no longer what they were.
func (c *Coordinator) grown(counts map[string]int32) bool {
	for topic, n := range counts {
		if c.partitions(topic) != n {
			return true
		}
	}
	return false
}

// set says where the member stands.
func (m *Member) set(generation int32, assigned []model.TopicPartition, in bool, refused groups.Code) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generation, m.assigned, m.in, m.refused = generation, assigned, in, refused
	close(m.turn)
	m.turn = make(chan struct{})
	m.begin()
}

// named is told the member's id, under the group's mutex.
func (m *Member) named(id string) {
	m.mu.Lock()
	m.id = id
	m.mu.Unlock()
	m.begin()
}

func (m *Member) begin() { m.beginOnce.Do(func() { close(m.begun) }) }

// wake has the member join anew.
func (m *Member) wake() {
	select {
	case m.signal <- struct{}{}:
	default:
	}
}

// removed is told that the member is out, under the group's mutex.
func (m *Member) removed() {
	m.forgetID()
	m.wake()
}

func (m *Member) forgetID() {
	m.mu.Lock()
	m.id, m.in = "", false
	m.mu.Unlock()
}

// ID returns the member's id; "" while it has none.
func (m *Member) ID() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.id
}

// Group returns the group's name.
func (m *Member) Group() string { return m.group }

// Assignment returns what the member is to read; none while the group has not agreed.
func (m *Member) Assignment() []model.TopicPartition {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.assigned)
}

// ready waits until the member is in, and says in which generation, with what. ErrClosed after Leave, ErrRefused where the
// group does not take it.
func (m *Member) ready(ctx context.Context, after int32) (id string, generation int32, assigned []model.TopicPartition, err error) {
	for {
		m.mu.Lock()
		id, generation, assigned = m.id, m.generation, m.assigned
		in, turn, refused := m.in && generation > after, m.turn, m.refused
		m.mu.Unlock()
		switch {
		case m.ctx.Err() != nil || refused == groups.NotCoordinator:
			return "", 0, nil, fmt.Errorf("member of group %q has left: %w", m.group, model.ErrClosed)
		case refused != groups.None:
			return "", 0, nil, fmt.Errorf("%w: group %q does not take the member (Kafka error %d)", model.ErrRefused, m.group, refused)
		case in:
			return id, generation, assigned, nil
		}
		select {
		case <-turn:
		case <-m.ctx.Done():
		case <-ctx.Done():
			return "", 0, nil, ctx.Err()
		}
	}
}

// Commit stores offsets of what the member reads; of what it no longer does, another one commits. It waits for a rebalance
// under way. ErrClosed after Leave.
func (m *Member) Commit(ctx context.Context, commits []model.Commit) error {
	after := int32(-1)
	for {
		id, generation, assigned, err := m.ready(ctx, after)
		if err != nil {
			return fmt.Errorf("commit offsets: %w", err)
		}
		all := make([]groups.Committed, 0, len(commits))
		for _, c := range commits {
			if slices.Contains(assigned, c.TopicPartition) {
				all = append(all, groups.Committed{Commit: c, Expires: model.NoTime})
			}
		}
		code := m.c.Commit(ctx, CommitCheck{Group: m.group, Member: id, Generation: generation}, all)
		switch code {
		case groups.None:
			return nil
		case groups.RebalanceInProgress, groups.IllegalGeneration, groups.UnknownMemberID:
			after = generation
		default:
			return fmt.Errorf("commit offsets of group %q: %w (Kafka error %d)", m.group, model.ErrRefused, code)
		}
	}
}

// Committed returns what the group has committed for the member's assignment.
func (m *Member) Committed(ctx context.Context) ([]model.Commit, error) {
	_, _, assigned, err := m.ready(ctx, -1)
	if err != nil {
		return nil, fmt.Errorf("fetch offsets: %w", err)
	}
	if len(assigned) == 0 {
		return nil, nil
	}
	stored, err := m.c.s.Fetch(ctx, m.group, assigned)
	if err != nil {
		return nil, err
	}
	out := make([]model.Commit, 0, len(stored))
	for _, c := range stored {
		out = append(out, c.Commit)
	}
	return out, nil
}

// Leave takes the member out and returns when that is on the disk. A second Leave does nothing.
func (m *Member) Leave() error {
	m.leaveOnce.Do(func() {
		m.stop()
		<-m.done
		id := m.ID()
		m.set(0, nil, false, groups.None)
		if id == "" {
			return
		}
		if _, code := m.c.Leave(context.Background(), m.group, []Leaver{{Member: id}}); code != groups.None {
			m.leaveResult = fmt.Errorf("leave group %q: %w (Kafka error %d)", m.group, model.ErrClosed, code)
		}
	})
	return m.leaveResult
}
