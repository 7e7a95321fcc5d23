package reset

import (
	"errors"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/offsets"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	whereAt   = 4 // the cell at which the choice begins
	colName   = 1 // the column of the partitions
	minName   = 12
	minWrong  = 60 // cells from which on there is room for an error beside the text
	maxName   = 48
	footLines = 3 // rule, the row under the cursor, what the plan comes to
)

func planColumns() []kit.Column {
	return []kit.Column{
		{Name: "", Min: 1},
		{Name: "PARTITION", Grow: true, Min: minName, Max: minName},
		{Name: "COMMITTED", Right: true, Min: 9},
		{Name: "WILL BE", Right: true, Min: 12},
		{Name: "CHANGE", Min: 18},
		{Name: "FIRST RECORD IT WILL READ", Grow: true, Min: 24, Drop: 1},
	}
}

func doneColumns() []kit.Column {
	return []kit.Column{
		{Name: "", Min: 1},
		{Name: "PARTITION", Grow: true, Min: minName, Max: minName},
		{Name: "WAS", Right: true, Min: 9},
		{Name: "STORED", Right: true, Min: 12},
		{Name: "READ BACK", Min: 12},
		{Name: "FIRST RECORD IT WILL READ", Grow: true, Min: 24, Drop: 1},
	}
}

func (p *reset) View(w, h int) string {
	p.width = w
	switch {
	case p.src == nil:
		return kit.Problem(p.Theme, w, h, "this source is read-only: offsets cannot be moved", "esc goes back; what groups have committed can be read")
	case p.undo != 0 && !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "J shows the journal, esc goes back")
	}
	head := p.head(w)
	p.tabY = len(head)
	foot := footLines
	if h < 10 {
		foot = 1
	}
	if h <= len(head)+1 {
		return kit.Block(strings.Join(head, "\n"), w, h)
	}
	body := h - len(head) - foot
	if body < 1 {
		foot, body = 0, h-len(head)
	}
	out := append(head, p.body(w, body))
	if foot == footLines {
		out = append(out, page.Rule(p.Theme, w, ""), p.detail(w))
	}
	if foot > 0 {
		out = append(out, p.verdict(w))
	}
	return kit.Block(strings.Join(out, "\n"), w, h)
}

// head is the choice of the place and its text, or what is taken back, or what was applied, and the rule below.
func (p *reset) head(w int) []string {
	t := p.Theme
	var a, b kit.Line
	switch {
	case p.done != nil:
		a.Space(1).Add(t.Dim, "reset of ").Text(p.safeGroup()).Space(1).Text(offsets.WhereWords(p.done.plan.Where))
		return []string{a.Fit(w), page.Rule(t, w, "what is stored now, read back")}
	case p.undo != 0:
		a.Space(1).Add(t.Dim, "take back ").Text("reset " + strconv.FormatUint(max(p.undo, p.plan.UndoOf), 10))
		if e := p.entry; e != nil {
			a.Space(1).Text(offsets.WhereWords(e.Where)).Add(t.Dim, ", made "+p.Clock.Ago(e.At)+" ago by "+kit.Safe(e.Who, 100))
		}
		return []string{a.Fit(w), page.Rule(t, w, "what is committed now, and what it was before")}
	}
	a.Space(1).Add(t.Dim, "to ").Text(p.where.View(t, max(8, w-whereAt), !p.typing))
	b.Space(whereAt)
	pl, room := p.place(), max(0, w-whereAt)
	switch {
	case !pl.needs:
		b.Add(t.Dim, kit.Cut(pl.hint, room))
	case p.wrong != "" && w >= minWrong:
		in := &p.inputs[p.where.Chosen]
		b.Text(in.View(t, min(30, room/2), p.typing)).Space(1).Add(t.Bad, kit.Cut(t.Glyphs.Bad+" "+kit.Safe(p.wrong, 300), max(0, room-min(30, room/2)-1)))
	default:
		b.Text(p.inputs[p.where.Chosen].View(t, room, p.typing))
	}
	scope := "all that it has committed"
	if len(p.scope) > 0 {
		scope = kit.Safe(p.scopeText(), 300)
	}
	return []string{a.Fit(w), b.Fit(w), page.Rule(t, w, scope)}
}

