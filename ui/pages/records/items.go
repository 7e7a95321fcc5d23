package records

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

// kind says what a row is.
type kind int8

const (
	aRecord kind = iota
	aHole
	aGroup
	aFault
)

// item is a row: a record, or what is to be said between two of them.
type item struct {
	kind  kind
	rec   int   // aRecord
	from  int64 // aHole: the first offset; aGroup: what is committed
	n     int64 // aHole: how many offsets; aRecord: how many lie before it that have no row of their own
	fault int   // aFault
	pegs  []peg // aGroup
}

// peg is a group's committed offset in the partition.
type peg struct {
	group string
	at    int64
	row   model.GroupOffset
}

// pegsOf returns the groups' positions in a partition, in the order of the log.
func pegsOf(groups []model.Group, tp model.TopicPartition) []peg {
	var pegs []peg
	for i := range groups {
		for _, o := range groups[i].Offsets {
			if o.TopicPartition == tp && o.Committed >= 0 {
				pegs = append(pegs, peg{groups[i].ID, o.Committed, o})
			}
		}
	}
	slices.SortStableFunc(pegs, func(a, b peg) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.group, b.group)) })
	return pegs
}

// dense reports whether a log is so full of holes that rows for them would hide the records.
func dense(s *span) bool {
	holes := 0
	for i := 1; i < len(s.recs); i++ {
		if s.recs[i].Offset > s.recs[i-1].Offset+1 {
			holes++
		}
	}
	return holes >= 8 && holes*4 > len(s.recs)
}

// arrange makes the rows of a span: between two records first the damage, then the hole, then the groups. Where the log
// is dense with holes, these are told to the records behind them instead.
func arrange(s *span, pegs []peg, dense bool) []item {
	items := make([]item, 0, len(s.recs)+8)
	faults := placeFaults(s)
	next := s.prev // the offset that would be next
	pi := 0
	for pi < len(pegs) && pegs[pi].at < s.prev && !s.atStart {
		pi++
	}
	put := func(upTo int64, before int) (untold int64) {
		damaged := false
		for len(faults) > 0 && faults[0].before <= before {
			items = append(items, item{kind: aFault, fault: faults[0].fault})
			faults, damaged = faults[1:], true
		}
		switch {
		case upTo <= next:
		case dense && !damaged && before < len(s.recs):
			untold = upTo - next
		default:
			items = append(items, item{kind: aHole, from: next, n: upTo - next})
		}
		first := pi
		for pi < len(pegs) && pegs[pi].at <= upTo {
			pi++
		}
		// Groups within a hole stand behind it: what they read next is the record that follows.
		for first < pi {
			last := first
			for last < pi && pegs[last].at == pegs[first].at {
				last++
			}
			items = append(items, item{kind: aGroup, from: pegs[first].at, pegs: pegs[first:last]})
			first = last
		}
		return untold
	}
	for i := range s.recs {
		n := put(s.recs[i].Offset, i)
		items = append(items, item{kind: aRecord, rec: i, n: n})
		next = max(next, s.recs[i].Offset+1)
	}
	if s.atEnd {
		put(s.end, len(s.recs))
		for ; pi < len(pegs); pi++ { // past the end
			items = append(items, item{kind: aGroup, from: pegs[pi].at, pegs: pegs[pi : pi+1]})
		}
	} else {
		for _, f := range faults {
			items = append(items, item{kind: aFault, fault: f.fault})
		}
	}
	return items
}

type placedFault struct{ fault, before int }

// placeFaults finds before which record each fault lies.
func placeFaults(s *span) []placedFault {
	out := make([]placedFault, 0, len(s.faults))
	for f := range s.faults {
		fault := &s.faults[f]
		i := len(s.recs)
		switch base, ok := segmentOf(fault.File); {
		case fault.Offset >= 0:
			i = s.index(fault.Offset)
		case ok:
			for i = 0; i < len(s.recs); i++ {
				r := &s.recs[i]
				if r.Segment > base || r.Segment == base && r.BatchPos > fault.Position {
					break
				}
			}
		}
		if i == 0 && !s.atStart || i == len(s.recs) && !s.atEnd && len(s.recs) > 0 {
			continue // before or behind the window
		}
		out = append(out, placedFault{f, i})
	}
	slices.SortStableFunc(out, func(a, b placedFault) int { return cmp.Compare(a.before, b.before) })
	return out
}

// segmentOf reads the base offset off a file's name.
func segmentOf(file string) (int64, bool) {
	name := file[strings.LastIndexByte(file, '/')+1:]
	digits, _, ok := strings.Cut(name, ".")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n >= 0
}

