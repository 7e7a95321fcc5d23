package txn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// Options says what a Coordinator works with. Store and Markers are needed.
type Options struct {
	Store   Store
	Markers Markers
	Now     func() time.Time // nil means time.Now
	// FirstID returns a producer id that is higher than all that logs hold. It is asked where the Store does not know of
	// any that was handed out; nil means 0.
	FirstID func() int64
	// MaxTimeout is transaction.max.timeout.ms; 0 means 15 minutes.
	MaxTimeout time.Duration
	// Expiry is transactional.id.expiration.ms: how long a transactional id without a transaction is kept; 0 means 7 days.
	Expiry time.Duration
	// Changed is told when a transaction has moved, and whether offsets of groups came with it. It must not wait. nil
	// means that nobody wants to know.
	Changed func(offsets bool)
	// Step is called between the steps of a transaction, with the name of what is next; an error stops there as a
	// killed process would. nil means nothing. It is for tests.
	Step func(next string) error
}

// Store keeps transactional ids, with the offsets that wait for their transactions, and hands out producer ids. What it
// was given is on the disk when it returns. groups.Txns is one.
type Store interface {
	// NextProducerIDs takes the next n producer ids. floor is asked where none were ever taken, for the least of them.
	NextProducerIDs(n int64, floor func() int64) (first int64, err error)
	Load() ([]groups.TxnRecord, error)
	Save(groups.TxnRecord) error
	// SaveOffsets stores a transactional id together with offsets that become a group's when the transaction is committed.
	SaveOffsets(rec groups.TxnRecord, group string, commits []model.Commit) error
	// Complete stores a transactional id, and with it makes the offsets of the producer committed, or drops them.
	Complete(rec groups.TxnRecord, producerID int64, commit bool) error
	Delete(ids []string) error
}

// Marker is the end of a transaction in a partition.
type Marker struct {
	ProducerID       int64
	Epoch            int16
	CoordinatorEpoch int32
	Commit           bool
}

// Markers writes the ends of transactions into logs. A partition that is there no more needs none: that is no error.
type Markers interface {
	WriteMarker(ctx context.Context, tp model.TopicPartition, m Marker) error
}

const (
	defaultMaxTimeout = 15 * time.Minute
	defaultExpiry     = 7 * 24 * time.Hour
	expireEvery       = time.Hour
	retryAfter        = time.Second // what the disk refused is tried again
	// coordinatorEpoch stands in every marker; Kafka counts its coordinator's moves there, and here it never moves.
	coordinatorEpoch = 0
)

// Producer is a producer id with its epoch.
type Producer struct {
	ID    int64
	Epoch int16
}

// noProducer is the answer where there is none.
var noProducer = Producer{ID: -1, Epoch: -1}

// Coordinator coordinates transactions. Its methods may be called from any goroutine; those that change a transaction
// return when the change is on the disk.
//
// Invariants:
//   - a txn in byID is stored, but for one that is being made and whose mu is held
//   - appendable holds exactly the partitions of the transactions that are Ongoing
type Coordinator struct {
	o          Options
	ids        idBlock
	appendable appendable
	ctx        context.Context // ends with Close
	stop       context.CancelFunc

	mu     sync.Mutex
	byID   map[string]*txn
	stuck  map[string]error // what was prepared and cannot be completed for now, by transactional id
	expiry *time.Timer
	closed bool
	timers sync.WaitGroup // what timers run
}

// txn is a transactional id. mu is held while a step is stored, so that one follows the other.
type txn struct {
	mu    sync.Mutex
	rec   groups.TxnRecord
	made  bool // rec was stored once
	gone  bool // it has expired, and is in byID no more
	timer *time.Timer
}

