package logdir

import (
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// allWatched is up to how many folders everything is watched until Focus says what is on screen.
const allWatched = 256

// Focus implements model.Focuser: these topics are watched, and looked at and counted before all others. nil stands for
// the list of all: then everything is watched while there is little of it.
func (d *Dir) Focus(topics []string) {
	if d.watch == nil {
		return
	}
	d.mu.Lock()
	d.focus = nil
	if topics != nil {
		d.focus = make(map[string]bool, len(topics))
	}
	for _, t := range topics {
		d.focus[t] = true
	}
	d.mu.Unlock()
	d.refocus()
}

// focused reports whether a part is on screen, or looked at always: Kafka's own topics that other pages are made of.
// d.mu is held.
func (d *Dir) focused(p *part) bool {
	if d.watch == nil || p.state != model.Live {
		return false
	}
	if p.tp.Topic == layout.OffsetsTopic || p.tp.Topic == layout.MetadataTopic {
		return true
	}
	if d.focus == nil {
		return len(d.parts) <= allWatched
	}
	return d.focus[p.tp.Topic]
}

// refocus watches the folders that are on screen and no others, and queues what is not known of them.
func (d *Dir) refocus() {
	var add, drop []*part
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	for _, p := range d.parts {
		switch want := d.focused(p); {
		case want && !p.watched:
			add = append(add, p)
		case !want && p.watched:
			drop = append(drop, p)
		}
	}
	for _, p := range drop {
		p.watched = false
		d.feed.Remove(p.dir)
		d.keep(p)
	}
	for _, p := range add {
		p.watched = true
		d.feed.Add(p.dir) // marks it dirty, so that follow looks at it
		if p.row.Records.State != model.CountExact && d.walked {
			d.load.add(p, now)
		}
	}
}

// follow turns wake-ups into looks, and looks into changes, until Close.
func (d *Dir) follow() {
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-d.feed.C():
		}
		var told pending
		set := d.feed.Take()
		if set.All {
			d.lookAgain(&told)
		}
		for _, dir := range set.Dirs {
			d.happened(dir, &told)
		}
		if s := d.watch.State(); d.said(s) {
			told.info = true
		}
		d.out.tell(&told)
	}
}

// said notes what the watcher says of itself, and whether that is new.
func (d *Dir) said(state string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	isNew := d.polling != state
	d.polling = state
	return isNew
}

// happened looks at a folder in which something has happened.
func (d *Dir) happened(dir string, told *pending) {
	for _, r := range d.roots {
		if r.path == dir {
			made := d.relist(r, told)
			d.took(r, made)
		}
	}
	d.mu.Lock()
	p := d.parts[dir]
	d.mu.Unlock()
	if p == nil {
		return
	}
	p.mu.Lock()
	changed, err := d.news(p)
	p.mu.Unlock()
	switch {
	case err != nil:
		told.merge(d.missed(p))
	case !changed:
		return
	}
	told.topics = true
	told.touch(p.tp)
	switch p.tp.Topic {
	case layout.OffsetsTopic:
		told.groups = true
	case layout.MetadataTopic:
		told.info = true
	}
}

// news looks at a part and reports whether there is anything to tell. Where a tail has looked just now, what it has
// found is told, and the part is looked at again in the next window. p.mu is held.
func (d *Dir) news(p *part) (changed bool, err error) {
	if end := p.row.LogEnd; p.view != nil && end != p.told && time.Since(p.looked) < window/2 {
		changed = true
		d.feed.Add(p.dir) // marks it
	} else if _, changed, err = d.lookLocked(p); err != nil {
		return changed, err
	}
	changed = changed || p.row.LogEnd != p.told
	p.told = p.row.LogEnd
	was := p.row.Records
	d.recount(p)
	return changed || p.row.Records != was, nil
}

// missed brings the table in line after a folder could not be read: it may have been renamed.
func (d *Dir) missed(p *part) *pending {
	told := &pending{}
	d.took(p.root, d.relist(p.root, told))
	return told
}

// lookAgain looks at everything that is watched, because events were lost.
func (d *Dir) lookAgain(told *pending) {
	for _, r := range d.roots {
		d.took(r, d.relist(r, told))
	}
	d.mu.Lock()
	var dirs []string
	for dir, p := range d.parts {
		if p.watched {
			dirs = append(dirs, dir)
		}
	}
	d.mu.Unlock()
	for _, dir := range dirs {
		d.happened(dir, told)
	}
	told.all, told.topics, told.groups = true, true, true
	told.parts = nil
}
