package logdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// part is a partition's folder and what is known of it.
type part struct {
	tp    model.TopicPartition
	state model.PartitionState
	root  *root
	name  string // of the folder
	dir   string // its path

	// Guarded by Dir.mu; row is written under both, but for a high watermark (see reopen).
	sums    sums
	walked  bool            // sums are known
	row     model.Partition // what the last look said
	loaded  bool            // row is known
	opened  partition.ViewOptions
	id      string // topic id from partition.metadata
	first   int64  // log end at the first look, or model.Unknown
	watched bool
	kept    bool // see Dir.keep
	gone    bool // the folder is not there any more
	queued  [levels]bool

	// mu is taken before Dir.mu, and held while files are read.
	mu      sync.Mutex
	view    *partition.View
	seen    seen      // what the folder looked like when view was made
	looked  time.Time // when view was last brought up to date
	told    int64     // the log end that follow has told of
	counted counted
}

// blank returns a row of which nothing is known but the folder.
func (p *part) blank() model.Partition {
	return model.Partition{
		TopicPartition: p.tp, LogStart: model.Unknown, HighWatermark: model.Unknown, LastStable: model.Unknown,
		LogEnd: model.Unknown, Newest: model.NoTime, Leader: -1, LeaderEpoch: -1, Dir: p.dir, State: p.state,
	}
}

// viewOptions returns what the root's checkpoints say of a part. d.mu is held.
func (d *Dir) viewOptions(p *part) partition.ViewOptions {
	o := partition.ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown, EndIsHW: d.o.Embedded}
	if p.state == model.Live || p.state == model.Future {
		o.LogStart, o.HighWatermark, o.Cleaned = p.root.start.at(p.tp), p.root.high.at(p.tp), p.root.cleaned.at(p.tp)
	}
	return o
}

// look brings a part's view up to date and returns it. Errors name the folder and wrap fs.ErrNotExist where it has gone.
func (d *Dir) look(ctx context.Context, p *part) (*partition.View, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	v, _, err := d.lookLocked(p)
	if err == nil {
		d.mu.Lock()
		d.keep(p)
		d.mu.Unlock()
	}
	return v, err
}

// lookLocked is look with p.mu held; changed says that the view differs from the one before.
func (d *Dir) lookLocked(p *part) (v *partition.View, changed bool, err error) {
	d.mu.Lock()
	o := d.viewOptions(p)
	d.mu.Unlock()
	before := see(p.dir)
	same := p.view != nil && o == p.opened && p.seen.sameNames(before)
	switch {
	case same && p.seen.sameLog():
		return p.view, false, nil
	case same:
		before = p.seen
		v, changed, err = p.view.Grown(o)
	case p.view != nil:
		v, changed, err = p.view.Refresh(o)
	default:
		changed = true
		v, err = partition.OpenView(p.dir, p.tp, p.state, o)
	}
	if err != nil {
		p.view = nil
		err = fmt.Errorf("read %s: %w", p.tp, err)
		if _, serr := os.Stat(p.dir); gone(serr) {
			err = fmt.Errorf("%w: %s: its folder is gone: %w", model.ErrNoPartition, p.tp, serr)
		}
	} else {
		p.view = v
		p.seen = before.with(p.dir, v)
		p.looked = time.Now()
	}
	d.settle(p, v, o, err, changed)
	return v, changed, err
}

// seen is what a folder looks like without its names being read: enough to see that nothing has happened in it.
type seen struct {
	dir    time.Time // of the folder
	unsure bool      // the folder's time may stand still while more happens in it
	log    string    // path of the segment that is written to
	size   int64
	mtime  time.Time // of that segment; zero where it was written to meanwhile
}

// tick is by how much the clock of a file system may lag behind ours.
const tick = 20 * time.Millisecond

// see looks at a folder, before its names are read.
func see(dir string) seen {
	info, err := os.Stat(dir)
	if err != nil {
		return seen{unsure: true}
	}
	return seen{dir: info.ModTime(), unsure: time.Since(info.ModTime()) < tick}
}

