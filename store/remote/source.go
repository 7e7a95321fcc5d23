package remote

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
)

// Cluster is a source: a cluster, spoken to as any client does. Its methods may be called from any goroutine. Nothing that
// is only looked at leaves a trace on the cluster: no group, no commit.
//
// Invariants:
//   - table is replaced whole, never changed
//   - what is in seen was measured of a topic of the table, or of one that it held before
type Cluster struct {
	*Client
	groups *Groups
	out    *changes
	watch  *watcher
	mail   mail
	wg     sync.WaitGroup

	mu      sync.Mutex
	table   *table
	seen    map[model.TopicPartition]ends
	facts   map[string]topicFacts
	exact   map[model.TopicPartition]exactRun
	trouble string // why the metadata could not be asked for at the last try; "" when it could
	reader  *kgo.Client
}

// OpenCluster opens the cluster whose brokers, or some of them, are at addrs (HOST:PORT). It waits for one answer: the list
// of all topics and partitions, without their offsets.
func OpenCluster(ctx context.Context, addrs []string, o Options) (*Cluster, error) {
	client, err := New(addrs, o)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Client: client, out: newChanges(), seen: map[model.TopicPartition]ends{}, facts: map[string]topicFacts{}, table: &table{}}
	c.watch = newWatcher(c)
	c.groups = client.Groups(ledger{c}, func() { c.out.tell(&pending{groups: true}) })
	if err := c.refresh(ctx); err != nil {
		_ = client.Close() // it has nothing to lose
		return nil, fmt.Errorf("connect to %s: %w", strings.Join(addrs, ","), err)
	}
	c.wg.Go(func() { c.out.run(c.ctx.Done()) })
	c.wg.Go(c.watch.run)
	return c, nil
}

// Close ends every call and closes all connections.
func (c *Cluster) Close() error {
	err := c.Client.Close()
	c.mu.Lock()
	reader := c.reader
	c.reader = nil
	c.mu.Unlock()
	if reader != nil {
		reader.Close()
	}
	c.wg.Wait()
	if gerr := c.groups.Close(); err == nil {
		err = gerr
	}
	return err
}

// Changes implements model.Source.
func (c *Cluster) Changes() <-chan model.Change { return c.out.out }

// Focus implements model.Focuser: only what is in focus is asked for behind.
func (c *Cluster) Focus(topics []string) { c.watch.focus(topics) }

// begin refuses a call after Close.
func (c *Cluster) begin(ctx context.Context) error {
	if c.ctx.Err() != nil {
		return fmt.Errorf("cluster %s: %w", strings.Join(c.addrs, ","), model.ErrClosed)
	}
	return ctx.Err()
}

// bulk is the client for what reads much: a broker answers one request of a connection at a time, and a page must not wait
// for a search.
func (c *Cluster) bulk() (*kgo.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return nil, model.ErrClosed
	}
	if c.reader == nil {
		cl, err := kgo.NewClient(c.base()...)
		if err != nil {
			return nil, err
		}
		c.reader = cl
	}
	return c.reader, nil
}

