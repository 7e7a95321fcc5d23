package partition

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

const (
	defaultBatches = 200
	maxBatches     = 10_000
	// maxBatchBytes is the most that BatchBytes returns.
	maxBatchBytes = 64 << 20
)

// Batches returns a window of a segment's batches, by number, or from the batch that holds an offset or a byte on. What
// is needed to know a batch's number is walked once and remembered. Errors wrap model.ErrNoSegment.
func (v *View) Batches(ctx context.Context, q model.BatchQuery) (model.BatchPage, error) {
	var page model.BatchPage
	l, err := v.layerOf(q.Base)
	if err != nil {
		return page, err
	}
	f, err := v.open(l)
	if err != nil {
		return page, err
	}
	defer f.Close()
	n := q.Max
	if n <= 0 {
		n = defaultBatches
	}
	n = min(n, maxBatches)
	l.facts.mu.Lock()
	defer l.facts.mu.Unlock()
	first, pos, err := v.findBatch(ctx, l, f, q)
	if err != nil {
		return page, err
	}
	page.First = first
	if err := v.listBatches(ctx, l, f, pos, n, q, &page); err != nil {
		return page, err
	}
	if err := l.facts.extend(ctx, v, l, f, page.First+int64(len(page.Batches))); err != nil {
		return page, err
	}
	page.Total, page.Whole = l.facts.batches, l.facts.whole
	page.Faults = append(page.Faults, l.facts.faults...)
	if page.Whole && l.facts.tail.trailing > 0 {
		page.Faults = append(page.Faults, v.tailFault(l, l.facts.walked, l.facts.tail))
	}
	return page, nil
}

// tailFault says what lies behind the last batch.
func (v *View) tailFault(l *layer, pos int64, t tailFacts) model.Fault {
	if t.zeros {
		return v.batchFault(l, pos, model.Unknown, "zeros", fmt.Sprintf("zero tail %s bytes (preallocated)", grouped(t.trailing)), model.SevInfo)
	}
	sev := model.SevDamage
	if l.active {
		sev = model.SevInfo
	}
	return v.batchFault(l, pos, model.Unknown, "torn", fmt.Sprintf("torn batch: %d bytes behind the last whole one", t.trailing), sev)
}

// findBatch returns the number of the batch to begin with and the byte to scan from, which is its own or that of an
// earlier batch. facts.mu is held.
func (v *View) findBatch(ctx context.Context, l *layer, f *segment.File, q model.BatchQuery) (number, pos int64, err error) {
	number = max(q.First, 0)
	if q.Seek != model.SeekNumber {
		target := q.AtPosition
		if q.Seek == model.SeekOffset {
			p, err := f.SeekOffset(q.AtOffset, ctx.Err)
			if err != nil {
				return 0, 0, err
			}
			target = p.Pos
			if !p.Found {
				target = f.Size
			}
		}
		if number, err = v.numberAt(ctx, l, f, target); err != nil {
			return 0, 0, err
		}
	}
	if err := l.facts.extend(ctx, v, l, f, number); err != nil {
		return 0, 0, err
	}
	k := l.facts
	number = min(number, max(0, k.batches-1))
	at := int64(0)
	from := int64(0)
	if k.stride > 0 && len(k.marks) > 0 {
		i := min(number/k.stride, int64(len(k.marks)-1))
		from, at = i*k.stride, k.marks[i].pos
	}
	err = v.skipTo(ctx, f, &at, number-from)
	return number, at, err
}

// skipTo moves a byte over n batches.
func (v *View) skipTo(ctx context.Context, f *segment.File, pos *int64, n int64) error {
	s := f.Scanner(segment.ScanOptions{Headers: true, Buffer: pageBuffer, Stop: ctx.Err})
	s.Goto(*pos)
	for n > 0 {
		switch s.Next() {
		case segment.Failed:
			return scanError(f, s)
		case segment.End, segment.Torn, segment.Zeros:
			return nil
		case segment.Batch:
			n--
		}
		*pos = s.Pos() + s.Len()
	}
	return nil
}

// numberAt returns the number of the batch that holds a byte, or of the last one. facts.mu is held.
func (v *View) numberAt(ctx context.Context, l *layer, f *segment.File, pos int64) (int64, error) {
	k := l.facts
	if !k.whole && k.walked <= pos {
		if err := k.extendTo(ctx, v, l, f, pos); err != nil {
			return 0, err
		}
	}
	i := 0
	for i+1 < len(k.marks) && k.marks[i+1].pos <= pos {
		i++
	}
	if len(k.marks) == 0 {
		return 0, nil
	}
	n := int64(i) * k.stride
	s := f.Scanner(segment.ScanOptions{Headers: true, Buffer: pageBuffer, Stop: ctx.Err})
	s.Goto(k.marks[i].pos)
	for {
		switch s.Next() {
		case segment.Failed:
			return 0, scanError(f, s)
		case segment.End, segment.Torn, segment.Zeros:
			return max(0, n-1), nil
		case segment.Batch:
			if s.Pos()+s.Len() > pos {
				return n, nil
			}
			n++
		}
	}
}

