package wire

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/coordinator"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
)

// noLogs implements groups.Logs for who asks for no lag.
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

// groupBroker is a listener with groups.
type groupBroker struct {
	*core
	db *groups.DB
	s  *groups.Service
	c  *coordinator.Coordinator
}

func startGroups(t *testing.T, topics ...model.TopicSpec) *groupBroker {
	t.Helper()
	dir := t.TempDir()
	e, err := store.Open([]string{dir}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range topics {
		if err := e.CreateTopic(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	b := &groupBroker{}
	if b.db, err = groups.OpenDB(filepath.Join(dir, "strata.db"), groups.DBOptions{}); err != nil {
		t.Fatal(err)
	}
	b.s = groups.New(b.db, noLogs{}, groups.Options{})
	b.c = coordinator.New(b.s, coordinator.Options{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(ln, Broker{Engine: e, Admin: e, Groups: b.s, Coordinator: b.c}, Options{}, apis())
	b.core = &core{t: t, Server: s, engine: e}
	t.Cleanup(func() {
		for _, end := range []func() error{s.Close, b.c.Close, b.s.Close, e.Close, b.db.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	return b
}

func joinOf(group, member string) *kmsg.JoinGroupRequest {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.MemberID, r.ProtocolType = group, member, "consumer"
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 30_000, 30_000
	r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("meta")}}
	return r
}

// member joins alone and syncs, with whatever steps a version needs.
func (c *client) member(group string, version int16) (id string, generation int32) {
	c.t.Helper()
	r := c.ask(joinOf(group, ""), version).(*kmsg.JoinGroupResponse)
	if version >= 4 {
		if r.ErrorCode != int16(groups.MemberIDRequired) || r.MemberID == "" {
			c.t.Fatalf("first join, version %d: %+v", version, r)
		}
		r = c.ask(joinOf(group, r.MemberID), version).(*kmsg.JoinGroupResponse)
	}
	if r.ErrorCode != 0 || r.LeaderID != r.MemberID || len(r.Members) != 1 || string(r.Members[0].ProtocolMetadata) != "meta" || *r.Protocol != "range" {
		c.t.Fatalf("join, version %d: %+v", version, r)
	}
	s := kmsg.NewPtrSyncGroupRequest()
	s.Group, s.MemberID, s.Generation = group, r.MemberID, r.Generation
	s.ProtocolType, s.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	s.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: r.MemberID, MemberAssignment: []byte("share")}}
	y := c.ask(s, min(version, 5)).(*kmsg.SyncGroupResponse)
	if y.ErrorCode != 0 || string(y.MemberAssignment) != "share" {
		c.t.Fatalf("sync, version %d: %+v", version, y)
	}
	return r.MemberID, r.Generation
}

// TestGroupVersions lives a member's life in every version.
func TestGroupVersions(t *testing.T) {
	b := startGroups(t)
	c := b.dial()
	for v := range int16(10) {
		group := fmt.Sprintf("g%d", v)
		id, generation := c.member(group, v)
		h := kmsg.NewPtrHeartbeatRequest()
		h.Group, h.MemberID, h.Generation = group, id, generation
		if r := c.ask(h, min(v, 4)).(*kmsg.HeartbeatResponse); r.ErrorCode != 0 {
			t.Errorf("heartbeat, version %d: %d", v, r.ErrorCode)
		}
		d := c.ask(&kmsg.DescribeGroupsRequest{Groups: []string{group, "none"}, IncludeAuthorizedOperations: true}, min(v, 6)).(*kmsg.DescribeGroupsResponse)
		g, none := d.Groups[0], d.Groups[1]
		if g.State != "Stable" || g.Protocol != "range" || len(g.Members) != 1 || string(g.Members[0].MemberAssignment) != "share" || g.Members[0].ClientHost != "/127.0.0.1" {
			t.Errorf("describe, version %d: %+v", v, g)
		}
		if none.State != "Dead" || (none.ErrorCode != 0) != (v >= 6) || (none.ErrorMessage != nil) != (v >= 6) {
			t.Errorf("describe nothing, version %d: %+v", v, none)
		}
		del := c.ask(&kmsg.DeleteGroupsRequest{Groups: []string{group}}, min(v, 3)).(*kmsg.DeleteGroupsResponse)
		if del.Groups[0].ErrorCode != int16(groups.NonEmptyGroup) {
			t.Errorf("delete with a member, version %d: %+v", v, del)
		}
		l := kmsg.NewPtrLeaveGroupRequest()
		l.Group, l.MemberID = group, id
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = id
		l.Members = append(l.Members, m)
		r := c.ask(l, min(v, 5)).(*kmsg.LeaveGroupResponse)
		if r.ErrorCode != 0 || v >= 3 && (len(r.Members) != 1 || r.Members[0].ErrorCode != 0) {
			t.Errorf("leave, version %d: %+v", v, r)
		}
		r = c.ask(l, min(v, 5)).(*kmsg.LeaveGroupResponse)
		codes := []int16{r.ErrorCode} // from version 3 on the member has its own
		for _, m := range r.Members {
			codes = append(codes, m.ErrorCode)
		}
		want := []int16{int16(groups.UnknownMemberID)}
		if v >= 3 {
			want = []int16{0, int16(groups.UnknownMemberID)}
		}
		if !slices.Equal(codes, want) {
			t.Errorf("leave again, version %d: %+v", v, r)
		}
		list := c.ask(&kmsg.ListGroupsRequest{StatesFilter: []string{"empty"}, TypesFilter: []string{"CLASSIC"}}, min(v, 5)).(*kmsg.ListGroupsResponse)
		found := false
		for _, g := range list.Groups {
			found = found || g.Group == group
		}
		if !found {
			t.Errorf("list, version %d: %+v", v, list.Groups)
		}
	}
}

func commitOf(group, topic string, id [16]byte, parts ...kmsg.OffsetCommitRequestTopicPartition) *kmsg.OffsetCommitRequest {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Group, r.Generation, r.RetentionTimeMillis = group, -1, -1
	tp := kmsg.NewOffsetCommitRequestTopic()
	tp.Topic, tp.TopicID, tp.Partitions = topic, id, parts
	r.Topics = append(r.Topics, tp)
	return r
}

func partOf(partition int32, offset int64, metadata string) kmsg.OffsetCommitRequestTopicPartition {
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = partition, offset, 3, &metadata
	return p
}

// fetched returns what is committed of partitions as "offset/epoch/metadata/error" each, or the group's error.
func (c *client) fetched(version int16, group, topic string, id [16]byte, parts ...int32) string {
	c.t.Helper()
	r := kmsg.NewPtrOffsetFetchRequest()
	r.Group, r.RequireStable = group, true
	r.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: topic, Partitions: parts}}
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group, g.MemberEpoch = group, -1
	gt := kmsg.NewOffsetFetchRequestGroupTopic()
	gt.Topic, gt.TopicID, gt.Partitions = topic, id, parts
	g.Topics = append(g.Topics, gt)
	if parts == nil {
		r.Topics, g.Topics = nil, nil
	}
	r.Groups = append(r.Groups, g)
	a := c.ask(r, version).(*kmsg.OffsetFetchResponse)
	var out []string
	for _, t := range a.Topics {
		for _, p := range t.Partitions {
			out = append(out, fmt.Sprintf("%d/%d/%s/%d", p.Offset, p.LeaderEpoch, *p.Metadata, p.ErrorCode))
		}
	}
	for _, g := range a.Groups {
		if g.ErrorCode != 0 {
			return fmt.Sprint(g.ErrorCode)
		}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				out = append(out, fmt.Sprintf("%d/%d/%s/%d", p.Offset, p.LeaderEpoch, *p.Metadata, p.ErrorCode))
			}
		}
	}
	return strings.Join(out, " ")
}

