package logdir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// Recognize returns nil where a directory is a log directory (a broker's mark lies in it, or a partition's folder) or a partition's folder, and else an error that says what was looked for, and where below it there is one.
// Errors wrap model.ErrInvalid. Open takes any directory.
func Recognize(dir string) error {
	ok, err := isLogDir(dir)
	if ok || err != nil {
		return err
	}
	near := ""
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		sub := filepath.Join(dir, e.Name())
		if ok, err := isLogDir(sub); ok && err == nil {
			near = "; did you mean " + sub + "?"
			break
		}
	}
	return fmt.Errorf("%w source %s: no meta.properties and no partition's folder (like orders-0) in it, so it is no log directory%s", model.ErrInvalid, dir, near)
}

// isLogDir looks no further than the first sign.
func isLogDir(dir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dir, layout.MetaFile)); err == nil {
		return true, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(512)
		if slices.ContainsFunc(names, func(n string) bool { return isSegment(n) || isPartition(dir, n) }) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

func isSegment(name string) bool {
	f, ok := layout.ParseFileName(name)
	return ok && f.Kind == layout.KindLog
}

// isPartition reports whether a folder is named as a partition and holds a partition's files, or nothing.
func isPartition(dir, name string) bool {
	if _, ok := layout.ParseDirName(name); !ok {
		return false
	}
	entries, err := os.ReadDir(filepath.Join(dir, name))
	return err == nil && (len(entries) == 0 || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		_, ok := layout.ParseFileName(e.Name())
		return ok || e.Name() == layout.EpochsFile || e.Name() == layout.PartitionMetaFile
	}))
}
