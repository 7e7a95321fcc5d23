package ui

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

func TestFrame(t *testing.T) {
	g := newRig(t, Options{})
	g.learns(g.src.Is)
	uitest.Golden(t, "frame-80x24", g.View())
	g.send(tea.WindowSizeMsg{Width: 120, Height: 12})
	g.press("enter", "D")
	uitest.Golden(t, "frame-120x12", g.View())
}

func TestFrameFitsEverySizeUnderEveryOverlay(t *testing.T) {
	for name, open := range map[string]func(g *rig){
		"page":    func(*rig) {},
		"help":    func(g *rig) { g.press("?") },
		"palette": func(g *rig) { g.press(":", "o") },
		"filter":  func(g *rig) { g.press("/", "a", "b") },
		"notice":  func(g *rig) { g.say(page.Bad, strings.Repeat("\x1b[31mbad 注文 ", 40)) },
		"confirm": func(g *rig) {
			g.page().onKey = func() tea.Cmd {
				return page.Send(page.Confirm{Title: "delete \u202eorders?", Body: []string{strings.Repeat("what happens ", 30), "more"}, Typed: "orders"})
			}
			g.press("x", "o", "enter")
		},
		"ask": func(g *rig) {
			g.page().onKey = func() tea.Cmd {
				return page.Send(page.Ask{Prompt: "offset or time", Hint: "like 48 or 2h", Err: "no \x1b number"})
			}
			g.press("x")
		},
		"deep": func(g *rig) {
			g.send(from{g.top().id, page.Open{Kind: page.Record, Addr: model.Address{Topic: strings.Repeat("注文.", 60), Partition: 2, Offset: 48, Segment: -1, Position: -1}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, Options{})
			info := g.src.Is
			info.State = "polling: inotify is exhausted"
			g.learns(info)
			open(g)
			for _, w := range []int{1, 2, 5, 10, 20, 30, 45, 60, 80, 120, 300} {
				for _, h := range []int{1, 2, 3, 4, 5, 6, 7, 8, 12, 24, 100} {
					g.send(tea.WindowSizeMsg{Width: w, Height: h})
					frame := g.View()
					lines := strings.Split(frame, "\n")
					if len(lines) != h {
						t.Fatalf("%dx%d: %d lines", w, h, len(lines))
					}
					for y, l := range lines {
						if n := ansi.StringWidth(l); n != w {
							t.Fatalf("%dx%d: line %d takes %d cells: %q", w, h, y, n, ansi.Strip(l))
						}
						if strings.ContainsAny(ansi.Strip(l), "\x1b\t\r\x07") {
							t.Fatalf("%dx%d: line %d holds a control byte", w, h, y)
						}
					}
				}
			}
		})
	}
}

// TestFrameFitsWhereLinesTakeTwoCells runs the test above again, as a terminal of East Asian width has it.
func TestFrameFitsWhereLinesTakeTwoCells(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^(TestFrameFitsEverySizeUnderEveryOverlay|TestEveryPage)$")
	cmd.Env = append(os.Environ(), "RUNEWIDTH_EASTASIAN=1", "TERM=xterm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestViewIsKeptUntilSomethingHappens(t *testing.T) {
	g := newRig(t, Options{})
	g.View()
	drawn := 0
	g.page().onView = func() { drawn++ }
	g.View()
	g.View()
	if drawn != 0 {
		t.Fatalf("drawn %d times without a message", drawn)
	}
	g.press("j")
	g.View()
	g.View()
	if drawn != 1 {
		t.Fatalf("drawn %d times for one key", drawn)
	}
}

func TestStack(t *testing.T) {
	g := newRig(t, Options{})
	first := g.page()
	g.press("enter")
	if p := g.page(); p.open.Kind != page.Partitions || len(g.stack) != 2 {
		t.Fatalf("enter opened %v, stack %d", p.open, len(g.stack))
	}
	second := g.page()
	g.send(changeMsg{model.Change{Version: 7, Topics: true, Partitions: []model.TopicPartition{{Topic: "orders"}}}, false})
	if len(g.notice.Text) == 0 {
		t.Error("a closed source is not said")
	}
	g.covered(model.Change{Version: 8, Topics: true})
	g.covered(model.Change{Version: 9, Groups: true})
	if len(first.changes) != 0 || len(second.changes) != 2 {
		t.Fatalf("covered page got %d changes, the one on top %d", len(first.changes), len(second.changes))
	}
	g.press("esc")
	if second.closed != 1 || g.page() != first {
		t.Fatal("esc did not close the page on top")
	}
	if len(first.changes) != 1 || !first.changes[0].Groups || !first.changes[0].Topics || first.changes[0].Version != 9 {
		t.Fatalf("uncovered page was told %+v", first.changes)
	}
	g.press("esc")
	g.shows("this is the first page")
	g.press("q")
	if !g.quit {
		t.Error("q does not quit")
	}
}

// covered sends a change without waiting for the next one.
func (g *rig) covered(c model.Change) {
	cmd := g.changed(changeMsg{c, true})
	_ = cmd // it waits for the source
	g.Update(page.Redraw{})
}

func TestBackFromADeepStart(t *testing.T) {
	addr, err := model.ParseAddress("orders/2@4812339")
	if err != nil {
		t.Fatal(err)
	}
	g := newRig(t, Options{Open: addr})
	var kinds []string
	for range 4 {
		kinds = append(kinds, string(g.page().open.Kind))
		g.press("esc")
	}
	if got := strings.Join(kinds, " "); got != "record segments partitions topics" {
		t.Errorf("esc led through %s", got)
	}
}

func TestAnswersGoToThePageThatAsked(t *testing.T) {
	g := newRig(t, Options{})
	p := g.page()
	p.onKey = func() tea.Cmd { return page.Send(page.Confirm{ID: "del", Title: "delete?", Typed: "orders"}) }
	g.press("x", "o", "r", "enter")
	g.shows("that is not the name")
	g.press("d", "e", "r", "s", "enter")
	if len(p.got) != 1 || p.got[0] != (page.Confirmed{ID: "del", OK: true}) {
		t.Fatalf("got %v", p.got)
	}
	p.onKey = func() tea.Cmd { return page.Send(page.Confirm{ID: "y", Title: "sure?"}) }
	g.press("x", "z", "n")
	if p.got[1] != (page.Confirmed{ID: "y"}) {
		t.Fatalf("got %v", p.got)
	}
	p.onKey = func() tea.Cmd {
		return page.Send(page.Ask{ID: "at", Prompt: "offset", Choices: []string{"earliest", "latest"}})
	}
	g.press("x", "l", "tab", "enter")
	if p.got[2] != (page.Answered{ID: "at", Text: "latest", OK: true}) {
		t.Fatalf("got %v", p.got)
	}
}

func TestTypingReachesTheInputAndNotTheKeys(t *testing.T) {
	g := newRig(t, Options{})
	p := g.page()
	p.typing = true
	g.press("q", "j", "x", "1", "?")
	if p.typed != "qjx1?" || g.quit || g.overlay != nil {
		t.Fatalf("typed %q, quit %v", p.typed, g.quit)
	}
	g.press("enter")
	if g.page() == p {
		t.Error("enter does not reach the table while typing")
	}
}

func TestOffCommandSaysWhy(t *testing.T) {
	g := newRig(t, Options{})
	g.press("D")
	g.shows("delete: this source is read-only")
	g.press("w")
	g.shows("w does nothing here")
}

func TestFilterNarrowsWhileTyping(t *testing.T) {
	g := newRig(t, Options{})
	g.press("/", "o", "r")
	if g.page().filter != "or" {
		t.Fatalf("filter is %q", g.page().filter)
	}
	g.press("enter")
	g.shows("/or", "esc shows all")
	g.press("esc")
	if g.page().filter != "" || len(g.stack) != 1 {
		t.Error("esc does not clear the filter first")
	}
}

func TestPalette(t *testing.T) {
	g := newRig(t, Options{})
	g.press(":")
	g.shows("orders", "payments", "group:billing", "view 2")
	for _, k := range "pay" {
		g.press(string(k))
	}
	g.press("enter")
	if a := g.top().address(); a.Topic != "payments" {
		t.Fatalf("went to %v", a)
	}
	g.press(":")
	for _, k := range "orders/2@48" {
		g.press(string(k))
	}
	g.press("enter")
	if p := g.page(); p.open.Kind != page.Record || p.open.Addr.Offset != 48 {
		t.Fatalf("went to %v", p.open)
	}
	g.press(":")
	for _, k := range "orders/" {
		g.press(string(k))
	}
	g.shows("orders/2", "partition, ")
	g.press("1", "@")
	g.shows("orders/1@3904112", "log start", "orders/1@4812338", "newest offset")
	g.press("backspace", "/")
	g.shows("orders/1/00000000000003904112.log", "sealed segment, 255 MiB")
	g.press("down", "enter")
	if a := g.top().address(); a.Segment != 4_488_002 {
		t.Fatalf("went to %v", a)
	}
	g.press(":")
	for _, k := range "orders/x" {
		g.press(string(k))
	}
	g.press("enter")
	g.shows("the partition is no number")
	g.press(":")
	for _, k := range "theme light" {
		g.press(string(k))
	}
	g.press("enter")
	if g.theme.Name != "light" || g.page().Theme.Name != "light" {
		t.Error("the theme was not changed in place")
	}
}

// TestPaletteOverManyNames types towards one of many partitions of one of many topics: what a key costs must grow by the
// names and not by their square.
func TestPaletteOverManyNames(t *testing.T) {
	const many = 10_000
	src := uitest.NewSource(uitest.Now())
	one := src.Parts["orders"][0]
	for i := range int32(many) {
		src.TopicSet = append(src.TopicSet, model.Topic{Name: fmt.Sprintf("topic-%05d", i)})
		one.Partition = 3 + i
		src.Parts["orders"] = append(src.Parts["orders"], one)
	}
	g := newRig(t, Options{Source: src})
	g.press(":")
	for _, k := range "orders/" {
		g.press(string(k))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, k := range "9999" {
		g.press(string(k))
	}
	runtime.ReadMemStats(&after)
	g.shows("orders/9999")
	if n := (after.TotalAlloc - before.TotalAlloc) / 4; n > 1000*many {
		t.Errorf("a key over %d names and %d partitions allocates %d MiB", many, many, n>>20)
	}
}

func TestHelpShowsEveryKey(t *testing.T) {
	g := newRig(t, Options{})
	g.send(tea.WindowSizeMsg{Width: 120, Height: 70})
	g.press("?")
	frame := uitest.Plainly(g.View())
	for _, table := range [][]page.Command{g.page().Commands(), g.commands()} {
		for _, c := range table {
			if !strings.Contains(frame, c.Key.Help().Desc) {
				t.Errorf("help does not say %q", c.Key.Help().Desc)
			}
		}
	}
	g.shows("this source is read-only", "A topic is a named log")
	g.press("esc")
	if g.overlay != nil {
		t.Error("esc does not close the help")
	}
}

func TestFaultsEndTheProgramWhole(t *testing.T) {
	for name, blow := range map[string]func(g *rig){
		"update": func(g *rig) {
			g.page().onKey = func() tea.Cmd { panic("in update") }
			g.press("x")
		},
		"command": func(g *rig) {
			g.page().onKey = func() tea.Cmd { return func() tea.Msg { panic("in command") } }
			g.press("x")
		},
		"source": func(g *rig) { // asked by the root itself
			g.src.Fail = func(string) error { panic("in source") }
			g.press(":")
		},
		"view": func(g *rig) {
			g.page().onView = func() { panic("in view") }
			g.press("j")
			g.View()
			<-g.ctx.Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, Options{})
			blow(g)
			if g.crash == nil || !strings.Contains(g.crash.Error(), "in "+name) || !strings.Contains(g.crash.Error(), "root_test.go") {
				t.Fatalf("crash is %v", g.crash)
			}
			if name != "view" && !g.quit {
				t.Error("the program goes on")
			}
		})
	}
}

func TestMouse(t *testing.T) {
	g := newRig(t, Options{})
	g.send(tea.MouseMsg{Button: tea.MouseButtonWheelDown, X: 4, Y: 5})
	if got := g.page().list.Cursor(); got != 3 {
		t.Errorf("the wheel moved the cursor to %d", got)
	}
	g.press("m")
	if g.mouse {
		t.Error("m does not turn the mouse off")
	}
}

func TestState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "state.toml")
	g := newRig(t, Options{StatePath: path})
	g.page().onKey = func() tea.Cmd { return page.Send(page.Remember{Key: "sort", Value: "lag desc"}) }
	g.press("x", "enter", ".")
	g.save()
	next := newRig(t, Options{StatePath: path})
	if got := next.page().Remembered("sort"); got != "lag desc" {
		t.Errorf("recalled %q", got)
	}
	if next.state.Place != "orders" || !next.settings.Internal {
		t.Errorf("state is %+v", next.state)
	}
}

func TestDamagedStateIsLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.toml")
	if err := writeFile(path, "place = [\x00"); err != nil {
		t.Fatal(err)
	}
	g := newRig(t, Options{StatePath: path})
	g.sayPending()
	g.shows("the state file is damaged")
}

func TestKeysOfTheRoot(t *testing.T) {
	g := newRig(t, Options{})
	seen := map[string]string{}
	for _, c := range g.commands() {
		if c.Run == nil || c.Key.Help().Desc == "" {
			t.Errorf("row %v lacks its help or its Run", c.Key.Help())
		}
		for _, k := range c.Key.Keys() {
			if seen[k] != "" {
				t.Errorf("key %q is both %q and %q", k, seen[k], c.Key.Help().Desc)
			}
			seen[k] = c.Key.Help().Desc
		}
	}
}

func BenchmarkView(b *testing.B) {
	src := uitest.NewSource(uitest.Now())
	r, err := newRoot(b.Context(), Options{Source: src, Environ: []string{"TERM=xterm-256color", "COLORTERM=truecolor"}})
	if err != nil {
		b.Fatal(err)
	}
	defer r.close()
	r.pages[page.Topics] = func(env page.Env, o page.Open) page.Page {
		return &sample{Env: env, open: o, list: kit.VList{Len: 1_000_000, Theme: env.Theme}}
	}
	r.reset(page.Open{Kind: page.Topics})
	r.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	start := time.Now()
	n := 0
	for b.Loop() {
		r.dirty = true
		_ = r.View()
		n++
	}
	per := time.Since(start) / time.Duration(max(1, n))
	b.ReportMetric(float64(per)/float64(2*time.Millisecond), "of_2ms")
}

