package batches

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// jumped is where a search by offset or time, or the way to a neighbour, led.
type jumped struct {
	base int64 // segment
	page model.BatchPage
	pos  int64  // byte to begin at in another segment; Unknown for none
	no   string // why there is nothing
}

func (p *batches) question(why string) func() tea.Cmd {
	return func() tea.Cmd {
		return page.Send(page.Ask{ID: askFind, Prompt: "offset or time", Hint: page.TargetHint, Err: why})
	}
}

func (p *batches) answered(a page.Answered) tea.Cmd {
	if a.ID != askFind || !a.OK || a.Text == "" || p.src == nil {
		return nil
	}
	t, err := page.ParseTarget(a.Text, p.Now(), p.Clock.Location())
	if err != nil {
		return p.question(err.Error())()
	}
	base := p.base
	return p.jump.Start(p.Ctx, func(ctx context.Context) (jumped, error) {
		r, err := p.src.Lookup(ctx, p.tp, t)
		if err != nil {
			return jumped{}, err
		}
		if !r.Found {
			return jumped{no: "there is no record at or after it: the log ends at " + kit.Number(r.Offset)}, nil
		}
		if r.Segment != base {
			return jumped{base: r.Segment, pos: r.Position}, nil
		}
		got, err := p.src.Batches(ctx, model.BatchQuery{TP: p.tp, Base: base, Seek: model.SeekPosition, AtPosition: r.Position, Max: chunk, Check: true})
		return jumped{base: base, page: got}, err
	})
}

// neighbour opens the segment before or behind this one.
func (p *batches) neighbour(d int) func() tea.Cmd {
	return func() tea.Cmd {
		base := p.base
		return p.jump.Start(p.Ctx, func(ctx context.Context) (jumped, error) {
			segs, err := p.src.Segments(ctx, p.tp)
			if err != nil {
				return jumped{}, err
			}
			live := segs[:0]
			for _, s := range segs {
				if s.State == model.SegmentActive || s.State == model.SegmentSealed {
					live = append(live, s)
				}
			}
			for i := range live {
				if live[i].Base == base && i+d >= 0 && i+d < len(live) {
					return jumped{base: live[i+d].Base, pos: model.Unknown}, nil
				}
			}
			if d < 0 {
				return jumped{no: "this is the oldest segment"}, nil
			}
			return jumped{no: "this is the newest segment"}, nil
		})
	}
}

func (p *batches) jumpedTo(j jumped, err error) tea.Cmd {
	switch {
	case err != nil:
		return page.Say(page.Bad, kit.Safe(err.Error(), 300))
	case j.no != "":
		return page.Say(page.Warn, j.no)
	case j.base != p.base:
		a := model.PartitionAddress(p.tp)
		a.Segment, a.Position = j.base, j.pos
		return page.Send(page.Open{Kind: page.Batches, Addr: a, Replace: true})
	}
	p.store(j.page)
	p.table.SetCursor(j.page.First)
	return p.moved()
}

// follow takes how far a hunt is, and at its end what it came to.
func (p *batches) follow(it page.Items[hunted]) tea.Cmd {
	if n := len(it.Vals); n > 0 {
		p.hunted = it.Vals[n-1]
	}
	if !it.Done {
		return p.hunt.Next()
	}
	return p.caught(p.hunted, it.Err)
}

func (p *batches) caught(h hunted, err error) tea.Cmd {
	switch {
	case err != nil:
		return page.Say(page.Bad, kit.Safe(err.Error(), 300))
	case !h.found:
		return page.Say(page.Good, "no more damage that way: "+kit.Number(h.looked)+" batches looked at")
	}
	p.store(h.page)
	p.table.SetCursor(h.page.First)
	return p.moved()
}
