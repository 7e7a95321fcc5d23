package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

func tp(topic string, n int32) model.TopicPartition {
	return model.TopicPartition{Topic: topic, Partition: n}
}

func hit(at model.TopicPartition, offset int64, value string) model.SearchEvent {
	r := &model.Record{TopicPartition: at, Offset: offset, Timestamp: uitest.Now().UnixMilli(), Key: []byte("user-1"), Value: []byte(value)}
	return model.SearchEvent{Hit: r, At: at, Offset: offset, BytesDone: 1 << 20, BytesAll: 4 << 20, Records: 1000}
}

// script is a source whose searches say what they are told to.
type script struct {
	*uitest.Source
	asked  []model.SearchQuery
	events []model.SearchEvent
	end    model.SearchEnd
	err    error
	hang   bool // wait until it is cancelled
}

func (s *script) Search(ctx context.Context, q model.SearchQuery, tell func(model.SearchEvent) bool) (model.SearchEnd, error) {
	s.asked = append(s.asked, q)
	for _, e := range s.events {
		if !tell(e) {
			return model.SearchEnd{Reason: "cancelled"}, nil
		}
	}
	if s.hang {
		<-ctx.Done()
		return model.SearchEnd{Reason: "cancelled"}, nil
	}
	return s.end, s.err
}

func newScript(events ...model.SearchEvent) *script {
	return &script{Source: uitest.NewSource(uitest.Now()), events: events, end: model.SearchEnd{Reason: "end of log", Whole: true}}
}

func open(t testing.TB, src model.Source, o page.Open) *search {
	p := New(uitest.Env(t, src), o).(*search)
	uitest.Drive(p, p.Init())
	return p
}

func in(topic, pattern string) page.Open {
	return page.Open{Addr: model.TopicAddress(topic), Args: page.Args{Pattern: pattern}}
}

func TestView(t *testing.T) {
	var events []model.SearchEvent
	for i := range int64(40) {
		events = append(events, hit(tp("orders", int32(i%3)), 4_000_000+i, fmt.Sprintf(`{"type":"refund","amount":%d.50}`, i)))
	}
	p := open(t, newScript(events...), in("orders", "refund"))
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
}

