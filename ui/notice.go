package ui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
)

// startSpin keeps the spinner turning while the page on top waits for something slow.
func (r *root) startSpin() tea.Cmd {
	if r.spinning || !r.busy() {
		return nil
	}
	r.spinning = true
	return tea.Tick(100*time.Millisecond, func(time.Time) tea.Msg { return spinMsg{} })
}

func (r *root) busy() bool {
	if len(r.stack) == 0 {
		return false
	}
	b, ok := r.top().page.(page.Busier)
	return ok && b.Busy()
}

// maxPending bounds the notices that wait to be said.
const maxPending = 20

// learn takes what the source says of itself; its notices are said once.
func (r *root) learn(in model.Info) {
	for _, n := range in.Notices {
		if len(r.pending) < maxPending && !slices.Contains(r.info.Notices, n) {
			r.pending = append(r.pending, n)
		}
	}
	if r.info.Kind == "" {
		if r.state.Source != in.Name {
			r.state.Place = ""
		}
		if r.state.Place != "" && whole(r.opts.Open) == model.TopicAddress("") && r.notice.Text == "" {
			r.say(page.Info, "last time you were at "+r.state.Place+": : and enter goes there")
		}
	}
	r.info = in
}

// say puts a notice on the status line.
func (r *root) say(level page.Level, text string) {
	r.notice, r.noticed = page.Notice{Text: text, Level: level}, 0
}

// noticeSeconds is how long a notice stays that wants nothing done; warnings stay until a key is pressed.
const noticeSeconds = 5

func (r *root) fade() {
	if r.noticed++; r.noticed > noticeSeconds && r.notice.Level < page.Warn {
		r.notice = page.Notice{}
	}
}

// sayPending says what was to be said at the start, one a second.
func (r *root) sayPending() {
	if r.notice.Text == "" && len(r.pending) > 0 {
		r.say(page.Warn, r.pending[0])
		r.pending = r.pending[1:]
	}
}
