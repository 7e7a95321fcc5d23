package segments

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

const hour = 3600 * 1000

var orders2 = model.TopicPartition{Topic: "orders", Partition: 2}

func open(t testing.TB, src model.Source, addr model.Address) *segments {
	p := New(uitest.Env(t, src), page.Open{Addr: addr}).(*segments)
	uitest.Drive(p, p.Init())
	return p
}

// sample is the drill core of the sketch: five layers, three groups, files left over.
func sample() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	ms := uitest.Now().UnixMilli()
	seg := func(base, last, mib int64, from, to int64) model.Segment {
		return model.Segment{
			TopicPartition: orders2, Base: base, Last: last, Records: model.Exactly(last - base + 1), Batches: model.Exactly((last-base)/500 + 1),
			Bytes: mib << 20, Inflated: 3 * mib << 20, IndexEntries: int(mib) * 200, TimeEntries: int(mib) * 190,
			FirstTimestamp: ms - from, LastTimestamp: ms - to, State: model.SegmentSealed, Leaves: ms + 7*24*hour - to, Rule: "retention.ms",
			Path: fmt.Sprintf("/data/orders-2/%020d.log", base),
		}
	}
	gone := seg(3_800_000, 3_904_111, 200, 40*hour, 30*hour)
	gone.State, gone.Leaves, gone.Rule = model.SegmentDeleted, model.NoTime, ""
	oldest := seg(3_904_112, 4_488_001, 255, 12*hour, 6*hour)
	oldest.Leaves, oldest.Rule = ms+240_000, "retention.bytes"
	active := seg(4_790_000, 4_812_338, 48, hour/2, 0)
	active.State, active.Leaves, active.Rule = model.SegmentActive, model.NoTime, "active"
	src.Segs[orders2] = []model.Segment{oldest, seg(4_488_002, 4_640_111, 256, 6*hour, 3*hour), seg(4_640_112, 4_789_999, 256, 3*hour, hour/2), active, gone}
	off := func(committed, lag, lost int64) []model.GroupOffset {
		return []model.GroupOffset{{TopicPartition: orders2, Committed: committed, Lag: model.Exactly(lag), Lost: lost}}
	}
	src.GroupSet = []model.Group{
		{ID: "audit", Offsets: off(3_904_100, 908_227, 12)},
		{ID: "billing", Offsets: off(4_812_327, 12, 0)},
		{ID: "idle", Offsets: off(4_812_339, 0, 0)},
		{ID: "search", Offsets: off(4_650_000, 162_339, 0)},
	}
	return src
}

func TestView(t *testing.T) {
	p := open(t, sample(), model.PartitionAddress(orders2))
	uitest.Press(p, "j")
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Golden(t, "200x30", p.View(200, 30))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
}

func TestLayersAreAsTallAsTheirBytes(t *testing.T) {
	for name, tc := range map[string]struct {
		mib  []int64
		room int
		want string
	}{
		"even":                    {[]int64{10, 10, 10}, 100, "4 4 4"},
		"one is most of it":       {[]int64{1, 98, 1}, 100, "1 10 1"},
		"no room but a line each": {[]int64{1, 98, 1}, 3, "1 1 1"},
		"more than the screen":    {[]int64{1, 1, 1, 1, 1}, 3, "1 1 1 1 1"},
		"empty":                   {[]int64{0}, 20, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			var segs []model.Segment
			for _, n := range tc.mib {
				segs = append(segs, model.Segment{Bytes: n << 20})
			}
			h := spread(segs, tc.room)
			var got []string
			for i := range segs {
				got = append(got, fmt.Sprint(h(i)))
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("%s, want %s", s, tc.want)
			}
		})
	}
}

