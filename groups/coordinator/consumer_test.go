package coordinator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/assign"
	"github.com/strata-kafka/strata/model"
)

// newMember is a member of a consumer group that does as it is told.
type newMember struct {
	b         *broker
	group, id string
	instance  string
	topics    []string
	pattern   string
	epoch     int32
	has       []Part
}

func (b *broker) newMember(group, id string, topics ...string) *newMember {
	return &newMember{b: b, group: group, id: id, topics: topics}
}

// ask sends a heartbeat; edit changes it before.
func (m *newMember) ask(edit func(*ConsumerBeat)) ConsumerBeaten {
	b := ConsumerBeat{Version: 1, Group: m.group, Member: m.id, Epoch: m.epoch, Rebalance: -1, Client: "c", Host: "/10.0.0.1"}
	if m.instance != "" {
		b.Instance = &m.instance
	}
	if m.epoch == joinEpoch {
		b.Rebalance, b.Topics, b.Owned = 20*time.Second, m.topics, assign.Assignment{}
		if m.pattern != "" {
			b.Pattern = &m.pattern
		}
	}
	if edit != nil {
		edit(&b)
	}
	out := m.b.c.ConsumerHeartbeat(context.Background(), b)
	if out.Code == groups.None {
		m.epoch = out.Epoch
		if out.Assigned {
			m.has = out.Parts
		}
	}
	return out
}

// must is ask, and says what the member has after it.
func (m *newMember) must(edit func(*ConsumerBeat)) string {
	m.b.t.Helper()
	if out := m.ask(edit); out.Code != groups.None {
		m.b.t.Fatalf("heartbeat of %s: %d %s", m.id, out.Code, out.Message)
	}
	return m.said()
}

func (m *newMember) said() string {
	var s []string
	for _, p := range m.has {
		s = append(s, fmt.Sprint(p.ID[15], p.Partitions))
	}
	return fmt.Sprintf("%d: %s", m.epoch, strings.Join(s, " "))
}

// owning says what the member has.
func (m *newMember) owning(b *ConsumerBeat) {
	b.Owned = assign.Assignment{}
	for _, p := range m.has {
		b.Owned[p.ID] = p.Partitions
	}
}

func leaving(b *ConsumerBeat) { b.Epoch = leaveEpoch }

// inNewBubble is inBubble with topics.
func inNewBubble(t *testing.T, o Options, f func(t *testing.T, b *broker, topics *fakeTopics)) {
	topics := newFakeTopics()
	topics.set("ta", 4) // 1
	topics.set("tb", 2) // 2
	o.Topics = topics
	inBubble(t, o, func(t *testing.T, b *broker) { f(t, b, topics) })
}

func TestConsumerMembersGiveUpBeforeOthersGet(t *testing.T) {
	inNewBubble(t, Options{}, func(t *testing.T, b *broker, _ *fakeTopics) {
		x, y := b.newMember("g", "x", "ta"), b.newMember("g", "y", "ta")
		want(t, "x joins", x.must(nil), "2: 1 [0 1 2 3]")
		want(t, "y joins", y.must(nil), "3: ")
		want(t, "state", b.view("g").State, model.GroupReconciling)
		want(t, "x is told to give up", x.must(nil), "2: 1 [0 1]")
		want(t, "y while x has not", y.must(nil), "3: ")
		want(t, "x without a word of what it has", x.must(nil), "2: 1 [0 1]")
		d := b.c.ConsumerDescribe("g")
		want(t, "described", fmt.Sprint(d.State, d.Epoch, d.AssignmentEpoch, d.Assignor, len(d.Members), d.Members[0].Assigned[0].Partitions, d.Members[1].Target[0].Partitions, d.Members[1].Assigned),
			"Reconciling3 3uniform2 [0 1] [2 3] []")
		want(t, "what screens see of x meanwhile", fmt.Sprint(b.view("g").Members[0].Assignment), tps("ta", 0, 1, 2, 3))
		want(t, "x has given up", x.must(x.owning), "3: 1 [0 1]")
		want(t, "y gets it", y.must(nil), "3: 1 [2 3]")
		g := b.view("g")
		want(t, "what is shown", fmt.Sprint(g.State, g.Type, g.ProtocolType, g.Protocol, len(g.Members), g.Members[1].Client, g.Members[1].Host, g.Members[1].Assignment),
			"StableConsumerconsumeruniform2c10.0.0.1"+tps("ta", 2, 3))
		want(t, "y leaves", y.ask(leaving).Epoch, int32(leaveEpoch))
		want(t, "x gets all", x.must(nil), "4: 1 [0 1 2 3]")
		want(t, "y is no member", y.ask(func(b *ConsumerBeat) { b.Epoch = 3 }).Code, groups.UnknownMemberID)
		x.ask(leaving)
		want(t, "state in the end", b.view("g").State, model.GroupEmpty)
		want(t, "groups in memory", len(b.inMemory()), 0)
		want(t, "x is no member", x.ask(func(b *ConsumerBeat) { b.Epoch = 4 }).Code, groups.UnknownMemberID)
		want(t, "described in the end", fmt.Sprint(b.c.ConsumerDescribe("g").State, b.c.ConsumerDescribe("g").Epoch), "Empty5")
		z := b.newMember("g", "z", "ta")
		want(t, "epochs go on", z.must(nil), "6: 1 [0 1 2 3]")
	})
}

