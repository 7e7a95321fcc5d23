package txn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

var errDisk = errors.New("no space left")

// memory is a Store and Markers that outlive a Coordinator.
type memory struct {
	mu      sync.Mutex
	next    int64
	recs    map[string]groups.TxnRecord
	pending map[int64]map[string]int64 // by producer: group → offset
	offsets map[string]int64
	markers map[model.TopicPartition][]Marker
	full    bool   // every write fails
	written func() // before a marker; see onMarker
}

func newMemory() *memory {
	return &memory{recs: map[string]groups.TxnRecord{}, pending: map[int64]map[string]int64{}, offsets: map[string]int64{},
		markers: map[model.TopicPartition][]Marker{}}
}

func (m *memory) do(f func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return errDisk
	}
	f()
	return nil
}

func (m *memory) NextProducerIDs(n int64, floor func() int64) (first int64, err error) {
	err = m.do(func() {
		first = max(m.next, floor())
		m.next = first + n
	})
	return first, err
}

func (m *memory) Load() ([]groups.TxnRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.recs)), nil
}

func (m *memory) Save(r groups.TxnRecord) error { return m.do(func() { m.recs[r.ID] = r }) }

func (m *memory) SaveOffsets(r groups.TxnRecord, group string, commits []model.Commit) error {
	return m.do(func() {
		m.recs[r.ID] = r
		if m.pending[r.ProducerID] == nil {
			m.pending[r.ProducerID] = map[string]int64{}
		}
		for _, c := range commits {
			m.pending[r.ProducerID][group] = c.Offset
		}
	})
}

func (m *memory) Complete(r groups.TxnRecord, producerID int64, commit bool) error {
	return m.do(func() {
		m.recs[r.ID] = r
		if commit {
			maps.Copy(m.offsets, m.pending[producerID])
		}
		delete(m.pending, producerID)
	})
}

func (m *memory) Delete(ids []string) error {
	return m.do(func() {
		for _, id := range ids {
			delete(m.recs, id)
		}
	})
}

func (m *memory) WriteMarker(_ context.Context, tp model.TopicPartition, k Marker) error {
	m.mu.Lock()
	written := m.written
	m.mu.Unlock()
	if written != nil {
		written()
	}
	return m.do(func() { m.markers[tp] = append(m.markers[tp], k) })
}

func (m *memory) setFull(full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.full = full
}

func (m *memory) onMarker(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.written = f
}

func start(t *testing.T, m *memory, o Options) *Coordinator {
	t.Helper()
	o.Store, o.Markers = m, m
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func at(partition int32) model.TopicPartition {
	return model.TopicPartition{Topic: "t", Partition: partition}
}

// begin gets a transactional id its producer id.
func begin(t *testing.T, c *Coordinator, id string) Producer {
	t.Helper()
	return beginFor(t, c, id, time.Minute)
}

func beginFor(t *testing.T, c *Coordinator, id string, timeout time.Duration) Producer {
	t.Helper()
	p, code := c.InitProducerID(InitRequest{TransactionalID: id, Transactional: true, Timeout: timeout.Milliseconds(), Expected: noProducer})
	if code != groups.None {
		t.Fatalf("InitProducerID of %q: %d", id, code)
	}
	return p
}

func want(t *testing.T, what string, got, want groups.Code) {
	t.Helper()
	if got != want {
		t.Errorf("%s: code %d, want %d", what, got, want)
	}
}

func state(t *testing.T, c *Coordinator, id string) model.TransactionState {
	t.Helper()
	m, ok := c.Transaction(id)
	if !ok {
		return ""
	}
	return m.State
}

func (m *memory) marked(partition int32) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := ""
	for _, k := range m.markers[at(partition)] {
		s += fmt.Sprintf("%d/%d %v;", k.ProducerID, k.Epoch, k.Commit)
	}
	return s
}