func TestPegsStandAtTheirDepth(t *testing.T) {
	p := open(t, sample(), model.PartitionAddress(orders2))
	p.View(120, 40)
	line := map[string]int{}
	for at, pegs := range p.core.pegs {
		for _, g := range pegs {
			line[g.group] = at
		}
	}
	layer := func(g string) int { i, _ := p.core.layerAt(line[g]); return i }
	if line["idle"] != 0 || layer("billing") != 0 || line["audit"] != p.core.logStart {
		t.Errorf("%v, log start at %d", line, p.core.logStart)
	}
	if layer("search") != 1 || line["search"] != p.core.starts[2]-1 {
		t.Errorf("search is near the bottom of the second layer, not at line %d of %v", line["search"], p.core.starts)
	}
	uitest.Contains(t, p.View(120, 40), "audit ✗ 12 lost", "billing 12", "idle 0")
}

func TestCursorKeepsItsLayer(t *testing.T) {
	src := sample()
	p := open(t, src, model.PartitionAddress(orders2))
	p.View(120, 40)
	uitest.Press(p, "j", "j")
	if p.at().Base != 4_488_002 {
		t.Fatalf("on %d", p.at().Base)
	}
	// The active segment rolls: a new one comes on top.
	rolled := src.Segs[orders2][3]
	rolled.Base = 4_812_339
	src.Segs[orders2][3].State = model.SegmentSealed
	src.Segs[orders2] = append(src.Segs[orders2][:4], rolled, src.Segs[orders2][4])
	uitest.Send(p, model.Change{Partitions: []model.TopicPartition{orders2}})
	uitest.Press(p, "k", "j") // before the next frame
	if p.at().Base != 4_488_002 || p.live != 5 {
		t.Errorf("on %d of %d", p.at().Base, p.live)
	}
	uitest.Fits(t, p)
}

func TestMoving(t *testing.T) {
	p := open(t, sample(), model.PartitionAddress(orders2))
	p.View(120, 12)
	for _, tc := range []struct {
		key  string
		want int64
	}{
		{"G", 3_800_000}, {"k", 3_904_112}, {"g", 4_790_000}, {"pgdown", 3_800_000}, {"ctrl+u", 4_488_002}, {"pgup", 4_790_000}, {"k", 4_790_000},
	} {
		uitest.Press(p, tc.key)
		p.View(120, 12)
		if p.at().Base != tc.want {
			t.Errorf("%s went to %d, want %d", tc.key, p.at().Base, tc.want)
		}
		i, _ := p.core.layerAt(p.core.starts[p.cursor])
		if p.core.starts[i] < p.core.top || p.core.starts[i] >= p.core.top+p.core.h {
			t.Errorf("%s: the cursor is not on screen", tc.key)
		}
	}
}

func TestFind(t *testing.T) {
	src := sample()
	p := open(t, src, model.PartitionAddress(orders2))
	p.View(120, 40)
	if a, ok := uitest.Press(p, "/")[0].(page.Ask); !ok || a.ID != askFind {
		t.Fatal("no question")
	}
	uitest.Send(p, page.Answered{ID: askFind, Text: "4,640,200", OK: true})
	if p.at().Base != 4_640_112 {
		t.Errorf("offset led to %d", p.at().Base)
	}
	src.Found = model.LookupResult{Found: true, Offset: 4_000_000}
	uitest.Send(p, page.Answered{ID: askFind, Text: "2026-11-30 01:00", OK: true})
	if p.at().Base != 3_904_112 {
		t.Errorf("time led to %d", p.at().Base)
	}
	if n := uitest.Send(p, page.Answered{ID: askFind, Text: "5000000", OK: true}); !strings.Contains(fmt.Sprint(n), "outside the log") {
		t.Errorf("%v", n)
	}
	if n := uitest.Send(p, page.Answered{ID: askFind, Text: "noon", OK: true}); !strings.Contains(fmt.Sprint(n), "2026-11-30 09:00") {
		t.Errorf("%v", n)
	}
}

