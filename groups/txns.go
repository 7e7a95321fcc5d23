package groups

import (
	"context"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// maxTransactionalID bounds a transactional id, bytes; the protocol's strings end at 32,767.
const maxTransactionalID = 32_000

// nextIDKey stands in the producers bucket for the first producer id that was not handed out yet.
const nextIDKey = "next id"

// TxnRecord is what is stored of a transactional id.
type TxnRecord struct {
	ID             string // transactional.id
	ProducerID     int64
	PrevProducerID int64 // the one before, where epochs ran out; -1 for none
	NextProducerID int64 // the one that follows when the transaction is complete; -1 for none
	Epoch          int16
	LastEpoch      int16 // the one before, as long as its holder may ask again; -1 for none
	Version        int8  // of the transactions' protocol that the client speaks: 0, 1, 2
	State          model.TransactionState
	Timeout        int64 // ms
	Started        int64 // ms, when the last transaction began; NoTime where there was none
	Updated        int64 // ms
	Partitions     []model.TopicPartition
	Groups         []string // whose offsets the transaction commits
}

// txnStates are the states by the number that is stored, which is Kafka's.
var txnStates = [...]model.TransactionState{
	model.TxnEmpty, model.TxnOngoing, model.TxnPrepareCommit, model.TxnPrepareAbort, model.TxnCompleteCommit, model.TxnCompleteAbort, model.TxnDead,
}

// Txns keeps transactional ids and hands out producer ids. What it has saved is on the disk. Its methods may be called
// from any goroutine.
type Txns struct{ db *DB }

// Txns returns the store's part for transactions.
func (db *DB) Txns() Txns { return Txns{db} }

// NextProducerIDs takes the next n producer ids, which nobody else is given, also not after a restart. floor is asked
// where none were ever taken, for the least of them.
func (t Txns) NextProducerIDs(n int64, floor func() int64) (first int64, err error) {
	next := func(tx *bbolt.Tx) (int64, error) {
		v := tx.Bucket([]byte(producersBucket)).Get([]byte(nextIDKey))
		switch len(v) {
		case 0:
			return -1, nil
		case 8:
			return int64(binary.BigEndian.Uint64(v)), nil
		}
		return -1, t.db.corrupt("the next producer id is %d bytes long", len(v))
	}
	err = t.db.view(func(tx *bbolt.Tx) (err error) {
		first, err = next(tx)
		return err
	})
	least := int64(0)
	if err == nil && first < 0 {
		least = floor() // which may take its time, so not while the store is locked
	}
	if err == nil {
		err = t.db.update(func(tx *bbolt.Tx) (err error) {
			if first, err = next(tx); err != nil {
				return err
			}
			first = max(first, least)
			return tx.Bucket([]byte(producersBucket)).Put([]byte(nextIDKey), binary.BigEndian.AppendUint64(nil, uint64(first+n)))
		})
	}
	if err != nil {
		return 0, fmt.Errorf("take producer ids: %w", err)
	}
	return first, nil
}

// Load returns all transactional ids, and drops the offsets that wait for none of their transactions. A damaged entry is
// left out, and told on opening.
func (t Txns) Load() (all []TxnRecord, err error) {
	open := map[int64]bool{}
	err = t.db.view(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(transactionsBucket))
		if b == nil {
			return nil
		}
		return b.ForEach(func(k, v []byte) error {
			rec, err := parseTxn(k, v)
			if err != nil {
				return nil
			}
			all = append(all, rec)
			open[rec.ProducerID] = rec.State.Open()
			return nil
		})
	})
	if err == nil && !t.db.readOnly {
		err = t.db.dropPending(func(p pendingKey) bool { return !open[p.producer] })
	}
	if err != nil {
		return nil, fmt.Errorf("load transactions: %w", err)
	}
	return all, nil
}

// Save stores a transactional id and returns when it is on the disk. Its own slices stay the caller's.
func (t Txns) Save(rec TxnRecord) error {
	if rec.ID == "" || len(rec.ID) > maxTransactionalID {
		return fmt.Errorf("save transaction: %w transactional id of %d bytes", model.ErrInvalid, len(rec.ID))
	}
	if err := t.db.put(context.Background(), []entry{txnEntry(rec)}); err != nil {
		return fmt.Errorf("save transaction %q: %w", rec.ID, err)
	}
	return nil
}

