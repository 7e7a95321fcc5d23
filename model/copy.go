package model

import "context"

// CopyQuery says what to copy from one source to another.
type CopyQuery struct {
	Topics  []string
	Configs bool     // give topics that are made the configs of those they are copied from
	Groups  []string // groups whose offsets are to be copied; nil means none
	// Rename gives a topic another name on the other side.
	Rename map[string]string
	// Resume goes on where an earlier copy of the same topics was cut short.
	Resume bool
}

// CopyPlan says what a copy would do. It is shown before it is done.
type CopyPlan struct {
	Query  CopyQuery
	Topics []CopyTopic
	Groups []CopyGroup
	Bytes  int64  // to be read; Unknown where the source does not say
	Refuse string // why it cannot be done; "" when it can
	Notes  []string
}

// CopyTopic is one topic of a plan.
type CopyTopic struct {
	From, To   string
	Partitions int
	Create     bool // it is not there yet
	Records    Count
	Configs    []ConfigChange
	Note       string
}

// CopyGroup is one group of a plan.
type CopyGroup struct {
	Group string
	Rows  int // offsets to be copied
	Note  string
}

// CopyEvent tells how far a copy has come.
type CopyEvent struct {
	At         TopicPartition
	Records    int64 // copied so far, in all
	Bytes, All int64
	Verified   bool // At was read back and is the same
}

// CopyResult is what came of a copy.
type CopyResult struct {
	Records, Bytes int64
	Groups         int
	Differ         []Fault // what was not the same when it was read back
}

// Copier copies between two sources.
type Copier interface {
	Plan(ctx context.Context, q CopyQuery) (CopyPlan, error)
	Apply(ctx context.Context, p CopyPlan, tell func(CopyEvent)) (CopyResult, error)
}
