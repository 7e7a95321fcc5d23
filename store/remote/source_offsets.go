package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

const (
	// freshEnds is how old offsets may be that a page is shown without asking again: what the watcher has just asked for.
	freshEnds = 300 * time.Millisecond
	// listChunk is how many partitions are asked for in one ListOffsets.
	listChunk = 4000
	// patience bounds the wait for offsets of a page; a broker that takes longer has its rows say so.
	patience = 4 * time.Second
)

// What ListOffsets is asked for besides times.
const (
	atStart  int64 = -2
	atEnd    int64 = -1
	atNewest int64 = -3 // the record of the greatest timestamp; Kafka 3.0 and later
)

// ends are a partition's offsets as they were measured. Unknown where they were not.
type ends struct {
	start, hw, lso int64
	newest         int64 // ms, or NoTime
	first          int64 // hw when it was measured first, for rates
	at             time.Time
	err            error // why they are not known
	counted        tally
}

// tally is what was counted exactly, once.
type tally struct {
	ok         bool
	n          int64
	start, end int64
}

// count is the number of records, as sure as it is without reading them.
func (e *ends) count() model.Count {
	k := &e.counted
	switch {
	case e.start < 0 || e.hw < 0:
		return model.Count{}
	case e.err != nil: // as it was when it could be asked last
		return model.About(e.hw - e.start)
	case e.start == e.hw:
		return model.Exactly(0)
	case k.ok && k.start == e.start && k.end == e.hw:
		return model.Exactly(k.n)
	case k.ok && k.start == e.start && k.end < e.hw:
		return model.About(k.n + e.hw - k.end)
	}
	return model.About(e.hw - e.start)
}

// place is one partition's answer to a ListOffsets.
type place struct {
	offset, time int64
	err          error
}

// list asks the leaders of partitions for an offset: at a time in ms, or one of the constants above. It asks once more where
// a leader has moved. Every partition has an answer.
func (c *Cluster) list(ctx context.Context, tps []model.TopicPartition, at int64, isolation int8) map[model.TopicPartition]place {
	out := make(map[model.TopicPartition]place, len(tps))
	again := c.listOnce(ctx, tps, at, isolation, out)
	if len(again) == 0 || ctx.Err() != nil || c.refresh(ctx) != nil {
		return out
	}
	c.listOnce(ctx, again, at, isolation, out)
	return out
}

// listOnce is list without asking again; it returns the partitions for which that would be worth it.
func (c *Cluster) listOnce(ctx context.Context, tps []model.TopicPartition, at int64, isolation int8, out map[model.TopicPartition]place) (again []model.TopicPartition) {
	t := c.current()
	by := map[int32][]model.TopicPartition{}
	for _, tp := range tps {
		m := t.topics[tp.Topic]
		var p *partMeta
		if m != nil {
			p = m.part(tp.Partition)
		}
		switch {
		case m == nil:
			out[tp] = place{model.Unknown, model.NoTime, fmt.Errorf("%w: %q", model.ErrNoTopic, tp.Topic)}
		case p == nil:
			out[tp] = place{model.Unknown, model.NoTime, fmt.Errorf("%w: %s", model.ErrNoPartition, tp)}
		case p.leader < 0:
			out[tp] = place{model.Unknown, model.NoTime, answer(kerr.LeaderNotAvailable, "")}
			if time.Since(t.at) > time.Second {
				again = append(again, tp)
			}
		default:
			by[p.leader] = append(by[p.leader], tp)
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for leader, tps := range by {
		for len(tps) > 0 {
			chunk := tps[:min(listChunk, len(tps))]
			tps = tps[len(chunk):]
			wg.Go(func() {
				got, err := c.listBroker(ctx, leader, t, chunk, at, isolation)
				mu.Lock()
				defer mu.Unlock()
				for _, tp := range chunk {
					p, ok := got[tp]
					if err != nil {
						p = place{model.Unknown, model.NoTime, err}
					} else if !ok {
						p = place{model.Unknown, model.NoTime, errors.New("the broker left it out of its answer")}
					}
					out[tp] = p
					if err != nil || moved(p.err) {
						again = append(again, tp)
					}
				}
			})
		}
	}
	wg.Wait()
	return again
}

// listBroker asks one broker.
func (c *Cluster) listBroker(ctx context.Context, leader int32, t *table, tps []model.TopicPartition, at int64, isolation int8) (map[model.TopicPartition]place, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.IsolationLevel = -1, isolation
	index := map[string]int{}
	for _, tp := range tps {
		i, ok := index[tp.Topic]
		if !ok {
			i = len(req.Topics)
			index[tp.Topic] = i
			rt := kmsg.NewListOffsetsRequestTopic()
			rt.Topic = tp.Topic
			req.Topics = append(req.Topics, rt)
		}
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp, rp.CurrentLeaderEpoch = tp.Partition, at, -1
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, rp)
	}
	kresp, err := c.ask(ctx, c.kgo, leader, req)
	if err != nil {
		if b, ok := t.brokers[leader]; ok {
			err = fmt.Errorf("broker %d at %s: %w", leader, b.address, err)
		}
		return nil, err
	}
	resp := kresp.(*kmsg.ListOffsetsResponse)
	got := make(map[model.TopicPartition]place, len(tps))
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			p := &resp.Topics[i].Partitions[j]
			a := place{offset: p.Offset, time: p.Timestamp}
			if perr := kerr.ErrorForCode(p.ErrorCode); perr != nil {
				a = place{model.Unknown, model.NoTime, answer(perr, "")}
			}
			if at == atNewest && resp.Version < 7 {
				a = place{model.Unknown, model.NoTime, nil}
			}
			got[model.TopicPartition{Topic: resp.Topics[i].Topic, Partition: p.Partition}] = a
		}
	}
	return got, nil
}

