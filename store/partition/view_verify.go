package partition

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/segment"
)

// Verify checks the files of one segment, or with model.Unknown of all of them and those of the partition, and tells of
// faults and progress on the calling goroutine: every checksum, length, count and record, the order of offsets and
// leader epochs, and the indexes against the batches. Errors wrap model.ErrNoSegment, or are ctx's; a file that cannot
// be read is a fault.
func (v *View) Verify(ctx context.Context, base int64, tell func(model.VerifyEvent)) (model.VerifySummary, error) {
	c := &check{v: v, ctx: ctx, emit: tell}
	layers := v.layers
	if base != model.Unknown {
		l, err := v.layerOf(base)
		if err != nil {
			return c.sum, err
		}
		layers = []*layer{l}
	}
	for _, l := range layers {
		c.all += l.size
	}
	for _, l := range layers {
		if err := c.layer(l); err != nil {
			return c.sum, err
		}
	}
	if base == model.Unknown {
		c.smallFiles()
	}
	return c.sum, ctx.Err()
}

// check is one run of Verify.
type check struct {
	v    *View
	ctx  context.Context
	emit func(model.VerifyEvent)
	sum  model.VerifySummary
	all  int64
	done int64
}

// fault tells of a fault.
func (c *check) fault(t model.Fault) {
	t.TP = c.v.tp
	switch t.Severity {
	case model.SevDamage:
		c.sum.Damage++
	case model.SevWarning:
		c.sum.Warnings++
	default:
		c.sum.Infos++
	}
	c.emit(model.VerifyEvent{Fault: &t, BytesDone: c.done, BytesAll: c.all, At: t.File})
}

// part is what a worker has found in a chunk.
type part struct {
	chunk chunk
	items []segment.Checked
	err   error
}

// broken tells that the chunk did not begin or end where batches do, so that its cut was wrong.
func (p part) broken(size int64) bool {
	if len(p.items) == 0 {
		return p.chunk.from > 0 && p.chunk.from < p.chunk.to
	}
	first, last := p.items[0], p.items[len(p.items)-1]
	return p.chunk.from > 0 && first.Kind != segment.Batch ||
		p.chunk.to < size && last.Kind != segment.Batch
}

// layer checks one segment.
func (c *check) layer(l *layer) error {
	v := c.v
	name := v.name(l)
	f, err := v.open(l)
	if errors.Is(err, fs.ErrNotExist) { // by retention or a cleaner: a broker may be at work
		c.fault(v.fault(name, "gone", "it was removed while this check ran", model.SevInfo))
		return c.ctx.Err()
	}
	if err != nil {
		c.fault(v.fault(name, "read", err.Error(), model.SevDamage))
		return c.ctx.Err()
	}
	defer f.Close()
	cuts, err := v.cuts(c.ctx, l, f, 0, f.Size)
	if err != nil {
		return err
	}
	upper := l.upper
	if l.state == model.SegmentDeleted || l.state == model.SegmentCleaned || l.upper == v.end {
		upper = 0 // the last one ends where it ends: it may have grown since it was listed
	}
	q := f.Sequence(segment.VerifyOptions{Active: l.active, Upper: upper, Epochs: v.epochs, Stop: c.ctx.Err, Tell: c.fault})
	redo, failure := c.chunks(f, name, cuts, q)
	if failure == nil && redo >= 0 {
		var k segment.Checker
		failure = k.Check(f, redo, f.Size, c.ctx.Err, func(x segment.Checked) bool {
			q.Add(x)
			c.progress(name, x.Len)
			return true
		})
	}
	c.sum.Files++
	c.sum.Batches += q.Batches
	c.sum.Records += q.Records
	c.sum.Bytes += f.Size
	for _, kind := range []string{layout.KindIndex, layout.KindTimeIndex, layout.KindTxnIndex} {
		if info, err := os.Stat(f.Path(kind)); err == nil {
			c.sum.Files++
			c.sum.Bytes += min(info.Size(), filled(f, kind))
		}
	}
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if failure != nil {
		c.fault(v.fault(name, "read", failure.Error(), model.SevDamage))
		return nil
	}
	q.Finish()
	return nil
}

// filled returns how many bytes of an index hold entries: a broker preallocates the active segment's, 10 MiB each, and
// nobody reads the zeros behind them.
func filled(f *segment.File, kind string) int64 {
	switch kind {
	case layout.KindIndex:
		if x, err := f.Offsets(); err == nil {
			return x.Len() * segment.OffsetEntrySize
		}
	case layout.KindTimeIndex:
		if x, err := f.Times(); err == nil {
			return x.Len() * segment.TimeEntrySize
		}
	}
	return math.MaxInt64
}

func (c *check) progress(name string, n int64) {
	before := c.done / chunkBytes
	if c.done += n; c.done/chunkBytes != before {
		c.emit(model.VerifyEvent{BytesDone: min(c.done, c.all), BytesAll: c.all, At: name})
	}
}

