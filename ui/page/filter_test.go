package page

import (
	"strings"
	"testing"

	"github.com/strata-kafka/strata/ui/kit"
)

func TestFilter(t *testing.T) {
	for name, tc := range map[string]struct {
		text, s string
		match   bool
		lit     string
		bad     bool
	}{
		"nothing typed":         {"", "orders", true, "", false},
		"substring":             {"der", "orders", true, "der", false},
		"substring in any case": {"DER", "Orders", true, "der", false},
		"no match":              {"pay", "orders", false, "", false},
		"expression":            {"/^ord.*s$/", "orders", true, "orders", false},
		"expression unclosed":   {"/ers$", "orders", true, "ers", false},
		"expression half typed": {"/or[", "payments", true, "", true},
		"a slash alone":         {"/", "orders", true, "", false},
		"longer in lower case":  {"k", "\u212alvin", true, "", false},
		"hostile":               {"b", "a\x1bb", true, "b", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := ParseFilter(tc.text)
			if f.Match(tc.s) != tc.match || (f.Err() != nil) != tc.bad {
				t.Fatalf("match %v, err %v", f.Match(tc.s), f.Err())
			}
			theme, _ := kit.NewTheme("dark", false)
			var all, lit string
			for _, s := range f.Spans(theme, kit.Style{}, tc.s, 0) {
				all += s.Text
				if s.Style == theme.Match {
					lit += s.Text
				}
			}
			if all != kit.Safe(tc.s, 0) || lit != tc.lit {
				t.Errorf("spans say %q, lit %q; want %q, %q", all, lit, kit.Safe(tc.s, 0), tc.lit)
			}
		})
	}
}

func TestFilterSpansKeepToTheLimit(t *testing.T) {
	theme, _ := kit.NewTheme("dark", false)
	n := 0
	for _, s := range ParseFilter("y").Spans(theme, kit.Style{}, strings.Repeat("x", 50)+"y"+strings.Repeat("z", 50), 60) {
		n += len(s.Text)
	}
	if n != 60 {
		t.Errorf("%d bytes of 60", n)
	}
}
