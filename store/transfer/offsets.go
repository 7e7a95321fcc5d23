package transfer

import "sort"

// offsetMap says where a log's records have gone in another one, where they lie without holes from start on.
//
// Invariants:
//   - spans ascend in both logs, and none can be joined with the next
type offsetMap struct {
	start int64 // there
	end   int64 // there, behind the last one
	spans []span
}

// span is n records from an offset on, and where they have gone.
type span struct{ from, to, n int64 }

// add puts the first n records of a batch behind those before.
func (m *offsetMap) add(b *batch, n int64) {
	for _, r := range b.spans() {
		k := min(r.n, n)
		if k == 0 {
			return
		}
		m.put(run{r.from, k})
		n -= k
	}
}

func (m *offsetMap) put(r run) {
	if k := len(m.spans) - 1; k >= 0 && m.spans[k].from+m.spans[k].n == r.from {
		m.spans[k].n += r.n
	} else {
		m.spans = append(m.spans, span{r.from, m.end, r.n})
	}
	m.end += r.n
}

// at returns where a reader goes on that would have gone on from an offset: at the first record that was not below it.
func (m *offsetMap) at(offset int64) int64 {
	k := sort.Search(len(m.spans), func(i int) bool { return m.spans[i].from+m.spans[i].n > offset })
	if k == len(m.spans) {
		return m.end
	}
	return m.spans[k].to + max(0, offset-m.spans[k].from)
}
