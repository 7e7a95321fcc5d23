package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"
)

// settings is the settings file but for its profiles, which the engines read. A flag wins over it.
type settings struct {
	Data   string `toml:"data"`
	TZ     string `toml:"tz"`
	Theme  string `toml:"theme"`
	ASCII  bool   `toml:"ascii"`
	Listen string `toml:"listen"` // HOST:PORT where Kafka clients are served
}

// loadConfig reads the settings file. A missing one is an error only where --config named it.
func (a *app) loadConfig() error {
	path, named := a.settingsPath(), a.opts.config != ""
	b, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && !named {
			return nil
		}
		return fmt.Errorf("settings: %w", err)
	}
	var s settings
	if err := toml.Unmarshal(b, &s); err != nil {
		var de *toml.DecodeError
		if errors.As(err, &de) {
			row, col := de.Position()
			return fmt.Errorf("settings %s, line %d, column %d: %w", path, row, col, err)
		}
		return fmt.Errorf("settings %s: %w", path, err)
	}
	fill(&a.opts.data, s.Data)
	fill(&a.opts.tz, s.TZ)
	fill(&a.opts.theme, s.Theme)
	fill(&a.opts.listens, s.Listen)
	a.opts.ascii = a.opts.ascii || s.ASCII
	return nil
}

// settingsPath is the settings file.
func (a *app) settingsPath() string {
	if a.opts.config != "" {
		return a.opts.config
	}
	return filepath.Join(xdg("XDG_CONFIG_HOME", ".config"), "strata", "config.toml")
}

func fill(flag *string, setting string) {
	if *flag == "" {
		*flag = setting
	}
}
