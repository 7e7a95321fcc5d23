package change

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/ui/page"
)

const (
	again     = "again" // ID of the timer of a reading put off
	readEvery = time.Second
)

// throttle lets a page read again at most once a second, and once more after the last change. The zero throttle is ready.
type throttle struct {
	read  time.Time
	armed bool // the timer runs
}

// changed returns what a change asks for: reading at once, or the timer after which to read, or nothing when that runs.
func (t *throttle) changed(now time.Time, reload func() tea.Cmd) tea.Cmd {
	left := readEvery - now.Sub(t.read)
	switch {
	case t.armed:
		return nil
	case left <= 0:
		t.read = now
		return reload()
	}
	t.armed = true
	return page.Send(page.TickIn{After: left, ID: again})
}

// tick reads what was put off.
func (t *throttle) tick(now time.Time, reload func() tea.Cmd) tea.Cmd {
	t.armed, t.read = false, now
	return reload()
}
