package meta

import (
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// golden returns messages as Kafka's own classes wrote them, by name.
func golden(t testing.TB) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	m := map[string][]byte{}
	for line := range strings.Lines(string(text)) {
		name, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		if m[name], err = hex.DecodeString(digits); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestGoldenMessages(t *testing.T) {
	bytes := golden(t)
	group := func(version int16) func([]byte) (Message, error) {
		return func(b []byte) (Message, error) { return ParseGroupValue(GroupKey{Version: version}, b) }
	}
	control := func(id byte) func([]byte) (Message, error) {
		return func(b []byte) (Message, error) { return ParseControl([]byte{0, 0, 0, id}, b) }
	}
	cluster := func(b []byte) (Message, error) {
		m, err := ParseMetadataRecord(b)
		return m.Message, err
	}
	for name, tc := range map[string]struct {
		parse func([]byte) (Message, error)
		want  string
	}{
		"classicInConsumer": {group(5), `ConsumerGroupMemberMetadata instanceId=i rackId="" clientId=c clientHost=h subscribedTopicNames=[t] subscribedTopicRegex="" rebalanceTimeoutMs=5 serverAssignor=range classicMemberMetadata={sessionTimeoutMs=45000 supportedProtocols=[{name=range metadata=0x0102}]}`},
		"streamsMember":     {group(19), `StreamsGroupMemberMetadata instanceId="" rackId="" clientId=c clientHost=h rebalanceTimeoutMs=7 topologyEpoch=2 processId=p userEndpoint={host=eh port=65535} clientTags=[{key=k value=v}]`},
		"streamsMemberNull": {group(19), `StreamsGroupMemberMetadata instanceId="" rackId="" clientId=c clientHost=h rebalanceTimeoutMs=-1 topologyEpoch=0 processId=p userEndpoint=null clientTags=[]`},
		"streamsGroup":      {group(17), `StreamsGroupMetadata epoch=9 metadataHash=-5 lastAssignmentConfigs=[{key=num value=1}]`},
		"groupV4":           {group(2), `GroupMetadata protocolType=consumer generation=3 protocol=range leader=m currentStateTimestamp=1700000000000 members=[{memberId=m groupInstanceId=null clientId=c clientHost=h rebalanceTimeout=1 sessionTimeout=2 subscription=0x0000 assignment=0x}]`},
		"regex":             {group(16), `ConsumerGroupRegularExpression topics=[a b] version=4 timestamp=1700000000000`},
		"voters":            {control(6), `KRaftVoters voters=[{voterId=1 voterDirectoryId=AAAAAAAAAAEAAAAAAAAAAg endpoints=[{name=CONTROLLER host=h port=9093}] kraftVersionFeature={minSupportedVersion=0 maxSupportedVersion=1}}]`},
		"kraftVersion":      {control(5), `KRaftVersion kraftVersion=1`},
		"leaderChange1":     {control(2), `LeaderChange leaderId=3 voters=[{voterId=3 voterDirectoryId=AAAAAAAAAAEAAAAAAAAAAg}] grantingVoters=[]`},
		"snapshotHeader":    {control(3), `SnapshotHeader lastContainedLogTimestamp=1700000000000`},
		"partition2":        {cluster, `PartitionRecord partitionId=1 topicId=AAAAAAAAAAEAAAAAAAAAAg replicas=[1 2] isr=[1] removingReplicas=[] addingReplicas=[] leader=1 leaderEpoch=5 partitionEpoch=6 directories=[AAAAAAAAAAMAAAAAAAAABA AAAAAAAAAAUAAAAAAAAABg] leaderRecoveryState=1 eligibleLeaderReplicas=[2] lastKnownElr=[3]`},
		"partitionChange":   {cluster, `PartitionChangeRecord partitionId=1 topicId=AAAAAAAAAAEAAAAAAAAAAg isr=[1 2] leader=2 replicas=[2 1] directories=[AAAAAAAAAAMAAAAAAAAABA]`},
		"quota":             {cluster, `ClientQuotaRecord entity=[{entityType=user entityName=null}] key=producer_byte_rate value=1024.5 remove=false`},
		"configNull":        {cluster, `ConfigRecord resourceType=2 resourceName=t name=retention.ms value=null`},
		"scram":             {cluster, `UserScramCredentialRecord name=u mechanism=1 salt=0x01 storedKey=0x02 serverKey=0x03 iterations=4096`},
		"acl":               {cluster, `AccessControlEntryRecord id=AAAAAAAAAAEAAAAAAAAAAg resourceType=2 resourceName=t patternType=3 principal=User:x host=* operation=3 permissionType=3`},
		"remove":            {cluster, `RemoveTopicRecord topicId=AAAAAAAAAAEAAAAAAAAAAg`},
		"abort":             {cluster, `AbortTransactionRecord reason=why`},
	} {
		t.Run(name, func(t *testing.T) {
			b := bytes[name]
			m, err := tc.parse(b)
			if err != nil || m.Rest != 0 || m.String() != tc.want {
				t.Errorf("%s, %v, rest %d\nwant %s", m, err, m.Rest, tc.want)
			}
			for n := range b { // no beginning of it is a message
				if _, err := tc.parse(b[:n]); err == nil {
					t.Errorf("%d of %d bytes are a message", n, len(b))
				}
			}
		})
	}
}

func TestGoldenTyped(t *testing.T) {
	b := golden(t)
	id := layout.ID{7: 1, 15: 2}
	p, err := ParseMetadataRecord(b["partition2"])
	body, ok := p.Body.(PartitionRecord)
	if err != nil || !ok || body.Partition != 1 || body.Topic != id || body.Leader != 1 || body.LeaderEpoch != 5 ||
		len(body.Directories) != 2 || !body.LeaderRecovering || len(body.Replicas) != 2 || body.ELR[0] != 2 {
		t.Errorf("%+v, %v", p.Body, err)
	}
	p, err = ParseMetadataRecord(b["partitionChange"])
	change, ok := p.Body.(PartitionChangeRecord)
	if err != nil || !ok || !change.HasLeader || change.Leader != 2 || len(change.ISR) != 2 || change.Adding != nil {
		t.Errorf("%+v, %v", p.Body, err)
	}
	p, err = ParseMetadataRecord(b["configNull"])
	if config, ok := p.Body.(ConfigRecord); err != nil || !ok || !config.Deleted || config.Resource != ResourceTopic || config.Of != "t" {
		t.Errorf("%+v, %v", p.Body, err)
	}
	p, err = ParseMetadataRecord(b["remove"])
	if removed, ok := p.Body.(RemoveTopicRecord); err != nil || !ok || removed.ID != id {
		t.Errorf("%+v, %v", p.Body, err)
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGoldenCommits(t *testing.T) {
	for name, tc := range map[string]struct {
		bytes string
		want  OffsetCommit
	}{
		"version 1": {"0001000000000000002a00016d0000018bcfe568000000018bcfee8fc0", OffsetCommit{1, 42, -1, "m", 1700000000000, 1700000600000, layout.ID{}}},
		"version 3": {"0003000000000000002a0000000500016d0000018bcfe56800", OffsetCommit{3, 42, 5, "m", 1700000000000, -1, layout.ID{}}},
		"version 4": {"0004000000000000002a00000005026d0000018bcfe5680000", OffsetCommit{4, 42, 5, "m", 1700000000000, -1, layout.ID{}}},
		"version 4 with a topic id": {"0004000000000000002a00000005026d0000018bcfe5680001001000000000000000010000000000000002",
			OffsetCommit{4, 42, 5, "m", 1700000000000, -1, layout.ID{7: 1, 15: 2}}},
		"version 4 with a tag of the future": {"0004000000000000002a00000005026d0000018bcfe56800010702abcd", OffsetCommit{4, 42, 5, "m", 1700000000000, -1, layout.ID{}}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseOffsetCommit(unhex(t, tc.bytes))
			if err != nil || c != tc.want {
				t.Errorf("%+v, %v, want %+v", c, err, tc.want)
			}
		})
	}
	k, err := ParseGroupKey(unhex(t, "00010002673100066f726465727300000002"))
	if want := (GroupKey{Version: 1, Name: "OffsetCommit", Group: "g1", Topic: "orders", Partition: 2}); err != nil || k != want {
		t.Errorf("%+v, %v", k, err)
	}
	if k, err := ParseGroupKey([]byte{0, 99, 0, 0}); !errors.Is(err, ErrUnknown) || k.Version != 99 {
		t.Errorf("%+v, %v", k, err)
	}
	if _, err := ParseOffsetCommit([]byte{0, 9}); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

func TestGoldenClassicGroup(t *testing.T) {
	g, err := ParseGroupMetadata(unhex(t, "00030008636f6e73756d657200000001000572616e676500026d310000018bcfe568000000000100026d31ffff000163000a2f3132372e302e302e31000493e00000afc8000000020001000000020002"))
	if err != nil || g.ProtocolType != "consumer" || g.Generation != 1 || g.Protocol != "range" || g.Leader != "m1" || len(g.Members) != 1 {
		t.Fatalf("%+v, %v", g, err)
	}
	if m := g.Members[0]; m.ID != "m1" || m.Instance != "" || m.Client != "c" || m.Host != "/127.0.0.1" || m.RebalanceTimeout != 300000 || m.SessionTimeout != 45000 {
		t.Errorf("%+v", m)
	}
	b := unhex(t, "00010000000100066f7264657273000000020000000000000001ffffffff")
	for _, version := range []byte{1, 3, 42} { // later versions add to the end
		b[1] = version
		a, err := ParseAssignment(b)
		if err != nil || a.Version != int16(version) || len(a.Partitions) != 2 || a.Partitions[1] != (model.TopicPartition{Topic: "orders", Partition: 1}) {
			t.Errorf("%+v, %v", a, err)
		}
	}
}
