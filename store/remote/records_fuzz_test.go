package remote

import (
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// FuzzChunk takes what a broker might send for batches: nothing of it makes reading panic, go backward or stand still.
func FuzzChunk(f *testing.F) {
	one, err := record.AppendBatch(nil, record.Spec{BaseOffset: 7, LeaderEpoch: -1, ProducerID: 3, ProducerEpoch: 1, BaseSequence: 0, Codec: record.Snappy},
		[]record.Input{{Timestamp: 1, Key: []byte("k"), Value: []byte("v")}, {Timestamp: 2, Headers: []record.RecordHeader{{Name: "h"}}}})
	if err != nil {
		f.Fatal(err)
	}
	marker := record.AppendMarker(nil, record.Marker{Offset: 9, ProducerID: 3})
	f.Add(one, int64(0), true)
	f.Add(append(append([]byte{}, one...), marker...), int64(8), false)
	f.Add(one[:40], int64(7), true)
	f.Fuzz(func(t *testing.T, raw []byte, from int64, stable bool) {
		if from < 0 {
			return
		}
		k := chunk{from: from, next: from, stable: stable}
		if err := k.split(raw); err != nil && len(k.batches) > 0 {
			return
		}
		if len(k.batches) > 0 && k.next <= from {
			t.Fatalf("it stands still at %d", from)
		}
		g := &pageRead{q: model.RecordQuery{Control: true}, rd: record.Borrow()}
		defer g.rd.Return()
		n := 0
		g.each(&k, from, 1<<62, func(r model.Record) bool {
			if r.Offset < from {
				t.Fatalf("record %d before %d", r.Offset, from)
			}
			n++
			return n < 1000
		})
		for _, b := range k.batches {
			_, _ = countBatch(b, from, 1<<62)
		}
	})
}