// key names a row, so that the cursor stays with it.
func (p *records) key(i int64) string {
	it := &p.items[i]
	switch it.kind {
	case aHole:
		return "h" + strconv.FormatInt(it.from, 10)
	case aGroup:
		return "g" + it.pegs[0].group
	case aFault:
		f := &p.span.faults[it.fault]
		return "f" + f.File + "+" + strconv.FormatInt(f.Position, 10) + f.Kind
	}
	return strconv.FormatInt(p.span.recs[it.rec].Offset, 10)
}

// offsetOf returns where in the log a row is.
func (p *records) offsetOf(i int64) int64 {
	if i < 0 || i >= int64(len(p.items)) {
		return model.Unknown
	}
	switch it := &p.items[i]; it.kind {
	case aHole, aGroup:
		return it.from
	case aFault:
		if f := &p.span.faults[it.fault]; f.Offset >= 0 {
			return f.Offset
		}
		if i+1 < int64(len(p.items)) {
			return p.offsetOf(i + 1)
		}
		return p.span.next
	default:
		return p.span.recs[it.rec].Offset
	}
}

// mark draws a row that is no data.
func (p *records) mark(i int64, w int) string {
	t, it := p.Theme, &p.items[i]
	switch it.kind {
	case aHole:
		return p.table.Mark(w, rows.Mark{Offset: model.Unknown, Text: p.holeText(i), Style: t.Dim})
	case aFault:
		f := &p.span.faults[it.fault]
		text := t.Glyphs.Bad + " " + kit.Safe(p.faultText(it), 600)
		style := t.Bad
		if f.Severity != model.SevDamage {
			style = t.Warn
		}
		return p.table.Mark(w, rows.Mark{Offset: f.Offset, Text: text, Style: style})
	}
	text, right := p.groupText(it)
	return p.table.Mark(w, rows.Mark{Offset: model.Unknown, Text: text, Style: t.Accent, Right: right})
}

// faultText says what is wrong, where, and what follows.
func (p *records) faultText(it *item) string {
	f := &p.span.faults[it.fault]
	text := f.What
	if f.Position >= 0 {
		text += " · " + f.File + " byte " + kit.Number(f.Position)
	}
	if f.Follows != "" {
		text += " · " + f.Follows
	}
	return text
}

// holeText says what offsets without a record are, as far as it is known.
func (p *records) holeText(i int64) string {
	it := &p.items[i]
	damaged := i > 0 && p.items[i-1].kind == aFault && p.span.faults[p.items[i-1].fault].Severity == model.SevDamage
	return p.goneText(it.n, damaged)
}

func (p *records) goneText(count int64, damaged bool) string {
	n := kit.Number(count) + " offsets"
	if count == 1 {
		n = "1 offset"
	}
	switch {
	case damaged:
		return n + " cannot be read, for the damage above"
	case p.committed:
		return n + " not shown: aborted, undecided, or without a record"
	case p.compacted:
		return n + " compacted away"
	}
	return n + " without a record"
}

func (p *records) groupText(it *item) (text, right string) {
	t := p.Theme
	names := make([]string, 0, 4)
	for i := range it.pegs {
		if i == 3 && len(it.pegs) > 4 {
			names = append(names, "and "+kit.Number(int64(len(it.pegs)-i))+" more")
			break
		}
		names = append(names, kit.Safe(it.pegs[i].group, 60))
	}
	verb := " is here"
	if len(it.pegs) > 1 {
		verb = " are here"
	}
	text = t.Glyphs.Up + " " + strings.Join(names, ", ") + verb
	switch o := &it.pegs[0].row; {
	case o.Lost > 0 && it.from < p.span.start:
		text += ": " + kit.Number(o.Lost) + " offsets below the log start are lost to it"
	case o.Ahead > 0 && it.from > p.span.end:
		text += ": " + kit.Number(o.Ahead) + " past the end"
	case o.Lag.Known() && o.Lag.N == 0:
		right = "all read"
	case o.Lag.Known():
		right = page.CountText(t, o.Lag) + " still to read"
	}
	return text, right
}

// controlText says what a control record ends.
func controlText(r *model.Record) string {
	switch r.Control {
	case "commit", "abort":
		word := "committed"
		if r.Control == "abort" {
			word = "aborted"
		}
		return "transaction of producer " + strconv.FormatInt(r.ProducerID, 10) + " " + word
	}
	return "control record: " + kit.Safe(r.Control, 60)
}
