package partition

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// cleanBuffer is how much is read and written at once, in bytes.
const cleanBuffer = 512 << 10

// moved makes of a missing file that the log has changed.
func moved(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}

// walk tells of the batches of a segment from the one that holds an offset on. What is no whole, good batch ends it with
// a *model.CorruptError: a damaged segment must not be rewritten, since that would make its damage look right.
func (c *compaction) walk(p piece, from int64, tell func(h record.Header, batch []byte) error) error {
	f, pos, err := c.source(p, from)
	if err != nil {
		return err
	}
	defer f.Close()
	read := pos
	c.scan.Reset(f.Log, f.Size, segment.ScanOptions{Check: true, Buffer: cleanBuffer, Stop: func() error {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if c.l.isClosed() {
			return model.ErrClosed
		}
		return nil
	}})
	c.scan.Goto(pos)
	for {
		kind := c.scan.Next()
		at := c.scan.Pos()
		if at-read >= cleanBuffer || kind == segment.End {
			if err := c.pace(int(at - read)); err != nil {
				return err
			}
			read = at
		}
		corrupt := &model.CorruptError{Path: f.Path(layout.KindLog), Pos: at}
		switch kind {
		case segment.End, segment.Zeros: // zeros are a preallocation that was not trimmed
			return nil
		case segment.Failed:
			return fmt.Errorf("read %s at byte %d: %w", f.Path(layout.KindLog), at, c.scan.Err())
		case segment.Batch:
			if stored, computed := c.scan.Sum(); stored != computed {
				corrupt.What = fmt.Sprintf("checksum is %08x, computed %08x", stored, computed)
				return corrupt
			}
			if c.scan.Bytes() == nil {
				corrupt.What = "the batch is too large to be decoded"
				return corrupt
			}
			if err := tell(c.scan.Header(), c.scan.Bytes()); err != nil {
				var fe *record.FormatError
				if errors.As(err, &fe) || errors.Is(err, record.ErrShort) {
					corrupt.What, corrupt.Err = "the records cannot be read", err
					return corrupt
				}
				return err
			}
		default:
			corrupt.What = "no whole batch"
			return corrupt
		}
	}
}

// source opens a segment, and finds the byte of a batch at or before an offset.
func (c *compaction) source(p piece, from int64) (*segment.File, int64, error) {
	defer c.l.Hold()()
	f, err := segment.OpenFile(c.l.o.Dir, p.base, "")
	if err != nil {
		return nil, 0, moved(err)
	}
	if from <= p.base {
		return f, 0, nil
	}
	x, err := f.Offsets()
	if err != nil {
		return f, 0, nil // without an index it is read from its beginning
	}
	i, _ := x.Floor(from)
	if i < 0 || f.EntryFault(x, i) != nil {
		return f, 0, nil
	}
	_, pos, _ := x.At(i)
	return f, pos, nil
}

// index fills the map with the keys of the dirty part.
func (c *compaction) index() error {
	first := floorIn(c.segs, c.d.First)
	aborted, err := c.aborted(c.segs[first].base, c.d.Bound)
	if err != nil {
		return err
	}
	c.txns = newCleanedTxns(aborted)
	// There are no more keys than offsets.
	c.keys, c.done.Full = newOffsetMap(c.d.Bound-c.d.First, c.o.Memory, c.o.Load), false
	for i := first; i < len(c.segs) && c.segs[i].base < c.d.Bound; i++ {
		from := int64(0)
		if i == first {
			from = c.d.First
		}
		err := c.walk(c.segs[i], from, c.addKeys)
		if errors.Is(err, errFull) {
			c.done.Full = true
			return nil
		}
		if err != nil {
			return err
		}
		c.keys.seen(c.segs[i+1].base - 1) // the active one is behind
	}
	return nil
}

// errFull says that the map has no room.
var errFull = errors.New("the map of keys is full")

// addKeys takes note of the keys of a batch.
func (c *compaction) addKeys(h record.Header, batch []byte) error {
	if h.Control() {
		t, err := c.controlType(h, batch)
		if err != nil {
			return err
		}
		if _, err := c.txns.control(h, t); err != nil {
			return err
		}
	} else if !c.txns.data(h) && (h.Count != 0 || h.Legacy()) {
		if err := c.reader.Reset(batch); err != nil {
			return err
		}
		c.hashes = c.hashes[:0]
		for c.reader.Next() {
			if r := c.reader.Record(); r.Key != nil && r.Offset >= c.d.First {
				c.hashes = append(c.hashes, hashed{keyHash(r.Key), r.Offset, true})
			}
		}
		if err := c.reader.Err(); err != nil {
			return err
		}
		for i := range c.hashes {
			if c.keys.full() {
				if c.keys.latest >= c.d.First {
					return errFull
				}
				c.keys.grow() // not even the first batch fits: it must, or no run would ever get on
			}
			c.keys.put(c.hashes[i].hash, c.hashes[i].offset)
		}
	}
	if h.LastOffset() >= c.d.First {
		c.keys.seen(h.LastOffset())
	}
	return nil
}

// controlType reads what a control batch says; a batch that was emptied says nothing that counts.
func (c *compaction) controlType(h record.Header, batch []byte) (record.ControlType, error) {
	if h.Count == 0 {
		return record.Abort, nil
	}
	if err := c.reader.Reset(batch); err != nil {
		return 0, err
	}
	if !c.reader.Next() {
		return 0, c.reader.Err()
	}
	k, err := record.ParseControl(c.reader.Record().Key, c.reader.Record().Value)
	return k.Type, err
}

