package brokers

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

func open(t testing.TB, src model.Source) *brokers {
	p := New(uitest.Env(t, src), page.Open{}).(*brokers)
	uitest.Drive(p, p.Init())
	return p
}

const gib = 1 << 30

// racked is a cluster of three, one of them gone.
func racked() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	ms := uitest.Now().UnixMilli()
	src.Is.Kind, src.Is.Name = model.Cluster, "127.0.0.1:9092"
	src.Nodes = []model.Broker{
		{ID: 1, Address: "127.0.0.1:9092", Rack: "eu-central-1a", Alive: true, Version: "4.4", Led: 18, Hosted: 36, Bytes: 2 * gib, Dirs: []model.LogDirUse{
			{Path: "/var/lib/kafka/one", Bytes: gib, Total: 100 * gib, Free: 38 * gib, Partitions: 20},
			{Path: "/var/lib/kafka/two", Bytes: gib, Total: 100 * gib, Free: 2 * gib, Partitions: 16},
		}},
		{ID: 2, Address: "127.0.0.1:9093", Rack: "eu-central-1b", Alive: true, Controller: true, Version: "at least 3.6", Led: 18, Hosted: 36, Bytes: 2 * gib,
			Dirs: []model.LogDirUse{{Path: "/data", Bytes: 2 * gib, Total: model.Unknown, Free: model.Unknown, Partitions: 36}}},
		{ID: 3, Address: "127.0.0.1:9094", Rack: "eu-central-1c", Hosted: 36, Lagging: 36, Bytes: model.Unknown, Err: errors.New("fenced: the controller does not hear from it")},
	}
	src.Voters = []model.QuorumNode{
		{ID: 1, Voter: true, LogEnd: 12_004, Lag: 0, CaughtUp: ms - 200},
		{ID: 2, Voter: true, Leader: true, LogEnd: 12_004, CaughtUp: ms},
		{ID: 3, Voter: true, LogEnd: 11_300, Lag: 704, CaughtUp: ms - 95_000},
	}
	src.Settings = []model.ConfigEntry{
		{Name: "log.retention.hours", Value: "48", Default: "168", Source: "file"},
		{Name: "num.io.threads", Value: "8", Default: "8", Source: "default"},
		{Name: "sasl.jaas.config", Source: "file", Doc: "a secret, not told"},
		{Name: "log.cleaner.threads", Value: "2", Default: "1", Source: "broker"},
	}
	return src
}

// long is a cluster whose names and errors are as long as names get, and hostile.
func long() *uitest.Source {
	src := racked()
	src.Nodes = append(src.Nodes,
		model.Broker{ID: 1_000_000_001, Address: "broker-with-a-name-that-does-not-end.kafka-headless.production.svc.cluster.local:9092", Rack: strings.Repeat("rack-", 12),
			Alive: true, Version: "between 3.6 and 4.0", Led: 12_000, Hosted: 40_000, Lagging: 12, Bytes: 5_000 * gib,
			Dirs: []model.LogDirUse{{Path: "/mnt/" + strings.Repeat("directory/", 12), Total: gib, Free: 1, Bytes: gib, Err: errors.New("KAFKA_STORAGE_ERROR: disk error when trying to access log file")}}},
		model.Broker{ID: 77, Address: "\x1b[2J\u202e:9092", Bytes: model.Unknown, Err: errors.New("\x1b]52;c;aGk=\a dial tcp: " + strings.Repeat("注文 ", 60))},
		model.Broker{ID: 88, Address: "late:9092", Bytes: model.Unknown},
	)
	return src
}

func TestView(t *testing.T) {
	p := open(t, racked())
	uitest.Golden(t, "80x24", p.View(80, 20))
	uitest.Golden(t, "120x40", p.View(120, 36))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	p.list.Select("3")
	p.follow()
	uitest.Golden(t, "dead-80x24", p.View(80, 20))
	uitest.Press(p, "home", "enter")
	uitest.Golden(t, "configs-80x24", p.View(80, 20))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "a")
	uitest.Contains(t, p.View(80, 20), "num.io.threads", "all configs")
	uitest.Press(p, "esc", "tab")
	uitest.Golden(t, "quorum-80x24", p.View(80, 20))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "esc")
	if p.screen != listScreen {
		t.Error("esc does not go back to the brokers")
	}
}

func TestLongNames(t *testing.T) {
	p := open(t, long())
	uitest.Golden(t, "long-80x24", p.View(80, 20))
	uitest.Golden(t, "long-120x40", p.View(120, 36))
	for range p.all {
		uitest.Fits(t, p)
		uitest.Press(p, "j")
	}
}

