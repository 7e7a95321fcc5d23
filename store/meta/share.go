package meta

import (
	"fmt"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// ShareKey is a key of __share_group_state.
type ShareKey struct {
	Version   int16  // 0: a whole state, 1: a change to it
	Name      string // of the type of record
	Group     string
	Topic     layout.ID
	Partition int32
}

// ParseShareKey reads a key of __share_group_state.
func ParseShareKey(key []byte) (ShareKey, error) {
	r := reader{b: key}
	k := ShareKey{Version: r.i16()}
	if r.err != nil {
		return k, fmt.Errorf("share key: %w", r.err)
	}
	s, ok := shareKeySchemas()[k.Version]
	if !ok {
		return k, fmt.Errorf("share key version %d: %w", k.Version, ErrUnknown)
	}
	m, err := s.read(&r, 0)
	k.Name, k.Group, k.Topic = s.name, m.Fields.text("groupId"), m.Fields.id("topicId")
	k.Partition = int32(m.Fields.number("partition", -1))
	return k, err
}

// ShareState is the state of a partition in a share group.
type ShareState struct {
	Start       int64 // the first offset that is not done with; -1 in a change that leaves it as it is
	LeaderEpoch int32
	WrittenAt   int64 // ms; -1 in a change
	Batches     int   // runs of offsets with a state of their own
}

// ParseShareState reads the value that belongs to a key of __share_group_state.
func ParseShareState(k ShareKey, value []byte) (ShareState, error) {
	m, err := parseValue(shareValueSchemas(), k.Version, value)
	f := m.Fields
	return ShareState{
		Start: f.number("startOffset", -1), LeaderEpoch: int32(f.number("leaderEpoch", -1)),
		WrittenAt: f.number("writeTimestamp", -1), Batches: len(f.parts("stateBatches")),
	}, err
}

type shareID struct {
	group     string
	topic     layout.ID
	partition int32
}

// ApplyShare takes a record of __share_group_state, for the rows of share groups. Records of a partition come in the
// order of their offsets. An error says why the record could not be understood.
func (g *Groups) ApplyShare(key, value []byte) error {
	k, err := ParseShareKey(key)
	if err != nil {
		return err
	}
	id := shareID{k.Group, k.Topic, k.Partition}
	if value == nil {
		if k.Version == 0 {
			delete(g.share, id)
		}
		return nil
	}
	s, err := ParseShareState(k, value)
	if err != nil {
		return err
	}
	if s.Start < 0 && k.Version != 0 {
		return nil // the start stays as it is
	}
	if g.share == nil {
		g.share = map[shareID]int64{}
	}
	g.share[id] = s.Start
	return nil
}

// shareRows returns a share group's rows: what stands for the committed offset is the start of what is not done with.
func (g *Groups) shareRows(group string, name func(layout.ID) string) []model.GroupOffset {
	var rows []model.GroupOffset
	for id, start := range g.share {
		if id.group != group {
			continue
		}
		rows = append(rows, model.GroupOffset{
			TopicPartition: model.TopicPartition{Topic: topicName(name, id.topic), Partition: id.partition},
			Committed:      start, LeaderEpoch: -1, CommittedAt: model.NoTime, ExpiresAt: model.NoTime,
			LogStart: model.Unknown, LogEnd: model.Unknown,
		})
	}
	return rows
}
