//go:build unix && !aix && !solaris

package groups

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// errHeld says that the lock was not to be had in time.
var errHeld = errors.New("held")

// lockFile takes bbolt's own kind of lock before bbolt does, so that nothing looks at the file while another process
// writes it. It is let go of when all duplicates of the file are closed.
func lockFile(f *os.File, exclusive bool, deadline time.Time) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		if !time.Now().Before(deadline) {
			return errHeld
		}
		<-again.C
	}
}

// duplicate returns another file on the same open file, and so on the same lock.
func duplicate(f *os.File) (*os.File, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// unlockFile lets go of the lock, also for all duplicates.
func unlockFile(f *os.File) error {
	return os.NewSyscallError("flock", syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
}
