package meta

import (
	"fmt"

	"github.com/strata-kafka/strata/store/layout"
)

// MetadataRecord is a record of __cluster_metadata.
type MetadataRecord struct {
	Message
	// Body is one of TopicRecord, PartitionRecord, PartitionChangeRecord, ConfigRecord, RemoveTopicRecord,
	// FeatureLevelRecord and RegisterBrokerRecord, or nil for any other type.
	Body any
}

// TopicRecord makes a topic.
type TopicRecord struct {
	Name string
	ID   layout.ID
}

// PartitionRecord makes a partition, or sets it anew.
type PartitionRecord struct {
	Partition         int32
	Topic             layout.ID
	Replicas, ISR     []int32
	Removing, Adding  []int32
	Leader            int32 // -1 for none
	LeaderEpoch       int32
	PartitionEpoch    int32
	Directories       []layout.ID // of Replicas; nil before version 1
	LeaderRecovering  bool
	ELR, LastKnownELR []int32
}

// PartitionChangeRecord changes a partition. What it does not name stays as it is.
type PartitionChangeRecord struct {
	Partition        int32
	Topic            layout.ID
	ISR, Replicas    []int32 // nil: not changed
	Removing, Adding []int32 // nil: not changed
	Leader           int32
	HasLeader        bool        // Leader counts; a new leader raises the leader epoch by one
	Directories      []layout.ID // nil: not changed
}

// ConfigRecord sets or takes away a config.
type ConfigRecord struct {
	Resource ResourceType
	Of       string // the topic's name, the broker's id; "" for all brokers
	Name     string
	Value    string
	Deleted  bool
}

// ResourceType is what a config belongs to.
type ResourceType int8

// The resources that a log directory's reader meets.
const (
	ResourceTopic  ResourceType = 2
	ResourceBroker ResourceType = 4
)

// RemoveTopicRecord removes a topic.
type RemoveTopicRecord struct {
	ID layout.ID
}

// FeatureLevelRecord sets the level of a feature; metadata.version is one of them.
type FeatureLevelRecord struct {
	Name  string
	Level int16
}

// RegisterBrokerRecord tells of a broker that has started.
type RegisterBrokerRecord struct {
	Broker     int32
	Epoch      int64
	Rack       string
	Fenced     bool
	Listeners  []string // name://host:port
	LogDirs    []layout.ID
	Incarnated layout.ID
}

// frameVersion is the version of what stands before each record of __cluster_metadata.
const frameVersion = 1

// ParseMetadataRecord reads the value of a data record of __cluster_metadata. An unknown type or version, which wraps
// ErrUnknown, comes with Type, Version and, where known, Name.
func ParseMetadataRecord(value []byte) (MetadataRecord, error) {
	r := reader{b: value}
	frame, id, version := r.uvarint(), r.uvarint(), r.uvarint()
	switch {
	case r.err != nil:
		return MetadataRecord{}, fmt.Errorf("metadata record: %w", r.err)
	case frame != frameVersion:
		return MetadataRecord{}, fmt.Errorf("metadata record of frame version %d: %w", frame, ErrUnknown)
	case id >= never || version >= never:
		return MetadataRecord{}, fmt.Errorf("metadata record of type %d version %d: %w", id, version, ErrUnknown)
	}
	m := Message{Type: int16(id), Version: int16(version)}
	s, ok := clusterSchemas()[m.Type]
	if !ok {
		return MetadataRecord{Message: m}, fmt.Errorf("metadata record of type %d: %w", id, ErrUnknown)
	}
	m, err := s.read(&r, m.Version)
	if err != nil {
		return MetadataRecord{Message: m}, err
	}
	return MetadataRecord{m, clusterBody(m)}, nil
}

func clusterBody(m Message) any {
	f := m.Fields
	switch m.Type {
	case 0:
		b := RegisterBrokerRecord{
			Broker: int32(f.number("brokerId", -1)), Epoch: f.number("brokerEpoch", -1), Rack: f.text("rack"), Fenced: f.flag("fenced"),
			LogDirs: f.ids("logDirs"), Incarnated: f.id("incarnationId"),
		}
		for _, e := range f.parts("endPoints") {
			b.Listeners = append(b.Listeners, fmt.Sprintf("%s://%s:%d", e.text("name"), e.text("host"), e.number("port", 0)))
		}
		return b
	case 2:
		return TopicRecord{f.text("name"), f.id("topicId")}
	case 3:
		return PartitionRecord{
			Partition: int32(f.number("partitionId", -1)), Topic: f.id("topicId"), Replicas: f.numbers("replicas"), ISR: f.numbers("isr"),
			Removing: f.numbers("removingReplicas"), Adding: f.numbers("addingReplicas"), Leader: int32(f.number("leader", -1)),
			LeaderEpoch: int32(f.number("leaderEpoch", -1)), PartitionEpoch: int32(f.number("partitionEpoch", -1)),
			Directories: f.ids("directories"), LeaderRecovering: f.number("leaderRecoveryState", 0) == 1,
			ELR: f.numbers("eligibleLeaderReplicas"), LastKnownELR: f.numbers("lastKnownElr"),
		}
	case 4:
		value, is := f.get("value").(string)
		return ConfigRecord{ResourceType(f.number("resourceType", 0)), f.text("resourceName"), f.text("name"), value, !is}
	case 5:
		c := PartitionChangeRecord{
			Partition: int32(f.number("partitionId", -1)), Topic: f.id("topicId"), ISR: f.numbers("isr"), Replicas: f.numbers("replicas"),
			Removing: f.numbers("removingReplicas"), Adding: f.numbers("addingReplicas"), Leader: -1, Directories: f.ids("directories"),
		}
		if n, ok := f.get("leader").(int64); ok {
			c.Leader, c.HasLeader = int32(n), true
		}
		return c
	case 9:
		return RemoveTopicRecord{f.id("topicId")}
	case 12:
		return FeatureLevelRecord{f.text("name"), int16(f.number("featureLevel", 0))}
	}
	return nil
}

// ids returns an array of ids; nil where there is none.
func (f Fields) ids(name string) []layout.ID {
	list, ok := f.get(name).([]any)
	if !ok {
		return nil
	}
	ids := make([]layout.ID, 0, len(list))
	for _, v := range list {
		if id, ok := v.(layout.ID); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// ParseControl reads a control record of any log: a transaction's end, or one of KRaft's own. An unknown type or version
// wraps ErrUnknown.
func ParseControl(key, value []byte) (Message, error) {
	r := reader{b: key}
	version, id := r.i16(), r.i16()
	if r.err != nil || version < 0 {
		r.fail(ErrUnknown)
		return Message{}, fmt.Errorf("control key: %w", r.err)
	}
	return parseValue(controlSchemas(), id, value)
}