func (p *reset) body(w, h int) string {
	switch {
	case p.done != nil:
		return p.table.View(w, h, p.doneRow)
	case !p.loaded && errors.Is(p.err, model.ErrNoGroup) && len(p.scope) == 0 && !p.place().needs:
		return kit.Empty(p.Theme, w, h, "group "+p.safeGroup()+" has committed nothing yet", "t names the topics that it shall begin to read")
	case !p.loaded && p.err != nil:
		next := "choose another place"
		if len(p.scope) == 0 {
			next = "t names the topics that the group shall begin to read"
		}
		return kit.Problem(p.Theme, w, h, p.err.Error(), next)
	case !p.loaded && p.planning.Slow():
		return kit.Empty(p.Theme, w, h, "planning", "offsets are looked up, records are counted")
	case !p.loaded:
		return kit.Block("", w, h)
	case len(p.plan.Rows) == 0:
		return kit.Empty(p.Theme, w, h, "nothing is committed in these topics", "t names others")
	}
	return p.table.View(w, h, p.planRow)
}

// unknownTarget reports whether there is nothing yet that the rows could become.
func (p *reset) unknownTarget() bool {
	if p.undo != 0 {
		return false
	}
	_, err := p.chosen()
	return err != nil || p.err != nil
}

func (p *reset) planRow(i int64) kit.Row {
	r, t := &p.plan.Rows[i], p.Theme
	sign := kit.Cell{Text: t.Glyphs.Mark, Style: t.Accent}
	switch {
	case r.Excluded:
		sign = kit.Cell{Text: t.Glyphs.Unmark, Style: t.Dim}
	case r.From == r.To:
		sign = kit.Cell{}
	}
	from := offsets.CommitCell(t, r.From)
	if was, ok := p.moved[r.TopicPartition]; ok {
		from.Style = t.Warn
		from.Text = offsets.CommitText(t, was) + " " + t.Glyphs.Right + " " + from.Text
	}
	to, change, first := offsets.TargetCell(t, r), offsets.ChangeCell(t, r), p.firstCell(r)
	name := kit.Style{}
	if r.Excluded || r.From == r.To {
		name = t.Dim
	}
	if p.unknownTarget() {
		sign, change, first = kit.Cell{}, kit.Cell{}, kit.Cell{}
		to = kit.Cell{Text: t.Glyphs.Unknown, Style: t.Dim}
	}
	spans := t.SafeSpans(name, r.TopicPartition.String(), 300)
	if _, ok := p.edits[r.TopicPartition]; ok {
		spans = append(spans, kit.Span{Text: " edited", Style: t.Dim})
	}
	return kit.Row{Cells: []kit.Cell{sign, {Spans: spans}, from, to, change, first}}
}

// firstCell shows the first record that will be read, or the note of the row.
func (p *reset) firstCell(r *model.PlanRow) kit.Cell {
	t := p.Theme
	switch {
	case r.Excluded && strings.HasPrefix(r.Note, "log "):
		return kit.Cell{Text: kit.Safe(r.Note, 300), Style: t.Dim}
	case r.Excluded && r.Note != "":
		return kit.Cell{Text: kit.Safe(r.Note, 300), Style: t.Warn}
	case r.Excluded:
		return kit.Cell{}
	case r.First != nil && strings.Contains(r.Note, " lost"):
		spans := []kit.Span{{Text: kit.Safe(r.Note, 300) + "  ", Style: t.Warn}}
		return kit.Cell{Spans: append(spans, offsets.FirstSpans(t, p.Clock, r.First, 400)...)}
	case r.First != nil:
		return kit.Cell{Spans: offsets.FirstSpans(t, p.Clock, r.First, 400)}
	case r.Note != "":
		return kit.Cell{Text: kit.Safe(r.Note, 300), Style: t.Dim}
	}
	return kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
}

func (p *reset) doneRow(i int64) kit.Row {
	r, t := &p.done.plan.Rows[i], p.Theme
	stored, back := kit.Cell{Text: t.Glyphs.Unknown, Style: t.Dim}, kit.Cell{Text: "not read back", Style: t.Warn}
	sign := kit.Cell{Text: t.Glyphs.Bad, Style: t.Bad}
	for _, got := range p.done.result.Rows {
		if got.TopicPartition != r.TopicPartition {
			continue
		}
		stored = offsets.CommitCell(t, got.Stored)
		if got.OK {
			sign, back = kit.Cell{Text: t.Glyphs.Good, Style: t.Good}, kit.Cell{Text: "as planned", Style: t.Good}
			if r.From == r.To {
				sign, back = kit.Cell{}, kit.Cell{Text: "unchanged", Style: t.Dim}
			}
		} else {
			back = kit.Cell{Text: "planned was " + offsets.CommitText(t, r.To), Style: t.Bad}
		}
	}
	return kit.Row{Cells: []kit.Cell{
		sign, {Spans: t.SafeSpans(kit.Style{}, r.TopicPartition.String(), 300)}, offsets.CommitCell(t, r.From), stored, back, p.firstCell(r),
	}}
}

