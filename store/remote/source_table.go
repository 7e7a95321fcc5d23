package remote

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// staleTable is how old metadata may be before a page that is opened has it asked for again.
const staleTable = 5 * time.Second

// table is what one metadata answer said.
type table struct {
	topics     map[string]*topicMeta
	brokers    map[int32]brokerMeta
	controller int32
	cluster    string
	at         time.Time
	took       time.Duration // to ask for it; large clusters are asked more rarely
}

type brokerMeta struct {
	address, rack string
}

// topicMeta is a topic of a table.
type topicMeta struct {
	name     string
	id       [16]byte // zero where the broker knows no ids
	internal bool
	err      error
	parts    []partMeta // by number
}

// partMeta is a partition of a table.
type partMeta struct {
	n, leader, epoch int32
	replicas, isr    []int32
	offline          []int32
	err              error
}

func (m *topicMeta) idText() string {
	if m.id == ([16]byte{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(m.id[:])
}

func (m *topicMeta) replicas() int {
	n := 0
	for i := range m.parts {
		n = max(n, len(m.parts[i].replicas))
	}
	return n
}

// part returns a partition by number, or nil.
func (m *topicMeta) part(n int32) *partMeta {
	i, ok := slices.BinarySearchFunc(m.parts, n, func(p partMeta, n int32) int { return cmp.Compare(p.n, n) })
	if !ok {
		return nil
	}
	return &m.parts[i]
}

func (t *table) all() []*topicMeta {
	list := make([]*topicMeta, 0, len(t.topics))
	for _, m := range t.topics {
		list = append(list, m)
	}
	return list
}

func (t *table) names() []string {
	list := make([]string, 0, len(t.topics))
	for name := range t.topics {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func (c *Cluster) current() *table {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.table
}

// refresh asks for all metadata, and tells what has changed.
func (c *Cluster) refresh(ctx context.Context) error {
	ctx, done := c.bound(ctx)
	defer done()
	begin := time.Now()
	got, err := c.anyone(ctx, hedgeMetadata, func() kmsg.Request { return kmsg.NewPtrMetadataRequest() }) // nil topics: all
	resp, ok := got.(*kmsg.MetadataResponse)
	switch {
	case err != nil:
	case !ok:
		err = fmt.Errorf("metadata: answered by %T", got)
	case resp.Version == 0:
		err = errors.New("its brokers are too old: Kafka 1.0 or later is spoken here")
	}
	if err != nil {
		err = c.why(ctx, err)
		c.troubled(err)
		return err
	}
	t := tableOf(resp)
	t.at, t.took = time.Now(), time.Since(begin)
	c.mu.Lock()
	was := c.table
	c.table = t
	p := pending{topics: true}
	same := was.at.IsZero()
	if !same {
		p.topics = compareTables(was, t, &p)
	} else {
		p = pending{}
	}
	for tp := range c.seen { // what is gone, or was made anew, was measured in vain
		now, before := t.topics[tp.Topic], was.topics[tp.Topic]
		if now == nil || before != nil && before.id != now.id || now.part(tp.Partition) == nil {
			delete(c.seen, tp)
		}
	}
	for name, f := range c.facts {
		if now := t.topics[name]; now == nil || now.id != f.id {
			delete(c.facts, name)
		}
	}
	c.mu.Unlock()
	c.troubled(nil)
	c.out.tell(&p)
	return nil
}

// troubled keeps why the cluster does not answer, for Info.
func (c *Cluster) troubled(err error) {
	text := ""
	if err != nil {
		text = "not reached: " + err.Error()
	}
	c.mu.Lock()
	changed := c.trouble != text
	c.trouble = text
	c.mu.Unlock()
	if changed {
		c.out.tell(&pending{info: true})
	}
}

func tableOf(resp *kmsg.MetadataResponse) *table {
	t := &table{topics: make(map[string]*topicMeta, len(resp.Topics)), brokers: map[int32]brokerMeta{}, controller: resp.ControllerID}
	if resp.ClusterID != nil {
		t.cluster = *resp.ClusterID
	}
	for i := range resp.Brokers {
		b := &resp.Brokers[i]
		m := brokerMeta{address: fmt.Sprintf("%s:%d", b.Host, b.Port)}
		if b.Rack != nil {
			m.rack = *b.Rack
		}
		t.brokers[b.NodeID] = m
	}
	for i := range resp.Topics {
		in := &resp.Topics[i]
		if in.Topic == nil || in.ErrorCode == kerr.UnknownTopicOrPartition.Code {
			continue
		}
		m := &topicMeta{name: *in.Topic, id: in.TopicID, internal: in.IsInternal, err: kerr.ErrorForCode(in.ErrorCode)}
		m.parts = make([]partMeta, 0, len(in.Partitions))
		for j := range in.Partitions {
			p := &in.Partitions[j]
			m.parts = append(m.parts, partMeta{n: p.Partition, leader: p.Leader, epoch: p.LeaderEpoch, replicas: p.Replicas, isr: p.ISR,
				offline: p.OfflineReplicas, err: kerr.ErrorForCode(p.ErrorCode)})
		}
		slices.SortFunc(m.parts, func(a, b partMeta) int { return cmp.Compare(a.n, b.n) })
		t.topics[m.name] = m
	}
	return t
}

// compareTables notes what differs, and reports whether anything in the list of topics does.
func compareTables(was, now *table, p *pending) bool {
	differ := len(was.topics) != len(now.topics)
	p.info = len(was.brokers) != len(now.brokers)
	for name, n := range now.topics {
		w := was.topics[name]
		if w == nil || w.id != n.id || len(w.parts) != len(n.parts) {
			differ = true
			for i := range n.parts {
				p.touch(model.TopicPartition{Topic: name, Partition: n.parts[i].n})
			}
			continue
		}
		for i := range n.parts {
			if a, b := &w.parts[i], &n.parts[i]; a.leader != b.leader || a.epoch != b.epoch || !slices.Equal(a.isr, b.isr) || !slices.Equal(a.replicas, b.replicas) || !slices.Equal(a.offline, b.offline) {
				differ = true
				p.touch(model.TopicPartition{Topic: name, Partition: b.n})
			}
		}
	}
	for name, w := range was.topics {
		if now.topics[name] == nil {
			differ = true
			for i := range w.parts {
				p.touch(model.TopicPartition{Topic: name, Partition: w.parts[i].n})
			}
		}
	}
	return differ
}

// topic returns what is known of a topic, after asking again where it is not known. ErrNoTopic.
func (c *Cluster) topic(ctx context.Context, name string) (*topicMeta, error) {
	t := c.current()
	m := t.topics[name]
	if m == nil && time.Since(t.at) > 250*time.Millisecond {
		if err := c.refresh(ctx); err != nil {
			return nil, err
		}
		t = c.current()
		m = t.topics[name]
	}
	if m == nil {
		return nil, model.NotFound(model.ErrNoTopic, name, t.names())
	}
	if m.err != nil && len(m.parts) == 0 {
		return nil, fmt.Errorf("topic %s: %w", name, answer(m.err, ""))
	}
	return m, nil
}

// find returns a partition. ErrNoTopic, ErrNoPartition.
func (c *Cluster) find(ctx context.Context, tp model.TopicPartition) (*topicMeta, *partMeta, error) {
	m, err := c.topic(ctx, tp.Topic)
	if err != nil {
		return nil, nil, err
	}
	p := m.part(tp.Partition)
	if p == nil && time.Since(c.current().at) > 250*time.Millisecond { // it may have grown
		if err := c.refresh(ctx); err != nil {
			return nil, nil, err
		}
		if m = c.current().topics[tp.Topic]; m != nil {
			p = m.part(tp.Partition)
		}
	}
	if p == nil {
		return nil, nil, fmt.Errorf("%w: %s/%d", model.ErrNoPartition, tp.Topic, tp.Partition)
	}
	return m, p, nil
}
