package records

import (
	"cmp"
	"context"
	"slices"

	"github.com/strata-kafka/strata/model"
)

const (
	fetchRows = 250  // records a request
	maxRows   = 2000 // records in the window
	nearEdge  = 60   // rows from the edge at which more is asked for
	// valueLimit is what is read of keys and values for the list: enough for the widest screen.
	valueLimit = 1400
)

// span is a run of the log as it was read.
//
// Invariants: recs ascend by offset; every record that the source shows in [prev, next) is among them.
type span struct {
	recs       []model.Record
	faults     []model.Fault
	prev, next int64
	start, end int64
	atStart    bool
	atEnd      bool
}

// reader reads spans of one partition in one way.
type reader struct {
	src       model.Source
	tp        model.TopicPartition
	committed bool
	whole     bool // values are not cut: they are to be decoded
}

func (r reader) query(from int64, backward bool, n int) model.RecordQuery {
	q := model.RecordQuery{TP: r.tp, From: from, Max: n, Backward: backward, Committed: r.committed, Control: true, ValueLimit: valueLimit}
	if r.whole {
		q.ValueLimit = 0
	}
	return q
}

func (r reader) read(ctx context.Context, from int64, backward bool, n int) (span, error) {
	p, err := r.src.Records(ctx, r.query(from, backward, n))
	return span{p.Records, p.Faults, p.Prev, p.Next, p.Start, p.End, p.AtStart, p.AtEnd}, err
}

// around reads what lies before and after an offset.
func (r reader) around(ctx context.Context, at int64) (span, error) {
	if at == model.FromEnd {
		return r.read(ctx, at, true, fetchRows)
	}
	after, err := r.read(ctx, at, false, fetchRows)
	if err != nil || after.atStart {
		return after, err
	}
	before, err := r.read(ctx, after.prev, true, fetchRows/2)
	if err != nil {
		return after, err
	}
	return before.join(after), nil
}

// join puts another span behind s; what both hold is taken from the other.
func (s span) join(o span) span {
	i := len(s.recs)
	if len(o.recs) > 0 {
		for i > 0 && s.recs[i-1].Offset >= o.recs[0].Offset {
			i--
		}
	}
	out := span{
		recs:  append(s.recs[:i:i], o.recs...),
		prev:  s.prev,
		next:  max(s.next, o.next),
		start: max(s.start, o.start), end: max(s.end, o.end),
		atStart: s.atStart, atEnd: o.atEnd,
	}
	out.faults = mergeFaults(s.faults, o.faults)
	return out
}

// maxFaults bounds what a window keeps of damage.
const maxFaults = 500

func mergeFaults(a, b []model.Fault) []model.Fault {
	out := append(a[:len(a):len(a)], b...)
	slices.SortStableFunc(out, func(x, y model.Fault) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Position, y.Position), cmp.Compare(x.Kind, y.Kind))
	})
	out = slices.CompactFunc(out, func(x, y model.Fault) bool {
		return x.File == y.File && x.Position == y.Position && x.Kind == y.Kind
	})
	return out[:min(len(out), maxFaults)]
}

// trim keeps at most maxRows records: the first ones, or the last.
func (s *span) trim(keepFirst bool) {
	n := len(s.recs) - maxRows
	if n <= 0 {
		return
	}
	if keepFirst {
		s.next, s.atEnd = s.recs[maxRows].Offset, false
		s.recs = slices.Clone(s.recs[:maxRows])
		return
	}
	s.recs = slices.Clone(s.recs[n:])
	s.prev, s.atStart = s.recs[0].Offset, false
}

// raise takes away what lies below a new log start.
func (s *span) raise(start int64) {
	if start <= s.start {
		return
	}
	s.start = start
	i := 0
	for i < len(s.recs) && s.recs[i].Offset < start {
		i++
	}
	s.recs = s.recs[i:]
	if s.prev <= start {
		s.prev, s.atStart = start, true
	}
	s.next = max(s.next, start)
}

// undecided returns the offset of the first record whose transaction is open; model.Unknown when there is none.
func (s *span) undecided() int64 {
	for i := range s.recs {
		if s.recs[i].Visibility == model.Undecided {
			return s.recs[i].Offset
		}
	}
	return model.Unknown
}

// index returns the number of the first record at or after an offset.
func (s *span) index(offset int64) int {
	i, _ := slices.BinarySearchFunc(s.recs, offset, func(r model.Record, o int64) int { return cmp.Compare(r.Offset, o) })
	return i
}

// holds reports whether an offset lies within what was read.
func (s *span) holds(offset int64) bool { return offset >= s.prev && offset < s.next }