// with adds what the view that was made found to be the newest segment.
func (s seen) with(dir string, v *partition.View) seen {
	base, size := v.Active()
	if base == model.Unknown {
		s.log = ""
		return s
	}
	if s.log == "" || s.unsure || !strings.HasSuffix(s.log, layout.FileName(base, layout.KindLog)) {
		s.log = filepath.Join(dir, layout.FileName(base, layout.KindLog))
	}
	s.size, s.mtime = size, time.Time{}
	if info, err := os.Stat(s.log); err == nil && info.Size() == size {
		s.mtime = info.ModTime()
	}
	return s
}

// sameNames reports whether no file was made, renamed or removed between two looks.
func (s seen) sameNames(now seen) bool { return !s.unsure && s.dir.Equal(now.dir) }

// sameLog reports whether nothing was written.
func (s seen) sameLog() bool {
	if s.log == "" {
		return true
	}
	info, err := os.Stat(s.log)
	return err == nil && info.Size() == s.size && !s.mtime.IsZero() && info.ModTime().Equal(s.mtime)
}

// settle copies what a look found into the part's row. p.mu is held.
func (d *Dir) settle(p *part, v *partition.View, o partition.ViewOptions, err error, changed bool) {
	var row model.Partition
	id := ""
	switch {
	case err != nil:
		row = p.blank()
		row.Err = err
	case !changed && p.loaded: // written under p.mu only
		return
	default:
		row = v.Partition()
		row.Records = p.counted.count(row)
		if b, err := readSmall(filepath.Join(p.dir, layout.PartitionMetaFile)); err == nil && !p.loaded {
			if tid, err := layout.ParsePartitionMeta(b); err == nil {
				id = tid.String()
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil && p.loaded && gone(err) {
		row = p.row // it was renamed or removed: what is on screen stays until the table is brought in line
		row.Err = err
	}
	p.row, p.opened = row, o
	if id != "" {
		p.id = id
	}
	if err == nil {
		p.loaded = true
		if p.first == model.Unknown {
			p.first = row.LogEnd
		}
		if changed && p.walked {
			p.sums.bytes, p.sums.segments = row.Bytes, row.Segments
		}
	}
}

// lookAll brings parts up to date, on two goroutines. A part that cannot be read has the reason in its row.
func (d *Dir) lookAll(ctx context.Context, list []*part) error {
	return twice(ctx, len(list), func(i int) {
		// The error is in the row.
		_, _ = d.look(ctx, list[i])
	})
}

// view returns the view of a partition as it is now; of a leftover where there is no live one.
func (d *Dir) view(ctx context.Context, tp model.TopicPartition) (*partition.View, error) {
	_, v, err := d.viewPart(ctx, tp)
	return v, err
}

// viewPart returns the view of a partition as it is now, and the folder that it is of.
func (d *Dir) viewPart(ctx context.Context, tp model.TopicPartition) (*part, *partition.View, error) {
	if err := d.begin(ctx); err != nil {
		return nil, nil, err
	}
	p, err := d.find(tp)
	if err != nil {
		return nil, nil, err
	}
	v, err := d.look(ctx, p)
	if errors.Is(err, model.ErrNoPartition) {
		// It may have been renamed under our hands, or made anew: look at the names again.
		d.relistNow(p.root)
		q, ferr := d.find(tp)
		switch {
		case ferr != nil:
			return nil, nil, ferr
		case q != p:
			v, err = d.look(ctx, q)
			return q, v, err
		}
	}
	return p, v, err
}

// relistNow brings the table in line with a root's names and tells what has changed.
func (d *Dir) relistNow(r *root) {
	var told pending
	made := d.relist(r, &told)
	d.took(r, made)
	d.out.tell(&told)
}

// took does what is to be done with folders that are new in the table: measure them, watch them where their topic is
// on screen, and look at them.
func (d *Dir) took(r *root, made []*part) {
	if len(made) == 0 {
		return
	}
	d.measure(d.ctx, r, made)
	if d.watch == nil {
		return
	}
	d.refocus()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range made {
		d.load.add(p, d.level(p))
	}
}
