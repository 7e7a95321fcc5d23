package assets

import (
	"embed"
	"strings"
)

//go:embed help/*.txt
var help embed.FS

// Help returns the text for newcomers of a kind of page, and below it the words that it needs; "" where there is none.
// A line that begins with # is a heading; one that begins with a blank is not to be wrapped.
func Help(kind string) string {
	b, err := help.ReadFile("help/" + kind + ".txt")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// HelpKinds returns the kinds of page that have a text.
func HelpKinds() []string {
	list, err := help.ReadDir("help")
	if err != nil {
		return nil
	}
	var kinds []string
	for _, e := range list {
		kinds = append(kinds, strings.TrimSuffix(e.Name(), ".txt"))
	}
	return kinds
}
