package remote

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/strata-kafka/strata/model"
)

// How often what is on screen is asked for again. A cluster that takes long to answer is asked more rarely: at most a
// twentieth of the time is spent on asking.
const (
	everyOffsets  = time.Second
	everyMetadata = 5 * time.Second
	everyFacts    = time.Minute
	everyGroups   = 3 * time.Second
	share         = 20
	// lease is how long after a page asked for groups or transactions they are taken to be on screen.
	lease = 8 * time.Second
	// maxFocus bounds the partitions that are asked for in one go.
	maxFocus = 8000
)

// watcher asks again for what is on screen, and for nothing when nothing is.
type watcher struct {
	c    *Cluster
	kick chan struct{}

	mu       sync.Mutex
	topics   []string      // in focus
	groups   time.Time     // when a page asked for groups last
	txns     time.Time     // and for transactions
	told     time.Time     // when they were told to ask again
	cost     time.Duration // of the last listing of groups or transactions
	poked    bool          // the metadata is wanted anew
	metadata time.Time     // when it was asked for last
	took     time.Duration
}

func newWatcher(c *Cluster) *watcher { return &watcher{c: c, kick: make(chan struct{}, 1)} }

func (w *watcher) wake() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

func (w *watcher) focus(topics []string) {
	w.mu.Lock()
	w.topics = slices.Clone(topics)
	w.mu.Unlock()
	w.wake()
}

// poke has the metadata asked for soon.
func (w *watcher) poke() {
	w.mu.Lock()
	w.poked = true
	w.mu.Unlock()
	w.wake()
}

// asked notes that a page has asked for groups, or for transactions.
func (w *watcher) asked(at *time.Time) {
	if w.c.o.Still {
		return
	}
	w.mu.Lock()
	was := *at
	*at = time.Now()
	w.mu.Unlock()
	if time.Since(was) > lease {
		w.wake()
	}
}

// costs notes how long a listing of groups or transactions took.
func (w *watcher) costs(begin time.Time) {
	w.mu.Lock()
	w.cost = time.Since(begin)
	w.mu.Unlock()
}

// run goes on until the Client is closed.
func (w *watcher) run() {
	if w.c.o.Still {
		return
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		next := w.round(w.c.ctx)
		if next > 0 {
			timer.Reset(next)
		} else {
			timer.Stop()
		}
		select {
		case <-w.c.ctx.Done():
			return
		case <-w.kick:
		case <-timer.C:
		}
	}
}

// round asks for what is due, and returns after how long there is more to do; 0 for when somebody wakes it.
func (w *watcher) round(ctx context.Context) time.Duration {
	w.mu.Lock()
	topics, poked := w.topics, w.poked
	listings := max(everyGroups, share*w.cost)
	groups, txns := time.Since(w.groups) < lease+listings, time.Since(w.txns) < lease+listings
	due := time.Since(w.told) >= listings
	if due {
		w.told = time.Now()
	}
	w.poked = false
	w.mu.Unlock()
	t := w.c.current()
	if poked || len(topics) > 0 && time.Since(t.at) > max(everyMetadata, share*t.took) && time.Since(w.metadata) > everyMetadata {
		w.metadata = time.Now()
		_ = w.c.refresh(ctx) // Info says it
	}
	if len(topics) > 0 {
		w.look(ctx, topics)
	}
	if due {
		w.c.out.tell(&pending{groups: groups, txns: txns})
	}
	switch {
	case len(topics) > 0:
		return max(everyOffsets, share*w.took)
	case groups || txns:
		return listings
	}
	return 0
}

// look measures the topics in focus, and what else their rows show.
func (w *watcher) look(ctx context.Context, topics []string) {
	t := w.c.current()
	var list []*topicMeta
	var tps []model.TopicPartition
	for _, name := range topics {
		m := t.topics[name]
		if m == nil || len(tps) > maxFocus {
			continue
		}
		list = append(list, m)
		for i := range m.parts {
			tps = append(tps, model.TopicPartition{Topic: name, Partition: m.parts[i].n})
		}
	}
	if len(tps) == 0 {
		return
	}
	begin := time.Now()
	short, done := w.c.within(ctx, min(patience, w.c.o.Timeout))
	w.c.measure(short, tps)
	done()
	w.took = time.Since(begin)
	w.c.learn(ctx, list)
}
