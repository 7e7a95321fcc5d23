package record

import (
	"context"
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// record is the page. Invariant: the views hold what part and form say of rec.
type record struct {
	page.Env
	tp     model.TopicPartition
	offset int64 // of rec, or what was asked for until there is one
	load   page.Slot[answer]
	save   page.Slot[saved]
	layout page.Slot[laid]
	decode model.Decoder // nil: the source cannot

	rec    *model.Record // nil until read
	note   string        // what is odd about where it was found
	bad    bool          // note is damage
	err    error
	start  int64
	end    int64
	known  bool // start and end are
	words  string
	worded bool // words are rec, decoded

	part    part
	chosen  form // what was chosen by hand last
	forms   []form
	choice  kit.Choice
	json    kit.JSON
	text    kit.Text
	hex     kit.Hex
	headers kit.VList

	stepping bool  // what is read is the record beside this one
	steps    []way // steps that wait for it

	due     bool   // long JSON is to be laid out
	pending string // the path that a confirmation is awaited for
	top     int    // lines above the body, as of the last View
	width   int    // of the last View
}

// answer is a record that was read.
type answer struct {
	rec        *model.Record
	faults     []model.Fault
	start, end int64
	way        way
	asked      int64
}

// way says which record was asked for.
type way int8

const (
	here way = iota
	after
	before
)

// New makes the page for the record at o.Addr. With o.Args.Record it is shown at once.
func New(env page.Env, o page.Open) page.Page {
	p := &record{Env: env, tp: o.Addr.TP(), offset: o.Addr.Offset, chosen: noForm}
	p.decode, _ = env.Src.(model.Decoder)
	p.json.Theme, p.text.Theme, p.hex.Theme, p.headers.Theme = env.Theme, env.Theme, env.Theme, env.Theme
	p.chosen = formNamed(env.Remembered("form"))
	if r := o.Args.Record; r != nil && r.TopicPartition == p.tp && r.Offset == p.offset {
		p.take(r)
	}
	return p
}

func (p *record) Title() string { return "record" }
func (p *record) Busy() bool    { return p.load.Slow() || p.save.Slow() || p.layout.Slow() }

func (p *record) Close() {
	p.load.Cancel()
	p.save.Cancel()
	p.layout.Cancel()
}

func (p *record) Init() tea.Cmd {
	if p.rec != nil {
		return p.prepare()
	}
	return p.read(here)
}

// Address is the record.
func (p *record) Address() model.Address {
	a := model.PartitionAddress(p.tp)
	a.Offset = p.offset
	return a
}

// Focus names the topic on screen.
func (p *record) Focus() []string { return []string{p.tp.Topic} }

// step goes to the record beside this one. Steps that come faster than records are read are taken one after another.
func (p *record) step(w way) func() tea.Cmd {
	return func() tea.Cmd {
		if p.stepping && p.load.Busy() {
			p.steps = append(p.steps, w)
			return nil
		}
		return p.read(w)
	}
}

// next takes the next of the steps that wait, unless the last one led nowhere.
func (p *record) next(led bool) tea.Cmd {
	if len(p.steps) == 0 || !led {
		p.steps = p.steps[:0]
		return nil
	}
	w := p.steps[0]
	p.steps = p.steps[1:]
	return p.read(w)
}

// read asks for the record here, or for the one beside it.
func (p *record) read(w way) tea.Cmd {
	p.stepping = w != here
	q := model.RecordQuery{TP: p.tp, From: p.offset, Max: 1, Control: true}
	switch w {
	case after:
		q.From++
	case before:
		q.Backward = true
	}
	src := p.Src
	return p.load.Start(p.Ctx, func(ctx context.Context) (answer, error) {
		got, err := src.Records(ctx, q)
		a := answer{faults: got.Faults, start: got.Start, end: got.End, way: w, asked: q.From}
		if len(got.Records) > 0 {
			a.rec = &got.Records[0]
		}
		return a, err
	})
}

func (p *record) Update(msg tea.Msg) tea.Cmd {
	return tea.Batch(p.update(msg), p.prepare())
}

func (p *record) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[answer]:
		if p.load.Owns(msg) {
			was := p.offset
			return tea.Batch(p.answered(msg.Val, msg.Err), p.next(p.offset != was))
		}
	case page.Result[saved]:
		if p.save.Owns(msg) {
			return p.wrote(msg.Val, msg.Err)
		}
	case page.Result[laid]:
		if p.layout.Owns(msg) {
			p.prepared(msg.Val)
		}
	case page.Answered:
		if msg.ID == askSave && msg.OK && msg.Text != "" {
			return p.write(msg.Text, false)
		}
	case page.Confirmed:
		if msg.ID == askOver && msg.OK {
			return p.write(p.pending, true)
		}
	case page.Edited:
		return p.edited(msg)
	case model.Change:
		if msg.Touches(p.tp) && !p.load.Busy() && (p.rec == nil || p.rec.Visibility == model.Undecided) {
			return p.read(here)
		}
	}
	return nil
}

