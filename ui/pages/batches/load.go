package batches

import (
	"context"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
)

// take puts a window of batches among the rows.
func (p *batches) take(w window, err error) tea.Cmd {
	p.err = err
	if w.base >= 0 {
		p.base = w.base
	}
	if err != nil {
		return nil
	}
	p.loaded = true
	news := p.store(w.page)
	if w.seek {
		p.table.SetCursor(w.page.First)
	}
	if !news {
		return p.show() // do not ask again and again for what does not come
	}
	return tea.Batch(p.fill(), p.show())
}

// store keeps what a page brings; it reports whether that is more than was known.
func (p *batches) store(b model.BatchPage) (news bool) {
	if len(p.rows) > keep {
		p.forget()
	}
	for i := range b.Batches {
		n := b.First + int64(i)
		if _, had := p.rows[n]; !had {
			news = true
		}
		p.rows[n] = b.Batches[i]
		if damaged(&b.Batches[i]) || p.gap(n, &b.Batches[i]) > 0 {
			p.bad[n] = true
		} else {
			delete(p.bad, n)
		}
	}
	for _, f := range b.Faults {
		if !slices.ContainsFunc(p.faults, func(o model.Fault) bool { return o.Position == f.Position && o.Kind == f.Kind }) && len(p.faults) < keep {
			p.faults = append(p.faults, f)
		}
	}
	total := max(b.Total, b.First+int64(len(b.Batches)))
	news = news || total > p.table.Len
	p.whole = b.Whole
	p.table.SetLen(max(p.table.Len, total))
	return news
}

// forget drops the rows that are far from the cursor.
func (p *batches) forget() {
	at := p.table.Cursor()
	for n := range p.rows {
		if n < at-keep/4 || n > at+keep/4 {
			delete(p.rows, n)
		}
	}
}

// fill asks for the rows around the cursor that are missing, those on screen first.
func (p *batches) fill() tea.Cmd {
	if p.src == nil || p.base < 0 || !p.loaded {
		return nil
	}
	n, missing := p.missing()
	if !missing {
		return nil
	}
	return p.ask(n - n%chunk)
}

// missing returns the row nearest to the cursor that has not come.
func (p *batches) missing() (int64, bool) {
	at, end := p.table.Cursor(), p.table.Len
	if !p.whole {
		end += chunk // find out about more
	}
	for d := int64(0); d < around; d++ {
		for _, n := range [...]int64{at + d, at - d} {
			if _, ok := p.rows[n]; !ok && n >= 0 && n < end {
				return n, true
			}
		}
	}
	return 0, false
}

// ask asks for a window of batches from number first on.
func (p *batches) ask(first int64) tea.Cmd {
	base := p.base
	return p.win.Start(p.Ctx, func(ctx context.Context) (window, error) {
		got, err := p.src.Batches(ctx, model.BatchQuery{TP: p.tp, Base: base, First: first, Max: chunk, Check: true})
		return window{base: base, page: got}, err
	})
}

// look finds out how many batches there are now.
func (p *batches) look() tea.Cmd {
	base := p.base
	return p.probe.Load(p.Ctx, func(ctx context.Context) (model.BatchPage, error) {
		return p.src.Batches(ctx, model.BatchQuery{TP: p.tp, Base: base, First: lastOne, Max: 1, Check: true})
	})
}

// probed takes the answer of look. Where the file is another one now, as after a compaction, all is asked for again.
func (p *batches) probed(b model.BatchPage, err error) tea.Cmd {
	if err != nil {
		p.err = err
		return nil
	}
	for i := range b.Batches {
		if old, ok := p.rows[b.First+int64(i)]; ok && !old.Torn && (old.Position != b.Batches[i].Position || old.Base != b.Batches[i].Base) {
			return p.again()
		}
	}
	if b.Total < p.table.Len && b.Whole {
		return p.again()
	}
	p.store(b)
	return tea.Batch(p.fill(), p.show())
}

// again forgets everything but the cursor and asks anew.
func (p *batches) again() tea.Cmd {
	if p.src == nil {
		return nil
	}
	if p.base < 0 || !p.loaded {
		return p.Init()
	}
	clear(p.rows)
	clear(p.bad)
	at := p.table.Cursor()
	p.faults, p.whole, p.table.Len = nil, false, 0 // the cursor keeps to its number
	p.shown.pos, p.asked = model.Unknown, model.Unknown
	return p.ask(at - at%chunk)
}

