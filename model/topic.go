package model

// Topic is a row of the topics page.
type Topic struct {
	Name       string
	ID         string // 22 letters of base64url; "" where unknown
	Internal   bool   // __consumer_offsets and the like
	Partitions int
	Records    Count // what a read_uncommitted consumer would be given; control records and holes not counted
	Bytes      int64 // of .log files; Unknown until they were looked at
	Newest     int64 // ms of the newest record, or NoTime
	Appended   int64 // offsets written since the source was opened; for rates
	Retention  Retention
	Replicas   int    // 0 where unknown
	Note       string // what is odd: "2 partitions damaged", "being deleted"; "" is well
}

// Retention is what a topic's configs say of how long it keeps records.
type Retention struct {
	Known bool
	// Unset says why it is not known: the topic sets no retention.ms, so that the broker's own default decides, which is
	// in its server.properties and not in its log directory.
	Unset   bool
	Delete  bool  // cleanup.policy contains delete
	Compact bool  // cleanup.policy contains compact
	MS      int64 // retention.ms; negative: for ever
	Bytes   int64 // retention.bytes a partition; negative: any size
	// DirtyRatio is min.cleanable.dirty.ratio where Compact is set: which part must be dirty for the cleaner to come, 0 to 1.
	DirtyRatio float64
}

// PartitionState says what kind of replica a folder is.
type PartitionState int8

// The kinds of partition folder, after their suffixes.
const (
	Live     PartitionState = iota // topic-N
	Future                         // -future: moving in from another log dir
	Deleting                       // -delete: removed soon
	Stray                          // -stray: no longer in the metadata
)

// String returns the suffix's word.
func (s PartitionState) String() string {
	return [...]string{"live", "future", "delete", "stray"}[s]
}

// Partition is a row of the partitions page. Offsets are Unknown until the log was looked at.
type Partition struct {
	TopicPartition
	LogStart      int64
	HighWatermark int64
	LastStable    int64
	LogEnd        int64
	// HWFromCheckpoint says that HighWatermark was read from a checkpoint, which may lag behind the data.
	HWFromCheckpoint bool
	Records          Count
	Bytes            int64
	Segments         int
	Newest           int64 // ms of the newest record, or NoTime
	Leader           int32 // -1 where unknown
	LeaderEpoch      int32 // -1 where unknown
	Replicas, ISR    []int32
	Offline          []int32 // those of Replicas whose broker or disk is gone; nil also where not known
	Dir              string  // the folder, absolute
	State            PartitionState
	Err              error // why it cannot be read, or cannot be read whole
}

// SegmentState says what a segment's files are to a broker.
type SegmentState string

// The states of a segment, as the command line prints them.
const (
	SegmentActive  SegmentState = "active"
	SegmentSealed  SegmentState = "sealed"
	SegmentDeleted SegmentState = "deleted" // .deleted: removed soon
	SegmentCleaned SegmentState = "cleaned" // .cleaned: a compaction's unfinished output
	SegmentSwap    SegmentState = "swap"    // .swap: a compaction's output about to replace others
)

// Segment is one layer of the core sample.
type Segment struct {
	TopicPartition
	Base           int64 // base offset
	Last           int64 // last offset, or Unknown when it holds none
	Records        Count // data records
	Batches        Count
	Bytes          int64 // of its .log
	Inflated       int64 // bytes of its records uncompressed, or Unknown
	IndexEntries   int   // -1 where there is no readable index
	TimeEntries    int
	TxnEntries     int
	FirstTimestamp int64
	LastTimestamp  int64
	State          SegmentState
	Leaves         int64  // ms when it is due to be deleted; NoTime where never or not known
	Rule           string // by which rule, or why not: "retention.ms", "retention.bytes", "active", "compacted", "dirty 40%, max 50%", …
	Path           string // its .log, absolute
	Trailing       int64  // bytes behind the last whole batch
	TrailingZero   bool   // all of them zero: preallocated, not damage
	Err            error
}

// Batch is one line of the batches page.
type Batch struct {
	Position       int64 // byte in the .log
	Base           int64
	Last           int64
	Count          int32 // records in it, as its header says
	Bytes          int64
	Inflated       int64 // bytes of its records uncompressed, or Unknown
	Codec          string
	Magic          int8
	TimestampType  TimestampType
	FirstTimestamp int64
	MaxTimestamp   int64
	ProducerID     int64
	ProducerEpoch  int16
	BaseSequence   int32
	LeaderEpoch    int32
	Transactional  bool
	Control        string // as in Record
	DeleteHorizon  int64  // ms, or NoTime
	CRC            uint32
	CRCComputed    uint32
	Valid          bool  // the checksum is right and the lengths are
	Torn           bool  // the file ends within it
	Err            error // what is wrong with it
}

// IndexKind names one of a segment's indexes.
type IndexKind string

// The indexes of a segment, by file suffix.
const (
	OffsetIndex IndexKind = "index"
	TimeIndex   IndexKind = "timeindex"
	TxnIndex    IndexKind = "txnindex"
)

// IndexEntry is an entry of any of the three indexes; the fields that its kind lacks are Unknown.
type IndexEntry struct {
	Number    int64 // from 0
	Offset    int64 // absolute; of a TxnIndex entry the first offset
	Position  int64 // OffsetIndex: byte in the .log
	Timestamp int64 // TimeIndex: ms
	Producer  int64 // TxnIndex
	Last      int64 // TxnIndex: offset of the abort marker
	Stable    int64 // TxnIndex: last stable offset after it
	Err       error // what is wrong with the entry
}

// Field is a run of bytes with a meaning, for the hex view.
type Field struct {
	Name  string
	Pos   int // within the bytes it describes
	Len   int
	Value string
	Note  string
}

// ConfigEntry is one config of a topic.
type ConfigEntry struct {
	Name    string
	Value   string
	Default string
	Source  string // "default", "topic", "broker", "file"
	Doc     string
}

// ConfigChange sets a config, or with Unset takes it back to its default.
type ConfigChange struct {
	Name  string
	Value string
	Unset bool
}

// TopicSpec is a topic to be created.
type TopicSpec struct {
	Name       string
	Partitions int32 // 0 means the engine's num.partitions
	Configs    []ConfigChange
}

// Preview is what a dangerous change to a topic would delete.
type Preview struct {
	Topic   string
	Now     []Segment // deleted at the next look of the retention, seconds away
	Later   []Segment // whose Leaves comes nearer, in order of Leaves
	Records Count     // in Now
	Bytes   int64     // in Now
	Notes   []string  // what else changes, in words
	// Runs says that Now and Later are runs of offsets, Base to Last, of a source that does not show segments.
	Runs bool
}
