package page

import (
	"regexp"
	"strings"

	"github.com/strata-kafka/strata/ui/kit"
)

// Filter is what is typed after / on a list: a substring in any case, or between slashes a regular expression. The zero
// Filter matches all. An expression that cannot be read yet matches all too, and Err says why.
type Filter struct {
	text string
	sub  string // lower case; used when re is nil
	re   *regexp.Regexp
	err  error
}

// ParseFilter reads a filter as it is typed; the closing slash may still be missing.
func ParseFilter(text string) Filter {
	f := Filter{text: text}
	expr, isExpr := strings.CutPrefix(text, "/")
	if !isExpr {
		f.sub = strings.ToLower(text)
		return f
	}
	if f.re, f.err = regexp.Compile(strings.TrimSuffix(expr, "/")); expr == "" || f.err != nil {
		f.re = nil
	}
	return f
}

// Text returns what was typed.
func (f Filter) Text() string { return f.text }

// Err returns why the regular expression cannot be read; nil when it can.
func (f Filter) Err() error { return f.err }

// All reports whether everything matches.
func (f Filter) All() bool { return f.sub == "" && f.re == nil }

// Match reports whether s passes.
func (f Filter) Match(s string) bool {
	switch {
	case f.re != nil:
		return f.re.MatchString(s)
	case f.sub == "":
		return true
	}
	return strings.Contains(strings.ToLower(s), f.sub)
}

// Spans makes the first limit bytes of s safe, in a style, with what the filter found in the theme's Match style.
func (f Filter) Spans(t *kit.Theme, style kit.Style, s string, limit int) []kit.Span {
	from, to := f.find(s)
	if from >= to || limit > 0 && from >= limit {
		return t.SafeSpans(style, s, limit)
	}
	if limit > 0 {
		to = min(to, limit)
	}
	spans := append(t.SafeSpans(style, s[:from], 0), t.SafeSpans(t.Match, s[from:to], 0)...)
	if rest := s[to:]; limit <= 0 {
		spans = append(spans, t.SafeSpans(style, rest, 0)...)
	} else if left := limit - to; left > 0 {
		spans = append(spans, t.SafeSpans(style, rest, left)...)
	}
	return spans
}

// Index returns at which byte of b the first match begins; -1 for none, and for a filter that matches all.
func (f Filter) Index(b []byte) int {
	if f.re != nil {
		if at := f.re.FindIndex(b); at != nil {
			return at[0]
		}
		return -1
	}
	from, to := f.find(string(b))
	if from >= to {
		return -1
	}
	return from
}

// find returns the bytes of s that match first; none when from >= to.
func (f Filter) find(s string) (from, to int) {
	if f.re != nil {
		if at := f.re.FindStringIndex(s); at != nil {
			return at[0], at[1]
		}
		return 0, 0
	}
	if f.sub == "" {
		return 0, 0
	}
	lower := strings.ToLower(s)
	if len(lower) != len(s) {
		return 0, 0 // lower case of another length: the places would not be true
	}
	if i := strings.Index(lower, f.sub); i >= 0 {
		return i, i + len(f.sub)
	}
	return 0, 0
}
