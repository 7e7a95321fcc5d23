//go:build unix && !linux

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock on f, or says that another holds it. The system does not say who.
func tryLock(f *os.File) (held bool, pid int, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, 0, nil
	}
	return false, 0, err
}

// testLock says whether another open file holds the lock on f.
func testLock(f *os.File) (held bool, pid int, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, 0, nil
	}
	if err != nil {
		return false, 0, err
	}
	return false, 0, unix.Flock(int(f.Fd()), unix.LOCK_UN)
}
