package coordinator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// noLogs implements groups.Logs without any topic.
type noLogs struct{}

func (noLogs) Bounds(context.Context, model.TopicPartition) (int64, int64, error) {
	return 0, 0, model.ErrNoTopic
}

func (noLogs) CountBetween(context.Context, model.TopicPartition, int64, int64) (model.Count, error) {
	return model.Count{}, model.ErrNoTopic
}

func (noLogs) AtTime(context.Context, model.TopicPartition, int64) (int64, bool, error) {
	return 0, false, model.ErrNoTopic
}

func (noLogs) FirstRecord(context.Context, model.TopicPartition, int64) (*model.Record, error) {
	return nil, model.ErrNoTopic
}

func (noLogs) PartitionIDs(context.Context, string) ([]int32, error) { return nil, model.ErrNoTopic }

// broker is what a coordinator lives in.
type broker struct {
	t    *testing.T
	path string
	o    Options
	db   *groups.DB
	s    *groups.Service
	c    *Coordinator
}

func newBroker(t *testing.T, o Options) *broker {
	t.Helper()
	if o.Partitions == nil {
		o.Partitions = func(string) int32 { return 6 }
	}
	b := &broker{t: t, path: filepath.Join(t.TempDir(), "strata.db"), o: o}
	b.start()
	t.Cleanup(func() { b.stop() })
	return b
}

func (b *broker) start() {
	b.t.Helper()
	db, err := groups.OpenDB(b.path, groups.DBOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.db = db
	b.s = groups.New(db, noLogs{}, groups.Options{})
	b.c = New(b.s, b.o)
}

// stop ends the broker cleanly.
func (b *broker) stop() {
	b.t.Helper()
	if b.c == nil {
		return
	}
	if err := errors.Join(b.c.Close(), b.s.Close(), b.db.Close()); err != nil {
		b.t.Error(err)
	}
	b.c = nil
}

// kill ends the broker as a kill would, as far as what is stored goes: nothing is said to the coordinator.
func (b *broker) kill() {
	b.t.Helper()
	old := b.c
	if err := b.db.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.start()
	// Its timers are stopped only so that they do not outlive the test.
	_ = old.Close()
}

// view is what the explorer is shown of a group.
func (b *broker) view(group string) model.Group {
	b.t.Helper()
	g, err := b.s.Group(context.Background(), group)
	if err != nil {
		b.t.Fatalf("group %s: %v", group, err)
	}
	return g
}

// inMemory returns the groups that the coordinator holds.
func (b *broker) inMemory() []string {
	b.c.mu.Lock()
	defer b.c.mu.Unlock()
	var ids []string
	for id := range b.c.groups {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// request is a join with protocol range, a session of 10 s, and a rebalance of 20 s.
func request(group, id string) JoinRequest {
	return JoinRequest{
		Group: group, Member: id, Client: "c", Host: "/10.0.0.1", Session: 10 * time.Second, Rebalance: 20 * time.Second,
		ProtocolType: consumerType, Protocols: []Protocol{{"range", encodeSubscription([]string{"t"})}},
	}
}

// join joins and must succeed.
func (b *broker) join(r JoinRequest) JoinAnswer {
	b.t.Helper()
	a := b.c.Join(context.Background(), r)
	if a.Code != groups.None {
		b.t.Fatalf("join of %q: %d", r.Member, a.Code)
	}
	return a
}

// later joins on a goroutine of its own.
func (b *broker) later(r JoinRequest) <-chan JoinAnswer {
	ch := make(chan JoinAnswer, 1)
	c := b.c
	go func() { ch <- c.Join(context.Background(), r) }()
	return ch
}

// syncLater syncs on a goroutine of its own.
func (b *broker) syncLater(r SyncRequest) <-chan SyncAnswer {
	ch := make(chan SyncAnswer, 1)
	c := b.c
	go func() { ch <- c.Sync(context.Background(), r) }()
	return ch
}

// alone makes a Stable group of one member, and returns it.
func (b *broker) alone(group string) JoinAnswer {
	b.t.Helper()
	a := b.join(request(group, ""))
	b.lead(group, a)
	return a
}

// lead syncs as a leader that assigns by range.
func (b *broker) lead(group string, a JoinAnswer) {
	b.t.Helper()
	all, _ := b.c.assignRange(a.Members)
	s := b.c.Sync(context.Background(), SyncRequest{Group: group, Member: a.MemberID, Generation: a.Generation, Assignments: all})
	if s.Code != groups.None {
		b.t.Fatalf("sync of the leader: %d", s.Code)
	}
}

func (b *broker) beat(group string, a JoinAnswer) groups.Code {
	return b.c.Heartbeat(group, a.MemberID, "", a.Generation)
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// answered takes what must have come.
func answered[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	select {
	case a := <-ch:
		return a
	default:
		t.Fatalf("%s: no answer", what)
		panic("not reached")
	}
}

// open fails where something has come already.
func open[T any](t *testing.T, what string, ch <-chan T) {
	t.Helper()
	select {
	case a := <-ch:
		t.Fatalf("%s: answered %+v, want it to wait", what, a)
	default:
	}
}

func tps(topic string, ids ...int32) string {
	var out []model.TopicPartition
	for _, id := range ids {
		out = append(out, model.TopicPartition{Topic: topic, Partition: id})
	}
	return fmt.Sprint(out)
}
