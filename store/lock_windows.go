package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockAt lies behind what is written into the file, because here a locked range cannot be read by others.
const lockAt = 1 << 30

func tryLock(f *os.File) (held bool, pid int, err error) {
	o := windows.Overlapped{Offset: lockAt}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &o)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return true, 0, nil
	}
	return false, 0, err
}

func testLock(f *os.File) (held bool, pid int, err error) {
	held, _, err = tryLock(f)
	if held || err != nil {
		return held, 0, err
	}
	o := windows.Overlapped{Offset: lockAt}
	return false, 0, windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &o)
}
