package logdir

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/meta"
	"github.com/strata-kafka/strata/store/record"
)

// listBudget is how long Groups counts before it gives estimates and counts on behind.
const listBudget = 150 * time.Millisecond

// offsetsLog is what __consumer_offsets and __share_group_state were read to say.
type offsetsLog struct {
	busy   gate // held by whoever uses the rest
	groups meta.Groups
	read   map[model.TopicPartition]readTo
	odd    map[int32]int // records of a partition of __consumer_offsets that were not understood

	count   *groups.Counter
	filling bool // a goroutine counts on behind
}

// readTo says how far a partition was read.
type readTo struct {
	part *part
	next int64
}

// Groups implements model.Source. What it cannot count in a short time it gives as an estimate, and tells of by a
// Change once it is counted.
func (d *Dir) Groups(ctx context.Context) ([]model.Group, error) {
	if err := d.begin(ctx); err != nil {
		return nil, err
	}
	o := d.offs
	if err := o.busy.lock(ctx); err != nil {
		return nil, err
	}
	defer o.busy.unlock()
	if err := d.replayGroups(ctx); err != nil {
		return nil, err
	}
	img := d.image(ctx)
	list := o.groups.List(img.name)
	short, stop := context.WithTimeout(ctx, listBudget)
	defer stop()
	whole, seen := true, map[model.TopicPartition]bounds{}
	for i := range list {
		whole = d.fillGroup(short, &list[i], seen) && whole
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if !whole && !o.filling && !d.o.Still {
		o.filling = d.spawn(d.countOn)
	}
	return list, nil
}

// Group implements model.GroupReader: all is counted.
func (d *Dir) Group(ctx context.Context, id string) (model.Group, error) {
	if err := d.begin(ctx); err != nil {
		return model.Group{}, err
	}
	o := d.offs
	if err := o.busy.lock(ctx); err != nil {
		return model.Group{}, err
	}
	defer o.busy.unlock()
	if err := d.replayGroups(ctx); err != nil {
		return model.Group{}, err
	}
	img := d.image(ctx)
	g, ok := o.groups.Group(id, img.name)
	if !ok {
		var ids []string
		for _, g := range o.groups.List(nil) {
			ids = append(ids, g.ID)
		}
		return g, model.NotFound(model.ErrNoGroup, id, ids)
	}
	d.fillGroup(ctx, &g, map[model.TopicPartition]bounds{})
	return g, ctx.Err()
}

// name returns a topic's name by its id, or "".
func (m *image) name(id layout.ID) string { return m.names[id] }

// countOn counts what Groups had no time for, and tells of it.
func (d *Dir) countOn() {
	o := d.offs
	if o.busy.lock(d.ctx) != nil {
		return
	}
	list := o.groups.List(nil)
	o.busy.unlock()
	seen := map[model.TopicPartition]bounds{}
	for i := range list {
		d.fillGroup(d.ctx, &list[i], seen)
	}
	if o.busy.lock(d.ctx) != nil {
		return
	}
	o.filling = false
	o.busy.unlock()
	d.out.tell(&pending{groups: true})
}

// fillGroup adds the logs' bounds and the lags to a group's rows. It returns false where a lag had to be estimated for
// want of time. seen remembers bounds from one group to the next.
func (d *Dir) fillGroup(ctx context.Context, g *model.Group, seen map[model.TopicPartition]bounds) (whole bool) {
	whole = true
	for i := range g.Offsets {
		r := &g.Offsets[i]
		c := groups.Committed{At: r.CommittedAt, Expires: r.ExpiresAt, Commit: model.Commit{
			TopicPartition: r.TopicPartition, Offset: r.Committed, LeaderEpoch: r.LeaderEpoch, Metadata: r.Metadata,
		}}
		member := r.Member
		b, ok := seen[r.TopicPartition]
		if !ok {
			b.start, b.end, b.err = d.Bounds(d.ctx, r.TopicPartition)
			seen[r.TopicPartition] = b
		}
		start, end, err := b.start, b.end, b.err
		var n model.Count
		if from, to, ok := groups.LagRange(c.Offset, start, end); ok && err == nil && from < to {
			if n, ok = d.offs.count.Cached(r.TopicPartition, from, to, start, end); !ok {
				n = model.About(to - from)
				if ctx.Err() == nil {
					if counted, cerr := d.offs.count.Between(ctx, r.TopicPartition, from, to, start, end); cerr == nil {
						n = counted
					} else if ctx.Err() == nil {
						err = cerr
					}
				}
				whole = whole && (n.State == model.CountExact || err != nil)
			}
		}
		*r = groups.OffsetRow(c, start, end, n)
		r.Member, r.Err = member, err
	}
	g.Lag, _, _ = groups.TotalLag(g.Offsets)
	return whole
}

// bounds are a partition's log start and end, or why they are not known.
type bounds struct {
	start, end int64
	err        error
}

// replayGroups reads what has come to Kafka's own topics of groups since the last time. d.offs.busy is held.
func (d *Dir) replayGroups(ctx context.Context) error {
	o := d.offs
	if o.read == nil {
		o.read, o.odd = map[model.TopicPartition]readTo{}, map[int32]int{}
		o.count = groups.NewCounter(d, 0, nil)
	}
	for _, topic := range []string{layout.OffsetsTopic, layout.ShareTopic} {
		var list []*part
		d.mu.Lock()
		if t := d.topics[topic]; t != nil {
			for _, p := range t.live {
				list = append(list, p)
			}
		}
		d.mu.Unlock()
		slices.SortFunc(list, func(a, b *part) int { return a.tp.Compare(b.tp) })
		here := map[model.TopicPartition]bool{}
		for _, p := range list {
			here[p.tp] = true
			if err := d.replayPart(ctx, p); err != nil && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		for tp := range o.read {
			if tp.Topic == topic && !here[tp] {
				delete(o.read, tp)
				o.groups.Forget(tp.Partition)
			}
		}
	}
	return nil
}

// replayPart reads what has come to one partition of them. A partition that was truncated, or is another one by now,
// is read from its start.
func (d *Dir) replayPart(ctx context.Context, p *part) error {
	o := d.offs
	v, err := d.look(ctx, p)
	if err != nil {
		return err
	}
	row := v.Partition()
	at, ok := o.read[p.tp]
	if !ok || at.part != p || row.LogEnd < at.next {
		if p.tp.Topic == layout.OffsetsTopic {
			o.groups.Forget(p.tp.Partition)
			o.odd[p.tp.Partition] = 0
		}
		at = readTo{part: p, next: row.LogStart}
	}
	at.next = max(at.next, row.LogStart)
	if at.next >= row.LogEnd {
		o.read[p.tp] = at
		return nil
	}
	var r record.Reader
	err = v.Scan(ctx, at.next, row.LogEnd, func(h record.Header, _, _ int64, batch []byte) error {
		from := at.next
		at.next = max(at.next, h.NextOffset())
		if r.Reset(batch) != nil {
			return nil // damage: what is around it counts still
		}
		for r.Next() {
			if r.Record().Offset >= from {
				d.applyGroup(p.tp, h, r.Record())
			}
		}
		return nil
	})
	if err == nil {
		at.next = row.LogEnd
	}
	o.read[p.tp] = at
	return err
}

func (d *Dir) applyGroup(tp model.TopicPartition, h record.Header, r *record.Record) {
	o := d.offs
	var err error
	if tp.Topic == layout.ShareTopic {
		if !h.Control() {
			err = o.groups.ApplyShare(r.Key, r.Value)
		}
	} else {
		err = o.groups.Apply(meta.GroupRecord{
			Partition: tp.Partition, Offset: r.Offset, Timestamp: r.Timestamp, Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value),
			Transactional: h.Transactional(), ProducerID: h.ProducerID, Control: h.Control(),
		})
	}
	if err != nil && !errors.Is(err, meta.ErrUnknown) {
		o.odd[tp.Partition]++
	}
}

// oddGroups returns how many records of __consumer_offsets were not understood.
func (d *Dir) oddGroups(ctx context.Context) int {
	if d.offs.busy.lock(ctx) != nil {
		return 0
	}
	defer d.offs.busy.unlock()
	n := 0
	for _, k := range d.offs.odd {
		n += k
	}
	return n
}
