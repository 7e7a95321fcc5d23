package record

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// maxAlternatives is how many literals of a regexp are looked for, one of
// which every match must hold. Each costs a pass over the section.
const maxAlternatives = 4

// pattern is the Matcher of a regexp.
type pattern struct {
	re    *regexp.Regexp
	whole bool     // the one literal is all that the regexp says
	any   []finder // every match holds one of these; none means nothing is known
}

func newRegexp(re *regexp.Regexp) Matcher {
	m := &pattern{re: re}
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return m // it can still be matched
	}
	tree = tree.Simplify()
	for _, l := range required(tree) {
		m.any = append(m.any, newFinder([]byte(l.text), l.fold))
	}
	m.whole = tree.Op == syntax.OpLiteral && len(m.any) == 1 && string(m.any[0].needle) == string(tree.Rune)
	return m
}

func (m *pattern) MayContain(section []byte) bool {
	for i := range m.any {
		if m.any[i].in(section) {
			return true
		}
	}
	return len(m.any) == 0
}

func (m *pattern) MatchRecord(r *Record) bool { return anyField(r, m.match) }

func (m *pattern) match(field []byte) bool {
	if m.whole {
		return m.any[0].in(field)
	}
	return m.MayContain(field) && m.re.Match(field)
}

// piece is a literal that a regexp needs.
type piece struct {
	text string
	fold bool // letters of ASCII in either case
}

// required gives literals of which every match holds at least one, or nil.
func required(re *syntax.Regexp) []piece {
	switch re.Op {
	case syntax.OpLiteral:
		return bestPiece(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []piece
		for _, sub := range joinLiterals(re.Sub, nil) {
			if set := required(sub); worth(set) > worth(best) {
				best = set
			}
		}
		return best
	case syntax.OpAlternate:
		var all []piece
		for _, sub := range re.Sub {
			set := required(sub)
			if set == nil || len(all)+len(set) > maxAlternatives {
				return nil
			}
			all = append(all, set...)
		}
		return all
	}
	return nil
}

// joinLiterals appends the parts of a concatenation to dst, with literals that
// follow one another made one, also those in groups.
func joinLiterals(subs, dst []*syntax.Regexp) []*syntax.Regexp {
	for _, sub := range subs {
		switch sub.Op {
		case syntax.OpConcat, syntax.OpCapture:
			dst = joinLiterals(sub.Sub, dst)
			continue
		case syntax.OpLiteral:
			if n := len(dst); n > 0 && dst[n-1].Op == syntax.OpLiteral && (dst[n-1].Flags^sub.Flags)&syntax.FoldCase == 0 {
				joined := *dst[n-1]
				joined.Rune = slices.Concat(joined.Rune, sub.Rune)
				dst[n-1] = &joined
				continue
			}
		}
		dst = append(dst, sub)
	}
	return dst
}

// bestPiece cuts out of runes the piece that is worth most. With fold it has
// no rune whose other cases are more than a bit away. The replacement
// character is left out, since it matches invalid bytes too.
func bestPiece(runes []rune, fold bool) []piece {
	var best []piece
	for i := 0; i < len(runes); {
		j := i
		for j < len(runes) && plain(runes[j], fold) {
			j++
		}
		if j > i {
			set := []piece{{text: string(runes[i:j]), fold: fold}}
			if worth(set) > worth(best) {
				best = set
			}
		}
		i = j + 1
	}
	return best
}

// plain tells whether the rune can be in a piece.
func plain(r rune, fold bool) bool {
	if r == utf8.RuneError || !utf8.ValidRune(r) {
		return false
	}
	if !fold || unicode.SimpleFold(r) == r {
		return true
	}
	// k and s have a third case beyond ASCII: the Kelvin sign and the long s.
	other := unicode.SimpleFold(r)
	return r < utf8.RuneSelf && other < utf8.RuneSelf && unicode.SimpleFold(other) == r
}

// worth guesses how much a set of pieces keeps out; the nil set nothing.
func worth(set []piece) int {
	if len(set) == 0 {
		return 0
	}
	least := 1 << 20
	for _, l := range set {
		sum := 0
		for i := 0; i < len(l.text); i++ {
			w := 4 + rarity(l.text[i])/8
			if l.fold {
				w--
			}
			sum += w
		}
		least = min(least, sum)
	}
	return max(1, least-6*(len(set)-1))
}