func TestWhereIsSearched(t *testing.T) {
	for name, tc := range map[string]struct {
		open page.Open
		want string
	}{
		"a topic":     {in("orders", "x"), "[orders-0 orders-1 orders-2]"},
		"a partition": {page.Open{Addr: model.PartitionAddress(tp("orders", 1)), Args: page.Args{Pattern: "x"}}, "[orders-1]"},
		"two topics":  {page.Open{Addr: model.TopicAddress(""), Args: page.Args{Topics: []string{"orders", "payments"}, Pattern: "x"}}, "[orders-0 orders-1 orders-2 payments-0 payments-1 payments-2]"},
		"everywhere":  {in("", "x"), "[audit.log-0 orders-0 orders-1 orders-2 payments-0 payments-1 payments-2]"},
	} {
		t.Run(name, func(t *testing.T) {
			src := newScript()
			open(t, src, tc.open)
			if got := fmt.Sprint(src.asked[0].Partitions); got != tc.want {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestHowItEnds(t *testing.T) {
	h := hit(tp("orders", 1), 812, "x")
	for name, tc := range map[string]struct {
		end  model.SearchEnd
		err  error
		says string
		more bool
	}{
		"whole":     {model.SearchEnd{Reason: "end of log", Whole: true}, nil, "✓ end of log", false},
		"limit":     {model.SearchEnd{Reason: "limit reached"}, nil, "limit reached: n goes on", true},
		"cancelled": {model.SearchEnd{Reason: "cancelled"}, nil, "cancelled: n goes on", true},
		"an error":  {model.SearchEnd{Reason: "error at orders-3@812: input/output error"}, errors.New("input/output error"), "✗ error at orders-3@812: input/output error: n goes on", true},
		"a refusal": {model.SearchEnd{}, errors.New("no such topic"), "✗ no such topic: n goes on", true},
		"damage":    {model.SearchEnd{Reason: "end of log", Whole: true, Faults: make([]model.Fault, 3)}, nil, "end of log · 3 damaged places passed over", false},
	} {
		t.Run(name, func(t *testing.T) {
			src := newScript(h)
			src.end, src.err = tc.end, tc.err
			p := open(t, src, in("orders", "x"))
			uitest.Contains(t, p.View(120, 20), tc.says, "1 found", "1,000 records looked at")
			if got := p.whyNoMore() == ""; got != tc.more {
				t.Errorf("goes on: %v", got)
			}
		})
	}
}

func TestNothingFound(t *testing.T) {
	p := open(t, newScript(), in("orders", "nowhere"))
	uitest.Contains(t, p.View(80, 20), "no record holds nowhere", "end of log")
	uitest.Fits(t, p)
}

func TestItGoesOnWhereItWas(t *testing.T) {
	src := newScript(hit(tp("orders", 0), 5, "x"), model.SearchEvent{At: tp("orders", 1), Offset: 700}, hit(tp("orders", 1), 812, "x"))
	src.end = model.SearchEnd{Reason: "limit reached"}
	p := open(t, src, in("orders", "x"))
	uitest.Press(p, "n")
	q := src.asked[1]
	if fmt.Sprint(q.Partitions, q.From) != "[orders-1 orders-2] [813 -2]" {
		t.Errorf("goes on with %v from %v", q.Partitions, q.From)
	}
	if len(p.hits) != 4 {
		t.Errorf("%d hits", len(p.hits))
	}

	src.asked = nil
	uitest.Press(p, "d")
	if q := src.asked[0]; !q.Backward || fmt.Sprint(q.From) != "[-1 -1 -1]" {
		t.Errorf("backwards from %v", q.From)
	}
	uitest.Press(p, "n")
	if q := src.asked[1]; fmt.Sprint(q.Partitions, q.From) != "[orders-1 orders-2] [812 -1]" {
		t.Errorf("backwards it goes on with %v from %v", q.Partitions, q.From)
	}
}

func TestProgressAndStop(t *testing.T) {
	src := newScript(hit(tp("orders", 0), 5, "first"))
	src.hang = true
	env := uitest.Env(t, src)
	now := uitest.Now()
	env.Now = func() time.Time { return now }
	p := New(env, in("orders", "x")).(*search)
	run := p.Update(p.list.Done([]model.TopicPartition{tp("orders", 0)}, nil))
	if run != nil {
		t.Fatal("it ran before it was listed")
	}
	p.start()
	run = p.Update(p.list.Done([]model.TopicPartition{tp("orders", 0)}, nil))
	now = now.Add(2 * time.Second)
	p.Update(run()) // the first hit, while the search goes on
	uitest.Contains(t, p.View(120, 20), "1 found", "first", "25 %", "1,000 records")
	if !p.Busy() {
		t.Error("it does not say that it runs")
	}
	uitest.Keys(t, p)
	uitest.Press(p, "esc")
	uitest.Contains(t, p.View(120, 20), "cancelled at orders-0@5: n goes on")
	if p.Busy() {
		t.Error("it still runs")
	}
	if got := uitest.Press(p, "esc"); len(got) != 1 || got[0] != (page.Back{}) {
		t.Errorf("the second esc: %v", got)
	}
}

func TestQuestions(t *testing.T) {
	src := newScript()
	p := New(uitest.Env(t, src), page.Open{Addr: model.TopicAddress("orders")}).(*search)
	got := uitest.Drive(p, p.Init())
	if a, ok := got[0].(page.Ask); !ok || a.ID != askPattern {
		t.Fatalf("%v", got)
	}
	uitest.Contains(t, p.View(80, 10), "type what to find")
	got = uitest.Send(p, page.Answered{ID: askPattern, Text: "/(/", OK: true})
	if a, ok := got[0].(page.Ask); !ok || !strings.Contains(a.Err, "missing closing") {
		t.Errorf("%v", got)
	}
	uitest.Send(p, page.Answered{ID: askPattern, Text: "/re.und/", OK: true})
	if q := src.asked[0]; q.Pattern != "re.und" || !q.Regexp || q.Fold || q.MaxHits != perRun {
		t.Errorf("%+v", q)
	}
	uitest.Send(p, page.Answered{ID: askPattern, Text: "refund", OK: true})
	if q := src.asked[1]; q.Pattern != "refund" || q.Regexp || !q.Fold {
		t.Errorf("%+v", q)
	}
	uitest.Press(p, "w", "w")
	if q := src.asked[3]; !q.Values || q.Keys || q.Headers {
		t.Errorf("%+v", q)
	}
	uitest.Press(p, "c")
	if q := src.asked[4]; !q.Committed {
		t.Errorf("%+v", q)
	}
	uitest.Send(p, page.Answered{ID: askSince, Text: "2026-11-30 09:00", OK: true})
	if q := src.asked[5]; q.Since != uitest.Now().Add(-12*time.Minute).UnixMilli() {
		t.Errorf("since %d", q.Since)
	}
	got = uitest.Send(p, page.Answered{ID: askSince, Text: "never", OK: true})
	if a, ok := got[0].(page.Ask); !ok || a.Err == "" {
		t.Errorf("%v", got)
	}

	left := New(uitest.Env(t, src), page.Open{Addr: model.TopicAddress("orders")}).(*search)
	if got := uitest.Send(left, page.Answered{ID: askPattern}); len(got) != 1 || got[0] != (page.Back{}) {
		t.Errorf("left with esc: %v", got)
	}
}

func TestHitsAreSmall(t *testing.T) {
	big := hit(tp("orders", 0), 5, strings.Repeat("x", 1<<20))
	big.Hit.Size = 1 << 20
	p := open(t, newScript(big), in("orders", "x"))
	if r := &p.hits[0]; cap(r.Value) > 2*valueLimit || r.Size != 1<<20 {
		t.Errorf("a hit holds %d bytes of %d", cap(r.Value), r.Size)
	}
	if len(big.Hit.Value) != 1<<20 {
		t.Error("the source's record was changed")
	}
}

func TestWhatWasFoundFarInIsShown(t *testing.T) {
	far := strings.Repeat("注", 5000) + "refund of 12" + strings.Repeat("y", 5000)
	for pattern, value := range map[string]string{"refund": far, "/ref.*12/": far, "near": "near" + far} {
		p := open(t, newScript(hit(tp("orders", 0), 5, value)), in("orders", pattern))
		want := "注refund of 12y"
		if pattern == "near" {
			want = "near注"
		}
		uitest.Contains(t, p.View(120, 10), want)
		if len(p.hits[0].Value) > valueLimit+8 {
			t.Errorf("%s: %d bytes are held", pattern, len(p.hits[0].Value))
		}
	}
}

func TestKeysOpen(t *testing.T) {
	p := open(t, newScript(hit(tp("orders", 2), 812, "x")), in("orders", "x"))
	for key, want := range map[string]string{"enter": "record orders/2@812", "r": "records orders/2@812"} {
		o, ok := uitest.Press(p, key)[0].(page.Open)
		if !ok || string(o.Kind)+" "+o.Addr.String() != want {
			t.Errorf("%s opened %v", key, o)
		}
	}
	p.View(80, 20)
	got := uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.DoubleClick, X: 3, Y: headLines}))
	if o, ok := got[0].(page.Open); !ok || o.Kind != page.Record {
		t.Errorf("%v", got)
	}
	if got := uitest.Press(p, "n"); fmt.Sprint(got) != fmt.Sprint([]page.Request{page.Notice{Text: "there is nothing left to look at", Level: page.Warn}}) {
		t.Errorf("%v", got)
	}
}

func TestSourcesThatCannot(t *testing.T) {
	p := open(t, uitest.Plain(newScript()), in("orders", "x"))
	uitest.Contains(t, p.View(80, 10), "this source cannot be searched")
	uitest.Keys(t, p)
	src := newScript()
	src.Fail = func(string) error { return errors.New("gone") }
	p = open(t, src, in("orders", "x"))
	uitest.Contains(t, p.View(80, 10), "✗ gone", "ctrl-r")
	uitest.Fits(t, p)
}

func TestHostileHits(t *testing.T) {
	p := open(t, newScript(hit(tp("\x1b[2J", 0), 5, "\x1b]52;c;x\a\u202e"), hit(tp("注", 0), 5, strings.Repeat("注", 1<<16))), in("", "\x1b]"))
	uitest.Fits(t, p)
	uitest.Contains(t, p.View(120, 20), "␛[2J", "␛]52;c;x␇", `\u{202e}`)
}

func BenchmarkView(b *testing.B) {
	var events []model.SearchEvent
	for i := range int64(1000) {
		events = append(events, hit(tp("orders", int32(i%3)), 4_000_000+i, strings.Repeat("refund ", 40)))
	}
	p := open(b, newScript(events...), in("orders", "refund"))
	for b.Loop() {
		p.View(200, 60)
	}
}
