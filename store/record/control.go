package record

import (
	"encoding/binary"
	"fmt"
)

// ControlType is the kind of a control record.
type ControlType int16

// The control records there are.
const (
	Abort ControlType = iota
	Commit
	LeaderChange
	SnapshotHeader
	SnapshotFooter
	KRaftVersion
	KRaftVoters
)

// String is the name Kafka's tools print; UNKNOWN for others.
func (t ControlType) String() string {
	switch t {
	case Abort:
		return "ABORT"
	case Commit:
		return "COMMIT"
	case LeaderChange:
		return "LEADER_CHANGE"
	case SnapshotHeader:
		return "SNAPSHOT_HEADER"
	case SnapshotFooter:
		return "SNAPSHOT_FOOTER"
	case KRaftVersion:
		return "KRAFT_VERSION"
	case KRaftVoters:
		return "KRAFT_VOTERS"
	}
	return "UNKNOWN"
}

// Marker tells the end of a transaction, of either kind.
func (t ControlType) Marker() bool { return t == Abort || t == Commit }

// Control is a control record, decoded.
type Control struct {
	Version          int16 // of the key
	Type             ControlType
	ValueVersion     int16 // -1 when the value is absent
	CoordinatorEpoch int32 // of markers, else -1
}

// ParseControl decodes key and value of a record in a control batch. Longer
// ones and higher versions are taken as far as they are known.
func ParseControl(key, value []byte) (Control, error) {
	c := Control{ValueVersion: -1, CoordinatorEpoch: -1}
	if len(key) < 4 {
		return c, fmt.Errorf("control key of %d bytes: %w", len(key), ErrShort)
	}
	c.Version = int16(binary.BigEndian.Uint16(key))
	c.Type = ControlType(int16(binary.BigEndian.Uint16(key[2:])))
	if len(value) >= 2 {
		c.ValueVersion = int16(binary.BigEndian.Uint16(value))
	}
	if !c.Type.Marker() {
		return c, nil
	}
	if len(value) < 6 {
		return c, fmt.Errorf("%s value of %d bytes: %w", c.Type, len(value), ErrShort)
	}
	c.CoordinatorEpoch = int32(binary.BigEndian.Uint32(value[2:]))
	return c, nil
}

// MarkerSize is the size of the batch that AppendMarker writes.
const MarkerSize = 78

// Marker is the end of a transaction, to be written.
type Marker struct {
	Offset           int64
	LeaderEpoch      int32
	Commit           bool // else abort
	Timestamp        int64
	ProducerID       int64
	ProducerEpoch    int16
	CoordinatorEpoch int32
}

// AppendMarker appends the control batch of 78 bytes that ends a transaction.
func AppendMarker(dst []byte, m Marker) []byte {
	begin := len(dst)
	dst = AppendHeader(dst, Header{
		BaseOffset:    m.Offset,
		LeaderEpoch:   m.LeaderEpoch,
		Magic:         2,
		Attributes:    attrTransactional | attrControl,
		BaseTimestamp: m.Timestamp,
		MaxTimestamp:  m.Timestamp,
		ProducerID:    m.ProducerID,
		ProducerEpoch: m.ProducerEpoch,
		BaseSequence:  NoSequence,
		Count:         1,
	})
	var key [4]byte
	if m.Commit {
		key[3] = byte(Commit)
	}
	var value [6]byte
	binary.BigEndian.PutUint32(value[2:], uint32(m.CoordinatorEpoch))
	dst = AppendRecord(dst, &Record{Key: key[:], Value: value[:]})
	seal(dst[begin:])
	return dst
}
