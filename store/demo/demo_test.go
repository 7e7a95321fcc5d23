package demo

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-kafka/strata/model"
)

// fake is a broker, a log and a group coordinator in memory.
type fake struct {
	mu      sync.Mutex
	topics  map[string]model.TopicSpec
	logs    map[model.TopicPartition][]model.ProduceRecord
	codecs  map[string]string
	next    int32
	commits map[string]map[model.TopicPartition]int64
	members map[string]int
	fail    error
}

func newFake() *fake {
	return &fake{
		topics: map[string]model.TopicSpec{}, logs: map[model.TopicPartition][]model.ProduceRecord{}, codecs: map[string]string{},
		commits: map[string]map[model.TopicPartition]int64{}, members: map[string]int{},
	}
}

func (f *fake) CreateTopic(_ context.Context, s model.TopicSpec) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.topics[s.Name]; ok {
		return model.ErrExists
	}
	f.topics[s.Name] = s
	return nil
}

func (f *fake) Produce(_ context.Context, r model.ProduceRequest) ([]model.Produced, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return nil, f.fail
	}
	f.codecs[r.Topic] = r.Codec
	for _, rec := range r.Records {
		f.next++
		tp := model.TopicPartition{Topic: r.Topic, Partition: f.next % f.topics[r.Topic].Partitions}
		f.logs[tp] = append(f.logs[tp], rec)
	}
	return make([]model.Produced, len(r.Records)), nil
}

func (f *fake) Records(_ context.Context, q model.RecordQuery) (model.RecordPage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := int64(len(f.logs[q.TP]))
	from := max(q.From, 0)
	next := min(end, from+int64(q.Max))
	return model.RecordPage{Next: next, AtEnd: next == end, Records: make([]model.Record, next-from)}, nil
}

func (f *fake) count(topic string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for tp, rs := range f.logs {
		if tp.Topic == topic {
			n += len(rs)
		}
	}
	return n
}

// member has all partitions, or those of its share of them.
type member struct {
	f             *fake
	group, client string
	topic         string
}

func (f *fake) join(group, client string, topics []string) (Member, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members[group]++
	if f.commits[group] == nil {
		f.commits[group] = map[model.TopicPartition]int64{}
	}
	return &member{f, group, client, topics[0]}, nil
}

func (m *member) Assignment() []model.TopicPartition {
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	var tps []model.TopicPartition
	for tp := range m.f.logs {
		if tp.Topic == m.topic && (m.group != "billing" || (tp.Partition == 2) == (m.client == "billing-2")) {
			tps = append(tps, tp)
		}
	}
	slices.SortFunc(tps, model.TopicPartition.Compare)
	return tps
}

func (m *member) Committed(context.Context) ([]model.Commit, error) {
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	var cs []model.Commit
	for tp, o := range m.f.commits[m.group] {
		cs = append(cs, model.Commit{TopicPartition: tp, Offset: o})
	}
	return cs, nil
}

func (m *member) Commit(_ context.Context, cs []model.Commit) error {
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	for _, c := range cs {
		m.f.commits[m.group][c.TopicPartition] = c.Offset
	}
	return nil
}

func (m *member) Leave() error {
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	m.f.members[m.group]--
	return nil
}

// lag is how far a group is behind in all.
func (f *fake) lag(group string) (n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for tp, o := range f.commits[group] {
		n += int64(len(f.logs[tp])) - o
	}
	return n
}

func TestTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		d, err := Start(t.Context(), f, f, Options{Rate: 200, Join: f.join})
		if err != nil {
			t.Fatal(err)
		}
		if n := f.count(topicOrders); n != 4000 {
			t.Errorf("%d orders before the first screen, want 4000", n)
		}
		before := f.count(topicClicks)
		time.Sleep(10 * time.Second) // of the bubble's clock
		synctest.Wait()
		if n := f.count(topicClicks) - before; n < 1300 || n > 1500 {
			t.Errorf("%d clicks in ten seconds of 200 records a second, want about 1440", n)
		}
		if n := f.count(topicAudit); n < 18 || n > 21 {
			t.Errorf("%d audit records in ten seconds, want about 20", n)
		}
		if l := f.lag("billing"); l > 30 {
			t.Errorf("billing is %d behind, want it to keep up", l)
		}
		if l := f.lag("search"); l < 15_000 {
			t.Errorf("search is %d behind, want it to fall behind", l)
		}
		if f.members["reports"] != 0 || f.commits["reports"][model.TopicPartition{Topic: topicPayments, Partition: 1}] != stoppedAt {
			t.Errorf("reports: %d members, committed %v; want it stopped on its way", f.members["reports"], f.commits["reports"])
		}
		if a := d.TrafficState().Actual; a < 190 || a > 210 {
			t.Errorf("it says %d a second, want about 200", a)
		}
		d.SetPaused(true)
		time.Sleep(time.Second)
		synctest.Wait()
		before = f.count(topicClicks)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if n := f.count(topicClicks); n != before {
			t.Errorf("%d clicks while paused", n-before)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if f.members["billing"] != 0 || f.members["search"] != 0 {
			t.Errorf("members left behind: %v", f.members)
		}
		want := []string{"gzip", "lz4", "none", "snappy", "zstd"}
		if got := slices.Sorted(maps.Values(f.codecs)); !slices.Equal(got, want) {
			t.Errorf("codecs %v, want each once", got)
		}
	})
}

func TestTrafficGoesOnAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		d, err := Start(t.Context(), f, f, Options{Rate: 100})
		if err != nil {
			t.Fatal(err)
		}
		full := errors.New("no space left on device")
		f.mu.Lock()
		f.fail = full
		f.mu.Unlock()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		f.mu.Lock()
		f.fail = nil
		f.mu.Unlock()
		before := f.count(topicClicks)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if f.count(topicClicks) == before {
			t.Error("it does not go on")
		}
		if err := d.Close(); !errors.Is(err, full) {
			t.Errorf("got %v, want the error that it met", err)
		}
	})
}

func TestAKeptDemoIsNotFilledTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		for range 2 {
			d, err := Start(t.Context(), f, f, Options{Rate: 0, Join: f.join})
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if n := f.count(topicOrders); n != 4000 {
			t.Errorf("%d orders, want 4000", n)
		}
	})
}
