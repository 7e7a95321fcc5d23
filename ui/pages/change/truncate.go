package change

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	sureTruncate = "truncate"
	settle       = "settle " // with the number of the text that it waits for

	typingPause = 120 * time.Millisecond
)

// looked is the preview of a truncation.
type looked struct {
	before  int64
	preview model.Preview
}

// cut is what a truncation came to: the new log start.
type cut int64

type truncate struct {
	page.Env
	tp      model.TopicPartition
	src     model.RecordDeleter
	load    page.Loader[[]model.Partition]
	pace    throttle
	looking page.Slot[looked]
	doing   page.Slot[cut]
	input   kit.Input
	typing  bool
	seq     int
	bounds  model.Partition
	loaded  bool
	err     error
	wrong   error
	last    looked
	fresh   bool // last is of what is typed
	effect  preview
}

// NewTruncate makes the page that deletes the oldest records of a partition; o.Addr.Offset, if any, is the first record
// to stay.
func NewTruncate(env page.Env, o page.Open) page.Page {
	p := &truncate{Env: env, tp: o.Addr.TP(), typing: true, effect: newPreview(env)}
	p.src, _ = env.Src.(model.RecordDeleter)
	p.input.Placeholder = "the first offset to stay, or end for all"
	if o.Addr.Offset >= 0 {
		p.input.SetValue(strconv.FormatInt(o.Addr.Offset, 10))
	}
	return p
}

func (p *truncate) Title() string   { return "delete records" }
func (p *truncate) Busy() bool      { return p.load.Slow() || p.looking.Slow() || p.doing.Slow() }
func (p *truncate) TakesText() bool { return p.typing && p.src != nil }

func (p *truncate) Close() {
	p.load.Cancel()
	p.looking.Cancel()
	p.doing.Cancel()
}

func (p *truncate) Init() tea.Cmd { return tea.Batch(p.reload(), p.look()) }

func (p *truncate) reload() tea.Cmd {
	return p.load.Load(p.Ctx, func(ctx context.Context) ([]model.Partition, error) { return p.Src.Partitions(ctx, p.tp.Topic) })
}

func (p *truncate) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[[]model.Partition]:
		mine, again := p.load.Took(p.Ctx, msg)
		if mine {
			p.take(msg.Val, msg.Err)
		}
		return again
	case page.Result[looked]:
		if p.looking.Owns(msg) {
			if p.wrong = msg.Err; msg.Err == nil {
				p.last, p.fresh = msg.Val, true
				p.effect.set(msg.Val.preview)
			}
		}
	case page.Result[cut]:
		if p.doing.Owns(msg) {
			return p.done(msg.Val, msg.Err)
		}
	case model.Change:
		if msg.Touches(p.tp) && !p.doing.Busy() {
			return p.pace.changed(p.Now(), p.reload)
		}
	case tea.KeyMsg:
		return p.typed(msg)
	case page.Tick:
		switch msg.ID {
		case leave:
			return page.Send(page.Back{})
		case again:
			return p.pace.tick(p.Now(), p.reload)
		case settle + strconv.Itoa(p.seq):
			return p.look()
		}
	case page.Confirmed:
		return p.confirmed(msg)
	}
	return nil
}

func (p *truncate) take(parts []model.Partition, err error) {
	p.err = err
	for i := range parts {
		if parts[i].TopicPartition == p.tp && parts[i].State == model.Live {
			p.bounds, p.loaded = parts[i], true
		}
	}
	if err == nil && !p.loaded {
		p.err = fmt.Errorf("%w: %s", model.ErrNoPartition, p.tp)
	}
}

func (p *truncate) typed(k tea.KeyMsg) tea.Cmd {
	if !p.typing || p.src == nil {
		return nil
	}
	was := p.input.Value()
	if !p.input.Update(k) || p.input.Value() == was {
		return nil
	}
	p.fresh, p.wrong = false, nil
	p.seq++
	p.looking.Cancel()
	return page.Send(page.TickIn{After: typingPause, ID: settle + strconv.Itoa(p.seq)})
}