// moved follows the cursor: rows around it, and the bytes of what is under it.
func (p *batches) moved() tea.Cmd { return tea.Batch(p.fill(), p.show()) }

// show asks for the bytes of the batch under the cursor.
func (p *batches) show() tea.Cmd {
	b, ok := p.at()
	if !ok || p.src == nil || b.Position == p.shown.pos || p.bytes.Busy() && b.Position == p.asked {
		return nil
	}
	base := p.base
	p.asked = b.Position
	return p.bytes.Start(p.Ctx, func(ctx context.Context) (inside, error) {
		raw, fields, err := p.src.BatchBytes(ctx, p.tp, base, b.Position)
		return inside{b.Position, raw, fields}, err
	})
}

func (p *batches) takeBytes(in inside, err error) {
	p.shown, p.byteErr = in, err
	p.hex.SetData(in.raw, in.pos)
	p.fields.SetLen(int64(len(in.fields)))
	p.light()
}

// light lights the bytes of the field under the cursor.
func (p *batches) light() tea.Cmd {
	if i := p.fields.Cursor(); i < int64(len(p.shown.fields)) {
		p.hex.Light(p.shown.fields[i].Pos, p.shown.fields[i].Len)
	}
	return nil
}

// toEnd goes to the last batch, which may have to be found first.
func (p *batches) toEnd() tea.Cmd {
	if p.whole || p.src == nil {
		p.table.End()
		return p.moved()
	}
	base := p.base
	return p.win.Start(p.Ctx, func(ctx context.Context) (window, error) {
		got, err := p.src.Batches(ctx, model.BatchQuery{TP: p.tp, Base: base, First: lastOne, Max: chunk, Check: true})
		return window{base, got, true}, err
	})
}

// hunted is how far a hunt for damage is, or what it came to.
type hunted struct {
	found  bool
	page   model.BatchPage // holds the damaged batch first
	looked int64
}

// huntFrom looks for the next damaged batch from the cursor on, in the direction of d.
func (p *batches) huntFrom(d int64) func() tea.Cmd {
	return func() tea.Cmd {
		if p.src == nil || !p.loaded {
			return nil
		}
		at, base := p.table.Cursor(), p.base
		p.hunted = hunted{}
		return p.hunt.Start(p.Ctx, func(ctx context.Context, emit func(hunted) bool) error {
			look := p.forwards
			if d < 0 {
				look = p.backwards
			}
			h, err := look(ctx, base, at, func(n int64) { emit(hunted{looked: n}) })
			emit(h)
			return err
		})
	}
}

// huntChunk is how many batches a hunt looks at in one request.
const huntChunk = 2048

func (p *batches) forwards(ctx context.Context, base, at int64, tell func(looked int64)) (hunted, error) {
	var out hunted
	end := model.Unknown // byte behind the batch before
	for first := at; ; {
		got, err := p.src.Batches(ctx, model.BatchQuery{TP: p.tp, Base: base, First: first, Max: huntChunk, Check: true})
		if err != nil || ctx.Err() != nil {
			return out, err
		}
		if got.First != first {
			return out, nil // past the end: the last ones came again
		}
		for i := range got.Batches {
			b := &got.Batches[i]
			n := first + int64(i)
			if n > at {
				out.looked++
				if damaged(b) || end >= 0 && b.Position > end {
					got.First, got.Batches = n, got.Batches[i:]
					out.found, out.page = true, got
					return out, nil
				}
			}
			end = b.Position + b.Bytes
		}
		first += int64(len(got.Batches))
		tell(out.looked)
		if len(got.Batches) == 0 || got.Whole && first >= got.Total {
			return out, nil
		}
	}
}

func (p *batches) backwards(ctx context.Context, base, at int64, tell func(looked int64)) (hunted, error) {
	var out hunted
	for last := at; last > 0; {
		first := max(0, last-huntChunk)
		got, err := p.src.Batches(ctx, model.BatchQuery{TP: p.tp, Base: base, First: first, Max: int(last - first), Check: true})
		if err != nil || ctx.Err() != nil {
			return out, err
		}
		for i := len(got.Batches) - 1; i >= 0; i-- {
			out.looked++
			b := &got.Batches[i]
			gap := i > 0 && b.Position > got.Batches[i-1].Position+got.Batches[i-1].Bytes
			if damaged(b) || gap {
				got.First, got.Batches = got.First+int64(i), got.Batches[i:]
				out.found, out.page = true, got
				return out, nil
			}
		}
		last = first
		tell(out.looked)
	}
	return out, nil
}