// ask sends a request to one broker, and once more where a connection was lost that may have been idle for too long.
func (c *Cluster) ask(ctx context.Context, cl *kgo.Client, broker int32, req kmsg.Request) (kmsg.Response, error) {
	ctx, done := c.bound(ctx)
	defer done()
	b := cl.Broker(int(broker))
	resp, err := b.Request(ctx, req)
	if err != nil && ctx.Err() == nil {
		resp, err = b.Request(ctx, req)
	}
	if err != nil {
		return nil, c.why(ctx, err)
	}
	return resp, nil
}

// moved reports whether an error says that the leader is another one by now, or will be.
func moved(err error) bool {
	if err == nil {
		return false
	}
	for _, k := range []*kerr.Error{
		kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch, kerr.ReplicaNotAvailable,
		kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InconsistentTopicID, kerr.KafkaStorageError, kerr.OffsetNotAvailable,
	} {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}

// measure asks for the start, the high watermark and the last stable offset of partitions, and keeps them.
func (c *Cluster) measure(ctx context.Context, tps []model.TopicPartition) map[model.TopicPartition]ends {
	var start, hw, lso map[model.TopicPartition]place
	var wg sync.WaitGroup
	wg.Go(func() { start = c.list(ctx, tps, atStart, 0) })
	wg.Go(func() { hw = c.list(ctx, tps, atEnd, 0) })
	wg.Go(func() { lso = c.list(ctx, tps, atEnd, 1) })
	wg.Wait()
	out := make(map[model.TopicPartition]ends, len(tps))
	now := time.Now()
	for _, tp := range tps {
		e := ends{start: start[tp].offset, hw: hw[tp].offset, lso: lso[tp].offset, newest: model.NoTime, first: model.Unknown, at: now}
		for _, err := range []error{start[tp].err, hw[tp].err, lso[tp].err} {
			if err != nil {
				e.err = err
			}
		}
		e.hw = max(e.hw, e.lso) // the two were asked for one after the other
		out[tp] = e
	}
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return out
	}
	c.keep(out)
	return out
}

// keep remembers what was measured, with what else is known of it, and tells what has changed.
func (c *Cluster) keep(got map[model.TopicPartition]ends) {
	var p pending
	c.mu.Lock()
	for tp, e := range got {
		m := c.table.topics[tp.Topic]
		if m == nil || m.part(tp.Partition) == nil {
			continue
		}
		was, ok := c.seen[tp]
		if ok {
			e.counted, e.newest, e.first = was.counted, was.newest, was.first
			if e.start < 0 && e.hw < 0 { // what was known still tells something
				e.start, e.hw, e.lso = was.start, was.hw, was.lso
			}
			if e.hw != was.hw && e.hw >= 0 {
				e.newest = model.NoTime
			}
		}
		if e.first < 0 {
			e.first = e.hw
		}
		c.seen[tp] = e
		if !ok || was.start != e.start || was.hw != e.hw || was.lso != e.lso || errorText(was.err) != errorText(e.err) {
			p.topics = true
			p.touch(tp)
		}
	}
	c.mu.Unlock()
	c.out.tell(&p)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// fillIn measures the partitions of topics that were not measured just now, for as long as patience lasts.
func (c *Cluster) fillIn(ctx context.Context, topics []*topicMeta) {
	var tps []model.TopicPartition
	c.mu.Lock()
	for _, m := range topics {
		for i := range m.parts {
			tp := model.TopicPartition{Topic: m.name, Partition: m.parts[i].n}
			if e, ok := c.seen[tp]; !ok || time.Since(e.at) > freshEnds {
				tps = append(tps, tp)
			}
		}
	}
	c.mu.Unlock()
	if len(tps) == 0 {
		return
	}
	wait := c.o.Timeout
	if !c.o.Still {
		wait = min(wait, patience)
	}
	ctx, done := c.within(ctx, wait)
	defer done()
	c.measure(ctx, tps)
}

// endsNow returns a partition's offsets as they are now.
func (c *Cluster) endsNow(ctx context.Context, tp model.TopicPartition) (ends, error) {
	if _, _, err := c.find(ctx, tp); err != nil {
		return ends{}, err
	}
	ctx, done := c.bound(ctx)
	defer done()
	e := c.measure(ctx, []model.TopicPartition{tp})[tp]
	if e.err != nil {
		return e, fmt.Errorf("offsets of %s: %w", tp, e.err)
	}
	return e, nil
}

func sinceFresh(at time.Time) bool { return time.Since(at) <= freshEnds }
