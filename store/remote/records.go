package remote

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

const (
	defaultPage      = 500
	defaultPageBytes = 32 << 20
	// A page is fetched by growing chunks: most need one small one, and slow networks are not made to carry more.
	firstChunk = 128 << 10
	pageChunk  = 4 << 20
	// maxPageFaults bounds the faults of a page.
	maxPageFaults = 200
	// maxSpan bounds the growth of the runs of offsets that are read backward.
	maxSpan = 1 << 40
)

// pageRead is one request for records. It is not safe for concurrent use.
type pageRead struct {
	c     *Cluster
	cl    *kgo.Client
	ctx   context.Context // of the one request that this is
	q     model.RecordQuery
	max   int
	bytes int
	size  int // of the next chunk
	page  model.RecordPage
	rd    *record.Reader
}

// Records implements model.Source. An offset below the log start stands for the log start, and one beyond the end for the
// end. What cannot be read on the way is in the page's Faults.
func (c *Cluster) Records(ctx context.Context, q model.RecordQuery) (model.RecordPage, error) {
	if err := c.begin(ctx); err != nil {
		return model.RecordPage{}, err
	}
	ctx, done := c.bound(ctx)
	defer done()
	return c.records(ctx, c.kgo, q)
}

// records is Records with a client of its own choice, not bounded in time.
func (c *Cluster) records(ctx context.Context, cl *kgo.Client, q model.RecordQuery) (model.RecordPage, error) {
	g := &pageRead{c: c, cl: cl, ctx: ctx, q: q, max: q.Max, bytes: q.MaxBytes, size: firstChunk, rd: record.Borrow()}
	defer g.rd.Return()
	if g.max <= 0 {
		g.max = defaultPage
	}
	if g.bytes <= 0 {
		g.bytes = defaultPageBytes
	}
	from := q.From
	if q.Backward || from < 0 {
		if err := g.place(&from); err != nil {
			return g.page, err
		}
	}
	var err error
	if q.Backward {
		err = g.backward(from)
	} else {
		err = g.forward(from)
		if errors.Is(err, model.ErrOutOfRange) {
			if err = g.place(&from); err == nil {
				err = g.forward(from)
			}
		}
	}
	return g.page, c.why(ctx, err)
}

// place finds out where the log begins and ends, and puts an offset inside.
func (g *pageRead) place(from *int64) error {
	e, err := g.c.endsNow(g.ctx, g.q.TP)
	if err != nil {
		return err
	}
	g.page.Start, g.page.End = e.start, e.hw
	if g.q.Committed {
		g.page.End = e.lso
	}
	g.page.End = max(g.page.End, g.page.Start)
	switch *from {
	case model.FromStart:
		*from = g.page.Start
	case model.FromEnd:
		*from = g.page.End
	}
	*from = min(max(*from, g.page.Start), g.page.End)
	return nil
}

// chunk fetches the next chunk, and takes over the bounds that came with it.
func (g *pageRead) chunk(from int64) (chunk, error) {
	begin := time.Now()
	k, err := g.c.fetch(g.ctx, g.cl, g.q.TP, from, g.size)
	if err != nil {
		return k, err
	}
	if time.Since(begin) < quickBulk {
		g.size = min(2*g.size, pageChunk)
	}
	if k.start >= 0 {
		g.page.Start = k.start
	}
	end := k.hw
	if g.q.Committed {
		end = k.lso
	}
	if end >= 0 {
		g.page.End = max(end, g.page.Start)
	}
	return k, nil
}

// forward reads from an offset on.
func (g *pageRead) forward(from int64) error {
	p := &g.page
	p.Records, p.Faults = nil, nil
	next, used := from, 0
	for {
		k, err := g.chunk(next)
		if err != nil {
			if len(p.Records) == 0 || g.ctx.Err() != nil && errors.Is(g.ctx.Err(), context.Canceled) {
				return err
			}
			g.broken(next, err) // what was read is given all the same
			break
		}
		if from > p.End { // of what is committed
			from = p.End
		}
		p.Prev, p.AtStart = from, from <= p.Start
		full := false
		g.each(&k, next, p.End, func(m model.Record) bool {
			if len(p.Records) > 0 && used+weight(&m) > g.bytes {
				full = true
				return false
			}
			p.Records = append(p.Records, m)
			used += weight(&m)
			next = m.Offset + 1
			full = len(p.Records) == g.max
			return !full
		})
		if full {
			break
		}
		if next = max(next, k.next); len(k.batches) == 0 || next >= p.End {
			next = p.End
			break
		}
	}
	p.Next, p.AtEnd = next, next >= p.End
	return nil
}