var errNothing = errors.New("nothing typed yet")

// before reads what is typed.
func (p *truncate) before() (int64, error) {
	text := strings.ReplaceAll(strings.TrimSpace(p.input.Value()), ",", "")
	switch text {
	case "":
		return 0, errNothing
	case "end", "latest":
		return model.FromEnd, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, errors.New("want an offset, like 4812339, or end for all that is there now")
	}
	return n, nil
}

// look asks what would go.
func (p *truncate) look() tea.Cmd {
	before, err := p.before()
	if p.src == nil || errors.Is(err, errNothing) {
		return nil
	}
	if err != nil {
		p.wrong = err
		return nil
	}
	return p.looking.Start(p.Ctx, func(ctx context.Context) (looked, error) {
		v, err := p.src.PreviewDelete(ctx, p.tp, before)
		return looked{before, v}, err
	})
}

func (p *truncate) Commands() []page.Command {
	rows := []page.Command{{Key: page.Bind("ctrl+s", "delete"), Off: p.whyNot, Run: p.ask}}
	if p.typing {
		return append(rows, page.Command{Key: page.Bind("enter tab", "to the list"), Run: p.turn(false)})
	}
	rows = append(rows,
		page.Command{Key: page.Bind("D", "delete"), Off: p.whyNot, Run: p.ask, Quiet: true},
		page.Command{Key: page.Bind("enter tab i", "type the offset"), Off: p.whyNoSource, Run: p.turn(true)},
		page.Command{Key: page.Bind("r", "records there"), Off: p.whyNoOffset, Run: p.records})
	return append(rows, page.ListCommands(&p.effect.table.VList, nil)...)
}

func (p *truncate) turn(typing bool) func() tea.Cmd {
	return func() tea.Cmd {
		p.typing = typing
		if !typing && !p.fresh && !p.looking.Busy() {
			p.seq++
			return p.look()
		}
		return nil
	}
}

func (p *truncate) whyNoSource() string {
	if p.src == nil {
		return "this source is read-only: nothing can be deleted"
	}
	return ""
}

func (p *truncate) whyNoOffset() string {
	if n, err := p.before(); err != nil || n < 0 {
		return "no offset is typed"
	}
	return ""
}

// moves reports whether the log start would move.
func (p *truncate) moves() bool {
	return p.last.before < 0 && p.bounds.LogEnd > p.bounds.LogStart || p.last.before > p.bounds.LogStart
}

// words says in one line what would go.
func (p *truncate) words() string {
	if !p.moves() {
		return "nothing goes: the log begins at " + page.OffsetText(p.Theme, p.bounds.LogStart) + " already"
	}
	last := p.last.before - 1
	if p.last.before < 0 {
		last = p.bounds.LogEnd - 1
	}
	s := kit.Number(p.bounds.LogStart) + " to " + kit.Number(last) + " can't be read then"
	if p.effect.deletes() {
		return s + "; " + p.effect.words()
	}
	return s + "; their bytes stay until the segment goes"
}

func (p *truncate) whyNot() string {
	switch {
	case p.src == nil:
		return p.whyNoSource()
	case p.wrong != nil:
		return kit.Safe(p.wrong.Error(), 200)
	case p.doing.Busy():
		return "records are being deleted"
	case p.err != nil:
		return kit.Safe(p.err.Error(), 200)
	}
	if _, err := p.before(); err != nil {
		return err.Error()
	}
	switch {
	case !p.fresh:
		return "what that deletes is being looked up"
	case !p.moves():
		return p.words()
	}
	return ""
}

func (p *truncate) records() tea.Cmd {
	n, err := p.before()
	if err != nil {
		return nil
	}
	a := model.PartitionAddress(p.tp)
	a.Offset = n
	return page.Goto(page.Records, a)
}

