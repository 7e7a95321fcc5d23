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

// NextProducerIDs takes the next n producer ids, which nobody else is given, also not after a restart. floor is the
// least that the first one may be.
func (t Txns) NextProducerIDs(n, floor int64) (first int64, err error) {
	err = t.db.update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(producersBucket))
		first = floor
		if v := b.Get([]byte(nextIDKey)); v != nil {
			if len(v) != 8 {
				return t.db.corrupt("the next producer id is %d bytes long", len(v))
			}
			first = max(first, int64(binary.BigEndian.Uint64(v)))
		}
		return b.Put([]byte(nextIDKey), binary.BigEndian.AppendUint64(nil, uint64(first+n)))
	})
	if err != nil {
		return 0, fmt.Errorf("take producer ids: %w", err)
	}
	return first, nil
}

// Load returns all transactional ids. A damaged entry is left out, and told on opening.
func (t Txns) Load() (all []TxnRecord, err error) {
	err = t.db.view(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(transactionsBucket))
		if b == nil {
			return nil
		}
		return b.ForEach(func(k, v []byte) error {
			if rec, err := parseTxn(k, v); err == nil {
				all = append(all, rec)
			}
			return nil
		})
	})
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
