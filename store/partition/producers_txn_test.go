package partition

import (
	"errors"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// guard lets producers append within their transaction as long as it is open.
type guard struct {
	open  map[int64]int16 // epoch by producer id
	asked int
}

func (g *guard) MayAppend(_ model.TopicPartition, producerID int64, epoch int16) bool {
	g.asked++
	e, ok := g.open[producerID]
	return ok && e == epoch
}

func (b *bench) guarded(g *guard, s sequence) error {
	b.t.Helper()
	raw, err := record.AppendBatch(nil, record.Spec{HasProducer: true, ProducerID: s.id, ProducerEpoch: s.epoch, BaseSequence: s.seq, Transactional: s.txn},
		[]record.Input{{Timestamp: b.now, Value: []byte("v")}})
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = b.log.Append(raw, AppendOptions{Guard: g})
	return err
}

func wantReason(t *testing.T, what string, err error, want ProducerReason) {
	t.Helper()
	var p *ProducerError
	if !errors.As(err, &p) || p.Reason != want {
		t.Errorf("%s: %v, want reason %d", what, err, want)
	}
}

// TestNoBatchBehindItsMarker holds that a transaction is not opened again by a batch that comes late.
func TestNoBatchBehindItsMarker(t *testing.T) {
	b := newBench(t, nil)
	g := &guard{open: map[int64]int16{1: 0}}
	if err := b.guarded(g, sequence{id: 1, txn: true}); err != nil {
		t.Fatal(err)
	}
	if err := b.guarded(g, sequence{id: 1, seq: 1, txn: true}); err != nil {
		t.Fatal(err)
	}
	if g.asked != 1 {
		t.Errorf("asked %d times, want once a transaction", g.asked)
	}
	delete(g.open, 1)
	if _, err := b.mark(1, 0, true, 0); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "late", b.guarded(g, sequence{id: 1, seq: 2, txn: true}), BadTxnState)
	if err := b.guarded(g, sequence{id: 1, seq: 2}); err != nil {
		t.Errorf("outside of a transaction: %v", err)
	}
	if err := b.guarded(g, sequence{id: 1, seq: 1, txn: true}); err != nil {
		t.Errorf("repeated: %v", err)
	}
	if got := b.bounds(); got.LastStable != 4 || got.End != 4 {
		t.Errorf("%+v: want nothing held back", got)
	}
	b.verify()
}

// TestAnEpochThatAMarkerBegan holds that its first batch has the sequence 0, as after every end of a transaction of the
// second version.
func TestAnEpochThatAMarkerBegan(t *testing.T) {
	for _, how := range []string{"in one run", "reopened", "crashed"} {
		t.Run(how, func(t *testing.T) {
			b := newBench(t, nil)
			if _, err := b.produce(sequence{id: 1, n: 3, txn: true}); err != nil {
				t.Fatal(err)
			}
			if _, err := b.mark(1, 1, true, 0); err != nil {
				t.Fatal(err)
			}
			switch how {
			case "reopened":
				b.reopen()
			case "crashed":
				b.crash(0)
			}
			_, err := b.produce(sequence{id: 1, seq: 3, n: 1, txn: true})
			wantReason(t, "the epoch before", err, OldEpoch)
			_, err = b.produce(sequence{id: 1, epoch: 1, seq: 3, n: 1, txn: true})
			wantReason(t, "not from 0", err, OutOfOrder)
			if a, err := b.produce(sequence{id: 1, epoch: 1, n: 1, txn: true}); err != nil || a.First != 4 {
				t.Errorf("from 0: %+v, %v", a, err)
			}
			b.verify()
		})
	}
}

// TestStableAtRest holds that a log which was stopped with a transaction open says so before it is written to.
func TestStableAtRest(t *testing.T) {
	for _, how := range []string{"reopened", "crashed"} {
		t.Run(how, func(t *testing.T) {
			b := newBench(t, nil)
			for _, s := range []sequence{{id: 9, n: 2}, {id: 1, n: 2, txn: true}, {id: 2, n: 2, txn: true}, {id: 9, seq: 2, n: 1}} {
				if _, err := b.produce(s); err != nil {
					t.Fatal(err)
				}
			}
			if how == "reopened" {
				b.reopen()
			} else {
				b.crash(0)
			}
			if got := b.bounds(); got.LastStable != 2 || got.HighWatermark != 7 {
				t.Errorf("%+v: want 2 to be the last stable offset", got)
			}
			if id, err := b.log.HighestProducer(); id != 9 || err != nil {
				t.Errorf("the highest producer is %d, %v", id, err)
			}
			if _, err := b.mark(1, 0, false, 0); err != nil {
				t.Fatal(err)
			}
			if got := b.bounds(); got.LastStable != 4 {
				t.Errorf("%+v: want 4 to be the last stable offset", got)
			}
			if _, err := b.mark(2, 0, true, 0); err != nil {
				t.Fatal(err)
			}
			if got := b.bounds(); got.LastStable != 9 {
				t.Errorf("%+v: want nothing held back", got)
			}
			b.verify()
		})
	}
}
