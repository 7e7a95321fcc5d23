package txn

import (
	"errors"
	"slices"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// AddPartitions makes partitions part of a producer's transaction, and begins one where none is open. version is that of
// the transactions' protocol (0 to 2) which the client speaks.
func (c *Coordinator) AddPartitions(id string, p Producer, tps []model.TopicPartition, version int8) groups.Code {
	t, code := c.at(id, p)
	if code != groups.None {
		return code
	}
	defer t.mu.Unlock()
	next := c.ongoing(t, version)
	for _, tp := range tps {
		if !c.appendable.has(p, tp) && !slices.Contains(next.Partitions[len(t.rec.Partitions):], tp) {
			next.Partitions = append(next.Partitions, tp)
		}
	}
	if t.rec.State == model.TxnOngoing && len(next.Partitions) == len(t.rec.Partitions) {
		return groups.None
	}
	return c.saved(t, next)
}

// AddGroup makes the offsets of a group part of a producer's transaction, and begins one where none is open.
func (c *Coordinator) AddGroup(id string, p Producer, group string) groups.Code {
	t, code := c.at(id, p)
	if code != groups.None {
		return code
	}
	defer t.mu.Unlock()
	if t.rec.State == model.TxnOngoing && slices.Contains(t.rec.Groups, group) {
		return groups.None
	}
	next := c.ongoing(t, 1)
	next.Groups = append(next.Groups, group)
	return c.saved(t, next)
}

// MayCommit says whether a producer may commit offsets of a group within its transaction, and changes nothing. Where add
// is set, the group need not be part of it yet.
func (c *Coordinator) MayCommit(id string, p Producer, group string, add bool) groups.Code {
	t, code := c.mayCommit(id, p, group, add)
	if code == groups.None {
		t.mu.Unlock()
	}
	return code
}

// mayCommit is MayCommit with the transactional id locked when it may.
func (c *Coordinator) mayCommit(id string, p Producer, group string, add bool) (*txn, groups.Code) {
	t, code := c.at(id, p)
	switch {
	case code == groups.ProducerFenced:
		return nil, groups.InvalidProducerEpoch
	case code != groups.None:
		return nil, code
	case !add && (t.rec.State != model.TxnOngoing || !slices.Contains(t.rec.Groups, group)):
		t.mu.Unlock()
		return nil, groups.InvalidTxnState
	}
	return t, groups.None
}

// CommitOffsets stores offsets that become a group's when the producer's transaction is committed. Where add is set the
// group becomes part of the transaction, else it must be.
func (c *Coordinator) CommitOffsets(id string, p Producer, group string, commits []model.Commit, add bool) groups.Code {
	t, code := c.mayCommit(id, p, group, add)
	if code != groups.None {
		return code
	}
	defer t.mu.Unlock()
	next := t.rec
	if t.rec.State != model.TxnOngoing || !slices.Contains(t.rec.Groups, group) {
		next = c.ongoing(t, 2)
		next.Groups = append(next.Groups, group)
	}
	next.Updated = c.nowMS()
	err := c.o.Step("offsets")
	if err == nil {
		err = c.o.Store.SaveOffsets(next, group, commits)
	}
	if err != nil {
		return failed(err)
	}
	c.become(t, next)
	c.o.Changed(false)
	return groups.None
}

// ongoing returns a transactional id's record with its transaction open, as its own to append to. t.mu is held.
func (c *Coordinator) ongoing(t *txn, version int8) groups.TxnRecord {
	next := t.rec
	next.Updated = c.nowMS()
	if next.State != model.TxnOngoing {
		next.State, next.Started, next.Version = model.TxnOngoing, next.Updated, version
		next.Partitions, next.Groups = nil, nil
	}
	next.Version = max(next.Version, version)
	next.Partitions, next.Groups = slices.Clip(next.Partitions), slices.Clip(next.Groups)
	return next
}

func (c *Coordinator) saved(t *txn, next groups.TxnRecord) groups.Code {
	if err := c.save(t, next, "add"); err != nil {
		return failed(err)
	}
	return groups.None
}

// failed is the code of a step that could not be stored: one to be tried again, but for a name that never can be.
func failed(err error) groups.Code {
	if errors.Is(err, model.ErrInvalid) {
		return groups.InvalidRequest
	}
	return groups.CoordinatorNotAvailable
}

// End ends a producer's transaction, and returns when its markers are written and its offsets committed. bump is the
// second version's way: every end raises the epoch, so that a repeated request is known by its own; the producer as it
// is from then on is returned.
func (c *Coordinator) End(id string, p Producer, commit, bump bool) (Producer, groups.Code) {
	if id == "" {
		return noProducer, groups.InvalidRequest
	}
	t := c.find(id)
	if t == nil {
		return noProducer, groups.InvalidProducerIDMapping
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	ended := t.rec.State == model.TxnCompleteCommit || t.rec.State == model.TxnCompleteAbort
	repeated := bump && ended && p.Epoch >= 0 && p.Epoch == t.rec.LastEpoch && p != (Producer{t.rec.ProducerID, t.rec.Epoch}) &&
		(p.ID == t.rec.ProducerID || p.ID == t.rec.PrevProducerID)
	switch {
	case t.gone, !t.made, !repeated && p.ID != t.rec.ProducerID:
		return noProducer, groups.InvalidProducerIDMapping
	case !repeated && p.Epoch != t.rec.Epoch:
		return noProducer, groups.ProducerFenced
	}
	code := c.end(t, commit, bump, repeated)
	if code != groups.None {
		return noProducer, code
	}
	if t.rec.NextProducerID >= 0 { // prepared, and not complete yet
		return Producer{ID: t.rec.NextProducerID}, groups.None
	}
	return Producer{t.rec.ProducerID, t.rec.Epoch}, groups.None
}

// end ends the transaction of its holder. t.mu is held.
func (c *Coordinator) end(t *txn, commit, bump, repeated bool) groups.Code {
	prepare := model.TxnPrepareAbort
	same := t.rec.State == model.TxnCompleteAbort
	if commit {
		prepare = model.TxnPrepareCommit
		same = t.rec.State == model.TxnCompleteCommit
	}
	switch {
	case t.rec.State == model.TxnOngoing:
		return c.prepare(t, prepare, bump)
	case t.rec.State == prepare:
		return groups.ConcurrentTransactions
	case preparing(t.rec.State):
		return groups.InvalidTxnState
	case same && (repeated || !bump):
		return groups.None
	case bump && !commit && !repeated:
		return c.prepare(t, prepare, bump) // nothing was begun: only the epoch is raised
	}
	return groups.InvalidTxnState
}

// prepare decides how a transaction ends, and ends it. t.mu is held.
func (c *Coordinator) prepare(t *txn, state model.TransactionState, bump bool) groups.Code {
	next := t.rec
	next.State, next.Updated = state, c.nowMS()
	if t.rec.State != model.TxnOngoing {
		next.Started = next.Updated
	}
	if bump {
		next.Version = 2
		if next.Epoch >= lastEpoch {
			id, err := c.nextID()
			if err != nil {
				return groups.CoordinatorNotAvailable
			}
			next.NextProducerID = id
		}
		next.Epoch, next.LastEpoch = next.Epoch+1, next.Epoch
	}
	if err := c.save(t, next, "prepare"); err != nil {
		return failed(err)
	}
	_ = c.complete(t) // it is decided: what fails from here on is tried until it works
	return groups.None
}
