package record

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// section encodes records for the tests of matchers.
func section(recs ...Record) []byte {
	var b []byte
	for i := range recs {
		recs[i].OffsetDelta = int32(i)
		b = AppendRecord(b, &recs[i])
	}
	return b
}

func matches(t testing.TB, m Matcher, recs ...Record) (hits []int) {
	t.Helper()
	var r Reader
	if err := r.Reset(withSection(None, int32(len(recs)), section(recs...))); err != nil {
		t.Fatal(err)
	}
	more, err := Search(&r, m, func(rec *Record) bool {
		hits = append(hits, int(rec.Offset))
		return true
	})
	if !more || err != nil {
		t.Fatal(more, err)
	}
	return hits
}

func kv(key, value string) Record { return Record{Key: []byte(key), Value: []byte(value)} }

func withHeader(name, value string) Record {
	raw := appendPart(appendPart(nil, []byte(name)), []byte(value))
	return Record{RawHeaders: raw, HeaderCount: 1}
}

func TestMatchers(t *testing.T) {
	lit := func(s string) Matcher { return NewLiteral([]byte(s), false) }
	fold := func(s string) Matcher { return NewLiteral([]byte(s), true) }
	re := func(s string) Matcher { return NewRegexp(regexp.MustCompile(s)) }
	recs := []Record{
		0: kv("user-1", `{"state":"paid"}`),
		1: kv("user-2", `{"state":"FAILED"}`),
		2: withHeader("trace", "zulu-77"),
		3: {},
		4: kv("", "\x00\xff\xfe"),
		5: kv("süß", "Straße \u212a"),
		6: kv("dog", "ma"),
		7: kv("kk", strings.Repeat("ab", 300)+"needle"),
	}
	for name, tc := range map[string]struct {
		m    Matcher
		want string
	}{
		"value":                      {lit("paid"), "[0]"},
		"key":                        {lit("user-"), "[0 1]"},
		"header name":                {lit("trace"), "[2]"},
		"header value":               {lit("zulu-77"), "[2]"},
		"absent":                     {lit("unobtainium"), "[]"},
		"empty matches all":          {lit(""), "[0 1 2 3 4 5 6 7]"},
		"binary":                     {lit("\xff\xfe"), "[4]"},
		"across key and value":       {lit("dog\x04ma"), "[]"},
		"across records":             {lit("ma\x00"), "[]"},
		"late in the section":        {lit("bneedle"), "[7]"},
		"one byte":                   {lit("F"), "[1]"},
		"case matters":               {lit("failed"), "[]"},
		"fold":                       {fold("fAiLeD"), "[1]"},
		"fold without letters":       {fold("-7"), "[2]"},
		"fold k is ASCII only":       {fold("K"), "[7]"},
		"fold beyond ASCII":          {fold("SÜß"), "[5]"},
		"fold empty":                 {fold(""), "[0 1 2 3 4 5 6 7]"},
		"regexp with prefix":         {re(`zulu-[0-9]+`), "[2]"},
		"regexp, literal in midst":   {re(`"[a-z]+":"FAIL..`), "[1]"},
		"regexp, alternatives":       {re(`paid|zulu|needle$`), "[0 2 7]"},
		"regexp without literal":     {re(`[A-Z]{4}`), "[1]"},
		"regexp folded":              {re(`(?i)failed`), "[1]"},
		"regexp folded, Kelvin sign": {re(`(?i)^straße k$`), "[5]"},
		"regexp anchored":            {re(`^dog$`), "[6]"},
		"regexp anchored, beside":    {re(`^og$`), "[]"},
		"regexp, replacement rune":   {re(`\x{fffd}`), "[4]"},
		"regexp matching empty":      {re(`^$`), "[4]"},
		"regexp is a literal":        {re(`user\-2`), "[1]"},
		"regexp repeats":             {re(`(?:ab){300}needle`), "[7]"},
		"regexp optional":            {re(`(?:nope)?zulu`), "[2]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint(matches(t, tc.m, recs...)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestSearchStopsWhenTold(t *testing.T) {
	var r Reader
	if err := r.Reset(withSection(None, 3, section(kv("", "x"), kv("", "x"), kv("", "x")))); err != nil {
		t.Fatal(err)
	}
	n := 0
	more, err := Search(&r, NewLiteral([]byte("x"), false), func(*Record) bool { n++; return n < 2 })
	if more || err != nil || n != 2 {
		t.Errorf("%d hits, more %v, %v", n, more, err)
	}
}

func TestPairsOnEveryProcessor(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		s := randomText(rng, "abAB", rng.IntN(200))
		x, y := s[rng.IntN(len(s)+1):], s[rng.IntN(len(s)+1):]
		a, b := "ab"[rng.IntN(2)], "ab"[rng.IntN(2)]
		ma, mb := byte(rng.IntN(2)*0x20), byte(rng.IntN(2)*0x20)
		want := -1
		for i := range min(len(x), len(y)) &^ 15 {
			if x[i]|ma == a && y[i]|mb == b {
				want = i
				break
			}
		}
		args := []uint64{uint64(a) * ones, uint64(b) * ones, uint64(ma) * ones, uint64(mb) * ones}
		if got := findPair(x, y, args[0], args[1], args[2], args[3]); got != want {
			t.Fatalf("%q %q for %c%c: %d, want %d", x, y, a, b, got, want)
		}
		if got := findPairGo(x, y, args[0], args[1], args[2], args[3]); got != want {
			t.Fatalf("in Go: %q %q for %c%c: %d, want %d", x, y, a, b, got, want)
		}
	}
}

// TestFinderAgreesWithTheLibrary tries needles over few letters, so that near
// misses abound and both ways of looking are taken.
func TestFinderAgreesWithTheLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30_000 {
		letters := []string{"ab", "aAbB", "zZ{[@", "\x00\x01\xff"}[rng.IntN(4)]
		text := randomText(rng, letters, rng.IntN(300))
		needle := randomText(rng, letters, 1+rng.IntN(12))
		if rng.IntN(2) == 0 && len(text) > len(needle) {
			at := rng.IntN(len(text) - len(needle) + 1)
			copy(text[at:], needle)
		}
		plain, fold := newFinder(needle, false), newFinder(needle, true)
		if got, want := plain.in(text), bytes.Contains(text, needle); got != want {
			t.Fatalf("%q in %q: %v", needle, text, got)
		}
		if len(text) >= len(needle) {
			if got, want := plain.inPairs(text, 0), bytes.Contains(text, needle); got != want {
				t.Fatalf("%q in %q by pairs: %v", needle, text, got)
			}
		}
		if got, want := fold.in(text), bytes.Contains(asciiLower(text), asciiLower(needle)); got != want {
			t.Fatalf("%q in %q in any case: %v", needle, text, got)
		}
	}
}

