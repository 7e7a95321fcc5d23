package coordinator

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/assign"
)

// ConsumerOptions tunes consumer groups. The zero value is Kafka's defaults.
type ConsumerOptions struct {
	Session   time.Duration // after how long a silent member is put out; 0 means 45 s
	Heartbeat time.Duration // how often members are told to heartbeat; 0 means 5 s
	MaxSize   int           // members a group may have; 0 means no limit
	Assignors []string      // those that members may ask for, the default first; nil means uniform, range
	// Migration says which groups may be turned into the other kind while they have members: bidirectional, upgrade,
	// downgrade or disabled; "" means bidirectional.
	Migration string
	// Own tells what a group was given of Session and Heartbeat, 0 for what it was not; nil means that no group was.
	Own func(group string) (session, heartbeat time.Duration)
}

// of returns the options that a group goes by.
func (o ConsumerOptions) of(group string) ConsumerOptions {
	if o.Own == nil {
		return o
	}
	session, heartbeat := o.Own(group)
	if session > 0 {
		o.Session = session
	}
	if heartbeat > 0 {
		o.Heartbeat = heartbeat
	}
	return o
}

func (o ConsumerOptions) withDefaults() ConsumerOptions {
	if o.Session == 0 {
		o.Session = 45 * time.Second
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = 5 * time.Second
	}
	o.Assignors = slices.DeleteFunc(slices.Clone(o.Assignors), func(name string) bool {
		_, known := assign.ByName(name)
		return !known
	})
	if len(o.Assignors) == 0 {
		o.Assignors = []string{"uniform", "range"}
	}
	if o.Migration == "" {
		o.Migration = "bidirectional"
	}
	return o
}

// full reports whether a group of that many members takes no more.
func (o *ConsumerOptions) full(members int) bool { return o.MaxSize > 0 && members >= o.MaxSize }

func (o *ConsumerOptions) refuseFull() ConsumerBeaten {
	return refuse(groups.GroupMaxSizeReached, "The consumer group has reached its maximum capacity of %d members.", o.MaxSize)
}

// ConsumerBeat is a ConsumerGroupHeartbeat. What is nil was not said: it is as it was.
type ConsumerBeat struct {
	Version      int16
	Group        string
	Member       string
	Epoch        int32 // 0 joins, -1 leaves, -2 leaves as a static member that comes back
	Instance     *string
	Rack         *string
	Rebalance    time.Duration // negative: not said
	Topics       []string
	Pattern      *string
	Assignor     *string
	Owned        assign.Assignment // ascending
	Client, Host string

	regex *regexp.Regexp // of Pattern, by check
}

// ConsumerBeaten answers a ConsumerBeat.
type ConsumerBeaten struct {
	Code      groups.Code
	Message   string // with Code
	Member    string
	Epoch     int32
	Heartbeat time.Duration
	Assigned  bool // Parts is what the member is to have; else that is as it was
	Parts     []Part
}

// refuse is an answer that says no.
func refuse(code groups.Code, format string, args ...any) ConsumerBeaten {
	return ConsumerBeaten{Code: code, Message: fmt.Sprintf(format, args...)}
}

// check finds what is wrong with a request by itself.
func (b *ConsumerBeat) check(o ConsumerOptions) ConsumerBeaten {
	const bad = groups.InvalidRequest
	empty := func(s *string) bool { return s != nil && strings.TrimSpace(*s) == "" }
	switch {
	case strings.TrimSpace(b.Group) == "":
		return refuse(bad, "GroupId can't be empty.")
	case b.Member == "" && (b.Version >= 1 || b.Epoch != joinEpoch):
		return refuse(bad, "MemberId can't be empty.")
	case empty(b.Instance):
		return refuse(bad, "InstanceId can't be empty.")
	case empty(b.Rack):
		return refuse(bad, "RackId can't be empty.")
	case b.Epoch < staticLeaveEpoch:
		return refuse(bad, "MemberEpoch is invalid.")
	case b.Epoch == staticLeaveEpoch && b.Instance == nil:
		return refuse(bad, "InstanceId can't be null.")
	case b.Epoch == joinEpoch && b.Rebalance < 0:
		return refuse(bad, "RebalanceTimeoutMs must be provided in first request.")
	case b.Epoch == joinEpoch && (b.Owned == nil || len(b.Owned) > 0):
		return refuse(bad, "TopicPartitions must be empty when (re-)joining.")
	case b.Epoch == joinEpoch && b.Topics == nil && b.Pattern == nil:
		return refuse(bad, "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.")
	case b.Assignor != nil && !slices.Contains(o.Assignors, *b.Assignor):
		return refuse(groups.UnsupportedAssignor, "ServerAssignor %s is not supported. Supported assignors: %s.", *b.Assignor, strings.Join(o.Assignors, ", "))
	}
	if b.Pattern != nil && *b.Pattern != "" {
		var err error
		if b.regex, err = compile(*b.Pattern); err != nil {
			return refuse(groups.InvalidRegularExpression, "SubscribedTopicRegex `%s` is not a valid regular expression: %v.", *b.Pattern, err)
		}
	}
	return ConsumerBeaten{}
}