// TestOffsetVersions commits and fetches in every version.
func TestOffsetVersions(t *testing.T) {
	b := startGroups(t, model.TopicSpec{Name: "t", Partitions: 3})
	c := b.dial()
	id, _ := b.engine.TopicID("t")
	for v := int16(2); v <= 10; v++ {
		group := fmt.Sprintf("g%d", v)
		r := c.ask(commitOf(group, "t", id, partOf(0, 1<<40, "é"), partOf(1, -1, "none"), partOf(3, 1, "")), v).(*kmsg.OffsetCommitResponse)
		var codes []int16
		for _, p := range r.Topics[0].Partitions {
			codes = append(codes, p.ErrorCode)
		}
		if fmt.Sprint(codes) != "[0 0 3]" {
			t.Errorf("commit, version %d: %v", v, codes)
		}
		epoch := "3"
		if v < 6 {
			epoch = "-1"
		}
		for f := int16(1); f <= 10; f++ {
			fe := epoch
			if f < 5 {
				fe = "-1"
			}
			want := fmt.Sprintf("1099511627776/%s/é/0 -1/%s/none/0", fe, fe)
			if got := c.fetched(f, group, "t", id, 0, 1); got != want {
				t.Errorf("committed in version %d, fetched in %d: %s, want %s", v, f, got, want)
			}
			if f < 2 {
				continue
			}
			if got := c.fetched(f, group, "t", id); got != want {
				t.Errorf("committed in version %d, all fetched in %d: %s, want %s", v, f, got, want)
			}
		}
	}
	unknown := [16]byte{1}
	if got := c.fetched(10, "g2", "", unknown, 0); got != fmt.Sprintf("-1/-1//%d", groups.UnknownTopicID) {
		t.Errorf("of an unknown id: %s", got)
	}
	if got := c.fetched(8, "none", "t", id, 0, 7); got != "-1/-1//0 -1/-1//0" {
		t.Errorf("of an unknown group: %s", got)
	}
}

