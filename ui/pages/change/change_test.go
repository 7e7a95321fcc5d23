package change

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

func open(t testing.TB, build page.Constructor, src model.Source, a model.Address) page.Page {
	p := build(uitest.Env(t, src), page.Open{Addr: a})
	uitest.Drive(p, p.Init())
	return p
}

// source returns a source with configs and a preview in which one segment goes now and one later.
func source() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	src.Configs = []model.ConfigEntry{
		{Name: "cleanup.policy", Value: "delete", Default: "delete", Source: "default", Doc: "what becomes of old segments: delete, compact, or both"},
		{Name: "max.message.bytes", Value: "1048588", Default: "1048588", Source: "default", Doc: "the largest batch that is taken"},
		{Name: "retention.bytes", Value: "10737418240", Default: "-1", Source: "topic", Doc: "how large a partition may grow before its oldest segments are deleted"},
		{Name: "retention.ms", Value: "604800000", Default: "604800000", Source: "broker", Doc: "how old a segment may be before it is deleted"},
		{Name: "evil", Value: "\x1b[2J\u202e", Default: "", Source: "file\x1b", Doc: "\x1b]0;x\a"},
	}
	seg := src.Segs[model.TopicPartition{Topic: "orders", Partition: 1}]
	src.Preview = model.Preview{Topic: "orders", Now: seg[:1], Later: seg[1:2], Records: model.Exactly(583_890), Bytes: 267_386_880, Notes: []string{"retention.ms goes from 7 days to 1 hour"}}
	return src
}

func TestCreate(t *testing.T) {
	src := source()
	p := open(t, NewCreate, src, model.TopicAddress("")).(*create)
	uitest.Golden(t, "create-empty-80x24", p.View(80, 24))
	uitest.Type(p, "orders")
	uitest.Contains(t, p.View(80, 24), "it exists already")
	uitest.Type(p, ".v2")
	uitest.Press(p, "tab", "backspace")
	uitest.Type(p, "6")
	uitest.Press(p, "tab", "right", "right", "tab")
	uitest.Type(p, "12h")
	uitest.Press(p, "tab", "tab")
	uitest.Type(p, "1MiB")
	uitest.Golden(t, "create-80x24", p.View(80, 24))
	uitest.Golden(t, "create-120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	got := uitest.Press(p, "ctrl+s")
	if !strings.Contains(fmt.Sprint(src.Calls()), "CreateTopic orders.v2 6") {
		t.Errorf("%v", src.Calls())
	}
	if o := got[len(got)-1].(page.Open); o.Kind != page.Partitions || o.Addr.Topic != "orders.v2" || !o.Replace {
		t.Errorf("%v", got)
	}
}

func TestWhatIsTypedIsCheckedAtOnce(t *testing.T) {
	for name, tc := range map[string]struct{ label, text, want string }{
		"letters":           {labelName, "a/b", "letters, digits, dot, underscore and dash only"},
		"dots":              {labelName, "..", "dots alone are no name"},
		"too long":          {labelName, strings.Repeat("x", 250), "249 at the most"},
		"taken":             {labelName, "payments", "exists already"},
		"taken but for dot": {labelName, "audit_log", "in dot and underscore only"},
		"hostile":           {labelName, "\x1b[2J", "letters, digits"},
		"no partitions":     {labelPartitions, "0", "1 or more"},
		"no number":         {"retention.ms", "soon", "want a number"},
		"pairs":             {labelMore, "flush.messages", "want KEY=VALUE"},
		"good":              {labelMore, "flush.messages=1 min.compaction.lag.ms=1h", ""},
		"good size":         {"segment.bytes", "1.5GiB", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, NewCreate, source(), model.TopicAddress("")).(*create)
			f := p.form.Field(tc.label)
			f.Input.SetValue(tc.text)
			p.checkFields()
			if tc.want == "" && f.Err != "" || !strings.Contains(f.Err, tc.want) {
				t.Errorf("%q, want %q", f.Err, tc.want)
			}
			uitest.Fits(t, p)
		})
	}
}

