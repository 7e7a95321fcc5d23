package clients

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

func open(t testing.TB, src model.Source) *clients {
	p := New(uitest.Env(t, src), page.Open{}).(*clients)
	uitest.Drive(p, p.Init())
	return p
}

func connected() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	ms := uitest.Now().UnixMilli()
	src.Is.Address = "127.0.0.1:9092"
	src.Conns = []model.Client{
		{ID: "billing-1", Software: "apache-kafka-java", Version: "4.4.0", Address: "127.0.0.1:51312", Since: ms - 240_000, LastAt: ms, LastAPI: "Fetch", Requests: 2400,
			RequestRate: 12, InRate: 1200, OutRate: 318_000, Groups: []string{"billing"}},
		{ID: "orders-api", Software: "librdkafka", Version: "2.0.2", Address: "127.0.0.1:51320", Since: ms - 9_000, LastAt: ms, LastAPI: "Produce", Requests: 1800,
			RequestRate: 201.4, InRate: 100_000, OutRate: 4_200, Acks: "all", Idempotent: true},
		{ID: "payments", Software: "kgo", Version: "1.22.3", Address: "127.0.0.1:51400", Since: ms - 2_000, LastAt: ms, LastAPI: "EndTxn", Requests: 12,
			RequestRate: 3, Acks: "all", Idempotent: true, Transactional: "payments-1", TLS: true, User: "ada"},
		{ID: "fire-and-forget", Address: "127.0.0.1:51500", Since: ms - 1_000, LastAt: ms, LastAPI: "Produce", Requests: 12, Errors: 3, Acks: "0"},
		{ID: "evil\x1b[2J\u202e", Software: "x\ny", Address: "127.0.0.1:51501", Since: ms, LastAt: model.NoTime},
		{Address: "127.0.0.1:51502", Since: ms, LastAt: model.NoTime},
	}
	src.APISet = []model.APIStat{
		{Name: "Produce", Key: 0, Count: 12_044, Rate: 201.4, P50: 90 * time.Microsecond, P99: 410 * time.Microsecond, Errors: 3},
		{Name: "Fetch", Key: 1, Count: 4_812_339, Rate: 12, P50: 40 * time.Microsecond, P99: 12 * time.Millisecond},
		{Name: "ApiVersions", Key: 18, Count: 6},
		{Name: "EndTxn", Key: 26, Count: 1, Rate: 1, P50: 1200 * time.Millisecond, P99: 2 * time.Second},
	}
	return src
}

func TestView(t *testing.T) {
	p := open(t, connected())
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Golden(t, "200x30", p.View(200, 30))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "tab")
	uitest.Golden(t, "apis-80x24", p.View(80, 24))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "esc")
	if p.inside {
		t.Error("esc does not go back to the clients")
	}
}

func TestOrder(t *testing.T) {
	for key, want := range map[string]string{
		"":      "billing-1 orders-api payments fire-and-forget",
		"S":     "fire-and-forget payments orders-api billing-1",
		"s s":   "orders-api billing-1 payments fire-and-forget",
		"s s S": "fire-and-forget payments billing-1 orders-api",
	} {
		t.Run(key, func(t *testing.T) {
			src := connected()
			src.Conns = src.Conns[:4]
			p := open(t, src)
			uitest.Press(p, strings.Fields(key)...)
			var got []string
			for _, i := range p.rows {
				got = append(got, p.all[i].ID)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%v, want %s", got, want)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	p := open(t, connected())
	for name, tc := range map[string]struct{ at, key, want string }{
		"group":        {"127.0.0.1:51312", "o", "{group group:billing"},
		"no group":     {"127.0.0.1:51320", "o", "member of no group"},
		"transactions": {"127.0.0.1:51312", "t", "{transactions "},
		"copy":         {"127.0.0.1:51320", "y", "127.0.0.1:51320"},
	} {
		t.Run(name, func(t *testing.T) {
			p.list.Select(tc.at)
			if got := fmt.Sprint(uitest.Press(p, tc.key)); !strings.Contains(got, tc.want) {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestFilter(t *testing.T) {
	p := open(t, connected())
	for filter, want := range map[string]int{"billing": 1, "kgo": 1, "payments-1": 1, "127.0.0.1": 6, "zzz": 0} {
		p.SetFilter(filter)
		if len(p.rows) != want {
			t.Errorf("%q: %d rows, want %d", filter, len(p.rows), want)
		}
	}
	p.SetFilter("zzz")
	uitest.Contains(t, p.View(80, 24), "no client matches")
	uitest.Fits(t, p)
}

func TestStates(t *testing.T) {
	bare := open(t, uitest.Plain(connected()))
	uitest.Contains(t, bare.View(100, 10), "nobody connects to it")
	uitest.Keys(t, bare)
	src := connected()
	src.Conns, src.APISet = nil, nil
	uitest.Contains(t, open(t, src).View(100, 10), "nobody is connected to 127.0.0.1:9092", "kcat -b")
	src.Is.Address = ""
	uitest.Contains(t, open(t, src).View(100, 10), "strata does not listen")
	broken := errors.New("the listener is gone")
	src.Fail = func(string) error { return broken }
	p := open(t, src)
	uitest.Contains(t, p.View(80, 10), "the listener is gone", "ctrl-r")
	broken = nil
	uitest.Press(p, "ctrl+r")
	if !p.loaded {
		t.Error("ctrl-r reads nothing")
	}
}

// TestStandsWhileFiguresMove holds that rates that move do not move the rows.
func TestStandsWhileFiguresMove(t *testing.T) {
	src := connected()
	p := open(t, src)
	p.list.Select("127.0.0.1:51400")
	before := p.list.Cursor()
	for i := range src.Conns {
		src.Conns[i].RequestRate = float64(1000 - 100*i)
	}
	uitest.Drive(p, p.Update(page.Tick{ID: second}))
	if c, _ := p.at(); c.Address != "127.0.0.1:51400" || p.list.Cursor() != before || c.RequestRate != 800 {
		t.Errorf("on %+v at row %d, was row %d", c, p.list.Cursor(), before)
	}
}

func BenchmarkView(b *testing.B) {
	src := connected()
	for i := range 10_000 {
		c := src.Conns[0]
		c.Address = fmt.Sprint("10.0.0.1:", i)
		src.Conns = append(src.Conns, c)
	}
	p := open(b, src)
	for b.Loop() {
		p.View(200, 60)
	}
}

// guarded is a source that refuses clients.
type guarded struct {
	*uitest.Source
	last []model.Refusal
	all  int64
}

func (g guarded) Refused(context.Context) ([]model.Refusal, int64, error) { return g.last, g.all, nil }

// TestRefused tells who could not come in, where that is all there is to be seen and where it is not.
func TestRefused(t *testing.T) {
	src := guarded{connected(), []model.Refusal{
		{At: 1, Address: "10.0.0.1:1", Why: "an older one"},
		{At: uitest.Now().UnixMilli() - 5000, Address: "10.0.0.9:4242", Why: "it could not authenticate by PLAIN\x1b"},
	}, 33}
	p := open(t, src)
	uitest.Contains(t, p.View(80, 24), "33 refused, last 5 s ago: it could not authenticate by PLAIN", "(10.0.0.9:4242)", "billing-1", "APIs")
	uitest.Fits(t, p)
	src.Conns, src.APISet = nil, nil
	uitest.Contains(t, open(t, src).View(80, 8), "nobody is connected", "33 refused")
	src.all, src.last = 0, nil
	if v := open(t, src).View(80, 24); strings.Contains(v, "refused") {
		t.Errorf("nobody was refused: %s", v)
	}
}
