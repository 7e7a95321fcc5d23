package uitest

import (
	"bytes"
	"context"

	"github.com/strata-kafka/strata/model"
)

// Plain hides all abilities of a source but those of model.Source.
func Plain(src model.Source) model.Source { return plainSource{src} }

type plainSource struct{ model.Source }

// Info implements model.Source.
func (s *Source) Info(context.Context) (model.Info, error) { return s.Is, s.note("Info") }

// Topics implements model.Source.
func (s *Source) Topics(context.Context) ([]model.Topic, error) {
	return append([]model.Topic(nil), s.TopicSet...), s.note("Topics")
}

// Partitions implements model.Source.
func (s *Source) Partitions(_ context.Context, topic string) ([]model.Partition, error) {
	if err := s.note("Partitions", topic); err != nil {
		return nil, err
	}
	parts, ok := s.Parts[topic]
	if !ok {
		return nil, model.NotFound(model.ErrNoTopic, topic, s.names())
	}
	return append([]model.Partition(nil), parts...), nil
}

func (s *Source) names() []string {
	var names []string
	for _, t := range s.TopicSet {
		names = append(names, t.Name)
	}
	return names
}

// Records implements model.Source over Recs.
func (s *Source) Records(_ context.Context, q model.RecordQuery) (model.RecordPage, error) {
	if err := s.note("Records", q.TP, q.From); err != nil {
		return model.RecordPage{}, err
	}
	all := s.Recs[q.TP]
	if q.Max == 0 {
		q.Max = 500
	}
	var out model.RecordPage
	if len(all) == 0 {
		out.AtEnd, out.AtStart = true, true
		return out, nil
	}
	out.Start, out.End = all[0].Offset, all[len(all)-1].Offset+1
	from := q.From
	switch from {
	case model.FromStart:
		from = out.Start
	case model.FromEnd:
		from = out.End
	}
	i := 0
	for i < len(all) && all[i].Offset < from {
		i++
	}
	lo, hi := i, min(len(all), i+q.Max)
	if q.Backward {
		lo, hi = max(0, i-q.Max), i
	}
	for _, r := range all[lo:hi] {
		if r.Control != "" && !q.Control || q.Committed && r.Visibility != model.Visible {
			continue
		}
		out.Records = append(out.Records, r)
	}
	out.AtStart, out.AtEnd = lo == 0, hi == len(all)
	out.Prev, out.Next = out.Start, out.End
	if lo < len(all) {
		out.Prev = all[lo].Offset
	}
	if hi < len(all) {
		out.Next = all[hi].Offset
	}
	return out, nil
}

// Groups implements model.Source.
func (s *Source) Groups(context.Context) ([]model.Group, error) {
	return append([]model.Group(nil), s.GroupSet...), s.note("Groups")
}

// Changes implements model.Source; Changed sends on it.
func (s *Source) Changes() <-chan model.Change {
	s.once.Do(func() { s.changes = make(chan model.Change, 64) })
	return s.changes
}

// Changed tells of a change.
func (s *Source) Changed(c model.Change) {
	s.Changes()
	s.changes <- c
}

// Close implements model.Source.
func (s *Source) Close() error { return s.note("Close") }

// Segments implements model.SegmentReader.
func (s *Source) Segments(_ context.Context, tp model.TopicPartition) ([]model.Segment, error) {
	return append([]model.Segment(nil), s.Segs[tp]...), s.note("Segments", tp)
}

// Batches implements model.SegmentReader over BatchSet.
func (s *Source) Batches(_ context.Context, q model.BatchQuery) (model.BatchPage, error) {
	if err := s.note("Batches", q.TP, q.Base, q.First); err != nil {
		return model.BatchPage{}, err
	}
	all, ok := s.BatchSet[q.Base]
	if !ok {
		return model.BatchPage{}, model.ErrNoSegment
	}
	first := q.First
	for i, b := range all {
		if q.Seek == model.SeekOffset && b.Last >= q.AtOffset || q.Seek == model.SeekPosition && b.Position+b.Bytes > q.AtPosition {
			first = int64(i)
			break
		}
	}
	if q.Max == 0 {
		q.Max = 200
	}
	first = min(first, int64(len(all)))
	last := min(int64(len(all)), first+int64(q.Max))
	return model.BatchPage{Batches: append([]model.Batch(nil), all[first:last]...), First: first, Total: int64(len(all)), Whole: true}, nil
}

// BatchBytes implements model.SegmentReader.
func (s *Source) BatchBytes(_ context.Context, tp model.TopicPartition, base, pos int64) ([]byte, []model.Field, error) {
	return bytes.Clone(s.Raw), s.Fields, s.note("BatchBytes", tp, base, pos)
}