func TestSpec(t *testing.T) {
	p := open(t, NewCreate, source(), model.TopicAddress("fresh")).(*create)
	p.form.Field("retention.ms").Input.SetValue("7d")
	p.form.Field("segment.bytes").Input.SetValue("512 MiB")
	p.form.Field("cleanup.policy").Choice.Choose("compact,delete")
	p.form.Field(labelMore).Input.SetValue("flush.ms=90s x=y")
	s, err := p.spec()
	want := "{fresh 1 [{cleanup.policy compact,delete false} {retention.ms 604800000 false} {segment.bytes 536870912 false} {flush.ms 90000 false} {x y false}]}"
	if got := fmt.Sprint(s); err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
}

func TestCreateSaysWhatTheSourceSays(t *testing.T) {
	src := source()
	src.Fail = func(m string) error {
		if m == "CreateTopic" {
			return fmt.Errorf("%w config \"x\x1b\": no such config", model.ErrInvalid)
		}
		return nil
	}
	p := open(t, NewCreate, src, model.TopicAddress("fresh"))
	uitest.Press(p, "ctrl+s")
	uitest.Contains(t, p.View(80, 24), `✗ invalid config "x␛": no such config`)
	bare := open(t, NewCreate, uitest.Plain(src), model.TopicAddress(""))
	uitest.Contains(t, bare.View(80, 24), "read-only")
	uitest.Keys(t, bare)
}