// New returns a Coordinator that takes up what the Store knows: what was prepared is completed, and what is open has its
// time go on.
func New(o Options) (*Coordinator, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxTimeout == 0 {
		o.MaxTimeout = defaultMaxTimeout
	}
	if o.Expiry == 0 {
		o.Expiry = defaultExpiry
	}
	if o.FirstID == nil {
		o.FirstID = func() int64 { return 0 }
	}
	if o.Changed == nil {
		o.Changed = func(bool) {}
	}
	if o.Step == nil {
		o.Step = func(string) error { return nil }
	}
	recs, err := o.Store.Load()
	if err != nil {
		return nil, err
	}
	c := &Coordinator{o: o, byID: map[string]*txn{}, stuck: map[string]error{}, appendable: appendable{open: map[int64]*openTxn{}}}
	c.ctx, c.stop = context.WithCancel(context.Background())
	for _, rec := range recs {
		t := &txn{made: true}
		c.byID[rec.ID] = t
		t.mu.Lock()
		c.become(t, rec)
		t.mu.Unlock()
	}
	c.expireLater()
	return c, nil
}

// Close ends what runs behind, and leaves every transaction as it is.
func (c *Coordinator) Close() error {
	c.mu.Lock()
	c.closed = true
	c.expiry.Stop()
	c.mu.Unlock()
	c.stop()
	c.timers.Wait()
	return nil
}

func (c *Coordinator) nowMS() int64 { return c.o.Now().UnixMilli() }

// find returns the transactional id, nil where it is not known.
func (c *Coordinator) find(id string) *txn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byID[id]
}

// at returns the transactional id of a producer, locked, when that may add to a transaction: it is its holder, and none
// is being ended.
func (c *Coordinator) at(id string, p Producer) (*txn, groups.Code) {
	if id == "" {
		return nil, groups.InvalidRequest
	}
	t := c.find(id)
	if t == nil {
		return nil, groups.InvalidProducerIDMapping
	}
	t.mu.Lock()
	code := groups.None
	switch {
	case t.gone, !t.made, t.rec.ProducerID != p.ID:
		code = groups.InvalidProducerIDMapping
	case t.rec.Epoch != p.Epoch:
		code = groups.ProducerFenced
	case preparing(t.rec.State):
		code = groups.ConcurrentTransactions
	}
	if code != groups.None {
		t.mu.Unlock()
		return nil, code
	}
	return t, groups.None
}

func preparing(s model.TransactionState) bool {
	return s == model.TxnPrepareCommit || s == model.TxnPrepareAbort
}

// save stores the next state of a transactional id, and makes it so. t.mu is held.
func (c *Coordinator) save(t *txn, next groups.TxnRecord, name string) error {
	if err := c.o.Step(name); err != nil {
		return err
	}
	if err := c.o.Store.Save(next); err != nil {
		return err
	}
	c.become(t, next)
	c.o.Changed(false)
	return nil
}

// become takes over a state that is stored, with what follows from it. t.mu is held.
func (c *Coordinator) become(t *txn, next groups.TxnRecord) {
	was := t.rec
	t.rec, t.made = next, true
	if was.State == model.TxnOngoing && (next.State != model.TxnOngoing || next.ProducerID != was.ProducerID) {
		c.appendable.take(was.ProducerID)
	}
	switch {
	case next.State == model.TxnOngoing:
		c.appendable.give(next)
		if was.State != model.TxnOngoing {
			c.later(t, time.Duration(next.Started+next.Timeout-c.nowMS())*time.Millisecond, c.timeOut)
		}
	case preparing(next.State) && !preparing(was.State):
		if t.timer == nil { // as it was loaded; else whoever prepared it goes on
			c.later(t, 0, c.again)
		}
	case t.timer != nil:
		t.timer.Stop()
	}
}

// later has something done with a transactional id after a while. t.mu is held, then and now.
func (c *Coordinator) later(t *txn, d time.Duration, do func(*txn)) {
	if t.timer != nil {
		t.timer.Stop()
	}
	t.timer = time.AfterFunc(max(d, 0), func() {
		if !c.enter() {
			return
		}
		defer c.timers.Done()
		t.mu.Lock()
		defer t.mu.Unlock()
		if !t.gone {
			do(t)
		}
	})
}

// enter lets something that a timer has begun go on, which then has to call timers.Done.
func (c *Coordinator) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.timers.Add(1)
	return true
}

// timeOut aborts a transaction whose time is over.
func (c *Coordinator) timeOut(t *txn) {
	if t.rec.State != model.TxnOngoing {
		return
	}
	if wait := t.rec.Started + t.rec.Timeout - c.nowMS(); wait > 0 {
		c.later(t, time.Duration(wait)*time.Millisecond, c.timeOut)
		return
	}
	if err := c.fence(t); err != nil && t.rec.State == model.TxnOngoing {
		c.later(t, retryAfter, c.timeOut)
	}
}

