//go:build unix

package segment

import (
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// mapFileRead maps the first size bytes of a file to be read at random; nil where that cannot be.
func mapFileRead(r io.ReaderAt, size int64) []byte {
	f, ok := r.(*os.File)
	if !ok || size <= 0 || int64(int(size)) != size {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	var m []byte
	err = raw.Control(func(fd uintptr) {
		if b, merr := unix.Mmap(int(fd), 0, int(size), unix.PROT_READ, unix.MAP_SHARED); merr == nil {
			m = b
		}
	})
	if err != nil || m == nil {
		return nil
	}
	_ = unix.Madvise(m, unix.MADV_RANDOM) // only advice
	return m
}

func unmapFileRead(m []byte) { _ = unix.Munmap(m) }

// peek reads headers from pos on. It is false where the file does not reach there any more: touching such a page raises
// SIGBUS, which the runtime turns into a panic that can be recovered from.
func peek(m []byte, pos int64, p *peeks) (ok bool) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if e := recover(); e != nil {
			if _, fault := e.(interface{ Addr() uintptr }); !fault {
				panic(e)
			}
			p.n, ok = 0, false
		}
	}()
	p.take(m, pos)
	if p.n > 0 {
		last := p.n - 1
		passed(m, pos, p.pos[last]+p.head[last].Size())
	}
	return true
}

// mapKept is how much of a mapped file stays in the process' memory behind where it is read, a power of two.
const mapKept = 16 << 20

// passed gives back what lies before the part of the file that to is in, where from is in an earlier part. The system
// keeps the pages as long as it likes; a process that walks gigabytes does not count them as its own.
func passed(m []byte, from, to int64) {
	from, to = from&^(mapKept-1), min(to, int64(len(m)))&^(mapKept-1)
	if from < to {
		_ = unix.Madvise(m[from:to], unix.MADV_DONTNEED) // only advice
	}
}
