package txn

import (
	"math"
	"sync"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// idBlockSize is how many producer ids are taken from the store at once, as in Kafka.
const idBlockSize = 1000

// lastEpoch is the highest epoch that a producer is given: one more is left, to fence it with.
const lastEpoch = math.MaxInt16 - 1

// idBlock is the producer ids that were taken from the store and not handed out yet.
type idBlock struct {
	mu        sync.Mutex
	next, end int64
}

// nextID returns a producer id that was never given before.
func (c *Coordinator) nextID() (int64, error) {
	b := &c.ids
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == b.end {
		first, err := c.o.Store.NextProducerIDs(idBlockSize, c.o.FirstID)
		if err != nil {
			return -1, err
		}
		b.next, b.end = first, first+idBlockSize
	}
	b.next++
	return b.next - 1, nil
}

// InitRequest asks for a producer id.
type InitRequest struct {
	TransactionalID string // only where Transactional is set
	Transactional   bool
	Timeout         int64    // ms, of each transaction
	Expected        Producer // what the client had; -1, -1 for nothing
}

// InitProducerID gives a producer its id: a new one to each that has no transactional id, else that of the transactional
// id with the next epoch, which fences whoever had it before. An open transaction is aborted, and the client told to come
// again.
func (c *Coordinator) InitProducerID(r InitRequest) (Producer, groups.Code) {
	switch {
	case r.Transactional && r.TransactionalID == "", (r.Expected.ID < 0) != (r.Expected.Epoch < 0):
		return noProducer, groups.InvalidRequest
	case !r.Transactional:
		id, err := c.nextID()
		if err != nil {
			return noProducer, groups.CoordinatorNotAvailable
		}
		return Producer{ID: id}, groups.None
	case r.Timeout <= 0 || r.Timeout > c.o.MaxTimeout.Milliseconds():
		return noProducer, groups.InvalidTransactionTimeout
	}
	t := c.make(r.TransactionalID)
	defer t.mu.Unlock()
	next, code := c.init(t, r)
	if code != groups.None {
		return noProducer, code
	}
	if err := c.save(t, next, "init"); err != nil {
		c.unmake(t, r.TransactionalID)
		return noProducer, failed(err)
	}
	return Producer{t.rec.ProducerID, t.rec.Epoch}, groups.None
}

// make returns a transactional id, locked, and begins it where it is not known.
func (c *Coordinator) make(id string) *txn {
	for {
		c.mu.Lock()
		t := c.byID[id]
		if t == nil {
			t = &txn{}
			c.byID[id] = t
		}
		c.mu.Unlock()
		t.mu.Lock()
		if !t.gone {
			return t
		}
		t.mu.Unlock()
	}
}

// unmake forgets a transactional id that was never stored. t.mu is held.
func (c *Coordinator) unmake(t *txn, id string) {
	if t.made {
		return
	}
	t.gone = true
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, id)
}

// init returns what InitProducerId makes of a transactional id. t.mu is held.
func (c *Coordinator) init(t *txn, r InitRequest) (groups.TxnRecord, groups.Code) {
	next := t.rec
	next.Timeout, next.Updated, next.State, next.Started = r.Timeout, c.nowMS(), model.TxnEmpty, model.NoTime
	if !t.made {
		id, err := c.nextID()
		if err != nil {
			c.unmake(t, r.TransactionalID)
			return next, groups.CoordinatorNotAvailable
		}
		next.ID, next.ProducerID, next.PrevProducerID, next.NextProducerID, next.LastEpoch = r.TransactionalID, id, -1, -1, -1
		return next, groups.None
	}
	given := r.Expected.ID >= 0
	known := r.Expected.ID == t.rec.ProducerID || r.Expected.ID == t.rec.PrevProducerID && r.Expected.Epoch >= lastEpoch
	switch {
	case given && !known:
		return next, groups.ProducerFenced
	case preparing(t.rec.State):
		return next, groups.ConcurrentTransactions
	case t.rec.State == model.TxnOngoing:
		if given && r.Expected.Epoch != t.rec.Epoch {
			return next, groups.ProducerFenced
		}
		if err := c.fence(t); err != nil && t.rec.State == model.TxnOngoing {
			return next, groups.CoordinatorNotAvailable
		}
		return next, groups.ConcurrentTransactions
	case given && r.Expected.Epoch != t.rec.Epoch:
		if r.Expected.Epoch != t.rec.LastEpoch {
			return next, groups.ProducerFenced
		}
		return next, groups.None // it asks again, for the answer was lost
	case t.rec.Epoch >= lastEpoch:
		id, err := c.nextID()
		if err != nil {
			return next, groups.CoordinatorNotAvailable
		}
		next.PrevProducerID, next.ProducerID, next.Epoch, next.LastEpoch = t.rec.ProducerID, id, 0, -1
		if given {
			next.LastEpoch = t.rec.Epoch
		}
	default:
		next.Epoch, next.LastEpoch = t.rec.Epoch+1, t.rec.Epoch
	}
	return next, groups.None
}
