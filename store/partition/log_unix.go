//go:build unix

package partition

import (
	"errors"

	"golang.org/x/sys/unix"
)

// ignoreUnsupported drops the error of a file system that cannot flush a folder.
func ignoreUnsupported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}