// each gives fn the records of a chunk within [from, to) that were asked for, until it returns false.
func (g *pageRead) each(k *chunk, from, to int64, fn func(model.Record) bool) {
	j := k.judge()
	for _, b := range k.batches {
		err := g.rd.Reset(b)
		h := g.rd.Header()
		if first := h.BaseOffset; first >= to && !h.Legacy() {
			return
		}
		seen := j.of(&h, b)
		if g.q.Committed && seen != model.Visible || h.Control() && !g.q.Control {
			continue
		}
		m := batchRecord(g.q.TP, &h)
		m.Visibility = seen
		if stored, computed := record.Checksum(b); stored != computed {
			m.Untrusted = true
			g.fault(&h, "crc", "the checksum is wrong: the batch was changed on its way or on the broker's disk")
		}
		for err == nil && g.rd.Next() {
			r := g.rd.Record()
			if r.Offset < from {
				continue
			}
			if r.Offset >= to {
				return
			}
			one := m
			fill(&one, r, &h, g.q.ValueLimit)
			if !fn(one) {
				return
			}
		}
		if err == nil {
			err = g.rd.Err()
		}
		if err != nil {
			g.fault(&h, "records", err.Error())
		}
	}
}

func (g *pageRead) fault(h *record.Header, kind, what string) {
	if len(g.page.Faults) < maxPageFaults {
		g.page.Faults = append(g.page.Faults, model.Fault{TP: g.q.TP, Position: model.Unknown, Offset: h.BaseOffset, Kind: kind, What: what,
			Severity: model.SevDamage})
	}
}

// broken notes that reading has ended early.
func (g *pageRead) broken(at int64, err error) {
	g.page.Faults = append(g.page.Faults, model.Fault{TP: g.q.TP, Position: model.Unknown, Offset: at, Kind: "read", What: g.c.why(g.ctx, err).Error(),
		Follows: "what was read before it is here", Severity: model.SevWarning})
}

// backward reads the last records before an offset: those of the run of offsets before it, and as long as they are too few
// (markers, holes, what is aborted) those of longer runs before that.
func (g *pageRead) backward(before int64) error {
	p := &g.page
	end := before
	span := int64(g.max) + int64(g.max)/8 + 4
	low := end
	for len(p.Records) < g.max && low > p.Start {
		from := max(p.Start, low-span)
		list, first, err := g.run(from, low, g.max-len(p.Records))
		if errors.Is(err, model.ErrOutOfRange) { // the log start has moved on
			if perr := g.place(&end); perr != nil {
				return perr
			}
			low = max(low, p.Start)
			continue
		}
		if err != nil {
			if len(p.Records) == 0 || g.ctx.Err() != nil && errors.Is(g.ctx.Err(), context.Canceled) {
				return err
			}
			g.broken(from, err)
			break
		}
		p.Records = append(list, p.Records...)
		low = first
		if span < maxSpan {
			span *= 4
		}
		if weigh(p.Records) >= g.bytes {
			break
		}
	}
	whole := low <= p.Start && len(p.Records) < g.max
	for used, i := 0, len(p.Records)-1; i >= 0; i-- {
		if used += weight(&p.Records[i]); used > g.bytes && i < len(p.Records)-1 {
			p.Records, whole = slices.Clone(p.Records[i+1:]), false
			break
		}
	}
	p.Prev = low
	if len(p.Records) > 0 {
		p.Prev = p.Records[0].Offset
	}
	if whole {
		p.Prev = p.Start
	}
	p.AtStart = p.Prev <= p.Start
	p.Next = end
	p.AtEnd = end >= p.End
	return nil
}

// run returns the last records of [from, to), n at most, and where they begin: at from, or before it where the batch at from
// does.
func (g *pageRead) run(from, to int64, n int) (list []model.Record, first int64, err error) {
	first = from
	for next := from; next < to; {
		k, err := g.chunk(next)
		if err != nil {
			return nil, first, err
		}
		if len(k.batches) == 0 {
			break
		}
		low := next
		if next == from {
			if h, err := record.ParseHeader(k.batches[0]); err == nil && !h.Legacy() {
				low = min(max(h.BaseOffset, g.page.Start), from)
				first = low
			}
		}
		g.each(&k, low, to, func(m model.Record) bool {
			if len(list) >= 2*n {
				list = append(list[:0], list[len(list)-n:]...)
			}
			list = append(list, m)
			return true
		})
		next = k.next
	}
	if len(list) > n {
		list = slices.Clone(list[len(list)-n:])
		first = list[0].Offset
	}
	return list, first, nil
}

func weigh(rs []model.Record) int {
	n := 0
	for i := range rs {
		n += weight(&rs[i])
	}
	return n
}
