package assign

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
)

// Topic is a topic's id: one that was deleted and made anew is another topic.
type Topic [16]byte

// Assignment is the partitions of each topic, ascending and none twice; a topic without any is left out. Nobody changes
// one once it is made.
type Assignment map[Topic][]int32

// Member is what is known of a member.
type Member struct {
	ID       string
	Instance string  // group.instance.id, or ""
	Topics   []Topic // what it subscribes to, in any order, none twice
	Target   Assignment
}

// Assignor assigns the partitions of topics, given by their number, to members, and answers in the order of the members.
// A topic that is not in topics has no partitions.
type Assignor func(members []Member, topics map[Topic]int32) []Assignment

// ByName returns the assignor that Kafka calls so.
func ByName(name string) (Assignor, bool) {
	switch name {
	case "uniform":
		return Uniform, true
	case "range":
		return Range, true
	}
	return nil, false
}

// Equal reports whether two assignments are the same.
func Equal(a, b Assignment) bool {
	return maps.EqualFunc(a, b, slices.Equal[[]int32])
}

// Count returns how many partitions there are.
func (a Assignment) Count() int {
	n := 0
	for _, ps := range a {
		n += len(ps)
	}
	return n
}

// Has reports whether a partition is among them.
func (a Assignment) Has(t Topic, partition int32) bool {
	_, ok := slices.BinarySearch(a[t], partition)
	return ok
}

// Topics returns the topics in order.
func (a Assignment) Topics() []Topic { return slices.SortedFunc(maps.Keys(a), CompareTopics) }

// CompareTopics orders topics.
func CompareTopics(a, b Topic) int { return bytes.Compare(a[:], b[:]) }

// Split divides a into what is in b too, and what is not.
func (a Assignment) Split(b Assignment) (both, only Assignment) {
	both, only = Assignment{}, Assignment{}
	for t, ps := range a {
		if slices.Equal(ps, b[t]) {
			both[t] = ps
			continue
		}
		var in, out []int32
		for _, p := range ps {
			if b.Has(t, p) {
				in = append(in, p)
			} else {
				out = append(out, p)
			}
		}
		if in != nil {
			both[t] = in
		}
		if out != nil {
			only[t] = out
		}
	}
	return both, only
}

// Join returns what is in a or in b.
func (a Assignment) Join(b Assignment) Assignment {
	if len(b) == 0 {
		return a
	}
	all := maps.Clone(a)
	if all == nil {
		all = Assignment{}
	}
	for t, ps := range b {
		if len(all[t]) == 0 {
			all[t] = ps
			continue
		}
		joined := slices.Concat(all[t], ps)
		slices.Sort(joined)
		all[t] = slices.Compact(joined)
	}
	return all
}

// byInstance returns the members' places, static ones first by instance, then the others by id.
func byInstance(members []Member) []int {
	order := make([]int, len(members))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := members[i], members[j]
		if (a.Instance == "") != (b.Instance == "") {
			if a.Instance != "" {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.ID, b.ID))
	})
	return order
}
