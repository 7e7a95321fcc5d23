package assets

import (
	"strings"
	"testing"
)

func TestHelp(t *testing.T) {
	kinds := HelpKinds()
	if len(kinds) < 20 {
		t.Fatalf("texts of %d kinds", len(kinds))
	}
	for _, k := range kinds {
		text := Help(k)
		if !strings.HasPrefix(text, "# ") {
			t.Errorf("%s: no heading", k)
		}
		if strings.ContainsAny(text, "\t\r\x1b!") {
			t.Errorf("%s: a letter that does not belong", k)
		}
	}
	if Help("nothing") != "" {
		t.Error("a text for what does not exist")
	}
}
