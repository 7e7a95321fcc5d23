package meta

import (
	"fmt"

	"github.com/strata-kafka/strata/model"
)

// TxnStatus is the state of a transactional id.
type TxnStatus int8

// The states, in the order of their numbers.
const (
	TxnEmpty TxnStatus = iota
	TxnOngoing
	TxnPrepareCommit
	TxnPrepareAbort
	TxnCompleteCommit
	TxnCompleteAbort
	TxnDead
	TxnPrepareEpochFence
)

// String returns the name that Kafka's tools print.
func (s TxnStatus) String() string {
	names := [...]string{"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("status %d", int8(s))
	}
	return names[s]
}

// Txn is the value of a record of __transaction_state.
type Txn struct {
	Version            int16
	ProducerID         int64
	ProducerEpoch      int16
	TimeoutMS          int32
	Status             TxnStatus
	Partitions         []model.TopicPartition
	UpdatedAt          int64 // ms
	StartedAt          int64 // ms; -1 for none
	PreviousProducerID int64 // -1 where not written
	NextProducerID     int64 // -1 where not written
	ClientVersion      int16 // 0 where not written
}

// ParseTransactionKey reads a key of __transaction_state: the transactional id.
func ParseTransactionKey(key []byte) (string, error) {
	m, err := parseValue(txnKeySchemas(), 0, key)
	return m.Fields.text("transactionalId"), err
}

// ParseTransactionValue reads a value of __transaction_state.
func ParseTransactionValue(value []byte) (Txn, error) {
	m, err := parseValue(txnValueSchemas(), 0, value)
	f := m.Fields
	t := Txn{
		Version: m.Version, ProducerID: f.number("producerId", -1), ProducerEpoch: int16(f.number("producerEpoch", -1)),
		TimeoutMS: int32(f.number("transactionTimeoutMs", 0)), Status: TxnStatus(f.number("transactionStatus", 0)),
		UpdatedAt: f.number("transactionLastUpdateTimestampMs", model.NoTime), StartedAt: f.number("transactionStartTimestampMs", model.NoTime),
		PreviousProducerID: f.number("previousProducerId", -1), NextProducerID: f.number("nextProducerId", -1),
		ClientVersion: int16(f.number("clientTransactionVersion", 0)),
	}
	for _, p := range f.parts("transactionPartitions") {
		for _, n := range p.numbers("partitionIds") {
			t.Partitions = append(t.Partitions, model.TopicPartition{Topic: p.text("topic"), Partition: n})
		}
	}
	return t, err
}
