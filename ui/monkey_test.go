package ui

import (
	"flag"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/uitest"
)

var monkeys = flag.Uint64("monkeys", 8, "how many random walks over the pages are tried")

// monkey presses keys without sense.
type monkey struct {
	t    *testing.T
	r    *root
	msgs chan tea.Msg
	rnd  *rand.Rand
}

// run runs a command on its own; what it brings comes when it comes.
func (m *monkey) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() { // ends with the command, at the latest when the root is closed
		switch msg := cmd().(type) {
		case nil, tea.QuitMsg:
		case tea.BatchMsg:
			for _, c := range msg {
				m.run(c)
			}
		default:
			select {
			case m.msgs <- msg:
			case <-m.r.ctx.Done():
			}
		}
	}()
}

func (m *monkey) update(msg tea.Msg) {
	_, cmd := m.r.Update(msg)
	m.run(cmd)
}

// settle takes what has come; the first message is waited for a little.
func (m *monkey) settle() {
	wait := time.NewTimer(2 * time.Millisecond)
	defer wait.Stop()
	for {
		select {
		case msg := <-m.msgs:
			m.update(msg)
		case <-wait.C:
			return
		}
	}
}

// key picks a key: mostly one that the page knows.
func (m *monkey) key() tea.KeyMsg {
	if m.rnd.IntN(3) > 0 {
		rows := m.r.top().page.Commands()
		if m.rnd.IntN(4) == 0 {
			rows = m.r.commands()
		}
		if len(rows) > 0 {
			keys := rows[m.rnd.IntN(len(rows))].Key.Keys()
			return uitest.Key(keys[m.rnd.IntN(len(keys))])
		}
	}
	any := []string{"enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "backspace", "space", "a", "0", "5", "/", "-", "+", ".", "y", "G", "g", "注", "ctrl+u", "ctrl+s", "pgdown"}
	return uitest.Key(any[m.rnd.IntN(len(any))])
}

// leaves reports whether a key ends the program or hands the terminal to another one.
func leaves(k tea.KeyMsg) bool {
	switch k.String() {
	case "q", "ctrl+c", "ctrl+z", "|", "e", "E", "ctrl+o":
		return true
	}
	return false
}

// sourceOf returns the source of a walk: with all abilities, with none, empty, refusing every third question, or hung.
func sourceOf(seed uint64) model.Source {
	src := uitest.NewSource(uitest.Now())
	switch seed % 6 {
	case 1:
		return uitest.Plain(src)
	case 2:
		return &uitest.Source{}
	case 3:
		var asked atomic.Int64
		src.Fail = func(method string) error {
			if asked.Add(1)%3 == 0 {
				return &model.CorruptError{Path: "/data/x\x1b[2J.log", Pos: 16_560, What: method}
			}
			return nil
		}
	case 4:
		return &hung{src}
	}
	return src
}

// TestMonkey presses some hundred keys in each of some walks over all pages, resizes and changes between: nothing may
// panic, and each frame must fit. What leaves the program, or hands the terminal to another one, is left out.
func TestMonkey(t *testing.T) {
	t.Chdir(t.TempDir()) // values may be saved
	for seed := range *monkeys {
		src := sourceOf(seed)
		r, err := newRoot(t.Context(), Options{Source: src, Now: uitest.Now, Environ: []string{"TERM=xterm-256color", "PAGER=true", "EDITOR=true"}})
		if err != nil {
			t.Fatal(err)
		}
		m := &monkey{t: t, r: r, msgs: make(chan tea.Msg), rnd: rand.New(rand.NewPCG(seed, 1))}
		m.update(tea.WindowSizeMsg{Width: 100, Height: 30})
		m.run(r.Init())
		var trail []string
		for range 150 {
			k := m.key()
			if leaves(k) {
				continue
			}
			trail = append(trail, k.String())
			m.update(k)
			m.settle()
			if m.rnd.IntN(20) == 0 {
				m.update(tea.WindowSizeMsg{Width: 1 + m.rnd.IntN(150), Height: 1 + m.rnd.IntN(50)})
			}
			if s, ok := src.(*uitest.Source); ok && m.rnd.IntN(20) == 0 {
				s.Changed(model.Change{Version: 1, All: true, Topics: true, Groups: true})
			}
			frame := r.View()
			if r.crash != nil {
				t.Fatalf("seed %d: after %s: %v", seed, strings.Join(trail, " "), r.crash)
			}
			lines := strings.Split(frame, "\n")
			if len(lines) != r.h {
				t.Fatalf("seed %d: after %s: %d lines of %d", seed, strings.Join(trail, " "), len(lines), r.h)
			}
			for _, l := range lines {
				if n := ansi.StringWidth(l); n != r.w {
					t.Fatalf("seed %d: after %s: a line of %d cells in %d: %q", seed, strings.Join(trail, " "), n, r.w, ansi.Strip(l))
				}
			}
		}
		r.close()
	}
}
