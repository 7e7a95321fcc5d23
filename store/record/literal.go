package record

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// byFrequency lists the bytes of usual record data, the most frequent first:
// JSON, text, numbers, and the lead bytes of other scripts. Bytes that are
// missing are rare.
const byFrequency = "\x00 e\"taoi0n1srl:,2dcu534-6789mp_fgh.ybvwk{}[]/\n=TSAEICROxNDPLMzjqFUBGVHYWKXZJQ+@" +
	"\xe3\xd0\xd1\xe4\xe5\xe6\xc3\xe2\xe7\xe8\xe9\xd8\xd9\xe0\xef\x80\x01\x02\xff();'&<>\\|?#%!*"

// rarity is 0 for the most frequent byte, more for rarer ones.
func rarity(c byte) int {
	if i := strings.IndexByte(byFrequency, c); i >= 0 {
		return i
	}
	return len(byFrequency)
}

// finder looks for a literal in many texts. It jumps from one place of the
// needle's rarest byte to the next; where that byte turns out to be frequent,
// it looks for two bytes of the needle at once.
type finder struct {
	needle []byte // lower case if fold
	fold   bool   // letters of ASCII in either case
	first  int    // place of the rarest byte within the needle
	second int    // of the next rarest; the same in a needle of one byte
	letter bool   // the rarest byte is a letter to be folded
}

func newFinder(needle []byte, fold bool) finder {
	f := finder{needle: bytes.Clone(needle), fold: fold}
	if fold {
		for i, c := range f.needle {
			f.needle[i] = lower(c)
		}
	}
	f.first = f.rarest(-1)
	f.second = f.rarest(f.first)
	f.letter = fold && len(needle) > 0 && isLetter(f.needle[f.first])
	return f
}

// rarest is the place of the rarest byte other than the one at not, or not if
// there is no other. A letter to be folded counts as much more frequent.
func (f *finder) rarest(not int) int {
	best, score := not, -1
	for i, c := range f.needle {
		s := 2 * rarity(c)
		if f.fold && isLetter(c) {
			s = min(rarity(c), rarity(c-'a'+'A')) / 2
		}
		if not >= 0 && c == f.needle[not] {
			s = 0 // the same byte tells nothing new
		}
		if i != not && s > score {
			best, score = i, s
		}
	}
	return max(best, 0)
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// in tells whether the needle is somewhere in s.
func (f *finder) in(s []byte) bool {
	if len(f.needle) == 0 {
		return true
	}
	if len(s) < len(f.needle) {
		return false
	}
	if f.letter {
		return f.inPairs(s, 0)
	}
	return f.inJumps(s)
}

// miss gives the place in the needle where it differs from s[i:], which is
// long enough, or -1 when it is there.
func (f *finder) miss(s []byte, i int) int {
	s = s[i : i+len(f.needle)]
	if !f.fold && string(s) == string(f.needle) {
		return -1
	}
	for k, c := range f.needle {
		if s[k] != c && (!f.fold || lower(s[k]) != c) {
			return k
		}
	}
	return -1
}

// inJumps goes from one anchor byte to the next.
func (f *finder) inJumps(s []byte) bool {
	c := f.needle[f.first]
	end := len(s) - len(f.needle) + f.first + 1 // of the places for the anchor
	stops := 0
	for p := f.first; p < end; p++ {
		j := bytes.IndexByte(s[p:end], c)
		if j < 0 {
			return false
		}
		p += j
		if i := p - f.first; s[i+f.second] == f.needle[f.second] || f.fold {
			if f.miss(s, i) < 0 {
				return true
			}
		}
		if stops++; stops > 4 && stops*stopCost > p {
			return f.inPairs(s, p-f.first+1)
		}
	}
	return false
}

// inPairs looks at s[i:] for two bytes of the needle at once: the rarest, and
// one that would have kept out the last false hit.
func (f *finder) inPairs(s []byte, i int) bool {
	a, ma := f.word(f.first)
	b, mb := f.word(f.second)
	second := f.second
	last := len(s) - len(f.needle) // the last place to be tested
	for i+16 <= last+1 {
		left := last + 1 - i
		n := findPair(s[i+f.first:][:left], s[i+second:][:left], a, b, ma, mb)
		if n < 0 {
			i += left &^ 15
			break
		}
		k := f.miss(s, i+n)
		if k < 0 {
			return true
		}
		second = k
		b, mb = f.word(k)
		i += n + 1
	}
	for ; i <= last; i++ {
		if f.miss(s, i) < 0 {
			return true
		}
	}
	return false
}

// word is the needle's byte at k, eight times, and what folds it.
func (f *finder) word(k int) (w, mask uint64) {
	if f.fold && isLetter(f.needle[k]) {
		mask = cases
	}
	return uint64(f.needle[k]) * ones, mask
}

// literal is the Matcher of a plain needle.
type literal struct{ find finder }

func newLiteral(needle []byte, fold bool) Matcher {
	if fold && utf8.Valid(needle) && !isASCII(needle) {
		return newRegexp(regexp.MustCompile("(?i)" + regexp.QuoteMeta(string(needle))))
	}
	return &literal{find: newFinder(needle, fold)}
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (m *literal) MayContain(section []byte) bool { return m.find.in(section) }

func (m *literal) MatchRecord(r *Record) bool {
	return len(m.find.needle) == 0 || anyField(r, m.find.in)
}
