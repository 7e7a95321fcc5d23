package produce

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

// sink is a source that keeps what was produced.
type sink struct {
	*uitest.Source
	mu       sync.Mutex
	requests []model.ProduceRequest
	at       []time.Time
	fail     error // after failAt records
	failAt   int
	n        int
	told     func(n int) // after each request
}

func newSink() *sink { return &sink{Source: uitest.NewSource(uitest.Now())} }

func (s *sink) Produce(_ context.Context, r model.ProduceRequest) ([]model.Produced, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.at = append(s.requests, r), append(s.at, time.Now())
	out := make([]model.Produced, 0, len(r.Records))
	var err error
	for _, rec := range r.Records {
		if s.fail != nil && s.n >= s.failAt {
			out, err = append(out, model.Produced{Offset: model.Unknown}), s.fail
			continue
		}
		at := model.Produced{Partition: max(0, rec.Partition), Offset: int64(4_812_339 + s.n), Timestamp: uitest.Now().UnixMilli()}
		if r.Acks == 0 {
			at.Offset = model.Unknown
		}
		out = append(out, at)
		s.n++
	}
	if s.told != nil {
		s.told(s.n)
	}
	return out, err
}

func (s *sink) records() (out []model.ProduceRecord) {
	for _, r := range s.requests {
		out = append(out, r.Records...)
	}
	return out
}

func open(t testing.TB, src model.Source, o page.Open) *produce {
	if o.Addr.Topic == "" {
		o.Addr = model.TopicAddress("orders")
	}
	p := New(uitest.Env(t, src), o).(*produce)
	uitest.Drive(p, p.Init())
	return p
}

// focus puts the focus on a field.
func focus(t testing.TB, p *produce, label string) {
	t.Helper()
	for i := range p.form.Fields {
		if p.form.Fields[i].Label == label && !p.form.Fields[i].Hidden {
			p.form.Focus, p.below = i, false
			return
		}
	}
	t.Fatalf("no field %q", label)
}

func set(t testing.TB, p *produce, label, text string) {
	t.Helper()
	focus(t, p, label)
	uitest.Press(p, "ctrl+u")
	uitest.Type(p, text)
}

