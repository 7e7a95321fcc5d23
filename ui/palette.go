package ui

import (
	"context"
	"slices"
	"sort"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// palette takes what is typed after : and offers what it may mean: views, commands of the page, topics, groups, and
// addresses as they stand in the breadcrumb.
type palette struct {
	input kit.Input
	list  kit.VList
	found []offer
	all   []offer

	load   page.Slot[places]
	dir    string // the front of an address that places complete
	places places
}

// places are the addresses that a front leads to, and what they are.
type places [][2]string

// offer is one line of the palette.
type offer struct {
	text string // what is typed
	what string // what it is
	run  func() tea.Cmd
}

func (r *root) openPalette() tea.Cmd {
	p := &palette{}
	p.list.Theme = r.theme
	p.input.Placeholder = "a topic, a group, an address like orders/2@48, or a command"
	r.overlay = p
	p.gather(r)
	return own(r.names.load.Start(r.ctx, func(ctx context.Context) (names, error) {
		var n names
		topics, err := r.src.Topics(ctx)
		for _, t := range topics {
			n.topics = append(n.topics, t.Name)
		}
		groups, gerr := r.src.Groups(ctx)
		for _, g := range groups {
			n.groups = append(n.groups, g.ID)
		}
		if err == nil && len(groups) == 0 {
			err = gerr
		}
		if len(topics) > 0 {
			err = nil
		}
		return n, err
	}))
}

// gather builds the offers anew.
func (p *palette) gather(r *root) {
	p.all = p.all[:0]
	add := func(text, what string, run func() tea.Cmd) { p.all = append(p.all, offer{text, what, run}) }
	if a := r.state.Place; a != "" {
		add(a, "where you were last", func() tea.Cmd { return r.goTo(a) })
	}
	for _, v := range r.views() {
		if v.off == nil || v.off() == "" {
			add(v.name, strings.TrimSpace("view "+v.key), func() tea.Cmd { return r.view(v.kind) })
		}
	}
	for _, t := range r.names.topics {
		add(t, "topic", func() tea.Cmd { return r.open(r.place(model.TopicAddress(t))) })
	}
	for _, g := range r.names.groups {
		add("group:"+g, "group", func() tea.Cmd { return r.goTo("group:" + g) })
	}
	top := r.top()
	for _, c := range top.page.Commands() {
		if c.Group != page.Moving && c.Why() == "" {
			add(c.Key.Help().Desc, "key "+c.Key.Help().Key, func() tea.Cmd { return r.run(top.id, c) })
		}
	}
	for _, c := range r.commands() {
		if c.Group != "views" && c.Why() == "" {
			add(c.Key.Help().Desc, "key "+c.Key.Help().Key, func() tea.Cmd { return r.run(0, c) })
		}
	}
	for _, t := range kit.Themes() {
		add("theme "+t, "colours", func() tea.Cmd { return r.setTheme(t) })
	}
	p.match(r)
}

// match ranks the offers by what is typed: same, begins so, a word begins so, holds it, holds its letters in order.
func (p *palette) match(r *root) {
	q := strings.ToLower(p.typed())
	type ranked struct {
		offer
		rank int
	}
	var hits []ranked
	all := slices.Clip(p.all) // what is appended is not p.all's
	for _, a := range p.places {
		all = append(all, offer{a[0], a[1], func() tea.Cmd { return r.goTo(a[0]) }})
	}
	if at := p.typed(); strings.ContainsAny(at, "/@") && !slices.ContainsFunc(all, func(o offer) bool { return o.text == at }) {
		if a, err := model.ParseAddress(at); err == nil && slices.Contains(r.names.topics, a.Topic) {
			all = append(all, offer{at, "go there", func() tea.Cmd { return r.goTo(at) }})
		}
	}
	for _, o := range all {
		if n := rank(strings.ToLower(o.text), q); n >= 0 {
			hits = append(hits, ranked{o, n})
		}
	}
	sort.SliceStable(hits, func(i, j int) bool { return hits[i].rank < hits[j].rank })
	p.found = p.found[:0]
	for _, h := range hits {
		p.found = append(p.found, h.offer)
	}
	p.list.Len = int64(len(p.found))
	p.list.Home()
}

// typed is the input without the colon that those type again who know it from the prompt.
func (p *palette) typed() string {
	return strings.TrimPrefix(strings.TrimSpace(p.input.Value()), ":")
}

// rank returns how well text fits q, 0 best, -1 not at all.
func rank(text, q string) int {
	switch {
	case q == "" || text == q:
		return 0
	case strings.HasPrefix(text, q):
		return 1
	case strings.Contains(text, ":"+q), strings.Contains(text, " "+q), strings.Contains(text, "."+q), strings.Contains(text, "-"+q), strings.Contains(text, "_"+q):
		return 2
	case strings.Contains(text, q):
		return 3
	}
	rest := text
	for _, c := range q {
		i := strings.IndexRune(rest, c)
		if i < 0 {
			return -1
		}
		rest = rest[i+1:]
	}
	return 4
}

func (p *palette) key(r *root, k tea.KeyMsg) (tea.Cmd, bool) {
	switch k.Type {
	case tea.KeyEsc:
		return nil, true
	case tea.KeyUp, tea.KeyCtrlP:
		p.list.Move(-1)
	case tea.KeyDown, tea.KeyCtrlN:
		p.list.Move(1)
	case tea.KeyTab:
		if o, ok := p.chosen(); ok {
			p.input.SetValue(o.text)
			p.match(r)
			return p.deeper(r), false
		}
	case tea.KeyEnter:
		r.overlay = nil
		return p.enter(r), true
	case tea.KeyBackspace:
		if p.input.Value() == "" {
			return nil, true
		}
		fallthrough
	default:
		if p.input.Update(k) {
			p.match(r)
			return p.deeper(r), false
		}
	}
	return nil, false
}

// deeper asks for what the front of an address leads to, when it is another than before.
func (p *palette) deeper(r *root) tea.Cmd {
	typed := p.typed()
	dir := typed[:strings.LastIndexAny(typed, "/@")+1]
	if dir == p.dir {
		return nil
	}
	p.dir, p.places = dir, nil
	a, err := model.ParseAddress(strings.TrimRight(dir, "/@"))
	if err != nil || a.Topic == "" || dir == "" {
		p.load.Cancel()
		return nil
	}
	return own(p.load.Start(r.ctx, func(ctx context.Context) (places, error) { return lookAround(ctx, r.src, a, dir) }))
}

// lookAround returns the partitions of a topic, the segments of a partition, or the ends of a partition.
func lookAround(ctx context.Context, src model.Source, a model.Address, dir string) (places, error) {
	var out places
	if s, ok := src.(model.SegmentReader); ok && a.Partition >= 0 && strings.HasSuffix(dir, "/") {
		segments, err := s.Segments(ctx, a.TP())
		for _, seg := range segments {
			at := a
			at.Segment = seg.Base
			out = append(out, [2]string{at.String(), string(seg.State) + " segment, " + kit.BytesText(seg.Bytes)})
		}
		return out, err
	}
	parts, err := src.Partitions(ctx, a.Topic)
	for _, part := range parts {
		switch at := model.PartitionAddress(part.TopicPartition); {
		case a.Partition < 0:
			out = append(out, [2]string{at.String(), "partition, " + kit.BytesText(part.Bytes)})
		case part.Partition == a.Partition && part.LogEnd > part.LogStart && part.State == model.Live:
			at.Offset = part.LogStart
			out = append(out, [2]string{at.String(), "log start"})
			at.Offset = part.LogEnd - 1
			out = append(out, [2]string{at.String(), "newest offset"})
		}
	}
	return out, err
}

func (p *palette) chosen() (offer, bool) {
	if i := p.list.Cursor(); i < int64(len(p.found)) {
		return p.found[i], true
	}
	return offer{}, false
}

// enter goes to the offer under the cursor; what reads as a deeper address is gone to as it stands.
func (p *palette) enter(r *root) tea.Cmd {
	typed := p.typed()
	if strings.ContainsAny(typed, "/@") && p.list.Cursor() == 0 {
		if _, err := model.ParseAddress(typed); err == nil || len(p.found) == 0 {
			return r.goTo(typed)
		}
	}
	o, ok := p.chosen()
	if r.names.load.Busy() && typed != "" && p.list.Cursor() == 0 && !strings.HasPrefix(strings.ToLower(o.text), strings.ToLower(typed)) {
		// Typed faster than the names come: no command may run that only holds the letters. The page that opens says it
		// when nothing is called so.
		return r.goTo(typed)
	}
	if ok {
		return o.run()
	}
	if typed == "" {
		return nil
	}
	if near := model.Nearest(typed, append(append([]string(nil), r.names.topics...), r.names.groups...)); len(near) > 0 {
		r.say(page.Warn, "nothing is called "+typed+"; did you mean "+strings.Join(near, ", ")+"?")
		return nil
	}
	r.say(page.Warn, "nothing is called "+typed)
	return nil
}

// goTo opens an address.
func (r *root) goTo(text string) tea.Cmd {
	a, err := model.ParseAddress(text)
	if err != nil {
		r.say(page.Warn, err.Error())
		return nil
	}
	return r.open(r.place(a))
}

// open goes to a place: on top of the page from where it was asked, so that esc leads back there.
func (r *root) open(o page.Open) tea.Cmd {
	if o.Kind == page.Topics {
		return r.jump(o)
	}
	return r.push(o)
}

func (p *palette) hints() []hint {
	return []hint{{"tab", "complete", false}, {"↑↓", "choose", false}, {"enter", "go", false}, {"esc", "leave", false}}
}

// paletteRows is how many offers are shown at the most.
const paletteRows = 10

func (p *palette) sheet(r *root, w, h int) []string {
	t := r.theme
	rows := max(0, min(paletteRows, h-1))
	out := []string{t.Accent.Wrap(" :") + p.input.View(t, max(1, w-3), true)}
	if rows == 0 {
		return out
	}
	if len(p.found) == 0 && !p.load.Busy() && !r.names.load.Busy() {
		var l kit.Line
		out = append(out, l.Space(2).Add(t.Dim, "nothing is called so; esc leaves").Fit(w))
		return append(out, make([]string, rows-1)...)
	}
	body := p.list.View(w, rows, func(i int64) string {
		o := p.found[i]
		var l kit.Line
		tw := max(8, w-5-min(32, w/3))
		l.Spans(t.SafeSpans(kit.Style{}, o.text, kit.CellLimit(tw)), tw)
		return l.To(tw+1).Add(t.Dim, kit.Cut(o.what, max(0, w-tw-4))).String()
	})
	return append(out, strings.Split(body, "\n")...)
}

func (p *palette) scroll(d int64) { p.list.Move(d) }
