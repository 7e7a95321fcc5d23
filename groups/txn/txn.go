package txn

import (
	"sync"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// Options says what a Coordinator works with. Without a Store nothing outlives the process.
type Options struct {
	Store Store
	Now   func() time.Time // nil means time.Now
	// FirstID returns the least producer id that no log holds; it is asked once, before the first id of all is handed
	// out. nil means 0.
	FirstID func() int64
}

// Store keeps transactional ids and hands out producer ids; groups.Txns is one.
type Store interface {
	NextProducerIDs(n, floor int64) (first int64, err error)
	Load() ([]groups.TxnRecord, error)
	Save(groups.TxnRecord) error
	Delete(ids []string) error
}

// Coordinator coordinates transactions. Its methods may be called from any goroutine.
type Coordinator struct {
	o   Options
	ids idBlock
}

// New returns a Coordinator that takes up what the Store knows.
func New(o Options) (*Coordinator, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Coordinator{o: o}
	return c, nil
}

// Close ends what runs behind.
func (c *Coordinator) Close() error { return nil }

// Verify says whether a producer may append a transactional batch to a partition: None when the partition is part of its
// open transaction. From version 12 of Produce on the partition is added to it, and the transaction begun, where that is
// needed.
func (c *Coordinator) Verify(transactionalID string, producerID int64, epoch int16, tp model.TopicPartition, version int16) groups.Code {
	return groups.InvalidProducerIDMapping
}

// idBlockSize is how many producer ids are taken from the store at once, as in Kafka.
const idBlockSize = 1000

// idBlock is the producer ids that were taken from the store and not handed out yet.
type idBlock struct {
	mu         sync.Mutex
	next, end  int64
	floorAsked bool
}

// NextProducerID returns a producer id that was never given before.
func (c *Coordinator) NextProducerID() (int64, error) {
	b := &c.ids
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == b.end {
		floor := int64(0)
		if !b.floorAsked && c.o.FirstID != nil {
			floor = c.o.FirstID()
		}
		first, err := c.o.Store.NextProducerIDs(idBlockSize, floor)
		if err != nil {
			return -1, err
		}
		b.next, b.end, b.floorAsked = first, first+idBlockSize, true
	}
	b.next++
	return b.next - 1, nil
}

// InitRequest asks for a producer id.
type InitRequest struct {
	TransactionalID string // only where Transactional is set
	Transactional   bool
	Timeout         int64 // ms
	ProducerID      int64 // as the client had it; -1 for none
	Epoch           int16 // likewise
}

// Producer is a producer id with its epoch.
type Producer struct {
	ID    int64
	Epoch int16
}

// noProducer is the answer where there is none.
var noProducer = Producer{ID: -1, Epoch: -1}

// InitProducerID gives a producer its id: a new one to each that has no transactional id.
func (c *Coordinator) InitProducerID(r InitRequest) (Producer, groups.Code) {
	switch {
	case r.Transactional && r.TransactionalID == "", (r.ProducerID < 0) != (r.Epoch < 0):
		return noProducer, groups.InvalidRequest
	case !r.Transactional:
		id, err := c.NextProducerID()
		if err != nil {
			return noProducer, groups.CoordinatorNotAvailable
		}
		return Producer{ID: id}, groups.None
	}
	return noProducer, groups.CoordinatorNotAvailable
}