func TestViewAndSend(t *testing.T) {
	src := newSink()
	p := open(t, src, page.Open{})
	uitest.Golden(t, "empty-80x24", p.View(80, 24))
	set(t, p, labelKey, "user-42")
	set(t, p, labelValue, `{"type":"paid"}`)
	set(t, p, labelHeader+"1", "trace=a1")
	set(t, p, labelHeader+"2", "trace=")
	set(t, p, labelHeader+"3", "nothing")
	focus(t, p, labelCodec)
	uitest.Press(p, "right", "right", "right", "right")
	uitest.Golden(t, "filled-80x24", p.View(80, 24))
	uitest.Fits(t, p)
	uitest.Keys(t, p)

	got := uitest.Press(p, "ctrl+s")
	if !strings.Contains(fmt.Sprint(got), "written to orders/0@4812339; enter opens it") {
		t.Error(got)
	}
	r, rec := src.requests[0], src.requests[0].Records[0]
	if r.Codec != "zstd" || r.Acks != -1 || string(rec.Key) != "user-42" || string(rec.Value) != `{"type":"paid"}` || rec.Partition != -1 {
		t.Errorf("%+v", r)
	}
	if len(rec.Headers) != 3 || rec.Headers[1].Value == nil || len(rec.Headers[1].Value) != 0 || rec.Headers[2].Value != nil || rec.Headers[2].Name != "nothing" {
		t.Errorf("headers %+v", rec.Headers)
	}
	uitest.Golden(t, "sent-80x24", p.View(80, 24))
	uitest.Golden(t, "sent-120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	o := uitest.Press(p, "enter")[0].(page.Open)
	if o.Kind != page.Record || o.Addr.String() != "orders/0@4812339" {
		t.Errorf("%+v", o)
	}
	uitest.Press(p, "esc")
	if p.below || !p.TakesText() {
		t.Error("esc does not lead back to the form")
	}
}

func TestNullAndEmptyDiffer(t *testing.T) {
	src := newSink()
	p := open(t, src, page.Open{})
	uitest.Contains(t, p.View(80, 24), "∅ null", `"" empty`)
	uitest.Press(p, "ctrl+s")
	focus(t, p, labelKey)
	uitest.Press(p, "ctrl+n")
	focus(t, p, labelValue)
	uitest.Press(p, "ctrl+n", "ctrl+s")
	first, second := src.records()[0], src.records()[1]
	if first.Key != nil || first.Value == nil || second.Key == nil || second.Value != nil {
		t.Errorf("%#v %#v", first, second)
	}
	focus(t, p, labelHeader+"1")
	if got := fmt.Sprint(uitest.Press(p, "ctrl+n")); !strings.Contains(got, "only key and value turn to null") {
		t.Error(got)
	}
}

func TestWhereTo(t *testing.T) {
	for name, tc := range map[string]struct {
		right       int
		partitioner string
		partition   int32
	}{
		"by key":      {0, "", -1},
		"round robin": {1, "roundrobin", -1},
		"random":      {2, "random", -1},
		"explicit":    {3, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			src := newSink()
			p := open(t, src, page.Open{})
			focus(t, p, labelTo)
			for range tc.right {
				uitest.Press(p, "right")
			}
			if tc.partition >= 0 {
				set(t, p, labelPartition, "7")
				if p.whyNot() == "" {
					t.Error("orders has no partition 7")
				}
				set(t, p, labelPartition, "2")
			}
			uitest.Press(p, "ctrl+s")
			if r := src.requests[0]; r.Partitioner != tc.partitioner || r.Records[0].Partition != tc.partition {
				t.Errorf("%+v", r)
			}
		})
	}
	p := open(t, newSink(), page.Open{Addr: model.PartitionAddress(model.TopicPartition{Topic: "orders", Partition: 2})})
	if j, err := p.makeJob(); err != nil || j.record.Partition != 2 {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestRepeat(t *testing.T) {
	src := newSink()
	p := open(t, src, page.Open{})
	set(t, p, labelValue, "{{n}} {{x}}")
	set(t, p, labelTimes, "1,234")
	got := uitest.Press(p, "ctrl+s")
	all := src.records()
	if len(all) != 1234 || string(all[0].Value) != "1 {{x}}" || string(all[1233].Value) != "1234 {{x}}" {
		t.Fatalf("%d records, the last %q", len(all), all[len(all)-1].Value)
	}
	if len(src.requests) != 3 {
		t.Errorf("%d requests", len(src.requests))
	}
	if !strings.Contains(fmt.Sprint(got), "wrote 1,234 records") || p.places[0].Offset != 4_812_339+1233 {
		t.Errorf("%v, newest %+v", got, p.places[0])
	}
	uitest.Fits(t, p)
}

func TestRateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSink()
		j := job{request: model.ProduceRequest{Topic: "orders", Acks: -1}, times: 301, rate: 100}
		start := time.Now()
		if err := j.run(t.Context(), t.Context(), src, func(sent) bool { return true }); err != nil {
			t.Fatal(err)
		}
		took := src.at[len(src.at)-1].Sub(start)
		if src.n != 301 || took < 2900*time.Millisecond || took > 3200*time.Millisecond {
			t.Errorf("%d records in %v", src.n, took)
		}
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSink()
		halt, stop := context.WithCancel(t.Context())
		src.told = func(n int) {
			if n >= 20 {
				stop()
			}
		}
		told := int64(0)
		j := job{request: model.ProduceRequest{Acks: -1}, times: 1_000_000, rate: 100}
		err := j.run(t.Context(), halt, src, func(s sent) bool {
			told += s.n
			return true
		})
		if !errors.Is(err, errStopped) || told != int64(src.n) || told < 20 || told > 30 {
			t.Errorf("%v after %d, told of %d", err, src.n, told)
		}
	})
}

