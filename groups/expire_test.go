package groups

import (
	"errors"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

func TestExpiry(t *testing.T) {
	const week = 7 * 24 * 3600 * 1000
	join := func(t *testing.T, s *Service, tps ...model.TopicPartition) *Membership {
		m, err := s.Join("g", MemberInfo{Assignment: tps})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for name, tc := range map[string]struct {
		do    func(t *testing.T, s *Service, c *clock) // at 1,000 ms g has committed a-0 and b-0
		at    int64
		left  int
		gone  bool
		until int64 // what a-0 shows as its expiry before that
	}{
		"never had members, in time":  {nil, 1000 + week - 1, 2, false, 1000 + week},
		"never had members":           {nil, 1000 + week, 0, true, 1000 + week},
		"empty since later":           {func(t *testing.T, s *Service, c *clock) { m := join(t, s); c.ms.Store(5000); m.Leave() }, 5000 + week - 1, 2, false, 5000 + week},
		"empty for long":              {func(t *testing.T, s *Service, c *clock) { m := join(t, s); c.ms.Store(5000); m.Leave() }, 5000 + week, 0, true, 5000 + week},
		"read by a member":            {func(t *testing.T, s *Service, _ *clock) { join(t, s, at("a", 0), at("b", 0)) }, 1000 + 9*week, 2, false, model.NoTime},
		"topic that no member reads":  {func(t *testing.T, s *Service, _ *clock) { join(t, s, at("a", 5)) }, 1000 + week, 1, false, model.NoTime},
		"members died with a process": {func(t *testing.T, s *Service, _ *clock) { join(t, s); s.live = map[string]*live{} }, 1000 + 9*week, 2, false, model.NoTime},
		"as a client asked, while it is read": {func(t *testing.T, s *Service, _ *clock) {
			e := offsetEntry("g", Committed{Commit: offset("a", 0, 5), At: 1000, Expires: 3000})
			if err := s.db.put(t.Context(), []entry{e}); err != nil {
				t.Fatal(err)
			}
			join(t, s, at("a", 0), at("b", 0))
		}, 3000, 2, false, model.NoTime},
		"members that are about to agree": {func(t *testing.T, s *Service, _ *clock) {
			l := Live{State: model.GroupPreparing, Type: TypeClassic, ProtocolType: "consumer", Members: []model.Member{{ID: "m"}}, Topics: []string{}}
			if err := s.Publish(t.Context(), "g", l, nil); err != nil {
				t.Fatal(err)
			}
		}, 1000 + 9*week, 2, false, model.NoTime},
		"members of which nobody knows what they read": {func(t *testing.T, s *Service, _ *clock) {
			l := Live{State: model.GroupStable, Type: TypeClassic, ProtocolType: "connect", Members: []model.Member{{ID: "m"}}}
			if err := s.Publish(t.Context(), "g", l, nil); err != nil {
				t.Fatal(err)
			}
		}, 1000 + 9*week, 2, false, model.NoTime},
		"a reset begins it anew": {func(t *testing.T, s *Service, c *clock) {
			join(t, s).Leave()
			c.ms.Store(8000)
			apply(t, s, plan(t, s, model.ResetRequest{Group: "g", Where: model.Where{Kind: model.ToEarliest}}))
		}, 8000 + week - 1, 2, false, 8000 + week},
		"as a client asked": {func(t *testing.T, s *Service, _ *clock) {
			e := offsetEntry("g", Committed{Commit: offset("a", 0, 5), At: 1000, Expires: 3000})
			if err := s.db.put(t.Context(), []entry{e}); err != nil {
				t.Fatal(err)
			}
		}, 3000, 1, false, 3000},
	} {
		t.Run(name, func(t *testing.T) {
			c := clockAt(1000)
			s := newService(t, (&fakeLogs{}).fill("a", 6, 0, 10).fill("b", 1, 0, 10), c)
			commit(t, s, "g", offset("a", 0, 5), offset("b", 0, 5))
			if tc.do != nil {
				tc.do(t, s, c)
			}
			g, err := s.Group(t.Context(), "g")
			if err != nil || g.Offsets[0].ExpiresAt != tc.until {
				t.Errorf("shown to expire at %d, %v; want %d", g.Offsets[0].ExpiresAt, err, tc.until)
			}
			n, err := s.Expire(time.UnixMilli(tc.at))
			if err != nil || n != 2-tc.left {
				t.Errorf("%d expired, %v; want %d", n, err, 2-tc.left)
			}
			if got := offsets(t, s, "g"); len(got) != tc.left {
				t.Errorf("left %v, want %d", got, tc.left)
			}
			if _, err := s.Group(t.Context(), "g"); errors.Is(err, model.ErrNoGroup) != tc.gone {
				t.Errorf("the group: %v, want gone: %v", err, tc.gone)
			}
		})
	}
}

func TestExpiryStartsWhenDeadMembersAreNoticed(t *testing.T) {
	const week = 7 * 24 * 3600 * 1000
	s := newService(t, &fakeLogs{}, clockAt(0))
	if _, err := s.Join("g", MemberInfo{}); err != nil {
		t.Fatal(err)
	}
	commit(t, s, "g", offset("a", 0, 5))
	s.live = map[string]*live{} // as after a start
	for _, tc := range []struct {
		at   int64
		left int
	}{{9 * week, 1}, {10*week - 1, 1}, {10 * week, 0}} {
		if _, err := s.Expire(time.UnixMilli(tc.at)); err != nil || len(offsets(t, s, "g")) != tc.left {
			t.Errorf("at %d: left %v, %v; want %d", tc.at, offsets(t, s, "g"), err, tc.left)
		}
	}
}

// TestAGroupWithoutOffsetsGoes ends with its members when they have committed nothing, as Kafka has it.
func TestAGroupWithoutOffsetsGoes(t *testing.T) {
	s := newService(t, &fakeLogs{}, clockAt(0))
	m, err := s.Join("g", MemberInfo{})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaves := range []bool{false, true} {
		if leaves {
			if err := m.Leave(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Expire(time.UnixMilli(1)); err != nil {
			t.Fatal(err)
		}
		if k, err := s.Known("g"); err != nil || k.Exists == leaves {
			t.Errorf("left: %v; known %+v, %v", leaves, k, err)
		}
	}
}

func TestForgottenTopic(t *testing.T) {
	s, _, _ := shop(t)
	commit(t, s, "audit", offset("clicks", 0, 3))
	if n, err := s.ForgetTopic("orders"); n != 6 || err != nil {
		t.Errorf("forgot %d, %v; want 6", n, err)
	}
	if got := offsets(t, s, "audit"); len(got) != 1 {
		t.Errorf("audit has %v", got)
	}
}
