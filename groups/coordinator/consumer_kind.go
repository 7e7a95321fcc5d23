package coordinator

import (
	"context"
	"fmt"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/assign"
)

// noTopics is the Topics of a coordinator that was given none.
type noTopics struct{}

func (noTopics) Version() uint64                          { return 0 }
func (noTopics) Names() []string                          { return nil }
func (noTopics) Topic(string) (assign.Topic, int32, bool) { return assign.Topic{}, 0, false }

// consumerKind is the kind of a group whose members the coordinator assigns to. It brings a consumerGroup what that does
// not know: the clock, the topics and the store.
type consumerKind struct {
	*consumerGroup
	g       *group
	o       *ConsumerOptions
	expiry  timer
	due     time.Time     // when expiry fires
	write   *groups.Write // of what was stored last; nil for nothing yet
	unsaved bool          // what is there could not be stored
}

func newConsumerKind(g *group, c *consumerGroup) *consumerKind {
	return &consumerKind{consumerGroup: c, g: g, o: &g.c.o.Consumer}
}

// restoreConsumer takes over a group of the broker before; nil where its state cannot be read.
func (c *Coordinator) restoreConsumer(g *group, state []byte) kind {
	cg, err := parseConsumer(g.id, state)
	if err != nil {
		return nil
	}
	k := newConsumerKind(g, cg)
	k.start(*k.o, time.Now())
	k.watchAll()
	return k
}

// idle implements kind.
func (k *consumerKind) idle() bool { return len(k.members) == 0 }

// live implements kind.
func (k *consumerKind) live() groups.Live { return k.consumerGroup.live(k.o.Assignors[0]) }

// subscribes implements kind.
func (k *consumerKind) subscribes(topic string) (yes, known bool) {
	return k.consumerGroup.subscribes(topic), true
}

// close implements kind.
func (k *consumerKind) close() error {
	k.expiry.stop()
	return nil
}

// watch sees to it that a member is put out when its time is over.
func (k *consumerKind) watch(id string) {
	if m := k.members[id]; m != nil {
		k.arm(m.end())
	}
}

// watchAll is watch for all members.
func (k *consumerKind) watchAll() {
	for id := range k.members {
		k.watch(id)
	}
}

// arm has expire called at a time, or before.
func (k *consumerKind) arm(at time.Time) {
	if k.expiry.on() && !at.Before(k.due) {
		return
	}
	k.due = at
	k.expiry.set(k.g, time.Until(at), k.expire)
}

// expire puts out the members whose time is over.
func (k *consumerKind) expire() {
	next, out := k.consumerGroup.expire(time.Now())
	if len(out) > 0 {
		// Where it cannot be stored, the members' sessions end again after the next start.
		_ = k.left()
		return
	}
	if !next.IsZero() {
		k.arm(next)
	}
}

// left goes on after members were taken out: the last consumer member leaves a classic group behind.
func (k *consumerKind) left() error {
	if k.toClassic(nil) {
		return nil
	}
	if len(k.members) == 0 {
		k.expiry.stop()
	} else {
		k.watchAll()
	}
	return k.save()
}

// save stores the group as it is now; what it returns is why that cannot even be begun.
func (k *consumerKind) save() error {
	state := []byte{}
	if len(k.members) > 0 {
		state = encodeConsumer(k.consumerGroup)
	}
	w, err := k.g.post(state)
	if err != nil {
		k.unsaved = true
		return fmt.Errorf("store group %q: %w", k.id, err)
	}
	k.write, k.unsaved = w, false
	return nil
}

// ConsumerHeartbeat serves a member that lives, joins or leaves; what it answers is on the disk.
func (c *Coordinator) ConsumerHeartbeat(ctx context.Context, b ConsumerBeat) ConsumerBeaten {
	if out := b.check(c.o.Consumer); out.Code != groups.None {
		return out
	}
	out, w := c.consumerBeat(&b)
	if w != nil && w.Wait(ctx) != nil {
		c.unsaved(b.Group, w)
		return refuse(groups.CoordinatorNotAvailable, "The group's state could not be stored.")
	}
	return out
}

// unsaved has a group stored anew with its next heartbeat.
func (c *Coordinator) unsaved(group string, w *groups.Write) {
	g := c.lock(group)
	if g == nil {
		return
	}
	defer c.unlock(g)
	if k, ok := g.kind.(*consumerKind); ok && k.write == w {
		k.unsaved = true
	}
}

