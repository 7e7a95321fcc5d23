package model

import (
	"cmp"
	"strconv"
)

const (
	// Unknown is an offset, position or size that is not known.
	Unknown int64 = -1
	// NoTime is the timestamp of what has none.
	NoTime int64 = -1
	// NoProducer is the producer id of what no idempotent producer wrote.
	NoProducer int64 = -1
)

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// String returns the folder's name, topic-partition.
func (tp TopicPartition) String() string {
	return tp.Topic + "-" + strconv.Itoa(int(tp.Partition))
}

// Compare orders by topic, then by partition number.
func (tp TopicPartition) Compare(o TopicPartition) int {
	return cmp.Or(cmp.Compare(tp.Topic, o.Topic), cmp.Compare(tp.Partition, o.Partition))
}

// TimestampType says who dated a record.
type TimestampType int8

// The timestamp types, named as Kafka's tools print them.
const (
	NoTimestampType TimestampType = -1 // magic 0: no timestamp at all
	CreateTime      TimestampType = 0  // the producer's clock
	LogAppendTime   TimestampType = 1  // the broker's clock
)

// String returns the name that Kafka's own clients use.
func (t TimestampType) String() string {
	switch t {
	case CreateTime:
		return "CreateTime"
	case LogAppendTime:
		return "LogAppendTime"
	}
	return "NoTimestampType"
}

// Header is a record's header. A nil Value is null, which is not the empty value.
type Header struct {
	Name  string
	Value []byte
}

// Visibility says whether a read_committed consumer is given a record.
type Visibility int8

// The visibilities of a record.
const (
	Visible   Visibility = iota // committed, or never part of a transaction
	Aborted                     // its transaction was aborted
	Undecided                   // its transaction is open: at or above the last stable offset
)

// Record is one record and where it lies.
type Record struct {
	TopicPartition
	Offset        int64
	Timestamp     int64 // ms, or NoTime
	TimestampType TimestampType
	Key           []byte // nil is null
	Value         []byte // nil is null
	Headers       []Header
	LeaderEpoch   int32  // -1 where the format has none
	Batch         int64  // base offset of its batch
	BatchPos      int64  // byte of its batch in the segment's .log; Unknown in a cluster
	Segment       int64  // base offset of its segment
	Size          int    // bytes in the uncompressed batch
	Control       string // "" for data, else "commit", "abort" or another control type's name in lower case
	Transactional bool
	ProducerID    int64 // NoProducer where there is none
	ProducerEpoch int16
	Sequence      int32 // -1 where there is none
	Visibility    Visibility
	Untrusted     bool // its batch fails its checksum
}

// Count is a number that knows how sure it is. The zero Count is unknown.
type Count struct {
	N     int64
	State CountState
}

// CountState says how far a Count can be trusted.
type CountState int8

// The states of a Count.
const (
	CountUnknown  CountState = iota // shown as ?
	CountNone                       // there is no such number (lag of what was never committed); shown as –
	CountEstimate                   // offsets subtracted, not records counted; shown with ≈
	CountExact                      // counted
)

// Exactly returns a counted number.
func Exactly(n int64) Count { return Count{n, CountExact} }

// About returns an estimate.
func About(n int64) Count { return Count{n, CountEstimate} }

// NoCount returns the Count of what has none.
func NoCount() Count { return Count{0, CountNone} }

// Known reports whether N means anything.
func (c Count) Known() bool { return c.State >= CountEstimate }

// Add adds two counts: the sum is as sure as the less sure one. CountNone adds nothing.
func (c Count) Add(o Count) Count {
	switch {
	case c.State == CountNone:
		return o
	case o.State == CountNone:
		return c
	}
	return Count{c.N + o.N, min(c.State, o.State)}
}
