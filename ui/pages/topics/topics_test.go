package topics

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

// open returns the page with everything loaded, second ticks held back.
func open(t testing.TB, env page.Env, o page.Open) *topics {
	p := New(env, o).(*topics)
	uitest.Drive(p, p.Init())
	return p
}

func TestView(t *testing.T) {
	c := &uitest.Clock{Time: uitest.Now()}
	src := uitest.NewSource(c.Time)
	src.TopicSet[3].Note = "1 partition damaged"
	p := open(t, c.Env(t, src), page.Open{})
	for i := range 9 {
		c.Time = c.Time.Add(time.Second)
		src.TopicSet[2].Appended += int64(1000 + 200*i%700)
		uitest.Send(p, page.Tick{ID: tick}, model.Change{Topics: true})
	}
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Golden(t, "200x12", p.View(200, 12))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
}

func TestInternalTopicsAreShownOnDemand(t *testing.T) {
	p := open(t, uitest.Env(t, uitest.NewSource(uitest.Now())), page.Open{})
	uitest.Contains(t, p.View(80, 24), "+ 1 internal (. shows them)")
	p.Settings.Internal = true
	uitest.Send(p, page.Changed{})
	frame := p.View(80, 24)
	uitest.Contains(t, frame, "__consumer_offsets")
	if strings.Contains(uitest.Plainly(frame), "internal (.") {
		t.Error("it still says that some are hidden")
	}
}

func TestFilterAndSort(t *testing.T) {
	p := open(t, uitest.Env(t, uitest.NewSource(uitest.Now())), page.Open{})
	order := func() string {
		var names []string
		for _, i := range p.rows {
			names = append(names, p.all[i].Name)
		}
		return strings.Join(names, " ")
	}
	for name, tc := range map[string]struct {
		filter, want string
	}{
		"substring":  {"AY", "payments"},
		"expression": {"/^(orders|audit)/", "audit.log orders"},
		"none":       {"zzz", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p.SetFilter(tc.filter)
			if order() != tc.want {
				t.Errorf("%q", order())
			}
		})
	}
	p.SetFilter("zzz")
	uitest.Contains(t, p.View(80, 10), "no topic matches zzz", "esc")
	p.SetFilter("")

	uitest.Press(p, "j")
	under, _ := p.at()
	uitest.Press(p, "s")
	remembered := uitest.Press(p, "s")
	if order() != "orders payments audit.log" {
		t.Errorf("by records: %q", order())
	}
	if now, _ := p.at(); now.Name != under.Name {
		t.Errorf("the cursor was on %s and is on %s", under.Name, now.Name)
	}
	if want := (page.Remember{Key: "sort", Value: "RECORDS down"}); len(remembered) != 1 || remembered[0] != want {
		t.Errorf("remembered %v", remembered)
	}
	if c, desc := parseSort("RECORDS down"); c != colRecords || !desc {
		t.Errorf("recalled as %v %v", c, desc)
	}
	uitest.Press(p, "S")
	if order() != "audit.log payments orders" {
		t.Errorf("turned: %q", order())
	}
}

func TestFilterThatTakesTheCursorsTopicAwayBeginsAtTheTop(t *testing.T) {
	p := open(t, uitest.Env(t, many(1000)), page.Open{})
	p.View(80, 24)
	uitest.Press(p, "G")
	p.SetFilter("05")
	if p.table.Cursor() != 0 || p.table.Len != 119 {
		t.Errorf("on row %d of %d", p.table.Cursor(), p.table.Len)
	}
	uitest.Press(p, "j", "j")
	was, _ := p.at()
	p.SetFilter("050")
	p.SetFilter("")
	if now, _ := p.at(); now.Name == was.Name {
		t.Error("the second filter should have left it out")
	}
	p.SetFilter("7")
	was, _ = p.at()
	p.SetFilter("")
	if now, _ := p.at(); now.Name != was.Name {
		t.Errorf("the cursor went from %s to %s", was.Name, now.Name)
	}
}