func TestStopFromTheScreen(t *testing.T) {
	src := newSink()
	p := open(t, src, page.Open{})
	set(t, p, labelTimes, "100000000")
	if got := fmt.Sprint(uitest.Press(p, "ctrl+x")); !strings.Contains(got, "nothing is being sent") {
		t.Error(got)
	}
	src.told = func(n int) {
		if n > 2000 {
			p.halt()
		}
	}
	got := fmt.Sprint(uitest.Press(p, "ctrl+s"))
	if !strings.Contains(got, "stopped after "+records(int64(src.n))) || src.n < 2000 {
		t.Errorf("%s; %d were written", got, src.n)
	}
	uitest.Contains(t, p.View(80, 30), "stopped after", "of 100,000,000 records")
}

func TestFailureSaysHowFarItCame(t *testing.T) {
	src := newSink()
	src.fail, src.failAt = errors.New("disk is full\x1b[2J"), 700
	p := open(t, src, page.Open{})
	set(t, p, labelTimes, "5000")
	uitest.Press(p, "ctrl+s")
	if p.count != 700 || p.places[0].Offset != 4_812_339+699 {
		t.Errorf("%d counted, newest %+v", p.count, p.places[0])
	}
	uitest.Contains(t, p.View(80, 30), "✗ after 700 records: disk is full␛[2J")
	uitest.Fits(t, p)
}

func TestFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines.txt")
	if err := os.WriteFile(file, []byte("a\tone\nno separator\n\t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	src := newSink()
	p := open(t, src, page.Open{})
	set(t, p, labelFile, file)
	if !p.form.Field(labelValue).Hidden || p.form.Field(labelSep).Hidden {
		t.Error("the value is asked for beside a file, or the separator is not")
	}
	set(t, p, labelSep, `\t`)
	uitest.Fits(t, p)
	uitest.Press(p, "ctrl+s")
	got := ""
	for _, r := range src.records() {
		got += fmt.Sprintf("%q=%q ", r.Key, r.Value)
	}
	if got != `"a"="one" ""="no separator" ""="" ` {
		t.Error(got)
	}
	set(t, p, labelFile, file+".gone")
	uitest.Press(p, "ctrl+s")
	uitest.Contains(t, p.View(120, 30), "no such file")
	set(t, p, labelFile, t.TempDir())
	uitest.Press(p, "ctrl+s")
	uitest.Contains(t, p.View(120, 30), "is a directory")
}

func TestARecordIsSentAgainToTheByte(t *testing.T) {
	value := []byte("\x00\xff{\n\"a\": 1}")
	rec := &model.Record{Key: []byte("k\xfe"), Value: value, Headers: []model.Header{{Name: "a", Value: nil}, {Name: "a", Value: []byte("x=y")}}}
	src := newSink()
	p := open(t, src, page.Open{Args: page.Args{Record: rec}})
	uitest.Golden(t, "copy-80x24", p.View(80, 24))
	uitest.Press(p, "ctrl+s")
	got := src.records()[0]
	if string(got.Value) != string(value) || string(got.Key) != "k\xfe" || fmt.Sprint(got.Headers) != fmt.Sprint(rec.Headers) || got.Headers[0].Value != nil {
		t.Errorf("%q %q %v", got.Key, got.Value, got.Headers)
	}
	uitest.Press(p, "esc")
	set(t, p, labelValue, "typed")
	if string(p.bytesOf(labelValue)) != "typed" {
		t.Errorf("typing does not replace what was held: %q", p.bytesOf(labelValue))
	}
}

func TestEditor(t *testing.T) {
	p := open(t, newSink(), page.Open{})
	set(t, p, labelValue, `{"a":1}`)
	e := uitest.Press(p, "ctrl+o")[0].(page.Edit)
	if e.Text != `{"a":1}` || e.Ext != ".json" {
		t.Errorf("%+v", e)
	}
	uitest.Send(p, page.Edited{ID: e.ID, Text: "{\n  \"a\": 2\n}\n"})
	if got := string(p.bytesOf(labelValue)); got != "{\n  \"a\": 2\n}" {
		t.Errorf("%q", got)
	}
	uitest.Contains(t, p.View(80, 24), "12 B, 3 lines")
	if got := fmt.Sprint(uitest.Send(p, page.Edited{ID: e.ID, Err: errors.New("vi: exit status 1")})); !strings.Contains(got, "exit status 1") {
		t.Error(got)
	}
}

func TestTheFormIsRemembered(t *testing.T) {
	src := newSink()
	p := open(t, src, page.Open{})
	set(t, p, labelValue, "again")
	set(t, p, labelHeader+"1", "h=1")
	set(t, p, labelHeader+"2", "n")
	focus(t, p, labelCodec)
	uitest.Press(p, "right")
	var kept page.Remember
	for _, r := range uitest.Press(p, "ctrl+s") {
		if m, ok := r.(page.Remember); ok {
			kept = m
		}
	}
	env := uitest.Env(t, src)
	env.Recall = func(key string) string { return map[string]string{kept.Key: kept.Value}[key] }
	q := New(env, page.Open{Addr: model.TopicAddress("payments")}).(*produce)
	j, err := q.makeJob()
	if err != nil || j.record.Key != nil || string(j.record.Value) != "again" || j.request.Codec != "gzip" || len(j.record.Headers) != 2 || j.times != 1 {
		t.Errorf("%+v, %v", j, err)
	}
	env.Recall = func(string) string { return "{nonsense" }
	uitest.Fits(t, New(env, page.Open{Addr: model.TopicAddress("payments")}))
}

func TestWithoutAcksNoPlaceIsKnown(t *testing.T) {
	src := newSink()
	p := open(t, src, page.Open{})
	focus(t, p, labelAcks)
	uitest.Press(p, "right", "right", "ctrl+s")
	if src.requests[0].Acks != 0 || p.count != 1 {
		t.Errorf("acks %d, %d counted", src.requests[0].Acks, p.count)
	}
	uitest.Contains(t, p.View(80, 30), "not told")
	if got := fmt.Sprint(uitest.Press(p, "enter")); !strings.Contains(got, "with acks 0 nobody says where it went") {
		t.Error(got)
	}
}

func TestStates(t *testing.T) {
	bare := open(t, uitest.Plain(newSink().Source), page.Open{})
	uitest.Contains(t, bare.View(80, 10), "read-only")
	uitest.Keys(t, bare)
	none := New(uitest.Env(t, newSink()), page.Open{Addr: model.TopicAddress("")})
	uitest.Drive(none, none.Init())
	uitest.Contains(t, none.View(80, 10), "p on a topic")
	uitest.Keys(t, none)

	p := open(t, newSink(), page.Open{})
	for label, text := range map[string]string{labelTimes: "0", labelRate: "fast", labelHeader + "1": "=x"} {
		set(t, p, label, text)
		if p.whyNot() == "" {
			t.Errorf("%s %q would be sent", label, text)
		}
		set(t, p, label, "1")
	}
}

func TestMouse(t *testing.T) {
	p := open(t, newSink(), page.Open{})
	set(t, p, labelTimes, "3")
	uitest.Press(p, "ctrl+s", "esc")
	p.View(80, 30)
	got := uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.DoubleClick, X: 4, Y: p.tabY + 2}))
	if len(got) != 1 || got[0].(page.Open).Addr.Offset != 4_812_340 {
		t.Errorf("%v", got)
	}
	p.Mouse(page.Mouse{Kind: page.Click, X: 4, Y: 0})
	if p.below || p.form.Focus != 0 {
		t.Error("a click does not lead to the field")
	}
}

func BenchmarkView(b *testing.B) {
	src := newSink()
	p := open(b, src, page.Open{})
	p.setBytes(labelValue, []byte(strings.Repeat("x\n", 1<<20)))
	p.form.Field(labelTimes).Input.SetValue("2000")
	uitest.Press(p, "ctrl+s")
	for b.Loop() {
		p.View(200, 60)
	}
}
