//go:build unix

package ui

import (
	"os"
	"os/signal"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
)

// watchSignals ends the program when the terminal is closed (SIGHUP), and lets it give the terminal back before it is
// stopped from outside (SIGTSTP). Bubble Tea itself takes SIGINT, SIGTERM and SIGWINCH. stop ends the watch.
func watchSignals(r *root, p *tea.Program) (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP, syscall.SIGTSTP)
	done, ended := make(chan struct{}), make(chan struct{})
	r.resumed = func() { signal.Notify(c, syscall.SIGTSTP) }
	r.suspending = func() { signal.Reset(syscall.SIGTSTP) }
	go func() { // ends with stop
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case s := <-c:
				if s == syscall.SIGHUP {
					r.gone.Store(true)
					p.Kill()
					continue
				}
				p.Send(suspendMsg{})
			}
		}
	}()
	return func() {
		signal.Stop(c)
		close(done)
		<-ended
	}
}
