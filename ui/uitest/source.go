package uitest

import (
	"fmt"
	"sync"
	"time"

	"github.com/strata-kafka/strata/model"
)

// Source is a model.Source with every ability, made of canned data. Fields may be set before use; a field Fail, when
// not nil, is asked first by each method, by its name. It is safe for concurrent use as long as fields are not changed.
type Source struct {
	Is       model.Info
	TopicSet []model.Topic
	Parts    map[string][]model.Partition
	Recs     map[model.TopicPartition][]model.Record // ascending, whole partitions
	GroupSet []model.Group
	Segs     map[model.TopicPartition][]model.Segment
	BatchSet map[int64][]model.Batch // by the segment's base offset
	Raw      []byte                  // what BatchBytes returns
	Fields   []model.Field
	Entries  map[model.IndexKind][]model.IndexEntry
	Found    model.LookupResult
	Verified []model.VerifyEvent
	Summary  model.VerifySummary
	Plan     model.ResetPlan
	Result   model.ResetResult
	Journals []model.JournalEntry
	Configs  []model.ConfigEntry
	Preview  model.Preview
	Dirs     []model.DirOverview
	Stats    model.TailStats
	Demo     model.TrafficState
	Conns    []model.Client
	Runs     []model.DeliveryEvent
	APISet   []model.APIStat
	Txns     []model.Transaction
	Nodes    []model.Broker
	Voters   []model.QuorumNode
	Settings []model.ConfigEntry // what BrokerConfig returns
	Rules    []model.ACL
	Bounds   []model.Quota
	Schemas  []string
	Writers  map[model.TopicPartition][]model.ProducerState
	Fail     func(method string) error

	mu      sync.Mutex
	calls   []string
	changes chan model.Change
	once    sync.Once
}

// Calls returns what was asked for, in order: "Topics", "CreateTopic orders", "ApplyReset billing".
func (s *Source) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.calls...)
}

func (s *Source) note(method string, args ...any) error {
	s.mu.Lock()
	text := method
	for _, a := range args {
		text += fmt.Sprintf(" %v", a)
	}
	s.calls = append(s.calls, text)
	s.mu.Unlock()
	if s.Fail != nil {
		return s.Fail(method)
	}
	return nil
}

// NewSource returns a source with three topics, an internal one, two groups and some records, as of now.
func NewSource(now time.Time) *Source {
	ms := now.UnixMilli()
	s := &Source{
		Is:       model.Info{Kind: model.Embedded, Name: "127.0.0.1:9092", Live: true, Bytes: 2_113_929_216},
		Parts:    map[string][]model.Partition{},
		Recs:     map[model.TopicPartition][]model.Record{},
		Segs:     map[model.TopicPartition][]model.Segment{},
		BatchSet: map[int64][]model.Batch{},
	}
	week := model.Retention{Known: true, Delete: true, MS: 7 * 24 * 3600 * 1000, Bytes: -1}
	s.TopicSet = []model.Topic{
		{Name: "__consumer_offsets", Internal: true, Partitions: 50, Records: model.Exactly(12), Bytes: 2048, Newest: ms - 60_000, Retention: model.Retention{Known: true, Compact: true}},
		{Name: "audit.log", Partitions: 1, Records: model.Exactly(0), Newest: model.NoTime, Retention: model.Retention{Known: true, Delete: true, MS: -1, Bytes: -1}},
		{Name: "orders", ID: "b2sLqCT5SSS5QkZXaZ0NLA", Partitions: 3, Records: model.Exactly(4_812_339), Bytes: 2_040_109_466, Newest: ms, Appended: 1200, Retention: week, Replicas: 1},
		{Name: "payments", Partitions: 3, Records: model.About(120_004), Bytes: 63_963_136, Newest: ms - 2000, Retention: week, Replicas: 1},
	}
	for _, topic := range s.TopicSet {
		for n := range min(topic.Partitions, 3) {
			s.addPartition(topic, int32(n), ms)
		}
	}
	s.addGroups(ms)
	return s
}

func (s *Source) addPartition(t model.Topic, n int32, ms int64) {
	tp := model.TopicPartition{Topic: t.Name, Partition: n}
	p := model.Partition{
		TopicPartition: tp, Newest: t.Newest, Leader: 1, LeaderEpoch: 3, Replicas: []int32{1}, ISR: []int32{1},
		Dir: "/data/" + tp.String(), Segments: 3, Records: model.Exactly(0), Bytes: t.Bytes / int64(max(1, t.Partitions)),
	}
	if t.Newest != model.NoTime {
		p.LogStart, p.HighWatermark, p.LastStable, p.LogEnd = 3_904_112, 4_812_339, 4_812_301, 4_812_339
		p.Records = model.Exactly(908_227)
		s.addSegments(tp, ms)
		s.addRecords(tp, ms)
	}
	s.Parts[t.Name] = append(s.Parts[t.Name], p)
}

