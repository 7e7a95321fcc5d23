package partition

import (
	"context"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// Lookup finds the first record at or after an offset, or the first one dated at or after a time, as a broker does, and
// tells each step. Control records count, though no consumer is given them. A target below the log start stands for the
// log start; one that nothing follows is not found, and Offset is then the log end.
func (v *View) Lookup(ctx context.Context, t model.Target) (model.LookupResult, error) {
	k := &lookup{v: v, ctx: ctx, r: model.LookupResult{Offset: v.end, Time: model.NoTime, Segment: model.Unknown, Position: model.Unknown}}
	var err error
	switch {
	case len(v.layers) == 0:
		k.step("segments", "the folder has no segment", "nothing to search")
	case t.ByTime:
		err = k.byTime(t.Time)
	default:
		err = k.byOffset(t.Offset)
	}
	return k.r, err
}

// lookup is one run of Lookup.
type lookup struct {
	v   *View
	ctx context.Context
	r   model.LookupResult
}

func (k *lookup) step(step, what, value string) {
	k.r.Steps = append(k.r.Steps, model.LookupStep{Step: step, What: what, Value: value})
}

func (k *lookup) faults(list []model.Fault) {
	for _, t := range list {
		t.TP = k.v.tp
		k.r.Faults = append(k.r.Faults, t)
	}
}

// byOffset searches by offset.
func (k *lookup) byOffset(target int64) error {
	v := k.v
	if target == model.FromStart {
		target = v.start
	}
	if target < v.start {
		k.step("range", fmt.Sprintf("offset %d is below the log start", target), fmt.Sprintf("search for %d", v.start))
		target = v.start
	}
	if target >= v.end {
		k.step("range", fmt.Sprintf("offset %d is not below the log end", target), fmt.Sprintf("the log ends at %d", v.end))
		return nil
	}
	n, compared := k.segments(target)
	k.step("segments", fmt.Sprintf("binary search over %s, %d compared", several(int64(len(v.layers)), "base offset", "base offsets"), compared),
		v.name(v.layers[n]))
	for ; n < len(v.layers); n++ {
		l := v.layers[n]
		f, err := v.open(l)
		if err != nil {
			return err
		}
		found, err := k.inLayer(f, l, func() (segment.Place, error) { return f.SeekOffset(target, k.ctx.Err) },
			func(r *record.Record) bool { return r.Offset >= target })
		f.Close()
		if err != nil || found {
			return err
		}
		if n+1 < len(v.layers) {
			k.step("segments", "nothing at or behind the offset in it", "go on in "+v.name(v.layers[n+1]))
		}
	}
	return nil
}

// segments is layerAt with a count.
func (k *lookup) segments(target int64) (n, compared int) {
	lo, hi := 0, len(k.v.layers)
	for lo < hi {
		mid := lo + (hi-lo)/2
		compared++
		if k.v.layers[mid].base > target {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return max(0, lo-1), compared
}

// byTime searches by time.
func (k *lookup) byTime(ms int64) error {
	v := k.v
	youngest, err := v.youngest(k.ctx)
	if err != nil {
		return err
	}
	// The youngest record up to a segment only rises from segment to segment.
	n := sort.Search(len(youngest), func(i int) bool { return youngest[i] >= ms })
	for ; n < len(v.layers); n++ {
		l := v.layers[n]
		if own, err := v.maxTime(k.ctx, l); err != nil || own < ms {
			if err != nil {
				return err
			}
			continue
		}
		k.step("segments", fmt.Sprintf("the first of %d with a record that young, %d before it", len(v.layers), n),
			fmt.Sprintf("%s, youngest %s", v.name(l), timeText(youngest[n])))
		f, err := v.open(l)
		if err != nil {
			return err
		}
		found, err := k.timeLayer(f, l, ms)
		f.Close()
		if err != nil || found {
			return err
		}
	}
	k.step("segments", fmt.Sprintf("all of %d are older", len(v.layers)), "no record that young")
	return nil
}

// youngest returns, for each layer, the largest timestamp in it and all before it that reach beyond the log start. What
// is known of the segments below the active one is looked up once.
func (v *View) youngest(ctx context.Context) ([]int64, error) {
	if list := v.times.Load(); list != nil {
		return *list, nil
	}
	list := make([]int64, len(v.layers))
	most := int64(math.MinInt64)
	for i, l := range v.layers {
		if l.upper > v.start || i == len(v.layers)-1 {
			ms, err := v.maxTime(ctx, l)
			if err != nil {
				return nil, err
			}
			most = max(most, ms)
		}
		list[i] = most
	}
	v.times.Store(&list)
	return list, nil
}

// timeLayer searches a segment by time.
func (k *lookup) timeLayer(f *segment.File, l *layer, ms int64) (bool, error) {
	return k.inLayer(f, l, func() (segment.Place, error) { return f.SeekTime(ms, k.v.start, k.ctx.Err) },
		func(r *record.Record) bool { return r.Timestamp >= ms && r.Offset >= k.v.start })
}

// inLayer takes the steps of a search in one segment, and finds the record in the batch that they lead to.
func (k *lookup) inLayer(f *segment.File, l *layer, seek func() (segment.Place, error), want func(*record.Record) bool) (bool, error) {
	p, err := seek()
	if err != nil {
		return false, err
	}
	k.faults(p.Faults)
	k.indexSteps(p)
	k.r.Scanned += p.Scanned
	scan := fmt.Sprintf("from byte %d: %s, %d bytes", p.From, several(p.Batches, "batch", "batches"), p.Scanned)
	if !p.Found {
		k.step("scan", scan, "none")
		return false, nil
	}
	batch := fmt.Sprintf("batch %d to %d at byte %d", p.Header.BaseOffset, p.Header.LastOffset(), p.Pos)
	if p.Header.Wrapper() { // what it begins with is seen only when it is read
		batch = fmt.Sprintf("compressed messages up to %d at byte %d", p.Header.LastOffset(), p.Pos)
	}
	k.step("scan", scan, batch)
	return k.decode(f, l, p, want)
}

// decode finds the record in its batch, or in those behind it where the batch has only a hole there.
func (k *lookup) decode(f *segment.File, l *layer, p segment.Place, want func(*record.Record) bool) (bool, error) {
	s := p.Scan
	s.Whole(k.v.limit(l, f))
	s.Goto(p.Pos)
	r := record.Borrow()
	defer r.Return()
	for {
		switch s.Next() {
		case segment.Failed:
			return false, scanError(f, s)
		case segment.End, segment.Torn, segment.Zeros:
			return false, nil
		case segment.Damage:
			k.faults([]model.Fault{k.v.scanFault(l, s)})
			continue
		}
		h := s.Header()
		if stored, computed := s.Sum(); stored != computed {
			k.faults([]model.Fault{k.v.crcFault(l, s.Pos(), h, stored, computed)})
		}
		if s.Bytes() == nil {
			continue
		}
		if err := r.Reset(s.Bytes()); err != nil {
			k.faults([]model.Fault{k.v.recordFault(l, s.Pos(), h, err)})
			continue
		}
		for n := 1; r.Next(); n++ {
			if rec := r.Record(); want(rec) {
				kind := "record"
				if h.Control() {
					kind = "control record"
				}
				count := h.Count
				if h.Wrapper() {
					_, count, _ = record.LegacyFirst(s.Bytes()) // it cannot fail: it has just been read
				}
				k.step("batch", fmt.Sprintf("%s, %d of %d", kind, n, count), fmt.Sprintf("offset %d, %s", rec.Offset, timeText(rec.Timestamp)))
				k.r.Found, k.r.Offset, k.r.Time, k.r.Segment, k.r.Position = true, rec.Offset, rec.Timestamp, l.base, s.Pos()
				return true, nil
			}
		}
	}
}

// indexSteps tells how the indexes were used.
func (k *lookup) indexSteps(p segment.Place) {
	switch {
	case p.TimeEntries >= 0 && p.TimeEntry >= 0:
		k.step("timeindex", fmt.Sprintf("binary search over %s, %d compared", several(p.TimeEntries, "entry", "entries"), p.TimeCompared),
			fmt.Sprintf("entry %d: nothing younger than %s up to offset %d", p.TimeEntry, timeText(p.EntryTime), p.TimeOffset))
	case p.TimeEntries >= 0:
		k.step("timeindex", fmt.Sprintf("binary search over %s, %d compared", several(p.TimeEntries, "entry", "entries"), p.TimeCompared), "none to begin behind")
	}
	switch {
	case p.Entry >= 0:
		k.step("index", fmt.Sprintf("binary search over %s, %d compared", several(p.Entries, "entry", "entries"), p.Compared),
			fmt.Sprintf("entry %d: offset %d at byte %d", p.Entry, p.EntryOff, p.From))
	case p.Entries >= 0 && p.From == 0:
		k.step("index", fmt.Sprintf("binary search over %s, %d compared", several(p.Entries, "entry", "entries"), p.Compared), "none to begin at: byte 0")
	case p.From > 0:
		k.step("index", "none; an earlier walk knows where batches begin", fmt.Sprintf("byte %d", p.From))
	default:
		k.step("index", "none", "byte 0")
	}
}

// several counts things in words.
func several(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// timeText is a timestamp for a person.
func timeText(ms int64) string {
	const year10000 = 253402300800000
	switch {
	case ms == model.NoTime:
		return "no time"
	case ms < 0 || ms >= year10000:
		return fmt.Sprintf("%d (out of range)", ms)
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}
