package remote

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

const (
	// maxSearchFaults bounds the faults that a search brings back.
	maxSearchFaults = 1000
	// backSpan is how many offsets a search backward reads in one go at first; it grows where they are small.
	backSpan    = 4096
	maxBackSpan = 1 << 20
	// backBytes bounds the hits of such a run that are kept until it is read to its end, bytes.
	backBytes = 16 << 20
)

// matcher returns what finds a pattern; nil where there is no pattern, which is found everywhere. Errors wrap
// model.ErrInvalid.
func matcher(pattern string, isRegexp, fold bool) (record.Matcher, error) {
	if pattern == "" {
		return nil, nil
	}
	if !isRegexp {
		return record.NewLiteral([]byte(pattern), fold), nil
	}
	if fold {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w pattern: %w", model.ErrInvalid, err)
	}
	return record.NewRegexp(re), nil
}

// searchRun is a search of some partitions.
type searchRun struct {
	c    *Cluster
	cl   *kgo.Client
	ctx  context.Context // of the one request that this is
	q    model.SearchQuery
	m    record.Matcher
	tell func(model.SearchEvent) bool
	left int // hits still wanted
	rd   *record.Reader
	runs []run

	offsets, all int64 // of offsets: brokers do not say how many bytes lie between two
	records      int64
	end          model.SearchEnd
	stopped      bool // tell returned false
}

// Search implements model.Searcher. Partitions are searched in the order of the query, and hits are told in that order. How
// far it has come is told in offsets where a cluster does not say bytes: BytesAll is what there is to read at the average
// size of what was read.
func (c *Cluster) Search(ctx context.Context, q model.SearchQuery, tell func(model.SearchEvent) bool) (model.SearchEnd, error) {
	var end model.SearchEnd
	if err := c.begin(ctx); err != nil {
		return end, err
	}
	if len(q.From) > 0 && len(q.From) != len(q.Partitions) {
		return end, fmt.Errorf("%w search: %d offsets for %d partitions", model.ErrInvalid, len(q.From), len(q.Partitions))
	}
	if len(q.To) > 0 && len(q.To) != len(q.Partitions) {
		return end, fmt.Errorf("%w search: %d bounds for %d partitions", model.ErrInvalid, len(q.To), len(q.Partitions))
	}
	m, err := matcher(q.Pattern, q.Regexp, q.Fold)
	if err != nil {
		return end, err
	}
	cl, err := c.bulk()
	if err != nil {
		return end, err
	}
	s := &searchRun{c: c, cl: cl, q: q, m: m, tell: tell, left: max(q.MaxHits, 1), rd: record.Borrow()}
	defer s.rd.Return()
	var stop context.CancelFunc
	s.ctx, stop = context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.ctx, stop)()
	if err := s.place(); err != nil {
		return end, err
	}
	if q.Backward {
		err = s.backward()
	} else {
		err = s.forward()
	}
	return s.over(ctx, err)
}

// over says why the search ended.
func (s *searchRun) over(ctx context.Context, err error) (model.SearchEnd, error) {
	switch {
	case s.left <= 0:
		s.end.Reason = model.ReasonLimit
	case s.stopped || ctx.Err() != nil:
		s.end.Reason = model.ReasonCancelled
	case s.c.ctx.Err() != nil:
		return s.end, model.ErrClosed
	case err != nil:
		s.end.Reason = "error at " + err.Error()
	case s.q.Backward:
		s.end.Reason = "start of log"
	default:
		s.end.Reason = model.ReasonEnd
	}
	s.end.Whole = err == nil && s.left > 0 && !s.stopped && ctx.Err() == nil && len(s.end.Faults) == 0
	return s.end, nil
}

