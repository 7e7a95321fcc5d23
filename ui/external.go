package ui

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	osc52 "github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// maxCopy is how many bytes are copied; terminals throw away more.
const maxCopy = 74_994

// copy puts text on the terminal's clipboard.
func (r *root) copy(c page.Copy) tea.Cmd {
	if len(c.Text) > maxCopy {
		r.say(page.Warn, fmt.Sprintf("%s is %s: a terminal takes %s at the most", c.What, kit.BytesText(int64(len(c.Text))), kit.BytesText(maxCopy)))
		return nil
	}
	what := c.What
	if what == "" {
		what = kit.BytesText(int64(len(c.Text)))
	}
	r.say(page.Good, "copied: "+what)
	seq := osc52.New(c.Text)
	switch {
	case r.env.get("TMUX") != "":
		seq = seq.Tmux()
	case strings.HasPrefix(r.env.get("TERM"), "screen"):
		seq = seq.Screen()
	}
	out := r.term
	return func() tea.Msg {
		if out != nil {
			_, _ = out.WriteString(seq.String()) // a terminal that cannot be written to shows nothing either
		}
		return nil
	}
}

func (r *root) copyAddress() tea.Cmd {
	a := r.top().address().String()
	if a == "" {
		r.say(page.Info, "this page has no address")
		return nil
	}
	return r.copy(page.Copy{Text: a, What: a})
}

// pager shows text, made safe, in $PAGER.
func (r *root) pager(p page.Pager) tea.Cmd {
	var b strings.Builder
	for line := range strings.SplitSeq(p.Text, "\n") {
		b.WriteString(kit.Safe(strings.ReplaceAll(line, "\t", "    "), 0))
		b.WriteByte('\n')
	}
	return r.external("PAGER", "less", ".txt", b.String(), func(_ string, err error) tea.Msg {
		if err != nil {
			return from{r.top().id, page.Notice{Text: "pager: " + err.Error(), Level: page.Bad}}
		}
		return editedMsg{}
	})
}

// edit lets text be changed in $EDITOR.
func (r *root) edit(layer int, e page.Edit) tea.Cmd {
	ext := e.Ext
	if ext == "" {
		ext = ".txt"
	}
	return r.external("EDITOR", "vi", ext, e.Text, func(file string, err error) tea.Msg {
		out := page.Edited{ID: e.ID, Err: err}
		if err == nil {
			var b []byte
			b, out.Err = os.ReadFile(file)
			out.Text = string(b)
		}
		return editedMsg{layer, out}
	})
}

// external runs the program that a variable names on a temporary file that only this user can read. done is called when
// it has ended, before the file is removed.
func (r *root) external(variable, fallback, ext, text string, done func(file string, err error) tea.Msg) tea.Cmd {
	name := r.env.get(variable)
	if v := r.env.get("VISUAL"); variable == "EDITOR" && v != "" {
		name = v
	}
	if name == "" {
		name = fallback
	}
	words := strings.Fields(name)
	if len(words) == 0 {
		words = []string{fallback}
	}
	dir, err := os.MkdirTemp("", "strata-")
	if err != nil {
		r.say(page.Bad, "temporary file: "+err.Error())
		return nil
	}
	file := filepath.Join(dir, "value"+ext)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		_ = os.RemoveAll(dir)
		r.say(page.Bad, "temporary file: "+err.Error())
		return nil
	}
	cmd := exec.CommandContext(r.ctx, words[0], append(words[1:], file)...)
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		if err != nil {
			err = fmt.Errorf("%s: %w", words[0], err)
		}
		msg := done(file, err)
		_ = os.RemoveAll(dir) // nothing is lost with it
		return msg
	})
}