func TestAlterShowsWhatGoesFirst(t *testing.T) {
	src := source()
	p := open(t, NewAlter, src, model.TopicAddress("orders")).(*alter)
	p.table.Select("retention.ms")
	uitest.Golden(t, "alter-80x24", p.View(80, 24))
	uitest.Golden(t, "alter-120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)

	q := uitest.Press(p, "enter")[0].(page.Ask)
	if q.Initial != "604800000" || !strings.Contains(q.Hint, "7 d") {
		t.Errorf("%+v", q)
	}
	uitest.Send(p, page.Answered{ID: q.ID, Text: "1h", OK: true})
	if strings.Contains(fmt.Sprint(src.Calls()), "AlterTopic orders") {
		t.Fatal("altered without a look")
	}
	uitest.Golden(t, "alter-effect-80x24", p.View(80, 24))
	uitest.Golden(t, "alter-effect-120x20", p.View(120, 20))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	sure := uitest.Press(p, "A")[0].(page.Confirm)
	if sure.Typed != "orders" || !strings.Contains(sure.Title, "604800000 (7 d) → 3600000 (1 h)") {
		t.Errorf("%+v", sure)
	}
	uitest.Send(p, page.Confirmed{ID: sure.ID, OK: true})
	if !strings.Contains(fmt.Sprint(src.Calls()), "AlterTopic orders [{retention.ms 3600000 false}]") {
		t.Errorf("%v", src.Calls())
	}
	if p.ready != nil {
		t.Error("the change still stands on screen")
	}
}

func TestAlterOfTheHarmlessAsksOnce(t *testing.T) {
	src := source()
	src.Preview = model.Preview{}
	p := open(t, NewAlter, src, model.TopicAddress("orders")).(*alter)
	p.table.Select("max.message.bytes")
	q := uitest.Press(p, "e")[0].(page.Ask)
	sure := uitest.Send(p, page.Answered{ID: q.ID, Text: "2MiB", OK: true})[0].(page.Confirm)
	if sure.Typed != "" {
		t.Errorf("%+v", sure)
	}
	uitest.Send(p, page.Confirmed{ID: sure.ID})
	if p.ready != nil || strings.Contains(fmt.Sprint(src.Calls()), "AlterTopic orders") {
		t.Error("a no changed something")
	}
	p.table.Select("retention.bytes")
	uitest.Press(p, "x")
	if p.ready == nil || !p.ready.change.Unset {
		t.Error("x does not lead back to the default")
	}
	uitest.Press(p, "esc")
	p.table.Select("max.message.bytes")
	if got := fmt.Sprint(uitest.Press(p, "x")); !strings.Contains(got, "does not set it itself") {
		t.Error(got)
	}
}

func TestAValueThatWillNotDoIsAskedForAgain(t *testing.T) {
	src := source()
	src.Fail = func(m string) error {
		if m == "PreviewAlter" {
			return errors.New("invalid value")
		}
		return nil
	}
	p := open(t, NewAlter, src, model.TopicAddress("orders"))
	q := uitest.Press(p, "enter")[0].(page.Ask)
	again := uitest.Send(p, page.Answered{ID: q.ID, Text: "shred", OK: true})[0].(page.Ask)
	if again.Err != "invalid value" || again.Initial != "shred" {
		t.Errorf("%+v", again)
	}
}

func TestGrow(t *testing.T) {
	src := source()
	p := open(t, NewAlter, src, model.TopicAddress("orders"))
	q := uitest.Press(p, "P")[0].(page.Ask)
	if bad := uitest.Send(p, page.Answered{ID: q.ID, Text: "3", OK: true})[0].(page.Ask); !strings.Contains(bad.Err, "above 3") {
		t.Errorf("%+v", bad)
	}
	sure := uitest.Send(p, page.Answered{ID: q.ID, Text: "6", OK: true})[0].(page.Confirm)
	if !strings.Contains(strings.Join(sure.Body, " "), "other partitions than before") {
		t.Errorf("%+v", sure)
	}
	got := uitest.Send(p, page.Confirmed{ID: sure.ID, OK: true})
	if !strings.Contains(fmt.Sprint(src.Calls()), "GrowTopic orders 6") || !strings.Contains(fmt.Sprint(got), "orders has 6 partitions now") {
		t.Errorf("%v %v", src.Calls(), got)
	}
}

// configsOnly is a source that says configs and changes nothing, as a log directory.
type configsOnly struct {
	model.Source
	model.ConfigReader
}

func TestConfigsOfAReadOnlySource(t *testing.T) {
	src := source()
	p := open(t, NewAlter, configsOnly{uitest.Plain(src), src}, model.TopicAddress("orders"))
	uitest.Contains(t, p.View(80, 24), "retention.ms", `␛[2J\u{202e}`)
	for _, key := range []string{"enter", "x", "P", "D"} {
		if got := fmt.Sprint(uitest.Press(p, key)); !strings.Contains(got, "read-only") {
			t.Errorf("%s: %s", key, got)
		}
	}
	uitest.Contains(t, open(t, NewAlter, uitest.Plain(src), model.TopicAddress("orders")).View(80, 10), "does not say the configs")
}

func TestDelete(t *testing.T) {
	src := source()
	p := open(t, NewDelete, src, model.TopicAddress("orders"))
	uitest.Golden(t, "delete-80x24", p.View(80, 24))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	q := uitest.Press(p, "D")[0].(page.Confirm)
	if q.Typed != "orders" || !strings.Contains(strings.Join(q.Body, "|"), "2 groups read it") {
		t.Errorf("%+v", q)
	}
	got := uitest.Send(p, page.Confirmed{ID: q.ID, OK: true}, page.Tick{ID: leave})
	if !strings.Contains(fmt.Sprint(src.Calls()), "DeleteTopic orders") || got[len(got)-1] != page.Request(page.Back{}) {
		t.Errorf("%v %v", src.Calls(), got)
	}
	uitest.Contains(t, open(t, NewDelete, src, model.TopicAddress("audit.log")).View(80, 24), "no group has committed")
	uitest.Contains(t, open(t, NewDelete, src, model.TopicAddress("oders")).View(80, 24), "did you mean orders?")
	bare := open(t, NewDelete, uitest.Plain(src), model.TopicAddress("orders"))
	if got := fmt.Sprint(uitest.Press(bare, "D")); !strings.Contains(got, "read-only") {
		t.Error(got)
	}
}

func TestTruncate(t *testing.T) {
	src := source()
	src.Preview.Notes = []string{"log start goes from 3904112 to 4488002"}
	a := model.PartitionAddress(model.TopicPartition{Topic: "orders", Partition: 1})
	p := open(t, NewTruncate, src, a).(*truncate)
	uitest.Golden(t, "truncate-empty-80x24", p.View(80, 24))
	var tick page.TickIn
	for _, r := range uitest.Type(p, "4,488,002") {
		tick = r.(page.TickIn)
	}
	uitest.Contains(t, p.View(80, 24), "looking")
	if p.whyNot() == "" {
		t.Error("it can be deleted before it was looked at")
	}
	uitest.Send(p, page.Tick{ID: settle + "1"})
	if strings.Contains(fmt.Sprint(src.Calls()), "PreviewDelete") {
		t.Error("looked before the last key")
	}
	uitest.Send(p, page.Tick{ID: tick.ID})
	uitest.Golden(t, "truncate-80x24", p.View(80, 24))
	uitest.Golden(t, "truncate-120x20", p.View(120, 20))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	q := uitest.Press(p, "ctrl+s")[0].(page.Confirm)
	if q.Typed != "orders/1" || !strings.Contains(q.Title, "before offset 4,488,002") {
		t.Errorf("%+v", q)
	}
	got := uitest.Send(p, page.Confirmed{ID: q.ID, OK: true})
	if !strings.Contains(fmt.Sprint(src.Calls()), "DeleteRecords orders-1 4488002") || !strings.Contains(fmt.Sprint(got), "orders-1 begins at 4,488,002 now") {
		t.Errorf("%v %v", src.Calls(), got)
	}
	uitest.Press(p, "enter")
	uitest.Keys(t, p)
}

func TestTruncateStates(t *testing.T) {
	src := source()
	a := model.PartitionAddress(model.TopicPartition{Topic: "orders", Partition: 1})
	a.Offset = 3_904_112
	p := open(t, NewTruncate, src, a).(*truncate)
	if why := p.whyNot(); !strings.Contains(why, "nothing goes: the log begins at 3,904,112 already") {
		t.Error(why)
	}
	p.input.SetValue("x")
	uitest.Drive(p, p.look())
	uitest.Contains(t, p.View(80, 24), "✗ want an offset")
	a.Partition = 9
	uitest.Contains(t, open(t, NewTruncate, src, a).View(80, 24), "no such partition: orders-9")
	uitest.Contains(t, open(t, NewTruncate, uitest.Plain(src), a).View(80, 24), "read-only")
}

func TestChangesAreReadOnceASecond(t *testing.T) {
	src := source()
	now := uitest.Now()
	env := uitest.Env(t, src)
	env.Now = func() time.Time { return now }
	p := NewDelete(env, page.Open{Addr: model.TopicAddress("orders")})
	uitest.Drive(p, p.Init())
	reads := func() int { return strings.Count(fmt.Sprint(src.Calls()), "Topics") }
	timers := 0
	for range 30 {
		now = now.Add(50 * time.Millisecond)
		timers += len(uitest.Send(p, model.Change{All: true}))
	}
	if reads() != 2 || timers != 1 {
		t.Errorf("read %d times, %d timers", reads(), timers)
	}
	uitest.Send(p, page.Tick{ID: again})
	if reads() != 3 {
		t.Errorf("read %d times after the timer", reads())
	}
}

func TestPlainValue(t *testing.T) {
	for in, want := range map[string]string{
		"retention.ms=7d": "604800000", "retention.ms=1h30m": "5400000", "retention.ms=-1": "-1", "retention.ms=5": "5",
		"segment.bytes=1GiB": "1073741824", "segment.bytes=1.5k": "1536", "segment.bytes=12": "12", "cleanup.policy=7d": "7d",
		"segment.bytes=99999999999T": "99999999999T",
	} {
		name, text, _ := strings.Cut(in, "=")
		if got := plainValue(name, text); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

func BenchmarkAlterView(b *testing.B) {
	src := source()
	for i := range 200 {
		e := src.Configs[2]
		e.Name = fmt.Sprintf("config.%d.bytes", i)
		src.Configs = append(src.Configs, e)
	}
	p := open(b, NewAlter, src, model.TopicAddress("orders"))
	for b.Loop() {
		p.View(200, 60)
	}
}
