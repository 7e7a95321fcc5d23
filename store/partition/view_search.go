package partition

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// Search gives tell the records of the log that m matches, from an offset on (with q.Backward: before it, from the last
// to the first), up to a bound (which is not looked at, but with q.Backward is), and how far it has come. q.Partitions,
// q.From and q.To are the caller's business; from and bound may be model.FromStart or model.FromEnd. It ends at q.MaxHits hits, or when tell returns false. Whole batches are looked at
// before anything is decoded, on two goroutines where there are two processors. The error says what SearchEnd.Reason
// says.
func (v *View) Search(ctx context.Context, q model.SearchQuery, from, bound int64, m record.Matcher, tell func(model.SearchEvent) bool) (model.SearchEnd, error) {
	s := &search{v: v, ctx: ctx, q: q, m: m, tell: tell, left: max(q.MaxHits, 1), from: v.start, to: v.end}
	if q.Committed {
		stable, err := v.Stable(ctx)
		if err != nil {
			return s.failed(v.start, err)
		}
		s.to = stable
	}
	if q.Backward {
		from, bound = bound, from
	}
	s.from, s.to = max(s.from, s.named(from)), min(s.to, s.named(bound))
	return s.run()
}

// search is one run of Search.
type search struct {
	v        *View
	ctx      context.Context
	q        model.SearchQuery
	m        record.Matcher
	tell     func(model.SearchEvent) bool
	from, to int64 // offsets
	left     int   // hits still wanted
	end      model.SearchEnd
	records  int64
	all      int64
	done     int64
	err      error // of cutting into chunks
	errAt    int64
}

// named puts an offset in the place of model.FromStart and model.FromEnd.
func (s *search) named(offset int64) int64 {
	switch offset {
	case model.FromStart:
		return s.from
	case model.FromEnd:
		return s.to
	}
	return offset
}

// found is what one chunk has given.
type found struct {
	hits    []model.Record
	faults  []model.Fault
	records int64
	bytes   int64
	at      int64 // offset that was come to
	err     error
}

func (s *search) failed(at int64, err error) (model.SearchEnd, error) {
	s.end.Reason = fmt.Sprintf("error at %s@%d: %v", s.v.tp, at, err)
	if s.ctx.Err() != nil {
		s.end.Reason = "cancelled"
		return s.end, nil
	}
	return s.end, err
}

func (s *search) run() (model.SearchEnd, error) {
	for _, l := range s.v.layers {
		if l.upper > s.from && l.base < s.to {
			s.all += l.size
		}
	}
	n := workers()
	if s.all <= chunkBytes {
		n = 1
	}
	readers := make([]*searcher, n)
	for i := range readers {
		readers[i] = newSearcher(s)
		defer readers[i].end()
	}
	stopped := false
	var failure error
	var failedAt int64
	inOrder(s.ctx, n, s.chunks(), func(w int, c chunk) found { return readers[w].chunk(c) }, func(r found) bool {
		s.end.Faults = append(s.end.Faults, r.faults[:min(len(r.faults), maxPageFaults-min(maxPageFaults, len(s.end.Faults)))]...)
		s.records += r.records
		s.done += r.bytes
		s.end.Bytes = s.done
		if s.q.Backward {
			slices.Reverse(r.hits)
		}
		for i := range r.hits {
			s.end.Hits++
			s.left--
			if !s.tell(s.event(&r.hits[i], r.hits[i].Offset)) {
				stopped = true
				return false
			}
			if s.left == 0 {
				return false
			}
		}
		if failure, failedAt = r.err, r.at; failure != nil {
			return false
		}
		stopped = !s.tell(s.event(nil, r.at))
		return !stopped
	})
	switch {
	case failure != nil:
		return s.failed(failedAt, failure)
	case stopped || s.ctx.Err() != nil:
		s.end.Reason = "cancelled"
	case s.left == 0:
		s.end.Reason = "limit reached"
	case s.err != nil:
		return s.failed(s.errAt, s.err)
	case s.q.Backward:
		s.end.Reason, s.end.Whole = "start of log", true
	default:
		s.end.Reason, s.end.Whole = "end of log", true
	}
	return s.end, nil
}

