package partition

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// sequence is a batch of a producer: n records from a sequence on.
type sequence struct {
	id    int64
	epoch int16
	seq   int32
	n     int
	txn   bool
	// first, when not 0, is what is expected: an offset, or one of the errors below.
	want int64
	dup  bool
}

const (
	wantOutOfOrder = -100 - int64(OutOfOrder)
	wantOldEpoch   = -100 - int64(OldEpoch)
	wantBadState   = -100 - int64(BadTxnState)
	wantFenced     = -100 - int64(CoordinatorFenced)
)

func (b *bench) produce(s sequence) (Appended, error) {
	b.t.Helper()
	recs := make([]record.Input, s.n)
	for i := range recs {
		recs[i] = record.Input{Timestamp: b.now, Key: []byte("k"), Value: []byte("v")}
	}
	raw, err := record.AppendBatch(nil, record.Spec{HasProducer: true, ProducerID: s.id, ProducerEpoch: s.epoch, BaseSequence: s.seq, Transactional: s.txn}, recs)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.log.Append(raw, AppendOptions{})
}

func (b *bench) mark(id int64, epoch int16, commit bool, coordinator int32) (Appended, error) {
	raw := record.AppendMarker(nil, record.Marker{Commit: commit, Timestamp: b.now, ProducerID: id, ProducerEpoch: epoch, CoordinatorEpoch: coordinator})
	return b.log.Append(raw, AppendOptions{Internal: true})
}

func TestSequences(t *testing.T) {
	for name, steps := range map[string][]sequence{
		"in order":         {{id: 1, n: 2, want: 0}, {id: 1, seq: 2, n: 1, want: 2}},
		"a gap":            {{id: 1, n: 2, want: 0}, {id: 1, seq: 3, n: 1, want: wantOutOfOrder}, {id: 1, seq: 2, n: 1, want: 2}},
		"repeated":         {{id: 1, n: 2, want: 0}, {id: 1, n: 2, want: 0, dup: true}, {id: 1, seq: 2, n: 1, want: 2}, {id: 1, n: 2, want: 0, dup: true}},
		"repeated in part": {{id: 1, n: 2, want: 0}, {id: 1, n: 1, want: wantOutOfOrder}},
		"forgotten after five": {{id: 1, n: 1, want: 0}, {id: 1, seq: 1, n: 1, want: 1}, {id: 1, seq: 2, n: 1, want: 2}, {id: 1, seq: 3, n: 1, want: 3},
			{id: 1, seq: 4, n: 1, want: 4}, {id: 1, n: 1, want: 0, dup: true}, {id: 1, seq: 5, n: 1, want: 5}, {id: 1, n: 1, want: wantOutOfOrder}},
		"a new epoch":                {{id: 1, n: 2, want: 0}, {id: 1, epoch: 1, n: 1, want: 2}, {id: 1, epoch: 1, seq: 1, n: 1, want: 3}},
		"a new epoch badly":          {{id: 1, n: 2, want: 0}, {id: 1, epoch: 1, seq: 2, n: 1, want: wantOutOfOrder}},
		"an old epoch":               {{id: 1, epoch: 3, n: 2, want: 0}, {id: 1, epoch: 2, n: 1, want: wantOldEpoch}},
		"unknown from within":        {{id: 1, seq: 700, n: 2, want: 0}, {id: 1, seq: 702, n: 1, want: 2}},
		"round the end":              {{id: 1, seq: math.MaxInt32 - 1, n: 2, want: 0}, {id: 1, n: 1, want: 2}},
		"over the end":               {{id: 1, seq: math.MaxInt32, n: 3, want: 0}, {id: 1, seq: 2, n: 1, want: 3}, {id: 1, seq: math.MaxInt32, n: 3, want: 0, dup: true}},
		"each on its own":            {{id: 1, n: 2, want: 0}, {id: 2, n: 1, want: 2}, {id: 1, seq: 2, n: 1, want: 3}},
		"outside of its transaction": {{id: 1, n: 1, txn: true, want: 0}, {id: 1, seq: 1, n: 1, want: wantBadState}, {id: 1, seq: 1, n: 1, txn: true, want: 1}},
	} {
		for _, how := range []string{"in one run", "reopened", "crashed"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				b := newBench(t, nil)
				for i, s := range steps {
					switch {
					case how == "reopened":
						b.reopen()
					case how == "crashed":
						b.crash(0)
					}
					a, err := b.produce(s)
					var p *ProducerError
					switch {
					case s.dup && how == "reopened" && (err != nil || a.First != s.want):
						// A snapshot keeps a producer's last batch only: of an older one only this is known.
						if !errors.As(err, &p) || p.Reason != OutOfOrder {
							t.Fatalf("step %d: %+v, %v", i, a, err)
						}
					case s.want >= 0 && (err != nil || a.First != s.want || a.Last != s.want+int64(s.n)-1 || a.Duplicate != s.dup):
						t.Fatalf("step %d: %+v, %v; want offset %d, duplicate %v", i, a, err, s.want, s.dup)
					case s.want < 0 && (!errors.As(err, &p) || -100-int64(p.Reason) != s.want):
						t.Fatalf("step %d: %+v, %v; want error %d", i, a, err, s.want)
					}
				}
				b.verify()
			})
		}
	}
}