func TestKeysOpenAndSayWhyNot(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	full := open(t, uitest.Env(t, src), page.Open{Addr: model.TopicAddress("orders")})
	bare := open(t, uitest.Env(t, uitest.Plain(src)), page.Open{Addr: model.TopicAddress("orders")})
	for key, tc := range map[string]struct {
		kind page.Kind
		topic,
		off string
	}{
		"enter": {page.Partitions, "orders", ""},
		"t":     {page.Tail, "orders", "this source cannot be followed"},
		"p":     {page.Produce, "orders", "this source is read-only: nothing can be produced"},
		"g":     {page.Groups, "orders", ""},
		"r":     {page.Records, "orders", ""},
		"c":     {page.Create, "", "this source is read-only: topics can't be made or changed"},
		"D":     {page.Delete, "orders", "this source is read-only: topics can't be made or changed"},
		"A":     {page.Alter, "orders", "this source is read-only: topics can't be made or changed"},
		"v":     {page.Check, "orders", "this source shows no files to check"},
		"o":     {page.Overview, "", "this source is no log directory"},
	} {
		t.Run(key, func(t *testing.T) {
			want := page.Open{Kind: tc.kind, Addr: model.TopicAddress(tc.topic)}
			if got := uitest.Press(full, key); len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(want) {
				t.Errorf("opened %v", got)
			}
			got := uitest.Press(bare, key)
			if tc.off == "" {
				return
			}
			if n, ok := got[0].(page.Notice); !ok || n.Text != tc.off {
				t.Errorf("read-only says %v", got)
			}
		})
	}
}

func TestMarkedTopicsAreTailedTogether(t *testing.T) {
	p := open(t, uitest.Env(t, uitest.NewSource(uitest.Now())), page.Open{})
	got := uitest.Press(p, "space", "space", "t")
	if o := got[len(got)-1].(page.Open); o.Kind != page.Tail || fmt.Sprint(o.Args.Topics) != "[audit.log orders]" {
		t.Errorf("opened %v", o)
	}
	if !strings.Contains(p.Status(), "2 marked") {
		t.Error(p.Status())
	}
}

func TestStates(t *testing.T) {
	broken := errors.New("open /data: permission denied")
	src := uitest.NewSource(uitest.Now())
	src.Fail = func(method string) error {
		if method == "Topics" {
			return broken
		}
		return nil
	}
	p := open(t, uitest.Env(t, src), page.Open{})
	uitest.Contains(t, p.View(80, 10), "✗ open /data: permission denied", "ctrl-r")
	broken = nil
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 10), "orders")

	broken = errors.New("gone")
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 10), "orders") // a late error does not take the rows away
	if !strings.Contains(p.Status(), "gone") {
		t.Error(p.Status())
	}

	empty := open(t, uitest.Env(t, &uitest.Source{}), page.Open{})
	uitest.Contains(t, empty.View(80, 10), "there are no topics here", "c creates one", "strata demo")
	uitest.Fits(t, empty)
}

func TestWhatIsNotLookedAtYetIsUnknown(t *testing.T) {
	p := open(t, uitest.Env(t, &uitest.Source{TopicSet: []model.Topic{{Name: "new", Partitions: 3, Newest: model.NoTime}}}), page.Open{})
	line := strings.Join(strings.Fields(strings.Split(uitest.Plainly(p.View(120, 10)), "\n")[1]), " ")
	if line != "▌ new 3 ? 0 B – ? ? – –" {
		t.Errorf("%q", line)
	}
}

func TestGroupsThatCannotBeReadAreUnknown(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	src.Fail = func(method string) error {
		if method == "Groups" {
			return errors.New("no such partition")
		}
		return nil
	}
	p := open(t, uitest.Env(t, src), page.Open{})
	line := strings.Split(uitest.Plainly(p.View(120, 10)), "\n")[2]
	if !strings.HasSuffix(line, "?          ?") {
		t.Errorf("%q", line)
	}
	if !strings.Contains(p.Status(), "groups not known: 2 says why") {
		t.Error(p.Status())
	}
}

