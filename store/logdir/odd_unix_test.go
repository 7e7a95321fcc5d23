//go:build unix

package logdir

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/strata-kafka/strata/store/layout"
)

// TestFilesThatNobodyCanRead uses a directory in which FIFOs, folders, and links to nowhere and to what has no end
// bear the names of a broker's files. It would hang or fill the memory where one is opened as if it were a file.
func TestFilesThatNobodyCanRead(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "t-0")
	must(t, os.Mkdir(folder, 0o700))
	must(t, os.WriteFile(filepath.Join(folder, layout.FileName(0, layout.KindLog)), kitchen(t), 0o600))
	for _, name := range []string{
		layout.MetaFile, layout.HighWatermarkFile, layout.RecoveryPointFile, layout.LogStartFile, layout.CleanerFile, layout.LockFile, layout.CleanShutdownFile,
		"t-0/" + layout.EpochsFile, "t-0/" + layout.PartitionMetaFile,
		"t-0/" + layout.FileName(0, layout.KindIndex), "t-0/" + layout.FileName(0, layout.KindTimeIndex), "t-0/" + layout.FileName(0, layout.KindTxnIndex),
		"t-0/" + layout.FileName(20, layout.KindSnapshot), "t-0/" + layout.FileName(100, layout.KindLog),
	} {
		must(t, syscall.Mkfifo(filepath.Join(root, name), 0o600))
	}
	must(t, os.Symlink("/dev/zero", filepath.Join(folder, layout.FileName(21, layout.KindSnapshot))))
	must(t, os.Mkdir(filepath.Join(folder, layout.FileName(200, layout.KindLog)), 0o700))
	must(t, os.Symlink("loop-0", filepath.Join(root, "loop-0")))
	loop := layout.FileName(300, layout.KindLog)
	must(t, os.Symlink(loop, filepath.Join(folder, loop)))
	d, err := Open([]string{root}, Options{})
	must(t, err)
	useAll(t, d)
	ps, err := d.Partitions(t.Context(), "t")
	if err != nil || len(ps) != 1 || ps[0].LogEnd != 33 || ps[0].Segments != 1 {
		t.Errorf("%+v, %v", ps, err)
	}
	must(t, d.Close())
}
