package remote

import (
	"context"
	"errors"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// bounds are a partition's log start and end, or why they are not known.
type bounds struct {
	start, end int64
	err        error
}

// job is a count still to be made.
type job struct {
	tp                   model.TopicPartition
	from, to, start, end int64
}

// filler adds the logs' side to the rows of one listing, in which every partition is asked for its bounds once.
type filler struct {
	*Groups
	bounds map[model.TopicPartition]bounds
	late   []job
}

func (f *filler) at(ctx context.Context, tp model.TopicPartition) bounds {
	b, ok := f.bounds[tp]
	if !ok {
		if b.start, b.end, b.err = f.logs.Bounds(ctx, tp); b.err != nil {
			b.start, b.end = model.Unknown, model.Unknown
		}
		f.bounds[tp] = b
	}
	return b
}

// preparer is the ability of logs to find out many bounds in one go.
type preparer interface {
	Prepare(ctx context.Context, tps []model.TopicPartition)
}

// prepare asks for the bounds of all that groups have rows of, before anything is counted.
func (f *filler) prepare(ctx context.Context, list []model.Group) {
	p, ok := f.logs.(preparer)
	if !ok {
		return
	}
	set := map[model.TopicPartition]bool{}
	var tps []model.TopicPartition
	for i := range list {
		for j := range list[i].Offsets {
			if tp := list[i].Offsets[j].TopicPartition; !set[tp] {
				set[tp] = true
				tps = append(tps, tp)
			}
		}
	}
	p.Prepare(ctx, tps)
	for _, tp := range tps {
		f.at(ctx, tp)
	}
}

// fill adds bounds and lags to a group's rows. It counts until short ends.
func (f *filler) fill(ctx, short context.Context, g *model.Group) {
	untold := false
	for i := range g.Offsets {
		r := &g.Offsets[i]
		b := f.at(ctx, r.TopicPartition)
		if r.Err != nil { // what is committed was not told
			r.LogStart, r.LogEnd, r.Lag = b.start, b.end, model.Count{}
			untold = true
			continue
		}
		var n model.Count
		err := b.err
		if from, to, ok := groups.LagRange(r.Committed, b.start, b.end); ok {
			n, err = f.count(ctx, short, job{r.TopicPartition, from, to, b.start, b.end})
		}
		c := groups.Committed{At: r.CommittedAt, Expires: r.ExpiresAt, Commit: model.Commit{
			TopicPartition: r.TopicPartition, Offset: r.Committed, LeaderEpoch: r.LeaderEpoch, Metadata: r.Metadata,
		}}
		row := groups.OffsetRow(c, b.start, b.end, n)
		row.Member, row.Err = r.Member, err
		if errors.Is(err, model.ErrNoTopic) || errors.Is(err, model.ErrNoPartition) {
			row.Lag = model.NoCount() // there is nothing to be read
		}
		*r = row
	}
	if g.Lag, _, _ = groups.TotalLag(g.Offsets); untold {
		g.Lag = g.Lag.Add(model.Count{})
	}
}

// count counts while there is time, and estimates after that.
func (f *filler) count(ctx, short context.Context, j job) (model.Count, error) {
	if j.from == j.to {
		return model.Exactly(0), nil
	}
	if n, ok := f.counts.Cached(j.tp, j.from, j.to, j.start, j.end); ok {
		return n, nil
	}
	if short.Err() == nil {
		n, err := f.counts.Between(short, j.tp, j.from, j.to, j.start, j.end)
		if err == nil || short.Err() == nil || ctx.Err() != nil {
			return n, err
		}
	}
	f.late = append(f.late, j)
	return model.About(j.to - j.from), nil
}

// countOn counts what a listing had no time for, and tells of it. It ends with the Client.
func (g *Groups) countOn(late []job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(late) == 0 || g.filling || g.c.ctx.Err() != nil {
		return
	}
	g.filling = true
	g.wg.Go(func() {
		for _, j := range late {
			// An error shows in the row when it is asked for again.
			_, _ = g.counts.Between(g.c.ctx, j.tp, j.from, j.to, j.start, j.end)
		}
		g.mu.Lock()
		g.filling = false
		g.mu.Unlock()
		g.tell()
	})
}