// extendTo walks on until a byte has been passed.
func (f *facts) extendTo(ctx context.Context, v *View, l *layer, file *segment.File, pos int64) error {
	for !f.whole && f.walked <= pos {
		// A stride of batches at a time, so that the walk stops near.
		if err := f.extend(ctx, v, l, file, f.batches+max(f.stride, firstStride)); err != nil {
			return err
		}
	}
	return nil
}

// listBatches fills the page with up to n batches from a byte on.
func (v *View) listBatches(ctx context.Context, l *layer, f *segment.File, pos int64, n int, q model.BatchQuery, page *model.BatchPage) error {
	s := f.Scanner(segment.ScanOptions{Headers: !q.Check, Check: q.Check, Buffer: pageBuffer, Stop: ctx.Err})
	s.Goto(pos)
	r := record.Borrow()
	defer r.Return()
	for len(page.Batches) < n {
		switch s.Next() {
		case segment.Failed:
			return scanError(f, s)
		case segment.End, segment.Zeros:
			return nil
		case segment.Torn:
			page.Batches = append(page.Batches, tornBatch(s))
			return nil
		case segment.Batch:
			b := v.batchRow(s, f, r, q.Check)
			page.Batches = append(page.Batches, b)
			if !b.Valid && q.Check {
				stored, computed := s.Sum()
				if stored != computed {
					page.Faults = append(page.Faults, v.crcFault(l, s.Pos(), s.Header(), stored, computed))
				}
			}
		}
	}
	return nil
}

// tornBatch is the row of a batch that is not whole.
func tornBatch(s *segment.Scanner) model.Batch {
	what := fmt.Sprintf("torn batch (has %d bytes)", s.Len())
	if s.Need() > 0 {
		what = fmt.Sprintf("torn batch (has %d of %d bytes)", s.Len(), s.Need())
	}
	return model.Batch{Position: s.Pos(), Base: model.Unknown, Last: model.Unknown, Bytes: s.Len(), Inflated: model.Unknown,
		FirstTimestamp: model.NoTime, MaxTimestamp: model.NoTime, ProducerID: model.NoProducer, ProducerEpoch: -1,
		BaseSequence: -1, LeaderEpoch: -1, DeleteHorizon: model.NoTime, Magic: -1, TimestampType: model.NoTimestampType,
		Torn: true, Err: errors.New(what)}
}

// batchRow is the row of the batch that s is at.
func (v *View) batchRow(s *segment.Scanner, f *segment.File, r *record.Reader, check bool) model.Batch {
	h := s.Header()
	b := model.Batch{Position: s.Pos(), Base: h.BaseOffset, Last: h.LastOffset(), Count: h.Count, Bytes: h.Size(),
		Inflated: model.Unknown, Codec: h.Codec().String(), Magic: h.Magic, TimestampType: timestampType(h),
		FirstTimestamp: firstTime(h), MaxTimestamp: h.MaxTimestamp, ProducerID: model.NoProducer, ProducerEpoch: -1,
		BaseSequence: -1, LeaderEpoch: h.LeaderEpoch, Transactional: h.Transactional(), DeleteHorizon: model.NoTime,
		CRC: h.CRC, Valid: true}
	if h.HasProducer() {
		b.ProducerID, b.ProducerEpoch, b.BaseSequence = h.ProducerID, h.ProducerEpoch, h.BaseSequence
	}
	if ms, ok := h.DeleteHorizon(); ok {
		b.DeleteHorizon = ms
	}
	if h.Codec() == record.None {
		b.Inflated = sectionSize(h)
	}
	if !h.Codec().Known() {
		b.Err = fmt.Errorf("unknown %s", h.Codec())
	}
	var raw []byte
	if check {
		stored, computed := s.Sum()
		b.CRCComputed, b.Valid = computed, stored == computed
		raw = s.Bytes()
	}
	if h.Control() || h.Wrapper() {
		if raw == nil {
			raw, _ = readBatch(f, s.Pos(), h.Size()) // without it the row only knows less
		}
	}
	if raw != nil {
		lookInside(&b, h, raw, r)
	}
	return b
}

