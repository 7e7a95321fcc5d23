package meta

import (
	"fmt"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// Versions of the keys of __consumer_offsets: each stands for a type of record.
const (
	KeyOffsetCommitOld   int16 = 0
	KeyOffsetCommit      int16 = 1
	KeyGroup             int16 = 2 // a group of the classic protocol
	KeyConsumerGroup     int16 = 3 // 3 to 8 and 16: a group of the new protocol
	KeyConsumerTopics    int16 = 4
	KeyConsumerMember    int16 = 5
	KeyConsumerTarget    int16 = 6
	KeyConsumerTargetOf  int16 = 7
	KeyConsumerCurrentOf int16 = 8
	KeyShareMember       int16 = 10 // 9 to 15: a share group
	KeyShareGroup        int16 = 11
	KeyShareTarget       int16 = 12
	KeyShareCurrentOf    int16 = 14
	KeyConsumerRegex     int16 = 16
	KeyStreamsGroup      int16 = 17 // 17 to 23: a streams group
	KeyStreamsMember     int16 = 19
	KeyStreamsTarget     int16 = 20
	KeyStreamsCurrentOf  int16 = 22
)

// GroupKey is a key of __consumer_offsets.
type GroupKey struct {
	Version   int16  // one of the Key constants, or another one
	Name      string // of the type of record
	Group     string
	Topic     string // of an offset commit
	Partition int32  // of an offset commit
	Member    string // of a member's record
	Regex     string // of key 16
}

// Commit reports whether the record is an offset commit.
func (k GroupKey) Commit() bool {
	return k.Version == KeyOffsetCommit || k.Version == KeyOffsetCommitOld
}

// ParseGroupKey reads a key of __consumer_offsets. Of an unknown version, which wraps ErrUnknown, comes Version alone.
func ParseGroupKey(key []byte) (GroupKey, error) {
	r := reader{b: key}
	k := GroupKey{Version: r.i16()}
	if r.err != nil {
		return k, fmt.Errorf("group key: %w", r.err)
	}
	s, ok := groupKeySchemas()[k.Version]
	if !ok {
		return k, fmt.Errorf("group key version %d: %w", k.Version, ErrUnknown)
	}
	k.Name = s.name
	// Commits are by far the most records, and are read without the detour of a Message.
	k.Group, _ = r.text(false)
	switch {
	case k.Commit():
		k.Topic, _ = r.text(false)
		k.Partition = r.i32()
	case len(s.fields) == 2 && k.Version == KeyConsumerRegex:
		k.Regex, _ = r.text(false)
	case len(s.fields) == 2:
		k.Member, _ = r.text(false)
	}
	if r.err == nil && r.left() > 0 {
		r.fail(fmt.Errorf("%d bytes too many: %w", r.left(), ErrLength))
	}
	if r.err != nil {
		return k, fmt.Errorf("key of %s: %w", s.name, r.err)
	}
	return k, nil
}

// OffsetCommit is the value of an offset commit.
type OffsetCommit struct {
	Version     int16
	Offset      int64
	LeaderEpoch int32 // -1 for none
	Metadata    string
	CommittedAt int64     // ms
	ExpiresAt   int64     // ms, or model.NoTime
	TopicID     layout.ID // zero where the broker did not write it
}

// ParseOffsetCommit reads the value of an offset commit.
func ParseOffsetCommit(value []byte) (OffsetCommit, error) {
	r := reader{b: value}
	c := OffsetCommit{Version: r.i16(), LeaderEpoch: -1, ExpiresAt: model.NoTime}
	if r.err == nil && (c.Version < 0 || c.Version > 4) {
		return c, fmt.Errorf("offset commit version %d: %w", c.Version, ErrUnknown)
	}
	c.Offset = r.i64()
	if c.Version >= 3 {
		c.LeaderEpoch = r.i32()
	}
	c.Metadata, _ = r.text(c.Version >= 4)
	c.CommittedAt = r.i64()
	if c.Version == 1 {
		c.ExpiresAt = r.i64()
	}
	if c.Version >= 4 {
		d := decoder{r: &r, version: c.Version, flexible: true}
		tags := d.tags(nil, groupValueSchemas()[KeyOffsetCommit].fields)
		c.TopicID = tags.id("topicId")
	}
	if r.err != nil {
		return c, fmt.Errorf("offset commit version %d: %w", c.Version, r.err)
	}
	return c, nil
}

// Group is the value of a classic group's record.
type Group struct {
	Version      int16
	ProtocolType string // consumer, connect, …; "" of a group that only commits
	Generation   int32
	Protocol     string // the assignor; "" for none
	Leader       string
	StateSince   int64 // ms, or model.NoTime
	Members      []GroupMember
}

// GroupMember is a member of a classic group.
type GroupMember struct {
	ID               string
	Instance         string // "" for none
	Client, Host     string
	RebalanceTimeout int32 // ms; -1 where the version does not say
	SessionTimeout   int32 // ms
	Subscription     []byte
	Assignment       []byte // of ProtocolType consumer: see ParseAssignment
}

// ParseGroupMetadata reads the value of a classic group's record.
func ParseGroupMetadata(value []byte) (Group, error) {
	m, err := parseValue(groupValueSchemas(), KeyGroup, value)
	if err != nil {
		return Group{Version: m.Version, StateSince: model.NoTime}, err
	}
	f := m.Fields
	g := Group{
		Version: m.Version, ProtocolType: f.text("protocolType"), Generation: int32(f.number("generation", 0)),
		Protocol: f.text("protocol"), Leader: f.text("leader"), StateSince: f.number("currentStateTimestamp", model.NoTime),
	}
	for _, p := range f.parts("members") {
		g.Members = append(g.Members, GroupMember{
			ID: p.text("memberId"), Instance: p.text("groupInstanceId"), Client: p.text("clientId"), Host: p.text("clientHost"),
			RebalanceTimeout: int32(p.number("rebalanceTimeout", -1)), SessionTimeout: int32(p.number("sessionTimeout", -1)),
			Subscription: p.bytes("subscription"), Assignment: p.bytes("assignment"),
		})
	}
	return g, nil
}

// ParseGroupValue reads the value that belongs to a key of __consumer_offsets, whatever its type.
func ParseGroupValue(key GroupKey, value []byte) (Message, error) {
	return parseValue(groupValueSchemas(), key.Version, value)
}

// parseValue reads a value that begins with its version.
func parseValue(schemas map[int16]*schema, id int16, value []byte) (Message, error) {
	s, ok := schemas[id]
	if !ok {
		return Message{Type: id}, fmt.Errorf("value of type %d: %w", id, ErrUnknown)
	}
	r := reader{b: value}
	version := r.i16()
	if r.err != nil {
		return Message{Type: id, Name: s.name}, fmt.Errorf("%s: %w", s.name, r.err)
	}
	return s.read(&r, version)
}

// Assignment is what a member of a classic consumer group was given.
type Assignment struct {
	Version    int16
	Partitions []model.TopicPartition
	UserData   []byte
}

// ParseAssignment reads a member's assignment; no byte at all is none. Versions that are not known are read as the
// highest that is.
func ParseAssignment(b []byte) (Assignment, error) {
	if len(b) == 0 {
		return Assignment{}, nil
	}
	m, err := parseProtocol(1, b)
	return Assignment{
		Version: m.Version, Partitions: partitions(m.Fields.parts("assignedPartitions")), UserData: m.Fields.bytes("userData"),
	}, err
}

// parseProtocol reads a message of the classic consumer protocol: later versions add fields at the end.
func parseProtocol(id int16, b []byte) (Message, error) {
	s := protocolSchemas()[id]
	r := reader{b: b}
	version := r.i16()
	if r.err != nil || version < 0 {
		r.fail(ErrUnknown)
		return Message{Name: s.name, Version: version}, fmt.Errorf("%s: %w", s.name, r.err)
	}
	m, err := s.read(&r, min(version, s.high))
	m.Version = version
	return m, err
}

func partitions(topics []Fields) []model.TopicPartition {
	var list []model.TopicPartition
	for _, t := range topics {
		for _, p := range t.numbers("partitions") {
			list = append(list, model.TopicPartition{Topic: t.text("topic"), Partition: p})
		}
	}
	return list
}