// compile reads a regular expression that must match a whole name.
func compile(pattern string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, err
	}
	return regexp.Compile(`\A(?:` + pattern + `)\z`)
}

// beat serves a request that has been checked, at a time. changed reports whether there is something to store.
func (g *consumerGroup) beat(b *ConsumerBeat, o ConsumerOptions, topics Topics, now time.Time) (out ConsumerBeaten, changed bool) {
	if b.Epoch < 0 {
		return g.leave(b)
	}
	if o.full(len(g.members)) && g.members[b.Member] == nil {
		return o.refuseFull(), false
	}
	m, joined, out := g.find(b)
	if m == nil {
		return out, false
	}
	var read []assign.Topic
	if b.Pattern != nil {
		read = g.subscribed(m, nil)
	}
	updated, renamed, repatterned := m.update(b)
	g.put(m)
	changed = joined || updated
	if renamed || repatterned || g.stale(topics) {
		if g.refresh(topics) || renamed || repatterned && !slices.Equal(read, g.subscribed(m, nil)) {
			g.epoch++
		}
	}
	changed = g.aim(o.Assignors[0]) || changed
	before := m.current
	changed = g.reconcile(m, b.Owned, b.Owned != nil, now) || changed
	m.expires = now.Add(m.session(o))
	out = ConsumerBeaten{Member: m.id, Epoch: m.epoch, Heartbeat: o.Heartbeat}
	full := b.Epoch == joinEpoch || b.Rebalance >= 0 && (b.Topics != nil || b.Pattern != nil) && b.Owned != nil
	if full || !assign.Equal(before, m.current) {
		out.Assigned, out.Parts = true, g.parts(m.current, nil)
	}
	return out, changed
}

// find returns the member that a heartbeat is from, making it where it joins; or nil and the answer that says no.
func (g *consumerGroup) find(b *ConsumerBeat) (m *consumerMember, joined bool, out ConsumerBeaten) {
	m = g.members[b.Member]
	if b.Instance != nil {
		return g.findStatic(b)
	}
	switch {
	case m == nil && b.Epoch == joinEpoch:
		return &consumerMember{id: b.memberID()}, true, out
	case m == nil:
		return nil, false, refuse(groups.UnknownMemberID, "Member %s is not a member of group %s.", b.Member, g.id)
	}
	if out = m.fence(b); out.Code != groups.None {
		return nil, false, out
	}
	return m, false, out
}

// findStatic is find for a member with an instance.
func (g *consumerGroup) findStatic(b *ConsumerBeat) (m *consumerMember, joined bool, out ConsumerBeaten) {
	instance := *b.Instance
	m = g.members[g.static[instance]]
	switch {
	case m == nil && b.Epoch == joinEpoch:
		if m = g.members[b.Member]; m != nil {
			delete(g.static, m.instance)
			return m, false, out
		}
		return &consumerMember{id: b.memberID(), instance: instance}, true, out
	case m == nil:
		return nil, false, refuse(groups.UnknownMemberID, "Instance id %s is unknown.", instance)
	case b.Epoch == joinEpoch:
		if m.epoch != staticLeaveEpoch && m.classic == nil {
			return nil, false, refuse(groups.UnreleasedInstanceID, "Static member %s with instance id %s cannot join the group because the instance id is owned by %s member.", b.Member, instance, m.id)
		}
		return g.replace(m, b.memberID()), true, out
	case m.id != b.Member:
		return nil, false, refuse(groups.FencedInstanceID, "Static member %s with instance id %s was fenced by member %s.", b.Member, instance, m.id)
	}
	if out = m.fence(b); out.Code != groups.None {
		return nil, false, out
	}
	return m, false, out
}

// memberID returns the id that a heartbeat brings, or a new one.
func (b *ConsumerBeat) memberID() string {
	if b.Member != "" {
		return b.Member
	}
	return newUUID()
}