func (p *truncate) ask() tea.Cmd {
	name := model.PartitionAddress(p.tp).String()
	body := []string{p.words()}
	for _, n := range p.last.preview.Notes {
		body = append(body, kit.Safe(n, 300))
	}
	place := "before offset " + kit.Number(p.last.before)
	if p.last.before < 0 {
		place = "that are there now"
	}
	return page.Send(page.Confirm{
		ID: sureTruncate, Title: "delete all records of " + kit.Safe(name, 200) + " " + place + "?", Typed: name,
		Body: append(body, "that cannot be taken back"),
	})
}

func (p *truncate) confirmed(c page.Confirmed) tea.Cmd {
	if c.ID != sureTruncate || !c.OK || p.src == nil {
		return nil
	}
	before := p.last.before
	return p.doing.Start(p.Ctx, func(ctx context.Context) (cut, error) {
		start, err := p.src.DeleteRecords(ctx, p.tp, before)
		return cut(start), err
	})
}

func (p *truncate) done(start cut, err error) tea.Cmd {
	if err != nil {
		p.wrong = err
		return page.Say(page.Bad, err.Error())
	}
	return tea.Batch(page.Say(page.Good, p.safeTP()+" begins at "+kit.Number(int64(start))+" now"), page.Send(page.TickIn{After: leaveAfter, ID: leave}))
}

func (p *truncate) safeTP() string { return kit.Safe(p.tp.String(), 200) }

// Address is the partition.
func (p *truncate) Address() model.Address { return model.PartitionAddress(p.tp) }

// Focus names the topic on screen.
func (p *truncate) Focus() []string { return []string{p.tp.Topic} }

// Mouse scrolls the list and puts the focus on the input.
func (p *truncate) Mouse(m page.Mouse) tea.Cmd {
	if m.Kind <= page.DoubleClick && m.Y == 1 {
		p.typing = p.src != nil
		return nil
	}
	page.ListMouse(&p.effect.table, m, 4+len(p.last.preview.Notes))
	return nil
}

func (p *truncate) View(w, h int) string {
	t := p.Theme
	switch {
	case p.src == nil:
		return kit.Problem(t, w, h, "this source is read-only: nothing can be deleted", "esc goes back")
	case !p.loaded && p.err != nil:
		return kit.Problem(t, w, h, p.err.Error(), "esc goes back")
	case !p.loaded:
		return kit.Block("", w, h)
	}
	b := &p.bounds
	facts := []page.Fact{
		{Name: "log start", Value: page.OffsetText(t, b.LogStart)}, {Name: "end", Value: page.OffsetText(t, b.LogEnd)},
		{Value: page.Counted(t, b.Records, "record")}, {Value: kit.BytesText(b.Bytes)},
	}
	if b.Segments >= 0 {
		facts = append(facts, page.Fact{Value: kit.Plural(b.Segments, "segment")})
	}
	head := page.Facts(t, w, facts...)
	var in kit.Line
	in.Space(1).Add(t.Dim, "delete before ").Text(p.input.View(t, max(4, w-15), p.typing))
	var verdict string
	var l kit.Line
	l.Space(1)
	_, err := p.before()
	switch {
	case p.wrong != nil:
		verdict = l.Add(t.Bad, t.Glyphs.Bad+" "+kit.Safe(p.wrong.Error(), 300)).Fit(w)
	case err != nil:
		verdict = l.Add(t.Dim, "everything below the offset that is typed goes; whole segments at once").Fit(w)
	case !p.fresh:
		verdict = l.Add(t.Dim, "looking").Fit(w)
	case !p.moves():
		verdict = l.Add(t.Dim, p.words()).Fit(w)
	default:
		verdict = l.Add(t.Bad, t.Glyphs.Bad+" "+p.words()).Fit(w)
	}
	lines := []string{head, in.Fit(w), verdict}
	if h <= 4 {
		return kit.Block(strings.Join(lines, "\n"), w, h)
	}
	lines = append(lines, page.Rule(t, w, "what that deletes"))
	if p.fresh && p.wrong == nil && err == nil {
		lines = append(lines, p.effect.View(w, h-4))
	}
	return kit.Block(strings.Join(lines, "\n"), w, h)
}