// place finds the run of offsets of each partition. What is older than Since is left out where the broker can say where that
// ends.
func (s *searchRun) place() error {
	tps := s.q.Partitions
	for _, tp := range tps {
		if _, _, err := s.c.find(s.ctx, tp); err != nil {
			return err
		}
	}
	ctx, done := s.c.bound(s.ctx)
	defer done()
	bounds := s.c.measure(ctx, tps)
	var since map[model.TopicPartition]place
	if s.q.Since > 0 {
		since = s.c.list(ctx, tps, s.q.Since, 0)
	}
	for i, tp := range tps {
		e := bounds[tp]
		if e.err != nil {
			s.fault(tp, model.Unknown, e.err)
			continue
		}
		r := run{tp: tp, from: e.start, to: e.hw, n: i}
		if s.q.Committed {
			r.to = e.lso
		}
		low, high := s.q.From, s.q.To
		if s.q.Backward {
			low, high = high, low
		}
		if low != nil && low[i] >= 0 {
			r.from = max(r.from, low[i])
		}
		if high != nil && high[i] >= 0 {
			r.to = min(r.to, high[i])
		}
		if p, ok := since[tp]; ok && p.err == nil {
			if p.offset < 0 {
				continue // all is older
			}
			r.from = max(r.from, p.offset)
		}
		if r.from < r.to {
			s.runs = append(s.runs, r)
			s.all += r.to - r.from
		}
	}
	return ctx.Err()
}

// forward searches all runs in order.
func (s *searchRun) forward() error {
	st := s.c.stream(s.ctx, s.cl, s.runs)
	defer st.stop()
	for {
		p, ok := st.next()
		if !ok {
			return s.ctx.Err()
		}
		if p.err != nil {
			s.fault(p.run.tp, p.from, p.err)
			s.offsets += p.run.to - p.from
			continue
		}
		if !s.piece(&p, s.hit) {
			return nil
		}
		reached := min(max(p.next, p.from), p.run.to)
		if p.last {
			reached = p.run.to
		}
		s.offsets += reached - max(p.from, p.run.from)
		if !s.progress(p.run.tp, reached) {
			return nil
		}
	}
}

// piece gives fn the hits of a piece, until it returns false.
func (s *searchRun) piece(p *piece, fn func(model.Record) bool) bool {
	j := p.chunk.judge()
	for _, b := range p.batches {
		h, err := record.ParseHeader(b)
		if err != nil {
			s.fault(p.run.tp, p.chunk.from, err)
			continue
		}
		s.end.Bytes += int64(len(b))
		seen := j.of(&h, b)
		if s.q.Committed && seen != model.Visible || h.Control() && !s.q.Control || s.q.Since > 0 && h.MaxTimestamp >= 0 && h.MaxTimestamp < s.q.Since {
			continue
		}
		if !s.batch(p, b, seen, fn) {
			return false
		}
	}
	return true
}

// batch gives fn the hits of a batch, until it returns false.
func (s *searchRun) batch(p *piece, b []byte, seen model.Visibility, fn func(model.Record) bool) bool {
	if err := s.rd.Reset(b); err != nil {
		h := s.rd.Header()
		s.fault(p.run.tp, h.BaseOffset, err)
		return true
	}
	h := s.rd.Header()
	s.records += int64(max(h.Count, 0))
	if s.m != nil && !s.m.MayContain(s.rd.Section()) {
		return true
	}
	var m model.Record
	for s.rd.Next() {
		r := s.rd.Record()
		if r.Offset < p.run.from || r.Offset >= p.run.to || s.q.Since > 0 && r.Timestamp < s.q.Since || s.q.Until > 0 && r.Timestamp > s.q.Until {
			continue
		}
		if !s.matches(r) {
			continue
		}
		if m.Topic == "" {
			m = batchRecord(p.run.tp, &h)
			m.Visibility = seen
			if stored, computed := record.Checksum(b); stored != computed {
				m.Untrusted = true
			}
		}
		one := m
		fill(&one, r, &h, 0)
		if !fn(one) {
			return false
		}
	}
	if err := s.rd.Err(); err != nil {
		s.fault(p.run.tp, h.BaseOffset, err)
	}
	return true
}

