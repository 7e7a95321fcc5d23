package tail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

var orders2 = model.TopicPartition{Topic: "orders", Partition: 2}

// stream is a source whose tail the test feeds.
type stream struct {
	*uitest.Source
	mu     sync.Mutex
	recs   []model.Record
	first  int64
	stats  model.TailStats
	keep   int
	asked  []model.TailQuery
	closed int
	fail   error
	end    error // what Wait returns
}

func newStream() *stream { return &stream{Source: uitest.NewSource(uitest.Now()), keep: keep} }

func (s *stream) Tail(_ context.Context, q model.TailQuery) (model.Tail, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, q)
	return s, s.fail
}

func (s *stream) Window(end int64, n int) ([]model.Record, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.first + int64(len(s.recs))
	if end < 0 || end > last {
		end = last
	}
	from := max(s.first, end-int64(n))
	if from >= end {
		return nil, end
	}
	return append([]model.Record(nil), s.recs[from-s.first:end-s.first]...), from
}

func (s *stream) Stats() model.TailStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.First, st.Matched = s.first, s.first+int64(len(s.recs))
	return st
}

func (s *stream) Wait(context.Context, int64) error { return s.end }
func (s *stream) Release(int64)                     {}

func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
	return nil
}

// feed makes n records arrive.
func (s *stream) feed(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		seq := s.first + int64(len(s.recs))
		s.recs = append(s.recs, model.Record{
			TopicPartition: model.TopicPartition{Topic: "orders", Partition: int32(seq % 3)}, Offset: 4_000_000 + seq, Timestamp: uitest.Now().UnixMilli() + seq,
			Key: fmt.Appendf(nil, "user-%d", seq%50), Value: fmt.Appendf(nil, `{"type":"paid","amount":%d.50}`, seq), Size: 60,
		})
	}
	s.stats.Seen += int64(n)
	if over := len(s.recs) - s.keep; over > 0 {
		s.recs, s.first = s.recs[over:], s.first+int64(over)
	}
}

func (s *stream) drop(n int64) {
	s.mu.Lock()
	s.stats.Dropped += n
	s.mu.Unlock()
}

// rig is a page over a stream and a clock that the test moves.
type rig struct {
	*tail
	src *stream
	now time.Time
}

func open(t testing.TB, src *stream, o page.Open) *rig {
	r := &rig{src: src, now: uitest.Now()}
	env := uitest.Env(t, src)
	env.Now = func() time.Time { return r.now }
	env.Clock.Now = env.Now
	r.tail = New(env, o).(*tail)
	uitest.Drive(r.tail, r.Init())
	r.View(100, 20)
	return r
}

// frame lets the page look once, as the waiting command and the frame's timer would.
func (r *rig) frame() []page.Request {
	reqs := uitest.Drive(r.tail, r.await())
	var out []page.Request
	for _, q := range reqs {
		if l, ok := q.(page.Later); ok {
			out = append(out, uitest.Drive(r.tail, l.Cmd)...)
		}
	}
	r.View(100, 20)
	return out
}

func topic(name string) page.Open { return page.Open{Addr: model.TopicAddress(name)} }

func TestView(t *testing.T) {
	src := newStream()
	src.feed(30)
	r := open(t, src, topic("orders"))
	for i := range 12 {
		r.now = r.now.Add(time.Second)
		src.feed(100 + 400*(i%4))
		if i == 10 {
			src.drop(12)
		}
		r.frame()
		uitest.Send(r.tail, page.Tick{ID: tickSecond})
	}
	uitest.Golden(t, "80x24", r.View(80, 24))
	uitest.Golden(t, "120x40", r.View(120, 40))
	uitest.Fits(t, r.tail)
	uitest.Keys(t, r.tail)
	uitest.Press(r.tail, "k", "k", "k")
	src.feed(12_204)
	r.frame()
	uitest.Golden(t, "paused-80x24", r.View(80, 24))
	uitest.Fits(t, r.tail)
	uitest.Keys(t, r.tail)
}

func TestTheNewestIsAtTheBottom(t *testing.T) {
	src := newStream()
	r := open(t, src, topic("orders"))
	uitest.Contains(t, r.View(80, 20), "nothing yet: the next record of orders appears here")
	for range 5 {
		src.feed(1000)
		r.frame()
		if got := r.at(); got == nil || got.Offset != 4_000_000+src.Stats().Matched-1 {
			t.Fatalf("the cursor is at %v", got)
		}
		lines := strings.Split(strings.TrimRight(uitest.Plainly(r.View(100, 20)), "\n"), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, fmt.Sprintf("%d.50", src.Stats().Matched-1)) {
			t.Fatalf("the last line is %q", last)
		}
	}
}

