package logdir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/strata-kafka/strata/store/record"
)

func median(d []float64) float64 {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}

// batchOf is a batch of n small records from an offset on.
func batchOf(t testing.TB, offset int64, n int, value string) []byte {
	t.Helper()
	var in []record.Input
	for i := range n {
		in = append(in, record.Input{Key: fmt.Appendf(nil, "k%d", offset+int64(i)), Value: []byte(value), Timestamp: 1700000000000 + offset})
	}
	b, err := record.AppendBatch(nil, record.Spec{ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1}, in)
	must(t, err)
	record.SetBaseOffset(b, offset)
	return b
}

// wideDir makes a log directory of many partitions, ten of a topic, each of some segments of one batch.
func wideDir(t testing.TB, partitions, segments int) string {
	t.Helper()
	root := t.TempDir()
	for p := range partitions {
		dir := filepath.Join(root, fmt.Sprintf("topic-%04d-%d", p/10, p%10))
		must(t, os.Mkdir(dir, 0o755))
		for s := range segments {
			base := fmt.Sprintf("%020d", s*10)
			must(t, os.WriteFile(filepath.Join(dir, base+".log"), batchOf(t, int64(s*10), 10, "v"), 0o644))
			for _, kind := range []string{".index", ".timeindex"} {
				must(t, os.WriteFile(filepath.Join(dir, base+kind), nil, 0o644))
			}
		}
	}
	return root
}
