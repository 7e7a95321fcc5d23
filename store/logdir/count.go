package logdir

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/partition"
)

// inlineCount is up to how many new offsets are counted at once when a log has grown; more are left to the loader.
const inlineCount = 100_000

// counted is what was counted of a partition, and what it looked like then. A view that is kept remembers its own
// counts; this is for those that are not.
type counted struct {
	ok         bool
	n          int64
	start, end int64
	bytes      int64
	segments   int
}

// count returns the number of records for a row, as sure as it can be without reading.
func (c counted) count(row model.Partition) model.Count {
	switch {
	case row.Records.State == model.CountExact:
		return row.Records
	case row.LogEnd == row.LogStart:
		return model.Exactly(0)
	case c.matches(row) && c.end == row.LogEnd:
		return model.Exactly(c.n)
	case c.matches(row):
		return model.About(c.n + row.LogEnd - c.end)
	}
	return row.Records
}

// matches reports whether a row is what was counted, or that and more: a compaction makes a log smaller without moving
// its ends.
func (c counted) matches(row model.Partition) bool {
	return c.ok && c.start == row.LogStart && c.end <= row.LogEnd && c.segments <= row.Segments &&
		(c.bytes == row.Bytes && c.end == row.LogEnd || c.bytes < row.Bytes && c.end < row.LogEnd)
}

// countLocked makes a part's count exact. p.mu is held.
func (d *Dir) countLocked(ctx context.Context, p *part, v *partition.View) error {
	row := v.Partition()
	n := model.Count{}
	if row.Records.State == model.CountExact {
		n = row.Records
	} else if c := p.counted; c.matches(row) {
		more, err := v.Count(ctx, c.end, row.LogEnd)
		if err != nil {
			return err
		}
		n = model.Exactly(c.n + more)
	} else {
		all, err := v.Count(ctx, model.FromStart, model.FromEnd)
		if err != nil {
			return err
		}
		n = model.Exactly(all)
	}
	p.counted = counted{true, n.N, row.LogStart, row.LogEnd, row.Bytes, row.Segments}
	newest := row.Newest
	if ms, err := v.Newest(ctx); err == nil {
		newest = ms
	}
	d.mu.Lock()
	p.row.Records, p.row.Newest = n, newest
	d.mu.Unlock()
	return nil
}

// recount brings the count of a log that has grown up to date, if it was counted before. p.mu is held.
func (d *Dir) recount(p *part) {
	d.mu.Lock()
	row := p.row
	d.mu.Unlock()
	if row.Records.State == model.CountExact || !p.counted.ok || p.view == nil {
		return
	}
	if p.counted.matches(row) && row.LogEnd-p.counted.end < inlineCount && d.countLocked(d.ctx, p, p.view) == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.focused(p) {
		d.load.add(p, counts)
	}
}

// Count implements model.Counter.
func (d *Dir) Count(ctx context.Context, topics []string) error {
	if err := d.begin(ctx); err != nil {
		return err
	}
	var list []*part
	d.mu.Lock()
	for _, t := range topics {
		if d.topics[t] == nil {
			defer d.mu.Unlock()
			return model.NotFound(model.ErrNoTopic, t, d.listed())
		}
	}
	for _, p := range d.parts {
		if p.state == model.Live && (topics == nil || slices.Contains(topics, p.tp.Topic)) {
			list = append(list, p)
		}
	}
	d.mu.Unlock()
	slices.SortFunc(list, func(a, b *part) int { return a.tp.Compare(b.tp) })
	errs := make([]error, len(list))
	told := &pending{topics: true}
	err := twice(ctx, len(list), func(i int) { errs[i] = d.countPart(ctx, list[i]) })
	for _, p := range list {
		told.touch(p.tp)
	}
	d.out.tell(told)
	if err != nil {
		return err
	}
	return errors.Join(errs...)
}

func (d *Dir) countPart(ctx context.Context, p *part) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, _, err := d.lookLocked(p)
	if errors.Is(err, model.ErrNoPartition) {
		return nil // it went meanwhile
	}
	if err == nil {
		err = d.countLocked(ctx, p, v)
	}
	if err != nil {
		return fmt.Errorf("count records of %s: %w", p.tp, err)
	}
	d.mu.Lock()
	keep := d.focused(p)
	d.mu.Unlock()
	if !keep {
		p.view = nil
	}
	return nil
}
