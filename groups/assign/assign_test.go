package assign

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// topic makes the id of a topic that a test counts.
func topic(n int) Topic {
	var t Topic
	binary.BigEndian.PutUint64(t[8:], uint64(n))
	return t
}

// check holds an answer against what every assignor owes: each partition exactly once, to a subscriber, ascending.
func check(t *testing.T, members []Member, topics map[Topic]int32, out []Assignment) {
	t.Helper()
	if len(out) != len(members) {
		t.Fatalf("%d assignments for %d members", len(out), len(members))
	}
	read := map[Topic]bool{}
	for _, m := range members {
		for _, id := range m.Topics {
			read[id] = true
		}
	}
	owner := map[Topic]map[int32]int{}
	for i, a := range out {
		for id, ps := range a {
			if !slices.Contains(members[i].Topics, id) {
				t.Fatalf("member %d has partitions of a topic that it does not subscribe to", i)
			}
			if len(ps) == 0 || !slices.IsSorted(ps) {
				t.Fatalf("member %d: partitions %v", i, ps)
			}
			for _, p := range ps {
				if p < 0 || p >= topics[id] {
					t.Fatalf("member %d: partition %d of %d", i, p, topics[id])
				}
				if owner[id] == nil {
					owner[id] = map[int32]int{}
				}
				if other, taken := owner[id][p]; taken {
					t.Fatalf("partition %d belongs to members %d and %d", p, other, i)
				}
				owner[id][p] = i
			}
		}
	}
	for id, n := range topics {
		if read[id] && len(owner[id]) != int(max(n, 0)) {
			t.Fatalf("%d of %d partitions are assigned", len(owner[id]), n)
		}
	}
}

func spread(out []Assignment) (low, high int) {
	low = out[0].Count()
	for _, a := range out {
		low, high = min(low, a.Count()), max(high, a.Count())
	}
	return low, high
}

// moved counts the partitions that a member had, may keep, and lost.
func moved(members []Member, out []Assignment) int {
	n := 0
	for i, m := range members {
		_, only := m.Target.Split(out[i])
		n += only.Count()
	}
	return n
}

func take(members []Member, out []Assignment) {
	for i := range members {
		members[i].Target = out[i]
	}
}

func TestUniformKeepsWhatItCanWhenMembersComeAndGo(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		topics := map[Topic]int32{}
		var ids []Topic
		for i := range 1 + r.IntN(5) {
			topics[topic(i)] = r.Int32N(20)
			ids = append(ids, topic(i))
		}
		total := 0
		for _, n := range topics {
			total += int(n)
		}
		var members []Member
		for round := range 30 {
			before := len(members)
			if before == 0 || r.IntN(2) == 0 {
				members = append(members, Member{ID: fmt.Sprintf("m%d", r.IntN(1e6)), Topics: ids})
			} else {
				members = slices.Delete(members, 0, 1)
			}
			if len(members) == 0 {
				continue
			}
			out := Uniform(members, topics)
			check(t, members, topics, out)
			low, high := spread(out)
			if high-low > 1 {
				t.Fatalf("seed %d round %d: from %d to %d partitions", seed, round, low, high)
			}
			// Only what a member has too many of may move.
			need := 0
			quota, extra := total/len(members), total%len(members)
			for _, m := range members {
				if n := m.Target.Count(); n > quota {
					need += n - quota
					if extra > 0 {
						extra--
						need--
					}
				}
			}
			if n := moved(members, out); n != need {
				t.Fatalf("seed %d round %d: %d partitions moved, %d had to", seed, round, n, need)
			}
			take(members, out)
			if again := Uniform(members, topics); !reflect.DeepEqual(out, again) {
				t.Fatalf("seed %d round %d: the same question has another answer", seed, round)
			}
		}
	}
}

