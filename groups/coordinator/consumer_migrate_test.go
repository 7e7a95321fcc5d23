package coordinator

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/assign"
	"github.com/strata-kafka/strata/model"
)

// owner is a classic join that says which partitions of topic ta it has.
func owner(group, id string, topics *fakeTopics, partitions ...int32) JoinRequest {
	r := request(group, id)
	meta := encodeOwned([]string{"ta"}, assign.Assignment{topics.topics["ta"].id: partitions}, topics)
	r.Protocols = []Protocol{{"range", meta}, {"roundrobin", meta}}
	return r
}

// fetched syncs as a follower.
func (b *broker) fetched(group string, a JoinAnswer) string {
	b.t.Helper()
	s := b.c.Sync(context.Background(), SyncRequest{Group: group, Member: a.MemberID, Generation: a.Generation})
	return fmt.Sprint(s.Code, parseAssignment(s.Assignment))
}

func none(topic string, partitions ...int32) string {
	return fmt.Sprint(groups.None, parseAssignment(encodeAssignment(list(topic, partitions...))))
}

func list(topic string, partitions ...int32) (out []model.TopicPartition) {
	for _, p := range partitions {
		out = append(out, model.TopicPartition{Topic: topic, Partition: p})
	}
	return out
}

func TestAClassicGroupBecomesAConsumerGroupAndBack(t *testing.T) {
	inNewBubble(t, Options{Partitions: func(string) int32 { return 4 }}, func(t *testing.T, b *broker, topics *fakeTopics) {
		c := b.join(owner("g", "", topics))
		all := encodeAssignment(list("ta", 0, 1, 2, 3))
		b.c.Sync(t.Context(), SyncRequest{Group: "g", Member: c.MemberID, Generation: 1, Assignments: []Assigned{{c.MemberID, all}}})
		n := b.newMember("g", "n", "ta")
		want(t, "n joins", n.must(nil), "2: ")
		b.kill()
		want(t, "the classic member has what it had", fmt.Sprint(b.view("g").Type, b.view("g").Members[0].Assignment), "Consumer"+tps("ta", 0, 1, 2, 3))
		want(t, "it is to join anew", b.beat("g", c), groups.RebalanceInProgress)
		want(t, "not to sync", b.fetched("g", c), fmt.Sprint(groups.RebalanceInProgress, []model.TopicPartition(nil)))
		commit := func(generation int32) groups.Code {
			return b.c.Commit(t.Context(), CommitCheck{Group: "g", Member: c.MemberID, Generation: generation, Old: true}, nil)
		}
		want(t, "its commit", commit(1), groups.None)
		want(t, "its commit, wrong", commit(2), groups.IllegalGeneration)
		c = b.join(owner("g", c.MemberID, topics, 0, 1, 2, 3))
		want(t, "it joins with all", c.Generation, int32(1))
		want(t, "it is to keep two", b.fetched("g", c), none("ta", 0, 1))
		want(t, "and to join anew", b.beat("g", c), groups.RebalanceInProgress)
		want(t, "n meanwhile", n.must(nil), "2: ")
		c = b.join(owner("g", c.MemberID, topics, 0, 1))
		want(t, "it joins with two", c.Generation, int32(2))
		want(t, "it has two", b.fetched("g", c), none("ta", 0, 1))
		want(t, "n has the others", n.must(nil), "2: 1 [2 3]")
		want(t, "all is well", b.beat("g", c), groups.None)
		want(t, "state", b.view("g").State, model.GroupStable)
		want(t, "who is what", fmt.Sprint(b.c.ConsumerDescribe("g").Members[0].Classic, b.c.ConsumerDescribe("g").Members[1].Classic), "true false")
		d := b.join(owner("g", "", topics))
		want(t, "another classic member", d.Generation, int32(3))
		b.kill()

		n.ask(leaving)
		want(t, "the last consumer member has left", fmt.Sprint(b.view("g").Type, b.view("g").State, len(b.view("g").Members)), "ClassicPreparingRebalance2")
		want(t, "no consumer group", b.c.ConsumerDescribe("g").Code, groups.GroupIDNotFound)
		b.kill()
		want(t, "a former generation", b.beat("g", c), groups.IllegalGeneration)
		want(t, "the one before the change", b.beat("g", d), groups.RebalanceInProgress)
		first := b.later(owner("g", c.MemberID, topics))
		d = b.join(owner("g", d.MemberID, topics))
		synctest.Wait()
		c = answered(t, "the other's join", first)
		want(t, "both are in", fmt.Sprint(c.Code, d.Code, c.Generation, d.Generation), fmt.Sprint(groups.None, groups.None, 4, 4))
	})
}