func (s *Source) addSegments(tp model.TopicPartition, ms int64) {
	const hour = 3600 * 1000
	bases := []int64{3_904_112, 4_488_002, 4_790_000}
	sizes := []int64{267_386_880, 268_435_456, 50_331_648}
	for i, base := range bases {
		seg := model.Segment{
			TopicPartition: tp, Base: base, Last: 4_812_338, Records: model.Exactly(4_812_339 - base), Batches: model.Exactly(200),
			Bytes: sizes[i], Inflated: 3 * sizes[i], IndexEntries: 4096, TimeEntries: 4000, TxnEntries: 1,
			FirstTimestamp: ms - int64(10-3*i)*hour, LastTimestamp: ms - int64(7-3*i)*hour, State: model.SegmentSealed,
			Leaves: ms + int64(1+i)*hour, Rule: "retention.ms", Path: fmt.Sprintf("/data/%s/%020d.log", tp, base),
		}
		if i < len(bases)-1 {
			seg.Last = bases[i+1] - 1
			seg.Records = model.Exactly(bases[i+1] - base)
		} else {
			seg.State, seg.Leaves, seg.Rule, seg.LastTimestamp = model.SegmentActive, model.NoTime, "active", ms
		}
		s.Segs[tp] = append(s.Segs[tp], seg)
		s.addBatches(base, seg.FirstTimestamp)
	}
}

func (s *Source) addBatches(base, ms int64) {
	if s.BatchSet[base] != nil {
		return
	}
	pos := int64(0)
	for i := range int64(200) {
		b := model.Batch{
			Position: pos, Base: base + 500*i, Last: base + 500*i + 499, Count: 500, Bytes: 16_482, Inflated: 52_000, Codec: "zstd",
			Magic: 2, FirstTimestamp: ms + i*1000, MaxTimestamp: ms + i*1000 + 88, ProducerID: 1000, BaseSequence: int32(500 * i),
			LeaderEpoch: 3, DeleteHorizon: model.NoTime, CRC: 0x1a2b3c4d, CRCComputed: 0x1a2b3c4d, Valid: true,
		}
		switch i {
		case 1:
			b.Last, b.Count, b.Bytes, b.Codec, b.Control, b.Transactional = b.Base, 1, 78, "none", "commit", true
		case 2:
			b.Valid, b.CRCComputed, b.Codec = false, 0x99887766, "lz4"
		}
		pos += b.Bytes
		s.BatchSet[base] = append(s.BatchSet[base], b)
	}
}

func (s *Source) addRecords(tp model.TopicPartition, ms int64) {
	base := int64(4_812_339 - 1000)
	for i := range int64(1000) {
		r := model.Record{
			TopicPartition: tp, Offset: base + i, Timestamp: ms - 1000 + i, Key: fmt.Appendf(nil, "user-%d", i%97),
			Value:       fmt.Appendf(nil, `{"type":"paid","amount":%d.50,"id":9223372036854775807}`, i),
			Headers:     []model.Header{{Name: "trace", Value: []byte("a1")}, {Name: "trace", Value: []byte("a2")}},
			LeaderEpoch: 3, Batch: base + i/100*100, Segment: 4_790_000, Size: 90, ProducerID: model.NoProducer, Sequence: -1,
		}
		switch i % 100 {
		case 7:
			r.Value = nil
		case 8:
			r.Key, r.Value = nil, []byte("\x1b[31mhello\x1b]52;c;aGk=\a\u202e")
		case 9:
			r.Key, r.Value = []byte("注文-7"), []byte("")
		}
		s.Recs[tp] = append(s.Recs[tp], r)
	}
}

func (s *Source) addGroups(ms int64) {
	row := func(topic string, p int32, committed, lag int64) model.GroupOffset {
		return model.GroupOffset{
			TopicPartition: model.TopicPartition{Topic: topic, Partition: p}, Committed: committed, LeaderEpoch: 3, CommittedAt: ms - 5000,
			ExpiresAt: model.NoTime, LogStart: 3_904_112, LogEnd: 4_812_339, Lag: model.Exactly(lag),
		}
	}
	audit := row("orders", 2, 3_904_100, 908_227)
	audit.Lost = 12
	s.GroupSet = []model.Group{
		{ID: "audit", State: model.GroupEmpty, Type: "Classic", Offsets: []model.GroupOffset{audit}, Lag: model.Exactly(908_227)},
		{
			ID: "billing", State: model.GroupStable, Type: "Classic", Protocol: "range", Lag: model.Exactly(12),
			Members: []model.Member{{ID: "c1-7f", Client: "c1", Host: "127.0.0.1", Assignment: []model.TopicPartition{{Topic: "orders", Partition: 0}}}},
			Offsets: []model.GroupOffset{row("orders", 0, 4_812_327, 12), row("orders", 1, 4_812_339, 0)},
		},
	}
	s.Journals = []model.JournalEntry{{ID: 1, Group: "audit", At: ms - 3_600_000, Who: "ada@host", Where: "earliest", Rows: []model.PlanRow{
		{TopicPartition: model.TopicPartition{Topic: "orders", Partition: 2}, From: 4_000_000, To: 3_904_100, Change: model.Exactly(-95_900)},
	}}}
	s.Plan = model.ResetPlan{Group: "audit", Where: "earliest", Made: ms, Rows: []model.PlanRow{
		{TopicPartition: model.TopicPartition{Topic: "orders", Partition: 2}, From: 3_904_100, To: 3_904_112, Change: model.Exactly(12), LeaderEpoch: 3},
	}}
	s.Result = model.ResetResult{Journal: 2, Rows: []model.ResetRow{{TopicPartition: model.TopicPartition{Topic: "orders", Partition: 2}, Stored: 3_904_112, OK: true}}}
}
