//go:build unix

package ui

import (
	"os"
	"syscall"
)

// endSignals end the program: asked from outside, or the terminal was closed.
func endSignals() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

// stopSignals ask the program to stop and give the terminal back meanwhile.
func stopSignals() []os.Signal { return []os.Signal{syscall.SIGTSTP} }

// stopGroup stops the process and those that it was started together with, until SIGCONT.
func stopGroup() { _ = syscall.Kill(0, syscall.SIGSTOP) }