func TestAClassicMemberJoinsAConsumerGroup(t *testing.T) {
	inNewBubble(t, Options{}, func(t *testing.T, b *broker, topics *fakeTopics) {
		n := b.newMember("g", "n", "ta")
		n.must(nil)
		r := owner("g", "", topics)
		r.KnowsID = true
		a := b.c.Join(t.Context(), r)
		want(t, "it is given an id", a.Code, groups.MemberIDRequired)
		r.Member = a.MemberID
		other := r
		other.ProtocolType = "connect"
		want(t, "another protocol", b.c.Join(t.Context(), other).Code, groups.InconsistentGroupProtocol)
		other = r
		other.Protocols = []Protocol{{"range", []byte("what?")}}
		want(t, "no subscription", b.c.Join(t.Context(), other).Code, groups.InconsistentGroupProtocol)
		want(t, "a heartbeat before it is in", b.c.Heartbeat("g", a.MemberID, "", 0), groups.UnknownMemberID)
		c := b.join(r)
		want(t, "it is in", fmt.Sprint(c.Generation, c.ProtocolType, c.Protocol, c.Leader, len(c.Members)), "3consumerrange0")
		want(t, "it has nothing yet", b.fetched("g", c), none("ta"))
		want(t, "it waits", b.beat("g", c), groups.None)
		want(t, "n is told", n.must(nil), "2: 1 [0 1]")
		want(t, "n gives up", n.must(n.owning), "3: 1 [0 1]")
		want(t, "there is something to be had", b.beat("g", c), groups.RebalanceInProgress)
		c = b.join(owner("g", c.MemberID, topics))
		want(t, "it has it", b.fetched("g", c), none("ta", 2, 3))
		name := "roundrobin"
		s := b.c.Sync(t.Context(), SyncRequest{Group: "g", Member: c.MemberID, Generation: c.Generation, Protocol: &name})
		want(t, "a sync with another protocol", s.Code, groups.InconsistentGroupProtocol)
		other = owner("g", "", topics)
		other.Protocols = []Protocol{{"sticky", other.Protocols[0].Metadata}}
		want(t, "no protocol in common", b.c.Join(t.Context(), other).Code, groups.InconsistentGroupProtocol)
		topics.set("ta", 6)
		want(t, "topics grow", b.beat("g", c), groups.RebalanceInProgress)
		time.Sleep(10*time.Second - time.Millisecond)
		synctest.Wait()
		want(t, "before its session is over", len(b.view("g").Members), 2)
		n.must(nil)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		want(t, "after it", len(b.view("g").Members), 1)

		c = b.join(owner("g", "", topics))
		for range 4 { // it never syncs
			time.Sleep(5 * time.Second)
			b.beat("g", c)
			n.must(n.owning)
		}
		synctest.Wait()
		want(t, "who does not sync is out", b.beat("g", c), groups.UnknownMemberID)
		c = b.join(owner("g", "", topics))
		codes, _ := b.c.Leave(t.Context(), "g", []Leaver{{Member: "n"}, {Member: c.MemberID}, {Member: "z"}})
		want(t, "leaves", fmt.Sprint(codes), fmt.Sprint([]groups.Code{groups.UnknownMemberID, groups.None, groups.UnknownMemberID}))
		n.must(n.owning)
		want(t, "n has all", n.must(n.owning), n.said())
		want(t, "that is", n.has[0].Partitions[5], int32(5))
	})
}

