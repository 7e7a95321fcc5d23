package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// Options say what the explorer shows and how. The zero value but for Source is the default.
type Options struct {
	Source model.Source
	// Open is where to begin; the zero address is the list of topics. With Kind, the screen to show it on.
	Open model.Address
	Kind page.Kind
	// Theme is a name of kit.Themes; "" takes the one of the last time, or the one that the terminal asks for.
	Theme   string
	ASCII   bool // glyphs of 7 bits
	NoColor bool
	NoMouse bool
	// Form is how times are written; Zone the zone of local times, nil for the machine's.
	Form kit.TimeForm
	Zone *time.Location
	// StatePath is the file that keeps what shall be as it was at the next start; "" keeps nothing.
	StatePath string
	Version   string
	// Notices are said once the first frame is there.
	Notices []string
	// Environ is the environment that colours are chosen by; nil means the process's.
	Environ []string
	Now     func() time.Time // nil means time.Now
	Input   io.Reader        // nil means standard input, or the terminal when that is none
	Output  *os.File         // nil means standard output
}

// CrashError is a panic within the explorer, told after the terminal was restored.
type CrashError struct {
	Value any
	Stack []byte
}

// Error says what and where.
func (e *CrashError) Error() string {
	return fmt.Sprintf("strata stopped on a fault of its own: %v\n\n%s", e.Value, e.Stack)
}

var errNoTerminal = errors.New("the explorer needs a terminal, and standard output is none: strata topics, read, tail … answer without one")

// Run shows the explorer until it is left, ctx ends, or the terminal goes away. The terminal is whole again when it
// returns, and the source is still open: it is the caller's. A panic comes back as a *CrashError.
func Run(ctx context.Context, o Options) error {
	r, err := newRoot(ctx, o)
	if err != nil {
		return err
	}
	defer r.close()
	out := o.Output
	if out == nil {
		out = os.Stdout
	}
	if st, err := out.Stat(); err == nil && st.Mode()&os.ModeCharDevice == 0 {
		return errNoTerminal
	}
	r.term = &terminal{File: out}
	opts := []tea.ProgramOption{
		tea.WithOutput(r.term), tea.WithFPS(120), tea.WithAltScreen(), tea.WithoutCatchPanics(), tea.WithoutSignalHandler(),
	}
	if o.Input != nil {
		opts = append(opts, tea.WithInput(o.Input))
	}
	if r.mouse {
		opts = append(opts, tea.WithMouseCellMotion())
	}
	p := tea.NewProgram(r, opts...)
	stop := r.watch(p)
	_, err = p.Run()
	stop()
	r.save()
	switch {
	case r.crash != nil:
		return r.crash
	case r.gone.Load(), errors.Is(err, syscall.EIO), ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("terminal: %w", err)
	}
	return nil
}

// terminal is the output, with a lock, so that what is written beside the frames (the clipboard) does not fall into the
// middle of one.
type terminal struct {
	*os.File
	mu sync.Mutex
}

// Write writes all of b, alone.
func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.File.Write(b)
}

// WriteString hides that of the file, which knows no lock.
func (t *terminal) WriteString(s string) (int, error) { return t.Write([]byte(s)) }