// filter writes what is to stay of a batch.
func (c *compaction) filter(h record.Header, batch []byte) error {
	// With the last batch of the log, where the active segment is empty, its end would be lost.
	last := c.lastOfProducer(h) || h.NextOffset() == c.l.known.Load().HighWatermark
	if h.Control() {
		return c.filterControl(h, batch, last)
	}
	aborted := c.txns.data(h)
	if h.Legacy() {
		return c.filterLegacy(h, batch, last)
	}
	if aborted || h.Count == 0 {
		if !last {
			c.done.Records += int64(h.Count)
			return nil
		}
		return c.empty(h, batch)
	}
	horizon, dated := h.DeleteHorizon()
	kept, tombs, all, err := c.judge(batch, !dated || c.now < horizon)
	switch {
	case err != nil:
		return err
	case kept == 0 && !last:
		return nil
	case all && (dated || tombs == 0):
		return c.out.write(batch)
	}
	return c.rewrite(h, record.Kept{HasHorizon: tombs > 0 && kept > 0, DeleteHorizon: layout.After(c.now, c.cfg.DeleteRetentionMS)})
}

// filterControl keeps a marker until nothing of its transaction is left, and from then on for delete.retention.ms.
func (c *compaction) filterControl(h record.Header, batch []byte, last bool) error {
	t, err := c.controlType(h, batch)
	if err != nil {
		return err
	}
	free, err := c.txns.control(h, t)
	if err != nil {
		return err
	}
	horizon, dated := h.DeleteHorizon()
	switch {
	case h.Count == 0 && !last:
		return nil
	case h.Count == 0 || !free:
		return c.out.write(batch)
	case dated && horizon > c.now:
		return c.out.write(batch)
	case dated && last:
		return c.empty(h, batch)
	case dated:
		return nil
	}
	if err := c.reader.Reset(batch); err != nil {
		return err
	}
	c.verdicts = append(c.verdicts[:0], true)
	return c.rewrite(h, record.Kept{HasHorizon: true, DeleteHorizon: layout.After(c.now, c.cfg.DeleteRetentionMS)})
}

// lastOfProducer reports whether a batch is what a producer that is still remembered wrote last: without it a restart
// would forget its sequence, or its epoch.
func (c *compaction) lastOfProducer(h record.Header) bool {
	if !h.HasProducer() {
		return false
	}
	p, ok := c.active[h.ProducerID]
	switch {
	case !ok:
		return false
	case p.offset >= 0:
		return h.LastOffset() == p.offset
	}
	return h.Control() && h.ProducerEpoch == p.epoch
}

// judge decides about each record of a batch. tombstones says that tombstones may not go yet.
func (c *compaction) judge(batch []byte, tombstones bool) (kept, tombs int, all bool, err error) {
	if err := c.reader.Reset(batch); err != nil {
		return 0, 0, false, err
	}
	c.verdicts, c.hashes = c.verdicts[:0], c.hashes[:0]
	for c.reader.Next() {
		r := c.reader.Record()
		h := hashed{offset: r.Offset, value: r.Value != nil}
		switch {
		case r.Offset > c.keys.latest:
			h.offset = math.MaxInt64 // it stays, whatever the map says
		case r.Key == nil || r.Value == nil && !tombstones:
			h.offset = math.MinInt64
		default:
			h.hash = keyHash(r.Key)
		}
		c.hashes = append(c.hashes, h)
	}
	// In a loop of their own, lookups that miss the processor's caches go on side by side.
	for i := range c.hashes {
		h := &c.hashes[i]
		stays := h.offset == math.MaxInt64 || h.offset >= 0 && h.offset >= c.keys.get(h.hash)
		c.verdicts = append(c.verdicts, stays)
		if stays {
			kept++
			if !h.value {
				tombs++
			}
		}
	}
	c.done.Records += int64(len(c.verdicts))
	c.done.Kept += int64(kept)
	return kept, tombs, kept == len(c.verdicts), c.reader.Err()
}

// rewrite writes a batch again, with the records that the verdicts are for.
func (c *compaction) rewrite(h record.Header, k record.Kept) error {
	if codec, err := record.ParseCodec(c.cfg.Compression); err == nil && codec == h.Codec() {
		k.Level = c.cfg.CompressionLevel
	}
	c.reader.Rewind()
	i := -1
	b, _, err := record.AppendKept(c.out.scratch[:0], &c.reader, k, func(*record.Record) bool {
		i++
		return c.verdicts[i]
	})
	if err != nil {
		return err
	}
	c.out.scratch = b
	return c.out.write(b)
}

// empty writes the header of a batch without its records.
func (c *compaction) empty(h record.Header, batch []byte) error {
	if h.Count == 0 {
		return c.out.write(batch)
	}
	if err := c.reader.Reset(batch); err != nil {
		return err
	}
	c.done.Records += int64(h.Count)
	b, _, err := record.AppendKept(c.out.scratch[:0], &c.reader, record.Kept{}, func(*record.Record) bool { return false })
	if err != nil {
		return err
	}
	c.out.scratch = b
	return c.out.write(b)
}

// filterLegacy is filter for entries of magic 0 and 1, which cannot be empty: the last one of the log stays as it is.
func (c *compaction) filterLegacy(_ record.Header, batch []byte, last bool) error {
	kept, _, all, err := c.judge(batch, c.mtime > c.legacy)
	switch {
	case err != nil:
		return err
	case all, kept == 0 && last:
		return c.out.write(batch)
	case kept == 0:
		return nil
	}
	c.reader.Rewind()
	i := -1
	b, _, err := record.AppendKeptLegacy(c.out.scratch[:0], &c.reader, func(*record.Record) bool {
		i++
		return c.verdicts[i]
	})
	if err != nil {
		return err
	}
	c.out.scratch = b
	return c.out.write(b)
}
