package assign

// Range gives each member a run of neighbouring partitions of every topic it subscribes to; the first members have one more
// where they do not divide evenly.
func Range(members []Member, topics map[Topic]int32) []Assignment {
	type share struct {
		readers, extra, quota, next int32
	}
	shares := map[Topic]*share{}
	for _, m := range members {
		for _, t := range m.Topics {
			if topics[t] <= 0 {
				continue
			}
			s := shares[t]
			if s == nil {
				s = &share{}
				shares[t] = s
			}
			s.readers++
		}
	}
	for t, s := range shares {
		s.quota, s.extra = topics[t]/s.readers, topics[t]%s.readers
	}
	out := make([]Assignment, len(members))
	for _, i := range byInstance(members) {
		a := Assignment{}
		for _, t := range members[i].Topics {
			s := shares[t]
			if s == nil {
				continue
			}
			n := s.quota
			if s.extra > 0 {
				s.extra--
				n++
			}
			if n > 0 {
				a[t] = run(s.next, n)
				s.next += n
			}
		}
		out[i] = a
	}
	return out
}

// run returns n partitions from first on.
func run(first, n int32) []int32 {
	ps := make([]int32, n)
	for i := range ps {
		ps[i] = first + int32(i)
	}
	return ps
}
