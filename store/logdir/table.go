package logdir

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// topic is the parts of a topic.
type topic struct {
	live map[int32]*part
	left []*part // Future, Deleting, Stray, and a second live folder of the same partition
}

// relist reads the names in a log directory and its checkpoints, and brings the table in line with them. Folders that
// are new are to be measured, and maybe watched: they are returned.
func (d *Dir) relist(r *root, told *pending) []*part {
	r.listing.Lock()
	defer r.listing.Unlock()
	l, err := r.list()
	start, newStart := r.start.reread(filepath.Join(r.path, layout.LogStartFile))
	high, newHigh := r.high.reread(filepath.Join(r.path, layout.HighWatermarkFile))
	cleaned, newCleaned := r.cleaned.reread(filepath.Join(r.path, layout.CleanerFile))
	d.mu.Lock()
	defer d.mu.Unlock()
	if (err == nil) != (r.err == nil) {
		told.info = true
	}
	r.err, r.start, r.high, r.cleaned = err, start, high, cleaned
	if err != nil {
		return nil // keep what is known: it may be back
	}
	r.odd = l.odd
	here := make(map[string]bool, len(l.folders))
	var made []*part
	for _, f := range l.folders {
		dir := filepath.Join(r.path, f.name)
		here[dir] = true
		if d.parts[dir] == nil {
			made = append(made, d.adopt(r, f, dir))
			told.topics = true
			told.touch(f.TP)
		}
	}
	for dir, p := range d.parts {
		if p.root == r && !here[dir] {
			d.forget(p)
			told.topics = true
			told.touch(p.tp)
		}
	}
	if newStart || newHigh || newCleaned {
		d.reopen(r, told)
	}
	return made
}

// adopt adds a folder to the table. d.mu is held.
func (d *Dir) adopt(r *root, f folder, dir string) *part {
	p := &part{tp: f.TP, state: f.State, root: r, name: f.name, dir: dir, first: model.Unknown}
	p.sums = noSums(nil)
	p.row = p.blank()
	d.parts[dir] = p
	t := d.topics[p.tp.Topic]
	if t == nil {
		t = &topic{live: map[int32]*part{}}
		d.topics[p.tp.Topic] = t
	}
	if o := t.live[p.tp.Partition]; p.state == model.Live && o == nil {
		t.live[p.tp.Partition] = p
	} else {
		t.left = append(t.left, p)
	}
	return p
}

// forget takes a folder that is not there any more out of the table. d.mu is held.
func (d *Dir) forget(p *part) {
	p.gone = true
	delete(d.parts, p.dir)
	if p.watched {
		p.watched = false
		d.feed.Remove(p.dir)
	}
	t := d.topics[p.tp.Topic]
	t.left = slices.DeleteFunc(t.left, func(o *part) bool { return o == p })
	if t.live[p.tp.Partition] == p {
		delete(t.live, p.tp.Partition)
		// The other folder of a partition that was there twice.
		for i, o := range t.left {
			if o.state == model.Live && o.tp == p.tp {
				t.live[p.tp.Partition] = o
				t.left = slices.Delete(t.left, i, i+1)
				break
			}
		}
	}
	if len(t.live) == 0 && len(t.left) == 0 {
		delete(d.topics, p.tp.Topic)
	}
}

// reopen notes that a root's checkpoints have changed, for the parts whose offsets that concerns. A broker writes the
// high watermarks every few seconds: what is on no screen is not looked at for them. d.mu is held.
func (d *Dir) reopen(r *root, told *pending) {
	for _, p := range d.parts {
		if p.root != r || !p.loaded {
			continue
		}
		o := d.viewOptions(p)
		switch {
		case o == p.opened:
		case d.focused(p):
			d.load.add(p, now)
		case o.LogStart != p.opened.LogStart:
			d.load.add(p, later)
		default:
			p.row.HighWatermark, p.row.HWFromCheckpoint = p.row.LogEnd, false
			if hw := o.HighWatermark; hw >= 0 && hw < p.row.LogEnd && !o.EndIsHW {
				p.row.HighWatermark, p.row.HWFromCheckpoint = max(hw, p.row.LogStart), true
			}
			told.touch(p.tp)
		}
	}
}

// rounds walks all folders again and again until Close; first is closed after the first walk. A Still source walks once.
func (d *Dir) rounds(first chan<- struct{}) {
	begin := time.Now()
	d.walk(d.ctx, true)
	d.mu.Lock()
	d.walked = true
	d.mu.Unlock()
	if d.watch != nil {
		d.refocus()
	}
	close(first)
	if d.o.Still {
		return
	}
	d.loadAll()
	for {
		timer := time.NewTimer(max(d.o.Restat, 50*time.Since(begin)))
		select {
		case <-d.ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		begin = time.Now()
		var told pending
		for _, r := range d.roots {
			d.relist(r, &told)
		}
		d.out.tell(&told)
		d.walk(d.ctx, false)
		d.refocus()
	}
}

// walk measures the folders of all roots and looks closer at those that differ from the walk before. Where all is
// false, the watched ones are left out.
func (d *Dir) walk(ctx context.Context, all bool) {
	for _, r := range d.roots {
		d.mu.Lock()
		var list []*part
		for _, p := range d.parts {
			if p.root == r && (all || !p.watched) {
				list = append(list, p)
			}
		}
		d.mu.Unlock()
		slices.SortFunc(list, func(a, b *part) int { return a.tp.Compare(b.tp) })
		d.measure(ctx, r, list)
	}
}

// measure looks at some folders of a root and tells of what has changed, now and then while it goes on.
func (d *Dir) measure(ctx context.Context, r *root, list []*part) {
	var told pending
	last := time.Now()
	err := measure(ctx, r.path, len(list), func(i int) string { return list[i].name }, func(i int, s sums) {
		p := list[i]
		d.mu.Lock()
		defer d.mu.Unlock()
		if p.walked && p.sums.print == s.print && (p.sums.err == nil) == (s.err == nil) || p.gone {
			return
		}
		again := p.walked
		p.sums, p.walked = s, true
		told.topics = true
		if again {
			told.touch(p.tp)
			d.load.add(p, later)
		}
		if time.Since(last) > 2*window {
			last = time.Now()
			d.out.tell(&told)
		}
	})
	if err != nil && ctx.Err() == nil {
		d.mu.Lock()
		r.err = fmt.Errorf("look at log directory: %w", err)
		told.info = true
		d.mu.Unlock()
	}
	d.mu.Lock()
	d.out.tell(&told)
	d.mu.Unlock()
}

// find returns the part of a partition: the live one, else what is left of it.
func (d *Dir) find(tp model.TopicPartition) (*part, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.topics[tp.Topic]
	if t == nil {
		return nil, model.NotFound(model.ErrNoTopic, tp.Topic, d.names())
	}
	if p := t.live[tp.Partition]; p != nil {
		return p, nil
	}
	for _, p := range t.left {
		if p.tp == tp {
			return p, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", model.ErrNoPartition, tp)
}

// names returns all topics' names. d.mu is held.
func (d *Dir) names() []string {
	names := make([]string, 0, len(d.topics))
	for n := range d.topics {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
