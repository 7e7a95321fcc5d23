package change

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// unset is the option of a choice that leaves a config at its default.
const unset = "default"

// made is what the making of a topic came to: its name.
type made string

// creator is what the page needs of a source.
type creator interface {
	CreateTopic(ctx context.Context, s model.TopicSpec) error
}

// The labels of the fields that are no configs.
const (
	labelName       = "name"
	labelPartitions = "partitions"
	labelMore       = "more configs"
)

type create struct {
	page.Env
	src   creator // nil: the source makes none
	form  kit.Form
	names page.Slot[[]string]
	make  page.Slot[made]
	have  []string
	err   error
}

// NewCreate makes the page that makes topics; o.Addr.Topic, if any, is the name to begin with.
func NewCreate(env page.Env, o page.Open) page.Page {
	p := &create{Env: env}
	text := func(label, placeholder, hint string) kit.Field {
		return kit.Field{Label: label, Input: kit.Input{Placeholder: placeholder}, Hint: hint}
	}
	p.src, _ = env.Src.(creator)
	choice := func(options ...string) *kit.Choice { return &kit.Choice{Options: append([]string{unset}, options...)} }
	p.form.Theme = env.Theme
	p.form.Fields = []kit.Field{
		{Label: labelName, Input: kit.NewInput(o.Addr.Topic), Hint: "letters, digits, dot, underscore, dash"},
		{Label: labelPartitions, Input: kit.NewInput("1"), Hint: "how many consumers of one group can share the work; more can be added later"},
		{Label: "cleanup.policy", Choice: choice("delete", "compact", "compact,delete"), Hint: "delete drops old segments, compact keeps the newest record of each key"},
		text("retention.ms", "default, 7 d", "how long records stay: 7d, 12h, 604800000, -1 for ever"),
		text("retention.bytes", "default, any size", "how large a partition may grow: 10GiB, -1 for any size"),
		text("segment.bytes", "default, 1 GiB", "how large a segment grows before the next: 1GiB, 1MiB"),
		text("segment.ms", "default, 7 d", "how long a segment is written to at the most: 7d, 1h"),
		{Label: "compression.type", Choice: choice("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"), Hint: "how batches are stored; producer leaves them as they come"},
		text("max.message.bytes", "default, 1 MiB", "the largest batch that is taken: 1MiB, 10MiB"),
		text(labelMore, "none", "KEY=VALUE KEY=VALUE, as flush.messages=1 min.compaction.lag.ms=1h"),
	}
	return p
}

func (p *create) Title() string   { return "create" }
func (p *create) Busy() bool      { return p.make.Slow() }
func (p *create) TakesText() bool { return p.src != nil }

func (p *create) Close() {
	p.names.Cancel()
	p.make.Cancel()
}

// Init asks for the names that are taken.
func (p *create) Init() tea.Cmd {
	return p.names.Start(p.Ctx, func(ctx context.Context) ([]string, error) {
		topics, err := p.Src.Topics(ctx)
		names := make([]string, 0, len(topics))
		for i := range topics {
			names = append(names, topics[i].Name)
		}
		return names, err
	})
}

func (p *create) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case page.Result[[]string]:
		if p.names.Owns(msg) {
			p.have = msg.Val
			p.checkFields()
		}
	case page.Result[made]:
		if !p.make.Owns(msg) {
			return nil
		}
		if p.err = msg.Err; p.err != nil {
			return nil
		}
		name := string(msg.Val)
		return tea.Batch(page.Say(page.Good, "created topic "+kit.Safe(name, 200)),
			page.Send(page.Open{Kind: page.Partitions, Addr: model.TopicAddress(name), Replace: true}))
	case tea.KeyMsg:
		if p.src != nil && p.form.Update(msg) {
			p.err = nil
			p.checkFields()
		}
	}
	return nil
}

// checkFields says at each field what is wrong with what is typed so far. What is empty is not wrong yet.
func (p *create) checkFields() {
	for i := range p.form.Fields {
		f := &p.form.Fields[i]
		if f.Err = ""; f.Value() == "" {
			continue
		}
		if err := p.checkField(f); err != nil {
			f.Err = err.Error()
		}
	}
}

func (p *create) checkField(f *kit.Field) error {
	text := f.Value()
	switch f.Label {
	case labelName:
		for _, have := range p.have {
			switch {
			case have == text:
				return model.ErrExists
			case collides(have, text):
				return fmt.Errorf("it differs from %s in dot and underscore only", have)
			}
		}
		return checkName(text)
	case labelPartitions:
		if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32); err != nil || n < 1 {
			return errors.New("want a number, 1 or more")
		}
	case labelMore:
		_, err := parsePairs(text)
		return err
	}
	if f.Choice == nil && (strings.HasSuffix(f.Label, ".ms") || strings.HasSuffix(f.Label, ".bytes")) {
		if _, err := strconv.ParseInt(plainValue(f.Label, text), 10, 64); err != nil {
			return errors.New("want a number, or one with a unit: 7d, 12h; 512MiB")
		}
	}
	return nil
}

