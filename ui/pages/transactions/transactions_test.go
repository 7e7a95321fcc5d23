package transactions

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

func open(t testing.TB, src model.Source, topic string) *transactions {
	p := New(uitest.Env(t, src), page.Open{Addr: model.TopicAddress(topic)}).(*transactions)
	uitest.Drive(p, p.Init())
	return p
}

func begun() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	ms := uitest.Now().UnixMilli()
	orders := func(n int32) model.TopicPartition { return model.TopicPartition{Topic: "orders", Partition: n} }
	src.Txns = []model.Transaction{
		{ID: "audit", ProducerID: 7, State: model.TxnCompleteCommit, Timeout: 60_000, Started: model.NoTime, Updated: ms},
		{ID: "late", ProducerID: 1001, Epoch: 2, State: model.TxnOngoing, Timeout: 10_000, Started: ms - 12_000, Partitions: []model.TopicPartition{orders(2)}},
		{ID: "payments-1", ProducerID: 1000, Epoch: 3, State: model.TxnOngoing, Timeout: 60_000, Started: ms - 11_000,
			Partitions: []model.TopicPartition{orders(0), orders(1)}, Groups: []string{"billing"}},
		{ID: "ending\x1b[2J", ProducerID: 1002, State: model.TxnPrepareAbort, Timeout: 60_000, Started: ms - 1_000, Partitions: []model.TopicPartition{{Topic: "gone", Partition: 0}}},
	}
	src.Writers = map[model.TopicPartition][]model.ProducerState{
		orders(0): {{TopicPartition: orders(0), ProducerID: 1000, TxnFirst: 4_812_301}, {TopicPartition: orders(0), ProducerID: 9, TxnFirst: model.Unknown}},
		orders(1): {{TopicPartition: orders(1), ProducerID: 1000, TxnFirst: 4_812_320}},
	}
	return src
}

func TestView(t *testing.T) {
	p := open(t, begun(), "")
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	if x, _ := p.at(); x.ID != "late" {
		t.Errorf("the oldest open one is not first, but %s", x.ID)
	}
	uitest.Press(p, "j", "enter")
	uitest.Golden(t, "partitions-80x24", p.View(80, 24))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	got := uitest.Press(p, "j", "enter")
	if o := got[0].(page.Open); o.Kind != page.Records || o.Addr.String() != "orders/1@4812320" {
		t.Errorf("%+v", o)
	}
	uitest.Press(p, "esc", "j")
	uitest.Contains(t, p.View(120, 24), "ending␛[2J holds back", "gone")
}

func TestOfOneTopic(t *testing.T) {
	p := open(t, begun(), "orders")
	if len(p.rows) != 2 || !strings.Contains(p.Status(), "3 open · 2 of 4 transactional ids") {
		t.Errorf("%d rows, %q", len(p.rows), p.Status())
	}
	uitest.Contains(t, open(t, begun(), "payments").View(80, 10), "no transaction touches payments")
}

func TestKeys(t *testing.T) {
	p := open(t, begun(), "")
	for name, tc := range map[string]struct{ at, key, want string }{
		"group":         {"payments-1", "o", "{group group:billing"},
		"no group":      {"late", "o", "commits no group's offsets"},
		"no partitions": {"audit", "enter", "written to no partition"},
		"copy":          {"late", "y", "late"},
	} {
		t.Run(name, func(t *testing.T) {
			p.list.Select(tc.at)
			if got := fmt.Sprint(uitest.Press(p, tc.key)); !strings.Contains(got, tc.want) {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestStates(t *testing.T) {
	bare := open(t, uitest.Plain(begun()), "")
	uitest.Contains(t, bare.View(100, 10), "this source knows no transactions")
	uitest.Keys(t, bare)
	src := begun()
	src.Txns = nil
	uitest.Contains(t, open(t, src, "").View(100, 10), "no transaction was begun yet")
	broken := errors.New("strata.db: damaged")
	src.Fail = func(string) error { return broken }
	p := open(t, src, "")
	uitest.Contains(t, p.View(80, 10), "strata.db: damaged", "ctrl-r")
	broken = nil
	src.Txns = begun().Txns
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 24), "payments-1")
	p.SetFilter("zzz")
	uitest.Contains(t, p.View(80, 24), "no transaction matches zzz")
	uitest.Fits(t, p)
}

// TestAnswerOfTheRowBefore holds that an answer that comes late does not stand below another transaction's name.
func TestAnswerOfTheRowBefore(t *testing.T) {
	p := open(t, begun(), "")
	p.list.Select("payments-1")
	uitest.Drive(p, p.follow())
	p.takeHolding(holding{id: "late", rows: []held{{first: 1}}}, nil)
	if p.holds.id != "payments-1" || len(p.holds.rows) != 2 {
		t.Errorf("%+v", p.holds)
	}
}