func TestScrollingUpPausesAndCounts(t *testing.T) {
	src := newStream()
	src.feed(500)
	r := open(t, src, topic("orders"))
	r.frame()
	before := r.at().Offset
	src.feed(7) // these come between the last frame and the key
	uitest.Press(r.tail, "k")
	was := r.at().Offset
	if was != before-1 {
		t.Errorf("k went from %d to %d", before, was)
	}
	frame := uitest.Plainly(r.View(100, 20))
	if !strings.Contains(frame, "paused (G goes on)") {
		t.Error(frame)
	}
	src.feed(12_204)
	r.frame()
	if r.at().Offset != was {
		t.Errorf("the cursor went from %d to %d", was, r.at().Offset)
	}
	now := uitest.Plainly(r.View(100, 20))
	uitest.Contains(t, now, "12,211 new (G goes on)")
	if a, b := strings.SplitN(frame, "\n", 4)[3], strings.SplitN(now, "\n", 4)[3]; a != b {
		t.Errorf("the lines have moved:\n%s\n%s", a, b)
	}
	if len(r.lines) > keep {
		t.Errorf("%d lines are held", len(r.lines))
	}
	uitest.Press(r.tail, "G")
	if r.paused || r.at().Offset != 4_000_000+12_710 {
		t.Errorf("G went to %v", r.at().Offset)
	}
	uitest.Press(r.tail, "space")
	if !r.paused {
		t.Error("space does not pause")
	}
	uitest.Press(r.tail, "space")
	if r.paused {
		t.Error("space does not go on")
	}
}

func TestReadingOnWhilePausedNeverHidesAGap(t *testing.T) {
	src := newStream()
	src.keep = 1000
	src.feed(100)
	r := open(t, src, topic("orders"))
	r.frame()
	uitest.Press(r.tail, "space")
	src.feed(1700) // 700 of these have gone again
	r.frame()
	uitest.Press(r.tail, "j")
	uitest.Contains(t, r.View(100, 20), "user-49")
	seen, gaps := map[int64]bool{}, int64(0)
	for range 3000 {
		if l := &r.lines[r.list.Cursor()]; l.gap > 0 {
			gaps += l.gap
		} else {
			seen[l.rec.Offset] = true
		}
		before := r.list.Cursor()
		uitest.Press(r.tail, "j")
		if r.list.Cursor() == before {
			break
		}
	}
	if n := int64(len(seen)) + gaps; n != 1800-99 { // the cursor began on the last of the hundred
		t.Errorf("%d seen and %d said to be missing: %d in all", len(seen), gaps, n)
	}
	if gaps != 700 {
		t.Errorf("%d said to be missing", gaps)
	}
}

func TestDropsAreSaid(t *testing.T) {
	src := newStream()
	src.feed(5)
	r := open(t, src, topic("orders"))
	src.drop(12)
	src.feed(3)
	r.frame()
	frame := r.View(120, 20)
	uitest.Contains(t, frame, "12 not shown", "12 records not shown: they came faster than they could be read")
	lines := strings.Split(uitest.Plainly(frame), "\n")
	at := -1
	for i, l := range lines {
		if strings.Contains(l, "── 12 records not shown") {
			at = i
		}
	}
	if !strings.Contains(lines[at-1], `"amount":4.50`) || !strings.Contains(lines[at+1], `"amount":5.50`) {
		t.Errorf("the gap stands between %q and %q", lines[at-1], lines[at+1])
	}
}