// newUUID makes an id as Kafka does for members that bring none.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[0] &= 0x7f           // never begins with a dash, which command lines would take for an option
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// fence checks a heartbeat's epoch. The one before is right too where the member has no more than it may: the answer with
// the new one may have been lost.
func (m *consumerMember) fence(b *ConsumerBeat) ConsumerBeaten {
	switch {
	case b.Epoch > m.epoch:
		return refuse(groups.FencedMemberEpoch, "The consumer group member has a greater member epoch (%d) than the one known by the group coordinator (%d). The member must abandon all its partitions and rejoin.", b.Epoch, m.epoch)
	case b.Epoch < m.epoch && b.Epoch != joinEpoch && (b.Epoch != m.previous || b.Owned == nil || !within(b.Owned, m.current)):
		return refuse(groups.FencedMemberEpoch, "The consumer group member has a smaller member epoch (%d) than the one known by the group coordinator (%d). The member must abandon all its partitions and rejoin.", b.Epoch, m.epoch)
	}
	return ConsumerBeaten{}
}

// update takes in what a heartbeat says of its member.
func (m *consumerMember) update(b *ConsumerBeat) (updated, renamed, repatterned bool) {
	set := func(to *string, from *string) {
		if from != nil && *to != *from {
			*to, updated = *from, true
		}
	}
	set(&m.instance, b.Instance)
	set(&m.rack, b.Rack)
	set(&m.assignor, b.Assignor)
	set(&m.client, &b.Client)
	set(&m.host, &b.Host)
	if b.Rebalance >= 0 && m.rebalance != b.Rebalance {
		m.rebalance, updated = b.Rebalance, true
	}
	if b.Topics != nil {
		names := slices.Compact(slices.Sorted(slices.Values(b.Topics)))
		if !slices.Equal(names, m.names) {
			m.names, updated, renamed = names, true, true
		}
	}
	if b.Pattern != nil && *b.Pattern != m.pattern {
		m.pattern, m.regex, updated, repatterned = *b.Pattern, b.regex, true, true
	}
	if m.classic != nil {
		m.classic, updated = nil, true
	}
	return updated, renamed, repatterned
}

// leave serves a member that goes.
func (g *consumerGroup) leave(b *ConsumerBeat) (out ConsumerBeaten, changed bool) {
	m := g.members[b.Member]
	if b.Instance != nil {
		m = g.members[g.static[*b.Instance]]
	}
	switch {
	case m == nil && b.Instance != nil:
		return refuse(groups.UnknownMemberID, "Instance id %s is unknown.", *b.Instance), false
	case m == nil:
		return refuse(groups.UnknownMemberID, "Member %s is not a member of group %s.", b.Member, g.id), false
	case m.id != b.Member:
		return refuse(groups.FencedInstanceID, "Static member %s with instance id %s was fenced by member %s.", b.Member, *b.Instance, m.id), false
	}
	if b.Epoch == staticLeaveEpoch {
		g.disown(m, m.revoking)
		m.epoch, m.revoking, m.revokeBy = staticLeaveEpoch, nil, time.Time{}
	} else {
		g.remove(m)
	}
	return ConsumerBeaten{Member: m.id, Epoch: b.Epoch}, true
}

// session is after how long silence is death.
func (m *consumerMember) session(o ConsumerOptions) time.Duration {
	if m.classic != nil {
		return m.classic.session
	}
	return o.Session
}

// end is when the member is put out if nothing is heard of it.
func (m *consumerMember) end() time.Time {
	end := m.expires
	earlier := func(t time.Time) {
		if !t.IsZero() && t.Before(end) {
			end = t
		}
	}
	earlier(m.revokeBy)
	if m.classic != nil {
		earlier(m.classic.joinBy)
		earlier(m.classic.syncBy)
	}
	return end
}

// expire takes out the members whose time is over, and returns when to look again; zero for not.
func (g *consumerGroup) expire(now time.Time) (next time.Time, out []string) {
	for _, id := range g.ids() {
		m := g.members[id]
		end := m.end()
		if !end.After(now) {
			g.remove(m)
			out = append(out, id)
			continue
		}
		if next.IsZero() || end.Before(next) {
			next = end
		}
	}
	return next, out
}

// start gives every member a new session, after a restart.
func (g *consumerGroup) start(o ConsumerOptions, now time.Time) {
	for _, m := range g.members {
		m.expires = now.Add(m.session(o))
		if m.state == memberUnrevoked && m.epoch >= 0 && m.classic == nil {
			m.revokeBy = now.Add(m.rebalance)
		}
	}
}