// consumerBeat answers, and says what is to be waited for before the answer is given.
func (c *Coordinator) consumerBeat(b *ConsumerBeat) (ConsumerBeaten, *groups.Write) {
	g, out := c.consumerGroup(b)
	if g == nil {
		return out, nil
	}
	defer c.unlock(g)
	k := g.kind.(*consumerKind)
	before := len(k.members)
	out, changed := k.beat(b, k.o.of(b.Group), c.o.Topics, time.Now())
	k.watch(out.Member)
	if changed || k.unsaved {
		var err error
		if len(k.members) < before {
			err = k.left()
		} else {
			err = k.save()
		}
		if err != nil {
			return refuse(groups.CoordinatorNotAvailable, "The group's state could not be stored."), nil
		}
	}
	return out, k.write
}

// consumerGroup returns the group that a heartbeat is for, with its mutex held, or nil and the answer that says no. A
// member that joins makes the group, and makes it a consumer group.
func (c *Coordinator) consumerGroup(b *ConsumerBeat) (*group, ConsumerBeaten) {
	if b.Epoch != joinEpoch {
		g := c.lock(b.Group)
		if g == nil {
			return nil, c.noConsumerGroup(b.Group, b.Member)
		}
		if _, ok := g.kind.(*consumerKind); !ok {
			c.unlock(g)
			return nil, notConsumerGroup(b.Group)
		}
		return g, ConsumerBeaten{}
	}
	g, known, code := c.lockOrMake(b.Group)
	if code != groups.None {
		return nil, refuse(code, "The coordinator is not available.")
	}
	switch k := g.kind.(type) {
	case nil:
		epoch := int32(0)
		if known.Type == groups.TypeConsumer {
			epoch = known.Generation
		}
		g.kind = newConsumerKind(g, newConsumerGroup(g.id, epoch))
	case *classic:
		if c.o.Consumer.full(len(k.members)) && k.find(b.Member) == nil {
			c.unlock(g)
			return nil, c.o.Consumer.refuseFull()
		}
		converted := k.toConsumer()
		if converted == nil {
			c.unlock(g)
			return nil, notConsumerGroup(b.Group)
		}
		g.kind = converted
	}
	return g, ConsumerBeaten{}
}

func notConsumerGroup(group string) ConsumerBeaten {
	return refuse(groups.GroupIDNotFound, "Group %s is not a consumer group.", group)
}

// noConsumerGroup is the answer to a member of a group that has no members.
func (c *Coordinator) noConsumerGroup(group, member string) ConsumerBeaten {
	known, err := c.s.Known(group)
	switch {
	case err != nil:
		return refuse(groups.CoordinatorNotAvailable, "The coordinator is not available.")
	case !known.Exists:
		return refuse(groups.GroupIDNotFound, "Group %s not found.", group)
	case known.Type != groups.TypeConsumer:
		return notConsumerGroup(group)
	}
	return refuse(groups.UnknownMemberID, "Member %s is not a member of group %s.", member, group)
}

// ConsumerDescribe tells what a consumer group is: GroupIDNotFound for any other.
func (c *Coordinator) ConsumerDescribe(group string) ConsumerDescribed {
	if group == "" {
		return ConsumerDescribed{Code: groups.InvalidGroupID}
	}
	if g := c.lock(group); g != nil {
		defer c.unlock(g)
		if k, ok := g.kind.(*consumerKind); ok {
			return k.describe(k.o.Assignors[0])
		}
		no := notConsumerGroup(group)
		return ConsumerDescribed{Group: group, Code: no.Code, Message: no.Message}
	}
	no := c.noConsumerGroup(group, "")
	if no.Code != groups.UnknownMemberID {
		return ConsumerDescribed{Group: group, Code: no.Code, Message: no.Message}
	}
	known, _ := c.s.Known(group) // it was there a moment ago
	return newConsumerGroup(group, known.Generation).describe(c.o.Consumer.Assignors[0])
}

// MayFetch says whether who says to be a member of a group may ask for its offsets. Who says nothing may.
func (c *Coordinator) MayFetch(group, member string, epoch int32) groups.Code {
	g := c.lock(group)
	if g == nil {
		if known, err := c.s.Known(group); err == nil && known.Type == groups.TypeConsumer && (member != "" || epoch >= 0) {
			return groups.UnknownMemberID
		}
		return groups.None
	}
	defer c.unlock(g)
	if k, ok := g.kind.(*consumerKind); ok {
		return k.mayFetch(member, epoch)
	}
	return groups.None
}
