//go:build linux || darwin

package store

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// usage asks a directory's file system for its size and what is left, bytes.
func usage(dir string) (total, usable int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return -1, -1, fmt.Errorf("ask how full %s is: %w", dir, err)
	}
	return int64(s.Blocks * uint64(s.Bsize)), int64(s.Bavail * uint64(s.Bsize)), nil
}
