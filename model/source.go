package model

import (
	"context"
	"errors"
	"fmt"
)

// Source is anything that can be explored. Its methods may be called from any goroutine, and return when ctx ends.
//
// Topics and Partitions answer at once with what is known; what is found out later (log ends, counts) comes as a
// Change, after which they are asked again.
type Source interface {
	Info(ctx context.Context) (Info, error)
	Topics(ctx context.Context) ([]Topic, error) // by name, internal ones too
	// Partitions returns a topic's partitions by number, leftovers (State not Live) last. It waits until the offsets of
	// that topic are known. ErrNoTopic.
	Partitions(ctx context.Context, topic string) ([]Partition, error)
	Records(ctx context.Context, q RecordQuery) (RecordPage, error)
	Groups(ctx context.Context) ([]Group, error) // by id
	// Changes returns the one channel of merged changes; it is closed by Close. What is not taken is merged, never queued.
	Changes() <-chan Change
	Close() error
}

// SourceKind is one of the three kinds of source.
type SourceKind string

// The kinds of source.
const (
	Embedded  SourceKind = "embedded"
	Directory SourceKind = "directory"
	Cluster   SourceKind = "cluster"
)

// Info says what a source is.
type Info struct {
	Kind     SourceKind
	Name     string // for the breadcrumb's right end: a path, an address
	ReadOnly bool
	Live     bool   // changes are shown as they come
	State    string // "", or what is to be said of it: "held by process 4711", "polling: inotify is exhausted"
	Bytes    int64  // of .log files
	Address  string // HOST:PORT where Kafka clients are served; "" for nowhere
	Notices  []string
}

// Change says what may have changed since the last one. All false and empty means nothing.
type Change struct {
	Version    uint64 // rises with each change of a source
	Topics     bool   // the list of topics, or a figure of its rows
	Partitions []TopicPartition
	Groups     bool
	// Transactions says that a transaction has moved from one state to another, or has come or gone.
	Transactions bool
	// Clients says that a client has connected or gone.
	Clients bool
	Info    bool
	// All says that Partitions was too long to be told, or that events were lost: ask for everything again.
	All bool
}

// Touches reports whether the change concerns a partition.
func (c Change) Touches(tp TopicPartition) bool {
	if c.All {
		return true
	}
	for _, p := range c.Partitions {
		if p == tp {
			return true
		}
	}
	return false
}

// TouchesTopic reports whether the change concerns any partition of a topic.
func (c Change) TouchesTopic(topic string) bool {
	if c.All {
		return true
	}
	for _, p := range c.Partitions {
		if p.Topic == topic {
			return true
		}
	}
	return false
}

// SegmentReader is the ability to see files: segments, batches, index entries, bytes.
type SegmentReader interface {
	// Segments returns a partition's segments by base offset, then the leftovers (deleted, cleaned, swap).
	Segments(ctx context.Context, tp TopicPartition) ([]Segment, error)
	Batches(ctx context.Context, q BatchQuery) (BatchPage, error)
	// BatchBytes returns a batch as it lies, at most 64 MiB of it, and its fields.
	BatchBytes(ctx context.Context, tp TopicPartition, base, pos int64) ([]byte, []Field, error)
	// IndexEntries returns up to limit entries of an index from number first on, and how many there are.
	IndexEntries(ctx context.Context, tp TopicPartition, base int64, k IndexKind, first int64, limit int) ([]IndexEntry, int64, error)
	Lookup(ctx context.Context, tp TopicPartition, t Target) (LookupResult, error)
}

// Verifier is the ability to check files. It tells of faults and progress on the calling goroutine.
type Verifier interface {
	Verify(ctx context.Context, q VerifyQuery, tell func(VerifyEvent)) (VerifySummary, error)
}

// Counter is the ability to make the counts of topics (nil: of all) exact. It returns when they are.
type Counter interface {
	Count(ctx context.Context, topics []string) error
}

// LagCounter is the ability to make the lags of a group exact that are estimated because much is unread. It returns when
// they are; asked for the group again, its reader tells them.
type LagCounter interface {
	CountLag(ctx context.Context, group string) error
}

// Searcher is the ability to find records. It tells of hits and progress one at a time, not concurrently; tell
// returns false to stop.
type Searcher interface {
	Search(ctx context.Context, q SearchQuery, tell func(SearchEvent) bool) (SearchEnd, error)
}

// Tailer is the ability to follow topics.
type Tailer interface {
	Tail(ctx context.Context, q TailQuery) (Tail, error)
}

// Tail is a running tail. It keeps the newest records in a bounded window, numbered from 0 in the order of reading.
type Tail interface {
	// Window returns up to n records whose sequence numbers lie below end (negative: the newest), oldest first, and the
	// sequence number of the first one returned.
	Window(end int64, n int) ([]Record, int64)
	Stats() TailStats
	// Wait returns when Stats().Matched differs from matched, or anything else has changed, or ctx ends.
	Wait(ctx context.Context, matched int64) error
	// Release gives up the records below a sequence number, where TailQuery.Block is set.
	Release(below int64)
	Close() error
}

// GroupReader is the ability to ask for one group, with members and exact lag.
type GroupReader interface {
	Group(ctx context.Context, id string) (Group, error) // ErrNoGroup
}

