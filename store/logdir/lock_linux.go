package logdir

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lockHolder asks the kernel's table who holds a lock on a file. The file itself is not opened: a process that closes
// a file loses its own locks on it. pid is 0 where the holder is out of sight (another container's).
func lockHolder(path string) (pid int, held bool) {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return 0, false
	}
	table, err := os.Open("/proc/locks")
	if err != nil {
		return 0, false
	}
	defer table.Close()
	// 1: POSIX  ADVISORY  WRITE 4711 fe:01:131 0 EOF
	want := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	inode := ":" + strconv.FormatUint(st.Ino, 10)
	for lines := bufio.NewScanner(table); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 6 || f[1] == "->" || f[3] != "WRITE" {
			continue
		}
		n, err := strconv.Atoi(f[4])
		if err != nil {
			continue
		}
		// A layered file system shows another device there than stat does: then the process must have it open.
		if f[5] == want || strings.HasSuffix(f[5], inode) && hasOpen(n, path) {
			return max(n, 0), true
		}
	}
	return 0, false
}

// hasOpen reports whether a process has a file open, as far as that can be seen.
func hasOpen(pid int, path string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if to, err := os.Readlink(dir + "/" + fd.Name()); err == nil && to == path {
			return true
		}
	}
	return false
}
