//go:build !unix || aix || solaris

package groups

import (
	"errors"
	"os"
	"time"
)

// errHeld says that the lock was not to be had in time.
var errHeld = errors.New("held")

// lockFile leaves the locking to bbolt, whose locks here belong to one file handle.
func lockFile(*os.File, bool, time.Time) error { return nil }

// duplicate opens the file once more.
func duplicate(f *os.File) (*os.File, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Mode().Perm()&0o222 == 0 {
		return os.Open(f.Name())
	}
	return os.OpenFile(f.Name(), os.O_RDWR, 0)
}

// unlockFile has nothing to let go of: a file handle that bbolt cannot close keeps its lock until the process ends.
func unlockFile(*os.File) error { return nil }