func TestStates(t *testing.T) {
	bare := open(t, uitest.Plain(racked()))
	uitest.Contains(t, bare.View(100, 10), "has no brokers to be shown", "strata HOST:PORT")
	uitest.Fits(t, bare)
	uitest.Keys(t, bare)
	src := racked()
	src.Fail = func(m string) error {
		if m == "Brokers" {
			return errors.New("no answer within 10s")
		}
		return nil
	}
	p := open(t, src)
	uitest.Contains(t, p.View(80, 20), "no answer within 10s", "ctrl-r asks again")
	src.Fail = nil
	uitest.Press(p, "ctrl+r")
	src.Fail = func(string) error { return errors.New("gone") }
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 20), "127.0.0.1:9092") // a late error does not take the rows away
	if !strings.Contains(p.Status(), "gone") {
		t.Error(p.Status())
	}
}

func TestWhatOneDoesNotTell(t *testing.T) {
	src := racked()
	src.Nodes[0].Dirs = []model.LogDirUse{{Bytes: model.Unknown, Total: model.Unknown, Free: model.Unknown, Err: errors.New("CLUSTER_AUTHORIZATION_FAILED")}}
	src.Nodes[0].Bytes, src.Voters = model.Unknown, nil
	p := open(t, src)
	uitest.Contains(t, p.View(100, 20), "it does not tell: CLUSTER_AUTHORIZATION_FAILED")
	if got := fmt.Sprint(uitest.Press(p, "tab")); !strings.Contains(got, "no metadata quorum") {
		t.Error(got)
	}
	src.Fail = func(m string) error {
		if m == "Quorum" {
			return errors.New("quorum: not authorized")
		}
		return nil
	}
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(100, 24), "quorum: not authorized", "127.0.0.1:9093")
}

// TestController may be a node that is no broker.
func TestControllerThatIsNoBroker(t *testing.T) {
	src := racked()
	src.Nodes[1].Controller = false
	src.Voters = []model.QuorumNode{{ID: 100, Voter: true, Leader: true, LogEnd: 5}}
	uitest.Contains(t, open(t, src).View(100, 24), "controller 100")
}

func TestAsksAgainSoonWhileOneIsLate(t *testing.T) {
	for name, tc := range map[string]struct {
		src  *uitest.Source
		want time.Duration
	}{"all have answered": {racked(), every}, "one is late": {long(), soon}} {
		t.Run(name, func(t *testing.T) {
			p := New(uitest.Env(t, tc.src), page.Open{}).(*brokers)
			asked := uitest.Drive(p, p.Init())
			if want := fmt.Sprint([]page.Request{page.TickIn{After: tc.want, ID: tick}}); fmt.Sprint(asked) != want {
				t.Errorf("%v, want %v", asked, want)
			}
			before := len(tc.src.Calls())
			uitest.Send(p, page.Tick{ID: tick})
			if len(tc.src.Calls()) == before {
				t.Error("nobody was asked")
			}
		})
	}
}

func TestOrderAndFilter(t *testing.T) {
	p := open(t, racked())
	ids := func() (out string) {
		for _, i := range p.rows {
			out += fmt.Sprint(p.all[i].ID)
		}
		return out
	}
	for _, step := range []struct{ key, want string }{
		{"S", "321"}, {"S", "123"}, {"s", "123"}, {"s", "123"}, {"s", "123"}, {"s", "312"}, {"s", "123"}, {"s", "123"}, {"s", "312"},
	} {
		uitest.Press(p, step.key)
		if ids() != step.want {
			t.Errorf("after %s, by %s: %s, want %s", step.key, p.list.Columns[p.sorted].Name, ids(), step.want)
		}
	}
	for filter, want := range map[string]int{"1b": 1, "9094": 1, "fenced": 1, "controller": 2, "zzz": 0, "": 3} {
		p.SetFilter(filter)
		if len(p.rows) != want {
			t.Errorf("%q: %d rows, want %d", filter, len(p.rows), want)
		}
	}
	p.SetFilter("zzz")
	uitest.Contains(t, p.View(80, 20), "no broker matches zzz")
	uitest.Fits(t, p)
}

func TestKeys(t *testing.T) {
	p := open(t, racked())
	p.list.Select("3")
	for key, want := range map[string]string{"enter": "broker 3 does not answer", "y": "127.0.0.1:9094", "w": "{access "} {
		if got := fmt.Sprint(uitest.Press(p, key)); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	p.list.Select("1")
	uitest.Press(p, "enter")
	if got := fmt.Sprint(uitest.Press(p, "y")); !strings.Contains(got, "log.retention.hours") {
		t.Error(got)
	}
	p.SetFilter("cleaner")
	if len(p.shown) != 1 {
		t.Errorf("%d configs", len(p.shown))
	}
}

func BenchmarkView(b *testing.B) {
	src := racked()
	for i := range 1000 {
		n := src.Nodes[0]
		n.ID = int32(100 + i)
		src.Nodes = append(src.Nodes, n)
	}
	p := open(b, src)
	for b.Loop() {
		p.View(200, 60)
	}
}