func TestKeysOpenAndSayWhyNot(t *testing.T) {
	src := sample()
	p := open(t, src, model.PartitionAddress(orders2))
	seg := model.PartitionAddress(orders2)
	seg.Segment = 4_790_000
	at := model.PartitionAddress(orders2)
	at.Offset = 4_790_000
	for key, want := range map[string]page.Open{
		"enter": {Kind: page.Batches, Addr: seg},
		"i":     {Kind: page.Index, Addr: seg},
		"v":     {Kind: page.Check, Addr: seg},
		"r":     {Kind: page.Records, Addr: at},
		"x":     {Kind: page.Lookup, Addr: model.PartitionAddress(orders2)},
		"t":     {Kind: page.Tail, Addr: model.PartitionAddress(orders2)},
		"D":     {Kind: page.Truncate, Addr: at},
		"[":     {Kind: page.Segments, Addr: model.PartitionAddress(model.TopicPartition{Topic: "orders", Partition: 1}), Replace: true},
	} {
		if got := uitest.Press(p, key); fmt.Sprint(got) != fmt.Sprint([]page.Request{want}) {
			t.Errorf("%s opened %v", key, got)
		}
	}
	for key, want := range map[string]string{"]": "last partition"} {
		if got := fmt.Sprint(uitest.Press(p, key)); !strings.Contains(got, want) {
			t.Errorf("%s says %v", key, got)
		}
	}
	uitest.Press(p, "G")
	if got := fmt.Sprint(uitest.Press(p, "enter")); !strings.Contains(got, "left over (deleted)") {
		t.Errorf("a deleted file opened: %v", got)
	}
	bare := open(t, uitest.Plain(src), model.PartitionAddress(orders2))
	uitest.Contains(t, bare.View(80, 24), "this source shows no files", "r reads the records")
	uitest.Keys(t, bare)
	uitest.Fits(t, bare)
}

func TestStates(t *testing.T) {
	src := sample()
	src.Fail = func(method string) error {
		if method == "Segments" {
			return fmt.Errorf("%w: %q", model.ErrNoPartition, "orders-9")
		}
		return nil
	}
	p := open(t, src, model.PartitionAddress(orders2))
	uitest.Contains(t, p.View(80, 24), "no such partition", "esc goes back")
	src.Fail = nil
	uitest.Press(p, "ctrl+r")
	src.Fail = func(string) error { return errors.New("gone") }
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 24), "4,790,000")
	if !strings.Contains(p.Status(), "gone") {
		t.Error(p.Status())
	}
	src.Fail, src.Segs[orders2] = nil, nil
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 24), "no segment here", "p produces it")
	uitest.Fits(t, p)
}

func TestDamageIsShownInItsLayer(t *testing.T) {
	src := sample()
	src.Segs[orders2][1].Err = &model.CorruptError{Path: "x.log", Pos: 16_560, What: "CRC is 1a2b3c4d, computed 99887766\x1b[2J"}
	src.Segs[orders2][2].Trailing = 4096
	p := open(t, src, model.PartitionAddress(orders2))
	uitest.Press(p, "j")
	uitest.Press(p, "j")
	uitest.Contains(t, p.View(160, 24), "✗ damaged at byte 16,560", "x.log: byte 16560: CRC is 1a2b3c4d, computed 99887766␛[2J", "✗ 4.0 KiB torn at its end")
	uitest.Press(p, "k")
	uitest.Contains(t, p.View(160, 24), "4.0 KiB behind the last batch, torn")
	uitest.Fits(t, p)
}

func TestPartlyDeletedLayer(t *testing.T) {
	src := sample()
	src.Parts["orders"][2].LogStart = 4_000_000
	p := open(t, src, model.PartitionAddress(orders2))
	uitest.Contains(t, p.View(120, 40), "4,000,000", "log start, within the layer above")
	src.Parts["orders"][2].LogStart = 4_500_000
	uitest.Send(p, model.Change{All: true})
	uitest.Contains(t, p.View(160, 40), "below the log start")
	if p.live != 3 {
		t.Errorf("%d layers are live", p.live)
	}
}

