package partition_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// TestRecoverKafka recovers the partitions of real brokers as if none of them had been flushed: every batch is read,
// all indexes are built anew, and nothing is cut. The offsets are those that the broker answered, and the indexes are
// the very ones it had written, but where it was restarted within a segment, which only the one who writes knows of,
// or where its cleaner had taken away what an index entry was made from.
func TestRecoverKafka(t *testing.T) {
	for _, archive := range []string{"kafka-4.0.tar.gz", "kafka-4.4.tar.gz"} {
		t.Run(archive, func(t *testing.T) {
			root := unpack(t, archive)
			w := loadTruth(t, filepath.Join(root, "data"), filepath.Join(root, "truth"))
			same, others := 0, 0
			for tp, want := range w.partitions {
				dir := filepath.Join(w.data, layout.DirName(tp))
				before := snapshotFiles(t, dir)
				if before == nil {
					continue
				}
				l := partition.OpenLog(partition.LogOptions{Dir: dir, TP: tp, Start: w.starts[tp], Config: layout.ParseTopicConfig(), ProducerExpiry: 1 << 60})
				cuts, err := l.Recover()
				if err != nil || len(cuts) > 0 {
					t.Errorf("%s: %v, %v", tp, cuts, err)
					continue
				}
				b, err := l.Bounds()
				if err != nil || b.Start != want.LogStart || b.End != want.HighWatermark || b.LastStable != want.LastStable {
					t.Errorf("%s: bounds %+v, %v; the broker says %+v", tp, b, err, want)
				}
				if err := l.Close(); err != nil {
					t.Errorf("%s: %v", tp, err)
				}
				exempt := strings.HasPrefix(tp.Topic, "__") || strings.HasPrefix(tp.Topic, "compacted") || tp.Topic == "epochs" || tp.Topic == "mixed-time"
				after := snapshotFiles(t, dir)
				for name, was := range before {
					switch {
					case strings.HasSuffix(name, "."+layout.KindLog) && !bytes.Equal(was, after[name]):
						t.Errorf("%s/%s was changed", tp, name)
					case bytes.Equal(was, after[name]):
						same++
					case exempt:
						others++
					default:
						t.Errorf("%s/%s: %x, the broker's is %x", tp, name, after[name], was)
					}
				}
			}
			if same < 100 || others > same/5 {
				t.Errorf("%d files are the broker's, %d others", same, others)
			}
		})
	}
}

// snapshotFiles reads the .log and index files of a folder; nil where the archive does not hold it.
func snapshotFiles(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		f, ok := layout.ParseFileName(e.Name())
		if !ok || f.Suffix != "" || f.Kind == layout.KindSnapshot {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = b
	}
	return files
}
