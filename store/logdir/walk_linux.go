package logdir

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/strata-kafka/strata/model"
)

// A linux_dirent64: inode i64, offset i64, record length u16, kind u8, name to its zero byte. All in the machine's order.
const (
	direntLen  = 16
	direntKind = 18
	direntName = 19
)

// entries calls each for the names that getdents gave, but for . and ... The name is valid until each returns.
func entries(buf []byte, each func(name []byte, k byte)) {
	for len(buf) >= direntName {
		n := int(binary.NativeEndian.Uint16(buf[direntLen:]))
		if n < direntName || n > len(buf) {
			return
		}
		name := buf[direntName:n]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if string(name) != "." && string(name) != ".." {
			each(name, buf[direntKind])
		}
		buf = buf[n:]
	}
}

// readNames calls each for the names in a folder.
func readNames(dir string, each func(name string, k kind)) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer closeFD(fd)
	buf := make([]byte, 64<<10)
	for {
		n, err := getdents(fd, buf)
		if err != nil {
			return &os.PathError{Op: "read", Path: dir, Err: err}
		}
		if n == 0 {
			return nil
		}
		entries(buf[:n], func(name []byte, k byte) {
			switch k {
			case unix.DT_DIR:
				each(string(name), kindDir)
			case unix.DT_REG, unix.DT_FIFO, unix.DT_SOCK, unix.DT_CHR, unix.DT_BLK:
				each(string(name), kindFile)
			default:
				each(string(name), kindOther)
			}
		})
	}
}

// closeFD closes what was only read from: an error says nothing that anybody could act on.
func closeFD(fd int) { _ = unix.Close(fd) }

func getdents(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Getdents(fd, buf)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// measurer looks at partition folders of one root. It holds the root open, so that a name is looked up from there.
type measurer struct {
	root string
	fd   int
	buf  []byte
}

func newMeasurer(root string) (*measurer, error) {
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: root, Err: err}
	}
	return &measurer{root: root, fd: fd, buf: make([]byte, 32<<10)}, nil
}

func (m *measurer) close() { closeFD(m.fd) }

// folder adds up the .log files of a folder. A file that goes away meanwhile is not counted.
func (m *measurer) folder(name string) sums {
	s := sums{oldest: model.Unknown, newest: model.Unknown}
	fd, err := unix.Openat(m.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return noSums(&os.PathError{Op: "open", Path: filepath.Join(m.root, name), Err: err})
	}
	defer closeFD(fd)
	var st unix.Stat_t
	for {
		n, err := getdents(fd, m.buf)
		if err != nil {
			s.err = &os.PathError{Op: "read", Path: filepath.Join(m.root, name), Err: err}
			return s
		}
		if n == 0 {
			return s
		}
		entries(m.buf[:n], func(file []byte, _ byte) {
			if !bytes.HasSuffix(file, []byte(".log")) {
				return
			}
			switch err := unix.Fstatat(fd, string(file), &st, 0); err {
			case nil:
				s.add(file, st.Size, st.Mtim.Nano())
			case unix.ENOENT:
			default:
				s.err = &os.PathError{Op: "stat", Path: filepath.Join(m.root, name, string(file)), Err: err}
			}
		})
	}
}
