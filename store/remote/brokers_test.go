package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/strata-kafka/strata/model"
)

// settled asks for the brokers until each was heard, or is known not to be.
func settled(t *testing.T, c *Client) []model.Broker {
	t.Helper()
	for {
		list, err := c.Brokers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(list, func(b model.Broker) bool { return b.Err == nil && (!b.Alive || len(b.Dirs) == 0) }) {
			return list
		}
	}
}

func TestBrokers(t *testing.T) {
	_, c := cluster(t, 6, "orders", "payments")
	list := settled(t, c)
	if len(list) != 3 {
		t.Fatalf("%d brokers", len(list))
	}
	led, controllers := 0, 0
	for i, b := range list {
		if !b.Alive || b.Err != nil || b.Address == "" || b.Hosted == 0 || b.Lagging != 0 || b.Bytes < 0 {
			t.Errorf("broker %d: %+v", i, b)
		}
		led += b.Led
		if b.Controller {
			controllers++
		}
	}
	if led != 12 || controllers != 1 {
		t.Errorf("%d partitions led, %d controllers", led, controllers)
	}
	if q, err := c.Quorum(t.Context()); err != nil || len(q) != 0 {
		t.Errorf("a quorum of %v, %v where there is none", q, err)
	}
}

// hold makes one broker keep requests of a key until the cluster closes.
func hold(t *testing.T, f *kfake.Cluster, id int32, key int16) {
	t.Helper()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	f.ControlKey(key, func(kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		if f.CurrentNode() != id {
			return nil, nil, false
		}
		f.SleepControl(func() { <-release })
		return nil, nil, false
	})
}

