package remote

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// maxBacklog is how many partitions a backlog is read of.
const maxBacklog = 64

// backlog reads the newest records before the log ends, as many as the query asks for in all partitions together, in the
// order of their times as far as partitions allow.
func (t *tail) backlog() {
	if t.q.Backlog <= 0 {
		return
	}
	cl, err := t.c.bulk()
	if err != nil {
		return
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var lists [][]model.Record
	slots := make(chan struct{}, 8)
	for _, tp := range t.recent() {
		k := t.cursors[tp]
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ctx, done := t.c.bound(t.ctx)
			defer done()
			page, err := t.c.records(ctx, cl, model.RecordQuery{TP: tp, From: k.next, Max: t.q.Backlog, Backward: true, Committed: t.q.Committed,
				MaxBytes: keepBytes / 4})
			if err != nil {
				t.note(fmt.Errorf("%s: %w", tp, err))
				return
			}
			list := slices.DeleteFunc(page.Records, func(r model.Record) bool { return t.match != nil && !matchesModel(t.match, &r) })
			mu.Lock()
			lists = append(lists, newest([][]model.Record{list}, t.q.Backlog))
			mu.Unlock()
		})
	}
	wg.Wait()
	slices.SortFunc(lists, func(a, b []model.Record) int {
		if len(a) == 0 || len(b) == 0 {
			return cmp.Compare(len(a), len(b))
		}
		return a[0].Compare(b[0].TopicPartition)
	})
	for _, r := range newest(lists, t.q.Backlog) {
		if !t.add(r) {
			return
		}
	}
}

// recent returns the partitions that a backlog is read of: all, or of very many those that were written to last.
func (t *tail) recent() []model.TopicPartition {
	var tps []model.TopicPartition
	for tp, k := range t.cursors {
		if k.back && k.next > k.start {
			tps = append(tps, tp)
		}
	}
	if len(tps) <= maxBacklog {
		return tps
	}
	ctx, done := t.c.bound(t.ctx)
	defer done()
	at := t.c.list(ctx, tps, atNewest, 0)
	slices.SortFunc(tps, func(a, b model.TopicPartition) int {
		return cmp.Or(cmp.Compare(at[b].time, at[a].time), a.Compare(b))
	})
	return tps[:maxBacklog]
}

// matchesModel reports whether key, value or a header matches.
func matchesModel(m record.Matcher, r *model.Record) bool {
	if m.MatchRecord(&record.Record{Key: r.Key, Value: r.Value}) {
		return true
	}
	for i := range r.Headers {
		if m.MatchRecord(&record.Record{Key: []byte(r.Headers[i].Name), Value: r.Headers[i].Value}) {
			return true
		}
	}
	return false
}

// newest merges lists by time, keeping the order within each, and returns the last n.
func newest(lists [][]model.Record, n int) []model.Record {
	var all []model.Record
	at := make([]int, len(lists))
	for {
		best := -1
		for i, l := range lists {
			if at[i] < len(l) && (best < 0 || l[at[i]].Timestamp < lists[best][at[best]].Timestamp) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		all = append(all, lists[best][at[best]])
		at[best]++
	}
	return slices.Clip(all[max(0, len(all)-n):])
}
