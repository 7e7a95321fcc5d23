package coordinator

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// book writes down who was given what, and finds what must not be.
type book struct {
	mu     sync.Mutex
	owners map[string]string // group/generation/partition → member
	last   map[string]int32  // group → highest generation
	stored map[string]int64  // group/partition → what was acknowledged
	wrong  []string
	syncs  int
}

func (k *book) fault(format string, args ...any) {
	k.wrong = append(k.wrong, fmt.Sprintf(format, args...))
}

// given enters an assignment.
func (k *book) given(group string, generation int32, member string, tps []model.TopicPartition) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.syncs++
	k.last[group] = max(k.last[group], generation)
	for _, tp := range tps {
		key := fmt.Sprint(group, "/", generation, "/", tp)
		if owner := k.owners[key]; owner != "" && owner != member {
			k.fault("%s is %s's and %s's", key, owner, member)
		}
		k.owners[key] = member
	}
}

// outsider is a client from outside that behaves like a real one, until it does not.
type outsider struct {
	c        *Coordinator
	k        *book
	rnd      *rand.Rand
	group    string
	instance string
	member   string
	seen     int32 // the highest generation so far
	until    time.Time
}

// run joins, reads and rejoins until the client's time is over; then it leaves, or is killed without a word.
func (s *outsider) run(ctx context.Context) {
	for time.Now().Before(s.until) {
		s.round(ctx)
	}
	if s.rnd.IntN(2) == 0 || s.member == "" {
		return
	}
	codes, code := s.c.Leave(ctx, s.group, []Leaver{{Member: s.member, Instance: s.instance}})
	if code != groups.None || codes[0] != groups.None && codes[0] != groups.UnknownMemberID && codes[0] != groups.FencedInstanceID {
		s.k.mu.Lock()
		s.k.fault("leave: %v, %d", codes, code)
		s.k.mu.Unlock()
	}
}

// round is one generation of a client's life.
func (s *outsider) round(ctx context.Context) {
	r := JoinRequest{
		Group: s.group, Member: s.member, Instance: s.instance, Client: "sim", Host: "/h", Session: 10 * time.Second, Rebalance: 15 * time.Second,
		ProtocolType: consumerType, Protocols: []Protocol{{"range", encodeSubscription([]string{"t"})}}, KnowsID: true,
	}
	start := time.Now()
	a := s.c.Join(ctx, r)
	if d := time.Since(start); d > newMemberTimeout {
		s.note("a join took %v", d)
	}
	switch a.Code {
	case groups.None:
	case groups.MemberIDRequired:
		s.member = a.MemberID
		if s.rnd.IntN(20) == 0 {
			time.Sleep(12 * time.Second) // it goes, and comes again
		}
		return
	case groups.UnknownMemberID, groups.FencedInstanceID:
		s.member = ""
		time.Sleep(100 * time.Millisecond)
		return
	default:
		time.Sleep(100 * time.Millisecond)
		return
	}
	s.member = a.MemberID
	if a.Generation < s.seen {
		s.note("generation %d of %s after %d", a.Generation, s.group, s.seen)
	}
	s.seen = a.Generation
	if s.rnd.IntN(30) == 0 {
		time.Sleep(time.Duration(s.rnd.IntN(25)) * time.Second) // it stalls before the sync
	}
	q := SyncRequest{Group: s.group, Member: s.member, Instance: s.instance, Generation: a.Generation}
	if a.Leader == s.member && !a.Skip {
		q.Assignments, _ = s.c.assignRange(a.Members)
	}
	start = time.Now()
	y := s.c.Sync(ctx, q)
	if d := time.Since(start); d > time.Minute {
		s.note("a sync took %v", d)
	}
	if y.Code != groups.None {
		if y.Code == groups.UnknownMemberID {
			s.member = ""
		}
		return
	}
	tps := parseAssignment(y.Assignment)
	owner := s.member
	if s.instance != "" {
		owner = s.instance // it may come back under another id
	}
	s.k.given(s.group, a.Generation, owner, tps)
	s.consume(ctx, a.Generation, tps)
}

func (s *outsider) note(format string, args ...any) {
	s.k.mu.Lock()
	defer s.k.mu.Unlock()
	s.k.fault(format, args...)
}

// consume heartbeats and commits until the client is told to join anew, or its time is over.
func (s *outsider) consume(ctx context.Context, generation int32, tps []model.TopicPartition) {
	for time.Now().Before(s.until) {
		time.Sleep(time.Duration(500+s.rnd.IntN(3000)) * time.Millisecond)
		if s.rnd.IntN(100) == 0 {
			time.Sleep(14 * time.Second) // a long pause: the session ends
		}
		switch s.c.Heartbeat(s.group, s.member, s.instance, generation) {
		case groups.None:
		case groups.UnknownMemberID, groups.FencedInstanceID:
			s.member = ""
			return
		default:
			return
		}
		if len(tps) == 0 || s.rnd.IntN(4) > 0 {
			continue
		}
		off := int64(generation)<<32 | time.Now().Unix()&0xffffffff
		code := s.c.Commit(ctx, CommitCheck{Group: s.group, Member: s.member, Instance: s.instance, Generation: generation},
			[]groups.Committed{{Commit: model.Commit{TopicPartition: tps[0], Offset: off, LeaderEpoch: -1}, Expires: model.NoTime}})
		if code == groups.None {
			s.k.mu.Lock()
			key := fmt.Sprint(s.group, "/", tps[0].Partition)
			s.k.stored[key] = max(s.k.stored[key], off)
			s.k.mu.Unlock()
		}
	}
}