func randomText(rng *rand.Rand, letters string, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rng.IntN(len(letters))]
	}
	return b
}

func asciiLower(b []byte) []byte {
	b = bytes.Clone(b)
	for i := range b {
		b[i] = lower(b[i])
	}
	return b
}

func TestRequiredLiterals(t *testing.T) {
	for name, tc := range map[string]struct{ re, want string }{
		"prefix":                {`zulu-[0-9]+`, "zulu-"},
		"middle":                {`a\.b.*zulu-\d+`, "zulu-"},
		"rarest wins":           {`aa.*Q#`, "Q#"},
		"plus":                  {`(?:xy)+`, "xy"},
		"star is not needed":    {`(?:xy)*z`, "z"},
		"repeat":                {`(?:xy){2,5}`, "xyxy"},
		"common prefix":         {`foobar|foobaz`, "fooba"},
		"alternatives":          {`red|green|blue`, "red|green|blue"},
		"too many alternatives": {`qa|wb|ec|rd|te`, ""},
		"one has none":          {`red|[a-z]+`, ""},
		"class":                 {`[a-z]+`, ""},
		"folded":                {`(?i)failed`, "FAILED/i"},
		"folded k and s":        {`(?i)tasks-gone`, "-GONE/i"},
		"capture":               {`(paid)`, "paid"},
		"replacement rune":      {`ab\x{fffd}cde`, "cde"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newRegexp(regexp.MustCompile(tc.re)).(*pattern)
			var got []string
			for _, f := range m.any {
				s := string(f.needle)
				if f.fold {
					s = strings.ToUpper(s) + "/i"
				}
				got = append(got, s)
			}
			if s := strings.Join(got, "|"); s != tc.want {
				t.Errorf("got %q, want %q", s, tc.want)
			}
		})
	}
}
