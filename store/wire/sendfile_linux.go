package wire

import (
	"fmt"
	"io"
	"net"

	"golang.org/x/sys/unix"

	"github.com/strata-kafka/strata/store/partition"
)

// sendStep is how much of a file the kernel is asked to send at once, bytes.
const sendStep = 1 << 20

// canSend reports whether files can be sent to a connection.
func canSend(nc net.Conn) bool {
	_, ok := nc.(*net.TCPConn)
	return ok
}

// sendFile sends a slice from its file, without a copy of it in our memory.
func sendFile(c *conn, nc net.Conn, p *partition.Slice) error {
	tc, ok := nc.(*net.TCPConn)
	if !ok {
		return errClose
	}
	raw, err := tc.SyscallConn()
	if err != nil {
		return err
	}
	f, pos := p.File()
	fd, left := int(f.Fd()), p.Size
	var failed error
	if err := c.progress(); err != nil {
		return err
	}
	err = raw.Write(func(to uintptr) bool {
		for moved := false; left > 0; {
			n, err := unix.Sendfile(int(to), fd, &pos, int(min(left, sendStep)))
			switch {
			case n > 0:
				left -= int64(n)
				moved = true
				continue
			case err == unix.EINTR:
				continue
			case err == unix.EAGAIN:
				if moved {
					failed = c.progress()
				}
				return failed != nil
			case err == nil:
				err = io.ErrUnexpectedEOF // the file is shorter than it was
			}
			failed = fmt.Errorf("send records: %w", err)
			return true
		}
		return true
	})
	if failed == nil {
		failed = err
	}
	return failed
}