func TestAStaticMemberChangesItsProtocol(t *testing.T) {
	inNewBubble(t, Options{}, func(t *testing.T, b *broker, topics *fakeTopics) {
		n := b.newMember("g", "n", "ta")
		n.instance = "i"
		n.must(nil)
		r := owner("g", "", topics)
		r.Instance = "i"
		c := b.join(r)
		want(t, "alone, it makes the group a classic one", fmt.Sprint(b.view("g").Type, b.view("g").State), "ClassicStable")
		want(t, "its share is its own", b.fetched2("g", "i", c), none("ta", 0, 1, 2, 3))
		want(t, "its former self", n.ask(nil).Code, groups.GroupIDNotFound)
		m := b.newMember("g", "m", "ta")
		m.instance = "i"
		want(t, "back again", m.must(nil), "2: 1 [0 1 2 3]")
		want(t, "it is a consumer group", b.view("g").Type, groups.TypeConsumer)
		want(t, "its former self", b.c.Heartbeat("g", c.MemberID, "i", c.Generation), groups.FencedInstanceID)
	})
}

// fetched2 is fetched for a static member.
func (b *broker) fetched2(group, instance string, a JoinAnswer) string {
	b.t.Helper()
	s := b.c.Sync(context.Background(), SyncRequest{Group: group, Member: a.MemberID, Instance: instance, Generation: a.Generation})
	return fmt.Sprint(s.Code, parseAssignment(s.Assignment))
}

func TestWhatIsNotConverted(t *testing.T) {
	for name, tc := range map[string]struct {
		policy string
		edit   func(*JoinRequest)
		code   groups.Code
	}{
		"bidirectional":    {"", nil, groups.None},
		"upgrade":          {"upgrade", nil, groups.None},
		"downgrade":        {"downgrade", nil, groups.GroupIDNotFound},
		"disabled":         {"disabled", nil, groups.GroupIDNotFound},
		"no subscription":  {"", func(r *JoinRequest) { r.Protocols = []Protocol{{"range", []byte{1}}} }, groups.GroupIDNotFound},
		"another protocol": {"", func(r *JoinRequest) { r.ProtocolType = "connect" }, groups.GroupIDNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			inNewBubble(t, Options{Consumer: ConsumerOptions{Migration: tc.policy}}, func(t *testing.T, b *broker, topics *fakeTopics) {
				r := owner("g", "", topics)
				if tc.edit != nil {
					tc.edit(&r)
				}
				a := b.join(r)
				b.c.Sync(t.Context(), SyncRequest{Group: "g", Member: a.MemberID, Generation: 1})
				n := b.newMember("g", "n", "ta")
				want(t, "a consumer member", n.ask(nil).Code, tc.code)
				if tc.code != groups.None {
					want(t, "the group is as it was", b.beat("g", a), groups.None)
					return
				}
				n.ask(leaving)
				kind := groups.TypeClassic
				if tc.policy == "upgrade" {
					kind = groups.TypeConsumer
				}
				want(t, "after it has left", b.view("g").Type, kind)
			})
		})
	}
}

func TestWhoWaitsInAClassicGroupIsToldOfItsEnd(t *testing.T) {
	inNewBubble(t, Options{}, func(t *testing.T, b *broker, topics *fakeTopics) {
		a := b.join(owner("g", "", topics))
		b.c.Sync(t.Context(), SyncRequest{Group: "g", Member: a.MemberID, Generation: 1})
		joins := b.later(owner("g", "", topics))
		synctest.Wait()
		open(t, "the join", joins)
		b.newMember("g", "n", "ta").must(nil)
		synctest.Wait()
		want(t, "the join", answered(t, "the join", joins).Code, groups.RebalanceInProgress)
		want(t, "members", len(b.view("g").Members), 3)
	})
}