func TestUniformTopicsGrowShrinkAndGo(t *testing.T) {
	members := []Member{{ID: "a", Topics: []Topic{topic(1), topic(2)}}, {ID: "b", Topics: []Topic{topic(1), topic(2)}}}
	for _, topics := range []map[Topic]int32{
		{topic(1): 4, topic(2): 3}, {topic(1): 9, topic(2): 3}, {topic(1): 2, topic(2): 3}, {topic(2): 3}, {topic(1): -1}, {}, {topic(1): 1},
	} {
		out := Uniform(members, topics)
		check(t, members, topics, out)
		if low, high := spread(out); high-low > 1 {
			t.Errorf("%v: from %d to %d", topics, low, high)
		}
		take(members, out)
	}
}

func TestUniformSortsOutATargetWithTwoOwners(t *testing.T) {
	both := Assignment{topic(1): {0, 1, 2}}
	members := []Member{{ID: "a", Topics: []Topic{topic(1)}, Target: both}, {ID: "b", Topics: []Topic{topic(1)}, Target: both}}
	out := Uniform(members, map[Topic]int32{topic(1): 3})
	check(t, members, map[Topic]int32{topic(1): 3}, out)
	if low, high := spread(out); low != 1 || high != 2 {
		t.Errorf("from %d to %d", low, high)
	}
}

// TestUniformMixed holds the answer against the best that can be: no path of members lowers a maximum.
func TestUniformMixed(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		topics := map[Topic]int32{}
		n := 1 + r.IntN(6)
		for i := range n {
			topics[topic(i)] = r.Int32N(12)
		}
		var members []Member
		for range 12 {
			switch {
			case len(members) == 0 || r.IntN(2) == 0:
				m := Member{ID: fmt.Sprintf("m%d", r.IntN(1e6))}
				for i := range n {
					if r.IntN(3) == 0 {
						m.Topics = append(m.Topics, topic(i))
					}
				}
				members = append(members, m)
			case r.IntN(2) == 0:
				i := r.IntN(len(members))
				members[i].Topics = nil
				for j := range n {
					if r.IntN(2) == 0 {
						members[i].Topics = append(members[i].Topics, topic(j))
					}
				}
			default:
				members = slices.Delete(members, 0, 1)
			}
			if len(members) == 0 {
				continue
			}
			out := Uniform(members, topics)
			check(t, members, topics, out)
			for i := range members {
				if j := giver(members, out, i); j >= 0 {
					t.Fatalf("seed %d: member %d has %d partitions and could have one of member %d, which has %d", seed, i, out[i].Count(), j, out[j].Count())
				}
			}
			take(members, out)
			if again := Uniform(members, topics); !reflect.DeepEqual(out, again) {
				t.Fatalf("seed %d: the same question has another answer", seed)
			}
		}
	}
}

// giver returns a member from whom, over any path, i could get a partition so that both are nearer; or -1.
func giver(members []Member, out []Assignment, i int) int {
	seen := map[int]bool{i: true}
	for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
		for _, id := range members[queue[0]].Topics {
			for j, a := range out {
				if len(a[id]) == 0 || seen[j] {
					continue
				}
				if a.Count() >= out[i].Count()+2 {
					return j
				}
				seen[j] = true
				queue = append(queue, j)
			}
		}
	}
	return -1
}

