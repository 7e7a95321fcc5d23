package page

import (
	"strings"

	"github.com/strata-kafka/strata/ui/kit"
)

// Fact is a word and a figure of a head line: "high watermark 4,812,339".
type Fact struct {
	Name  string // dim; may be empty
	Value string
	Style kit.Style // of Value
}

// Facts writes as many facts as fit into w cells, with dots between, and leaves off the last ones.
func Facts(t *kit.Theme, w int, facts ...Fact) string {
	var l kit.Line
	l.Space(1)
	for i, f := range facts {
		need := kit.Width(f.Name) + kit.Width(f.Value) + 1
		if i > 0 {
			need += 3
		}
		if l.Width()+need > w && i > 0 {
			break
		}
		if i > 0 {
			l.Add(t.Dim, " · ")
		}
		if f.Name != "" {
			l.Add(t.Dim, f.Name).Space(1)
		}
		l.Add(f.Style, f.Value)
	}
	return l.Fit(w)
}

// Rule draws a thin line of w cells, with a title in it when there is one. title must be safe.
func Rule(t *kit.Theme, w int, title string) string {
	var l kit.Line
	if title != "" && w > 8 {
		title = kit.Cut(title, w-6)
		l.Add(t.Rule, strings.Repeat(t.Glyphs.Rule, 2)).Space(1).Add(t.Dim, title).Space(1)
	}
	return l.Add(t.Rule, strings.Repeat(t.Glyphs.Rule, max(0, w-l.Width()))).Fit(w)
}
