package store

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock on f, or says that another holds it, and its process id where the system knows it. The lock is
// of the kind that Java's FileChannel takes, but belongs to the open file, so that another descriptor of the same
// process being closed does not lose it, and a second Engine in this process is refused too.
func tryLock(f *os.File) (held bool, pid int, err error) {
	l := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &l)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		_, pid, _ = testLock(f)
		return true, pid, nil
	}
	return false, 0, err
}

// testLock says whether another open file holds a lock on f.
func testLock(f *os.File) (held bool, pid int, err error) {
	l := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &l); err != nil {
		return false, 0, err
	}
	return l.Type != unix.F_UNLCK, max(0, int(l.Pid)), nil
}
