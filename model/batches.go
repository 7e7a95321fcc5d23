package model

import "context"

// BatchRun is a run of a partition's batches, as a broker gives them: their Position is Unknown.
type BatchRun struct {
	// Batches come in ascending order. The first one holds the offset asked for, or is the next behind it.
	Batches []Batch
	Next    int64 // the offset to ask from for what follows
	// Start and End are the log start and the high watermark at the time of the read. Next >= End says that there is no more.
	Start, End int64
}

// BatchLister is the ability to tell of a partition's batches where no files are to be seen. Data, control batches and what
// was aborted or is undecided are all among them.
type BatchLister interface {
	// ListBatches returns up to max batches from an offset on; max 0 means 200. FromStart is the log start, as is any offset
	// below it, and FromEnd the offset max before the log end. About 4 MiB are read, or one batch where that is larger.
	// ErrNoTopic, ErrNoPartition.
	ListBatches(ctx context.Context, tp TopicPartition, from int64, max int) (BatchRun, error)
}
