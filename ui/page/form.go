package page

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/ui/kit"
)

// FormCommands returns the rows that move the focus of a form, and the one that submits it. The page is a Typer whose
// TakesText is true, and hands keys that come to its Update on to the form.
func FormCommands(f *kit.Form, submit string, run func() tea.Cmd) []Command {
	step := func(keys, help string, d int) Command {
		return Command{Key: Bind(keys, help), Group: Moving, Quiet: true, Run: func() tea.Cmd {
			f.Next(d)
			return nil
		}}
	}
	return []Command{
		{Key: Bind("ctrl+s", submit), Run: run},
		step("tab down", "next field", 1),
		step("shift+tab up", "field before", -1),
	}
}

// Notify asks the root to say an error, or on success a word. It suits the end of what a key began.
func Notify(err error, done string) tea.Cmd {
	if err != nil {
		return Say(Bad, err.Error())
	}
	return Say(Good, done)
}
