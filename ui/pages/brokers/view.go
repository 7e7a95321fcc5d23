package brokers

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	barCells = 8
	// minSplit is the least height at which the log directories are shown below the brokers.
	minSplit = 12
)

func (p *brokers) View(w, h int) string {
	p.dirsY, p.quorumY = 0, 0
	switch {
	case p.src == nil:
		return kit.Empty(p.Theme, w, h, "this source has no brokers to be shown: it is read from files, or is the one broker that strata runs itself",
			"strata HOST:PORT opens a cluster; clients (9) shows who is connected to strata's own broker")
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r asks again")
	case !p.loaded && p.load.Slow():
		return kit.Empty(p.Theme, w, h, "asking the cluster for its brokers", "each of them has a moment to answer for itself")
	case !p.loaded:
		return kit.Block("", w, h)
	case p.screen == configScreen:
		return p.configView(w, h)
	case p.screen == quorumScreen && h > 1:
		return page.Rule(p.Theme, w, "metadata quorum") + "\n" + p.voters.View(w, h-1, p.quorumRow)
	case h <= headLines:
		return kit.Block(p.head(w), w, h)
	case len(p.rows) == 0:
		return p.top(w) + kit.Empty(p.Theme, w, h-headLines, "no broker matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	}
	return p.top(w) + p.split(w, h-headLines)
}

// top is the head line with its rule.
func (p *brokers) top(w int) string { return p.head(w) + "\n" + page.Rule(p.Theme, w, "") + "\n" }

// split draws the brokers, and below what there is room for: log directories, then the quorum.
func (p *brokers) split(w, h int) string {
	if h < minSplit {
		return p.list.View(w, h, p.row)
	}
	dirs := min(max(1, int(p.dirs.Len))+2, max(3, h/3))
	voters := 0
	if n := len(p.quorum); n > 0 || p.quorumErr != nil {
		voters = min(max(1, n)+2, max(4, h/3))
	}
	need := len(p.rows) + 1
	if need+dirs+voters > h && need+dirs+4 > h {
		voters = 0 // tab shows it
	} else {
		voters = min(voters, h-need-dirs)
	}
	upper := max(3, min(need, h-dirs-voters))
	out := []string{p.list.View(w, upper, p.row), page.Rule(p.Theme, w, p.dirTitle()), p.dirView(w, dirs-1)}
	p.dirsY = headLines + upper
	if voters > 2 {
		p.quorumY = p.dirsY + dirs
		out = append(out, page.Rule(p.Theme, w, "metadata quorum"), p.quorumView(w, voters-1))
	}
	return kit.Block(strings.Join(out, "\n"), w, h)
}

// head sums the cluster up, what is wrong first.
func (p *brokers) head(w int) string {
	t := p.Theme
	dead, lagging, bytes, controller := 0, 0, int64(0), model.Unknown
	for i := range p.all {
		b := &p.all[i]
		lagging += b.Lagging
		bytes += max(0, b.Bytes)
		if b.Err != nil {
			dead++
		}
		if b.Controller {
			controller = int64(b.ID)
		}
	}
	for i := range p.quorum {
		if p.quorum[i].Leader {
			controller = int64(p.quorum[i].ID) // it need not be a broker
		}
	}
	facts := []page.Fact{{Value: kit.Plural(len(p.all), "broker")}}
	if dead > 0 {
		facts = append(facts, page.Fact{Value: fmt.Sprintf("%s %d not there", t.Glyphs.Bad, dead), Style: t.Bad})
	}
	if lagging > 0 {
		facts = append(facts, page.Fact{Value: kit.Plural(lagging, "replica") + " out of sync", Style: t.Warn})
	}
	if controller >= 0 {
		facts = append(facts, page.Fact{Name: "controller", Value: strconv.FormatInt(controller, 10)})
	} else {
		facts = append(facts, page.Fact{Name: "controller", Value: t.Glyphs.Unknown, Style: t.Dim})
	}
	if bytes > 0 {
		facts = append(facts, page.Fact{Value: kit.BytesText(bytes), Name: "in all"})
	}
	return page.Facts(t, w, facts...)
}

func (p *brokers) row(i int64) kit.Row {
	b, t := &p.all[p.rows[i]], p.Theme
	none := kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	id := kit.Cell{Text: strconv.Itoa(int(b.ID))}
	address, rack, version := none, kit.Cell{}, none
	if b.Err != nil {
		id.Style = t.Bad
	}
	if b.Address != "" {
		address = kit.Cell{Spans: p.filter.Spans(t, kit.Style{}, b.Address, 300)}
	}
	if p.racks {
		rack = none
		if b.Rack != "" {
			rack = kit.Cell{Spans: p.filter.Spans(t, t.Dim, b.Rack, 200)}
		}
	}
	if b.Version != "" {
		version = kit.Cell{Text: kit.Safe(b.Version, 60), Style: t.Dim}
	}
	lagging := number(t, b.Lagging)
	if b.Lagging > 0 {
		lagging.Style = t.Warn
	}
	return kit.Row{Cells: []kit.Cell{
		id, address, rack, p.stateCell(b), version, number(t, b.Led), number(t, b.Hosted), lagging, t.BytesCell(b.Bytes),
	}}
}

func number(t *kit.Theme, n int) kit.Cell {
	if n == 0 {
		return kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	}
	return kit.Cell{Text: kit.Number(int64(n))}
}

func (p *brokers) stateCell(b *model.Broker) kit.Cell {
	t := p.Theme
	switch {
	case b.Err != nil:
		return kit.Cell{Text: t.Glyphs.Bad + " " + kit.Safe(state(b), 300), Style: t.Bad}
	case asking(b):
		return kit.Cell{Text: t.Glyphs.Unknown + " " + state(b), Style: t.Dim}
	}
	return kit.Cell{Text: t.Glyphs.Live + " " + state(b), Style: t.Good}
}

func (p *brokers) dirTitle() string {
	b, ok := p.at()
	if !ok {
		return "log directories"
	}
	return "log directories of broker " + strconv.Itoa(int(b.ID))
}

// dirView draws the log directories of the broker under the cursor, or says why there are none; a broker that does not
// answer is told of in full here.
func (p *brokers) dirView(w, h int) string {
	b, ok := p.at()
	if !ok {
		return kit.Block("", w, h)
	}
	switch {
	case b.Err != nil:
		return p.words(p.Theme.Bad, kit.Safe(b.Err.Error(), 600), w, h)
	case len(b.Dirs) == 0:
		return p.words(p.Theme.Dim, "being asked for", w, h)
	case len(b.Dirs) == 1 && b.Dirs[0].Path == "" && b.Dirs[0].Err != nil:
		return p.words(p.Theme.Warn, "it does not tell: "+kit.Safe(b.Dirs[0].Err.Error(), 600), w, h)
	}
	p.dirs.Theme = p.Theme.Resting()
	s := p.dirs.View(w, h, func(i int64) kit.Row { return p.dirRow(&b.Dirs[i]) })
	p.dirs.Theme = p.Theme
	return s
}

// words draws a text of a few lines.
func (p *brokers) words(style kit.Style, text string, w, h int) string {
	var out []string
	for _, line := range kit.Wrap(text, max(10, w-4)) {
		var l kit.Line
		out = append(out, l.Space(2).Add(style, line).Fit(w))
	}
	return kit.Block(strings.Join(out, "\n"), w, h)
}

func (p *brokers) dirRow(d *model.LogDirUse) kit.Row {
	t := p.Theme
	path := t.SafeSpans(kit.Style{}, d.Path, 300)
	if d.Err != nil {
		path = append([]kit.Span{{Text: t.Glyphs.Bad + " ", Style: t.Bad}}, path...)
		path = append(path, kit.Span{Text: "  " + kit.Safe(d.Err.Error(), 200), Style: t.Bad})
	}
	volume := kit.Cell{Text: t.Glyphs.Unknown, Style: t.Dim}
	if d.Total > 0 && d.Free >= 0 {
		volume = kit.Cell{Text: kit.Bar(t, float64(d.Total-d.Free)/float64(d.Total), barCells), Unit: kit.BytesText(d.Total)}
		if d.Free < d.Total/10 {
			volume.Style = t.Warn
		}
	}
	return kit.Row{Cells: []kit.Cell{{Spans: path}, number(t, d.Partitions), t.BytesCell(d.Bytes), volume, t.BytesCell(d.Free)}}
}

// quorumView draws the quorum without a cursor, or says why it is not known.
func (p *brokers) quorumView(w, h int) string {
	if p.quorumErr != nil {
		return p.words(p.Theme.Warn, kit.Safe(p.quorumErr.Error(), 600), w, h)
	}
	p.voters.Theme = p.Theme.Resting()
	s := p.voters.View(w, h, p.quorumRow)
	p.voters.Theme = p.Theme
	return s
}

func (p *brokers) quorumRow(i int64) kit.Row {
	n, t := &p.quorum[i], p.Theme
	none := kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	role, caught := kit.Cell{Text: "observer", Style: t.Dim}, none
	switch {
	case n.Leader:
		role = kit.Cell{Text: "leader", Style: t.Good}
	case n.Voter:
		role = kit.Cell{Text: "voter"}
	}
	behind := none
	switch {
	case n.Lag < 0:
		behind = kit.Cell{Text: t.Glyphs.Unknown, Style: t.Dim}
	case n.Lag > 0:
		behind = kit.Cell{Text: kit.Number(n.Lag)}
	}
	switch {
	case n.Leader:
	case n.CaughtUp >= 0:
		ago := p.heard.Sub(time.UnixMilli(n.CaughtUp)) // of then: what is not asked meanwhile does not fall behind
		caught = kit.Cell{Text: kit.Age(ago)}
		if n.Voter && ago > lateVoter {
			caught.Style = t.Warn
		}
	default:
		caught = kit.Cell{Text: t.Glyphs.Unknown, Style: t.Dim}
	}
	return kit.Row{Cells: []kit.Cell{{Text: strconv.Itoa(int(n.ID))}, role, page.OffsetCell(t, n.LogEnd), behind, caught}}
}

// configView draws the configs of one broker.
func (p *brokers) configView(w, h int) string {
	t := p.Theme
	head := page.Facts(t, w, page.Fact{Name: "broker", Value: strconv.Itoa(int(p.of))}, page.Fact{Value: p.configWords()})
	if h <= headLines {
		return kit.Block(head, w, h)
	}
	head += "\n" + page.Rule(t, w, "") + "\n"
	h -= headLines
	switch {
	case p.configErr != nil && !p.got:
		return head + kit.Problem(t, w, h, p.configErr.Error(), "ctrl-r asks again, esc goes back to the brokers")
	case !p.got:
		return head + kit.Block("", w, h)
	case len(p.shown) == 0 && !p.filter.All():
		return head + kit.Empty(t, w, h, "no config matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	case len(p.shown) == 0:
		return head + kit.Empty(t, w, h, "all configs of this broker are at their defaults", "a shows them")
	}
	return head + p.settings.View(w, h, p.configRow)
}

func (p *brokers) configWords() string {
	if p.whole {
		return "all configs"
	}
	return "what differs from the defaults (a shows all)"
}

func (p *brokers) configRow(i int64) kit.Row {
	c, t := &p.configs[p.shown[i]], p.Theme
	value := kit.Cell{Spans: p.filter.Spans(t, kit.Style{}, c.Value, 400)}
	if c.Value == "" {
		value = kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
		if c.Doc != "" {
			value.Text = kit.Safe(c.Doc, 60)
		}
	}
	def := kit.Cell{Text: t.Glyphs.None, Style: t.Dim}
	if c.Default != "" {
		def = kit.Cell{Spans: t.SafeSpans(t.Dim, c.Default, 200)}
	}
	return kit.Row{Cells: []kit.Cell{
		{Spans: p.filter.Spans(t, kit.Style{}, c.Name, 200)}, value, def, {Text: kit.Safe(c.Source, 20), Style: t.Dim},
	}}
}