// SaveOffsets stores a transactional id together with offsets that become the group's when the transaction is committed,
// and are seen by nobody before. An offset replaces one that the transaction gave for the same partition before.
func (t Txns) SaveOffsets(rec TxnRecord, group string, commits []model.Commit) error {
	if group == "" || len(group) > maxGroupID {
		return fmt.Errorf("save offsets of transaction %q: %w group's name of %d bytes", rec.ID, model.ErrInvalid, len(group))
	}
	now := rec.Updated
	entries := []entry{txnEntry(rec)}
	keys := make([]pendingKey, 0, len(commits))
	for _, c := range commits {
		k := pendingKey{rec.ProducerID, group, c.TopicPartition}
		keys = append(keys, k)
		entries = append(entries, entry{bucket: pendingBucket, key: appendPendingKey(nil, k),
			value: appendCommitted(nil, Committed{Commit: c, At: now, Expires: model.NoTime})})
	}
	if err := t.db.put(context.Background(), entries); err != nil {
		return fmt.Errorf("save offsets of transaction %q: %w", rec.ID, err)
	}
	return t.db.pending.add(t.db, keys)
}

// Complete stores a transactional id and, in the same write, makes the offsets that its producer gave its groups'
// committed ones, or drops them. What was committed later than such an offset stays.
func (t Txns) Complete(rec TxnRecord, producerID int64, commit bool) error {
	keys, err := t.db.pending.of(t.db, producerID)
	if err != nil {
		return fmt.Errorf("complete transaction %q: %w", rec.ID, err)
	}
	if len(keys) == 0 {
		return t.Save(rec)
	}
	err = t.db.update(func(tx *bbolt.Tx) error {
		waiting, offsets := tx.Bucket([]byte(pendingBucket)), tx.Bucket([]byte(offsetsBucket))
		for _, k := range keys {
			key := appendPendingKey(nil, k)
			v := waiting.Get(key)
			if c, err := parseCommitted(v); commit && v != nil && err == nil {
				was, ok, err := readOffset(t.db, tx, k.group, k.TopicPartition)
				if err == nil && (!ok || was.At <= c.At) {
					if err := offsets.Put(key[pendingPrefix:], append([]byte(nil), v...)); err != nil {
						return err
					}
				}
			}
			if err := waiting.Delete(key); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte(transactionsBucket)).Put([]byte(rec.ID), appendTxn(nil, rec))
	})
	if err != nil {
		return fmt.Errorf("complete transaction %q: %w", rec.ID, err)
	}
	return t.db.pending.drop(t.db, keys)
}

// Delete forgets transactional ids.
func (t Txns) Delete(ids []string) error {
	entries := make([]entry, 0, len(ids))
	for _, id := range ids {
		entries = append(entries, entry{bucket: transactionsBucket, key: []byte(id)})
	}
	if err := t.db.put(context.Background(), entries); err != nil {
		return fmt.Errorf("delete %d transactional ids: %w", len(ids), err)
	}
	return nil
}

func txnEntry(rec TxnRecord) entry {
	return entry{bucket: transactionsBucket, key: []byte(rec.ID), value: appendTxn(nil, rec)}
}

func appendTxn(dst []byte, t TxnRecord) []byte {
	dst = append(dst, formatV1)
	for _, id := range []int64{t.ProducerID, t.PrevProducerID, t.NextProducerID} {
		dst = binary.BigEndian.AppendUint64(dst, uint64(id))
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(t.Epoch))
	dst = binary.BigEndian.AppendUint16(dst, uint16(t.LastEpoch))
	state := byte(0xff)
	for i, s := range txnStates {
		if s == t.State {
			state = byte(i)
		}
	}
	dst = append(dst, byte(t.Version), state)
	for _, ms := range []int64{t.Timeout, t.Started, t.Updated} {
		dst = binary.BigEndian.AppendUint64(dst, uint64(ms))
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(t.Partitions)))
	for _, tp := range t.Partitions {
		dst = appendLong(dst, tp.Topic)
		dst = binary.BigEndian.AppendUint32(dst, uint32(tp.Partition))
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(t.Groups)))
	for _, g := range t.Groups {
		dst = appendLong(dst, g)
	}
	return dst
}

func parseTxn(k, v []byte) (TxnRecord, error) {
	r := fields{b: v}
	r.format()
	t := TxnRecord{ID: string(k), ProducerID: int64(r.u64()), PrevProducerID: int64(r.u64()), NextProducerID: int64(r.u64()),
		Epoch: int16(r.u16()), LastEpoch: int16(r.u16())}
	if b := r.take(2); b != nil {
		t.Version = int8(b[0])
		if int(b[1]) >= len(txnStates) {
			return t, fmt.Errorf("state %d", b[1])
		}
		t.State = txnStates[b[1]]
	}
	t.Timeout, t.Started, t.Updated = int64(r.u64()), int64(r.u64()), int64(r.u64())
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		t.Partitions = append(t.Partitions, model.TopicPartition{Topic: r.long(), Partition: int32(r.u32())})
	}
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		t.Groups = append(t.Groups, r.long())
	}
	return t, r.end()
}

func (r *fields) u16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}
