package record

import (
	"errors"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

func (p *record) View(w, h int) string {
	switch {
	case p.rec == nil && p.err != nil:
		next := "[ and ] go to the records beside it, r lists those around, esc goes back"
		if errors.Is(p.err, model.ErrNoTopic) || errors.Is(p.err, model.ErrNoPartition) {
			next = ": goes to another address, 1 lists the topics, esc goes back"
		}
		return kit.Problem(p.Theme, w, h, p.err.Error(), next)
	case p.rec == nil && p.load.Slow():
		return kit.Empty(p.Theme, w, h, "reading "+kit.Safe(p.Address().String(), 200), "esc goes back")
	case p.rec == nil:
		return kit.Block("", w, h)
	}
	lines := p.above(w, h)
	p.top, p.width = len(lines), w
	frame := strings.Join(lines, "\n")
	if rest := h - len(lines); rest > 0 {
		if len(lines) > 0 {
			frame += "\n"
		}
		frame += p.body(w, rest)
	}
	return frame
}

// above draws what stands above the body: where the record lies, its key, its headers, the words for parts and forms.
func (p *record) above(w, h int) []string {
	tabs := p.tabs(w)
	switch {
	case h < 3:
		return nil
	case h < 8:
		return []string{tabs}
	}
	lines := []string{p.facts(w), p.places(w)}
	if p.note != "" {
		var l kit.Line
		style := p.Theme.Warn
		if p.bad {
			style = p.Theme.Bad
		}
		lines = append(lines, l.Space(1).Add(style, kit.Cut(kit.Safe(p.note, 500), max(0, w-1))).Fit(w))
	}
	if h >= 12 {
		lines = append(lines, page.Rule(p.Theme, w, ""))
		lines = append(lines, p.summary(w, max(1, (h-8)/4))...)
	}
	return append(lines, tabs)
}

// facts says when, how large, by whom, and how its transaction ended.
func (p *record) facts(w int) string {
	r, t := p.rec, p.Theme
	var facts []page.Fact
	switch {
	case r.Untrusted:
		facts = append(facts, page.Fact{Value: t.Glyphs.Bad + " its batch fails its checksum: do not trust it", Style: t.Bad})
	case r.Visibility == model.Aborted:
		facts = append(facts, page.Fact{Value: "aborted: no read_committed consumer is given it", Style: t.Warn})
	case r.Visibility == model.Undecided:
		facts = append(facts, page.Fact{Value: "undecided: its transaction is open", Style: t.Warn})
	}
	if r.Control != "" {
		facts = append(facts, page.Fact{Value: "control record: " + kit.Safe(r.Control, 40), Style: t.Null})
	}
	if r.Timestamp >= 0 {
		kind := "create time"
		if r.TimestampType == model.LogAppendTime {
			kind = "log append time"
		}
		facts = append(facts, page.Fact{Name: kind, Value: p.Clock.Stamp(r.Timestamp)})
	} else {
		facts = append(facts, page.Fact{Value: "no timestamp", Style: t.Dim})
	}
	facts = append(facts, page.Fact{Value: kit.BytesText(int64(r.Size))})
	if r.ProducerID != model.NoProducer {
		who := strconv.FormatInt(r.ProducerID, 10) + "/" + strconv.Itoa(int(r.ProducerEpoch))
		if r.Sequence >= 0 {
			who += " #" + strconv.Itoa(int(r.Sequence))
		}
		facts = append(facts, page.Fact{Name: "producer", Value: who})
	}
	if r.Transactional && r.Control == "" && r.Visibility == model.Visible {
		facts = append(facts, page.Fact{Value: "committed transaction", Style: t.Good})
	}
	return page.Facts(t, w, facts...)
}

// places says where the record lies.
func (p *record) places(w int) string {
	r := p.rec
	facts := []page.Fact{{Name: "offset", Value: kit.Number(r.Offset)}}
	switch { // a cluster does not tell where in a file a batch lies
	case r.Batch >= 0 && r.BatchPos >= 0:
		facts = append(facts, page.Fact{Name: "batch", Value: kit.Number(r.Batch) + " at byte " + kit.Number(r.BatchPos)})
	case r.Batch >= 0:
		facts = append(facts, page.Fact{Name: "batch", Value: kit.Number(r.Batch)})
	}
	seg := model.PartitionAddress(p.tp)
	seg.Segment = r.Segment
	facts = append(facts, page.Fact{Name: "of", Value: kit.Safe(seg.String(), 400)})
	if r.LeaderEpoch >= 0 {
		facts = append(facts, page.Fact{Name: "leader epoch", Value: strconv.Itoa(int(r.LeaderEpoch))})
	}
	return page.Facts(p.Theme, w, facts...)
}

// summary draws the key, and at most n lines of headers.
func (p *record) summary(w, n int) []string {
	r, t := p.rec, p.Theme
	name := 3
	shown := r.Headers
	if len(shown) > n {
		shown = shown[:n-1]
	}
	for i := range shown {
		name = max(name, kit.Width(kit.Safe(shown[i].Name, 60)))
	}
	name = min(name, 24, max(3, w/4))
	row := func(label []kit.Span, v []byte, style kit.Style) string {
		var l kit.Line
		l.Space(2).Spans(label, name)
		l.To(2+name).Space(2).Spans(rows.Value(t, style, v, page.Filter{}, kit.CellLimit(w)), max(0, w-l.Width()))
		return l.Fit(w)
	}
	lines := []string{row([]kit.Span{{Text: "key", Style: t.Dim}}, r.Key, t.Key)}
	for i := range shown {
		lines = append(lines, row(t.SafeSpans(t.Field, shown[i].Name, 200), shown[i].Value, kit.Style{}))
	}
	if left := len(r.Headers) - len(shown); left > 0 {
		var l kit.Line
		l.Space(2).Add(t.Dim, t.Glyphs.Ellipsis+" "+kit.Number(int64(left))+" more headers: tab shows them")
		lines = append(lines, l.Fit(w))
	}
	return lines
}

// tabs draws the words for the parts, and at the right the forms.
func (p *record) tabs(w int) string {
	r, t := p.rec, p.Theme
	var l kit.Line
	l.Add(t.Rule, strings.Repeat(t.Glyphs.Rule, 2))
	size := func(b []byte) string {
		if b == nil {
			return t.Glyphs.Null
		}
		return kit.BytesText(int64(len(b)))
	}
	for _, x := range [...]part{valuePart, keyPart, headersPart} {
		var what string
		switch x {
		case valuePart:
			what = size(r.Value)
		case keyPart:
			what = size(r.Key)
		default:
			what = strconv.Itoa(len(r.Headers))
		}
		name := t.Dim
		if x == p.part {
			name = t.Accent.And(t.Bold)
		}
		l.Space(1).Add(name, x.String()).Space(1).Add(t.Dim, what).Space(1)
	}
	if len(p.forms) > 0 && l.Width()+12 < w {
		forms := p.choice.View(t, max(0, min(44, w-l.Width()-4)), false)
		if fill := w - l.Width() - kit.Width(forms) - 4; fill >= 0 {
			l.Add(t.Rule, strings.Repeat(t.Glyphs.Rule, fill)).Space(1).Text(forms).Space(1).Add(t.Rule, strings.Repeat(t.Glyphs.Rule, 2))
		}
	}
	l.Add(t.Rule, strings.Repeat(t.Glyphs.Rule, max(0, w-l.Width())))
	return l.Fit(w)
}

// body draws the part in its form.
func (p *record) body(w, h int) string {
	b := p.bytes()
	switch {
	case p.part == headersPart:
		return p.headerList(w, h)
	case p.form() == decodedForm:
		return p.inset(w, h, &p.text)
	case b == nil && p.part == valuePart:
		return kit.Empty(p.Theme, w, h, p.Theme.Glyphs.Null+" null: there is no value", "in a compacted topic this is a tombstone: it deletes the key")
	case b == nil:
		return kit.Empty(p.Theme, w, h, p.Theme.Glyphs.Null+" null: there is no key", "the producer chose the partition without one")
	case len(b) == 0:
		return kit.Empty(p.Theme, w, h, `"" empty: `+p.part.String()+" of 0 bytes", "empty is not null")
	case p.layout.Busy() && !p.layout.Slow():
		return kit.Block("", w, h)
	case p.form() == jsonForm:
		return p.json.View(w, h)
	case p.form() == hexForm:
		return p.inset(w, h, &p.hex)
	}
	return p.inset(w, h, &p.text)
}

// inset draws a view two cells in, below the names above it.
func (p *record) inset(w, h int, v interface{ View(w, h int) string }) string {
	if w < 12 {
		return v.View(w, h)
	}
	lines := strings.Split(v.View(w-2, h), "\n")
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return strings.Join(lines, "\n")
}

// headerList draws all headers in their order.
func (p *record) headerList(w, h int) string {
	t, hs := p.Theme, p.rec.Headers
	name := 4
	for i := range hs[:min(len(hs), 1000)] {
		name = max(name, kit.Width(kit.Safe(hs[i].Name, 60)))
	}
	name = min(name, max(4, w/3))
	return p.headers.View(w, h, func(i int64) string {
		var l kit.Line
		l.Spans(t.SafeSpans(t.Field, hs[i].Name, kit.CellLimit(name)), name)
		l.To(name).Space(2)
		return l.Spans(rows.Value(t, kit.Style{}, hs[i].Value, page.Filter{}, kit.CellLimit(w)), max(0, w-name-4)).String()
	})
}

// Status says how far down the body one is, and where the record is in its log.
func (p *record) Status() string {
	if p.rec == nil || !p.known || p.end <= p.start {
		return ""
	}
	return "log " + kit.Number(p.start) + " to " + kit.Number(p.end-1)
}