// checkStep holds a group's invariants; g.mu is held.
func checkStep(g *group) error {
	k, ok := g.kind.(*classic)
	if !ok || g.dead {
		return nil
	}
	ids, waiting, leader := map[string]bool{}, 0, false
	for _, m := range k.members {
		if ids[m.id] {
			return fmt.Errorf("member %s twice", m.id)
		}
		ids[m.id] = true
		leader = leader || m.id == k.leader
		if m.joining != nil {
			waiting++
		}
		switch {
		case m.joining != nil && k.state != model.GroupPreparing:
			return fmt.Errorf("a join waits in a group that is %s", k.state)
		case m.syncing != nil && k.state != model.GroupCompleting:
			return fmt.Errorf("a sync waits in a group that is %s", k.state)
		case m.instance != "" && k.static[m.instance] != m.id:
			return fmt.Errorf("instance %s is not %s's", m.instance, m.id)
		case !m.expiry.on() && m.local == nil && m.joining == nil && m.syncing == nil:
			return fmt.Errorf("nothing ends the session of a member of a group that is %s", k.state)
		}
	}
	switch {
	case waiting != k.waiting:
		return fmt.Errorf("%d joins wait, counted %d", waiting, k.waiting)
	case len(k.members) > 0 && !leader:
		return fmt.Errorf("the leader %q is no member", k.leader)
	case (len(k.members) == 0) != (k.state == model.GroupEmpty):
		return fmt.Errorf("%d members in a group that is %s", len(k.members), k.state)
	case k.state == model.GroupPreparing && !k.join.on():
		return fmt.Errorf("nothing ends the wait for joins")
	case k.state == model.GroupCompleting && !k.sync.on():
		return fmt.Errorf("nothing ends the wait for the leader")
	}
	for id := range k.unsynced {
		if !ids[id] {
			return fmt.Errorf("a sync of %s is expected, who is no member", id)
		}
	}
	return nil
}

// TestGroupsUnderDisturbance has the members of many groups come, stall, leave and die at random, on a clock that jumps.
func TestGroupsUnderDisturbance(t *testing.T) {
	const count, clients = 25, 6
	for _, delay := range []time.Duration{0, 3 * time.Second} {
		t.Run(fmt.Sprintf("initial delay %v", delay), func(t *testing.T) {
			inBubble(t, Options{InitialDelay: delay}, func(t *testing.T, b *broker) {
				k := &book{owners: map[string]string{}, last: map[string]int32{}, stored: map[string]int64{}}
				var wg sync.WaitGroup
				for g := range count {
					for i := range clients {
						rnd := rand.New(rand.NewPCG(uint64(g), uint64(i)))
						s := &outsider{c: b.c, k: k, rnd: rnd, group: fmt.Sprintf("g%d", g), until: time.Now().Add(time.Duration(20+rnd.IntN(100)) * time.Second)}
						if i == 0 {
							s.instance = "i" // sometimes two of them
						} else if i == 1 && g%3 == 0 {
							s.instance = "i"
						}
						wg.Go(func() {
							time.Sleep(time.Duration(rnd.IntN(20000)) * time.Millisecond)
							s.run(t.Context())
						})
					}
				}
				watched := make(chan struct{})
				go func() { // looks at all groups now and then, until they are gone
					defer close(watched)
					for steps := 0; steps == 0 || len(b.inMemory()) > 0; steps++ {
						for _, id := range b.inMemory() {
							g := b.c.lock(id)
							if g == nil {
								continue
							}
							if err := checkStep(g); err != nil {
								k.mu.Lock()
								k.fault("%s: %v", id, err)
								k.mu.Unlock()
							}
							g.mu.Unlock()
						}
						time.Sleep(300 * time.Millisecond)
						if steps > 5000 {
							k.fault("%d groups do not end", len(b.inMemory()))
							return
						}
					}
				}()
				wg.Wait()
				<-watched
				synctest.Wait()
				for i, w := range k.wrong {
					if i < 10 {
						t.Error(w)
					}
				}
				if k.syncs < count*clients {
					t.Errorf("only %d assignments were given", k.syncs)
				}
				for g := range count {
					id := fmt.Sprintf("g%d", g)
					if v := b.view(id); v.State != model.GroupEmpty || len(v.Members) > 0 {
						t.Errorf("%s ends as %s with %v", id, v.State, v.Members)
					}
					known, err := b.s.Known(id)
					if err != nil || known.Generation < k.last[id] {
						t.Errorf("%s ends with generation %d after %d, %v", id, known.Generation, k.last[id], err)
					}
					all, err := b.s.Fetch(context.Background(), id, nil)
					if err != nil {
						t.Fatal(err)
					}
					for _, c := range all {
						if want := k.stored[fmt.Sprint(id, "/", c.Partition)]; c.Offset < want {
							t.Errorf("%s has %d of %v, acknowledged %d", id, c.Offset, c.TopicPartition, want)
						}
					}
				}
			})
		})
	}
}
