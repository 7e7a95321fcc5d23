package groups

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// txnOf is a transaction of a producer, in a state.
func txnOf(producer int64, state model.TransactionState) TxnRecord {
	return TxnRecord{ID: "t" + string(rune('a'+producer)), ProducerID: producer, PrevProducerID: -1, NextProducerID: -1, LastEpoch: -1,
		State: state, Timeout: 60_000, Started: 5, Updated: 1000, Groups: []string{"g"}}
}

func give(t *testing.T, db *DB, producer int64, group string, cs ...model.Commit) {
	t.Helper()
	if err := db.Txns().SaveOffsets(txnOf(producer, model.TxnOngoing), group, cs); err != nil {
		t.Fatal(err)
	}
}

func complete(t *testing.T, db *DB, producer int64, commit bool) {
	t.Helper()
	state := model.TxnCompleteAbort
	if commit {
		state = model.TxnCompleteCommit
	}
	if err := db.Txns().Complete(txnOf(producer, state), producer, commit); err != nil {
		t.Fatal(err)
	}
}

func pending(t *testing.T, s *Service, group string) map[model.TopicPartition]bool {
	t.Helper()
	m, err := s.PendingIn(group)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestOffsetsOfTransactions holds that they are seen by nobody before the commit, and gone after an abort.
func TestOffsetsOfTransactions(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(t *testing.T, s *Service)
		want map[model.TopicPartition]int64
		wait map[model.TopicPartition]bool
	}{
		"open":      {func(*testing.T, *Service) {}, map[model.TopicPartition]int64{at("t", 0): 3}, map[model.TopicPartition]bool{at("t", 0): true, at("t", 1): true}},
		"committed": {func(t *testing.T, s *Service) { complete(t, s.db, 1, true) }, map[model.TopicPartition]int64{at("t", 0): 7, at("t", 1): 9}, nil},
		"aborted":   {func(t *testing.T, s *Service) { complete(t, s.db, 1, false) }, map[model.TopicPartition]int64{at("t", 0): 3}, nil},
		"another's commit": {func(t *testing.T, s *Service) { complete(t, s.db, 2, true) }, map[model.TopicPartition]int64{at("t", 0): 3},
			map[model.TopicPartition]bool{at("t", 0): true, at("t", 1): true}},
		"given again": {func(t *testing.T, s *Service) {
			give(t, s.db, 1, "g", offset("t", 0, 8))
			complete(t, s.db, 1, true)
		}, map[model.TopicPartition]int64{at("t", 0): 8, at("t", 1): 9}, nil},
		"two transactions": {func(t *testing.T, s *Service) {
			give(t, s.db, 2, "g", offset("t", 1, 20))
			complete(t, s.db, 1, false)
		}, map[model.TopicPartition]int64{at("t", 0): 3}, map[model.TopicPartition]bool{at("t", 1): true}},
		"committed later without one": {func(t *testing.T, s *Service) {
			commit(t, s, "g", offset("t", 0, 30))
			complete(t, s.db, 1, true)
		}, map[model.TopicPartition]int64{at("t", 0): 30, at("t", 1): 9}, nil},
		"topic deleted": {func(t *testing.T, s *Service) {
			if _, err := s.ForgetTopic("t"); err != nil {
				t.Error(err)
			}
			complete(t, s.db, 1, true)
		}, map[model.TopicPartition]int64{}, nil},
		"group deleted": {func(t *testing.T, s *Service) {
			if err := s.DeleteGroup(t.Context(), "g"); err != nil {
				t.Error(err)
			}
			complete(t, s.db, 1, true)
		}, map[model.TopicPartition]int64{}, nil},
		"an offset deleted": {func(t *testing.T, s *Service) {
			if err := s.DropPending("g", []model.TopicPartition{at("t", 1)}); err != nil {
				t.Error(err)
			}
			complete(t, s.db, 1, true)
		}, map[model.TopicPartition]int64{at("t", 0): 7}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := clockAt(500)
			s := newService(t, (&fakeLogs{}).fill("t", 2, 0, 50), c)
			commit(t, s, "g", offset("t", 0, 3))
			give(t, s.db, 1, "g", offset("t", 0, 7), offset("t", 1, 9))
			c.ms.Store(2000)
			tc.do(t, s)
			if got := offsets(t, s, "g"); !maps.Equal(got, tc.want) {
				t.Errorf("committed %v, want %v", got, tc.want)
			}
			if got := pending(t, s, "g"); !maps.Equal(got, tc.wait) {
				t.Errorf("pending %v, want %v", got, tc.wait)
			}
			if got := pending(t, s, "other"); got != nil {
				t.Errorf("pending in another group: %v", got)
			}
		})
	}
}

// TestAGroupOfATransactionOnly deletes a group that has nothing but pending offsets: it is there.
func TestAGroupOfATransactionOnly(t *testing.T) {
	s := newService(t, (&fakeLogs{}).fill("t", 1, 0, 50), clockAt(500))
	give(t, s.db, 1, "g", offset("t", 0, 7))
	if k, err := s.Known("g"); err != nil || !k.Exists {
		t.Errorf("it is %+v, %v", k, err)
	}
	if err := s.DeleteGroup(t.Context(), "g"); err != nil {
		t.Error(err)
	}
	if k, err := s.Known("g"); err != nil || k.Exists {
		t.Errorf("deleted, it is %+v, %v", k, err)
	}
}