func TestWhatAConsumerHeartbeatIsRefusedFor(t *testing.T) {
	str := func(s string) *string { return &s }
	inNewBubble(t, Options{Consumer: ConsumerOptions{MaxSize: 2}}, func(t *testing.T, b *broker, _ *fakeTopics) {
		x := b.newMember("g", "x", "ta")
		x.must(nil)
		old := request("old", "")
		old.ProtocolType = "connect"
		a := b.join(old)
		b.lead("old", a)
		for name, tc := range map[string]struct {
			edit func(*ConsumerBeat)
			code groups.Code
		}{
			"no group":                     {func(b *ConsumerBeat) { b.Group = "" }, groups.InvalidRequest},
			"no member in version 1":       {func(b *ConsumerBeat) { b.Member = "" }, groups.InvalidRequest},
			"leave without member":         {func(b *ConsumerBeat) { b.Version, b.Member, b.Epoch = 0, "", -1 }, groups.InvalidRequest},
			"empty instance":               {func(b *ConsumerBeat) { b.Instance = str("") }, groups.InvalidRequest},
			"empty rack":                   {func(b *ConsumerBeat) { b.Rack = str(" ") }, groups.InvalidRequest},
			"epoch -3":                     {func(b *ConsumerBeat) { b.Epoch = -3 }, groups.InvalidRequest},
			"static leave, no instance":    {func(b *ConsumerBeat) { b.Epoch = -2 }, groups.InvalidRequest},
			"no rebalance time":            {func(b *ConsumerBeat) { b.Rebalance = -1 }, groups.InvalidRequest},
			"partitions not said":          {func(b *ConsumerBeat) { b.Owned = nil }, groups.InvalidRequest},
			"partitions when joining":      {func(b *ConsumerBeat) { b.Owned = assign.Assignment{{15: 1}: {0}} }, groups.InvalidRequest},
			"neither topics nor pattern":   {func(b *ConsumerBeat) { b.Topics = nil }, groups.InvalidRequest},
			"an assignor nobody knows":     {func(b *ConsumerBeat) { b.Assignor = str("sticky") }, groups.UnsupportedAssignor},
			"a pattern that is none":       {func(b *ConsumerBeat) { b.Pattern = str("a(b") }, groups.InvalidRegularExpression},
			"a pattern that escapes":       {func(b *ConsumerBeat) { b.Pattern = str("a)|(b") }, groups.InvalidRegularExpression},
			"unknown group":                {func(b *ConsumerBeat) { b.Group, b.Epoch = "none", 1 }, groups.GroupIDNotFound},
			"leave of an unknown group":    {func(b *ConsumerBeat) { b.Group, b.Epoch = "none", -1 }, groups.GroupIDNotFound},
			"unknown member":               {func(b *ConsumerBeat) { b.Epoch = 1 }, groups.UnknownMemberID},
			"leave of an unknown member":   {func(b *ConsumerBeat) { b.Epoch = -1 }, groups.UnknownMemberID},
			"unknown instance":             {func(b *ConsumerBeat) { b.Epoch, b.Instance = 1, str("i") }, groups.UnknownMemberID},
			"leave of an unknown instance": {func(b *ConsumerBeat) { b.Epoch, b.Instance = -2, str("i") }, groups.UnknownMemberID},
			"epoch above":                  {func(b *ConsumerBeat) { b.Member, b.Epoch = "x", 9 }, groups.FencedMemberEpoch},
			"epoch below":                  {func(b *ConsumerBeat) { b.Member, b.Epoch = "x", 1 }, groups.FencedMemberEpoch},
			"a group of another protocol":  {func(b *ConsumerBeat) { b.Group = "old" }, groups.GroupIDNotFound},
			"heartbeat to such":            {func(b *ConsumerBeat) { b.Group, b.Epoch = "old", 1 }, groups.GroupIDNotFound},
		} {
			if out := b.newMember("g", "y", "ta").ask(tc.edit); out.Code != tc.code || out.Message == "" {
				t.Errorf("%s: %d %q, want %d", name, out.Code, out.Message, tc.code)
			}
		}
		want(t, "the old group", b.beat("old", a), groups.None)
		b.newMember("g", "y", "ta").must(nil)
		want(t, "one too many", b.newMember("g", "z", "ta").ask(nil).Code, groups.GroupMaxSizeReached)
		x.epoch = joinEpoch
		want(t, "x joins anew", x.ask(nil).Code, groups.None)
		b.stop()
		b.start()
		if err := b.c.Close(); err != nil {
			t.Error(err)
		}
		want(t, "a broker that ends", b.newMember("new", "z", "ta").ask(nil).Code, groups.NotCoordinator)
	})
}

