package logdir

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// Topics implements model.Source. A topic whose folders were not looked at yet has Bytes Unknown. A topic of which there
// are only leftovers is not listed: Partitions tells them, and Overview.
func (d *Dir) Topics(ctx context.Context) ([]model.Topic, error) {
	if err := d.begin(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	rows := make([]model.Topic, 0, len(d.topics))
	for name, t := range d.topics {
		if len(t.live) > 0 {
			rows = append(rows, t.row(name))
		}
	}
	d.mu.Unlock()
	slices.SortFunc(rows, func(a, b model.Topic) int { return cmp.Compare(a.Name, b.Name) })
	img := d.imageSoon(ctx)
	for i := range rows {
		r := &rows[i]
		r.Retention = d.retention(img, r.Name)
		if t, ok := img.topics[r.Name]; ok {
			r.Replicas = t.replicas()
			if r.ID == "" {
				r.ID = t.id.String()
			}
		}
	}
	return rows, nil
}

// row sums a topic up. d.mu is held.
func (t *topic) row(name string) model.Topic {
	r := model.Topic{Name: name, Internal: layout.Internal(name), Partitions: len(t.live), Newest: model.NoTime}
	records, odd := model.NoCount(), 0
	for _, p := range t.live {
		if p.walked && r.Bytes != model.Unknown {
			r.Bytes += p.sums.bytes
		} else {
			r.Bytes = model.Unknown
		}
		if r.ID == "" {
			r.ID = p.id
		}
		records = records.Add(p.row.Records)
		r.Newest = max(r.Newest, p.row.Newest)
		if p.first != model.Unknown {
			r.Appended += max(0, p.row.LogEnd-p.first)
		}
		if p.row.Err != nil {
			odd++
		}
	}
	r.Records = records
	var notes []string
	if odd > 0 {
		notes = append(notes, plural(odd, "partition")+" damaged or not readable")
	}
	left := map[model.PartitionState]int{}
	for _, p := range t.left {
		left[p.state]++
	}
	for _, s := range []struct {
		state model.PartitionState
		words string
	}{{model.Future, " moving in"}, {model.Deleting, " being deleted"}, {model.Stray, " stray"}, {model.Live, " there twice"}} {
		if n := left[s.state]; n > 0 {
			notes = append(notes, plural(n, "replica")+s.words)
		}
	}
	r.Note = strings.Join(notes, ", ")
	return r
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Partitions implements model.Source.
func (d *Dir) Partitions(ctx context.Context, name string) ([]model.Partition, error) {
	if err := d.begin(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	t := d.topics[name]
	if t == nil {
		defer d.mu.Unlock()
		return nil, model.NotFound(model.ErrNoTopic, name, d.listed())
	}
	var live []*part
	for _, p := range t.live {
		live = append(live, p)
	}
	left := slices.Clone(t.left)
	d.mu.Unlock()
	byNumber := func(a, b *part) int { return cmp.Or(a.tp.Compare(b.tp), cmp.Compare(a.dir, b.dir)) }
	slices.SortFunc(live, byNumber)
	slices.SortFunc(left, byNumber)
	list := append(live, left...)
	if err := d.lookAll(ctx, list); err != nil {
		return nil, err
	}
	img := d.image(ctx)
	self := int32(-1)
	if d.o.Embedded {
		self = d.node() // it leads all it has
	}
	rows := make([]model.Partition, 0, len(list))
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range list {
		if p.gone {
			continue
		}
		r := p.row
		if p.state == model.Live {
			img.fill(&r)
			if r.Leader < 0 {
				r.Leader = self
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// listed returns the names of the topics that Topics lists. d.mu is held.
func (d *Dir) listed() []string {
	var names []string
	for n, t := range d.topics {
		if len(t.live) > 0 {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}
