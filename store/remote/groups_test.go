package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// logs are logs in which every offset from start to end holds a record.
type logs struct {
	start, end int64
	counted    atomic.Int64
	slow       chan struct{} // counting waits for it; nil: not at all
}

func (l *logs) Bounds(_ context.Context, tp model.TopicPartition) (int64, int64, error) {
	if tp.Topic != "orders" {
		return model.Unknown, model.Unknown, model.ErrNoTopic
	}
	return l.start, l.end, nil
}

func (l *logs) CountBetween(ctx context.Context, _ model.TopicPartition, from, to int64) (model.Count, error) {
	if l.slow != nil {
		select {
		case <-l.slow:
		case <-ctx.Done():
			return model.Count{}, ctx.Err()
		}
	}
	l.counted.Add(1)
	return model.Exactly(to - from), nil
}

func (l *logs) AtTime(context.Context, model.TopicPartition, int64) (int64, bool, error) {
	return model.Unknown, false, nil
}

func (l *logs) FirstRecord(context.Context, model.TopicPartition, int64) (*model.Record, error) {
	return nil, nil
}

func (l *logs) PartitionIDs(_ context.Context, topic string) ([]int32, error) {
	if topic != "orders" {
		return nil, model.NotFound(model.ErrNoTopic, topic, []string{"orders"})
	}
	return []int32{0, 1}, nil
}

func commits(offsets ...int64) []model.Commit {
	var cs []model.Commit
	for p, o := range offsets {
		cs = append(cs, model.Commit{TopicPartition: model.TopicPartition{Topic: "orders", Partition: int32(p)}, Offset: o, LeaderEpoch: -1, Metadata: "m"})
	}
	return cs
}

func grouped(t *testing.T) (*kfake.Cluster, *Client, *Groups, *logs) {
	t.Helper()
	f, c := cluster(t, 2, "orders")
	l := &logs{start: 10, end: 100}
	return f, c, c.Groups(l, func() {}), l
}