func TestFilterWhileItRuns(t *testing.T) {
	src := newStream()
	src.feed(50)
	r := open(t, src, topic("orders"))
	if q := src.asked[0]; q.Pattern != "" || q.Backlog != backlog || q.Topics[0] != "orders" {
		t.Errorf("%+v", q)
	}
	for _, text := range []string{"p", "pa", "paid"} {
		uitest.Drive(r.tail, r.SetFilter(text))
	}
	uitest.Send(r.tail, page.Tick{ID: tickFilter})
	if len(src.asked) != 2 {
		t.Fatalf("a tail was begun %d times", len(src.asked)-1)
	}
	if q := src.asked[1]; q.Pattern != "paid" || !q.Fold || q.Regexp {
		t.Errorf("%+v", q)
	}
	if src.closed != 1 {
		t.Errorf("%d tails were closed", src.closed)
	}
	uitest.Contains(t, r.View(100, 20), "50 match")
	uitest.Drive(r.tail, r.SetFilter("/am.*1"))
	uitest.Send(r.tail, page.Tick{ID: tickFilter})
	if q := src.asked[2]; q.Pattern != "am.*1" || !q.Regexp || q.Fold {
		t.Errorf("%+v", q)
	}
	uitest.Drive(r.tail, r.SetFilter("/(/"))
	uitest.Send(r.tail, page.Tick{ID: tickFilter})
	if len(src.asked) != 3 || !strings.Contains(r.Status(), "missing closing") {
		t.Errorf("asked %d times, says %q", len(src.asked), r.Status())
	}
	uitest.Drive(r.tail, r.SetFilter(""))
	uitest.Send(r.tail, page.Tick{ID: tickFilter})
	if q := src.asked[3]; q.Pattern != "" {
		t.Errorf("%+v", q)
	}
}

func TestWhatIsFollowed(t *testing.T) {
	for name, tc := range map[string]struct {
		open  page.Open
		words string
		where bool
	}{
		"a topic":      {topic("orders"), "orders", true},
		"a partition":  {page.Open{Addr: model.PartitionAddress(orders2)}, "orders/2", false},
		"some topics":  {page.Open{Addr: model.TopicAddress(""), Args: page.Args{Topics: []string{"orders", "payments"}}}, "orders, payments", true},
		"everything":   {page.Open{Addr: model.TopicAddress("")}, "all topics", true},
		"with pattern": {page.Open{Addr: model.TopicAddress("orders"), Args: page.Args{Pattern: "x"}}, "orders", true},
	} {
		t.Run(name, func(t *testing.T) {
			src := newStream()
			src.feed(3)
			r := open(t, src, tc.open)
			frame := r.View(120, 10)
			uitest.Contains(t, frame, tc.words)
			if strings.Contains(uitest.Plainly(frame), " PART") != tc.where {
				t.Errorf("columns:\n%s", uitest.Plainly(frame))
			}
		})
	}
	src := newStream()
	open(t, src, page.Open{Addr: model.TopicAddress("")})
	if got := strings.Join(src.asked[0].Topics, " "); got != "audit.log orders payments" {
		t.Errorf("followed %q", got)
	}
}

func TestKeys(t *testing.T) {
	src := newStream()
	src.feed(30)
	r := open(t, src, topic("orders"))
	got := uitest.Press(r.tail, "enter")
	o, ok := got[0].(page.Open)
	if !ok || o.Kind != page.Record || o.Addr.Offset != 4_000_029 || o.Args.Record == nil || !r.paused {
		t.Errorf("%+v, paused %v", got, r.paused)
	}
	if c := uitest.Press(r.tail, "y")[0].(page.Copy); c.Text != `{"type":"paid","amount":29.50}` || c.What != "value of orders/2@4000029" {
		t.Errorf("%v", c)
	}
	uitest.Press(r.tail, "c")
	if q := src.asked[len(src.asked)-1]; !q.Committed {
		t.Errorf("%+v", q)
	}
	uitest.Contains(t, r.View(100, 10), "committed only")
}

func TestStates(t *testing.T) {
	src := newStream()
	plain := New(uitest.Env(t, uitest.Plain(src)), topic("orders"))
	uitest.Drive(plain, plain.Init())
	uitest.Contains(t, plain.View(80, 10), "this source cannot be followed")
	uitest.Fits(t, plain)
	uitest.Keys(t, plain)

	src.fail = errors.New("no such topic")
	r := open(t, src, topic("orders"))
	uitest.Contains(t, r.View(80, 10), "✗ no such topic", "ctrl-r begins anew")
	src.fail = nil
	uitest.Press(r.tail, "ctrl+r")
	uitest.Contains(t, r.View(80, 10), "following")
	src.end = model.ErrClosed
	r.frame()
	uitest.Contains(t, r.View(80, 10), "ended: the source is closed")
	uitest.Fits(t, r.tail)
	src.stats.Err = errors.New("orders-2 was truncated to 12")
	src.end = nil
	r.frame()
	if !strings.Contains(r.Status(), "orders-2 was truncated") {
		t.Error(r.Status())
	}
	r.Close()
	if src.closed == 0 {
		t.Error("the tail still runs")
	}
}

