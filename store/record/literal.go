package record

import (
	"bytes"
	"regexp"
)

type literal struct{ needle []byte }

func newLiteral(needle []byte, fold bool) Matcher {
	if fold {
		return newRegexp(regexp.MustCompile("(?i)" + regexp.QuoteMeta(string(needle))))
	}
	return &literal{needle: bytes.Clone(needle)}
}

func (m *literal) MayContain(section []byte) bool { return bytes.Contains(section, m.needle) }
func (m *literal) MatchRecord(r *Record) bool {
	return len(m.needle) == 0 || anyField(r, func(b []byte) bool { return bytes.Contains(b, m.needle) })
}

type pattern struct{ re *regexp.Regexp }

func newRegexp(re *regexp.Regexp) Matcher { return &pattern{re: re} }

func (m *pattern) MayContain([]byte) bool     { return true }
func (m *pattern) MatchRecord(r *Record) bool { return anyField(r, m.re.Match) }
