package produce

import (
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

func (p *produce) View(w, h int) string {
	t := p.Theme
	p.tabY = 0
	switch {
	case p.src == nil:
		return kit.Problem(t, w, h, "this source is read-only: nothing can be produced", "strata without a directory opens the embedded broker, which takes records")
	case p.topic == "":
		return kit.Empty(t, w, h, "records are produced to a topic", "p on a topic opens this page for it")
	}
	lower := 0 // lines below the form, with their rule
	switch {
	case h < 8:
	case len(p.places) > 0 && p.below:
		lower = min(len(p.places)+3, max(5, h/2))
	case len(p.places) > 0:
		lower = min(len(p.places)+3, max(5, h/3))
	case p.started():
		lower = 2
	}
	upper := h - lower
	used := min(upper, p.formLines())
	if lower > 2 {
		// What was sent stands right below the form, and has what the form leaves over.
		upper = used
		lower = h - upper
	}
	out := []string{p.formView(w, upper)}
	if lower > 0 {
		out = append(out, page.Rule(t, w, "sent"), p.progress(w))
	}
	if lower > 2 {
		p.tabY = upper + 2
		out = append(out, p.tableView(w, lower-2))
	}
	return kit.Block(strings.Join(out, "\n"), w, h)
}

// formView draws the form, without a cursor when the focus is on the places.
func (p *produce) formView(w, h int) string {
	focus := p.form.Focus
	if p.below {
		p.form.Focus = -1
	}
	s := p.form.View(w, h)
	p.form.Focus = focus
	return s
}

// tableView draws the places, without a cursor when the focus is on the form.
func (p *produce) tableView(w, h int) string {
	if p.below {
		return p.table.View(w, h, p.row)
	}
	p.table.Theme = p.Theme.Resting()
	s := p.table.View(w, h, p.row)
	p.table.Theme = p.Theme
	return s
}

// formLines is how many lines the form takes when nothing is left off, and one more.
func (p *produce) formLines() int {
	n := 1
	for i := range p.form.Fields {
		f := &p.form.Fields[i]
		if f.Hidden {
			continue
		}
		if n++; f.Err != "" || i == p.form.Focus && !p.below && f.Hint != "" {
			n++
		}
	}
	return n
}

func (p *produce) started() bool { return p.stream.Busy() || p.ended || p.err != nil }

// progress says how far the sending is, or how it ended.
func (p *produce) progress(w int) string {
	t := p.Theme
	var l kit.Line
	l.Space(1)
	switch {
	case p.stream.Busy() && p.job.times > 1:
		return " " + kit.Progress(t, p.count, p.job.times, kit.Number(p.count)+" of "+kit.Number(p.job.times)+p.speed(), max(0, w-1))
	case p.stream.Busy():
		l.Add(t.Dim, "sending  ").Text(records(p.count)).Add(t.Dim, p.speed())
	case p.err != nil:
		l.Add(t.Bad, t.Glyphs.Bad+" "+kit.Safe(p.err.Error(), 400))
	case p.job.times > 0 && p.count < p.job.times:
		l.Add(t.Warn, "stopped after "+kit.Number(p.count)+" of "+records(p.job.times))
	default:
		l.Add(t.Good, t.Glyphs.Good+" "+records(p.count)+" written")
	}
	return l.Fit(w)
}

// speed is how many records a second were written so far.
func (p *produce) speed() string {
	d := p.Now().Sub(time.UnixMilli(p.began)).Seconds()
	if d < 0.5 {
		return ""
	}
	return " · " + kit.Short(float64(p.count)/d) + "/s"
}

func (p *produce) row(i int64) kit.Row {
	at, t := &p.places[i], p.Theme
	offset := kit.Cell{Text: kit.Number(at.Offset)}
	if at.Offset < 0 {
		offset = kit.Cell{Text: "not told", Style: t.Dim}
	}
	a := model.PartitionAddress(model.TopicPartition{Topic: p.topic, Partition: at.Partition}).String()
	return kit.Row{Cells: []kit.Cell{
		{Spans: t.SafeSpans(kit.Style{}, a, 300)}, offset, {Text: p.Clock.Clock(at.Timestamp), Style: t.Dim},
	}}
}
