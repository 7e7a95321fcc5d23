package remote

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/strata-kafka/strata/model"
)

// topicFacts is what changes rarely, or costs brokers more to say: configs, bytes, and the newest record.
type topicFacts struct {
	id        [16]byte
	at        time.Time
	retention model.Retention
	bytes     int64           // of its leaders; Unknown where not all said
	sizes     map[int32]int64 // bytes by partition, of its leader
}

// learn asks for the facts of topics of which they are not known, or not any more. What is not allowed stays unknown.
func (c *Cluster) learn(ctx context.Context, topics []*topicMeta) {
	var due []*topicMeta
	c.mu.Lock()
	for _, m := range topics {
		if f, ok := c.facts[m.name]; !ok || f.id != m.id || time.Since(f.at) > everyFacts {
			due = append(due, m)
		}
	}
	c.mu.Unlock()
	if len(due) == 0 {
		return
	}
	ctx, done := c.within(ctx, min(patience, c.o.Timeout))
	defer done()
	var wg sync.WaitGroup
	var kept map[string]model.Retention
	var sizes map[model.TopicPartition]int64
	var newest map[model.TopicPartition]place
	wg.Go(func() { kept = c.retentions(ctx, due) })
	wg.Go(func() { sizes = c.sizes(ctx, due) })
	wg.Go(func() { newest = c.list(ctx, partitionsOf(due), atNewest, 0) })
	wg.Wait()
	p := pending{topics: true}
	c.mu.Lock()
	for _, m := range due {
		f := topicFacts{id: m.id, at: time.Now(), retention: kept[m.name], sizes: map[int32]int64{}}
		for i := range m.parts {
			tp := model.TopicPartition{Topic: m.name, Partition: m.parts[i].n}
			if n, ok := sizes[tp]; ok && f.bytes >= 0 {
				f.sizes[tp.Partition] = n
				f.bytes += n
			} else {
				f.bytes = model.Unknown
			}
			if e, ok := c.seen[tp]; ok && newest[tp].err == nil && newest[tp].time > 0 {
				e.newest = newest[tp].time
				c.seen[tp] = e
			}
			p.touch(tp)
		}
		c.facts[m.name] = f
	}
	c.mu.Unlock()
	c.out.tell(&p)
}

func partitionsOf(topics []*topicMeta) []model.TopicPartition {
	var tps []model.TopicPartition
	for _, m := range topics {
		for i := range m.parts {
			tps = append(tps, model.TopicPartition{Topic: m.name, Partition: m.parts[i].n})
		}
	}
	return tps
}

// retentions asks for the configs that say how long topics keep records.
func (c *Cluster) retentions(ctx context.Context, topics []*topicMeta) map[string]model.Retention {
	names := make([]string, 0, len(topics))
	for _, m := range topics {
		names = append(names, m.name)
	}
	rs, err := c.admin.DescribeTopicConfigs(ctx, names...)
	if err != nil && len(rs) == 0 {
		return nil
	}
	out := make(map[string]model.Retention, len(rs))
	for i := range rs {
		if rs[i].Err != nil {
			continue
		}
		r := model.Retention{Known: true}
		for j := range rs[i].Configs {
			k := &rs[i].Configs[j]
			v := k.MaybeValue()
			switch k.Key {
			case "cleanup.policy":
				r.Delete, r.Compact = strings.Contains(v, "delete"), strings.Contains(v, "compact")
			case "retention.ms":
				r.MS = number(v)
			case "retention.bytes":
				r.Bytes = number(v)
			case "min.cleanable.dirty.ratio":
				r.DirtyRatio, _ = strconv.ParseFloat(v, 64) // 0 where it is none
			}
		}
		out[rs[i].Name] = r
	}
	return out
}

// number reads a config that is a number; one that cannot be read stands for any.
func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// sizes asks the leaders how many bytes partitions have on their disks.
func (c *Cluster) sizes(ctx context.Context, topics []*topicMeta) map[model.TopicPartition]int64 {
	by := map[int32]kadm.TopicsSet{}
	for _, m := range topics {
		for i := range m.parts {
			if p := &m.parts[i]; p.leader >= 0 {
				set := by[p.leader]
				if set == nil {
					set = kadm.TopicsSet{}
					by[p.leader] = set
				}
				set.Add(m.name, p.n)
			}
		}
	}
	out := map[model.TopicPartition]int64{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for leader, set := range by {
		wg.Go(func() {
			dirs, err := c.admin.DescribeBrokerLogDirs(ctx, leader, set)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			dirs.EachPartition(func(p kadm.DescribedLogDirPartition) {
				if !p.IsFuture {
					out[model.TopicPartition{Topic: p.Topic, Partition: p.Partition}] = p.Size
				}
			})
		})
	}
	wg.Wait()
	return out
}
