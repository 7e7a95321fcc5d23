package rows

import (
	"strconv"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// Table decides columns and draws records in them. Its widths grow with what Measure was shown and never shrink until
// Forget. Theme and Clock must be set.
type Table struct {
	Theme *kit.Theme
	Clock *kit.Clock
	// Where shows which partition a record is of: its number, or with Topics its topic too.
	Where, Topics bool
	// Gaps shows how many offsets lie between a record and the one before it, for logs that are mostly holes.
	Gaps bool
	// NoSize leaves headers and size out: a stream is read by its values.
	NoSize bool
	// Tombstones says that a null value is a deletion: the topic is compacted.
	Tombstones bool
	// Decode puts a record into words, where it can; the words stand for key and value.
	Decode func(r model.Record) (string, bool)
	Find   page.Filter // what was searched for is lit

	offset, time, key, where int // cells wanted
	gap                      int
	decoded                  bool
	line                     kit.Line

	drawn   map[rowKey]string // lines as they were drawn by look
	drawnBy look
}

// rowKey tells one record's line from another's, also where a partition was deleted and made anew.
type rowKey struct {
	tp      model.TopicPartition
	offset  int64
	time    int64
	before  int64
	pos     int64
	size    int
	visible model.Visibility
}

// look is all else that a line depends on.
type look struct {
	place      place
	w          int
	theme      string
	form       kit.TimeForm
	find       string
	tombstones bool
	day        int // times of today are written without their date
}

// maxDrawn is how many lines are kept: some screens full.
const maxDrawn = 1024

// kept returns the lines that were drawn in this look.
func (t *Table) kept(w int, p place) map[rowKey]string {
	by := look{place: p, w: w, theme: t.Theme.Name, form: t.Clock.Form, find: t.Find.Text(), tombstones: t.Tombstones}
	if t.Clock.Form == kit.AgoTime {
		return nil // it changes by itself
	}
	if t.Clock.Now != nil {
		by.day = t.Clock.Now().In(t.Clock.Location()).YearDay()
	}
	if t.drawn == nil || t.drawnBy != by || len(t.drawn) >= maxDrawn {
		t.drawn, t.drawnBy = make(map[rowKey]string, 64), by
	}
	return t.drawn
}

const (
	between  = 2 // blanks between two columns
	hdrsW    = 4
	sizeW    = 8
	shortW   = 16 // 2006-01-02 15:04
	maxKey   = 40
	maxWhere = 30
)

// Forget lets the widths be measured anew.
func (t *Table) Forget() { t.offset, t.time, t.key, t.where, t.gap, t.decoded = 0, 0, 0, 0, 0, false }

// Measure widens the columns to what records hold.
func (t *Table) Measure(recs []model.Record) {
	t.offset, t.key, t.time = max(t.offset, len("OFFSET")), max(t.key, len("KEY")), max(t.time, len("TIME"))
	most := model.Unknown
	first, last := model.NoTime, model.NoTime
	for i := range recs {
		r := &recs[i]
		most = max(most, r.Offset)
		if t.key < maxKey && r.Control == "" {
			t.key = max(t.key, kit.SpansWidth(Value(t.Theme, kit.Style{}, r.Key, page.Filter{}, maxKey)))
		}
		if r.Timestamp >= 0 {
			if first < 0 || r.Timestamp < first {
				first = r.Timestamp
			}
			last = max(last, r.Timestamp)
		}
		if t.Where {
			t.where = max(t.where, kit.Width(t.whereText(r)))
		}
		if t.Decode != nil && !t.decoded && r.Control == "" {
			_, t.decoded = t.Decode(*r)
		}
	}
	t.Reach(most)
	t.time = max(t.time, kit.Width(t.Clock.Clock(first)), kit.Width(t.Clock.Clock(last)))
	t.key = min(t.key, maxKey)
	t.where = min(max(t.where, len(t.whereHead())), maxWhere)
}

// Reach makes room for an offset.
func (t *Table) Reach(offset int64) {
	t.offset = max(t.offset, len(kit.Number(max(offset, 0))), len("OFFSET"))
}

// ReachGap makes room for a number of offsets between two records.
func (t *Table) ReachGap(n int64) { t.gap = max(t.gap, len("GAP"), len(kit.Number(n))) }

func (t *Table) whereHead() string {
	if t.Topics {
		return "PARTITION"
	}
	return "PART"
}

func (t *Table) whereText(r *model.Record) string {
	if t.Topics {
		return kit.Safe(r.Topic, maxWhere) + "/" + strconv.Itoa(int(r.Partition))
	}
	return strconv.Itoa(int(r.Partition))
}

// place is where the columns lie for one width; a width of 0 means that the column is not shown.
type place struct {
	where, offset, gap, time, key, value, hdrs, size int
	short                                            bool // times without seconds
}

// place decides the columns for w cells. The value keeps a third of the screen or 36 cells,
// and more cells than any other.
func (t *Table) place(w int) place {
	p := place{offset: t.offset, time: t.time, key: min(t.key, max(8, w/6)), hdrs: hdrsW, size: sizeW}
	if t.Where {
		p.where = min(t.where, max(9, w/6))
	}
	if t.Gaps {
		p.gap = max(t.gap, len("GAP"))
	}
	if t.NoSize {
		p.hdrs, p.size = 0, 0
	}
	if t.decoded {
		p.key = 0
	}
	enough := func() bool {
		rest := w - between
		for _, c := range [...]int{p.where, p.offset, p.gap, p.time, p.key, p.hdrs, p.size} {
			if c > 0 {
				rest -= c + between
			}
		}
		p.value = rest + between
		return p.value >= max(w*35/100, p.where+1, p.offset+1, p.gap+1, p.time+1, p.key+1, min(36, w/2))
	}
	for _, give := range [...]func(){
		func() { p.hdrs = 0 },
		func() {
			if p.time > shortW && t.Clock.Form < kit.EpochTime {
				p.time, p.short = shortW, true
			}
		},
		func() { p.size = 0 },
		func() { p.time = 0 },
		func() { p.key = min(p.key, 8) },
		func() { p.where = min(p.where, 6) },
		func() { p.key = 0 },
		func() { p.where = 0 },
		func() { p.gap = 0 },
		func() { p.offset = 0 },
	} {
		if enough() {
			return p
		}
		give()
	}
	enough()
	p.value = max(p.value, 0)
	return p
}

// Shown returns the names of the columns at a width, for tests and for help.
func (t *Table) Shown(w int) map[string]int {
	p := t.place(w)
	out := map[string]int{}
	for name, n := range map[string]int{t.whereHead(): p.where, "OFFSET": p.offset, "GAP": p.gap, "TIME": p.time, "KEY": p.key, "VALUE": p.value, "HDRS": p.hdrs, "SIZE": p.size} {
		if n > 0 {
			out[name] = n
		}
	}
	return out
}

// Head returns the heads of the columns in w cells, without the list's gutter.
func (t *Table) Head(w int) string {
	p, l, h := t.place(w), &t.line, t.Theme.Head
	l.Reset()
	cell := func(name string, cw int, right bool) {
		if cw > 0 {
			l.Cell(h, name, cw, right).Space(between)
		}
	}
	cell(t.whereHead(), p.where, !t.Topics)
	cell("OFFSET", p.offset, true)
	cell("GAP", p.gap, true)
	cell("TIME", p.time, false)
	cell("KEY", p.key, false)
	cell("VALUE", p.value, false)
	cell("HDRS", p.hdrs, true)
	cell("SIZE", p.size, true)
	return kit.Cut(strings.TrimRight(l.String(), " "), w)
}

// Row returns a record's line in w cells, without the list's gutter. before is how many offsets lie between it and the
// record before it, for Gaps.
func (t *Table) Row(w int, r *model.Record, before int64) string {
	p := t.place(w)
	if r.Untrusted {
		return t.row(w, p, r, before) // its offset and time may be another's
	}
	kept := t.kept(w, p)
	key := rowKey{r.TopicPartition, r.Offset, r.Timestamp, before, r.BatchPos, r.Size, r.Visibility}
	if line, ok := kept[key]; ok {
		return line
	}
	line := t.row(w, p, r, before)
	if kept != nil {
		kept[key] = line
	}
	return line
}

func (t *Table) row(w int, p place, r *model.Record, before int64) string {
	l, th := &t.line, t.Theme
	l.Reset()
	base := kit.Style{}
	if r.Visibility != model.Visible {
		base = th.Dim
	}
	key := th.Key
	if base.On != "" {
		key = base
	}
	if p.where > 0 {
		l.Cell(th.Dim, t.whereText(r), p.where, !t.Topics).Space(between)
	}
	if p.offset > 0 {
		l.Cell(base, kit.Number(r.Offset), p.offset, true).Space(between)
	}
	if p.gap > 0 {
		t.gapCell(p.gap, before)
	}
	if p.time > 0 {
		l.Cell(th.Dim, t.timeText(r.Timestamp, p.short), p.time, false).Space(between)
	}
	if p.key > 0 {
		at := l.Width()
		l.Spans(Value(th, key, r.Key, t.Find, kit.CellLimit(p.key)), p.key).To(at + p.key).Space(between)
	}
	at := l.Width()
	l.Spans(t.value(r, base, p.value), p.value).To(at + p.value)
	if p.hdrs > 0 {
		style := base
		if len(r.Headers) == 0 {
			style = th.Dim
		}
		l.Space(between).Cell(style, strconv.Itoa(len(r.Headers)), p.hdrs, true)
	}
	if p.size > 0 {
		num, unit := kit.Bytes(int64(r.Size))
		l.Space(between).Cell(base, num, p.size-4, true).Space(1).Cell(th.Dim, unit, 3, false)
	}
	return kit.Cut(l.String(), w)
}

// value returns the value with what is odd about the record before it.
func (t *Table) value(r *model.Record, base kit.Style, w int) []kit.Span {
	th := t.Theme
	var spans []kit.Span
	switch {
	case r.Untrusted:
		spans = append(spans, kit.Span{Text: th.Glyphs.Bad + " crc ", Style: th.Bad})
	case r.Visibility == model.Aborted:
		spans = append(spans, kit.Span{Text: "aborted ", Style: th.Warn})
	case r.Visibility == model.Undecided:
		spans = append(spans, kit.Span{Text: "undecided ", Style: th.Warn})
	}
	if t.Decode != nil {
		if text, ok := t.Decode(*r); ok {
			return append(spans, t.Find.Spans(th, base, text, kit.CellLimit(w))...)
		}
	}
	if r.Value == nil && t.Tombstones {
		return append(spans, kit.Span{Text: th.Glyphs.Null + " tombstone", Style: th.Null})
	}
	return append(spans, Value(th, base, r.Value, t.Find, kit.CellLimit(w))...)
}

func (t *Table) timeText(ms int64, short bool) string {
	if !short || ms < 0 {
		return t.Clock.Clock(ms)
	}
	s := t.Clock.Clock(ms)
	if len(s) < shortW {
		return s // today's
	}
	return time.UnixMilli(ms).In(t.Clock.Location()).Format("2006-01-02 15:04")
}

func (t *Table) gapCell(w int, n int64) {
	text := ""
	if n > 0 {
		text = kit.Number(n)
	}
	t.line.Cell(t.Theme.Dim, text, w, true).Space(between)
}

// Mark is a line that is no record: a marker of a transaction, a hole, a group's position, damage.
type Mark struct {
	Offset int64     // shown in its column; Unknown for none
	Before int64     // offsets between it and the record before it, for Gaps
	Text   string    // safe
	Style  kit.Style // of Text
	Ruled  bool      // a thin line runs through it to the right
	Right  string    // safe; at the right end, dim
}

// Mark returns a marking line in w cells, without the list's gutter.
func (t *Table) Mark(w int, m Mark) string {
	p, l, th := t.place(w), &t.line, t.Theme
	l.Reset()
	if p.where > 0 {
		l.Space(p.where + between)
	}
	if p.offset > 0 {
		text := ""
		if m.Offset >= 0 {
			text = kit.Number(m.Offset)
		}
		l.Cell(th.Dim, text, p.offset, true).Space(between)
	}
	if p.gap > 0 {
		t.gapCell(p.gap, m.Before)
	}
	if m.Ruled {
		l.Add(th.Rule, strings.Repeat(th.Glyphs.Rule, 2)).Space(1)
	}
	right := 0
	if m.Right != "" {
		right = kit.Width(m.Right) + between
	}
	if right > (w-l.Width())/2 {
		right, m.Right = 0, ""
	}
	l.Add(m.Style, kit.Cut(m.Text, max(0, w-l.Width()-right)))
	if m.Ruled && l.Width()+2 < w-right {
		l.Space(1).Add(th.Rule, strings.Repeat(th.Glyphs.Rule, w-right-l.Width()-1))
	}
	if m.Right != "" {
		l.To(w-right+between).Add(th.Dim, m.Right)
	}
	return kit.Cut(l.String(), w)
}