func TestPegsFitTheirColumn(t *testing.T) {
	p := open(t, sample(), model.PartitionAddress(orders2))
	pegs := []peg{{group: "a-group-with-a-long-name", lag: model.Exactly(1_234_567)}, {group: "b", lost: 5}, {group: "c", ahead: 998_157}}
	for room := 16; room < 80; room++ {
		spans := p.pegSpans(pegs, room)
		text := ""
		for _, s := range spans {
			text += s.Text
		}
		if n := kit.SpansWidth(spans); n > room {
			t.Errorf("%d cells of %d: %s", n, room, text)
		}
		if !strings.Contains(text, "1,234,567") {
			t.Errorf("room %d: the figure is cut: %s", room, text)
		}
		if !strings.Contains(text, "+") && !strings.Contains(text, "998,157 ahead") {
			t.Errorf("room %d: it hides that there are more: %s", room, text)
		}
	}
}

func TestHostileGroups(t *testing.T) {
	src := sample()
	src.GroupSet[1].ID = "\x1b]52;c;aGk=\a" + strings.Repeat("注", 60)
	src.GroupSet[3].ID = "\u202e\n\r"
	p := open(t, src, model.PartitionAddress(orders2))
	uitest.Fits(t, p)
}

func thousands(n int) *uitest.Source {
	src := sample()
	src.Segs[orders2] = nil
	for i := range int64(n) {
		src.Segs[orders2] = append(src.Segs[orders2], model.Segment{TopicPartition: orders2, Base: 3_904_112 + i*10, Last: 3_904_121 + i*10, Bytes: 1000 + i, State: model.SegmentSealed, Leaves: model.NoTime, Rule: "compact"})
	}
	return src
}

func TestTenThousandLayers(t *testing.T) {
	p := open(t, thousands(10_000), model.PartitionAddress(orders2))
	p.View(120, 40)
	uitest.Press(p, "pgdown", "pgdown")
	uitest.Contains(t, p.View(120, 40), kit.Number(p.at().Base))
	uitest.Press(p, "G")
	uitest.Contains(t, p.View(120, 40), "log start", "3,904,112")
	uitest.Fits(t, p)
}

func BenchmarkView(b *testing.B) {
	p := open(b, sample(), model.PartitionAddress(orders2))
	for b.Loop() {
		p.View(200, 60)
	}
}

func BenchmarkViewOf10000AfterAChange(b *testing.B) {
	p := open(b, thousands(10_000), model.PartitionAddress(orders2))
	for b.Loop() {
		p.core.stale = true
		p.View(200, 60)
	}
}

func TestLowScreensKeepTheLayers(t *testing.T) {
	src := sample()
	p := open(t, src, model.PartitionAddress(orders2))
	for h := 3; h < 8; h++ {
		uitest.Contains(t, p.View(40, h), "BASE OFFSET", "4,790,000")
	}
	p.View(40, 3)
	p.Mouse(page.Mouse{Kind: page.Click, X: 10, Y: 2})
	if p.cursor != 0 {
		t.Errorf("a click on the first layer chose layer %d", p.cursor)
	}
}

func TestTheCoreKeepsItsShadesUnderTheCursor(t *testing.T) {
	env := uitest.Env(t, sample())
	theme, err := kit.NewTheme("16", false)
	if err != nil {
		t.Fatal(err)
	}
	env.Theme = theme
	p := New(env, page.Open{Addr: model.PartitionAddress(orders2)})
	uitest.Drive(p, p.Init())
	for line := range strings.SplitSeq(p.View(80, 24), "\n") {
		if !strings.Contains(line, "4,790,000") {
			continue
		}
		if core, row, ok := strings.Cut(line, "\x1b[7m"); !ok || !strings.Contains(core, "█") || strings.Contains(row, "█") {
			t.Errorf("the core is drawn in reverse: %q", line)
		}
	}
}

func TestAWatermarkOfACheckpointIsAnEstimate(t *testing.T) {
	src := sample()
	parts := src.Parts["orders"]
	for i := range parts {
		if parts[i].TopicPartition == orders2 {
			parts[i].HWFromCheckpoint, parts[i].HighWatermark = true, parts[i].LogEnd-12
		}
	}
	p := open(t, src, model.PartitionAddress(orders2))
	uitest.Contains(t, p.View(120, 24), "high watermark ≈ ")
}
