package remote

import (
	"sync"

	"github.com/strata-kafka/strata/model"
)

// maxTold is how many partitions a Change names; beyond it the Change says All.
const maxTold = 512

// changes merges what is found out into the one Change that waits to be taken.
type changes struct {
	out  chan model.Change
	kick chan struct{} // a token: pending holds something

	mu      sync.Mutex
	pending pending
}

// pending is a Change being gathered.
type pending struct {
	topics, groups, txns, clients, info, all bool
	parts                                    map[model.TopicPartition]struct{}
}

func newChanges() *changes {
	return &changes{out: make(chan model.Change), kick: make(chan struct{}, 1)}
}

func (p *pending) touch(tp model.TopicPartition) {
	if p.all {
		return
	}
	if p.parts == nil {
		p.parts = map[model.TopicPartition]struct{}{}
	}
	if p.parts[tp] = struct{}{}; len(p.parts) > maxTold {
		p.all, p.parts = true, nil
	}
}

func (p *pending) empty() bool {
	return !p.topics && !p.groups && !p.txns && !p.clients && !p.info && !p.all && len(p.parts) == 0
}

// merge adds o to p, and empties o.
func (p *pending) merge(o *pending) {
	p.topics = p.topics || o.topics
	p.groups = p.groups || o.groups
	p.txns = p.txns || o.txns
	p.clients = p.clients || o.clients
	p.info = p.info || o.info
	if o.all {
		p.all, p.parts = true, nil
	}
	for tp := range o.parts {
		p.touch(tp)
	}
	*o = pending{}
}

func (p *pending) change(version uint64) model.Change {
	c := model.Change{Version: version, Topics: p.topics, Groups: p.groups, Transactions: p.txns, Clients: p.clients, Info: p.info, All: p.all}
	for tp := range p.parts {
		c.Partitions = append(c.Partitions, tp)
	}
	return c
}

// tell adds what p holds to what waits to be taken, and empties p.
func (c *changes) tell(p *pending) {
	if p.empty() {
		return
	}
	c.mu.Lock()
	c.pending.merge(p)
	c.mu.Unlock()
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// run offers the gathered Change until stop is closed, and closes the channel then.
func (c *changes) run(stop <-chan struct{}) {
	defer close(c.out)
	var now pending
	version := uint64(0)
	for {
		var out chan model.Change
		var offer model.Change
		if !now.empty() {
			out, offer = c.out, now.change(version+1)
		}
		select {
		case <-stop:
			return
		case <-c.kick:
			c.mu.Lock()
			now.merge(&c.pending)
			c.mu.Unlock()
		case out <- offer:
			version++
			now = pending{}
		}
	}
}