func TestConsumerLostAnswers(t *testing.T) {
	inNewBubble(t, Options{}, func(t *testing.T, b *broker, _ *fakeTopics) {
		x, y := b.newMember("g", "x", "ta"), b.newMember("g", "y", "ta")
		x.must(nil)
		x.epoch = joinEpoch
		want(t, "x joins twice", x.must(nil), "2: 1 [0 1 2 3]")
		y.must(nil)
		x.must(nil)
		x.must(x.owning)
		x.epoch--
		want(t, "the epoch before with what it may have", x.must(x.owning), "3: 1 [0 1]")
		x.epoch--
		want(t, "the epoch before without a word", x.ask(nil).Code, groups.FencedMemberEpoch)
		more := func(b *ConsumerBeat) { b.Owned = assign.Assignment{{15: 1}: {0, 1, 2}} }
		want(t, "the epoch before with more", x.ask(more).Code, groups.FencedMemberEpoch)
		x.epoch++
		all := func(b *ConsumerBeat) { b.Rebalance, b.Topics = time.Second, x.topics; x.owning(b) }
		x.has = nil
		want(t, "all is said", x.must(all), "3: 1 [0 1]")
		x.epoch = joinEpoch
		want(t, "x joins anew", x.must(nil), "3: 1 [0 1]")
		want(t, "y", y.must(nil), "3: 1 [2 3]")
	})
}

func TestConsumerMembersThatAreSilentAreOut(t *testing.T) {
	inNewBubble(t, Options{}, func(t *testing.T, b *broker, _ *fakeTopics) {
		x, y := b.newMember("g", "x", "ta"), b.newMember("g", "y", "ta")
		x.must(nil)
		y.must(nil)
		x.must(nil)
		for range 9 { // y goes on, x never gives up: 20 s is its rebalance
			time.Sleep(2 * time.Second)
			x.must(nil)
			y.must(nil)
		}
		time.Sleep(2*time.Second + time.Millisecond)
		synctest.Wait()
		want(t, "x has not given up in time", x.ask(nil).Code, groups.UnknownMemberID)
		want(t, "y has all", y.must(nil), "4: 1 [0 1 2 3]")
		time.Sleep(45*time.Second - time.Millisecond)
		synctest.Wait()
		want(t, "before its session is over", len(b.view("g").Members), 1)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		want(t, "after it", b.view("g").State, model.GroupEmpty)
		want(t, "groups in memory", len(b.inMemory()), 0)
	})
}