func TestATailThatComesTooLateIsClosed(t *testing.T) {
	src := newStream()
	env := uitest.Env(t, src)
	p := New(env, topic("orders")).(*tail)
	first := p.reopen()
	second := p.reopen()
	uitest.Drive(p, first)
	if src.closed != 1 {
		t.Errorf("%d were closed", src.closed)
	}
	uitest.Drive(p, second)
	if p.run == nil || src.closed != 1 {
		t.Errorf("running %v, %d were closed", p.run, src.closed)
	}
}

func TestTimesAreTurnedWhilePaused(t *testing.T) {
	src := newStream()
	src.feed(200)
	r := open(t, src, topic("orders"))
	uitest.Press(r.tail, "k")
	for form := range kit.AgoTime + 1 {
		r.Clock.Form = form
		uitest.Send(r.tail, page.Changed{})
		uitest.Contains(t, r.View(120, 20), "PART", "OFFSET", "TIME", "KEY", "VALUE", "4,000,1", "user-")
		uitest.Fits(t, r.tail)
	}
}

func TestMouse(t *testing.T) {
	src := newStream()
	src.feed(200)
	r := open(t, src, topic("orders"))
	r.Mouse(page.Mouse{Kind: page.WheelUp})
	if !r.paused {
		t.Error("the wheel does not pause")
	}
	uitest.Press(r.tail, "G")
	r.View(100, 20)
	row, _ := r.list.RowAt(3)
	want := r.lines[row].rec.Offset
	src.feed(500)
	r.Mouse(page.Mouse{Kind: page.Click, X: 4, Y: headLines + 3})
	if r.at().Offset != want || !r.paused {
		t.Errorf("clicked on %d, the cursor is on %d", want, r.at().Offset)
	}
	got := uitest.Drive(r.tail, r.Mouse(page.Mouse{Kind: page.DoubleClick, X: 4, Y: headLines + 3}))
	if _, ok := got[0].(page.Open); !ok {
		t.Errorf("%v", got)
	}
}

func TestHostileStream(t *testing.T) {
	src := newStream()
	for _, v := range []string{"\x1b[2J", "\u202e", strings.Repeat("注", 1<<18), "\xff", "👩‍👩‍👧‍👦"} {
		src.recs = append(src.recs, model.Record{TopicPartition: model.TopicPartition{Topic: v[:min(len(v), 30)]}, Key: []byte(v), Value: []byte(v), Headers: []model.Header{{Name: v}}})
	}
	src.stats.Err = errors.New("\x1b]0;x\a")
	r := open(t, src, page.Open{Addr: model.TopicAddress(""), Args: page.Args{Topics: []string{"\x1b[2J", "b"}, Pattern: "注"}})
	uitest.Fits(t, r.tail)
	uitest.Contains(t, r.View(120, 20), "␛[2J", `\u{202e}`)
}

func TestMeter(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	var m meter
	if m.rate(at(0)) != 0 || len(m.seconds(10)) != 0 {
		t.Error("it knows before it has seen")
	}
	for i := range 100 {
		m.add(at(float64(i)/10), int64(1000+50*i))
	}
	if r := m.rate(at(9.95)); r < 480 || r > 520 {
		t.Errorf("%v a second", r)
	}
	if s := m.seconds(5); len(s) != 5 || s[4] != 500 {
		t.Errorf("%v", s)
	}
	m.roll(at(1000))
	if m.rate(at(1000)) != 0 || m.peak != 500 {
		t.Errorf("%v a second, peak %v", m.rate(at(1000)), m.peak)
	}
}

func BenchmarkView(b *testing.B) {
	src := newStream()
	src.feed(5000)
	r := open(b, src, topic("orders"))
	for b.Loop() {
		r.View(200, 60)
	}
}

// A frame while 100,000 records a second arrive: 5,000 every 50 ms.
func BenchmarkLook(b *testing.B) {
	src := newStream()
	src.feed(keep)
	r := open(b, src, topic("orders"))
	for b.Loop() {
		r.look()
	}
}

func BenchmarkPause(b *testing.B) {
	src := newStream()
	src.feed(keep)
	r := open(b, src, topic("orders"))
	for b.Loop() {
		r.pause()
		r.resume()
	}
}
