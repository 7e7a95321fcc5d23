//go:build unix

package segment

import (
	"golang.org/x/sys/unix"
)

// mapFile maps size bytes of f for writing. It returns nil where f is no file of the system's, or empty.
func mapFile(f AppendFile, size int64) ([]byte, error) {
	fd, ok := f.(interface{ Fd() uintptr })
	if !ok || size == 0 {
		return nil, nil
	}
	return unix.Mmap(int(fd.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func unmapFile(m []byte) error {
	if m == nil {
		return nil
	}
	return unix.Munmap(m)
}
