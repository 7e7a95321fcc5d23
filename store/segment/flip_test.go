package segment_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/segment"
	"github.com/strata-kafka/strata/store/segment/segtest"
)

// unchecked are the places of the kitchen segment's files at which a flipped bit changes nothing that Kafka itself, or
// anything else in the folder, could hold it against.
func unchecked(kind string, at int) string {
	switch {
	case kind == layout.KindTimeIndex && at%12 == 11:
		return "offset of a time index entry, while it stays within its batch: brokers wrote any of its records"
	case kind == layout.KindTxnIndex && at >= 26 && at < 34:
		return "last stable offset of an aborted transaction: only a bound can be checked"
	}
	return ""
}

// TestEveryFlippedBitIsFound flips each bit of each file of a segment in turn.
func TestEveryFlippedBitIsFound(t *testing.T) {
	dir := segtest.Dir(t)
	epochs := []layout.Epoch{{Epoch: 0}, {Epoch: 2, Start: 30}}
	starts := append(segtest.KitchenPositions(), int64(len(segtest.Kitchen())))
	for _, kind := range []string{layout.KindLog, layout.KindIndex, layout.KindTimeIndex, layout.KindTxnIndex} {
		path := filepath.Join(dir, layout.FileName(0, kind))
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		missed := 0
		for bit := range len(whole) * 8 {
			if _, err := file.WriteAt([]byte{whole[bit/8] ^ 1<<(bit%8)}, int64(bit/8)); err != nil {
				t.Fatal(err)
			}
			var faults []model.Fault
			f, err := segment.OpenFile(dir, 0, "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Verify(segment.VerifyOptions{Epochs: epochs, Tell: func(x model.Fault) { faults = append(faults, x) }}); err != nil {
				t.Errorf("%s bit %d: %v", kind, bit, err)
			}
			f.Close()
			if _, err := file.WriteAt(whole[bit/8:bit/8+1], int64(bit/8)); err != nil {
				t.Fatal(err)
			}
			if !located(kind, int64(bit/8), starts, faults) && unchecked(kind, bit/8) == "" {
				if missed++; missed < 10 {
					t.Errorf("%s byte %d bit %d: faults %+v", kind, bit/8, bit%8, faults)
				}
			}
		}
		if missed > 0 {
			t.Errorf("%s: %d of %d flipped bits were not found", kind, missed, len(whole)*8)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// located tells that a fault names the file and the batch or the entry that a byte lies in; a base offset that is too
// high shows at the batch behind it.
func located(kind string, at int64, starts []int64, faults []model.Fault) bool {
	name := layout.FileName(0, kind)
	for _, f := range faults {
		if kind == layout.KindLog && f.Kind == layout.KindIndex { // an offset that only the index knows better
			for _, p := range starts {
				if at >= p && at < p+8 && strings.Contains(f.What, fmt.Sprintf("batch at %d ends at", p)) {
					return true
				}
			}
		}
		if f.File != name {
			continue
		}
		switch kind {
		case layout.KindLog:
			i := 0
			for starts[i+1] <= at {
				i++
			}
			if f.Position >= starts[i] && f.Position < starts[i+1] || f.Kind == "order" && f.Position == starts[i+1] {
				return true
			}
		case layout.KindIndex:
			if d := f.Position - at/8*8; d >= -8 && d <= 8 {
				return true
			}
		case layout.KindTimeIndex:
			if d := f.Position - at/12*12; d >= -12 && d <= 12 {
				return true
			}
		default:
			return true
		}
	}
	return false
}