func TestStaticConsumersComeBack(t *testing.T) {
	inNewBubble(t, Options{}, func(t *testing.T, b *broker, _ *fakeTopics) {
		s1, s2, d := b.newMember("g", "s1", "ta"), b.newMember("g", "s2", "ta"), b.newMember("g", "d", "tb")
		s1.instance, s2.instance = "i", "i"
		s1.must(nil)
		d.must(nil)
		s1.must(s1.owning)
		want(t, "another with the instance", s2.ask(nil).Code, groups.UnreleasedInstanceID)
		s1.epoch = joinEpoch
		want(t, "the same anew", s1.ask(nil).Code, groups.UnreleasedInstanceID)
		s1.ask(func(b *ConsumerBeat) { b.Epoch = staticLeaveEpoch })
		want(t, "who has left for a while", s1.epoch, int32(staticLeaveEpoch))
		want(t, "commit meanwhile", b.c.Commit(t.Context(), CommitCheck{Group: "g", Member: "s1", Generation: 3}, nil), groups.StaleMemberEpoch)
		want(t, "state", b.view("g").State, model.GroupReconciling)
		b.kill()
		want(t, "the other comes", s2.must(nil), "3: 1 [0 1 2 3]")
		s1.epoch = 3
		want(t, "the former self", s1.ask(nil).Code, groups.FencedInstanceID)
		want(t, "its leave", s1.ask(leaving).Code, groups.FencedInstanceID)
		want(t, "d has not noticed", d.must(nil), "3: 2 [0 1]")
		s2.ask(func(b *ConsumerBeat) { b.Epoch = staticLeaveEpoch })
		for range 9 {
			time.Sleep(5 * time.Second)
			d.must(nil)
		}
		synctest.Wait()
		want(t, "who does not come back in time is out", len(b.view("g").Members), 1)
		want(t, "d learns", d.must(nil), "4: 2 [0 1]")
	})
}

func TestConsumerSubscriptions(t *testing.T) {
	inNewBubble(t, Options{}, func(t *testing.T, b *broker, topics *fakeTopics) {
		x := b.newMember("g", "x", "ta", "none")
		want(t, "by name", x.must(nil), "2: 1 [0 1 2 3]")
		topics.set("other", 1) // 3
		want(t, "a topic that is not its own", x.must(nil), "2: 1 [0 1 2 3]")
		topics.set("none", 1) // 4
		want(t, "the topic comes", x.must(nil), "3: 1 [0 1 2 3] 4 [0]")
		topics.set("ta", 5)
		want(t, "it grows", x.must(nil), "4: 1 [0 1 2 3 4] 4 [0]")
		topics.drop("ta")
		want(t, "it goes", x.must(nil), "4: 4 [0]")
		want(t, "it is given up", x.must(x.owning), "5: 4 [0]")
		topics.set("ta", 1) // 5
		want(t, "it is made anew", x.must(nil), "6: 4 [0] 5 [0]")
		pattern := "t[ab]"
		want(t, "by pattern instead", x.must(func(b *ConsumerBeat) { b.Topics, b.Pattern = []string{}, &pattern }), "6: 5 [0]")
		want(t, "it is given up", x.must(x.owning), "7: 2 [0 1] 5 [0]")
		topics.set("tc", 1)
		want(t, "a topic that does not match", x.must(nil), "7: 2 [0 1] 5 [0]")
		part := "t"
		x.must(func(b *ConsumerBeat) { b.Pattern = &part })
		want(t, "the whole name must match", x.must(x.owning), "8: ")
		y := b.newMember("g", "y")
		y.topics, y.pattern = []string{"tb"}, "o.*r"
		want(t, "both", y.must(nil), "9: 2 [0 1] 3 [0]")
		g := b.c.lock("g")
		if yes, known := g.kind.subscribes("other"); !yes || !known {
			t.Errorf("subscribes: %v, %v", yes, known)
		}
		if yes, _ := g.kind.subscribes("tc"); yes {
			t.Error("nobody subscribes to tc")
		}
		b.c.unlock(g)
	})
}

