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
