package embedded

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/wire"
)

// asked sends one request on a connection of its own.
func asked(t *testing.T, address string, version int16, req kmsg.Request) kmsg.Response {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	req.SetVersion(version)
	if _, err := nc.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)); err != nil {
		t.Fatal(err)
	}
	var head [4]byte
	if _, err := io.ReadFull(nc, head[:]); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(nc, b); err != nil {
		t.Fatal(err)
	}
	b = b[4:]
	if req.IsFlexible() {
		b = b[1:]
	}
	r := req.ResponseKind()
	if err := r.ReadFrom(b); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestGroupConfigs gives a group times of its own: its members are told, and those of other groups are not.
func TestGroupConfigs(t *testing.T) {
	dir := t.TempDir()
	b, err := Open(Options{Dir: dir, Listen: "127.0.0.1:0", Wire: wire.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeGroupConfig, "own"
	r.Configs = []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "consumer.heartbeat.interval.ms", Value: kmsg.StringPtr("7000")}}
	alter.Resources = append(alter.Resources, r)
	if a := asked(t, b.Address(), 1, alter).(*kmsg.IncrementalAlterConfigsResponse).Resources[0]; a.ErrorCode != 0 {
		t.Fatalf("code %d", a.ErrorCode)
	}
	told := func(group string) int32 {
		t.Helper()
		beat := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		beat.Group, beat.MemberID, beat.RebalanceTimeoutMillis = group, "m", 60000
		beat.SubscribedTopicNames, beat.Topics = []string{"t"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		a := asked(t, b.Address(), 1, beat).(*kmsg.ConsumerGroupHeartbeatResponse)
		if a.ErrorCode != 0 {
			t.Fatalf("group %s: code %d", group, a.ErrorCode)
		}
		return a.HeartbeatIntervalMillis
	}
	if own, other := told("own"), told("other"); own != 7000 || other != 5000 {
		t.Errorf("told %d and %d ms, want 7000 and 5000", own, other)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err = Open(Options{Dir: dir, Listen: "127.0.0.1:0"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	if own := told("own"); own != 7000 {
		t.Errorf("after a restart: told %d ms, want 7000", own)
	}
}
