package records

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/rows"
)

const askFind = "find"

// find is the search for the next record.
type find struct {
	stream   page.Stream[model.SearchEvent]
	pattern  rows.Pattern
	last     string // what was asked for last
	backward bool
	began    time.Time
	event    model.SearchEvent // the last one
	resume   int64             // where a search that was cancelled goes on; model.Unknown for none
	held     int64             // where the cursor was when it was cancelled
	ended    string            // in words, until the next key that searches
}

func (p *records) whyNoFind() string {
	if _, ok := p.Src.(model.Searcher); !ok {
		return "this source cannot be searched"
	}
	return ""
}

func (p *records) whyNoNextHit() string {
	if why := p.whyNoFind(); why != "" {
		return why
	}
	if p.find.pattern.Text == "" {
		return "nothing was looked for yet: / finds"
	}
	return ""
}

// askPattern asks for a pattern; text is one that cannot be read, and why says so.
func (p *records) askPattern(text, why string) tea.Cmd {
	a := page.Ask{ID: askFind, Prompt: "find", Initial: text, Hint: rows.PatternHint, Err: why}
	if p.find.last != "" {
		a.Choices = []string{p.find.last}
	}
	return page.Send(a)
}

// searchFor begins a search with what was typed.
func (p *records) searchFor(text string) tea.Cmd {
	pat, err := rows.ParsePattern(text)
	if err != nil {
		return p.askPattern(text, err.Error())
	}
	p.find.last, p.find.pattern, p.find.resume = text, pat, model.Unknown
	p.table.Find = page.ParseFilter(text)
	return tea.Batch(page.Send(page.Remember{Key: "pattern", Value: text}), p.search(false))
}

// search looks for the next hit from the cursor, or goes on where a search the same way was cancelled.
func (p *records) search(backward bool) tea.Cmd {
	src, ok := p.Src.(model.Searcher)
	if !ok {
		return nil
	}
	f := &p.find
	from := model.FromStart
	if at := p.offsetOf(p.list.Cursor()); at >= 0 {
		from = at + 1
		if backward {
			from = at
		}
	} else if backward {
		from = model.FromEnd
	}
	if f.resume >= 0 && f.backward == backward && f.held == p.offsetOf(p.list.Cursor()) {
		from = f.resume
	}
	f.backward, f.began, f.event, f.ended, f.resume = backward, p.Now(), model.SearchEvent{}, "", model.Unknown
	q := model.SearchQuery{
		Partitions: []model.TopicPartition{p.tp}, From: []int64{from}, Pattern: f.pattern.Expr, Regexp: f.pattern.Regexp,
		Fold: f.pattern.Fold, Backward: backward, Committed: p.committed, MaxHits: 1,
	}
	return f.stream.Start(p.Ctx, func(ctx context.Context, emit func(model.SearchEvent) bool) error {
		return rows.Search(ctx, src, q, emit)
	})
}

// found takes what a search has come to.
func (p *records) found(msg page.Items[model.SearchEvent]) tea.Cmd {
	f := &p.find
	if !f.stream.Owns(msg) {
		return nil
	}
	for _, e := range msg.Vals {
		f.event = e
		if e.Hit != nil {
			f.stream.Cancel()
			f.ended = ""
			return p.to(e.Hit.Offset)
		}
	}
	if !msg.Done {
		return f.stream.Next()
	}
	what := kit.Safe(f.pattern.Text, 60)
	var e *rows.EndError
	if errors.As(msg.Err, &e) {
		f.ended = what + " was not found: " + e.End.Reason + " after " + kit.Number(f.event.Records) + " records"
		if n := len(e.End.Faults); n > 0 {
			f.ended += ", " + kit.Number(int64(n)) + " damaged places passed over"
		}
		return page.Say(page.Warn, f.ended)
	}
	f.ended = what + " was not found: " + kit.Safe(msg.Err.Error(), 300)
	return page.Say(page.Bad, f.ended)
}

// stop cancels the search; the next one the same way goes on where it was.
func (p *records) stop() tea.Cmd {
	f := &p.find
	f.stream.Cancel()
	f.resume, f.held = f.event.Offset, p.offsetOf(p.list.Cursor())
	if f.event.Records == 0 && f.event.BytesDone == 0 {
		f.resume = model.Unknown
	} else if !f.backward {
		f.resume++
	}
	key := "n"
	if f.backward {
		key = "N"
	}
	text := "cancelled after " + kit.Number(f.event.Records) + " records"
	if f.resume >= 0 {
		text += " at offset " + kit.Number(f.event.Offset) + ": " + key + " goes on there"
	}
	return page.Say(page.Info, text)
}