func TestConsumersChooseTheAssignor(t *testing.T) {
	inNewBubble(t, Options{Consumer: ConsumerOptions{Assignors: []string{"range", "uniform", "unheard"}}}, func(t *testing.T, b *broker, _ *fakeTopics) {
		uniform := "uniform"
		b.newMember("g", "x", "ta").must(nil)
		want(t, "default", b.c.ConsumerDescribe("g").Assignor, "range")
		b.newMember("g", "y", "ta").must(func(b *ConsumerBeat) { b.Assignor = &uniform })
		want(t, "the wish of one", b.c.ConsumerDescribe("g").Assignor, "uniform")
	})
}

func TestWhatConsumersMayCommitAndFetch(t *testing.T) {
	inNewBubble(t, Options{}, func(t *testing.T, b *broker, _ *fakeTopics) {
		commit := func(r CommitCheck, partitions ...int32) groups.Code {
			var all []groups.Committed
			for _, p := range partitions {
				all = append(all, groups.Committed{Commit: model.Commit{TopicPartition: model.TopicPartition{Topic: "ta", Partition: p}}, Expires: model.NoTime})
			}
			r.Group = "g"
			return b.c.Commit(t.Context(), r, all)
		}
		want(t, "simple, no group yet", commit(CommitCheck{Generation: -1}, 0), groups.None)
		x, y := b.newMember("g", "x", "ta"), b.newMember("g", "y", "ta")
		x.must(nil)
		y.must(nil)
		x.must(nil)
		x.must(x.owning)
		y.must(nil) // both have epoch 3; x has 0 and 1 since 2, y the others since 3
		for name, tc := range map[string]struct {
			r    CommitCheck
			p    []int32
			code groups.Code
		}{
			"its epoch":                     {CommitCheck{Member: "x", Generation: 3}, []int32{0, 3}, groups.None},
			"epoch above":                   {CommitCheck{Member: "x", Generation: 4}, []int32{0}, groups.StaleMemberEpoch},
			"epoch before, had since":       {CommitCheck{Member: "x", Generation: 2}, []int32{0, 1}, groups.None},
			"epoch before, one given up":    {CommitCheck{Member: "x", Generation: 2}, []int32{0, 3}, groups.StaleMemberEpoch},
			"epoch before, got later":       {CommitCheck{Member: "y", Generation: 2}, []int32{3}, groups.StaleMemberEpoch},
			"an old client":                 {CommitCheck{Member: "x", Generation: 3, Old: true}, []int32{0}, groups.UnsupportedVersion},
			"an old client's transaction":   {CommitCheck{Member: "x", Generation: 3, Old: true, Txn: true}, []int32{0}, groups.None},
			"a transaction's former epoch":  {CommitCheck{Member: "x", Generation: 2, Txn: true}, nil, groups.StaleMemberEpoch},
			"a stranger":                    {CommitCheck{Member: "z", Generation: 3}, []int32{0}, groups.UnknownMemberID},
			"nobody, while there are some":  {CommitCheck{Generation: -1}, []int32{0}, groups.UnknownMemberID},
			"a member that says it is none": {CommitCheck{Member: "x", Generation: -1}, []int32{0}, groups.StaleMemberEpoch},
		} {
			want(t, name, commit(tc.r, tc.p...), tc.code)
		}
		want(t, "fetch", b.c.MayFetch("g", "x", 3), groups.None)
		want(t, "fetch, former epoch", b.c.MayFetch("g", "x", 2), groups.StaleMemberEpoch)
		want(t, "fetch of a stranger", b.c.MayFetch("g", "z", 3), groups.UnknownMemberID)
		want(t, "fetch of nobody", b.c.MayFetch("g", "", -1), groups.None)
		_, code := b.c.DeleteOffsets(t.Context(), "g", nil)
		want(t, "delete offsets", code, groups.None)
		codes, _ := b.c.DeleteOffsets(t.Context(), "g", []model.TopicPartition{{Topic: "ta"}, {Topic: "tb"}})
		want(t, "delete offsets of a topic", fmt.Sprint(codes), fmt.Sprint([]groups.Code{groups.GroupSubscribedToTopic, groups.None}))
		want(t, "delete", b.c.Delete(t.Context(), "g"), groups.NonEmptyGroup)
		want(t, "classic description", b.c.Describe("g").Code, groups.GroupIDNotFound)
		x.ask(leaving)
		y.ask(leaving)
		want(t, "fetch of who has left", b.c.MayFetch("g", "x", 3), groups.UnknownMemberID)
		want(t, "fetch of nobody then", b.c.MayFetch("g", "", -1), groups.None)
		want(t, "simple, no members", commit(CommitCheck{Generation: -1, Old: true}, 0), groups.None)
		want(t, "stranger, no members", commit(CommitCheck{Member: "x", Generation: 3}, 0), groups.UnknownMemberID)
		want(t, "delete then", b.c.Delete(t.Context(), "g"), groups.None)
		want(t, "described then", b.c.ConsumerDescribe("g").Code, groups.GroupIDNotFound)
		want(t, "a new group begins anew", b.newMember("g", "x", "ta").must(nil), "2: 1 [0 1 2 3]")
	})
}