// chunks checks a segment chunk by chunk. redo is the byte from which on it must be done again in one go, because the
// index that it was cut up by was wrong; -1 for none.
func (c *check) chunks(f *segment.File, name string, cuts []int64, q *segment.Sequence) (redo int64, err error) {
	n := workers()
	if len(cuts) <= 2 {
		n = 1
	}
	checkers := make([]segment.Checker, n)
	redo = -1
	inOrder(c.ctx, n, pairs(cuts), func(w int, k chunk) part {
		p := part{chunk: k, items: make([]segment.Checked, 0, 64)}
		p.err = checkers[w].Check(f, k.from, k.to, c.ctx.Err, func(x segment.Checked) bool {
			p.items = append(p.items, x)
			return true
		})
		return p
	}, func(p part) bool {
		if p.err != nil {
			err = p.err
			return false
		}
		if p.broken(f.Size) {
			redo = p.chunk.from
			return false
		}
		for _, x := range p.items {
			q.Add(x)
		}
		c.progress(name, p.chunk.to-p.chunk.from)
		return true
	})
	return redo, err
}

// pairs yields the chunks between cuts.
func pairs(cuts []int64) iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		for i := 1; i < len(cuts); i++ {
			if !yield(chunk{from: cuts[i-1], to: cuts[i]}) {
				return
			}
		}
	}
}

// smallFiles checks what else there is in the folder.
func (c *check) smallFiles() {
	c.epochs()
	for _, s := range c.v.snaps {
		c.snapshot(s)
	}
	b, err := segment.ReadRegular(filepath.Join(c.v.dir, layout.PartitionMetaFile), maxSmallFile)
	if err == nil {
		c.count(len(b))
		if _, err := layout.ParsePartitionMeta(b); err != nil {
			c.fault(c.v.fault(layout.PartitionMetaFile, "metadata", err.Error(), model.SevWarning))
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		c.fault(c.v.fault(layout.PartitionMetaFile, "read", err.Error(), model.SevWarning))
	}
	for _, l := range c.v.left {
		t := c.v.fault(c.v.name(l), "leftover", "a broker removes it at its next start", model.SevInfo)
		switch l.state {
		case model.SegmentDeleted:
			t.What = "deleted: its broker removes it a while later, or at its next start"
		case model.SegmentSealed:
			t.What = "replaced by the .swap files beside it at a broker's next start"
		}
		c.fault(t)
	}
}

func (c *check) count(n int) {
	c.sum.Files++
	c.sum.Bytes += int64(n)
}

// epochs checks the leader epochs by themselves; batches are held against them one by one.
func (c *check) epochs() {
	for _, t := range c.v.faults {
		c.fault(t)
	}
	if c.v.stamp != "" {
		c.count(len(c.v.stamp))
	} else if _, err := os.Stat(filepath.Join(c.v.dir, layout.EpochsFile)); err == nil {
		c.sum.Files++
		c.fault(c.v.fault(layout.EpochsFile, "epochs", "empty", model.SevInfo))
	}
	for i, e := range c.v.epochs {
		if e.Start > c.v.end {
			t := c.v.fault(layout.EpochsFile, "epochs", fmt.Sprintf("line %d: epoch %d begins at %d, the log ends at %d", i+3, e.Epoch, e.Start, c.v.end), model.SevWarning)
			c.fault(t)
		}
	}
}

// snapshot checks the state of the producers that one snapshot holds.
func (c *check) snapshot(s snapshotFile) {
	name := layout.FileName(s.offset, layout.KindSnapshot)
	if s.size > maxSmallFile {
		c.fault(c.v.fault(name, "snapshot", fmt.Sprintf("%d bytes are too many", s.size), model.SevWarning))
		return
	}
	b, err := segment.ReadRegular(filepath.Join(c.v.dir, name), maxSmallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return // a broker has removed it
	}
	if err != nil {
		c.fault(c.v.fault(name, "read", err.Error(), model.SevWarning))
		return
	}
	c.count(len(b))
	list, err := layout.ParseSnapshot(b)
	if err != nil {
		t := c.v.fault(name, "snapshot", err.Error(), model.SevWarning)
		var fe *layout.FormatError
		if errors.As(err, &fe) {
			t.Position = int64(fe.Pos)
		}
		t.Follows = "a broker reads the log instead"
		c.fault(t)
		return
	}
	for _, p := range list {
		if p.LastOffset >= s.offset || p.TxnFirst >= s.offset {
			c.fault(c.v.fault(name, "snapshot", fmt.Sprintf("producer %d has offset %d, beyond the snapshot's own", p.ProducerID, max(p.LastOffset, p.TxnFirst)), model.SevWarning))
		}
	}
	if s.offset > c.v.end {
		c.fault(c.v.fault(name, "snapshot", fmt.Sprintf("it reaches to %d, the log ends at %d", s.offset, c.v.end), model.SevWarning))
	}
}
