package groups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// fakeLog is a partition in memory.
type fakeLog struct {
	start, end int64
	recs       []model.Record // by offset; holes are left out
}

// fakeLogs implements Logs.
type fakeLogs struct {
	mu      sync.Mutex
	logs    map[model.TopicPartition]*fakeLog
	counted atomic.Int64 // offsets that CountBetween was asked to walk
	calls   atomic.Int64 // of CountBetween
	slow    chan struct{}
	fail    error
	about   bool // counts are estimates
}

// fill appends data records with one ms between them, from offset 0 on, to partitions [0, n) of a topic.
func (f *fakeLogs) fill(topic string, n int32, start, end int64) *fakeLogs {
	if f.logs == nil {
		f.logs = map[model.TopicPartition]*fakeLog{}
	}
	for p := range n {
		tp := model.TopicPartition{Topic: topic, Partition: p}
		l := &fakeLog{start: start, end: end}
		for o := start; o < end; o++ {
			l.recs = append(l.recs, model.Record{TopicPartition: tp, Offset: o, Timestamp: 1000 + o, Value: []byte(fmt.Sprint(o))})
		}
		f.logs[tp] = l
	}
	return f
}

// control turns a record into a control record; hole takes it away.
func (f *fakeLogs) control(topic string, p int32, offs ...int64) *fakeLogs {
	l := f.logs[model.TopicPartition{Topic: topic, Partition: p}]
	for i := range l.recs {
		if slices.Contains(offs, l.recs[i].Offset) {
			l.recs[i].Control = "commit"
		}
	}
	return f
}

func (f *fakeLogs) hole(topic string, p int32, offs ...int64) *fakeLogs {
	l := f.logs[model.TopicPartition{Topic: topic, Partition: p}]
	l.recs = slices.DeleteFunc(l.recs, func(r model.Record) bool { return slices.Contains(offs, r.Offset) })
	return f
}

func (f *fakeLogs) get(tp model.TopicPartition) (*fakeLog, error) {
	if l := f.logs[tp]; l != nil {
		return l, nil
	}
	for o := range f.logs {
		if o.Topic == tp.Topic {
			return nil, fmt.Errorf("%w: %s", model.ErrNoPartition, tp)
		}
	}
	return nil, fmt.Errorf("%w: %s", model.ErrNoTopic, tp.Topic)
}

func (f *fakeLogs) Bounds(_ context.Context, tp model.TopicPartition) (int64, int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, err := f.get(tp)
	if err != nil {
		return 0, 0, err
	}
	return l.start, l.end, nil
}

func (f *fakeLogs) CountBetween(ctx context.Context, tp model.TopicPartition, from, to int64) (model.Count, error) {
	if f.slow != nil {
		select {
		case <-f.slow:
		case <-ctx.Done():
			return model.Count{}, ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls.Add(1)
	f.counted.Add(to - from)
	if f.fail != nil {
		return model.Count{}, f.fail
	}
	l, err := f.get(tp)
	if err != nil {
		return model.Count{}, err
	}
	n := int64(0)
	for i := range l.recs {
		if r := &l.recs[i]; r.Offset >= max(from, l.start) && r.Offset < min(to, l.end) && r.Control == "" {
			n++
		}
	}
	if f.about {
		return model.About(to - from), nil
	}
	return model.Exactly(n), nil
}

func (f *fakeLogs) AtTime(_ context.Context, tp model.TopicPartition, ms int64) (int64, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, err := f.get(tp)
	if err != nil {
		return 0, false, err
	}
	for i := range l.recs {
		if l.recs[i].Timestamp >= ms {
			return l.recs[i].Offset, true, nil
		}
	}
	return 0, false, nil
}

func (f *fakeLogs) FirstRecord(_ context.Context, tp model.TopicPartition, from int64) (*model.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, err := f.get(tp)
	if err != nil {
		return nil, err
	}
	for i := range l.recs {
		if l.recs[i].Offset >= from && l.recs[i].Control == "" {
			r := l.recs[i]
			return &r, nil
		}
	}
	return nil, nil
}

func (f *fakeLogs) PartitionIDs(_ context.Context, topic string) ([]int32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []int32
	for tp := range f.logs {
		if tp.Topic == topic {
			ids = append(ids, tp.Partition)
		}
	}
	if ids == nil {
		return nil, fmt.Errorf("%w: %s", model.ErrNoTopic, topic)
	}
	slices.Sort(ids)
	return ids, nil
}

func (f *fakeLogs) Topics(context.Context) ([]model.Topic, error) {
	var ts []model.Topic
	for tp := range f.logs {
		ts = append(ts, model.Topic{Name: tp.Topic})
	}
	slices.SortFunc(ts, func(a, b model.Topic) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(ts, func(a, b model.Topic) bool { return a.Name == b.Name }), nil
}

// openDB opens a store in a new folder; when the test ends it is closed, and checked by bbolt's own means.
func openDB(t testing.TB, o DBOptions) *DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "strata.db"), o)
}

func openAt(t testing.TB, path string, o DBOptions) *DB {
	t.Helper()
	db, err := OpenDB(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if db.bolt != nil && !db.readOnly {
			check(t, path)
		}
	})
	return db
}

// check runs bbolt's own consistency check, and ours.
func check(t testing.TB, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if short, single, err := checkFile(f, st.Size()); err != nil || short != 0 || single {
		t.Errorf("our check of %s: short %d, single %v, %v", path, short, single, err)
	}
	b, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second, PreLoadFreelist: true})
	if err != nil {
		t.Fatalf("bbolt cannot open %s: %v", path, err)
	}
	defer b.Close()
	err = b.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			t.Errorf("bbolt's check of %s: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// clock is a clock that tests turn.
type clock struct{ ms atomic.Int64 }

func (c *clock) now() time.Time { return time.UnixMilli(c.ms.Load()) }

func clockAt(ms int64) *clock {
	c := &clock{}
	c.ms.Store(ms)
	return c
}

// newService counts however busy the machine is: what a short time for it does has tests of its own.
func newService(t testing.TB, logs Logs, c *clock) *Service {
	t.Helper()
	s := New(openDB(t, DBOptions{}), logs, Options{Now: c.now, Who: "me@here", ListBudget: time.Hour})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func at(topic string, p int32) model.TopicPartition {
	return model.TopicPartition{Topic: topic, Partition: p}
}

func offset(topic string, p int32, off int64) model.Commit {
	return model.Commit{TopicPartition: at(topic, p), Offset: off, LeaderEpoch: -1}
}

// commit stores offsets and fails the test where it cannot.
func commit(t testing.TB, s *Service, group string, cs ...model.Commit) {
	t.Helper()
	if err := s.Commit(t.Context(), group, cs); err != nil {
		t.Fatal(err)
	}
}

// offsets returns what a group has stored, as offsets by partition.
func offsets(t testing.TB, s *Service, group string) map[model.TopicPartition]int64 {
	t.Helper()
	cs, err := s.Fetch(context.Background(), group, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := map[model.TopicPartition]int64{}
	for _, c := range cs {
		m[c.TopicPartition] = c.Offset
	}
	return m
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

// setSequence makes the next journal entry's number n+1.
func (db *DB) setSequence(n uint64) error {
	return db.update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte(journalBucket)).SetSequence(n) })
}