// matches looks where the query says.
func (s *searchRun) matches(r *record.Record) bool {
	if s.m == nil {
		return true
	}
	q := &s.q
	if !q.Keys && !q.Values && !q.Headers || q.Keys && q.Values && q.Headers {
		return s.m.MatchRecord(r)
	}
	part := record.Record{}
	if q.Keys {
		part.Key = r.Key
	}
	if q.Values {
		part.Value = r.Value
	}
	if q.Headers {
		part.RawHeaders, part.HeaderCount = r.RawHeaders, r.HeaderCount
	}
	return s.m.MatchRecord(&part)
}

// hit tells of one, and returns whether to go on.
func (s *searchRun) hit(r model.Record) bool {
	s.end.Hits++
	s.left--
	if !s.tell(s.event(r.TopicPartition, r.Offset, &r)) || s.ctx.Err() != nil {
		s.stopped = true
	}
	return !s.stopped && s.left > 0
}

func (s *searchRun) progress(tp model.TopicPartition, at int64) bool {
	if !s.tell(s.event(tp, at, nil)) {
		s.stopped = true
	}
	return !s.stopped
}

func (s *searchRun) event(tp model.TopicPartition, at int64, hit *model.Record) model.SearchEvent {
	e := model.SearchEvent{Hit: hit, BytesDone: s.end.Bytes, BytesAll: s.end.Bytes, Records: s.records, At: tp, Offset: at}
	if s.offsets > 0 {
		e.BytesAll = max(e.BytesDone, int64(float64(s.end.Bytes)/float64(s.offsets)*float64(s.all)))
	}
	return e
}

func (s *searchRun) fault(tp model.TopicPartition, off int64, err error) {
	if len(s.end.Faults) < maxSearchFaults && !errors.Is(err, context.Canceled) {
		s.end.Faults = append(s.end.Faults, model.Fault{TP: tp, Position: model.Unknown, Offset: off, Kind: "read", What: err.Error(), Severity: model.SevDamage})
	}
}

// backward searches all runs in order, each from its end.
func (s *searchRun) backward() error {
	for _, r := range s.runs {
		span := int64(backSpan)
		for to := r.to; to > r.from; {
			from := max(r.from, to-span)
			hits, first, bytes, err := s.part(run{tp: r.tp, from: from, to: to, n: r.n}, r.from)
			if err != nil {
				if s.ctx.Err() != nil {
					return s.ctx.Err()
				}
				s.fault(r.tp, from, err)
				break
			}
			for i := len(hits) - 1; i >= 0; i-- {
				if !s.hit(hits[i]) {
					return nil
				}
			}
			s.offsets += to - first
			to = first
			if bytes < maxBulk {
				span = min(2*span, maxBackSpan)
			} else if bytes > 4*maxBulk {
				span = max(span/2, backSpan/8)
			}
			if !s.progress(r.tp, to) {
				return nil
			}
		}
	}
	return nil
}

// part returns the hits of a run, the newest ones where they are too many to be kept at once, where it begins, no lower than
// least, and the bytes that were read.
func (s *searchRun) part(r run, least int64) (hits []model.Record, first, bytes int64, err error) {
	first = r.from
	st := s.c.stream(s.ctx, s.cl, []run{r})
	defer st.stop()
	held, begun := 0, false
	for {
		p, ok := st.next()
		if !ok {
			return hits, first, bytes, s.ctx.Err()
		}
		if p.err != nil {
			return hits, first, bytes, p.err
		}
		if len(p.batches) > 0 && !begun { // a batch that begins before the run is read whole, and not once more
			begun = true
			if h, err := record.ParseHeader(p.batches[0]); err == nil && !h.Legacy() && h.BaseOffset < r.from {
				first = max(h.BaseOffset, least)
			}
		}
		p.run.from = first
		bytes += int64(p.bytes)
		s.piece(&p, func(m model.Record) bool {
			held += weight(&m)
			hits = append(hits, m)
			for held > backBytes && len(hits) > 1 || len(hits) > s.left {
				held -= weight(&hits[0])
				hits[0] = model.Record{}
				hits = hits[1:]
				first = hits[0].Offset
			}
			return true
		})
	}
}