// TestTransactionsOverARestart holds that all of it is there after another process has opened the store, but for offsets
// whose transaction nobody knows.
func TestTransactionsOverARestart(t *testing.T) {
	path := t.TempDir() + "/strata.db"
	db := openAt(t, path, DBOptions{})
	recs := []TxnRecord{
		txnOf(1, model.TxnOngoing),
		{ID: "z", ProducerID: 1 << 40, PrevProducerID: 4, NextProducerID: 5, Epoch: math.MaxInt16, LastEpoch: math.MaxInt16 - 1, Version: 2,
			State: model.TxnPrepareCommit, Timeout: 1, Started: model.NoTime, Updated: 7,
			Partitions: []model.TopicPartition{at("t", 0), at("u", 3)}, Groups: []string{"g", "h"}},
	}
	for _, r := range append(recs, TxnRecord{ID: "gone"}) {
		if err := db.Txns().Save(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Txns().Delete([]string{"gone"}); err != nil {
		t.Fatal(err)
	}
	give(t, db, 1, "g", offset("t", 0, 7))
	key := appendPendingKey(nil, pendingKey{99, "g", at("t", 1)})
	if err := db.update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(pendingBucket)).Put(key, appendCommitted(nil, Committed{}))
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openAt(t, path, DBOptions{})
	got, err := db.Txns().Load()
	if err != nil || !reflect.DeepEqual(got, recs) {
		t.Errorf("%+v, %v; want %+v", got, err, recs)
	}
	s := New(db, &fakeLogs{}, Options{})
	defer s.Close()
	if got := pending(t, s, "g"); !maps.Equal(got, map[model.TopicPartition]bool{at("t", 0): true}) {
		t.Errorf("pending %v", got)
	}
	complete(t, db, 1, true)
	if got := offsets(t, s, "g"); !maps.Equal(got, map[model.TopicPartition]int64{at("t", 0): 7}) {
		t.Errorf("committed %v", got)
	}
}

// TestAnOlderStoreIsGivenItsBuckets opens a store as the first version has left it.
func TestAnOlderStoreIsGivenItsBuckets(t *testing.T) {
	path := t.TempDir() + "/strata.db"
	db := openAt(t, path, DBOptions{})
	err := db.update(func(tx *bbolt.Tx) error {
		for _, name := range laterBuckets() {
			if err := tx.DeleteBucket([]byte(name)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	look := openAt(t, path, DBOptions{ReadOnly: true})
	s := New(look, &fakeLogs{}, Options{})
	if recs, err := look.Txns().Load(); err != nil || len(recs) > 0 {
		t.Errorf("read: %v, %v", recs, err)
	}
	if m := pending(t, s, "g"); m != nil {
		t.Errorf("read: %v", m)
	}
	if err := look.Close(); err != nil {
		t.Fatal(err)
	}
	db = openAt(t, path, DBOptions{})
	give(t, db, 1, "g", offset("t", 0, 7))
	if id, err := db.Txns().NextProducerIDs(10, func() int64 { return 5 }); id != 5 || err != nil {
		t.Errorf("producer id %d, %v", id, err)
	}
	if id, err := db.Txns().NextProducerIDs(10, func() int64 { t.Error("asked again"); return 0 }); id != 15 || err != nil {
		t.Errorf("producer id %d, %v", id, err)
	}
}

// TestTransactionsThatCannotBeStored holds that names which no store can hold are refused.
func TestTransactionsThatCannotBeStored(t *testing.T) {
	db := openDB(t, DBOptions{})
	wantErr(t, db.Txns().Save(TxnRecord{}), model.ErrInvalid)
	wantErr(t, db.Txns().Save(TxnRecord{ID: strings.Repeat("x", maxTransactionalID+1)}), model.ErrInvalid)
	wantErr(t, db.Txns().SaveOffsets(txnOf(1, model.TxnOngoing), strings.Repeat("g", maxGroupID+1), nil), model.ErrInvalid)
	if err := db.Txns().Save(TxnRecord{ID: strings.Repeat("x", maxTransactionalID)}); err != nil {
		t.Error(err)
	}
}

// TestDamagedTransactions holds that one costs itself only, and is told.
func TestDamagedTransactions(t *testing.T) {
	path := t.TempDir() + "/strata.db"
	db := openAt(t, path, DBOptions{})
	if err := db.Txns().Save(txnOf(1, model.TxnOngoing)); err != nil {
		t.Fatal(err)
	}
	err := db.update(func(tx *bbolt.Tx) error {
		bad := appendTxn(nil, txnOf(2, "Nonsense"))
		if err := tx.Bucket([]byte(transactionsBucket)).Put([]byte("bad"), bad); err != nil {
			return err
		}
		return tx.Bucket([]byte(producersBucket)).Put([]byte(nextIDKey), binary.BigEndian.AppendUint16(nil, 7))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openAt(t, path, DBOptions{})
	if n := strings.Join(db.Notices(), "\n"); !strings.Contains(n, "1 entries that cannot be read") {
		t.Errorf("said %q", n)
	}
	if recs, err := db.Txns().Load(); err != nil || len(recs) != 1 {
		t.Errorf("%v, %v", recs, err)
	}
	var corrupt *model.CorruptError
	if _, err := db.Txns().NextProducerIDs(1, func() int64 { return 0 }); !errors.As(err, &corrupt) {
		t.Errorf("a damaged counter of producer ids: %v; ids must not be given twice", err)
	}
}

func FuzzTxn(f *testing.F) {
	f.Add(appendTxn(nil, txnOf(1, model.TxnOngoing)))
	f.Add(appendTxn(nil, TxnRecord{State: model.TxnDead, Partitions: []model.TopicPartition{at("t", 1)}}))
	fuzzRoundTrip(f, func(b []byte) (TxnRecord, error) { return parseTxn(nil, b) }, appendTxn)
}

func FuzzPendingKey(f *testing.F) {
	f.Add(appendPendingKey(nil, pendingKey{3, "g", at("t", 1)}))
	fuzzRoundTrip(f, parsePendingKey, appendPendingKey)
}
