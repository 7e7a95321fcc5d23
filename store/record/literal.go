package record

import (
	"bytes"
	"encoding/binary"
	"math/bits"
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
// it tests two bytes of the needle at eight places at once.
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

// at tells whether the needle is at s[i:], which is long enough.
func (f *finder) at(s []byte, i int) bool {
	s = s[i : i+len(f.needle)]
	if !f.fold {
		return s[f.second] == f.needle[f.second] && string(s) == string(f.needle)
	}
	for k, c := range f.needle {
		if lower(s[k]) != c {
			return false
		}
	}
	return true
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
		if f.at(s, p-f.first) {
			return true
		}
		// A stop costs as much as 40 bytes of the other way.
		if stops++; stops > 8 && stops*40 > p {
			return f.inPairs(s, p-f.first+1)
		}
	}
	return false
}

// Constants for bytes in parallel.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	cases = 0x2020202020202020
)

// inPairs looks at s[i:], two bytes of the needle at a time.
func (f *finder) inPairs(s []byte, i int) bool {
	a, b := uint64(f.needle[f.first])*ones, uint64(f.needle[f.second])*ones
	var ma, mb uint64 // what makes a letter lower case
	if f.fold && isLetter(f.needle[f.first]) {
		ma = cases
	}
	if f.fold && isLetter(f.needle[f.second]) {
		mb = cases
	}
	last := len(s) - len(f.needle) // the last place to be tested
	pa, pb := s[f.first:], s[f.second:]
	for ; i+16 <= last+1 && i+16 <= len(pa) && i+16 <= len(pb); i += 16 {
		x, y := pa[i:i+16:i+16], pb[i:i+16:i+16]
		t := (binary.LittleEndian.Uint64(x) | ma) ^ a | (binary.LittleEndian.Uint64(y) | mb) ^ b
		u := (binary.LittleEndian.Uint64(x[8:]) | ma) ^ a | (binary.LittleEndian.Uint64(y[8:]) | mb) ^ b
		t = (t - ones) &^ t & highs // the high bit of a byte that was 0, and maybe of later ones
		u = (u - ones) &^ u & highs
		if t|u == 0 {
			continue
		}
		for ; t != 0; t &= t - 1 {
			if f.at(s, i+bits.TrailingZeros64(t)/8) {
				return true
			}
		}
		for ; u != 0; u &= u - 1 {
			if f.at(s, i+8+bits.TrailingZeros64(u)/8) {
				return true
			}
		}
	}
	for ; i <= last; i++ {
		if f.at(s, i) {
			return true
		}
	}
	return false
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
