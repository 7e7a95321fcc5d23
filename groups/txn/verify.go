package txn

import (
	"sync"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// appendable is what producers may append to within their transactions. It is looked at with every transactional batch.
type appendable struct {
	mu   sync.RWMutex
	open map[int64]*openTxn // by producer id
}

// openTxn is an open transaction's partitions; guarded by appendable's mu.
type openTxn struct {
	epoch int16
	count int // partitions of the record that are in parts
	parts map[model.TopicPartition]struct{}
}

// give makes the partitions of a transaction that is Ongoing its producer's to append to.
func (a *appendable) give(rec groups.TxnRecord) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := a.open[rec.ProducerID]
	if o == nil {
		o = &openTxn{epoch: rec.Epoch, parts: map[model.TopicPartition]struct{}{}}
		a.open[rec.ProducerID] = o
	}
	for _, tp := range rec.Partitions[o.count:] { // they are only ever added to
		o.parts[tp] = struct{}{}
	}
	o.count = len(rec.Partitions)
}

// take ends that.
func (a *appendable) take(producerID int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, producerID)
}

func (a *appendable) has(p Producer, tp model.TopicPartition) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	o := a.open[p.ID]
	if o == nil || o.epoch != p.Epoch {
		return false
	}
	_, ok := o.parts[tp]
	return ok
}

// MayAppend reports whether a partition is part of a producer's open transaction. It waits for no disk. A log asks,
// locked, before a batch opens a transaction in it.
func (c *Coordinator) MayAppend(tp model.TopicPartition, producerID int64, epoch int16) bool {
	return c.appendable.has(Producer{producerID, epoch}, tp)
}

// Verify says whether a producer may append a transactional batch to a partition: None when the partition is part of its
// open transaction. From version 12 of Produce on the partition is added to it, and the transaction begun, where that is
// needed; it then returns when that is on the disk.
func (c *Coordinator) Verify(transactionalID string, producerID int64, epoch int16, tp model.TopicPartition, version int16) groups.Code {
	p := Producer{producerID, epoch}
	if c.appendable.has(p, tp) {
		return groups.None
	}
	if version >= 12 {
		code := c.AddPartitions(transactionalID, p, []model.TopicPartition{tp}, 2)
		if code == groups.ProducerFenced {
			return groups.InvalidProducerEpoch
		}
		return code
	}
	switch code := c.VerifyPartition(transactionalID, p, tp); {
	case code == groups.ProducerFenced:
		return groups.InvalidProducerEpoch
	case code == groups.ConcurrentTransactions:
		return groups.NotEnoughReplicas // these clients know of no other that is to be tried again
	case code == groups.TransactionAbortable && version < 11:
		return groups.InvalidTxnState
	default:
		return code
	}
}

// VerifyPartition says whether a partition is part of a producer's open transaction, and changes nothing.
func (c *Coordinator) VerifyPartition(transactionalID string, p Producer, tp model.TopicPartition) groups.Code {
	t, code := c.at(transactionalID, p)
	if code != groups.None {
		return code
	}
	defer t.mu.Unlock()
	if !c.appendable.has(p, tp) {
		return groups.TransactionAbortable
	}
	return groups.None
}