func writeFile(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

func TestViewsKeepTheirPlace(t *testing.T) {
	g := newRig(t, Options{})
	g.press("enter")
	deep := g.page()
	g.press("2")
	if g.page().open.Kind != page.Groups || deep.closed != 0 {
		t.Fatalf("2 shows %v", g.page().open)
	}
	g.covered(model.Change{Version: 5})
	g.press("1")
	if g.page() != deep || len(deep.changes) != 1 {
		t.Fatalf("1 does not lead back to where the topics were left")
	}
	g.press("1")
	if g.page().open.Kind != page.Topics || deep.closed != 1 {
		t.Error("1 again does not lead to the list of topics")
	}
}

func TestNoticesFade(t *testing.T) {
	g := newRig(t, Options{})
	g.press("z")
	g.shows("times: ")
	for range noticeSeconds + 1 {
		g.fade()
	}
	if g.notice.Text != "" {
		t.Error("a word stays for ever")
	}
	g.say(page.Bad, "disk full")
	for range noticeSeconds + 1 {
		g.fade()
	}
	if g.notice.Text == "" {
		t.Error("an error fades before it was seen")
	}
}

// TestNoticesThatComeLater are said as those of the start are: once each.
func TestNoticesThatComeLater(t *testing.T) {
	g := newRig(t, Options{})
	in := g.info
	g.pending = nil
	in.Notices = append(slices.Clone(in.Notices), "the disk is full")
	g.learn(in)
	g.learn(in)
	if !slices.Equal(g.pending, []string{"the disk is full"}) {
		t.Errorf("pending %q", g.pending)
	}
	for i := range 100 {
		in.Notices = append(slices.Clone(in.Notices), strconv.Itoa(i))
		g.learn(in)
	}
	if len(g.pending) != maxPending {
		t.Errorf("%d wait", len(g.pending))
	}
}

func TestWhatAPageForgotIsEscaped(t *testing.T) {
	g := newRig(t, Options{})
	g.page().list = kit.VList{Theme: g.theme}
	g.pages[page.Group] = func(env page.Env, o page.Open) page.Page { return careless{} }
	g.send(from{g.top().id, page.Open{Kind: page.Group}})
	g.shows(`␛[2J␛]52;c;aGk=␇ \u{202e}`)
}

// careless is a page that draws what it is given.
type careless struct{ blank }

func (careless) View(int, int) string { return "\x1b[2J\x1b]52;c;aGk=\a \u202e" }

func TestRunWantsATerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = Run(t.Context(), Options{Source: uitest.NewSource(uitest.Now()), Output: f})
	if !errors.Is(err, errNoTerminal) {
		t.Errorf("into a file: %v", err)
	}
}

// TestPaletteIsFasterThanTheNames types a topic before any name has come: it must be gone to, and no command run that
// holds the same letters.
func TestPaletteIsFasterThanTheNames(t *testing.T) {
	g := newRig(t, Options{})
	g.Update(uitest.Key(":")) // what it asks for is never answered
	for _, k := range "oe" {
		g.Update(uitest.Key(string(k)))
	}
	if p := g.overlay.(*palette); len(p.found) == 0 {
		t.Fatal("no command holds these letters: the test shows nothing")
	}
	g.press("enter")
	if a := g.top().address(); a.Topic != "oe" {
		t.Errorf("went to %q", a)
	}
}

func TestALongNameIsTypedInSight(t *testing.T) {
	g := newRig(t, Options{})
	name := strings.Repeat("long-", 40)
	g.page().onKey = func() tea.Cmd {
		return page.Send(page.Confirm{Title: "delete topic?", Body: []string{strings.Repeat("what goes ", 200)}, Typed: name})
	}
	g.press("x", "t", "y", "p", "e", "d")
	g.shows("delete topic?", name[:70], name[len(name)-20:], "typed")
}