// TestTransactions interleaves two producers, one aborts: the last stable offset, the transaction index and the
// producers are what the golden entry and the rules say, in one run, over restarts and after recovery.
func TestTransactions(t *testing.T) {
	for _, how := range []string{"in one run", "reopened", "crashed"} {
		t.Run(how, func(t *testing.T) {
			b := newBench(t, nil)
			again := func() {
				switch how {
				case "reopened":
					b.reopen()
				case "crashed":
					b.crash(0)
				}
			}
			lso := func(want int64) {
				t.Helper()
				again()
				if _, err := b.log.Producers(); err != nil {
					t.Fatal(err)
				}
				if got := b.bounds(); got.LastStable != want {
					t.Fatalf("last stable offset %d, want %d", got.LastStable, want)
				}
			}
			add := func(a Appended, err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			add(b.produce(sequence{id: 1000, n: 2, txn: true})) // 0, 1
			add(b.produce(sequence{id: 1001, n: 2, txn: true})) // 2, 3
			lso(0)
			add(b.mark(1001, 0, false, 1)) // 4
			lso(0)
			add(b.mark(1000, 1, true, 1)) // 5, with the next epoch, as from 4.0 on
			lso(6)
			add(b.mark(1001, 0, false, 1))                                // 6: a marker without a transaction
			add(b.produce(sequence{id: 1000, epoch: 1, n: 1, txn: true})) // 7
			lso(7)
			if _, err := b.mark(1000, 0, false, 1); !isProducer(err, OldEpoch) {
				t.Errorf("a marker of an old epoch: %v", err)
			}
			if _, err := b.mark(1000, 1, false, 0); !isProducer(err, CoordinatorFenced) {
				t.Errorf("a marker of an old coordinator: %v", err)
			}
			raw := b.read(layout.FileName(0, layout.KindTxnIndex))
			list, err := segment.ParseTxnIndex([]byte(raw))
			if err != nil || len(list) != 1 || list[0].Producer != 1001 || list[0].First != 2 || list[0].Last != 4 || list[0].Stable != 0 {
				t.Errorf("transaction index %+v, %v", list, err)
			}
			again()
			all, err := b.log.Producers()
			if err != nil {
				t.Fatal(err)
			}
			want := []ProducerState{
				{ProducerID: 1000, Epoch: 1, LastSequence: 0, LastOffset: 7, CoordinatorEpoch: 1, TxnFirst: 7, Timestamp: day0},
				{ProducerID: 1001, Epoch: 0, LastSequence: 1, LastOffset: 3, CoordinatorEpoch: 1, TxnFirst: model.Unknown, Timestamp: day0},
			}
			if !slices.Equal(all, want) {
				t.Errorf("producers %+v, want %+v", all, want)
			}
			b.verify()
		})
	}
}

func isProducer(err error, r ProducerReason) bool {
	var p *ProducerError
	return errors.As(err, &p) && p.Reason == r
}

// TestClientCannotMark refuses a control batch that a client sends.
func TestClientCannotMark(t *testing.T) {
	b := newBench(t, nil)
	raw := record.AppendMarker(nil, record.Marker{ProducerID: 1, Timestamp: day0})
	var r *record.RefusedError
	if _, err := b.log.Append(raw, AppendOptions{}); !errors.As(err, &r) {
		t.Errorf("error %v", err)
	}
}

// TestProducersExpire forgets who has written nothing for a day and has nothing open.
func TestProducersExpire(t *testing.T) {
	for name, when := range map[string]func(*bench){
		"at the next start": (*bench).reopen,
		"when the retention is looked at": func(b *bench) {
			if _, err := b.log.Retain(); err != nil {
				b.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"retention.ms": "-1"})
			for _, s := range []sequence{{id: 1, n: 1}, {id: 2, n: 1, txn: true}} {
				if _, err := b.produce(s); err != nil {
					t.Fatal(err)
				}
			}
			b.now += defaultProducerExpiry + 1
			when(b)
			all, err := b.log.Producers()
			if err != nil || len(all) != 1 || all[0].ProducerID != 2 {
				t.Errorf("producers %+v, %v", all, err)
			}
			if bounds, err := b.log.Bounds(); err != nil || bounds.LastStable != 1 {
				t.Errorf("%+v, %v: want the transaction that is open at offset 1 to hold the last stable offset", bounds, err)
			}
		})
	}
}

// TestSnapshots keeps one a segment and the newest; a damaged one is told and made good from the log.
func TestSnapshots(t *testing.T) {
	b := newBench(t, map[string]string{"segment.bytes": "172"})
	for i := range 6 {
		if _, err := b.produce(sequence{id: 9, seq: int32(i), n: 1}); err != nil {
			t.Fatal(err)
		}
		if i == 2 || i == 4 {
			b.reopen()
		}
	}
	b.reopen()
	if got := b.files(".snapshot"); !slices.Equal(got, []string{"2.snapshot", "4.snapshot", "6.snapshot"}) {
		t.Errorf("snapshots %v", got)
	}
	path := filepath.Join(b.dir, layout.FileName(6, layout.KindSnapshot))
	if err := os.WriteFile(path, []byte("no snapshot at all"), 0o644); err != nil {
		t.Fatal(err)
	}
	if a, err := b.produce(sequence{id: 9, seq: 6, n: 1}); err != nil || a.First != 6 {
		t.Errorf("%+v, %v", a, err)
	}
	if len(b.notices) != 1 || !strings.Contains(b.notices[0], "snapshot") {
		t.Errorf("notices %v", b.notices)
	}
	b.verify()
}
