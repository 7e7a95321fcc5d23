package coordinator

import (
	"fmt"
	"sync"
	"time"

	"github.com/strata-kafka/strata/groups"
)

// Options tunes a Coordinator. The zero value is Kafka's defaults, but for InitialDelay.
type Options struct {
	// InitialDelay is how long a group's first members wait for more; 0 means not at all (Kafka's
	// group.initial.rebalance.delay.ms is 3 s).
	InitialDelay time.Duration
	// MinSession and MaxSession bound what members may ask for; 0 means 6 s and 30 min.
	MinSession, MaxSession time.Duration
	MaxSize                int // members of a group; 0 means any number
	// Partitions tells how many partitions a topic has, for members in this process that lead a group; 0 where there is no
	// such topic. nil means that there are none.
	Partitions func(topic string) int32
	// Topics is what members can read that the coordinator assigns to; nil means that there are none.
	Topics   Topics
	Consumer ConsumerOptions
}

// Coordinator coordinates groups. Its methods may be called from any goroutine.
//
// Invariants:
//   - a group is in the map exactly as long as it is not dead
//   - a group's mutex is taken before mu, and mu is held for the map only
type Coordinator struct {
	s *groups.Service
	o Options

	mu     sync.Mutex
	groups map[string]*group
	closed bool
	locals sync.WaitGroup // members in this process
}

// New returns a Coordinator whose groups are those of s, with the members that they had when the broker ended; those have
// a session's time from now on to be heard of.
func New(s *groups.Service, o Options) *Coordinator {
	if o.MinSession == 0 {
		o.MinSession = 6 * time.Second
	}
	if o.MaxSession == 0 {
		o.MaxSession = 30 * time.Minute
	}
	if o.Topics == nil {
		o.Topics = noTopics{}
	}
	o.Consumer = o.Consumer.withDefaults()
	c := &Coordinator{s: s, o: o, groups: map[string]*group{}}
	for id, state := range s.Restore() {
		c.restore(id, state)
	}
	return c
}

// Close answers all that wait with NotCoordinator, which clients come again after, and stops the timers. Members in this
// process leave; those from outside stay, for the next broker on the same data.
func (c *Coordinator) Close() error {
	c.mu.Lock()
	c.closed = true
	all := make([]*group, 0, len(c.groups))
	for _, g := range c.groups {
		all = append(all, g)
	}
	c.mu.Unlock()
	var err error
	for _, g := range all {
		g.mu.Lock()
		if !g.dead {
			if cerr := g.kind.close(); cerr != nil && err == nil {
				err = fmt.Errorf("close group %q: %w", g.id, cerr)
			}
		}
		g.mu.Unlock()
	}
	c.locals.Wait()
	return err
}

func (c *Coordinator) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// kind is how a group's members are coordinated. Its methods are called with the group's mutex held.
type kind interface {
	// idle reports whether nothing of the group needs to be in memory.
	idle() bool
	// live is the group as screens, resets and deletes see it.
	live() groups.Live
	// mayCommit says whether a commit is allowed, and takes it for a sign of life.
	mayCommit(r CommitCheck) groups.Code
	// subscribes reports whether members read a topic; known is false where that cannot be said of this kind of group.
	subscribes(topic string) (yes, known bool)
	// close stops all timers and answers all that wait.
	close() error
}

// group is a group in memory: one that has members, or is about to.
type group struct {
	id string
	c  *Coordinator

	mu    sync.Mutex
	dead  bool // no longer in the map: look again
	dirty bool // screens are to be told
	kind  kind
}

// lock returns a group with its mutex held, or nil where it has no members.
func (c *Coordinator) lock(id string) *group {
	for {
		c.mu.Lock()
		g := c.groups[id]
		c.mu.Unlock()
		if g == nil {
			return nil
		}
		g.mu.Lock()
		if !g.dead {
			return g
		}
		g.mu.Unlock()
	}
}

// lockOrMake is lock, but makes the group where there is none; its kind is nil then, for the caller to set before unlock.
// known is what the store has of a group that was made. Errors: NotCoordinator after Close, CoordinatorNotAvailable where
// the store cannot be read or written.
func (c *Coordinator) lockOrMake(id string) (g *group, known groups.Known, code groups.Code) {
	for {
		c.mu.Lock()
		g = c.groups[id]
		switch {
		case c.closed:
			c.mu.Unlock()
			return nil, known, groups.NotCoordinator
		case g == nil:
			g = &group{id: id, c: c}
			g.mu.Lock()
			c.groups[id] = g
			c.mu.Unlock()
			known, err := c.s.Known(id)
			if err == nil {
				err = c.s.Writable()
			}
			if err != nil {
				c.drop(g)
				g.mu.Unlock()
				return nil, known, groups.CoordinatorNotAvailable
			}
			return g, known, groups.None
		}
		c.mu.Unlock()
		g.mu.Lock()
		if !g.dead {
			return g, known, groups.None
		}
		g.mu.Unlock()
	}
}

// drop takes a group out of memory. g.mu is held.
func (c *Coordinator) drop(g *group) {
	g.dead = true
	c.mu.Lock()
	delete(c.groups, g.id)
	c.mu.Unlock()
}

// unlock lets go of a group, tells the screens what has become of it, and takes it out of memory when nothing needs it.
func (c *Coordinator) unlock(g *group) {
	if g.kind == nil {
		c.drop(g)
		g.mu.Unlock()
		return
	}
	if g.dirty {
		// Nothing is stored, so nothing can fail.
		_, _ = g.post(nil)
	}
	if g.kind.idle() {
		c.drop(g)
	}
	g.mu.Unlock()
}

// post says what the group is now, and stores its members' state where that is not nil; see groups.Service.Post. g.mu is
// held.
func (g *group) post(state []byte) (*groups.Write, error) {
	g.dirty = false
	w, err := g.c.s.Post(g.id, g.kind.live(), state)
	if err != nil {
		g.dirty = true
	}
	return w, err
}

// timer calls a function under its group's mutex, unless it was stopped or set anew before that.
type timer struct {
	t *time.Timer
	n int
}

// set starts the timer anew. g.mu is held, here and when f is called.
func (t *timer) set(g *group, d time.Duration, f func()) {
	t.stop()
	n := t.n
	t.t = time.AfterFunc(max(d, 0), func() {
		g.mu.Lock()
		if g.dead || t.n != n {
			g.mu.Unlock()
			return
		}
		t.t = nil
		f()
		g.c.unlock(g)
	})
}

// stop stops the timer. The group's mutex is held.
func (t *timer) stop() {
	t.n++
	if t.t != nil {
		t.t.Stop()
		t.t = nil
	}
}

// on reports whether the timer runs.
func (t *timer) on() bool { return t.t != nil }
