package coordinator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/assign"
	"github.com/strata-kafka/strata/model"
)

// fakeTopics are topics that a test makes, grows and deletes.
type fakeTopics struct {
	version uint64
	next    byte
	topics  map[string]topicInfo
}

func newFakeTopics() *fakeTopics { return &fakeTopics{topics: map[string]topicInfo{}} }

func (f *fakeTopics) set(name string, partitions int32) {
	info, ok := f.topics[name]
	if !ok {
		f.next++
		info.id = assign.Topic{15: f.next}
	}
	info.partitions = partitions
	f.topics[name] = info
	f.version++
}

func (f *fakeTopics) drop(name string) {
	delete(f.topics, name)
	f.version++
}

func (f *fakeTopics) has(id assign.Topic) bool {
	for _, info := range f.topics {
		if info.id == id {
			return true
		}
	}
	return false
}

func (f *fakeTopics) Version() uint64 { return f.version }
func (f *fakeTopics) Names() []string { return slices.Sorted(maps.Keys(f.topics)) }
func (f *fakeTopics) Topic(name string) (assign.Topic, int32, bool) {
	info, ok := f.topics[name]
	return info.id, info.partitions, ok
}

// checkGroup holds a group against its invariants.
func checkGroup(t *testing.T, g *consumerGroup) {
	t.Helper()
	if g.assigned > g.epoch {
		t.Fatalf("assigned for epoch %d of %d", g.assigned, g.epoch)
	}
	owned := 0
	targets := map[assign.Topic]map[int32]string{}
	for id, m := range g.members {
		if m.id != id || m.instance != "" && g.static[m.instance] != id {
			t.Fatalf("member %s is in the tables as %s, instance %q as %s", m.id, id, m.instance, g.static[m.instance])
		}
		if m.epoch > g.epoch {
			t.Fatalf("member %s has epoch %d, the group %d", id, m.epoch, g.epoch)
		}
		if overlap(m.current, m.revoking) {
			t.Fatalf("member %s has and gives up the same", id)
		}
		if len(m.revoking) > 0 && m.state != memberUnrevoked {
			t.Fatalf("member %s is in state %d and gives up %v", id, m.state, m.revoking)
		}
		all := m.current.Join(m.revoking)
		owned += all.Count()
		n := 0
		for topic, ps := range m.since {
			for p := range ps {
				n++
				if g.owners[topic][p] != m || !all.Has(topic, p) {
					t.Fatalf("member %s has partition %d since, but not now", id, p)
				}
			}
		}
		if n != all.Count() {
			t.Fatalf("member %s has %d partitions, %d since when", id, all.Count(), n)
		}
		for topic, ps := range m.target {
			for _, p := range ps {
				if targets[topic] == nil {
					targets[topic] = map[int32]string{}
				}
				if other := targets[topic][p]; other != "" {
					t.Fatalf("partition %d is the target of %s and %s", p, other, id)
				}
				targets[topic][p] = id
			}
		}
	}
	for _, ps := range g.owners {
		owned -= len(ps)
	}
	if owned != 0 {
		t.Fatalf("owners and members differ by %d partitions", owned)
	}
}

