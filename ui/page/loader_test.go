package page

import (
	"context"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/ui/kit"
)

func TestLoaderNotesWhatIsAskedMeanwhile(t *testing.T) {
	var l Loader[int]
	ask := func(v int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return v, nil }
	}
	first := l.Load(t.Context(), ask(1))
	if l.Load(t.Context(), ask(2)) != nil || l.Load(t.Context(), ask(3)) != nil {
		t.Fatal("a second request while one runs")
	}
	answer := func(cmd tea.Cmd) Result[int] { return cmd().(tea.BatchMsg)[0]().(Result[int]) }
	r := answer(first)
	mine, again := l.Took(t.Context(), r)
	if !mine || again == nil || r.Val != 1 {
		t.Fatalf("mine %v, again %v, val %d", mine, again != nil, r.Val)
	}
	r = answer(again)
	if mine, again = l.Took(t.Context(), r); !mine || again != nil || r.Val != 3 {
		t.Errorf("the last one asked for: mine %v, again %v, val %d", mine, again != nil, r.Val)
	}
	if mine, _ = l.Took(t.Context(), r); mine {
		t.Error("an answer twice")
	}
}

func TestFactsAndRulesFit(t *testing.T) {
	theme, _ := kit.NewTheme("dark", false)
	for w := range 120 {
		if n := kit.Width(Facts(theme, w, Fact{Name: "start", Value: "3,904,112"}, Fact{Name: "stable", Value: "4,812,301"}, Fact{Value: "1.9 GiB"})); n != w {
			t.Errorf("facts: %d cells of %d", n, w)
		}
		if n := kit.Width(Rule(theme, w, "batch 2 of 3")); n != w {
			t.Errorf("rule: %d cells of %d", n, w)
		}
	}
}