// Resetter is the ability to move a group's committed offsets, in two steps, with a journal.
type Resetter interface {
	PlanReset(ctx context.Context, r ResetRequest) (ResetPlan, error)
	// ApplyReset applies the plan exactly, in one transaction, and reads it back. ErrRefused when the group has become
	// active or its offsets have moved since the plan was made: nothing is changed then.
	ApplyReset(ctx context.Context, p ResetPlan) (ResetResult, error)
	Journal(ctx context.Context) ([]JournalEntry, error) // newest first
	// PlanUndo plans the taking back of a journal entry; 0 means the newest that is not undone.
	PlanUndo(ctx context.Context, id uint64) (ResetPlan, error)
	DeleteGroup(ctx context.Context, id string) error
}

// ProduceRecord is a record to be written.
type ProduceRecord struct {
	Key, Value []byte // nil is null
	Headers    []Header
	Timestamp  int64 // ms; 0 means now
	Partition  int32 // -1: by the partitioner
}

// ProduceRequest asks for records to be appended.
type ProduceRequest struct {
	Topic   string
	Records []ProduceRecord
	Codec   string // "" means none; else gzip, snappy, lz4, zstd
	Acks    int    // 0, 1 or -1 (all); all the same where there is one replica, but 0 reports no offsets
	// Partitioner is "" or "default" (key hash, else sticky), "roundrobin", "random".
	Partitioner string
}

// Produced says where a record went.
type Produced struct {
	Partition int32
	Offset    int64 // Unknown with acks 0
	Timestamp int64
}

// Producer is the ability to append records.
type Producer interface {
	Produce(ctx context.Context, r ProduceRequest) ([]Produced, error)
}

// TopicAdmin is the ability to make and change topics.
type TopicAdmin interface {
	CreateTopic(ctx context.Context, s TopicSpec) error
	GrowTopic(ctx context.Context, topic string, partitions int32) error
	AlterTopic(ctx context.Context, topic string, changes []ConfigChange) error
	DeleteTopic(ctx context.Context, topic string) error
	// PreviewAlter says what AlterTopic with these changes would delete, and when.
	PreviewAlter(ctx context.Context, topic string, changes []ConfigChange) (Preview, error)
	TopicConfig(ctx context.Context, topic string) ([]ConfigEntry, error)
}

// ConfigReader is the ability to say a topic's configs, also where they cannot be changed.
type ConfigReader interface {
	TopicConfig(ctx context.Context, topic string) ([]ConfigEntry, error)
}

// RecordDeleter is the ability to move a partition's log start forward.
type RecordDeleter interface {
	PreviewDelete(ctx context.Context, tp TopicPartition, before int64) (Preview, error)
	// DeleteRecords returns the new log start. before may be FromEnd: all.
	DeleteRecords(ctx context.Context, tp TopicPartition, before int64) (int64, error)
}

// Focuser is told what is on screen, so that it is watched more closely than the rest.
type Focuser interface {
	Focus(topics []string)
}

// Inspector is the ability to say what a log directory is.
type Inspector interface {
	Overview(ctx context.Context) ([]DirOverview, error)
}

// DirOverview describes one log directory.
type DirOverview struct {
	Path    string
	Facts   []Fact // broker or node id, cluster id, directory id, version signs, clean or not, lock, checkpoints
	Odd     []Fact // leftovers and what is not understood
	Faults  []Fault
	Records []MetaRecord // the newest of __cluster_metadata, oldest first
}

// Fact is a name and what is known of it.
type Fact struct {
	Name, Value, Note string
}

// MetaRecord is a decoded record of one of Kafka's own topics.
type MetaRecord struct {
	Offset int64
	Type   string
	Text   string // its fields
}

// Decoder is the ability to put a record of one of Kafka's own topics into words; ok is false for any other.
type Decoder interface {
	Decode(r Record) (text string, ok bool)
}

// Traffic is the ability of a demo to be driven.
type Traffic interface {
	TrafficState() TrafficState
	SetRate(perSecond int)
	SetPaused(paused bool)
}

// TrafficState says how a demo is running.
type TrafficState struct {
	Rate   int // records a second wanted
	Actual int // over the last second
	Paused bool
}

// Sentinels that callers branch on; they come wrapped, with the name and the nearest ones.
var (
	ErrNoTopic     = errors.New("no such topic")
	ErrNoPartition = errors.New("no such partition")
	ErrNoSegment   = errors.New("no such segment")
	ErrNoGroup     = errors.New("no such group")
	ErrNoUser      = errors.New("no such user")
	ErrReadOnly    = errors.New("this source is read-only")
	ErrRefused     = errors.New("refused")
	ErrOutOfRange  = errors.New("offset out of range")
	ErrExists      = errors.New("it exists already")
	ErrInvalid     = errors.New("invalid")
	ErrClosed      = errors.New("the source is closed")
)

// CorruptError locates damage in a file.
type CorruptError struct {
	Path string
	Pos  int64 // Unknown: the file as a whole
	What string
	Err  error // may be nil
}

// Error says where and what.
func (e *CorruptError) Error() string {
	s := e.Path + ": "
	if e.Pos >= 0 {
		s += fmt.Sprintf("byte %d: ", e.Pos)
	}
	s += e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Err }
