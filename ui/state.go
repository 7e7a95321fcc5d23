package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"

	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// state is what shall be as it was at the next start, and what the state file holds:
//
//	place = "orders/2"
//	source = "/var/lib/kafka/data"
//	theme = "dark"
//	times = "utc"
//	internal = false
//	no_mouse = false
//	[pages.topics]
//	sort = "lag desc"
type state struct {
	Place    string                       `toml:"place,omitempty"`
	Source   string                       `toml:"source,omitempty"` // the source that place is in
	Theme    string                       `toml:"theme,omitempty"`
	Times    string                       `toml:"times,omitempty"`
	Internal bool                         `toml:"internal,omitempty"`
	NoMouse  bool                         `toml:"no_mouse,omitempty"`
	Pages    map[string]map[string]string `toml:"pages,omitempty"`
}

// Bounds of what is remembered, so that the file stays small whatever pages say.
const (
	maxStateFile   = 1 << 20
	maxRemembered  = 64
	maxRememberLen = 1024
)

// loadState reads the file; a missing one is the zero state, a damaged one too, with an error to be said.
func loadState(path string) (state, error) {
	if path == "" {
		return state{}, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return state{}, nil
	case err != nil:
		return state{}, err
	case info.Size() > maxStateFile:
		return state{}, fmt.Errorf("%s: too large", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return state{}, err
	}
	var s state
	if err := toml.Unmarshal(b, &s); err != nil {
		return state{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// save writes the file anew, whole or not at all.
func (s state) save(path string) error {
	b, err := toml.Marshal(s)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".state-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// forms are the words for the forms of times, in their order.
func forms() [4]string { return [...]string{"local", "utc", "epoch", "ago"} }

func nameOf(f kit.TimeForm) string { return forms()[f] }

func formOf(name string) kit.TimeForm {
	for i, n := range forms() {
		if n == name {
			return kit.TimeForm(i)
		}
	}
	return kit.LocalTime
}

func (s *state) recall(kind page.Kind, key string) string { return s.Pages[string(kind)][key] }

func (s *state) remember(kind page.Kind, key, value string) {
	if s.Pages == nil {
		s.Pages = map[string]map[string]string{}
	}
	m := s.Pages[string(kind)]
	if m == nil {
		m = map[string]string{}
		s.Pages[string(kind)] = m
	}
	switch {
	case value == "":
		delete(m, key)
	case len(m) < maxRemembered && len(key)+len(value) < maxRememberLen:
		m[key] = value
	}
}

// save keeps where the explorer was left. What cannot be kept is not worth an error at the end.
func (r *root) save() {
	if r.opts.StatePath == "" {
		return
	}
	if len(r.stack) > 0 {
		r.state.Place, r.state.Source = r.top().address().String(), r.info.Name
	}
	_ = r.state.save(r.opts.StatePath)
}