// lookInside adds what only the records of a batch know.
func lookInside(b *model.Batch, h record.Header, raw []byte, r *record.Reader) {
	if err := r.Reset(raw); err != nil {
		if b.Err == nil {
			b.Err = err
		}
		return
	}
	b.Inflated = int64(len(r.Section()))
	n := int32(0)
	for r.Next() {
		rec := r.Record()
		if n == 0 && h.Wrapper() {
			b.Base, b.FirstTimestamp = rec.Offset, rec.Timestamp
		}
		if n == 0 && h.Control() {
			b.Control = controlName(rec)
		}
		n++
	}
	if err := r.Err(); err != nil && b.Err == nil {
		b.Err = err
	}
	if h.Wrapper() {
		b.Count = n
	}
}

// BatchBytes returns a batch as it lies, at most 64 MiB of it, and its fields. Where no batch begins at the byte, it
// returns up to 4 KiB of what is there. Errors wrap model.ErrNoSegment.
func (v *View) BatchBytes(_ context.Context, base, pos int64) ([]byte, []model.Field, error) {
	l, err := v.layerOf(base)
	if err != nil {
		return nil, nil, err
	}
	f, err := v.open(l)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if pos < 0 || pos >= f.Size {
		return nil, nil, fmt.Errorf("%w: byte %d of %s, which has %d", model.ErrOutOfRange, pos, v.name(l), f.Size)
	}
	size := int64(4 << 10)
	if h, err := f.Header(pos); err == nil {
		size = h.Size()
	}
	b := make([]byte, min(size, maxBatchBytes, f.Size-pos))
	n, err := f.Log.ReadAt(b, pos)
	if n == 0 {
		return nil, nil, &model.CorruptError{Path: f.Log.Name(), Pos: pos, What: "cannot be read", Err: err}
	}
	b = b[:n]
	raw := record.Fields(b)
	fields := make([]model.Field, len(raw))
	for i, x := range raw {
		fields[i] = model.Field{Name: x.Name, Pos: x.Pos, Len: x.Len, Value: x.Value, Note: x.Note}
	}
	return b, fields, nil
}

// IndexEntries returns up to limit entries of an index from number first on, and how many there are. A missing file is
// an error that wraps fs.ErrNotExist.
func (v *View) IndexEntries(_ context.Context, base int64, k model.IndexKind, first int64, limit int) ([]model.IndexEntry, int64, error) {
	l, err := v.layerOf(base)
	if err != nil {
		return nil, 0, err
	}
	f, err := v.open(l)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	first, limit = max(first, 0), min(max(limit, 0), 100_000)
	switch k {
	case model.OffsetIndex:
		return offsetEntries(f, first, limit)
	case model.TimeIndex:
		return timeEntries(f, first, limit)
	case model.TxnIndex:
		list, err := f.Aborted()
		if err != nil && (len(list) == 0 || errors.Is(err, fs.ErrNotExist)) {
			return nil, 0, err
		}
		var out []model.IndexEntry
		for i := first; i < int64(len(list)) && len(out) < limit; i++ {
			out = append(out, list[i].Entry(i))
		}
		return out, int64(len(list)), nil
	}
	return nil, 0, fmt.Errorf("%w: index %q", model.ErrInvalid, k)
}

func offsetEntries(f *segment.File, first int64, limit int) ([]model.IndexEntry, int64, error) {
	x, err := f.Offsets()
	if err != nil {
		return nil, 0, err
	}
	var out []model.IndexEntry
	for i := first; i < x.Len() && len(out) < limit; i++ {
		o, pos, ok := x.At(i)
		if !ok {
			break
		}
		out = append(out, model.IndexEntry{Number: i, Offset: o, Position: pos, Timestamp: model.Unknown,
			Producer: model.Unknown, Last: model.Unknown, Stable: model.Unknown, Err: f.EntryFault(x, i)})
	}
	return out, x.Len(), x.Err()
}

func timeEntries(f *segment.File, first int64, limit int) ([]model.IndexEntry, int64, error) {
	x, err := f.Times()
	if err != nil {
		return nil, 0, err
	}
	var out []model.IndexEntry
	for i := first; i < x.Len() && len(out) < limit; i++ {
		ms, o, ok := x.At(i)
		if !ok {
			break
		}
		out = append(out, model.IndexEntry{Number: i, Offset: o, Position: model.Unknown, Timestamp: ms,
			Producer: model.Unknown, Last: model.Unknown, Stable: model.Unknown, Err: x.Sound(i)})
	}
	return out, x.Len(), x.Err()
}

// grouped writes n with commas between thousands.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
