package batches

import (
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	underList = 3 // lines of what is said below the list
	tellFrom  = 8 // lines of a page that has them
	// asFetched says what a cluster's batches are.
	asFetched = "a cluster shows batches as Fetch gives them, not where they lie"
)

func (p *fetched) View(w, h int) string {
	switch {
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r reads it again, esc goes back")
	case !p.loaded && p.load.Slow():
		return kit.Empty(p.Theme, w, h, "reading the batches of "+kit.Safe(p.tp.String(), 200), asFetched)
	case !p.loaded:
		return kit.Block("", w, h)
	case len(p.rows) == 0:
		return kit.Empty(p.Theme, w, h, "this partition holds no batch", "the log goes from "+kit.Number(p.start)+" to "+kit.Number(p.end)+"; "+asFetched)
	}
	p.listH = h
	if h < tellFrom {
		return p.table.View(w, h, p.line)
	}
	p.listH = h - underList
	return p.table.View(w, p.listH, p.line) + "\n" + kit.Block(strings.Join(p.told(w), "\n"), w, underList)
}

func (p *fetched) line(i int64) kit.Row { return kit.Row{Cells: p.row(&p.rows[i], 0)} }

// told says what the columns have no room for of the batch under the cursor, and what these batches are.
func (p *fetched) told(w int) []string {
	b, ok := p.under()
	if !ok {
		return nil
	}
	t := p.Theme
	title := "batch at " + kit.Number(b.Base) + " · " + kit.BytesText(b.Bytes)
	if b.Inflated > 0 && b.Codec != "none" {
		title += ", " + kit.BytesText(b.Inflated) + " uncompressed"
	}
	var wrong, note kit.Line
	line := page.Facts(t, w, p.facts(b)...)
	if !b.Valid {
		line = wrong.Space(1).Add(t.Bad, fmt.Sprintf("%s CRC is %08x, computed %08x", t.Glyphs.Bad, b.CRC, b.CRCComputed)).Fit(w)
	} else if b.Err != nil {
		line = wrong.Space(1).Add(t.Bad, t.Glyphs.Bad+" "+kit.Safe(b.Err.Error(), 300)).Fit(w)
	}
	return []string{page.Rule(t, w, title), line, note.Space(1).Add(t.Dim, asFetched).Fit(w)}
}

func (p *fetched) facts(b *model.Batch) []page.Fact {
	facts := []page.Fact{{Name: "CRC", Value: fmt.Sprintf("%08x", b.CRC)}}
	if b.LeaderEpoch >= 0 {
		facts = append(facts, page.Fact{Name: "leader epoch", Value: strconv.Itoa(int(b.LeaderEpoch))})
	}
	if b.TimestampType != model.NoTimestampType && b.MaxTimestamp >= 0 {
		facts = append(facts, page.Fact{Name: b.TimestampType.String(), Value: p.Clock.Stamp(b.MaxTimestamp)})
	}
	if b.DeleteHorizon >= 0 {
		facts = append(facts, page.Fact{Name: "delete horizon", Value: p.Clock.Stamp(b.DeleteHorizon)})
	}
	return append(facts, page.Fact{Name: "magic", Value: strconv.Itoa(int(b.Magic))})
}

func (p *fetched) Commands() []page.Command {
	return append([]page.Command{
		{Key: page.Bind("enter l right r", "records"), Off: p.whyNone, Run: p.records},
		{Key: page.Bind("/", "find"), Off: p.whyNotYet, Run: p.question("")},
		{Key: page.Bind("y", "copy"), Off: p.whyNone, Run: p.copy},
		{Key: page.Bind("ctrl+r", "read again"), Run: p.again, Quiet: true},
	}, p.moving()...)
}

// moving returns the rows that move the cursor; the ends are those of the log.
func (p *fetched) moving() []page.Command {
	rows := page.ListCommands(&p.table.VList, p.more)
	for i := range rows {
		switch rows[i].Key.Keys()[0] {
		case "g":
			rows[i].Run = p.goTo(model.FromStart)
		case "G":
			rows[i].Run = p.goTo(model.FromEnd)
		}
	}
	return rows
}

// goTo goes to an end of the log, or to the batch that holds an offset; what is known is not read again.
func (p *fetched) goTo(offset int64) func() tea.Cmd {
	return func() tea.Cmd {
		p.first = offset
		if n := len(p.rows); n > 0 {
			atStart, atEnd := p.rows[0].Base <= p.start, p.next >= p.end
			inside := offset >= p.rows[0].Base && offset <= p.rows[n-1].Last
			if offset == model.FromStart && atStart || offset == model.FromEnd && atEnd || inside {
				p.land()
				return p.more()
			}
		}
		return p.ask(offset, anew)
	}
}

func (p *fetched) again() tea.Cmd {
	if b, ok := p.under(); ok {
		p.first = b.Base
	}
	return p.ask(p.first, anew)
}

func (p *fetched) question(why string) func() tea.Cmd {
	return func() tea.Cmd {
		return page.Send(page.Ask{ID: askFind, Prompt: "offset", Hint: "4812339; the records (enter) also find times", Err: why})
	}
}

func (p *fetched) answered(a page.Answered) tea.Cmd {
	if a.ID != askFind || !a.OK || a.Text == "" {
		return nil
	}
	t, err := page.ParseTarget(a.Text, p.Now(), p.Clock.Location())
	switch {
	case err != nil:
		return p.question(err.Error())()
	case t.ByTime:
		return p.question("want an offset: the records, with o, find times")()
	case t.Offset >= p.end:
		return page.Say(page.Warn, "there is no record at or after it: the log ends at "+kit.Number(p.end))
	}
	return p.goTo(t.Offset)()
}

func (p *fetched) whyNotYet() string {
	if !p.loaded {
		return "the batches have not come yet"
	}
	return ""
}

func (p *fetched) whyNone() string {
	if _, ok := p.under(); !ok && p.loaded {
		return "there is no batch here"
	}
	return p.whyNotYet()
}

// records opens the records from the batch under the cursor on.
func (p *fetched) records() tea.Cmd { return page.Goto(page.Records, p.Address()) }

func (p *fetched) copy() tea.Cmd {
	text := p.Address().String()
	return page.Send(page.Copy{Text: text, What: "address " + kit.Safe(text, 200)})
}

// Mouse scrolls and selects, and opens the records of a batch that is clicked twice.
func (p *fetched) Mouse(m page.Mouse) tea.Cmd {
	if m.Y >= p.listH {
		return nil
	}
	if hit := page.ListMouse(&p.table, m, 0); hit.OK && !hit.Head && m.Kind == page.DoubleClick {
		return p.records()
	}
	return p.more()
}
