package assign

import (
	"slices"
)

// Uniform spreads the partitions evenly and moves as few as it can: where all members subscribe to the same topics, none
// has two partitions more than another.
func Uniform(members []Member, topics map[Topic]int32) []Assignment {
	if len(members) == 0 {
		return nil
	}
	u := newUniform(members, topics)
	if u.same {
		u.even()
	} else {
		u.mixed()
	}
	return u.answer()
}

// place is a partition by its topic's place in uniform.topics.
type place struct {
	topic     int
	partition int32
}

// uniform is one run of the assignor. Members and topics are counted, so that no map is asked for a partition.
//
// Invariants:
//   - load[m] is the number of partitions whose owner is m
type uniform struct {
	members []Member
	topics  []Topic // with partitions and a reader, in order
	readers [][]int // by topic: members, ascending
	owner   [][]int // by topic and partition: the member, or -1
	load    []int   // by member
	order   []int   // members in the order of byInstance
	same    bool    // all subscribe to the same
	total   int     // partitions
}

func newUniform(members []Member, topics map[Topic]int32) *uniform {
	u := &uniform{members: members, load: make([]int, len(members)), order: byInstance(members), same: true}
	readers := map[Topic][]int{}
	for i, m := range members {
		for _, t := range m.Topics {
			if topics[t] > 0 {
				readers[t] = append(readers[t], i)
			}
		}
	}
	for t := range readers {
		u.topics = append(u.topics, t)
	}
	slices.SortFunc(u.topics, CompareTopics)
	for _, t := range u.topics {
		r := readers[t]
		u.same = u.same && len(r) == len(members)
		u.readers = append(u.readers, r)
		owner := make([]int, topics[t])
		for p := range owner {
			owner[p] = -1
		}
		u.owner = append(u.owner, owner)
		u.total += len(owner)
	}
	return u
}

// index returns the topic's place, or -1.
func (u *uniform) index(t Topic) int {
	i, ok := slices.BinarySearchFunc(u.topics, t, CompareTopics)
	if !ok {
		return -1
	}
	return i
}

// held returns what a member has and may keep: partitions that are there, that it still subscribes to and that no member
// before it has kept.
func (u *uniform) held(m int) []place {
	var held []place
	for _, t := range u.members[m].Target.Topics() {
		i := u.index(t)
		if i < 0 {
			continue
		}
		if _, reads := slices.BinarySearch(u.readers[i], m); !reads {
			continue
		}
		for _, p := range u.members[m].Target[t] {
			if p >= 0 && int(p) < len(u.owner[i]) && u.owner[i][p] < 0 {
				held = append(held, place{i, p})
			}
		}
	}
	return held
}

// give makes m the owner.
func (u *uniform) give(at place, m int) {
	if old := u.owner[at.topic][at.partition]; old >= 0 {
		u.load[old]--
	}
	u.owner[at.topic][at.partition] = m
	u.load[m]++
}

// even serves members that all subscribe to the same topics.
func (u *uniform) even() {
	low, extra := u.total/len(u.members), u.total%len(u.members)
	held := make([][]place, len(u.members))
	quota := make([]int, len(u.members))
	for _, m := range u.order {
		held[m] = u.held(m)
		quota[m] = low
		if len(held[m]) > low && extra > 0 {
			quota[m]++
			extra--
		}
		for _, at := range held[m][:min(len(held[m]), quota[m])] {
			u.give(at, m)
		}
	}
	// A partition that one member gave up stays free for the others from here on.
	for _, m := range u.order {
		if extra == 0 {
			break
		}
		if quota[m] == low {
			quota[m]++
			extra--
		}
	}
	next := 0
	for i, owner := range u.owner {
		for p, o := range owner {
			if o >= 0 {
				continue
			}
			for u.load[u.order[next]] >= quota[u.order[next]] {
				next++
			}
			u.give(place{i, int32(p)}, u.order[next])
		}
	}
}

// answer turns owners into assignments, and hands back a member's former one where nothing changed.
func (u *uniform) answer() []Assignment {
	out := make([]Assignment, len(u.members))
	backing := make([]int32, 0, u.total)
	count := make([]int, len(u.members))
	for i := range out {
		out[i] = Assignment{}
	}
	for i, owner := range u.owner {
		for _, m := range owner {
			count[m]++
		}
		for p, m := range owner {
			ps, ok := out[m][u.topics[i]]
			if !ok {
				n := len(backing)
				backing = backing[:n+count[m]]
				ps = backing[n:n:len(backing)]
			}
			out[m][u.topics[i]] = append(ps, int32(p))
			count[m]--
		}
	}
	for m, a := range out {
		if Equal(a, u.members[m].Target) {
			out[m] = u.members[m].Target
		}
	}
	return out
}