// detail says of the row under the cursor all that columns have no room for.
func (p *reset) detail(w int) string {
	t := p.Theme
	r, ok := p.at()
	if !ok || p.done == nil && p.unknownTarget() {
		return ""
	}
	var l kit.Line
	l.Space(1).Add(t.Dim, kit.Safe(r.TopicPartition.String(), 100)).Space(2)
	switch r.Note {
	case "":
	case "log start", "log end":
		l.Add(t.Dim, r.Note).Space(2)
	default:
		l.Add(t.Warn, kit.Safe(r.Note, 300)).Space(2)
	}
	switch {
	case r.Excluded || r.To < 0:
	case r.First != nil:
		l.Add(t.Dim, "first "+kit.Number(r.First.Offset)+" ").Spans(offsets.FirstSpans(t, p.Clock, r.First, kit.CellLimit(w)), max(0, w-l.Width()))
	case r.Note == "" || r.Note == "log end":
		l.Add(t.Dim, "no record there yet: it will wait for the next one")
	}
	return l.Fit(w)
}

// verdict says what the plan comes to, or why it cannot be applied.
func (p *reset) verdict(w int) string {
	t := p.Theme
	var l kit.Line
	l.Space(1)
	if p.done != nil {
		return p.doneVerdict(w)
	}
	s := offsets.SumUp(&p.plan)
	switch why := p.whyNoApply(); {
	case p.refused != "" && !p.stale:
		l.Add(t.Bad, t.Glyphs.Bad+" not applied: "+kit.Safe(p.refused, 400))
	case p.applying.Busy():
		l.Add(t.Dim, "storing")
	case !p.loaded && p.err != nil:
	case p.plan.Refused != "" && p.loaded:
		l.Add(t.Bad, t.Glyphs.Bad+" can't apply: "+kit.Safe(p.plan.Refused, 400))
	case p.unknownTarget() && p.err == nil && p.wrong == "":
		l.Add(t.Dim, "enter to type "+p.place().noun)
	case p.err != nil:
		l.Add(t.Bad, t.Glyphs.Bad+" "+kit.Safe(p.err.Error(), 400))
	case p.wrong == "" && (!p.loaded || p.stale):
		l.Add(t.Dim, "planning")
	case p.wrong != "" && w >= minWrong:
		// It stands beside what is typed.
	case p.loaded && p.plan.Changes() == 0 && p.wrong == "":
		l.Add(t.Dim, why)
	case why != "":
		l.Add(t.Bad, t.Glyphs.Bad+" can't apply: "+why)
	default:
		l.Add(t.Good, t.Glyphs.Good+" ").Text(s.Words(t))
		if s.Out > 0 {
			l.Add(t.Dim, ", "+kit.Number(int64(s.Out))+" taken out")
		}
		if l.Width()+len("; A applies") <= w {
			l.Add(t.Dim, "; ").Add(t.Accent, "A").Add(t.Dim, " applies")
		}
	}
	return l.Fit(w)
}

func (p *reset) doneVerdict(w int) string {
	t := p.Theme
	var l kit.Line
	good := 0
	for _, r := range p.done.result.Rows {
		if r.OK {
			good++
		}
	}
	l.Space(1)
	all := len(p.done.result.Rows)
	if good == all && p.done.err == nil {
		l.Add(t.Good, t.Glyphs.Good+" "+kit.Plural(all, "row")+" read back as planned")
	} else {
		l.Add(t.Bad, t.Glyphs.Bad+" "+kit.Number(int64(good))+" of "+kit.Plural(all, "row")+" are as planned")
	}
	if p.done.result.Journal == 0 {
		return l.Add(t.Dim, " · no journal entry").Fit(w)
	}
	l.Add(t.Dim, " · journal entry ").Text(strconv.FormatUint(p.done.result.Journal, 10)).Add(t.Dim, " · ").Add(t.Accent, "u").Add(t.Dim, " takes it back")
	return l.Fit(w)
}
