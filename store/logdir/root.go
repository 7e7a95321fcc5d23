package logdir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/segment"
)

// maxSmallFile bounds what is read of a file that is small by its nature: a checkpoint of 200,000 partitions fits.
const maxSmallFile = 64 << 20

// root is one log directory.
type root struct {
	path string
	only string // name of the one folder that is looked at; "" for all
	as   string // what that folder is taken for where its name is no partition's; "" is its name

	// listing is held while the names are read and the table is brought in line: an older look must not overwrite a
	// newer one. It is taken before Dir.mu.
	listing sync.Mutex

	// Guarded by Dir.mu, and written under both.
	err     error    // why it cannot be listed
	odd     []string // names that are not understood
	start   checkpoint
	high    checkpoint
	cleaned checkpoint
}

// checkpoint is a file of offsets as it was last read.
type checkpoint struct {
	info    os.FileInfo // nil: it is not there
	offsets map[model.TopicPartition]int64
	err     error
}

// at returns a partition's offset, or model.Unknown.
func (c *checkpoint) at(tp model.TopicPartition) int64 {
	if o, ok := c.offsets[tp]; ok {
		return o
	}
	return model.Unknown
}

// reread returns the file as it is now, and whether that differs from c. A file that cannot be read, or is being
// replaced, keeps the offsets known before.
func (c *checkpoint) reread(path string) (checkpoint, bool) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkpoint{}, c.info != nil
	case err == nil && c.info != nil && os.SameFile(c.info, info) && c.info.Size() == info.Size() && c.info.ModTime().Equal(info.ModTime()):
		return *c, false
	}
	next := checkpoint{info: info, offsets: c.offsets, err: err}
	b, err := readSmall(path)
	if err != nil {
		next.err = err
		return next, c.err == nil
	}
	lines, err := layout.ParseOffsets(b)
	if err != nil {
		next.err = fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	offsets := make(map[model.TopicPartition]int64, len(lines))
	for _, l := range lines {
		offsets[l.TP] = l.Offset
	}
	same := maps.Equal(offsets, c.offsets) && (next.err == nil) == (c.err == nil)
	next.offsets = offsets
	return next, !same
}

// readSmall reads a file that cannot be large.
func readSmall(path string) ([]byte, error) {
	return segment.ReadRegular(path, maxSmallFile)
}

// list reads the names in the log directory.
func (r *root) list() (listing, error) {
	if r.only == "" {
		return list(r.path)
	}
	name := r.only
	if r.as != "" {
		name = r.as
	}
	d, ok := layout.ParseDirName(name)
	if _, err := os.Stat(filepath.Join(r.path, r.only)); err != nil || !ok {
		return listing{}, err
	}
	return listing{folders: []folder{{name: r.only, Dir: d}}}, nil
}

// checkpoints are the files of offsets in a log directory.
func checkpoints() []string {
	return []string{layout.HighWatermarkFile, layout.RecoveryPointFile, layout.LogStartFile, layout.CleanerFile}
}