func TestGroupsWithLag(t *testing.T) {
	_, c, g, _ := grouped(t)
	ctx := t.Context()
	if gs, err := g.Groups(ctx); err != nil || len(gs) != 0 {
		t.Errorf("none: %v, %v", gs, err)
	}
	if err := c.Commit(ctx, "billing", commits(40, 5)); err != nil {
		t.Fatal(err)
	}
	if err := c.Commit(ctx, "audit", commits(450)); err != nil {
		t.Fatal(err)
	}
	gs, err := g.Groups(ctx)
	if err != nil || len(gs) != 2 || gs[0].ID != "audit" || gs[1].ID != "billing" {
		t.Fatalf("%v, %v", gs, err)
	}
	row := gs[1].Offsets
	if gs[1].State != model.GroupEmpty || gs[1].Lag != model.Exactly(60+90) || row[0].Lag != model.Exactly(60) || row[1].Lost != 5 || row[1].Metadata != "m" {
		t.Errorf("billing: %+v %+v", gs[1], row)
	}
	if gs[0].Offsets[0].Ahead != 350 || gs[0].Lag != model.Exactly(0) {
		t.Errorf("audit: %+v", gs[0].Offsets)
	}
	one, err := g.Group(ctx, "billing")
	if err != nil || one.Lag != model.Exactly(150) || one.ID != "billing" {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := g.Group(ctx, "biling"); !errors.Is(err, model.ErrNoGroup) || !strings.Contains(err.Error(), "did you mean billing?") {
		t.Errorf("no such group: %v", err)
	}
}

// TestALongCountIsMadeBehind: the listing does not wait for it, and is told of when it is made.
func TestALongCountIsMadeBehind(t *testing.T) {
	_, c := cluster(t, 2, "orders")
	l := &logs{start: 0, end: 100, slow: make(chan struct{})}
	told := make(chan struct{}, 10)
	g := c.Groups(l, func() { told <- struct{}{} })
	if err := c.Commit(t.Context(), "billing", commits(40)); err != nil {
		t.Fatal(err)
	}
	gs, err := g.Groups(t.Context())
	if err != nil || gs[0].Lag != model.About(60) {
		t.Fatalf("%+v, %v", gs, err)
	}
	close(l.slow)
	select {
	case <-told:
	case <-time.After(30 * time.Second):
		t.Fatal("never told")
	}
	if gs, err = g.Groups(t.Context()); err != nil || gs[0].Lag != model.Exactly(60) {
		t.Errorf("%+v, %v", gs, err)
	}
	if n := l.counted.Load(); n != 1 {
		t.Errorf("counted %d times", n)
	}
	if err := errors.Join(c.Close(), g.Close()); err != nil {
		t.Error(err)
	}
}

func plan(t *testing.T, g *Groups, where model.Where) model.ResetPlan {
	t.Helper()
	p, err := g.PlanReset(t.Context(), model.ResetRequest{Group: "billing", Where: where})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestResetIsPlannedAppliedAndReadBack(t *testing.T) {
	_, c, g, _ := grouped(t)
	ctx := t.Context()
	if err := c.Commit(ctx, "billing", commits(40, 50)); err != nil {
		t.Fatal(err)
	}
	p := plan(t, g, model.Where{Kind: model.ToEarliest})
	if p.Refused != "" || p.Changes() != 2 || p.Rows[0].Change != model.Exactly(-30) {
		t.Fatalf("%+v", p)
	}
	p.Rows[1].Excluded = true
	res, err := g.ApplyReset(ctx, p)
	if err != nil || res.Journal != 0 || fmt.Sprint(res.Rows) != "[{orders-0 10 true}]" && res.Rows[0].Stored != 10 {
		t.Errorf("%+v, %v", res, err)
	}
	stored, err := c.committed(ctx, "billing")
	if err != nil || len(stored) != 2 || stored[0].Offset != 10 || stored[0].Metadata != "" || stored[1].Offset != 50 {
		t.Errorf("%+v, %v", stored, err)
	}
	if _, err := g.ApplyReset(ctx, p); !errors.Is(err, model.ErrRefused) || !strings.Contains(err.Error(), "orders-0 is 10, was 40") {
		t.Errorf("a plan whose offsets have moved: %v", err)
	}
	// What was new is taken away again.
	back := model.ResetPlan{Group: "billing", Rows: []model.PlanRow{{TopicPartition: stored[0].TopicPartition, From: 10, FromEpoch: -1, To: model.Unknown, LeaderEpoch: -1}}}
	if _, err := g.ApplyReset(ctx, back); err != nil {
		t.Error(err)
	}
	if stored, err = c.committed(ctx, "billing"); err != nil || len(stored) != 1 || stored[0].Partition != 1 {
		t.Errorf("%+v, %v", stored, err)
	}
	like, err := g.PlanReset(ctx, model.ResetRequest{Group: "new", Where: model.Where{Kind: model.ToGroup, Group: "billing"}})
	if err != nil || len(like.Rows) != 1 || like.Rows[0].To != 50 {
		t.Errorf("like another group: %+v, %v", like, err)
	}
	for name, r := range map[string]model.ResetRequest{
		"no such group":    {Group: "biling", Where: model.Where{Kind: model.ToLatest}},
		"like no group":    {Group: "new", Where: model.Where{Kind: model.ToGroup, Group: "biling"}},
		"without a name":   {Where: model.Where{Kind: model.ToLatest}},
		"of no such topic": {Group: "billing", Topics: []model.TopicSelector{{Topic: "order"}}, Where: model.Where{Kind: model.ToLatest}},
	} {
		if _, err := g.PlanReset(ctx, r); !errors.Is(err, model.ErrNoGroup) && !errors.Is(err, model.ErrInvalid) && !errors.Is(err, model.ErrNoTopic) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := g.DeleteGroup(ctx, "billing"); err != nil {
		t.Error(err)
	}
	if err := g.DeleteGroup(ctx, "billing"); !errors.Is(err, model.ErrNoGroup) {
		t.Errorf("deleted twice: %v", err)
	}
}

// TestAGroupWithMembersIsLeftAlone in every way of changing it.
func TestAGroupWithMembersIsLeftAlone(t *testing.T) {
	_, c, g, _ := grouped(t)
	ctx := t.Context()
	if err := c.Commit(ctx, "billing", commits(40)); err != nil {
		t.Fatal(err)
	}
	before := plan(t, g, model.Where{Kind: model.ToEarliest})
	m := join(t, c, model.JoinRequest{Group: "billing", Topics: []string{"orders"}, Client: "reader"})
	over, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = m.Next(over)
	}()
	for deadline := time.Now().Add(30 * time.Second); ; {
		one, err := g.Group(ctx, "billing")
		if err != nil {
			t.Fatal(err)
		}
		if one.State == model.GroupStable && len(one.Members) == 1 && len(one.Members[0].Assignment) == 2 {
			if one.Members[0].Client != "reader" || one.Offsets[1].Committed != model.Unknown || one.Offsets[1].Member != one.Members[0].ID {
				t.Errorf("%+v %+v", one.Members, one.Offsets)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("never Stable: %+v", one)
		}
	}
	if p := plan(t, g, model.Where{Kind: model.ToEarliest}); !strings.Contains(p.Refused, "group is Stable, members reader@") {
		t.Errorf("a plan says %q", p.Refused)
	}
	if _, err := g.ApplyReset(ctx, before); !errors.Is(err, model.ErrRefused) || !strings.Contains(err.Error(), "reader@") {
		t.Errorf("reset: %v", err)
	}
	if err := c.Commit(ctx, "billing", commits(1)); !errors.Is(err, model.ErrRefused) {
		t.Errorf("commit: %v", err)
	}
	if err := g.DeleteGroup(ctx, "billing"); !errors.Is(err, model.ErrRefused) {
		t.Errorf("delete: %v", err)
	}
	stop()
	<-done
	leave(t, m)
	if _, err := g.ApplyReset(ctx, before); err != nil {
		t.Errorf("once it has left: %v", err)
	}
}

// TestAMemberThatJoinsBetweenLookAndCommit is the broker's to see: what it refuses is said, and nothing is claimed.
func TestAMemberThatJoinsBetweenLookAndCommit(t *testing.T) {
	f, c, g, _ := grouped(t)
	ctx := t.Context()
	if err := c.Commit(ctx, "billing", commits(40, 50)); err != nil {
		t.Fatal(err)
	}
	p := plan(t, g, model.Where{Kind: model.ToEarliest})
	f.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
		r := req.(*kmsg.OffsetCommitRequest)
		resp := r.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, rt := range r.Topics {
			st := kmsg.NewOffsetCommitResponseTopic()
			st.Topic, st.TopicID = rt.Topic, rt.TopicID
			for _, rp := range rt.Partitions {
				sp := kmsg.NewOffsetCommitResponseTopicPartition()
				sp.Partition, sp.ErrorCode = rp.Partition, kerr.UnknownMemberID.Code
				st.Partitions = append(st.Partitions, sp)
			}
			resp.Topics = append(resp.Topics, st)
		}
		return resp, nil, true
	})
	if _, err := g.ApplyReset(ctx, p); !errors.Is(err, model.ErrRefused) {
		t.Errorf("%v", err)
	}
	if stored, err := c.committed(ctx, "billing"); err != nil || stored[0].Offset != 40 || stored[1].Offset != 50 {
		t.Errorf("%+v, %v", stored, err)
	}
}

// committed asks what a group has committed, by partition.
func (c *Client) committed(ctx context.Context, group string) ([]groups.Committed, error) {
	rs, err := c.admin.FetchOffsets(ctx, group)
	return committed(rs), err
}