func TestLagIsTheWorstGroups(t *testing.T) {
	row := func(topic string, part int32, committed int64, lag model.Count, lost int64) model.GroupOffset {
		return model.GroupOffset{TopicPartition: model.TopicPartition{Topic: topic, Partition: part}, Committed: committed, Lag: lag, Lost: lost}
	}
	got := join([]model.Group{
		{ID: "a", Offsets: []model.GroupOffset{row("t", 0, 5, model.Exactly(3), 0), row("t", 1, 5, model.Exactly(4), 2), row("u", 0, model.Unknown, model.NoCount(), 0)}},
		{ID: "b", Offsets: []model.GroupOffset{row("t", 0, 5, model.About(6), 0)}},
		{ID: "c", Offsets: []model.GroupOffset{row("v", 0, 5, model.Count{}, 0)}},
	})
	if r := got["t"]; r.groups != 2 || r.lag != model.Exactly(7) || r.lost != 2 {
		t.Errorf("t: %+v", r)
	}
	if r, ok := got["u"]; ok {
		t.Errorf("u has no commit: %+v", r)
	}
	if r := got["v"]; r.groups != 1 || r.lag.Known() {
		t.Errorf("v: %+v", r)
	}
}

func TestLagIsNoMoreThanTheRecordsBesideIt(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	src.TopicSet = []model.Topic{{Name: "fast", Partitions: 1, Records: model.Exactly(1_000), Bytes: 1, Newest: model.NoTime}}
	src.GroupSet = []model.Group{{ID: "slow", Offsets: []model.GroupOffset{
		{TopicPartition: model.TopicPartition{Topic: "fast"}, Committed: 0, Lag: model.Exactly(1_400)}, // read a moment later
	}}}
	p := open(t, uitest.Env(t, src), page.Open{})
	if frame := uitest.Plainly(p.View(120, 10)); strings.Contains(frame, "1,400") {
		t.Errorf("more lag than records:\n%s", frame)
	}
}

func TestWhatWasThereIsNoRate(t *testing.T) {
	c := &uitest.Clock{Time: uitest.Now()}
	src := uitest.NewSource(c.Time)
	p := open(t, c.Env(t, src), page.Open{})
	src.TopicSet[2].Appended += 3_200 // the source catches up with what was written before it was opened
	c.Time = c.Time.Add(100 * time.Millisecond)
	uitest.Send(p, model.Change{Topics: true})
	for range 2 {
		c.Time = c.Time.Add(time.Second)
		src.TopicSet[2].Appended += 50
		uitest.Send(p, page.Tick{ID: tick}, model.Change{Topics: true})
	}
	frame := uitest.Plainly(p.View(120, 12))
	uitest.Contains(t, frame, "/s")
	if strings.Contains(frame, "k/s") {
		t.Errorf("records of before are a rate:\n%s", frame)
	}
}

func TestRate(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	for name, tc := range map[string]struct {
		add  func(m *meter)
		now  float64
		want float64
	}{
		"steady": {func(m *meter) {
			for i := range 100 {
				m.add(at(float64(i)/10), 0, int64(i*50))
			}
		}, 10, 500},
		"stopped": {func(m *meter) {
			m.add(at(0), 0, 0)
			m.add(at(1), 0, 900)
		}, 9, 0},
		"made anew with a lower counter": {func(m *meter) {
			m.add(at(0), 0, 5000)
			m.add(at(1), 0, 10)
		}, 2, 0},
		"covered for a minute": {func(m *meter) {
			m.add(at(0), 0, 0)
			m.add(at(60), time.Minute, 6000)
		}, 60, 100 * 4 / 3.},
	} {
		t.Run(name, func(t *testing.T) {
			var m meter
			if _, ok := m.rate(at(0)); ok {
				t.Error("known before anything was seen")
			}
			tc.add(&m)
			m.roll(at(tc.now))
			if got, ok := m.rate(at(tc.now)); !ok || got < tc.want*0.97 || got > tc.want*1.03 {
				t.Errorf("%v records/s, want %v", got, tc.want)
			}
		})
	}
}

func TestChangesAreNotStarved(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	p := New(uitest.Env(t, src), page.Open{}).(*topics)
	cmd := p.reload()
	for range 5 {
		if more := p.Update(model.Change{Topics: true}); more != nil {
			t.Fatal("a second request while one runs")
		}
	}
	uitest.Drive(p, cmd)
	n := 0
	for _, c := range src.Calls() {
		if c == "Topics" {
			n++
		}
	}
	if n != 2 || !p.loaded {
		t.Errorf("asked %d times, loaded %v", n, p.loaded)
	}
}

