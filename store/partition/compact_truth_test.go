package partition_test

import (
	"path/filepath"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// TestCompactBrokersLogs compacts every partition of real brokers' directories, whatever its policy was, twice: from the
// start on, what their cleaners have left included. The last committed record of every key stays, no aborted one comes
// to light, and the read side finds nothing wrong.
func TestCompactBrokersLogs(t *testing.T) {
	for _, archive := range []string{"kafka-4.4.tar.gz", "kafka-4.0.tar.gz"} {
		t.Run(archive, func(t *testing.T) {
			root := unpack(t, archive)
			w := loadTruth(t, filepath.Join(root, "data"), filepath.Join(root, "truth"))
			replaced := 0
			for tp := range w.partitions {
				dir := filepath.Join(w.data, layout.DirName(tp))
				if snapshotFiles(t, dir) == nil {
					continue
				}
				before, records := lastOfKeys(t, dir, tp, w.starts[tp])
				config := layout.ParseTopicConfig(map[string]string{"cleanup.policy": "compact", "delete.retention.ms": "0"})
				l := partition.OpenLog(partition.LogOptions{Dir: dir, TP: tp, Start: w.starts[tp], Config: config, ProducerExpiry: 1 << 60})
				if _, err := l.Recover(); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					c, err := l.Compact(t.Context(), partition.CompactOptions{})
					if err != nil {
						t.Errorf("%s: %v", tp, err)
					}
					replaced += c.Segments
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				after, left := lastOfKeys(t, dir, tp, w.starts[tp])
				for k, o := range before {
					if after[k] != o {
						t.Errorf("%s: key %q ended with offset %d, now %d", tp, k, o, after[k])
					}
				}
				if len(after) > len(before) || left > records {
					t.Errorf("%s: %d keys and %d records, were %d and %d", tp, len(after), left, len(before), records)
				}
			}
			if replaced < 20 {
				t.Errorf("only %d segments were compacted", replaced)
			}
		})
	}
}

// lastOfKeys returns the offset of the last committed record of each key that has a value, and how many committed records
// there are. It has every byte checked.
func lastOfKeys(t *testing.T, dir string, tp model.TopicPartition, start int64) (map[string]int64, int) {
	t.Helper()
	v, err := partition.OpenView(dir, tp, model.Live, partition.ViewOptions{LogStart: start, HighWatermark: model.Unknown, EndIsHW: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Verify(t.Context(), model.Unknown, func(e model.VerifyEvent) {
		if e.Fault != nil && e.Fault.Severity != model.SevInfo {
			t.Errorf("%s: %+v", tp, *e.Fault)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	last, n := map[string]int64{}, 0
	for _, r := range readAll(t, v, model.RecordQuery{TP: tp, Committed: true}) {
		n++
		if r.Key == nil {
			continue
		}
		if last[string(r.Key)] = r.Offset; r.Value == nil {
			delete(last, string(r.Key))
		}
	}
	return last, n
}