func TestRange(t *testing.T) {
	a, b := topic(1), topic(2)
	for name, tc := range map[string]struct {
		members []Member
		topics  map[Topic]int32
		want    []Assignment
	}{
		"co-partitioned": {
			[]Member{{ID: "m0", Topics: []Topic{a, b}}, {ID: "m1", Topics: []Topic{a, b}}}, map[Topic]int32{a: 3, b: 3},
			[]Assignment{{a: {0, 1}, b: {0, 1}}, {a: {2}, b: {2}}},
		},
		"by id, in whatever order they are told": {
			[]Member{{ID: "m1", Topics: []Topic{a}}, {ID: "m0", Topics: []Topic{a}}}, map[Topic]int32{a: 3},
			[]Assignment{{a: {2}}, {a: {0, 1}}},
		},
		"static members first, by instance": {
			[]Member{{ID: "a", Topics: []Topic{a}}, {ID: "z", Instance: "i1", Topics: []Topic{a}}, {ID: "b", Instance: "i2", Topics: []Topic{a}}}, map[Topic]int32{a: 4},
			[]Assignment{{a: {3}}, {a: {0, 1}}, {a: {2}}},
		},
		"more members than partitions": {
			[]Member{{ID: "a", Topics: []Topic{a}}, {ID: "b", Topics: []Topic{a}}}, map[Topic]int32{a: 1},
			[]Assignment{{a: {0}}, {}},
		},
		"other subscriptions": {
			[]Member{{ID: "a", Topics: []Topic{a}}, {ID: "b", Topics: []Topic{a, b}}}, map[Topic]int32{a: 3, b: 2},
			[]Assignment{{a: {0, 1}}, {a: {2}, b: {0, 1}}},
		},
		"a topic that is gone": {[]Member{{ID: "a", Topics: []Topic{a}}}, nil, []Assignment{{}}},
		"nobody":               {nil, map[Topic]int32{a: 1}, []Assignment{}},
	} {
		t.Run(name, func(t *testing.T) {
			out := Range(tc.members, tc.topics)
			check(t, tc.members, tc.topics, out)
			if !reflect.DeepEqual(out, tc.want) {
				t.Errorf("%v, want %v", out, tc.want)
			}
		})
	}
}

func TestAssignments(t *testing.T) {
	a, b := topic(1), topic(2)
	x, y := Assignment{a: {0, 1, 2}, b: {5}}, Assignment{a: {1, 3}}
	both, only := x.Split(y)
	if !Equal(both, Assignment{a: {1}}) || !Equal(only, Assignment{a: {0, 2}, b: {5}}) {
		t.Errorf("split: %v and %v", both, only)
	}
	if j := x.Join(y); !Equal(j, Assignment{a: {0, 1, 2, 3}, b: {5}}) || !Equal(x, Assignment{a: {0, 1, 2}, b: {5}}) {
		t.Errorf("joined: %v, from %v", j, x)
	}
	if j := Assignment(nil).Join(y); !Equal(j, y) || !Equal(y.Join(nil), y) {
		t.Errorf("joined with nothing: %v", j)
	}
	if !x.Has(b, 5) || x.Has(b, 4) || y.Has(b, 5) || x.Count() != 4 {
		t.Errorf("%v", x)
	}
	if got := x.Topics(); !slices.Equal(got, []Topic{a, b}) {
		t.Errorf("topics %v", got)
	}
	for name, known := range map[string]bool{"uniform": true, "range": true, "sticky": false, "": false, "Uniform": false} {
		if f, ok := ByName(name); ok != known || (f != nil) != known {
			t.Errorf("%q: %v", name, ok)
		}
	}
}

// BenchmarkAssign assigns 10,000 partitions of 100 topics to 1,000 members after one of them came.
func BenchmarkAssign(b *testing.B) {
	topics := map[Topic]int32{}
	var ids []Topic
	for i := range 100 {
		topics[topic(i)] = 100
		ids = append(ids, topic(i))
	}
	for _, mixed := range []bool{false, true} {
		var members []Member
		for i := range 1000 {
			m := Member{ID: fmt.Sprintf("member-%04d", i), Topics: ids}
			if mixed {
				m.Topics = ids[i%50 : i%50+50]
			}
			members = append(members, m)
		}
		for name, f := range map[string]Assignor{"uniform": Uniform, "range": Range} {
			now := slices.Clone(members)
			take(now[1:], f(now[1:], topics))
			b.Run(fmt.Sprintf("%s mixed=%v", name, mixed), func(b *testing.B) {
				for b.Loop() {
					f(now, topics)
				}
			})
		}
	}
}
