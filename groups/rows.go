package groups

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// Groups returns all groups by name. Lags that take too long to count are estimates at first; a change is told when they
// have been counted.
func (s *Service) Groups(ctx context.Context) ([]model.Group, error) {
	all, err := s.stored()
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	r := &rows{s: s, bounds: map[model.TopicPartition]bounds{}, until: time.Now().Add(s.o.ListBudget)}
	out := make([]model.Group, 0, len(all))
	for _, id := range slices.Sorted(maps.Keys(all)) {
		g, err := r.group(ctx, id, all[id])
		if err != nil {
			return nil, fmt.Errorf("list groups: %w", err)
		}
		out = append(out, g)
	}
	s.fill(r.late)
	return out, nil
}

// Group returns one group, its lag counted. ErrNoGroup.
func (s *Service) Group(ctx context.Context, id string) (model.Group, error) {
	st := &stored{}
	err := s.db.view(func(tx *bbolt.Tx) error {
		st = lookAt(s.db, tx, id)
		return nil
	})
	if err != nil {
		return model.Group{}, fmt.Errorf("group %q: %w", id, err)
	}
	if now := s.lookup(id); !st.known && len(st.offsets) == 0 && st.bad == 0 && !now.Active() {
		return model.Group{}, s.noGroup(id)
	}
	r := &rows{s: s, bounds: map[model.TopicPartition]bounds{}}
	g, err := r.group(ctx, id, st)
	if err != nil {
		return model.Group{}, fmt.Errorf("group %q: %w", id, err)
	}
	return g, nil
}

// fill counts on behind what a listing had no time for, and tells when it is done. It is ended by Close.
func (s *Service) fill(late []job) {
	if len(late) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil || s.closed {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.wg.Go(func() {
		for _, j := range late {
			if ctx.Err() != nil {
				break
			}
			// An error shows in the row when it is asked for again.
			_, _ = s.counts.between(ctx, j.tp, j.from, j.to, j.start, j.end)
		}
		stop()
		s.mu.Lock()
		s.stop = nil
		s.mu.Unlock()
		s.tell()
	})
}

// job is a count still to be made.
type job struct {
	tp                   model.TopicPartition
	from, to, start, end int64
}

type bounds struct {
	start, end int64
	err        error
}

// rows makes the rows of one listing, in which every partition is asked for its bounds once.
type rows struct {
	s      *Service
	bounds map[model.TopicPartition]bounds
	until  time.Time // zero: count whatever it takes
	late   []job
}

func (r *rows) at(ctx context.Context, tp model.TopicPartition) bounds {
	b, ok := r.bounds[tp]
	if !ok {
		b.start, b.end, b.err = r.s.logs.Bounds(ctx, tp)
		if b.err != nil {
			b.start, b.end = model.Unknown, model.Unknown
		}
		r.bounds[tp] = b
	}
	return b
}

// group puts a group together. Its only error is that of ctx.
func (r *rows) group(ctx context.Context, id string, st *stored) (model.Group, error) {
	g := r.s.lookup(id)
	if g.Type == "" {
		g.Type, g.ProtocolType, g.Protocol = st.record.Type, st.record.ProtocolType, st.record.Protocol
	}
	if g.Type == "" {
		g.Type = TypeClassic
	}
	owner := map[model.TopicPartition]string{}
	for _, m := range g.Members {
		for _, tp := range m.Assignment {
			owner[tp] = m.ID
		}
	}
	expires := r.s.expiry(st, &g)
	for _, c := range st.offsets {
		row, err := r.row(ctx, c)
		if err != nil {
			return g, err
		}
		row.ExpiresAt = expires(c)
		row.Member = owner[c.TopicPartition]
		delete(owner, c.TopicPartition)
		g.Offsets = append(g.Offsets, row)
	}
	// What is assigned but was never committed is a row too.
	for tp, member := range owner {
		row, err := r.row(ctx, Committed{Commit: model.Commit{TopicPartition: tp, Offset: model.Unknown, LeaderEpoch: -1}})
		if err != nil {
			return g, err
		}
		row.Member = member
		g.Offsets = append(g.Offsets, row)
	}
	slices.SortFunc(g.Offsets, func(a, b model.GroupOffset) int { return a.Compare(b.TopicPartition) })
	g.Lag, _, _ = TotalLag(g.Offsets)
	if st.bad > 0 {
		g.Note = fmt.Sprintf("%d of its entries in the store are damaged and left out", st.bad)
	}
	return g, nil
}

func (r *rows) row(ctx context.Context, c Committed) (model.GroupOffset, error) {
	b := r.at(ctx, c.TopicPartition)
	if err := ctx.Err(); err != nil {
		return model.GroupOffset{}, err
	}
	from, to, ok := LagRange(c.Offset, b.start, b.end)
	var n model.Count
	var err error
	if ok {
		n, err = r.count(ctx, job{c.TopicPartition, from, to, b.start, b.end})
	}
	if err == nil {
		err = b.err
	}
	if cerr := ctx.Err(); cerr != nil {
		return model.GroupOffset{}, cerr
	}
	row := OffsetRow(c, b.start, b.end, n)
	row.Err = err
	if errors.Is(err, model.ErrNoTopic) || errors.Is(err, model.ErrNoPartition) {
		row.Lag = model.NoCount() // there is nothing to be read
	}
	return row, nil
}

// count counts while there is time, and estimates after that.
func (r *rows) count(ctx context.Context, j job) (model.Count, error) {
	if r.until.IsZero() || time.Now().Before(r.until) {
		return r.s.counts.between(ctx, j.tp, j.from, j.to, j.start, j.end)
	}
	if n, ok := r.s.counts.cached(j.tp, j.from, j.to, j.start, j.end); ok {
		return n, nil
	}
	r.late = append(r.late, j)
	return model.About(j.to - j.from), nil
}
