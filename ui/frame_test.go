package ui

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

func TestTheAddressComesBeforeTheSource(t *testing.T) {
	in := func(topic string, base int64) model.Address {
		a := model.PartitionAddress(model.TopicPartition{Topic: topic, Partition: 2})
		a.Segment = base
		return a
	}
	long := strings.Repeat("long.", 49) + "name"
	for name, c := range map[string]struct {
		addr model.Address
		w    int
		want []string
	}{
		"room for all":           {in("orders", 4_488_002), 120, []string{"strata ▸ orders ▸ 2 ▸ 00000000000004488002.log", "embedded · /var/lib/kafka/data/and/further/down"}},
		"the path goes first":    {in("orders", 4_488_002), 70, []string{"strata ▸ orders ▸ 2 ▸ 00000000000004488002.log", "embedded"}},
		"then leading zeros":     {in("orders", 4_488_002), 50, []string{"strata ▸ orders ▸ 2 ▸ …4488002.log"}},
		"base offset 0":          {in("orders", 0), 40, []string{" orders ▸ 2 ▸ …0.log"}},
		"then the ends of names": {in(long, 4_488_002), 80, []string{"strata ▸ long.long.", "… ▸ 2 ▸ …4488002.log", "embedded"}},
		"then what is left":      {in("orders", 4_488_002), 20, []string{"4488002.log"}},
	} {
		t.Run(name, func(t *testing.T) {
			src := uitest.NewSource(uitest.Now())
			src.Is.Kind, src.Is.ReadOnly, src.Is.Name = model.Embedded, false, "/var/lib/kafka/data/and/further/down"
			g := newRig(t, Options{Source: src})
			g.info = src.Is
			g.push(page.Open{Kind: page.Batches, Addr: c.addr})
			g.send(tea.WindowSizeMsg{Width: c.w, Height: 24})
			line, _, _ := strings.Cut(uitest.Plainly(g.View()), "\n")
			uitest.Contains(t, line, c.want...)
			if kit.Width(line) > c.w {
				t.Errorf("%d cells of %d: %q", kit.Width(line), c.w, line)
			}
		})
	}
}

func TestPaletteTakesAColonAndAnAddress(t *testing.T) {
	g := newRig(t, Options{})
	g.press(":")
	g.typeIn(":group:bill")
	g.shows("group:billing")
	g.press("enter")
	if a := g.top().address(); a.Group != "billing" {
		t.Fatalf("went to %v", a)
	}
	g.press(":")
	g.typeIn("orders/2@48")
	g.shows("go there")
	g.press("esc", ":")
	g.typeIn("zzzq")
	g.shows("nothing is called so")
}

func (g *rig) typeIn(text string) {
	for _, k := range text {
		g.press(string(k))
	}
}

func TestHelpWrapsWhatItCannotSayInOneLine(t *testing.T) {
	g := newRig(t, Options{})
	g.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	lines := strings.Split(uitest.Plainly(strings.Join(g.helpLines(80), "\n")), "\n")
	for _, l := range lines {
		if strings.Contains(l, "…") || kit.Width(l) > 80 {
			t.Errorf("cut: %q", l)
		}
	}
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "go to a topic, address,") }) {
		t.Errorf("no line about the palette in %q", lines)
	}
}

// profiled is a source that was opened by a profile.
type profiled struct {
	*uitest.Source
	profile model.Profile
}

func (p profiled) Profile() model.Profile { return p.profile }

func TestAProfilesColourIsBehindTheTopLine(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	src.Is.Kind, src.Is.ReadOnly, src.Is.Name = model.Cluster, true, "kafka-1:9092"
	for name, c := range map[string]struct {
		profile model.Profile
		theme   string
		on      string // begins the line
		want    string
	}{
		"red in true colour":    {model.Profile{Name: "prod", Colour: "red", ReadOnly: true}, "dark", "\x1b[48;2;179;38;30m", " prod ▸ topics"},
		"red of sixteen":        {model.Profile{Name: "prod", Colour: "red", ReadOnly: true}, "16", "\x1b[41;97m", " prod ▸ topics"},
		"without colours":       {model.Profile{Name: "prod", Colour: "red", ReadOnly: true}, "none", "\x1b[7m", " prod ▸ topics"},
		"a profile of none":     {model.Profile{Name: "test"}, "dark", " ", " test ▸ topics"},
		"a name that does harm": {model.Profile{Name: "te\x1b[2Jst"}, "dark", " ", " te␛[2Jst ▸ topics"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, Options{Source: profiled{src, c.profile}, Theme: c.theme, Environ: []string{"TERM=xterm-256color", "COLORTERM=truecolor"}})
			g.info = src.Is
			g.send(tea.WindowSizeMsg{Width: 100, Height: 24})
			line, _, _ := strings.Cut(g.View(), "\n")
			if !strings.HasPrefix(line, c.on) {
				t.Errorf("begins %q, want %q", line[:min(30, len(line))], c.on)
			}
			if n := strings.Count(line, "\x1b[48") + strings.Count(line, "\x1b[49"); c.theme == "dark" && c.profile.Colour != "" && n != 2 {
				t.Errorf("the band ends within the line: %q", line)
			}
			uitest.Contains(t, uitest.Plainly(line), c.want, "read-only · kafka-1:9092")
			if w := kit.Width(line); w != 100 {
				t.Errorf("%d cells of 100", w)
			}
		})
	}
}
