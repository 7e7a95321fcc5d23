package rows

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
)

// Pattern is what is searched for.
type Pattern struct {
	Text   string // as it was typed
	Expr   string // the substring, or the regular expression
	Regexp bool
	Fold   bool // ignore case: a substring without a capital letter
}

// ParsePattern reads a substring (in any case unless it has a capital letter), or between slashes a regular expression.
// The closing slash may be missing. Errors wrap model.ErrInvalid.
func ParsePattern(text string) (Pattern, error) {
	p := Pattern{Text: text, Expr: text}
	if expr, is := strings.CutPrefix(text, "/"); is {
		p.Expr, p.Regexp = strings.TrimSuffix(expr, "/"), true
		if p.Expr == "" {
			return p, fmt.Errorf("%w pattern: nothing between the slashes", model.ErrInvalid)
		}
		if _, err := regexp.Compile(p.Expr); err != nil {
			return p, fmt.Errorf("%w pattern: %w", model.ErrInvalid, err)
		}
		return p, nil
	}
	if text == "" {
		return p, fmt.Errorf("%w pattern: it is empty", model.ErrInvalid)
	}
	p.Fold = !strings.ContainsFunc(text, unicode.IsUpper)
	return p, nil
}

// PatternHint says what ParsePattern reads.
const PatternHint = "text, or /regular expression/; in keys, values and headers; a capital letter makes the case count"

// Progress says in one line how far a search has come: a bar, records, rate, time left.
func Progress(t *kit.Theme, e model.SearchEvent, took time.Duration, lead string, w int) string {
	words := kit.Number(e.Records) + " records · " + kit.BytesText(e.BytesDone) + " of " + kit.BytesText(e.BytesAll)
	if secs := took.Seconds(); secs > 0.2 && e.BytesDone > 0 {
		rate := float64(e.BytesDone) / secs
		words += " · " + kit.BytesText(int64(rate)) + "/s"
		if left := float64(e.BytesAll-e.BytesDone) / rate; left >= 1 {
			words += " · " + kit.Duration(time.Duration(left)*time.Second) + " left"
		}
	}
	var l kit.Line
	l.Space(1).Add(t.Dim, kit.Cut(lead, max(0, w/2))).Space(2)
	return l.Text(kit.Progress(t, e.BytesDone, e.BytesAll, words, max(1, w-l.Width()))).Fit(w)
}
