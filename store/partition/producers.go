package partition

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// ProducerReason sorts what is wrong with a producer's batch, as a broker answers it.
type ProducerReason int8

// The reasons.
const (
	OutOfOrder        ProducerReason = iota // OUT_OF_ORDER_SEQUENCE_NUMBER
	OldEpoch                                // INVALID_PRODUCER_EPOCH
	BadTxnState                             // INVALID_TXN_STATE
	CoordinatorFenced                       // TRANSACTION_COORDINATOR_FENCED
)

// ProducerError says why a producer's batch is not the next one.
type ProducerError struct {
	Reason     ProducerReason
	ProducerID int64
	What       string
}

// Error says what is wrong.
func (e *ProducerError) Error() string { return fmt.Sprintf("producer %d: %s", e.ProducerID, e.What) }

// memory is how many batches of a producer are remembered, to know a repeated one.
const memory = 5

// batchMemo is a batch that a producer wrote.
type batchMemo struct {
	firstSeq, lastSeq int32
	lastOffset        int64
	offsetDelta       int32
	timestamp         int64
}

// producer is what is remembered of one producer id.
type producer struct {
	epoch            int16 // -1: none is known
	batches          []batchMemo
	timestamp        int64
	coordinatorEpoch int32
	txnFirst         int64 // first offset of the open transaction; Unknown for none
}

func (p producer) lastSeq() int32 {
	if n := len(p.batches); n > 0 {
		return p.batches[n-1].lastSeq
	}
	return record.NoSequence
}

// producers is a partition's producer state. What is staged is seen by the checks that follow it, and becomes part of
// the state with commit, or is forgotten with discard.
//
// Invariants:
//   - open holds the first offset of each transaction that is open in known
type producers struct {
	known  map[int64]producer
	staged map[int64]producer
	open   map[int64]int64 // by producer id: every append asks for the least, and few of many producers have one
}

func newProducers() *producers {
	return &producers{known: map[int64]producer{}, staged: map[int64]producer{}, open: map[int64]int64{}}
}

// set takes what is known of a producer.
func (s *producers) set(id int64, p producer) {
	s.known[id] = p
	if p.txnFirst >= 0 {
		s.open[id] = p.txnFirst
	} else {
		delete(s.open, id)
	}
}

func (s *producers) get(id int64) producer {
	if p, ok := s.staged[id]; ok {
		return p
	}
	if p, ok := s.known[id]; ok {
		return p
	}
	return producer{epoch: -1, timestamp: model.NoTime, coordinatorEpoch: -1, txnFirst: model.Unknown}
}

// TxnGuard knows the transactions that are open.
type TxnGuard interface {
	// MayAppend reports whether a partition is part of a producer's open transaction. It is asked with the log locked and
	// must not wait.
	MayAppend(tp model.TopicPartition, producerID int64, epoch int16) bool
}

// check says whether a batch is its producer's next one. dup is a batch that is in the log already. A control batch,
// and one without a producer, always is; see stageMarker.
func (s *producers) check(h record.Header, internal bool) (dup *batchMemo, err error) {
	if !h.HasProducer() || h.Control() || h.BaseSequence < 0 {
		return nil, nil
	}
	p := s.get(h.ProducerID)
	bad := func(r ProducerReason, format string, args ...any) (*batchMemo, error) {
		return nil, &ProducerError{Reason: r, ProducerID: h.ProducerID, What: fmt.Sprintf(format, args...)}
	}
	first, last := h.BaseSequence, h.LastSequence()
	if h.ProducerEpoch == p.epoch {
		for i := range p.batches {
			if b := &p.batches[i]; b.firstSeq == first && b.lastSeq == last {
				return b, nil
			}
		}
	}
	switch {
	case h.ProducerEpoch < p.epoch:
		return bad(OldEpoch, "epoch %d is older than %d", h.ProducerEpoch, p.epoch)
	case h.ProducerEpoch > p.epoch:
		if first != 0 && p.epoch != -1 {
			return bad(OutOfOrder, "a new epoch begins with sequence %d, not 0", first)
		}
	case p.lastSeq() >= 0 && first != record.AddSequence(p.lastSeq(), 1):
		return bad(OutOfOrder, "sequence %d follows %d", first, p.lastSeq())
	case p.lastSeq() < 0 && first != 0: // a marker began the epoch
		return bad(OutOfOrder, "the epoch begins with sequence %d, not 0", first)
	}
	if p.txnFirst >= 0 && !h.Transactional() && !internal {
		return bad(BadTxnState, "a batch outside of the transaction that is open since offset %d", p.txnFirst)
	}
	return nil, nil
}

// opens reports whether a batch would open a transaction in the log.
func (s *producers) opens(h record.Header) bool {
	return h.Transactional() && !h.Control() && h.HasProducer() && s.get(h.ProducerID).txnFirst < 0
}

// stage takes note of a data batch with its offsets assigned.
func (s *producers) stage(h record.Header) {
	if !h.HasProducer() || h.Control() {
		return
	}
	p := s.get(h.ProducerID)
	if h.ProducerEpoch > p.epoch || p.epoch == -1 {
		p.epoch, p.batches = h.ProducerEpoch, nil
	}
	if h.BaseSequence >= 0 {
		kept := p.batches[max(0, len(p.batches)-memory+1):]
		p.batches = append(slices.Clone(kept), batchMemo{h.BaseSequence, h.LastSequence(), h.LastOffset(), h.LastOffsetDelta, h.MaxTimestamp})
	}
	p.timestamp = h.MaxTimestamp
	if h.Transactional() && p.txnFirst < 0 {
		p.txnFirst = h.BaseOffset
	}
	s.staged[h.ProducerID] = p
}