// checkStored holds that a group is the same when it is stored and read again.
func checkStored(t *testing.T, g *consumerGroup) {
	t.Helper()
	if len(g.members) == 0 {
		return
	}
	b := encodeConsumer(g)
	again, err := parseConsumer(g.id, b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(encodeConsumer(again), b) {
		t.Fatal("what was stored and read is not the same")
	}
}

// simClient is a client as clients are: it stops reading what it is no longer to have some time after it was told, and
// says so then.
type simClient struct {
	id, instance string
	classic      bool
	generation   int32 // of a classic client
	epoch        int32
	topics       []string
	pattern      string
	told         assign.Assignment // what it was told to have
	reads        assign.Assignment // what it reads
	full         bool              // the next heartbeat says all, since an answer was lost
	changed      bool              // reads is not what the broker was told last
	resubscribe  bool
	gone         bool // stopped without a word
}

// drop is what a client does that is no longer a member.
func (c *simClient) drop() {
	c.epoch, c.generation, c.told, c.reads = 0, 0, nil, nil
}

type sim struct {
	t       *testing.T
	r       *rand.Rand
	g       *consumerGroup
	o       ConsumerOptions
	topics  *fakeTopics
	now     time.Time
	clients []*simClient
	made    int
	epoch   int32 // the group's highest
	calm    bool
}

func (s *sim) beat(c *simClient) {
	b := &ConsumerBeat{Version: 1, Group: s.g.id, Member: c.id, Epoch: c.epoch, Rebalance: -1, Client: "sim", Host: "/h"}
	if c.instance != "" {
		b.Instance = &c.instance
	}
	if c.epoch == 0 {
		c.reads = nil
	}
	if c.epoch == 0 || c.full || c.changed || s.r.IntN(3) == 0 {
		b.Owned = assign.Assignment{}
		maps.Copy(b.Owned, c.reads)
	}
	if c.epoch == 0 || c.full || c.resubscribe {
		b.Topics, b.Pattern, b.Rebalance = append([]string{}, c.topics...), &c.pattern, 30*time.Second
		if b.Owned == nil {
			b.Owned = maps.Clone(c.reads)
		}
		if b.Owned == nil {
			b.Owned = assign.Assignment{}
		}
	}
	if out := b.check(s.o); out.Code != groups.None {
		s.t.Fatalf("%+v: %+v", b, out)
	}
	if !s.calm && s.r.IntN(12) == 0 {
		c.full = true // the request is lost
		return
	}
	out, _ := s.g.beat(b, s.o, s.topics, s.now)
	if !s.calm && s.r.IntN(8) == 0 {
		c.full = true // the answer is lost
		return
	}
	switch out.Code {
	case groups.None:
	case groups.UnknownMemberID, groups.FencedMemberEpoch:
		c.drop()
		return
	case groups.FencedInstanceID, groups.UnreleasedInstanceID:
		c.drop()
		if s.calm {
			c.instance = "" // who has it stays
		}
		return
	default:
		s.t.Fatalf("%+v: %+v", b, out)
	}
	if out.Epoch < c.epoch {
		s.t.Fatalf("client %s had epoch %d, now %d", c.id, c.epoch, out.Epoch)
	}
	c.epoch, c.full, c.resubscribe, c.changed = out.Epoch, false, false, false
	if out.Assigned {
		c.told = assign.Assignment{}
		for _, p := range out.Parts {
			c.told[p.ID] = p.Partitions
		}
	}
	c.apply(s)
}

// apply stops reading what is no longer to be had, and begins with the rest when that is done; not always at once.
func (c *simClient) apply(s *sim) {
	if !s.calm && s.r.IntN(3) == 0 {
		return
	}
	keep, lost := c.reads.Split(c.told)
	if len(lost) > 0 {
		c.reads = keep
		return
	}
	c.reads = maps.Clone(c.told)
}

// step is a classic client's round.
func (s *sim) step(c *simClient) {
	if c.generation > 0 {
		code, _ := s.g.beatClassic(c.id, "", c.generation, s.o, s.topics, s.now)
		switch code {
		case groups.None:
			return
		case groups.RebalanceInProgress:
		default:
			c.drop()
			return
		}
	}
	// Cooperative clients give up what they are no longer to have, and tell what they keep.
	c.reads, _ = c.reads.Split(c.told)
	meta := encodeOwned(c.topics, c.reads, s.topics)
	r := &JoinRequest{Group: s.g.id, Member: c.id, Session: 30 * time.Second, Rebalance: 30 * time.Second, ProtocolType: consumerType, Protocols: []Protocol{{"cooperative-sticky", meta}}}
	a, m := s.g.joinClassic(r, s.o, s.topics, s.now)
	if m == nil {
		s.t.Fatalf("classic %s: %+v", c.id, a)
	}
	if !s.calm && s.r.IntN(8) == 0 {
		return
	}
	c.generation = a.Generation
	sync := s.g.syncClassic(&SyncRequest{Group: s.g.id, Member: c.id, Generation: a.Generation}, s.now)
	if sync.Code != groups.None {
		return
	}
	told := byID(parseAssignment(sync.Assignment), s.topics)
	keep, lost := c.reads.Split(told)
	c.told = told
	if c.reads = keep; len(lost) == 0 {
		c.reads = told
	}
}

func encodeOwned(topics []string, owned assign.Assignment, f *fakeTopics) []byte {
	b := encodeSubscription(topics)
	b[1] = 1
	n := len(b)
	b = append(b, 0, 0, 0, 0)
	for name, info := range f.topics {
		ps := owned[info.id]
		if len(ps) == 0 {
			continue
		}
		b[n+3]++
		b = putShort(b, name)
		b = append(b, 0, 0, 0, byte(len(ps)))
		for _, p := range ps {
			b = append(b, 0, 0, 0, byte(p))
		}
	}
	return b
}

// check holds that nothing is read by two who are both members.
func (s *sim) check() {
	checkGroup(s.t, s.g)
	if s.g.epoch < s.epoch {
		s.t.Fatalf("the group's epoch was %d, is %d", s.epoch, s.g.epoch)
	}
	s.epoch = s.g.epoch
	reader := map[assign.Topic]map[int32]*simClient{}
	for _, c := range s.clients {
		m := s.g.members[c.id]
		if m == nil || c.gone || m.classic == nil && c.epoch != m.epoch && c.epoch != m.previous {
			continue // it is out, and learns so with its next heartbeat
		}
		for topic, ps := range c.reads {
			for _, p := range ps {
				if reader[topic] == nil {
					reader[topic] = map[int32]*simClient{}
				}
				if other := reader[topic][p]; other != nil {
					s.t.Fatalf("%s and %s both read partition %d", other.id, c.id, p)
				}
				reader[topic][p] = c
				if s.g.owners[topic][p] != m && s.topics.has(topic) {
					s.t.Fatalf("%s reads partition %d of %v and does not own it: %+v; told %v, reads %v, has %+v", c.id, p, topic, *c, c.told, c.reads, *m)
				}
			}
		}
	}
}

func (s *sim) add() {
	s.made++
	c := &simClient{id: fmt.Sprintf("m%03d", s.made)}
	c.subscribe(s)
	switch s.r.IntN(5) {
	case 0:
		c.instance = fmt.Sprintf("i%d", s.r.IntN(3))
	case 1:
		c.classic, c.pattern = true, ""
	}
	s.clients = append(s.clients, c)
}

func (c *simClient) subscribe(s *sim) {
	c.topics, c.pattern = nil, ""
	for _, name := range []string{"ta", "tb", "tc", "nope"} {
		if s.r.IntN(2) == 0 {
			c.topics = append(c.topics, name)
		}
	}
	if !c.classic && s.r.IntN(3) == 0 {
		c.pattern = []string{"t.", "t[ab]", "x", "t"}[s.r.IntN(4)]
	}
	c.resubscribe = true
}

// disturb is one thing that happens.
func (s *sim) disturb() {
	pick := func() *simClient {
		if len(s.clients) == 0 {
			return &simClient{}
		}
		return s.clients[s.r.IntN(len(s.clients))]
	}
	switch s.r.IntN(14) {
	case 0, 1:
		if len(s.clients) < 8 {
			s.add()
		}
	case 2:
		pick().subscribe(s)
	case 3:
		s.topics.set([]string{"ta", "tb", "tc"}[s.r.IntN(3)], 1+s.r.Int32N(9))
	case 4:
		if s.r.IntN(4) == 0 {
			s.topics.drop("tb")
		}
	case 5: // leaves
		c := pick()
		b := &ConsumerBeat{Version: 1, Group: s.g.id, Member: c.id, Epoch: leaveEpoch, Rebalance: -1}
		if c.instance != "" {
			b.Instance = &c.instance
			if s.r.IntN(2) == 0 {
				b.Epoch = staticLeaveEpoch
			}
		}
		if c.id != "" && !c.classic {
			s.g.beat(b, s.o, s.topics, s.now)
			s.forget(c)
			if b.Epoch == staticLeaveEpoch { // comes back as another
				s.add()
				x := s.clients[len(s.clients)-1]
				x.instance, x.classic = c.instance, false
			}
		}
	case 6:
		pick().gone = true
	case 7:
		s.now = s.now.Add(time.Duration(s.r.IntN(50)) * time.Second)
		s.g.expire(s.now)
		for _, c := range slices.Clone(s.clients) {
			if c.gone && s.g.members[c.id] == nil {
				s.forget(c)
			}
		}
	case 8: // the broker is killed
		if len(s.g.members) > 0 {
			g, err := parseConsumer(s.g.id, encodeConsumer(s.g))
			if err != nil {
				s.t.Fatal(err)
			}
			g.start(s.o, s.now)
			s.g = g
		}
	}
}

func (s *sim) forget(c *simClient) {
	s.clients = slices.DeleteFunc(s.clients, func(x *simClient) bool { return x == c })
}

func (s *sim) round() {
	for _, i := range s.r.Perm(len(s.clients)) {
		c := s.clients[i]
		switch {
		case c.gone:
		case c.classic:
			s.step(c)
		default:
			s.beat(c)
		}
		s.check()
	}
}

// TestConsumerGroupsUnderDisturbance has members come, go, die, lose requests and answers, and change their minds, while
// topics come, go and grow and the broker is killed. At no time two of them read the same; left alone, they converge.
func TestConsumerGroupsUnderDisturbance(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		s := &sim{
			t: t, r: rand.New(rand.NewPCG(seed, 7)), g: newConsumerGroup("g", 0), topics: newFakeTopics(), now: time.Unix(1e9, 0),
			o: ConsumerOptions{Assignors: [][]string{{"uniform", "range"}, {"range"}}[seed%2]}.withDefaults(),
		}
		s.topics.set("ta", 4)
		s.topics.set("tb", 3)
		for range 120 {
			s.disturb()
			s.check()
			checkStored(t, s.g)
			s.round()
		}
		s.calm = true
		s.now = s.now.Add(time.Hour)
		s.g.expire(s.now) // all who are silent
		s.clients = slices.DeleteFunc(s.clients, func(c *simClient) bool { return c.gone })
		s.add()
		for range 40 {
			s.round()
		}
		s.settled(seed)
	}
}

// settled holds that all read what they are to read, and all is read.
func (s *sim) settled(seed uint64) {
	if st := s.g.state(); st != model.GroupStable {
		s.t.Fatalf("seed %d: the group is %s, for epoch %d", seed, st, s.g.epoch)
	}
	read := 0
	for _, c := range s.clients {
		m := s.g.members[c.id]
		if m == nil {
			s.t.Fatalf("seed %d: client %s is out", seed, c.id)
		}
		if !assign.Equal(m.current, m.target) || !assign.Equal(c.reads, m.current) {
			s.t.Fatalf("seed %d: client %s reads %v, has %v, is to have %v", seed, c.id, c.reads, m.current, m.target)
		}
		read += c.reads.Count()
	}
	want := 0
	for name, info := range s.topics.topics {
		if s.g.subscribes(name) {
			want += int(info.partitions)
		}
	}
	if read != want || len(s.g.members) != len(s.clients) {
		s.t.Fatalf("seed %d: %d of %d partitions are read, by %d of %d members", seed, read, want, len(s.clients), len(s.g.members))
	}
}
