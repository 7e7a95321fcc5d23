package ui

import (
	"os"
	"os/signal"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// quitPatience is how long the program may take to end by itself before its terminal is taken from it.
const quitPatience = 2 * time.Second

// watch ends the program when a signal says so or the context ends, and lets it give the terminal back before it is
// stopped from outside. Bubble Tea's own watch would kill where this one quits, and so leave its reader running. The
// returned func ends the watch.
func (r *root) watch(p *tea.Program) (stop func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, append(endSignals(), stopSignals()...)...)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-r.ctx.Done():
				end(p, done)
				return
			case s := <-c:
				switch {
				case slices.Contains(endSignals(), s):
					r.gone.Store(true)
					end(p, done)
					return
				case r.suspending.Load():
					// Bubble Tea has given the terminal back and stops the process group by SIGTSTP, which comes here
					// instead: the Go runtime does not let go of a signal that was once watched.
					stopGroup()
				default:
					p.Send(suspendMsg{})
				}
			}
		}
	}()
	return func() {
		// The signals stay caught: a SIGHUP may come after the read that failed for the same reason, and must not end
		// the process before the source is closed.
		close(done)
		<-ended
	}
}

// end lets the program quit, and kills it when it does not.
func end(p *tea.Program, done <-chan struct{}) {
	sent := make(chan struct{})
	go func() { // ends when the program takes the message or has ended
		p.Quit()
		close(sent)
	}()
	t := time.NewTimer(quitPatience)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		p.Kill()
	}
	<-sent
}
