package assign

import (
	"cmp"
	"slices"
)

// mixed serves members whose subscriptions differ.
func (u *uniform) mixed() {
	for _, m := range u.order {
		for _, at := range u.held(m) {
			u.give(at, m)
		}
	}
	u.handOut()
	u.level()
}

// handOut gives what has no owner to the least loaded reader, topics with few readers first.
func (u *uniform) handOut() {
	topics := make([]int, len(u.topics))
	for i := range topics {
		topics[i] = i
	}
	slices.SortStableFunc(topics, func(a, b int) int { return cmp.Compare(len(u.readers[a]), len(u.readers[b])) })
	for _, i := range topics {
		var h loads
		for p, o := range u.owner[i] {
			if o >= 0 {
				continue
			}
			if h.members == nil {
				h = newLoads(u.load, u.readers[i])
			}
			m := h.least()
			u.give(place{i, int32(p)}, m)
			h.settle()
		}
	}
}

// loads is a heap of members, the least loaded first.
type loads struct {
	load    []int
	members []int
}

func newLoads(load, members []int) loads {
	h := loads{load: load, members: slices.Clone(members)}
	slices.SortStableFunc(h.members, func(a, b int) int { return cmp.Compare(load[a], load[b]) })
	return h
}

func (h *loads) least() int { return h.members[0] }

func (h *loads) less(a, b int) bool {
	if x, y := h.load[h.members[a]], h.load[h.members[b]]; x != y {
		return x < y
	}
	return h.members[a] < h.members[b]
}

// settle mends the heap after the least loaded member got one more.
func (h *loads) settle() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h.members) {
			return
		}
		if child+1 < len(h.members) && h.less(child+1, child) {
			child++
		}
		if !h.less(child, i) {
			return
		}
		h.members[i], h.members[child] = h.members[child], h.members[i]
		i = child
	}
}

// level moves partitions to members that have two fewer than another who, directly or through others, can give.
func (u *uniform) level() {
	g := newPaths(u)
	for moved := true; moved; {
		moved = false
		// Whoever can be reached from a member that gets nothing gets nothing either, unless it has fewer.
		clear(g.done)
		for _, m := range g.byLoad() {
			for !g.done[m] && g.fill(m) {
				moved = true
			}
		}
	}
}

// paths finds from whom a member can get partitions. It keeps for each member and topic what the member owns of it.
type paths struct {
	*uniform
	owned  []map[int][]int32 // by member, by topic
	owners []map[int]bool    // by topic: the members that own some of it
	topics [][]int           // by member: what it reads
	from   []step            // by member: how it was reached
	seenM  []bool
	seenT  []bool
	done   []bool
}

// step says that a member gives of a topic to another.
type step struct {
	to    int
	topic int
}

func newPaths(u *uniform) *paths {
	n := len(u.members)
	g := &paths{
		uniform: u, owned: make([]map[int][]int32, n), owners: make([]map[int]bool, len(u.topics)),
		topics: make([][]int, n), from: make([]step, n), seenM: make([]bool, n), seenT: make([]bool, len(u.topics)), done: make([]bool, n),
	}
	for m := range g.owned {
		g.owned[m] = map[int][]int32{}
	}
	for i, owner := range u.owner {
		g.owners[i] = map[int]bool{}
		for p, m := range owner {
			g.owned[m][i] = append(g.owned[m][i], int32(p))
			g.owners[i][m] = true
		}
		for _, m := range u.readers[i] {
			g.topics[m] = append(g.topics[m], i)
		}
	}
	return g
}

// byLoad returns the members, the least loaded first.
func (g *paths) byLoad() []int {
	order := slices.Clone(g.order)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.load[a], g.load[b]) })
	return order
}

// fill moves one partition along the shortest path from a member that has at least two more than m; false where there is none.
func (g *paths) fill(m int) bool {
	clear(g.seenM)
	clear(g.seenT)
	g.seenM[m] = true
	for round := []int{m}; len(round) > 0; {
		var next []int
		best := -1
		for _, to := range round {
			for _, t := range g.topics[to] {
				if g.seenT[t] {
					continue
				}
				g.seenT[t] = true
				for giver := range g.owners[t] {
					if g.seenM[giver] {
						continue
					}
					g.seenM[giver] = true
					g.from[giver] = step{to, t}
					next = append(next, giver)
				}
			}
		}
		slices.Sort(next) // owners come in any order
		for _, giver := range next {
			if g.load[giver] >= g.load[m]+2 && (best < 0 || g.load[giver] > g.load[best]) {
				best = giver
			}
		}
		if best >= 0 {
			g.shift(best, m)
			return true
		}
		round = next
	}
	for i, seen := range g.seenM {
		g.done[i] = g.done[i] || seen
	}
	return false
}

// shift lets every member on the path from giver to m pass one partition on.
func (g *paths) shift(giver, m int) {
	for giver != m {
		s := g.from[giver]
		ps := g.owned[giver][s.topic]
		p := ps[len(ps)-1]
		if ps = ps[:len(ps)-1]; len(ps) == 0 {
			delete(g.owned[giver], s.topic)
			delete(g.owners[s.topic], giver)
		} else {
			g.owned[giver][s.topic] = ps
		}
		g.owned[s.to][s.topic] = append(g.owned[s.to][s.topic], p)
		g.owners[s.topic][s.to] = true
		g.give(place{s.topic, p}, s.to)
		giver = s.to
	}
}
