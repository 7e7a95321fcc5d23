package remote

import "github.com/strata-kafka/strata/model"

const (
	defaultKeep = 10_000
	keepBytes   = 10 << 20 // of keys, values and headers
)

// ring keeps the newest records, numbered from 0.
//
// Invariants:
//   - recs[i%len(recs)] is record number i for first <= i < next
//   - bytes is the sum of weight over them
type ring struct {
	recs        []model.Record // grows up to keep
	keep        int
	first, next int64
	bytes       int
}

// full reports whether a record of so many bytes would push out another.
func (g *ring) full(bytes int) bool {
	n := g.next - g.first
	return n > 0 && (n >= int64(g.keep) || g.bytes+bytes > keepBytes)
}

// push adds a record, and takes the oldest out for which there is no room.
func (g *ring) push(r model.Record) {
	w := weight(&r)
	for g.full(w) {
		g.drop(g.first + 1)
	}
	if n := int(g.next - g.first); n == len(g.recs) {
		g.grow(n)
	}
	g.recs[g.next%int64(len(g.recs))] = r
	g.next++
	g.bytes += w
}

// grow makes room for more than n records, which are all that there is room for.
func (g *ring) grow(n int) {
	recs := make([]model.Record, min(g.keep, max(64, 2*n)))
	for i := g.first; i < g.next; i++ {
		recs[i%int64(len(recs))] = g.recs[i%int64(len(g.recs))]
	}
	g.recs = recs
}

// drop takes the records below a number out.
func (g *ring) drop(below int64) {
	for ; g.first < min(below, g.next); g.first++ {
		r := &g.recs[g.first%int64(len(g.recs))]
		g.bytes -= weight(r)
		*r = model.Record{} // lets go of its bytes
	}
}

// window returns up to n records below number end (negative: the newest), and the number of the first.
func (g *ring) window(end int64, n int) ([]model.Record, int64) {
	if end < 0 || end > g.next {
		end = g.next
	}
	from := max(g.first, end-int64(max(n, 0)))
	if from >= end {
		return nil, end
	}
	out := make([]model.Record, 0, end-from)
	for i := from; i < end; i++ {
		out = append(out, g.recs[i%int64(len(g.recs))])
	}
	return out, from
}
