package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	askSave = "save"
	askOver = "overwrite"
)

// saved is what saving came to.
type saved struct {
	path  string
	bytes int
	there fs.FileInfo // not nil: a file is there already, nothing was written
}

func (p *record) whyNoSave() string {
	switch {
	case p.rec == nil:
		return "there is no record here"
	case p.bytes() == nil:
		return "the " + p.what() + " is null: there is nothing to save"
	}
	return ""
}

// what names what the body shows.
func (p *record) what() string {
	if p.part == headersPart {
		return "header"
	}
	return p.part.String()
}

func (p *record) askPath() tea.Cmd {
	return page.Send(page.Ask{ID: askSave, Prompt: "save the " + p.what() + " to", Initial: p.fileName(), Hint: "the raw bytes, " + kit.BytesText(int64(len(p.bytes()))) + ", as they are in the log"})
}

// fileName proposes a name: orders-2-4640613.json.
func (p *record) fileName() string {
	clean := strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, p.tp.String())
	name := fmt.Sprintf("%s-%d", clean, p.offset)
	if p.part != valuePart {
		name += "-" + p.what()
	}
	for _, f := range p.forms {
		if f == jsonForm {
			return name + ".json"
		}
	}
	if readable(p.bytes()) {
		return name + ".txt"
	}
	return name + ".bin"
}

// write writes the bytes on screen to a file.
func (p *record) write(path string, over bool) tea.Cmd {
	b := p.bytes()
	if b == nil {
		return page.Say(page.Warn, p.whyNoSave())
	}
	return p.save.Start(p.Ctx, func(context.Context) (saved, error) { return writeFile(path, b, over) })
}

func (p *record) wrote(s saved, err error) tea.Cmd {
	switch {
	case err != nil:
		return page.Say(page.Bad, kit.Safe(err.Error(), 400))
	case s.there != nil:
		p.pending = s.path
		return page.Send(page.Confirm{ID: askOver, Title: "overwrite " + s.path + "?", Body: []string{
			"it holds " + kit.BytesText(s.there.Size()) + ", written " + p.Clock.Stamp(s.there.ModTime().UnixMilli()),
			"the " + p.what() + " of " + p.Address().String() + ", " + kit.BytesText(int64(len(p.bytes()))) + ", takes its place",
		}})
	}
	return page.Say(page.Good, "saved "+kit.BytesText(int64(s.bytes))+" to "+s.path)
}

// writeFile writes bytes to a path, whole or not at all. A file that is there is replaced only with over.
func writeFile(path string, b []byte, over bool) (saved, error) {
	s := saved{path: path, bytes: len(b)}
	fail := func(err error) (saved, error) { return s, fmt.Errorf("save to %s: %w", s.path, err) }
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return fail(err)
		}
		s.path = filepath.Join(home, rest)
	}
	if abs, err := filepath.Abs(s.path); err == nil {
		s.path = abs
	}
	switch st, err := os.Stat(s.path); {
	case err == nil && !st.Mode().IsRegular():
		return fail(errors.New("that is no file, but a directory or a device"))
	case err == nil && !over:
		s.there = st
		return s, nil
	case err == nil:
		if s.path, err = filepath.EvalSymlinks(s.path); err != nil {
			return fail(err)
		}
		return s, replace(s.path, b, st.Mode().Perm())
	}
	f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fail(err)
	}
	if err := fill(f, b); err != nil {
		return fail(errors.Join(err, os.Remove(s.path)))
	}
	return s, nil
}

// replace puts bytes in the place of a file.
func replace(path string, b []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".strata-*")
	if err != nil {
		return fmt.Errorf("save to %s: %w", path, err)
	}
	err = fill(f, b)
	if err == nil {
		err = os.Chmod(f.Name(), mode)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("save to %s: %w", path, errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// fill writes a file and closes it.
func fill(f *os.File, b []byte) error {
	_, err := f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