// IndexEntries implements model.SegmentReader.
func (s *Source) IndexEntries(_ context.Context, tp model.TopicPartition, base int64, k model.IndexKind, first int64, limit int) ([]model.IndexEntry, int64, error) {
	all := s.Entries[k]
	n := int64(len(all))
	first = min(first, n)
	return all[first:min(n, first+int64(limit))], n, s.note("IndexEntries", tp, base, k, first)
}

// Lookup implements model.SegmentReader.
func (s *Source) Lookup(_ context.Context, tp model.TopicPartition, t model.Target) (model.LookupResult, error) {
	return s.Found, s.note("Lookup", tp, t)
}

// Verify implements model.Verifier.
func (s *Source) Verify(ctx context.Context, q model.VerifyQuery, tell func(model.VerifyEvent)) (model.VerifySummary, error) {
	if err := s.note("Verify", q.Topic, q.Partition); err != nil {
		return model.VerifySummary{}, err
	}
	for _, e := range s.Verified {
		tell(e)
	}
	return s.Summary, ctx.Err()
}

// Count implements model.Counter.
func (s *Source) Count(_ context.Context, topics []string) error { return s.note("Count", topics) }

// Search implements model.Searcher: a substring in keys and values.
func (s *Source) Search(ctx context.Context, q model.SearchQuery, tell func(model.SearchEvent) bool) (model.SearchEnd, error) {
	if err := s.note("Search", q.Pattern); err != nil {
		return model.SearchEnd{}, err
	}
	end := model.SearchEnd{Reason: model.ReasonEnd, Whole: true}
	for _, tp := range q.Partitions {
		for i := range s.Recs[tp] {
			r := s.Recs[tp][i]
			if !bytes.Contains(r.Value, []byte(q.Pattern)) && !bytes.Contains(r.Key, []byte(q.Pattern)) {
				continue
			}
			end.Hits++
			if !tell(model.SearchEvent{Hit: &r, BytesDone: int64(i), BytesAll: int64(len(s.Recs[tp])), At: tp, Offset: r.Offset}) {
				return model.SearchEnd{Reason: model.ReasonCancelled, Hits: end.Hits}, ctx.Err()
			}
			if end.Hits == int64(max(1, q.MaxHits)) {
				return model.SearchEnd{Reason: model.ReasonLimit, Hits: end.Hits}, nil
			}
		}
	}
	return end, nil
}

// Tail implements model.Tailer: a tail over all canned records of the topics, which waits until its context ends.
func (s *Source) Tail(_ context.Context, q model.TailQuery) (model.Tail, error) {
	if err := s.note("Tail", q.Topics, q.Partitions); err != nil {
		return nil, err
	}
	t := &tail{stats: s.Stats}
	for _, topic := range q.Topics {
		for _, p := range s.Parts[topic] {
			t.recs = append(t.recs, s.Recs[p.TopicPartition]...)
		}
	}
	for _, tp := range q.Partitions {
		t.recs = append(t.recs, s.Recs[tp]...)
	}
	t.stats.Seen, t.stats.Matched = int64(len(t.recs)), int64(len(t.recs))
	return t, nil
}

type tail struct {
	recs  []model.Record
	stats model.TailStats
}

func (t *tail) Window(end int64, n int) ([]model.Record, int64) {
	if end < 0 || end > int64(len(t.recs)) {
		end = int64(len(t.recs))
	}
	from := max(0, end-int64(n))
	return t.recs[from:end], from
}

func (t *tail) Stats() model.TailStats { return t.stats }

func (t *tail) Wait(ctx context.Context, matched int64) error {
	if t.stats.Matched != matched {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (t *tail) Release(int64) {}
func (t *tail) Close() error  { return nil }

// Clients implements model.ClientReader.
func (s *Source) Clients(context.Context) ([]model.Client, error) {
	return append([]model.Client(nil), s.Conns...), s.note("Clients")
}

// APIs implements model.ClientReader.
func (s *Source) APIs(context.Context) ([]model.APIStat, error) {
	return append([]model.APIStat(nil), s.APISet...), s.note("APIs")
}

// Transactions implements model.TransactionReader.
func (s *Source) Transactions(context.Context) ([]model.Transaction, error) {
	return append([]model.Transaction(nil), s.Txns...), s.note("Transactions")
}

// Producers implements model.TransactionReader.
func (s *Source) Producers(_ context.Context, tp model.TopicPartition) ([]model.ProducerState, error) {
	return append([]model.ProducerState(nil), s.Writers[tp]...), s.note("Producers", tp)
}
