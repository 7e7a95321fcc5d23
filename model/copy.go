package model

import "context"

// CopyQuery says what to copy from one source to another.
type CopyQuery struct {
	Topics  []string
	Configs bool     // give topics the configs of those they are copied from
	Groups  []string // groups whose offsets are to be copied; nil means none
	// AllGroups is all groups that have committed something in the topics.
	AllGroups bool
	// Rename gives a topic another name on the other side.
	Rename map[string]string
	// Resume goes on where an earlier copy of the same topics was cut short.
	Resume bool
	// Unverified leaves out the reading back at the end.
	Unverified bool
}

// CopyPlan says what a copy would do. It is shown before it is done.
type CopyPlan struct {
	Query    CopyQuery
	From, To string // the sources, in words
	Topics   []CopyTopic
	Groups   []CopyGroup
	Offsets  int64  // to be gone through, in all
	Bytes    int64  // to be read; Unknown where the source does not say
	Refuse   string // why it cannot be done; "" when it can
	Notes    []string
}

// CopyTopic is one topic of a plan.
type CopyTopic struct {
	From, To   string
	Partitions []CopyPartition
	Create     bool // it is not there yet
	Records    Count
	Bytes      int64          // Unknown where the source does not say
	Configs    []ConfigChange // to be set once all is copied and verified
	Note       string
}

// CopyPartition is what is copied of one partition: what a consumer of committed records is given at the time of the plan.
type CopyPartition struct {
	Partition int32
	From, To  int64 // offsets on the source: [From, To)
	// There is the log on the other side, [Start, End), which holds what an earlier copy has written.
	Start, End int64
}

// CopyGroup is one group of a plan.
type CopyGroup struct {
	Group string
	Rows  int // offsets to be copied
	// Over counts those that take the place of others.
	Over int
	Note string
}

// CopyPhase is what a copy is at.
type CopyPhase string

// The phases of a copy, in their order.
const (
	CopyChecks   CopyPhase = "checked" // what is there already
	CopyCopies   CopyPhase = "copied"
	CopyVerifies CopyPhase = "verified"
	CopyGroups   CopyPhase = "groups"
)

// CopyEvent tells how far a copy has come. All figures are sums over its topics.
type CopyEvent struct {
	Phase   CopyPhase
	Records int64 // done in this phase
	Bytes   int64 // of batches, as they lie
	// Done and All are offsets of the source: gone through in this phase, and all there are.
	Done, All int64
}

// CopyResult is what came of a copy.
type CopyResult struct {
	Records, Bytes int64 // written now
	Before         int64 // records that an earlier copy had written
	Partitions     []CopiedPartition
	Groups         []CopiedGroup
	Topics         []string // that were made
	Faults         []Fault  // damaged batches of the source, which were left out
	Notes          []string
}

// Differs reports whether a partition is not the same on both sides.
func (r *CopyResult) Differs() bool {
	for i := range r.Partitions {
		if r.Partitions[i].Differ != "" {
			return true
		}
	}
	return false
}

// Bad reports whether anything is not as it should be.
func (r *CopyResult) Bad() bool {
	for i := range r.Groups {
		if r.Groups[i].Err != nil {
			return true
		}
	}
	return len(r.Faults) > 0 || r.Differs()
}

// CopiedPartition is one partition of a copy that was made.
type CopiedPartition struct {
	From, To TopicPartition
	Records  int64 // on the other side, those of an earlier copy too
	// Recoded counts batches that could not be passed through as they lie.
	Recoded  int64
	Verified bool
	// Checksum is a CRC-64 (ECMA) of keys, values, headers and times in the order of the log: the same on both sides where
	// Verified is set.
	Checksum uint64
	Differ   string // what is not the same on both sides; "" for nothing
}

// CopiedGroup is one group whose offsets were stored and read back.
type CopiedGroup struct {
	Group string
	Rows  []CopiedOffset
	Err   error
}

// CopiedOffset is a committed offset on both sides.
type CopiedOffset struct {
	TopicPartition       // on the other side
	From, To       int64 // committed on the source, and what it is there
	Note           string
}

// Copier copies between two sources.
type Copier interface {
	Plan(ctx context.Context, q CopyQuery) (CopyPlan, error)
	// Apply does what a plan says. Where it ends early, another one with CopyQuery.Resume goes on.
	Apply(ctx context.Context, p CopyPlan, tell func(CopyEvent)) (CopyResult, error)
}

// RawBatch is a batch as it lies.
type RawBatch struct {
	Bytes   []byte // the whole batch; valid until the callback returns
	Aborted bool   // it is of a transaction that was aborted
}

// ScanQuery says which batches to give.
type ScanQuery struct {
	TP       TopicPartition
	From, To int64       // offsets [From, To)
	Fault    func(Fault) // told of damage, which is passed over; nil means that nobody wants to know
}

// BatchScanner is the ability to give batches as they lie, all of a partition.
type BatchScanner interface {
	// ScanBounds returns the log start and the last stable offset: all in between is decided. ErrNoTopic, ErrNoPartition.
	ScanBounds(ctx context.Context, tp TopicPartition) (start, stable int64, err error)
	// ScanBatches gives fn the batches that reach into the query's offsets, in order; control batches are among them. What
	// has been deleted meanwhile is passed over. An error of fn ends it and is returned.
	ScanBatches(ctx context.Context, q ScanQuery, fn func(RawBatch) error) error
}

// BatchSender is the ability to append batches as they are, each to its partition.
type BatchSender interface {
	// NewProducer returns the id and the epoch for a new idempotent producer.
	NewProducer(ctx context.Context) (id int64, epoch int16, err error)
	// SendBatch sends one batch. It returns once the batch has its place in the order of all that go to its partition;
	// answer waits for what comes of it: its first offset, Unknown where that is not told of one that is there already.
	// Errors of answer have a method Again() bool where another try may help. The batch is the callee's until answer has
	// returned.
	SendBatch(ctx context.Context, tp TopicPartition, batch []byte) (answer func() (base int64, err error))
}