// spec reads the form.
func (p *create) spec() (model.TopicSpec, error) {
	s := model.TopicSpec{Name: strings.TrimSpace(p.form.Field(labelName).Value())}
	if err := checkName(s.Name); err != nil {
		return s, err
	}
	for i := range p.form.Fields {
		f := &p.form.Fields[i]
		if f.Value() != "" {
			if err := p.checkField(f); err != nil {
				return s, fmt.Errorf("%s: %w", f.Label, err)
			}
		}
		value := plainValue(f.Label, f.Value())
		switch {
		case f.Label == labelName, value == "", value == unset && f.Choice != nil:
		case f.Label == labelPartitions:
			n, err := strconv.ParseInt(value, 10, 32)
			if err != nil {
				return s, err
			}
			s.Partitions = int32(n)
		case f.Label == labelMore:
			more, err := parsePairs(f.Value())
			if err != nil {
				return s, err
			}
			s.Configs = append(s.Configs, more...)
		default:
			s.Configs = append(s.Configs, model.ConfigChange{Name: f.Label, Value: value})
		}
	}
	return s, nil
}

func (p *create) whyNot() string {
	if p.src == nil {
		return "this source is read-only: topics can't be made or changed"
	}
	if p.make.Busy() {
		return "the topic is being made"
	}
	if _, err := p.spec(); err != nil {
		return kit.Safe(err.Error(), 200)
	}
	return ""
}

func (p *create) Commands() []page.Command {
	rows := page.FormCommands(&p.form, "create", p.submit)
	rows[0].Off = p.whyNot
	return append(rows, page.Command{Key: page.Bind("enter", "next field; on the last one create"), Quiet: true, Run: p.enter})
}

func (p *create) enter() tea.Cmd {
	if p.form.Focus < len(p.form.Fields)-1 {
		p.form.Next(1)
		return nil
	}
	if why := p.whyNot(); why != "" {
		return page.Say(page.Warn, why)
	}
	return p.submit()
}

func (p *create) submit() tea.Cmd {
	s, err := p.spec()
	if err != nil {
		return page.Say(page.Warn, err.Error())
	}
	p.err = nil
	return p.make.Start(p.Ctx, func(ctx context.Context) (made, error) { return made(s.Name), p.src.CreateTopic(ctx, s) })
}

// Mouse puts the focus on the field that is clicked.
func (p *create) Mouse(m page.Mouse) tea.Cmd { return formMouse(&p.form, m, 1) }

// formMouse puts the focus on the field that is clicked, and moves it by the wheel. y is the line of the form.
func formMouse(f *kit.Form, m page.Mouse, y int) tea.Cmd {
	switch m.Kind {
	case page.WheelDown:
		f.Next(1)
	case page.WheelUp:
		f.Next(-1)
	default:
		if i, ok := f.FieldAt(m.Y - y); ok {
			f.Focus = i
		}
	}
	return nil
}

func (p *create) View(w, h int) string {
	t := p.Theme
	if p.src == nil {
		return kit.Problem(t, w, h, "this source is read-only: topics can't be made", "strata without a directory opens the embedded broker, on which they can")
	}
	if h < 6 {
		return p.form.View(w, h)
	}
	foot := []string{}
	switch {
	case p.err != nil:
		foot = append(foot, p.footLine(t.Bad, t.Glyphs.Bad+" "+kit.Safe(p.err.Error(), 400), w)...)
	case p.make.Busy():
		foot = append(foot, p.footLine(t.Dim, "making the topic", w)...)
	default:
		style, words := p.intent()
		foot = append(foot, p.footLine(style, words, w)...)
	}
	return kit.Block("", w, 1) + "\n" + p.form.View(w, h-2-footLines) + "\n" + page.Rule(t, w, "") + "\n" + kit.Block(strings.Join(foot, "\n"), w, footLines)
}

// footLines is how many lines say what would be made.
const footLines = 2

func (p *create) footLine(style kit.Style, text string, w int) []string {
	var out []string
	for _, part := range kit.Wrap(text, max(10, w-2)) {
		var l kit.Line
		out = append(out, l.Space(1).Add(style, part).Fit(w))
	}
	return out
}

// intent says what ctrl-s would make, or why it can't.
func (p *create) intent() (kit.Style, string) {
	t := p.Theme
	for i := range p.form.Fields {
		if p.form.Fields[i].Err != "" {
			return t.Dim, "what is marked " + t.Glyphs.Bad + " is to be put right first"
		}
	}
	s, err := p.spec()
	if err != nil {
		return t.Dim, kit.Safe(err.Error(), 300)
	}
	text := t.Glyphs.Good + " ctrl-s makes " + kit.Safe(s.Name, 260) + " with " + kit.Plural(s.Partitions, "partition")
	for _, c := range s.Configs {
		text += ", " + kit.Safe(c.Name, 100) + " " + kit.Safe(c.Value, 100)
		if words := said(c.Name, c.Value); words != "" {
			text += " (" + words + ")"
		}
	}
	return t.Good, text
}