// Info implements model.Source.
func (c *Cluster) Info(ctx context.Context) (model.Info, error) {
	if err := c.begin(ctx); err != nil {
		return model.Info{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name := strings.Join(c.addrs, ",")
	info := model.Info{Kind: model.Cluster, Name: name, ReadOnly: c.o.ReadOnly, Live: !c.o.Still, Bytes: model.Unknown, State: c.trouble, Notices: c.o.Notices}
	if n := len(c.table.brokers); n > 0 && c.trouble == "" {
		info.State = plural(n, "broker")
	}
	return info, nil
}

// Topics implements model.Source. It answers at once with what the last metadata said, and with the offsets that are known;
// with Options.Still it waits for the offsets.
func (c *Cluster) Topics(ctx context.Context) ([]model.Topic, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	t := c.current()
	if c.o.Still {
		c.fillIn(ctx, t.all())
		c.learn(ctx, t.all())
	} else if time.Since(t.at) > max(staleTable, share*t.took) {
		c.watch.poke()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := make([]model.Topic, 0, len(t.topics))
	for _, m := range t.topics {
		rows = append(rows, c.row(m))
	}
	slices.SortFunc(rows, func(a, b model.Topic) int { return cmp.Compare(a.Name, b.Name) })
	return rows, nil
}

// row sums a topic up. c.mu is held.
func (c *Cluster) row(m *topicMeta) model.Topic {
	r := model.Topic{
		Name: m.name, ID: m.idText(), Internal: m.internal, Partitions: len(m.parts), Records: model.NoCount(), Bytes: model.Unknown,
		Newest: model.NoTime, Replicas: m.replicas(),
	}
	failed := 0
	var why error
	for i := range m.parts {
		e, ok := c.seen[model.TopicPartition{Topic: m.name, Partition: m.parts[i].n}]
		if !ok {
			r.Records = r.Records.Add(model.Count{})
			continue
		}
		r.Records = r.Records.Add(e.count())
		r.Newest = max(r.Newest, e.newest)
		if e.first >= 0 && e.hw > e.first {
			r.Appended += e.hw - e.first
		}
		if e.err != nil {
			failed, why = failed+1, e.err
		}
	}
	if len(m.parts) == 0 && m.err == nil {
		r.Records = model.Exactly(0)
	}
	if f, ok := c.facts[m.name]; ok && f.id == m.id {
		r.Retention, r.Bytes = f.retention, f.bytes
	}
	r.Note = m.note(failed, why)
	return r
}

// note puts what is odd about a topic into words; failed is how many of its partitions did not tell their offsets.
func (m *topicMeta) note(failed int, why error) string {
	var notes []string
	if m.err != nil {
		notes = append(notes, answer(m.err, "").Error())
	}
	headless, behind := 0, 0
	for i := range m.parts {
		p := &m.parts[i]
		switch {
		case p.leader < 0:
			headless++
		case len(p.isr) < len(p.replicas):
			behind++
		}
	}
	if headless > 0 {
		notes = append(notes, plural(headless, "partition")+" without a leader")
	}
	if behind > 0 {
		notes = append(notes, plural(behind, "partition")+" under-replicated")
	}
	if failed > headless {
		notes = append(notes, plural(failed, "partition")+" not readable: "+why.Error())
	}
	return strings.Join(notes, "; ")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Partitions implements model.Source. What a broker does not answer in time is in the rows it concerns.
func (c *Cluster) Partitions(ctx context.Context, name string) ([]model.Partition, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	m, err := c.topic(ctx, name)
	if err != nil {
		return nil, err
	}
	c.fillIn(ctx, []*topicMeta{m})
	if c.o.Still {
		c.learn(ctx, []*topicMeta{m})
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if now := c.current().topics[name]; now != nil {
		m = now // its leaders may have been asked for again
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.facts[name]
	rows := make([]model.Partition, 0, len(m.parts))
	for i := range m.parts {
		p := &m.parts[i]
		tp := model.TopicPartition{Topic: name, Partition: p.n}
		row := model.Partition{
			TopicPartition: tp, LogStart: model.Unknown, HighWatermark: model.Unknown, LastStable: model.Unknown, LogEnd: model.Unknown,
			Bytes: model.Unknown, Segments: int(model.Unknown), Newest: model.NoTime, Leader: p.leader, LeaderEpoch: p.epoch, Replicas: p.replicas, ISR: p.isr,
			Offline: p.offline,
		}
		if e, ok := c.seen[tp]; ok {
			row.LogStart, row.HighWatermark, row.LastStable, row.LogEnd = e.start, e.hw, e.lso, e.hw
			row.Records, row.Newest, row.Err = e.count(), e.newest, e.err
		}
		if n, ok := f.sizes[p.n]; ok && f.id == m.id {
			row.Bytes = n
		}
		if row.Err == nil && p.err != nil && p.leader < 0 {
			row.Err = answer(p.err, "")
		}
		rows = append(rows, row)
	}
	return rows, nil
}
