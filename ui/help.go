package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/assets"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// help shows all keys that live on the page on top, what they do and why they cannot, and what the page is about.
type help struct {
	kit.Scroller
	lines []string
}

func (r *root) openHelp() { r.overlay = &help{} }

func (o *help) key(_ *root, k tea.KeyMsg) (tea.Cmd, bool) {
	for _, c := range page.ListCommands(&o.Scroller, nil) {
		for _, name := range c.Key.Keys() {
			if name == k.String() {
				c.Run()
				return nil, false
			}
		}
	}
	return nil, same(k, "esc", "q", "?", "h", "enter", "left", " ")
}

func (o *help) hints() []hint {
	return []hint{{"j k", "scroll", false}, {"esc", "close", false}}
}

func (o *help) scroll(d int64) { o.Move(d) }

func (o *help) full(r *root, w, h int) string {
	o.lines = r.helpLines(w) // anew: what a key cannot do changes with what the page knows
	o.Len = int64(len(o.lines))
	return o.View(h, func(i int64) string { return o.lines[i] })
}

// helpSide is the width of the keys' column beside the text.
const helpSide = 58

// helpLines lays the keys and the text out for w cells: the text beside the keys where there is room, else below them,
// and the keys in two columns where these fit.
func (r *root) helpLines(w int) []string {
	top := r.top()
	text := assets.Help(string(top.open.Kind))
	groups := groupKeys(top.page.Commands(), r.commands())
	switch {
	case w >= 2*helpSide:
		left := textLines(r.theme, text, w-helpSide-6, "  ")
		return beside(left, r.keyGroups(groups, 16, helpSide), w-helpSide)
	case w >= 76 && len(groups) > 1:
		half := (w - 2) / 2
		own, others := r.keyGroups(groups[:1], 12, half-3), r.keyGroups(groups[1:], 12, w-half-2)
		keys := beside(indent(own, "  "), others, half+2)
		return append(keys, textLines(r.theme, text, w-4, "  ")...)
	}
	return append(indent(r.keyGroups(groups, 16, w-2), "  "), textLines(r.theme, text, max(10, w-4), "  ")...)
}

// keyGroups draws groups of commands under their headings in w cells, the keys in so many of them, and the version.
func (r *root) keyGroups(groups []keyGroup, keys, w int) []string {
	var out []string
	for _, g := range groups {
		out = append(out, r.theme.Head.Wrap(g.name))
		for _, c := range g.rows {
			out = append(out, keyLines(r.theme, c, keys, w)...)
		}
		out = append(out, "")
	}
	if v := r.opts.Version; v != "" && len(groups) > 0 && groups[len(groups)-1].name != "this page" {
		out = append(out, r.theme.Dim.Wrap("strata "+kit.Safe(v, 100)), "")
	}
	return out
}

// beside puts lines to the right of others, from cell x on.
func beside(left, right []string, x int) []string {
	out := make([]string, max(len(left), len(right)))
	for i := range out {
		var l kit.Line
		if i < len(left) {
			l.Text(left[i])
		}
		l.To(x)
		if i < len(right) {
			l.Text(right[i])
		}
		out[i] = l.String()
	}
	return out
}

// keyLines draws one command in w cells, the names of its keys in so many of them, and below it why it cannot work.
func keyLines(t *kit.Theme, c page.Command, keys, w int) []string {
	names := ""
	for i, k := range c.Key.Keys() {
		if k = page.Label(k); i > 0 {
			k = " " + k
		}
		if i > 0 && kit.Width(names+k) > keys {
			break // the first ones are those to remember
		}
		names += k
	}
	key, text := t.Accent, kit.Style{}
	why := c.Why()
	if why != "" {
		key, text = t.Faint, t.Dim
	}
	room := max(10, w-keys-1)
	var out []string
	for i, part := range kit.Wrap(c.Key.Help().Desc, room) {
		var l kit.Line
		if i == 0 {
			l.Cell(key, names, keys, false)
		}
		out = append(out, l.To(keys+1).Add(text, part).String())
	}
	if why != "" {
		for _, part := range kit.Wrap(kit.Safe(why, 200), room-2) {
			out = append(out, kit.Blank(keys+3)+t.Warn.Wrap(part))
		}
	}
	return out
}

type keyGroup struct {
	name string
	rows []page.Command
}

// groupKeys gathers commands under their headings, the page's own first.
func groupKeys(tables ...[]page.Command) []keyGroup {
	var out []keyGroup
	at := map[string]int{}
	taken := map[string]bool{}
	for _, rows := range tables {
		for _, c := range rows {
			name := c.Group
			if name == "" {
				name = "this page"
			}
			first := c.Key.Keys()[0]
			if taken[first] {
				continue
			}
			taken[first] = true
			i, ok := at[name]
			if !ok {
				i = len(out)
				at[name] = i
				out = append(out, keyGroup{name: name})
			}
			out[i].rows = append(out[i].rows, c)
		}
	}
	return out
}

// textLines wraps a help text: a line that begins with # is a heading, one that begins with a blank stays as it is.
func textLines(t *kit.Theme, text string, w int, lead string) []string {
	if text == "" {
		return nil
	}
	var out []string
	for para := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(para, "# "):
			out = append(out, lead+t.Bold.Wrap(kit.Cut(para[2:], w)))
		case strings.HasPrefix(para, " "):
			out = append(out, lead+t.Dim.Wrap(kit.Cut(para, w)))
		default:
			out = append(out, indent(kit.Wrap(para, w), lead)...)
		}
	}
	return append(out, "")
}

func indent(lines []string, by string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = by + l
	}
	return out
}
