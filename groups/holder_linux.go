package groups

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// holder returns the process that holds a lock on the file, or 0. The kernel's list of locks is asked first; where it says
// nothing (another namespace, a sandbox) a process that has the file open is taken.
func holder(path string) int {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	if pid := lockHolder(st); pid > 0 {
		return pid
	}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0
	}
	self := 0
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || !opens(dir, st) {
			continue
		}
		if pid != os.Getpid() {
			return pid
		}
		self = pid
	}
	return self
}

// lockHolder reads lines like "1: FLOCK  ADVISORY  WRITE 4711 fe:00:131073 0 EOF".
func lockHolder(st os.FileInfo) int {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	f, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer f.Close()
	suffix := fmt.Sprintf(":%d", sys.Ino)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		w := strings.Fields(lines.Text())
		if len(w) < 6 || w[1] == "->" || !strings.HasSuffix(w[5], suffix) {
			continue
		}
		if pid, err := strconv.Atoi(w[4]); err == nil && pid > 0 && opens(fmt.Sprintf("/proc/%d", pid), st) {
			return pid
		}
	}
	return 0
}

// opens reports whether the process of a /proc folder has the file open.
func opens(proc string, st os.FileInfo) bool {
	fds, err := os.ReadDir(proc + "/fd")
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if other, err := os.Stat(proc + "/fd/" + fd.Name()); err == nil && os.SameFile(st, other) {
			return true
		}
	}
	return false
}
