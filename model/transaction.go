package model

import "context"

// TransactionState is the state of a transaction, named as Kafka's tools print it.
type TransactionState string

// The states of a transaction.
const (
	TxnEmpty          TransactionState = "Empty"
	TxnOngoing        TransactionState = "Ongoing"
	TxnPrepareCommit  TransactionState = "PrepareCommit"
	TxnPrepareAbort   TransactionState = "PrepareAbort"
	TxnCompleteCommit TransactionState = "CompleteCommit"
	TxnCompleteAbort  TransactionState = "CompleteAbort"
	TxnDead           TransactionState = "Dead"
)

// Open reports whether records of the transaction wait for its end.
func (s TransactionState) Open() bool {
	return s == TxnOngoing || s == TxnPrepareCommit || s == TxnPrepareAbort
}

// Transaction is what a transaction coordinator knows of a transactional id.
type Transaction struct {
	ID         string // transactional.id
	ProducerID int64
	Epoch      int16
	State      TransactionState
	Timeout    int64 // ms
	Started    int64 // ms, when the open transaction began; NoTime where none is open
	Updated    int64 // ms
	Partitions []TopicPartition
	Groups     []string // whose offsets the transaction commits
}

// ProducerState is what a partition remembers of a producer.
type ProducerState struct {
	TopicPartition
	ProducerID       int64
	Epoch            int16
	LastSequence     int32 // -1 for none
	LastOffset       int64 // Unknown for none
	LastTimestamp    int64 // ms
	CoordinatorEpoch int32 // -1 for none
	TxnFirst         int64 // first offset of the open transaction; Unknown for none
}

// TransactionReader is the ability to see transactions and producers.
type TransactionReader interface {
	Transactions(ctx context.Context) ([]Transaction, error) // by id
	// Producers returns the producers that a partition remembers, by id. ErrNoTopic, ErrNoPartition.
	Producers(ctx context.Context, tp TopicPartition) ([]ProducerState, error)
}
