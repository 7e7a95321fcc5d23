package clients

import (
	"fmt"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// minSplit is the least height at which the APIs are shown below the clients.
const minSplit = 14

func (p *clients) View(w, h int) string {
	p.seenY = 0
	switch {
	case p.src == nil:
		return kit.Empty(p.Theme, w, h, "no clients: this source is read from files, nobody connects to it", "strata and strata serve listen for Kafka clients")
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r reads the clients again")
	case !p.loaded:
		return kit.Block("", w, h)
	case p.inside && h > 2:
		return page.Rule(p.Theme, w, "APIs") + "\n" + p.apis.View(w, h-1, p.apiRow)
	}
	if p.turned > 0 && h >= minRefused {
		return kit.Block(p.tables(w, h-1), w, h-1) + "\n" + p.refusal(w)
	}
	return p.tables(w, h)
}

// minRefused is the least height at which the last refusal is told.
const minRefused = 6

// refusal tells who was refused last, and why.
func (p *clients) refusal(w int) string {
	ago := p.Clock.Ago(p.last.At)
	if ago != "now" {
		ago += " ago"
	}
	text := fmt.Sprintf("%s %s refused, last %s: %s (%s)", p.Theme.Glyphs.Bad, kit.Number(p.turned), ago, kit.Safe(p.last.Why, 200), kit.Safe(p.last.Address, 60))
	return p.Theme.Warn.Wrap(kit.Cut(text, w))
}

// tables draws the clients, and below them the APIs where there is room.
func (p *clients) tables(w, h int) string {
	if len(p.stats) == 0 || h < minSplit {
		return p.upper(w, h)
	}
	lower := min(len(p.stats)+2, h/2)
	upper := h - lower
	if need := len(p.rows) + 1; len(p.rows) > 0 && need < upper {
		upper = need
	}
	p.seenY = upper
	out := []string{p.upper(w, upper), page.Rule(p.Theme, w, "APIs"), p.preview(w, h-upper-1)}
	return kit.Block(strings.Join(out, "\n"), w, h)
}

// upper draws the clients, or says why there are none.
func (p *clients) upper(w, h int) string {
	switch {
	case len(p.all) == 0 && p.info.Address == "":
		return kit.Empty(p.Theme, w, h, "nobody can connect: strata does not listen", "start it without --no-listen")
	case len(p.all) == 0:
		return kit.Empty(p.Theme, w, h, "nobody is connected to "+kit.Safe(p.info.Address, 60), "any Kafka client can be: kcat -b "+kit.Safe(p.info.Address, 60)+" -L")
	case len(p.rows) == 0:
		return kit.Empty(p.Theme, w, h, "no client matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	}
	return p.list.View(w, h, p.row)
}

// preview draws the APIs without a cursor.
func (p *clients) preview(w, h int) string {
	p.apis.Theme = p.Theme.Resting()
	s := p.apis.View(w, h, p.apiRow)
	p.apis.Theme = p.Theme
	return s
}

func (p *clients) row(i int64) kit.Row {
	c, t := &p.all[p.rows[i]], p.Theme
	client := kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	if n := name(c); n != "" {
		client = kit.Cell{Spans: p.filter.Spans(t, kit.Style{}, n, 200)}
	}
	address := c.Address
	if c.TLS {
		address += " tls"
	}
	return kit.Row{Cells: []kit.Cell{
		client,
		{Spans: p.filter.Spans(t, t.Dim, software(c), 200)},
		{Spans: p.filter.Spans(t, t.Dim, address, 100)},
		{Text: p.Clock.Ago(c.Since)},
		{Text: c.LastAPI, Style: t.Dim},
		rate(t, c.RequestRate), p.bytes(c.InRate), p.bytes(c.OutRate), p.errors(c.Errors),
		p.delivery(c),
		{Spans: p.filter.Spans(t, kit.Style{}, strings.Join(c.Groups, " "), 200)},
	}}
}

// delivery warns of what may be lost.
func (p *clients) delivery(c *model.Client) kit.Cell {
	cell := kit.Cell{Text: delivery(c)}
	if c.Acks == "0" {
		cell.Style = p.Theme.Warn
	}
	return cell
}

func (p *clients) bytes(perSecond float64) kit.Cell {
	if perSecond < 1 {
		return kit.Cell{Text: p.Theme.Glyphs.None, Style: p.Theme.Dim}
	}
	return p.Theme.BytesCell(int64(perSecond))
}

func (p *clients) errors(n int64) kit.Cell {
	if n == 0 {
		return kit.Cell{}
	}
	return kit.Cell{Text: kit.Number(n), Style: p.Theme.Warn}
}

func rate(t *kit.Theme, perSecond float64) kit.Cell {
	if perSecond < 0.05 {
		return kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	}
	if perSecond < 100 {
		return kit.Cell{Text: fmt.Sprintf("%.1f", perSecond)}
	}
	return kit.Cell{Text: kit.Number(int64(perSecond))}
}

func (p *clients) apiRow(i int64) kit.Row {
	s, t := &p.stats[i], p.Theme
	return kit.Row{Cells: []kit.Cell{
		{Text: s.Name}, {Text: kit.Number(s.Count)}, rate(t, s.Rate), took(t, s.P50), took(t, s.P99), p.errors(s.Errors),
	}}
}

// took writes how long serving took.
func took(t *kit.Theme, d time.Duration) kit.Cell {
	switch {
	case d <= 0:
		return kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	case d < 5*time.Microsecond:
		return kit.Cell{Text: "<0.01 ms"}
	case d < 10*time.Millisecond:
		return kit.Cell{Text: fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))}
	case d < time.Second:
		return kit.Cell{Text: fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))}
	}
	return kit.Cell{Text: fmt.Sprintf("%.1f s", d.Seconds())}
}