// TestOneThatIsSlowKeepsNobodyWaiting: a broker that does not tell its log directories is listed with the others, and is
// told of when it is given up.
func TestOneThatIsSlowKeepsNobodyWaiting(t *testing.T) {
	f, _ := cluster(t, 3, "orders")
	hold(t, f, 1, int16(kmsg.DescribeLogDirs))
	c, err := Connect(t.Context(), f.ListenAddrs(), Options{Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	list, err := c.Brokers(t.Context())
	if err != nil || len(list) != 3 {
		t.Fatalf("%d brokers, %v", len(list), err)
	}
	for _, b := range list {
		if b.ID == 1 && b.Bytes != model.Unknown {
			t.Errorf("the slow one: %+v", b)
		}
	}
	list = settled(t, c)
	for _, b := range list {
		switch slow := b.ID == 1; {
		case !b.Alive:
			t.Errorf("broker %d is not alive: %v", b.ID, b.Err)
		case slow && (b.Bytes != model.Unknown || len(b.Dirs) != 1 || !errors.Is(b.Dirs[0].Err, context.DeadlineExceeded)):
			t.Errorf("the slow one says %+v", b)
		case !slow && b.Bytes < 0:
			t.Errorf("broker %d: %+v", b.ID, b)
		}
	}
}

// TestOneThatHangs takes connections and says nothing on them: it is told of, and the others are listed in full, also what
// any of them may be asked for.
func TestOneThatHangs(t *testing.T) {
	f, _ := cluster(t, 3, "orders")
	hold(t, f, 1, int16(kmsg.ApiVersions))
	c, err := Connect(t.Context(), f.ListenAddrs()[:1], Options{Timeout: 4 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for _, b := range settled(t, c) {
		if hangs := b.ID == 1; b.Alive == hangs || errors.Is(b.Err, context.DeadlineExceeded) != hangs {
			t.Errorf("broker %d: alive %v, %v", b.ID, b.Alive, b.Err)
		}
	}
	if _, err := c.Quorum(t.Context()); err != nil {
		t.Errorf("asked of any: %v", err)
	}
	if _, err := c.BrokerConfig(t.Context(), 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("configs of the one that hangs: %v", err)
	}
}

// TestShape reads from the metadata what partitions lack, and which brokers are gone.
func TestShape(t *testing.T) {
	rack := "a"
	s := shape{controller: 2, fenced: map[int32]kmsg.DescribeClusterResponseBroker{
		3: {NodeID: 3, Host: "c", Port: 9092, IsFenced: true}, 1: {NodeID: 1, IsFenced: true},
	}, meta: &kmsg.MetadataResponse{
		Brokers: []kmsg.MetadataResponseBroker{{NodeID: 1, Host: "a", Port: 9092, Rack: &rack}, {NodeID: 2, Host: "::1", Port: 9093}},
		Topics: []kmsg.MetadataResponseTopic{{Partitions: []kmsg.MetadataResponseTopicPartition{
			{Leader: 1, Replicas: []int32{1, 2, 3}, ISR: []int32{1, 2}, OfflineReplicas: []int32{3}},
			{Leader: 2, Replicas: []int32{2, 3, 4}, ISR: []int32{2}},
			{Leader: -1, Replicas: []int32{3}, ISR: []int32{3}},
		}}},
	}}
	var got []string
	for _, b := range s.brokers() {
		got = append(got, fmt.Sprintf("%d %s %q %v led %d hosted %d lagging %d %v", b.ID, b.Address, b.Rack, b.Controller, b.Led, b.Hosted, b.Lagging, b.Err))
	}
	want := []string{
		`1 a:9092 "a" false led 1 hosted 1 lagging 0 <nil>`,
		`2 [::1]:9093 "" true led 1 hosted 2 lagging 0 <nil>`,
		`3 c:9092 "" false led 0 hosted 3 lagging 2 fenced: the controller does not hear from it`,
		`4  "" false led 0 hosted 1 lagging 1 not in the cluster, though partitions have replicas on it`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestQuorumNodes(t *testing.T) {
	got := quorumNodes(&kmsg.DescribeQuorumResponseTopicPartition{
		LeaderID: 2,
		CurrentVoters: []kmsg.DescribeQuorumResponseTopicPartitionReplicaState{
			{ReplicaID: 3, LogEndOffset: 90, LastCaughtUpTimestamp: 17}, {ReplicaID: 1, LogEndOffset: -1, LastCaughtUpTimestamp: -1},
			{ReplicaID: 2, LogEndOffset: 100, LastCaughtUpTimestamp: -1},
		},
		Observers: []kmsg.DescribeQuorumResponseTopicPartitionReplicaState{{ReplicaID: 5, LogEndOffset: 101, LastCaughtUpTimestamp: 18}},
	})
	want := []model.QuorumNode{
		{ID: 1, Voter: true, LogEnd: model.Unknown, Lag: model.Unknown, CaughtUp: model.NoTime},
		{ID: 2, Voter: true, Leader: true, LogEnd: 100, CaughtUp: model.NoTime},
		{ID: 3, Voter: true, LogEnd: 90, Lag: 10, CaughtUp: 17},
		{ID: 5, LogEnd: 101, CaughtUp: 18},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestVersion puts guesses of versions into words.
func TestVersion(t *testing.T) {
	if got := guess(&kmsg.ApiVersionsResponse{}); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	exact := &kmsg.ApiVersionsResponse{}
	kversion.V3_9_0().EachMaxKeyVersion(func(key, version int16) {
		exact.ApiKeys = append(exact.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: key, MaxVersion: version})
	})
	if got := guess(exact); got != "3.9" {
		t.Errorf("of Kafka 3.9: %q", got)
	}
	odd := &kmsg.ApiVersionsResponse{ApiKeys: []kmsg.ApiVersionsResponseApiKey{{ApiKey: 0, MaxVersion: 1}, {ApiKey: 75, MaxVersion: 40}}}
	if got := guess(odd); strings.Contains(got, "unknown") || strings.Contains(got, "v") {
		t.Errorf("of what is no Kafka: %q", got)
	}
}

func TestBrokerConfig(t *testing.T) {
	_, c := cluster(t, 1, "orders")
	list, err := c.BrokerConfig(t.Context(), 1)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d configs, %v", len(list), err)
	}
	if !slices.IsSortedFunc(list, func(a, b model.ConfigEntry) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not by name")
	}
	if _, err := c.BrokerConfig(t.Context(), 9); err == nil {
		t.Error("configs of a broker that is not there")
	}
}

// TestGone is a broker that is listed and does not answer: it is said why, and its configs are not waited for.
func TestGone(t *testing.T) {
	_, c := cluster(t, 1, "orders")
	settled(t, c)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	lone, err := New([]string{dead}, Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lone.Close() })
	if _, err := lone.Brokers(t.Context()); err == nil {
		t.Error("brokers of nobody")
	}
	c.nodes.mu.Lock()
	c.nodes.by[2].err = errors.New("connection refused")
	c.nodes.mu.Unlock()
	if _, err := c.BrokerConfig(t.Context(), 2); err == nil || !strings.Contains(err.Error(), "does not answer: connection refused") {
		t.Errorf("%v", err)
	}
}

// TestAllGone lists the brokers that were there, with why each is not: what was said of them before must not stand as if
// it were so.
func TestAllGone(t *testing.T) {
	f, c := cluster(t, 1, "orders")
	settled(t, c)
	f.Close()
	list := settled(t, c)
	for !slices.ContainsFunc(list, func(b model.Broker) bool { return !b.Alive }) { // the first answer may be from before
		list = settled(t, c)
	}
	list = settled(t, c)
	if len(list) != 3 {
		t.Fatalf("%d brokers", len(list))
	}
	for _, b := range list {
		if b.Alive || b.Err == nil || b.Controller || b.Address == "" {
			t.Errorf("%+v", b)
		}
	}
}

func TestACLs(t *testing.T) {
	f, c := cluster(t, 1, "orders")
	answerWith(f, kmsg.DescribeACLs, &kmsg.DescribeACLsResponse{Resources: []kmsg.DescribeACLsResponseResource{
		{ResourceType: kmsg.ACLResourceTypeTopic, ResourceName: "pay", ResourcePatternType: kmsg.ACLResourcePatternTypePrefixed, ACLs: []kmsg.DescribeACLsResponseResourceACL{
			{Principal: "User:bob", Host: "10.0.0.7", Operation: kmsg.ACLOperationWrite, PermissionType: kmsg.ACLPermissionTypeDeny},
			{Principal: "User:ada", Host: "*", Operation: kmsg.ACLOperationIdempotentWrite, PermissionType: kmsg.ACLPermissionTypeAllow},
		}},
		{ResourceType: kmsg.ACLResourceTypeTransactionalId, ResourceName: "t-1", ResourcePatternType: kmsg.ACLResourcePatternTypeLiteral, ACLs: []kmsg.DescribeACLsResponseResourceACL{
			{Principal: "User:ada", Host: "*", Operation: kmsg.ACLOperationAll, PermissionType: kmsg.ACLPermissionTypeAllow},
		}},
	}})
	got, err := c.ACLs(t.Context())
	want := []model.ACL{
		{Resource: "Topic", Name: "pay", Pattern: "Prefixed", Principal: "User:ada", Host: "*", Operation: "IdempotentWrite", Allow: true},
		{Resource: "Topic", Name: "pay", Pattern: "Prefixed", Principal: "User:bob", Host: "10.0.0.7", Operation: "Write"},
		{Resource: "TransactionalId", Name: "t-1", Pattern: "Literal", Principal: "User:ada", Host: "*", Operation: "All", Allow: true},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		code *kerr.Error
		want string
	}{
		"no authorizer":  {kerr.SecurityDisabled, "security is disabled"},
		"not authorized": {kerr.ClusterAuthorizationFailed, "DESCRIBE on the cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			f, c := cluster(t, 1, "orders")
			answerWith(f, kmsg.DescribeACLs, &kmsg.DescribeACLsResponse{ErrorCode: tc.code.Code})
			answerWith(f, kmsg.DescribeClientQuotas, &kmsg.DescribeClientQuotasResponse{ErrorCode: tc.code.Code})
			_, err := c.ACLs(t.Context())
			_, qerr := c.Quotas(t.Context())
			for _, err := range []error{err, qerr} {
				if !errors.Is(err, model.ErrRefused) || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%v, want %s", err, tc.want)
				}
			}
		})
	}
}

func TestQuotas(t *testing.T) {
	f, c := cluster(t, 1, "orders")
	ada := "ada"
	answerWith(f, kmsg.DescribeClientQuotas, &kmsg.DescribeClientQuotasResponse{Entries: []kmsg.DescribeClientQuotasResponseEntry{
		{Entity: []kmsg.DescribeClientQuotasResponseEntryEntity{{Type: "user", Name: &ada}, {Type: "client-id"}},
			Values: []kmsg.DescribeClientQuotasResponseEntryValue{{Key: "request_percentage", Value: 12.5}, {Key: "producer_byte_rate", Value: 1024}}},
	}})
	got, err := c.Quotas(t.Context())
	want := []model.Quota{
		{Entity: "client-id=<default>, user=ada", Key: "producer_byte_rate", Value: 1024},
		{Entity: "client-id=<default>, user=ada", Key: "request_percentage", Value: 12.5},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// answerWith makes a cluster answer all requests of a kind with one response.
func answerWith(f *kfake.Cluster, key kmsg.Key, resp kmsg.Response) {
	f.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		resp.SetVersion(req.GetVersion())
		return resp, nil, true
	})
}
