package ui

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

// The section of the README that holds the table of keys.
const (
	keysBegin = "<!-- keys: written by go test ./ui -update -->\n"
	keysEnd   = "<!-- end of keys -->"
)

// keysTable returns all keys as a table in Markdown, page by page, from the same rows that dispatch them.
func keysTable(t *testing.T) string {
	t.Helper()
	r, err := newRoot(t.Context(), Options{Source: uitest.NewSource(uitest.Now()), Environ: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	var b strings.Builder
	b.WriteString("| where | key | what |\n| --- | --- | --- |\n")
	write := func(where string, rows []page.Command) {
		for _, c := range rows {
			var keys []string
			for _, k := range c.Key.Keys() {
				keys = append(keys, "`"+strings.ReplaceAll(page.Label(k), "|", `\|`)+"`")
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", where, strings.Join(keys, " "), c.Key.Help().Desc)
			where = ""
		}
	}
	write("everywhere", r.commands())
	var kinds []string
	for k := range r.pages {
		kinds = append(kinds, string(k))
	}
	slices.Sort(kinds)
	moving := map[string]bool{}
	var moves []page.Command
	tables := map[string][]page.Command{}
	for _, k := range kinds {
		p := r.pages[page.Kind(k)](uitest.Env(t, r.src), placeOf(page.Kind(k)))
		uitest.Drive(p, p.Init())
		for _, c := range p.Commands() {
			h := c.Key.Help()
			switch id := h.Key + h.Desc; {
			case c.Group != page.Moving:
				tables[k] = append(tables[k], c)
			case !moving[id]:
				moving[id] = true
				moves = append(moves, c)
			}
		}
		p.Close()
	}
	write("lists and texts", moves)
	for _, k := range kinds {
		write(k, tables[k])
	}
	return b.String()
}

func TestReadmeHoldsTheKeys(t *testing.T) {
	table := keysTable(t)
	const readme = "../README.md"
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(b), keysBegin)
	have, after, ends := strings.Cut(rest, keysEnd)
	if !begins || !ends {
		t.Fatalf("the README lacks the lines between which the table of keys stands: %q and %q", keysBegin, keysEnd)
	}
	if have == table {
		return
	}
	if f := flag.Lookup("update"); f == nil || f.Value.String() != "true" {
		t.Error("the README's table of keys is not that of the program: go test ./ui -run Readme -update")
		return
	}
	if err := os.WriteFile(readme, []byte(before+keysBegin+table+keysEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