func TestRatesAfterTheListWasCovered(t *testing.T) {
	rate := func(shown, late bool) float64 {
		c := &uitest.Clock{Time: uitest.Now()}
		src := uitest.NewSource(c.Time)
		p := open(t, c.Env(t, src), page.Open{})
		c.Time = c.Time.Add(time.Minute)
		if shown {
			uitest.Send(p, page.Shown{})
		}
		if late {
			c.Time = c.Time.Add(5 * time.Second)
			uitest.Send(p, page.Tick{ID: tick})
		}
		src.TopicSet[2].Appended += 6500
		uitest.Send(p, model.Change{Topics: true})
		r, _ := p.meters[2].rate(c.Time)
		return r
	}
	for name, tc := range map[string]struct {
		shown, late bool
		low, high   float64
	}{
		"what came meanwhile is spread":             {true, false, 90, 160},
		"what comes later is of now":                {true, true, 1500, 6500},
		"what comes after a quiet minute is of now": {false, false, 1500, 6500},
	} {
		t.Run(name, func(t *testing.T) {
			if r := rate(tc.shown, tc.late); r < tc.low || r > tc.high {
				t.Errorf("%v records/s, want %v to %v", r, tc.low, tc.high)
			}
		})
	}
}

func TestHostileNames(t *testing.T) {
	src := &uitest.Source{TopicSet: []model.Topic{
		{Name: "a\x1b]0;x\x07", Newest: model.NoTime}, {Name: "\u202eevil", Newest: model.NoTime, Note: "\x1b[2J"}, {Name: strings.Repeat("注", 90), Newest: model.NoTime},
	}}
	p := open(t, uitest.Env(t, src), page.Open{})
	uitest.Fits(t, p)
	uitest.Contains(t, p.View(120, 10), `a␛]0;x␇`, `\u{202e}evil`)
}

func TestMouse(t *testing.T) {
	p := open(t, uitest.Env(t, uitest.NewSource(uitest.Now())), page.Open{})
	p.View(120, 10)
	p.Mouse(page.Mouse{Kind: page.Click, X: 5, Y: 2})
	if at, _ := p.at(); at.Name != "orders" {
		t.Errorf("clicked on %s", at.Name)
	}
	got := uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.DoubleClick, X: 5, Y: 3}))
	if o := got[0].(page.Open); o.Addr.Topic != "payments" || o.Kind != page.Partitions {
		t.Errorf("opened %v", o)
	}
	uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.Click, X: 30, Y: 0}))
	if p.sorted != colRecords {
		t.Errorf("sorted by %v", p.sorted)
	}
}

func many(n int) *uitest.Source {
	src := &uitest.Source{}
	for i := range n {
		src.TopicSet = append(src.TopicSet, model.Topic{Name: fmt.Sprintf("topic-%05d", i), Partitions: 3, Records: model.Exactly(int64(i * 7919 % 10007)), Bytes: int64(i) * 1000, Newest: uitest.Now().UnixMilli()})
	}
	return src
}

// TestNoteWithoutItsColumn is said on the status line, where a narrow screen has no room for the column.
func TestNoteWithoutItsColumn(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	src.TopicSet[2].Note = "6 partitions under-replicated"
	p := open(t, uitest.Env(t, src), page.Open{})
	p.table.Select("orders")
	for w, want := range map[int]bool{80: true, 200: false} {
		uitest.Fit(t, p.View(w, 20), w, 20)
		if got := strings.HasPrefix(p.Status(), "6 partitions under-replicated · "); got != want {
			t.Errorf("at %d cells: %q", w, p.Status())
		}
	}
	p.table.Select("payments")
	p.View(80, 20)
	if strings.Contains(p.Status(), "under-replicated") {
		t.Error(p.Status())
	}
}

func BenchmarkView(b *testing.B) {
	p := open(b, uitest.Env(b, many(10_000)), page.Open{})
	for b.Loop() {
		p.View(200, 60)
	}
}

func BenchmarkChangeOf10000(b *testing.B) {
	src := many(10_000)
	p := open(b, uitest.Env(b, src), page.Open{})
	uitest.Press(p, "s", "s")
	rows := append([]model.Topic(nil), src.TopicSet...)
	for b.Loop() {
		p.take(rows, nil)
	}
}

func BenchmarkSecondOf10000(b *testing.B) {
	p := open(b, uitest.Env(b, many(10_000)), page.Open{})
	uitest.Press(p, "s", "s")
	for b.Loop() {
		p.second()
	}
}
