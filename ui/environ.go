package ui

import (
	"cmp"
	"os"
	"strings"

	"github.com/strata-kafka/strata/ui/kit"
)

// environ is the environment, as far as it is asked.
type environ map[string]string

func readEnviron(list []string) environ {
	if list == nil {
		list = os.Environ()
	}
	e := environ{}
	for _, kv := range list {
		if k, v, ok := strings.Cut(kv, "="); ok {
			e[k] = v
		}
	}
	return e
}

func (e environ) get(name string) string { return e[name] }

// depth returns how many colours the terminal says it has.
func (e environ) depth() kit.Depth {
	term, color := e["TERM"], e["COLORTERM"]
	switch {
	case color == "truecolor" || color == "24bit" || strings.HasSuffix(term, "-direct"), term == "xterm-kitty", term == "alacritty", term == "xterm-ghostty", e["WT_SESSION"] != "":
		return kit.TrueColor
	case strings.Contains(term, "256color"):
		return kit.Colors256
	}
	return kit.Colors16
}

// light reports whether the terminal says that its background is bright: COLORFGBG is "text;background" in the terminal's
// sixteen colours.
func (e environ) light() bool {
	v := e["COLORFGBG"]
	bg := v[strings.LastIndexByte(v, ';')+1:]
	return bg == "7" || bg == "15"
}

// chooseTheme takes the theme that was asked for, then NO_COLOR, then the last time's, then the terminal's.
func (r *root) chooseTheme() (*kit.Theme, error) {
	name := r.opts.Theme
	if name == "" {
		name = r.state.Theme
	}
	if r.opts.NoColor || r.opts.Theme == "" && r.env["NO_COLOR"] != "" {
		name = "none"
	}
	if name == "" {
		name = "dark"
		if r.env.light() {
			name = "light"
		}
	}
	ascii := r.opts.ASCII
	if locale := cmp.Or(r.env["LC_ALL"], r.env["LC_CTYPE"], r.env["LANG"]); locale == "C" || locale == "POSIX" {
		ascii = true
	}
	r.opts.ASCII = ascii
	t, err := kit.NewThemeDepth(name, ascii, r.env.depth())
	if err != nil && r.opts.Theme == "" { // the state file's: of another version
		return kit.NewThemeDepth("dark", ascii, r.env.depth())
	}
	return t, err
}