// txnEnd is what a marker ended.
type txnEnd struct {
	aborted bool  // a transaction was open, and is aborted
	first   int64 // its first offset
}

// stageMarker takes note of a control batch. Control batches that are no markers change nothing.
func (s *producers) stageMarker(h record.Header, batch []byte) (txnEnd, error) {
	end := txnEnd{first: model.Unknown}
	if !h.HasProducer() {
		return end, nil
	}
	var r record.Reader
	if err := r.Reset(batch); err != nil {
		return end, err
	}
	if !r.Next() {
		return end, r.Err() // a marker that compaction emptied
	}
	c, err := record.ParseControl(r.Record().Key, r.Record().Value)
	if err != nil || !c.Type.Marker() {
		return end, err
	}
	p := s.get(h.ProducerID)
	switch {
	case h.ProducerEpoch < p.epoch:
		return end, &ProducerError{OldEpoch, h.ProducerID, fmt.Sprintf("the marker's epoch %d is older than %d", h.ProducerEpoch, p.epoch)}
	case c.CoordinatorEpoch < p.coordinatorEpoch:
		return end, &ProducerError{CoordinatorFenced, h.ProducerID, fmt.Sprintf("the coordinator's epoch %d is older than %d", c.CoordinatorEpoch, p.coordinatorEpoch)}
	}
	if h.ProducerEpoch > p.epoch {
		p.epoch, p.batches = h.ProducerEpoch, nil
	}
	if p.txnFirst >= 0 {
		end.aborted, end.first = c.Type == record.Abort, p.txnFirst
	}
	p.txnFirst, p.coordinatorEpoch, p.timestamp = model.Unknown, c.CoordinatorEpoch, h.MaxTimestamp
	s.staged[h.ProducerID] = p
	return end, nil
}

func (s *producers) commit() {
	for id, p := range s.staged {
		s.set(id, p)
	}
	clear(s.staged)
}

func (s *producers) discard() { clear(s.staged) }

// firstOpen returns the least first offset of the open transactions.
func (s *producers) firstOpen() (int64, bool) {
	first := int64(math.MaxInt64)
	for _, o := range s.open {
		first = min(first, o)
	}
	return first, first != math.MaxInt64
}

// stableAfter returns the last stable offset once a producer's transaction is over: the first offset of another one
// that is still open, else next.
func (s *producers) stableAfter(id, next int64) int64 {
	for other, first := range s.open {
		if other != id {
			next = min(next, first)
		}
	}
	return next
}

// expire forgets the producers that have written nothing since before and have no open transaction.
func (s *producers) expire(before int64) {
	for id, p := range s.known {
		if p.txnFirst < 0 && p.timestamp < before {
			delete(s.known, id)
		}
	}
}

// entries returns what a snapshot holds, by producer id.
func (s *producers) entries() []layout.ProducerEntry {
	list := make([]layout.ProducerEntry, 0, len(s.known))
	for id, p := range s.known {
		e := layout.ProducerEntry{ProducerID: id, Epoch: p.epoch, LastSequence: record.NoSequence, LastOffset: model.Unknown,
			Timestamp: p.timestamp, CoordinatorEpoch: p.coordinatorEpoch, TxnFirst: p.txnFirst}
		if n := len(p.batches); n > 0 {
			b := p.batches[n-1]
			e.LastSequence, e.LastOffset, e.OffsetDelta = b.lastSeq, b.lastOffset, b.offsetDelta
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b layout.ProducerEntry) int { return cmp.Compare(a.ProducerID, b.ProducerID) })
	return list
}

// adopt takes over a snapshot's entries.
func (s *producers) adopt(list []layout.ProducerEntry) {
	for _, e := range list {
		p := producer{epoch: e.Epoch, timestamp: e.Timestamp, coordinatorEpoch: e.CoordinatorEpoch, txnFirst: e.TxnFirst}
		if e.LastSequence >= 0 {
			first := e.LastSequence - e.OffsetDelta
			if first < 0 { // the sequence went round
				first += math.MaxInt32
				first++
			}
			p.batches = []batchMemo{{first, e.LastSequence, e.LastOffset, e.OffsetDelta, e.Timestamp}}
		}
		s.set(e.ProducerID, p)
	}
}

// ProducerState is what a partition remembers of a producer.
type ProducerState struct {
	ProducerID       int64
	Epoch            int16
	LastSequence     int32 // -1 for none
	LastOffset       int64 // Unknown for none
	CoordinatorEpoch int32 // -1 for none
	TxnFirst         int64 // first offset of the open transaction; Unknown for none
	Timestamp        int64 // ms
}

// Producers returns the producers that the log remembers, by id.
func (l *Log) Producers() ([]ProducerState, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.activate(); err != nil {
		return nil, err
	}
	var list []ProducerState
	for _, e := range l.producers.entries() {
		list = append(list, ProducerState{e.ProducerID, e.Epoch, e.LastSequence, e.LastOffset, e.CoordinatorEpoch, e.TxnFirst, e.Timestamp})
	}
	return list, nil
}