// fence aborts an open transaction with a higher epoch than its holder has.
func (c *Coordinator) fence(t *txn) error {
	next := t.rec
	next.Epoch, next.LastEpoch = next.Epoch+1, -1
	next.State, next.Updated = model.TxnPrepareAbort, c.nowMS()
	if err := c.save(t, next, "prepare"); err != nil {
		return err
	}
	return c.complete(t)
}

// again tries to complete what was prepared.
func (c *Coordinator) again(t *txn) {
	if preparing(t.rec.State) {
		_ = c.complete(t) // it is tried again later
	}
}

// complete writes the markers of a transaction that is prepared, and makes it complete. What fails is tried again later.
// t.mu is held.
func (c *Coordinator) complete(t *txn) error {
	err := c.tryComplete(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		delete(c.stuck, t.rec.ID)
		return nil
	}
	c.stuck[t.rec.ID] = err
	c.later(t, retryAfter, c.again)
	return err
}

// Stuck returns why transactions cannot be completed for now, one line each, by transactional id. It is tried again
// every second.
func (c *Coordinator) Stuck() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(c.stuck)) {
		lines = append(lines, fmt.Sprintf("the transaction of %q cannot be completed: %v", id, c.stuck[id]))
	}
	return lines
}

func (c *Coordinator) tryComplete(t *txn) error {
	rec := t.rec
	commit := rec.State == model.TxnPrepareCommit
	m := Marker{ProducerID: rec.ProducerID, Epoch: rec.Epoch, CoordinatorEpoch: coordinatorEpoch, Commit: commit}
	var errs []error
	for _, tp := range rec.Partitions {
		if err := c.o.Step("marker"); err != nil {
			return err
		}
		if err := c.o.Markers.WriteMarker(c.ctx, tp, m); err != nil {
			errs = append(errs, err) // the others need not wait for a disk that is full
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	offsets := len(rec.Groups) > 0
	next := rec
	next.State, next.Partitions, next.Groups, next.Updated = model.TxnCompleteAbort, nil, nil, c.nowMS()
	if commit {
		next.State = model.TxnCompleteCommit
	}
	if next.NextProducerID >= 0 {
		next.PrevProducerID, next.ProducerID, next.NextProducerID = next.ProducerID, next.NextProducerID, -1
		next.Epoch = 0
	}
	if err := c.o.Step("complete"); err != nil {
		return err
	}
	if err := c.o.Store.Complete(next, rec.ProducerID, commit); err != nil {
		return err
	}
	c.become(t, next)
	c.o.Changed(offsets)
	return c.o.Step("answer")
}

// expireLater has old transactional ids expired now and then.
func (c *Coordinator) expireLater() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.expiry = time.AfterFunc(expireEvery, func() {
		if !c.enter() {
			return
		}
		defer c.timers.Done()
		_, _ = c.Expire() // what fails is tried again in an hour
		c.expireLater()
	})
}

// Expire forgets the transactional ids that had no transaction for Options.Expiry, and returns how many those were.
func (c *Coordinator) Expire() (int, error) {
	before := c.nowMS() - c.o.Expiry.Milliseconds()
	c.mu.Lock()
	all := make([]*txn, 0, len(c.byID))
	for _, t := range c.byID {
		all = append(all, t)
	}
	c.mu.Unlock()
	n := 0
	for _, t := range all {
		gone, err := c.expire(t, before)
		if err != nil {
			return n, err
		}
		if gone {
			n++
		}
	}
	if n > 0 {
		c.o.Changed(false)
	}
	return n, nil
}

func (c *Coordinator) expire(t *txn, before int64) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone || !t.made || t.rec.State.Open() || t.rec.Updated > before {
		return false, nil
	}
	if err := c.o.Store.Delete([]string{t.rec.ID}); err != nil {
		return false, err
	}
	t.gone = true
	c.mu.Lock()
	delete(c.byID, t.rec.ID)
	c.mu.Unlock()
	return true, nil
}
