package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// errNotRegular says that a name leads to something that is read at one's peril.
var errNotRegular = errors.New("it is no regular file")

// OpenRegular opens a file for reading. Anything but a regular file is an error: to open a FIFO would wait for a writer
// for ever, and a device has no end.
func OpenRegular(path string) (*os.File, error) {
	f, _, err := openRegular(path)
	return f, err
}

// openRegular is OpenRegular with the size that the file had.
func openRegular(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, errNotRegular)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// ReadRegular reads a regular file of at most limit bytes; a longer one is an error.
func ReadRegular(path string, limit int64) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case int64(len(b)) > limit:
		return nil, fmt.Errorf("%s: longer than %d bytes, which is too long to be what its name says", path, limit)
	}
	return b, nil
}
