package segment

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// dataExtent returns the first run of data in [pos, end): data and hole are both end when only holes are left. ok is
// false where the file system cannot tell.
func dataExtent(f *os.File, pos, end int64) (data, hole int64, ok bool) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	err = raw.Control(func(fd uintptr) {
		var serr error
		data, serr = unix.Seek(int(fd), pos, unix.SEEK_DATA)
		if errors.Is(serr, unix.ENXIO) {
			data, hole, ok = end, end, true
			return
		}
		if serr != nil {
			return
		}
		hole, serr = unix.Seek(int(fd), data, unix.SEEK_HOLE)
		ok = serr == nil && hole > data && data >= pos
	})
	if err != nil || !ok {
		return 0, 0, false
	}
	return min(data, end), min(hole, end), true
}
