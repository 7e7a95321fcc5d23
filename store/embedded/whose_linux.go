package embedded

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/layout"
)

// whose finds out which process serves an address. One of another user cannot be looked into, and counts as unknown.
func whose(address string) *TakenError {
	e := &TakenError{Address: address}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return e
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return e
	}
	sockets := listening(n)
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return e
	}
	for _, proc := range procs {
		if has(proc, func(link string) bool { return sockets[link] }) {
			e.Known = true
			e.PID, e.Dir = strataOf(proc)
			return e
		}
	}
	return e
}

// listening returns the sockets that listen on a port, as the links in /proc/PID/fd name them.
func listening(port int) map[string]bool {
	sockets := map[string]bool{}
	suffix := fmt.Sprintf(":%04X", port)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			const local, state, inode, listen = 1, 3, 9, "0A"
			if w := strings.Fields(lines.Text()); len(w) > inode && w[state] == listen && strings.HasSuffix(w[local], suffix) {
				sockets["socket:["+w[inode]+"]"] = true
			}
		}
		_ = f.Close() // it was only read
	}
	return sockets
}

// has reports whether a process has a file open whose link is wanted.
func has(proc string, wanted func(link string) bool) bool {
	fds, err := os.ReadDir(proc + "/fd")
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if link, err := os.Readlink(proc + "/fd/" + fd.Name()); err == nil && wanted(link) {
			return true
		}
	}
	return false
}

// strataOf returns the process's id and its data directory, where it holds the lock of one and has signed it; a Kafka
// broker leaves the lock's file empty.
func strataOf(proc string) (pid int, dir string) {
	id, err := strconv.Atoi(filepath.Base(proc))
	if err != nil {
		return 0, ""
	}
	has(proc, func(link string) bool {
		if filepath.Base(link) != layout.LockFile {
			return false
		}
		if h, held := store.LockHolder(filepath.Dir(link)); !held || h.PID != id {
			return false
		}
		pid, dir = id, filepath.Dir(link)
		return true
	})
	return pid, dir
}