// answered puts a record on screen, or says why there is none.
func (p *record) answered(a answer, err error) tea.Cmd {
	switch {
	case errors.Is(err, context.Canceled):
		return nil
	case err != nil && p.rec != nil:
		return page.Say(page.Bad, kit.Safe(err.Error(), 300))
	case err != nil:
		p.err = err
		return nil
	}
	p.start, p.end, p.known = a.start, a.end, true
	switch {
	case a.rec == nil && a.way == after:
		return page.Say(page.Info, "this is the last record: the log ends at "+kit.Number(a.end))
	case a.rec == nil && a.way == before:
		return page.Say(page.Info, "this is the first record: the log starts at "+kit.Number(a.start))
	case a.rec == nil && p.rec != nil:
		return nil // it has gone meanwhile; what was read stays
	case a.rec == nil:
		p.err = p.gone(a)
		return nil
	}
	if a.way == here && p.rec != nil && a.rec.Offset != p.offset {
		return nil
	}
	p.err = nil
	p.take(a.rec)
	p.note, p.bad = p.odd(a)
	return nil
}

// odd says what is to be known of where a record was found; bad that it is damage.
func (p *record) odd(a answer) (note string, bad bool) {
	moved := a.way == here && a.asked >= 0 && a.rec.Offset > a.asked
	for i := range a.faults {
		f := &a.faults[i]
		if f.Severity == model.SevDamage && (moved && f.Offset <= a.asked || f.Position == a.rec.BatchPos && f.Position >= 0) {
			note, bad = f.What, true
			if f.Position >= 0 {
				note += " (" + f.File + ", byte " + kit.Number(f.Position) + ")"
			}
			if moved {
				note = "offset " + kit.Number(a.asked) + " cannot be read, this is the next that can: " + note
			}
			return note, bad
		}
	}
	switch {
	case moved && a.asked < a.start:
		note = "offset " + kit.Number(a.asked) + " is below the log start, " + kit.Number(a.start) + ": this is the first record there is"
	case moved:
		note = "offset " + kit.Number(a.asked) + " holds no record (compacted away, or never written): this is the next one"
	}
	return note, false
}

// gone says why an offset has no record and none follows.
func (p *record) gone(a answer) error {
	if len(a.faults) > 0 {
		f := &a.faults[0]
		return fmt.Errorf("%s: %s, byte %s: %s", p.tp, f.File, kit.Number(f.Position), f.What)
	}
	if a.start >= a.end {
		return fmt.Errorf("%w: %s holds no records", model.ErrOutOfRange, p.tp)
	}
	return fmt.Errorf("%w: %s@%d; the log holds %d to %d", model.ErrOutOfRange, p.tp, p.offset, a.start, a.end-1)
}

// take shows another record.
func (p *record) take(r *model.Record) {
	p.rec, p.offset = r, r.Offset
	p.words, p.worded = "", false
	if p.decode != nil {
		p.words, p.worded = p.decode.Decode(*r)
	}
	p.headers.SetLen(int64(len(r.Headers)))
	p.headers.Home()
	if p.part == headersPart && len(r.Headers) == 0 {
		p.part = valuePart
	}
	p.show()
}