func TestConsumersOutliveTheBroker(t *testing.T) {
	for name, end := range map[string]func(*broker){
		"killed": (*broker).kill,
		"closed": func(b *broker) { b.stop(); b.start() },
	} {
		t.Run(name, func(t *testing.T) {
			inNewBubble(t, Options{}, func(t *testing.T, b *broker, topics *fakeTopics) {
				x, y := b.newMember("g", "x", "ta"), b.newMember("g", "y", "ta")
				x.must(nil)
				end(b)
				y.must(nil)
				end(b)
				x.must(nil)
				end(b)
				want(t, "y", y.must(nil), "3: ")
				before := fmt.Sprintf("%+v %+v", b.view("g"), b.c.ConsumerDescribe("g"))
				end(b)
				want(t, "what is shown", fmt.Sprintf("%+v %+v", b.view("g"), b.c.ConsumerDescribe("g")), before)
				want(t, "x gives up", x.must(x.owning), "3: 1 [0 1]")
				end(b)
				want(t, "y gets", y.must(nil), "3: 1 [2 3]")
				end(b)
				want(t, "nothing has changed", x.must(nil)+y.must(nil), "3: 1 [0 1]3: 1 [2 3]")
				topics.set("ta", 6)
				end(b)
				want(t, "what has grown meanwhile is seen", x.must(nil)+y.must(nil), "4: 1 [0 1 4]4: 1 [2 3 5]")
				time.Sleep(30 * time.Second)
				end(b)
				time.Sleep(30 * time.Second)
				want(t, "a session begins anew", x.must(nil), "4: 1 [0 1 4]")
				time.Sleep(15*time.Second + time.Millisecond)
				synctest.Wait()
				want(t, "and ends", x.must(nil), "5: 1 [0 1 2 3 4 5]")
				x.ask(leaving)
				end(b)
				want(t, "who has left is not there", len(b.inMemory()), 0)
			})
		})
	}
}

func FuzzConsumerRecord(f *testing.F) {
	topics := newFakeTopics()
	topics.set("ta", 4)
	g := newConsumerGroup("g", 5)
	beat := func(b ConsumerBeat) {
		b.Rebalance, b.Owned = time.Second, assign.Assignment{}
		b.check(ConsumerOptions{}.withDefaults())
		g.beat(&b, ConsumerOptions{}.withDefaults(), topics, time.Unix(1, 0))
	}
	pattern, instance := "t.*", "i"
	beat(ConsumerBeat{Group: "g", Member: "x", Topics: []string{"ta"}, Instance: &instance})
	beat(ConsumerBeat{Group: "g", Member: "y", Pattern: &pattern})
	g.joinClassic(&JoinRequest{Member: "z", ProtocolType: consumerType, Protocols: []Protocol{{"range", encodeSubscription([]string{"ta"})}}}, ConsumerOptions{}.withDefaults(), topics, time.Unix(1, 0))
	f.Add(encodeConsumer(g))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := parseConsumer("g", b)
		if err != nil {
			return
		}
		again := encodeConsumer(g)
		h, err := parseConsumer("g", again)
		if err != nil || !slices.Equal(encodeConsumer(h), again) {
			t.Errorf("what was read and stored cannot be read: %v", err)
		}
	})
}
