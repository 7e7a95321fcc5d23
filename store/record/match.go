package record

import "regexp"

// Matcher finds records. It is immutable, hence safe for concurrent use.
type Matcher interface {
	// MayContain is a quick look at a whole records section. False means that
	// no record in it matches; true means that one may.
	MayContain(section []byte) bool
	// MatchRecord is exact: it tells whether key, value, or a header's name or
	// value matches.
	MatchRecord(r *Record) bool
}

// NewLiteral matches records that contain needle; with fold in any case. Case
// is that of Unicode if the needle is valid UTF-8 beyond ASCII, else that of
// ASCII letters only. An empty needle matches every record.
func NewLiteral(needle []byte, fold bool) Matcher { return newLiteral(needle, fold) }

// NewRegexp matches records with a field that re matches. If every match must
// hold some literal, that is looked for first.
func NewRegexp(re *regexp.Regexp) Matcher { return newRegexp(re) }

// Search gives hit the matching records of the batch that r was last reset
// to, until it returns false. Records are decoded only if the section may
// hold a match. It reports whether hit let it go on, and r.Err after that.
func Search(r *Reader, m Matcher, hit func(*Record) bool) (more bool, err error) {
	if !m.MayContain(r.Section()) {
		return true, r.Err()
	}
	for r.Next() {
		if rec := r.Record(); m.MatchRecord(rec) && !hit(rec) {
			return false, nil
		}
	}
	return true, r.Err()
}

// anyField tells whether test holds for a field of the record.
func anyField(r *Record, test func([]byte) bool) bool {
	if r.Key != nil && test(r.Key) || r.Value != nil && test(r.Value) {
		return true
	}
	b, p := r.RawHeaders, 0
	for i := int32(0); i < r.HeaderCount; i++ {
		name, q, what := headerPart(b, p, false)
		if what != "" {
			return false
		}
		value, next, what := headerPart(b, q, true)
		if what != "" {
			return false
		}
		if test(name) || value != nil && test(value) {
			return true
		}
		p = next
	}
	return false
}
