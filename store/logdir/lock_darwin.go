package logdir

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockHolder asks who would be in the way of a lock on a file, without taking it.
func lockHolder(path string) (pid int, held bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	l := unix.Flock_t{Type: unix.F_WRLCK}
	if unix.FcntlFlock(f.Fd(), unix.F_GETLK, &l) != nil || l.Type == unix.F_UNLCK {
		return 0, false
	}
	return int(l.Pid), true
}
