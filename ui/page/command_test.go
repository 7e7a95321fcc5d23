package page

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
)

func TestBindAndFind(t *testing.T) {
	rows := []Command{
		{Key: Bind("enter l right", "open")},
		{Key: Bind("ctrl+d", "half a page down")},
		{Key: Bind("space", "mark")},
	}
	if h := rows[1].Key.Help(); h.Key != "ctrl-d" || h.Desc != "half a page down" {
		t.Errorf("help is %+v", h)
	}
	for name, tc := range map[string]struct {
		key  tea.KeyMsg
		want string
	}{
		"first":   {tea.KeyMsg{Type: tea.KeyEnter}, "open"},
		"another": {tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("l")}, "open"},
		"ctrl":    {tea.KeyMsg{Type: tea.KeyCtrlD}, "half a page down"},
		"blank":   {tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(" ")}, "mark"},
		"none":    {tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("x")}, ""},
		"alt":     {tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("l"), Alt: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, ok := Find(rows, tc.key)
			if ok != (tc.want != "") || ok && c.Key.Help().Desc != tc.want {
				t.Errorf("found %v %q", ok, c.Key.Help().Desc)
			}
		})
	}
}

func TestCountsNeverLie(t *testing.T) {
	theme, err := kit.NewTheme("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]model.Count{
		"4,812,339": model.Exactly(4_812_339), "≈ 120": model.About(120), "–": model.NoCount(), "?": {}, "0": model.Exactly(0), "-3": model.Exactly(-3),
	} {
		if got := CountText(theme, c); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
	if got := OffsetText(theme, model.Unknown); got != "?" {
		t.Errorf("an unknown offset is %q", got)
	}
}