// TestCommitsKeepTheirTime takes retention from the request as old clients give it.
func TestCommitsKeepTheirTime(t *testing.T) {
	b := startGroups(t, model.TopicSpec{Name: "t", Partitions: 1})
	c := b.dial()
	r := commitOf("g", "t", [16]byte{}, partOf(0, 5, ""))
	r.RetentionTimeMillis = 60_000
	c.ask(r, 4)
	all, err := b.s.Fetch(t.Context(), "g", nil)
	if err != nil || len(all) != 1 || all[0].Expires-all[0].At < 59_000 || all[0].Expires-all[0].At > 61_000 {
		t.Errorf("stored %+v, %v", all, err)
	}
}

// TestACommitIsAnsweredByPartition mixes what can be committed with what cannot, in a group that has members and in one
// that has none.
func TestACommitIsAnsweredByPartition(t *testing.T) {
	b := startGroups(t, model.TopicSpec{Name: "t", Partitions: 2})
	c := b.dial()
	id, generation := c.member("busy", 9)
	parts := []kmsg.OffsetCommitRequestTopicPartition{
		partOf(0, 1, strings.Repeat("é", 4096)), partOf(1, 1, strings.Repeat("m", 4097)), partOf(2, 1, ""), partOf(-1, 1, ""),
	}
	for name, tc := range map[string]struct {
		group, member string
		generation    int32
		want          string
	}{
		"nobody's group": {"new", "", -1, "[0 12 3 3]"},
		"the member":     {"busy", id, generation, "[0 12 3 3]"},
		"a stranger":     {"busy", "m", generation, "[25 25 3 3]"},
		"a former one":   {"busy", id, generation - 1, "[22 22 3 3]"},
	} {
		r := commitOf(tc.group, "t", [16]byte{}, parts...)
		r.MemberID, r.Generation = tc.member, tc.generation
		a := c.ask(r, 9).(*kmsg.OffsetCommitResponse)
		var codes []int16
		for _, p := range a.Topics[0].Partitions {
			codes = append(codes, p.ErrorCode)
		}
		if fmt.Sprint(codes) != tc.want {
			t.Errorf("%s: %v, want %s", name, codes, tc.want)
		}
	}
	del := &kmsg.OffsetDeleteRequest{Group: "new", Topics: []kmsg.OffsetDeleteRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}, {Partition: 9}}}}}
	d := c.ask(del, 0).(*kmsg.OffsetDeleteResponse)
	if d.ErrorCode != 0 || d.Topics[0].Partitions[0].ErrorCode != 0 || d.Topics[0].Partitions[1].ErrorCode != 3 {
		t.Errorf("delete offsets: %+v", d)
	}
	if got := c.fetched(7, "new", "t", [16]byte{}, 0); got != "-1/-1//0" {
		t.Errorf("after that: %s", got)
	}
}

// TestAParkedJoinIsAnsweredWhenTheListenerCloses has a member wait, and the broker end.
func TestAParkedJoinIsAnsweredWhenTheListenerCloses(t *testing.T) {
	b := startGroups(t)
	b.dial().member("g", 0)
	c := b.dial()
	req := joinOf("g", "")
	c.send(frameOf(req, 3, 7))
	b.await(func() bool { return len(b.c.Describe("g").Members) == 2 })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if r := c.answerTo(req, 7).(*kmsg.JoinGroupResponse); r.ErrorCode != int16(groups.NotCoordinator) {
		t.Errorf("answered %+v", r)
	}
}
