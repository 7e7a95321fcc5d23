package partition

import (
	"context"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

const (
	defaultPage      = 500
	defaultPageBytes = 32 << 20
	// pageBuffer is what a page of records is read by.
	pageBuffer = 64 << 10
	// seekSize is what a single batch is read by.
	seekSize = 16 << 10
	// maxPageFaults bounds the faults of a page.
	maxPageFaults = 200
)

// reading is one request for records. It is not safe for concurrent use.
type reading struct {
	v     *View
	ctx   context.Context
	q     model.RecordQuery
	max   int
	bytes int
	used  int
	page  model.RecordPage
	judge *judge
	rd    *record.Reader // borrowed
	arena arena
	names []record.RecordHeader
	from  int64 // where the request begins
	next  int64 // behind the records and batches that were passed in order
	good  int   // records of the page that lie where they should
	odd   int   // and that do not
	seen  map[faultKey]bool
}

type faultKey struct {
	file string
	pos  int64
	kind string
}

// Records returns a window of records, from an offset on or before it. What is damaged is listed in the page's Faults,
// and what can be read around it is given: records whose batch fails its checksum are marked Untrusted. An offset below
// the log start stands for the log start, and one beyond the end for the end.
func (v *View) Records(ctx context.Context, q model.RecordQuery) (model.RecordPage, error) {
	g := &reading{v: v, ctx: ctx, q: q, max: q.Max, bytes: q.MaxBytes, seen: map[faultKey]bool{}, rd: record.Borrow()}
	defer g.rd.Return()
	if g.max <= 0 {
		g.max = defaultPage
	}
	if g.bytes <= 0 {
		g.bytes = defaultPageBytes
	}
	g.page.Start, g.page.End = v.start, v.end
	if v.err != nil && len(v.layers) == 1 {
		return g.page, v.err
	}
	g.judge = v.newJudge(ctx)
	if q.Committed {
		stable, err := v.Stable(ctx)
		if err != nil {
			return g.page, err
		}
		g.page.End = stable
	}
	from := q.From
	switch from {
	case model.FromStart:
		from = g.page.Start
	case model.FromEnd:
		from = g.page.End
	}
	from = min(max(from, g.page.Start), max(g.page.End, g.page.Start))
	read := g.forward
	if q.Backward {
		read = g.backward
	}
	err := read(from)
	return g.page, err
}

// forward reads from an offset on.
func (g *reading) forward(from int64) error {
	p := &g.page
	p.Prev, p.AtStart = from, from <= p.Start
	g.from, g.next = from, from
	more, err := g.span(from, p.End)
	if err != nil {
		return err
	}
	p.Next, p.AtEnd = p.End, true
	if n := len(p.Records); n > 0 && more {
		p.Next = g.following()
		p.AtEnd = p.Next >= p.End
	}
	return nil
}

// following is the offset to go on from. What lies where it should not does not count.
func (g *reading) following() int64 {
	return max(g.next, g.from+1)
}

// span reads the records of [from, to) until the page is full; more tells that it is.
func (g *reading) span(from, to int64) (more bool, err error) {
	v := g.v
	if from >= to || len(v.layers) == 0 {
		return false, nil
	}
	first := v.layerAt(from)
	for n := first; n < len(v.layers) && v.layers[n].base < to; n++ {
		more, err := g.layer(n, from, to)
		if err != nil || more {
			return more, err
		}
	}
	return false, nil
}

// layer reads what layer number n has of [from, to).
func (g *reading) layer(n int, from, to int64) (more bool, err error) {
	l := g.v.layers[n]
	f, err := g.v.open(l)
	if err != nil {
		return false, err
	}
	defer f.Close()
	pos := int64(0)
	if from > l.base {
		p, err := f.SeekOffset(from, g.ctx.Err)
		g.faults(p.Faults)
		if err != nil || !p.Found {
			return false, err
		}
		pos = p.Pos
	}
	s := g.v.scanner(l, f, segment.ScanOptions{Check: true, Buffer: pageBuffer, Stop: g.ctx.Err})
	s.Goto(pos)
	for {
		switch s.Next() {
		case segment.Failed:
			return false, scanError(f, s)
		case segment.End, segment.Torn, segment.Zeros:
			g.tailFaults(l)
			return false, nil
		case segment.Damage:
			g.fault(g.v.scanFault(l, s))
			continue
		}
		h := s.Header()
		if h.LastOffset() < from || h.BaseOffset >= to && !h.Legacy() && !g.stray(l, h) {
			continue
		}
		stray := g.stray(l, h)
		full, err := g.batch(n, s, from, to, func(m model.Record) bool { return g.take(m, stray) })
		if err != nil || full {
			return full, err
		}
		if !stray {
			g.next = max(g.next, min(h.NextOffset(), to))
		}
	}
}

// stray tells that a batch has offsets that its segment cannot have.
func (g *reading) stray(l *layer, h record.Header) bool {
	return h.LastOffset() < l.base || h.LastOffset() >= l.upper || h.LastOffsetDelta < 0
}

// batch gives take the records that the batch s is at has in [from, to), until it returns true.
func (g *reading) batch(n int, s *segment.Scanner, from, to int64, take func(model.Record) bool) (full bool, err error) {
	l, h := g.v.layers[n], s.Header()
	proto := batchRecord(g.v.tp, h, l.base, s.Pos())
	if stored, computed := s.Sum(); stored != computed {
		proto.Untrusted = true
		g.fault(g.v.crcFault(l, s.Pos(), h, stored, computed))
	}
	if g.stray(l, h) {
		proto.Untrusted = true
		g.fault(g.v.orderFault(l, s.Pos(), h))
	}
	if h.Control() && !g.q.Control {
		return false, nil
	}
	if proto.Visibility, err = g.judge.visible(h, n, s.Pos()); err != nil {
		return false, err
	}
	if g.q.Committed && proto.Visibility != model.Visible {
		return false, nil
	}
	if s.Bytes() == nil {
		g.fault(g.v.batchFault(l, s.Pos(), h.BaseOffset, "length", "the batch is too large to be decoded", model.SevWarning))
		return false, nil
	}
	if err := g.rd.Reset(s.Bytes()); err != nil {
		g.fault(g.v.recordFault(l, s.Pos(), h, err))
		return false, nil
	}
	for i := 0; g.rd.Next(); i++ {
		r := g.rd.Record()
		if i == 0 && h.Wrapper() {
			proto.Batch = r.Offset
		}
		if r.Offset < from || r.Offset >= to && !proto.Untrusted {
			continue
		}
		m := proto
		g.fill(&m, r, h)
		if take(m) {
			return true, nil
		}
	}
	if err := g.rd.Err(); err != nil {
		g.fault(g.v.recordFault(l, s.Pos(), h, err))
	}
	return false, nil
}

// batchRecord returns what all records of a batch have in common.
func batchRecord(tp model.TopicPartition, h record.Header, seg, pos int64) model.Record {
	m := model.Record{TopicPartition: tp, LeaderEpoch: h.LeaderEpoch, Batch: h.BaseOffset, BatchPos: pos, Segment: seg,
		Transactional: h.Transactional(), ProducerID: model.NoProducer, ProducerEpoch: -1, Sequence: -1,
		TimestampType: timestampType(h)}
	if h.HasProducer() {
		m.ProducerID, m.ProducerEpoch = h.ProducerID, h.ProducerEpoch
	}
	return m
}

func timestampType(h record.Header) model.TimestampType {
	switch {
	case h.Magic == 0:
		return model.NoTimestampType
	case h.LogAppendTime():
		return model.LogAppendTime
	}
	return model.CreateTime
}

// fill adds what is a record's own; keys and values still point into the reader's buffer.
func (g *reading) fill(m *model.Record, r *record.Record, h record.Header) {
	m.Offset, m.Timestamp, m.Size = r.Offset, r.Timestamp, r.Size
	m.Key, m.Value = r.Key, r.Value
	if h.HasProducer() && h.BaseSequence >= 0 && r.OffsetDelta >= 0 {
		m.Sequence = record.AddSequence(h.BaseSequence, r.OffsetDelta)
	}
	if h.Control() {
		m.Control = controlName(r)
	}
	if r.HeaderCount > 0 {
		m.Headers = g.headers(r)
	}
}

// controlName is a control record's type in lower case.
func controlName(r *record.Record) string {
	c, err := record.ParseControl(r.Key, r.Value)
	if err != nil && len(r.Key) < 4 {
		return "unknown"
	}
	return strings.ToLower(c.Type.String())
}

// headers decodes a record's headers, whose values still point into the reader's buffer.
func (g *reading) headers(r *record.Record) []model.Header {
	g.names, _ = r.Headers(g.names[:0]) // the reader has checked them
	out := make([]model.Header, len(g.names))
	for i, n := range g.names {
		out[i] = model.Header{Name: n.Name, Value: n.Value}
	}
	return out
}

// keep makes a record the caller's: its bytes are copied, cut to the query's limit.
func (g *reading) keep(m *model.Record) {
	m.Key, m.Value = g.arena.copy(m.Key, g.q.ValueLimit), g.arena.copy(m.Value, g.q.ValueLimit)
	g.used += len(m.Key) + len(m.Value)
	for i := range m.Headers {
		m.Headers[i].Value = g.arena.copy(m.Headers[i].Value, 0)
		g.used += len(m.Headers[i].Value) + len(m.Headers[i].Name)
	}
}

// take appends a record to the page; true means that the page is full. Records with offsets that cannot be do not fill
// it, so that each page gets on; as many of them as the page may have are shown.
func (g *reading) take(m model.Record, stray bool) bool {
	if stray && (g.odd >= g.max || g.used >= g.bytes) {
		return false
	}
	g.keep(&m)
	g.page.Records = append(g.page.Records, m)
	if stray {
		g.odd++
		return false
	}
	g.good++
	g.next = max(g.next, m.Offset+1)
	return g.good >= g.max || g.used >= g.bytes
}

// fault lists a fault once.
func (g *reading) fault(t model.Fault) {
	k := faultKey{t.File, t.Position, t.Kind}
	if g.seen[k] || len(g.page.Faults) >= maxPageFaults {
		return
	}
	g.seen[k] = true
	t.TP = g.v.tp
	g.page.Faults = append(g.page.Faults, t)
}

func (g *reading) faults(list []model.Fault) {
	for _, t := range list {
		g.fault(t)
	}
}

// tailFaults lists what is damaged behind the last batch of the log.
func (g *reading) tailFaults(l *layer) {
	if l.upper == g.v.end && l.tail != nil {
		g.faults(l.tail.Faults)
	}
}

// arena copies bytes into larger pieces, so that a page of small records costs few allocations.
type arena struct{ free []byte }

const arenaPiece = 32 << 10

// copy returns a copy of at most limit bytes of b (0: all); nil stays nil and empty stays empty.
func (a *arena) copy(b []byte, limit int) []byte {
	if b == nil {
		return nil
	}
	if limit > 0 && len(b) > limit {
		b = b[:limit]
	}
	n := len(b)
	if n == 0 {
		return []byte{}
	}
	if n > arenaPiece/4 {
		return append(make([]byte, 0, n), b...)
	}
	if n > len(a.free) {
		a.free = make([]byte, arenaPiece)
	}
	out := a.free[:n:n]
	a.free = a.free[n:]
	copy(out, b)
	return out
}
