package rows

import (
	"strconv"

	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// Value returns how at most limit bytes of a key, a value or a header's value look: null, empty and all else are three
// different looks. What find matches is lit.
func Value(t *kit.Theme, style kit.Style, b []byte, find page.Filter, limit int) []kit.Span {
	switch {
	case b == nil:
		return []kit.Span{{Text: t.Glyphs.Null, Style: t.Null}}
	case len(b) == 0:
		return []kit.Span{{Text: `""`, Style: t.Null}}
	case looksOdd(t, b):
		return []kit.Span{{Text: strconv.Quote(string(b)), Style: style}}
	}
	cut := b
	if len(cut) > limit+utf8Max {
		cut = cut[:limit+utf8Max]
	}
	if find.All() {
		return t.SafeSpans(style, string(cut), limit)
	}
	return find.Spans(t, style, string(cut), limit)
}

// utf8Max keeps the last letter within the limit whole.
const utf8Max = 4

// looksOdd reports whether text reads like the sign of null or of empty.
func looksOdd(t *kit.Theme, b []byte) bool {
	if len(b) > 16 {
		return false
	}
	s := string(b)
	return s == `""` || s == t.Glyphs.Null || s == t.Glyphs.Null+" tombstone"
}