func (s *search) event(hit *model.Record, at int64) model.SearchEvent {
	return model.SearchEvent{Hit: hit, BytesDone: min(s.done, s.all), BytesAll: s.all, Records: s.records, At: s.v.tp, Offset: at}
}

// chunks yields what is to be searched, in the direction of the search.
func (s *search) chunks() iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		order := make([]int, 0, len(s.v.layers))
		for n, l := range s.v.layers {
			if l.upper > s.from && l.base < s.to || n == len(s.v.layers)-1 && s.to > l.base {
				order = append(order, n)
			}
		}
		if s.q.Backward {
			slices.Reverse(order)
		}
		for _, n := range order {
			list, err := s.layerChunks(n)
			if err != nil {
				s.err, s.errAt = err, s.v.layers[n].base
				return
			}
			for _, c := range list {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// layerChunks cuts a layer up; one that is too old altogether has no chunks.
func (s *search) layerChunks(n int) ([]chunk, error) {
	l := s.v.layers[n]
	if s.q.Since > 0 {
		if ms, err := s.v.maxTime(s.ctx, l); err == nil && ms < s.q.Since {
			return nil, nil
		}
	}
	f, err := s.v.open(l)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	from, to := int64(0), s.v.limit(l, f)
	if s.from > l.base {
		p, err := f.SeekOffset(s.from, s.ctx.Err)
		if err != nil {
			return nil, err
		}
		if from = p.Pos; !p.Found {
			return nil, nil
		}
	}
	if s.to < l.upper {
		p, err := f.SeekOffset(s.to, s.ctx.Err)
		if err != nil {
			return nil, err
		}
		if p.Found {
			to = p.Pos + p.Header.Size()
		}
	}
	cuts, err := s.v.cuts(s.ctx, l, f, from, to)
	if err != nil {
		return nil, err
	}
	list := make([]chunk, 0, len(cuts))
	for i := 1; i < len(cuts); i++ {
		list = append(list, chunk{n, cuts[i-1], cuts[i]})
	}
	if s.q.Backward {
		slices.Reverse(list)
	}
	return list, nil
}

// searcher searches chunks, on one goroutine.
type searcher struct {
	s  *search
	g  *reading
	sc segment.Scanner
	f  *segment.File // of the layer that the last chunk was of; nil before there was one
	n  int           // number of that layer
}

func newSearcher(s *search) *searcher {
	g := &reading{v: s.v, ctx: s.ctx, rd: record.Borrow(), bytes: math.MaxInt, max: math.MaxInt, seen: map[faultKey]bool{},
		q: model.RecordQuery{Committed: s.q.Committed, Control: s.q.Control}}
	g.judge = s.v.newJudge(s.ctx)
	return &searcher{s: s, g: g}
}

// open returns the segment of a layer, which stays open for the next chunk of it.
func (w *searcher) open(n int) (*segment.File, error) {
	if w.f != nil && w.n == n {
		return w.f, nil
	}
	w.close()
	f, err := w.s.v.open(w.s.v.layers[n])
	if err != nil {
		return nil, err
	}
	w.f, w.n = f, n
	return f, nil
}

// end gives up all that the searcher has.
func (w *searcher) end() {
	w.close()
	w.g.rd.Return()
}

func (w *searcher) close() {
	if w.f != nil {
		w.f.Close()
		w.f = nil
	}
}

// chunk searches one chunk; hits come in the order of the file, at most as many as are wanted (with Backward the last).
func (w *searcher) chunk(c chunk) (out found) {
	l := w.s.v.layers[c.n]
	out.bytes, out.at = c.to-c.from, l.base
	f, err := w.open(c.n)
	if err != nil {
		out.err = err
		return out
	}
	w.sc.Reset(f.Log, min(c.to, f.Size), segment.ScanOptions{Stop: w.s.ctx.Err})
	w.sc.Goto(c.from)
	for {
		switch k := w.sc.Next(); k {
		case segment.Failed:
			out.err = scanError(f, &w.sc)
			return out
		case segment.End, segment.Zeros, segment.Torn:
			if k == segment.Torn && c.to < f.Size {
				out.faults = append(out.faults, w.s.v.batchFault(l, w.sc.Pos(), model.Unknown, "length",
					"a batch reaches into the one behind it", model.SevDamage))
			}
			return out
		case segment.Damage:
			out.faults = append(out.faults, w.s.v.scanFault(l, &w.sc))
			continue
		}
		h := w.sc.Header()
		out.at = max(out.at, h.LastOffset())
		if w.batch(c.n, h, &out) {
			return out
		}
	}
}

// batch searches the batch that the scanner is at; true means that there are hits enough.
func (w *searcher) batch(n int, h record.Header, out *found) bool {
	s := w.s
	if h.LastOffset() < s.from || h.BaseOffset >= s.to && !h.Legacy() || h.Control() && !s.q.Control ||
		s.q.Since > 0 && h.MaxTimestamp < s.q.Since && h.MaxTimestamp != model.NoTime ||
		s.q.Until > 0 && h.LogAppendTime() && h.MaxTimestamp > s.q.Until || w.sc.Bytes() == nil {
		return false
	}
	l := s.v.layers[n]
	if err := w.g.rd.Reset(w.sc.Bytes()); err != nil {
		out.faults = append(out.faults, s.v.recordFault(l, w.sc.Pos(), h, err))
		return false
	}
	out.records += int64(max(h.Count, 0))
	if !s.m.MayContain(w.g.rd.Section()) {
		return false
	}
	proto := batchRecord(s.v.tp, h, l.base, w.sc.Pos())
	judged := false
	for i := 0; w.g.rd.Next(); i++ {
		r := w.g.rd.Record()
		if i == 0 && h.Wrapper() {
			proto.Batch = r.Offset
		}
		if r.Offset < s.from || r.Offset >= s.to || !s.dated(r.Timestamp) || !s.matches(r) {
			continue
		}
		if !judged {
			judged = true
			stored, computed := record.Checksum(w.sc.Bytes())
			proto.Untrusted = stored != computed
			if proto.Visibility, out.err = w.g.judge.visible(h, n, w.sc.Pos()); out.err != nil {
				return true
			}
			if s.q.Committed && proto.Visibility != model.Visible {
				return false
			}
		}
		m := proto
		w.g.fill(&m, r, h)
		w.g.keep(&m)
		out.hits = append(out.hits, m)
		if most := max(s.q.MaxHits, 1); len(out.hits) >= most {
			if !s.q.Backward {
				return true
			}
			out.hits = out.hits[len(out.hits)-most:]
		}
	}
	if err := w.g.rd.Err(); err != nil {
		out.faults = append(out.faults, s.v.recordFault(l, w.sc.Pos(), h, err))
	}
	return false
}

// dated tells that a timestamp lies within the bounds of the query.
func (s *search) dated(ms int64) bool {
	return (s.q.Since <= 0 || ms >= s.q.Since) && (s.q.Until <= 0 || ms <= s.q.Until)
}

// matches asks the matcher, showing it only where to look.
func (s *search) matches(r *record.Record) bool {
	if !s.q.Keys && !s.q.Values && !s.q.Headers {
		return s.m.MatchRecord(r)
	}
	part := record.Record{}
	if s.q.Keys {
		part.Key = r.Key
	}
	if s.q.Values {
		part.Value = r.Value
	}
	if s.q.Headers {
		part.HeaderCount, part.RawHeaders = r.HeaderCount, r.RawHeaders
	}
	return s.m.MatchRecord(&part)
}
