package logdir

import (
	"path/filepath"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// readAll reads a partition in pages of an odd size.
func readAll(t *testing.T, d *Dir, q model.RecordQuery) []model.Record {
	t.Helper()
	q.From, q.Max = model.FromStart, 97
	var all []model.Record
	for range 100_000 {
		page, err := d.Records(t.Context(), q)
		must(t, err)
		for _, f := range page.Faults {
			t.Errorf("%s: fault: %+v", q.TP, f)
		}
		all = append(all, page.Records...)
		if page.AtEnd {
			return all
		}
		if page.Next <= q.From {
			t.Fatalf("%s: page from %d goes on at %d", q.TP, q.From, page.Next)
		}
		q.From = page.Next
	}
	t.Fatal("no end")
	return nil
}

// TestRecordsAreWhatKafkaRead holds every record, and what is committed of them, against Kafka's own consumer.
func TestRecordsAreWhatKafkaRead(t *testing.T) {
	eachArchive(t, func(t *testing.T, a archive) {
		d := openArchive(t, a, Options{})
		want := map[model.TopicPartition][]trueRecord{}
		lines(t, filepath.Join(a.truth, "records.ndjson.gz"), func(r trueRecord) { want[r.tp()] = append(want[r.tp()], r) })
		committed := map[model.TopicPartition]map[int64]bool{}
		lines(t, filepath.Join(a.truth, "committed.ndjson.gz"), func(r trueRecord) {
			if committed[r.tp()] == nil {
				committed[r.tp()] = map[int64]bool{}
			}
			committed[r.tp()][r.Offset] = true
		})
		n := 0
		for tp, records := range want {
			got := readAll(t, d, model.RecordQuery{TP: tp})
			if a.name == "killed" { // after its recovery the broker wrote more
				records = upTo(records, endOf(t, d, tp))
			}
			if len(got) != len(records) {
				t.Errorf("%s: %d records, want %d", tp, len(got), len(records))
				continue
			}
			for i, r := range records {
				if diff := r.differs(got[i]); diff != "" {
					t.Errorf("%s: record %d: %s", tp, i, diff)
				}
				n++
			}
			if a.name == "killed" {
				continue // what was undecided then was decided after it
			}
			some := readAll(t, d, model.RecordQuery{TP: tp, Committed: true})
			if len(some) != len(committed[tp]) {
				t.Errorf("%s: %d committed records, want %d", tp, len(some), len(committed[tp]))
			}
			for _, r := range some {
				if !committed[tp][r.Offset] {
					t.Errorf("%s: offset %d is not committed", tp, r.Offset)
				}
			}
		}
		if n < 100 {
			t.Errorf("held %d records against the truth", n)
		}
	})
}

func upTo(records []trueRecord, end int64) []trueRecord {
	for i, r := range records {
		if r.Offset >= end {
			return records[:i]
		}
	}
	return records
}

func endOf(t *testing.T, d *Dir, tp model.TopicPartition) int64 {
	t.Helper()
	_, end, err := d.Bounds(t.Context(), tp)
	must(t, err)
	return end
}

// TestAcknowledgedIsThere holds what a killed broker had acknowledged against what lies on its disk.
func TestAcknowledgedIsThere(t *testing.T) {
	a := unpack(t, "killed")
	d := openArchive(t, a, Options{})
	got := map[model.TopicPartition]map[int64]model.Record{}
	n := 0
	lines(t, filepath.Join(a.path, "truth", "acked.ndjson.gz"), func(r trueRecord) {
		if got[r.tp()] == nil {
			got[r.tp()] = map[int64]model.Record{}
			for _, rec := range readAll(t, d, model.RecordQuery{TP: r.tp()}) {
				got[r.tp()][rec.Offset] = rec
			}
		}
		rec, ok := got[r.tp()][r.Offset]
		if !ok || text(rec.Key) != textOf(r.Key) || text(rec.Value) != textOf(r.Value) || rec.Timestamp != r.Timestamp {
			t.Errorf("%s@%d was acknowledged, and is not there or another one", r.tp(), r.Offset)
		}
		n++
	})
	if n < 100 {
		t.Errorf("held %d records against the truth", n)
	}
}

type truePartition struct {
	Topic            string
	Partition        int32
	TopicID          string `json:"topicId"`
	LogStart         int64
	HighWatermark    int64
	LastStable       int64
	LeaderEpoch      int32
	Records          int64
	CommittedRecords int64
	Replicas         []struct {
		LogDir string
		Size   int64
		Future bool
	}
}

func TestPartitionsAreWhatKafkaSaid(t *testing.T) {
	eachArchive(t, func(t *testing.T, a archive) {
		if a.name == "killed" {
			t.Log("the truth is of after its recovery: offsets are held in TestRecordsAreWhatKafkaRead")
		}
		d := openArchive(t, a, Options{})
		must(t, d.Count(t.Context(), nil))
		rows := map[model.TopicPartition]model.Partition{}
		left := 0
		topics := map[string]model.Topic{}
		list, err := d.Topics(t.Context())
		must(t, err)
		for _, topic := range list {
			topics[topic.Name] = topic
			parts, err := d.Partitions(t.Context(), topic.Name)
			must(t, err)
			for _, p := range parts {
				if p.Err != nil {
					t.Errorf("%s: %v", p.TopicPartition, p.Err)
				}
				if p.State == model.Live {
					rows[p.TopicPartition] = p
				} else {
					left++
				}
			}
		}
		for _, w := range load[[]truePartition](t, filepath.Join(a.truth, "partitions.json")) {
			tp := model.TopicPartition{Topic: w.Topic, Partition: w.Partition}
			p, ok := rows[tp]
			if !ok {
				t.Errorf("%s is not listed", tp)
				continue
			}
			if got := topics[w.Topic].ID; got != w.TopicID {
				t.Errorf("%s: topic id %s, want %s", tp, got, w.TopicID)
			}
			if p.LogStart != w.LogStart {
				t.Errorf("%s: log start %d, want %d", tp, p.LogStart, w.LogStart)
			}
			if a.name == "killed" {
				if p.LogEnd > w.HighWatermark {
					t.Errorf("%s: log end %d beyond %d after recovery", tp, p.LogEnd, w.HighWatermark)
				}
				continue
			}
			size := int64(0)
			for _, r := range w.Replicas {
				if !r.Future {
					size = r.Size
				}
			}
			if p.LogEnd != w.HighWatermark || p.LastStable != w.LastStable || p.Bytes != size || p.Records != model.Exactly(w.Records) {
				t.Errorf("%s: end %d, stable %d, bytes %d, records %v; want %d, %d, %d, %d", tp,
					p.LogEnd, p.LastStable, p.Bytes, p.Records, w.HighWatermark, w.LastStable, size, w.Records)
			}
			if a.name != "two-dirs" && p.LeaderEpoch != w.LeaderEpoch && w.Topic != layout.MetadataTopic {
				t.Errorf("%s: leader epoch %d, want %d", tp, p.LeaderEpoch, w.LeaderEpoch)
			}
		}
		if a.name == "two-dirs" && left != 2 {
			t.Errorf("%d leftovers, want a future and a deleted one", left)
		}
	})
}

type trueTime struct {
	Topic     string
	Partition int32
	Time      int64
	Offset    *int64
	Timestamp *int64
}

func TestByTimeIsWhatKafkaAnswered(t *testing.T) {
	eachArchive(t, func(t *testing.T, a archive) {
		d := openArchive(t, a, Options{})
		for _, q := range load[[]trueTime](t, filepath.Join(a.truth, "by-time.json")) {
			tp := model.TopicPartition{Topic: q.Topic, Partition: q.Partition}
			offset, found, err := d.AtTime(t.Context(), tp, q.Time)
			must(t, err)
			if a.name == "killed" && (q.Offset == nil || *q.Offset >= endOf(t, d, tp)) {
				continue
			}
			if found != (q.Offset != nil) || found && offset != *q.Offset {
				t.Errorf("%s at %d: %d %v, want %v", tp, q.Time, offset, found, q.Offset)
			}
		}
	})
}

type trueGroup struct {
	Group    string
	Type     string
	Protocol string
	State    string
	Assignor string
	Members  []struct {
		Member     string
		Instance   *string
		Client     string
		Host       string
		Assignment []string
	}
	Offsets []struct {
		Topic       string
		Partition   int32
		Offset      int64
		LeaderEpoch *int32
		Metadata    string
	}
}

func TestGroupsAreWhatKafkaSaid(t *testing.T) {
	eachArchive(t, func(t *testing.T, a archive) {
		d := openArchive(t, a, Options{})
		list, err := d.Groups(t.Context())
		must(t, err)
		got := map[string]model.Group{}
		for _, g := range list {
			got[g.ID] = g
		}
		want := load[[]trueGroup](t, filepath.Join(a.truth, "groups.json"))
		if len(want) != len(got) {
			t.Errorf("%d groups, want %d", len(got), len(want))
		}
		for _, w := range want {
			g, ok := got[w.Group]
			if !ok {
				t.Errorf("%s is missing", w.Group)
				continue
			}
			if one, err := d.Group(t.Context(), w.Group); err != nil || one.State != g.State || len(one.Offsets) != len(g.Offsets) {
				t.Errorf("%s alone is %+v, %v", w.Group, one, err)
			}
			checkGroup(t, g, w)
		}
		if _, err := d.Group(t.Context(), "nobody"); err == nil {
			t.Error("a group that is not there is found")
		}
	})
}

func checkGroup(t *testing.T, g model.Group, w trueGroup) {
	t.Helper()
	if string(g.State) != w.State || g.Type != w.Type {
		t.Errorf("%s: %s %s, want %s %s", g.ID, g.Type, g.State, w.Type, w.State)
	}
	if len(g.Members) != len(w.Members) {
		t.Errorf("%s: %d members, want %d", g.ID, len(g.Members), len(w.Members))
	}
	members := map[string]model.Member{}
	for _, m := range g.Members {
		members[m.ID] = m
	}
	for _, m := range w.Members {
		o, ok := members[m.Member]
		if !ok || o.Client != m.Client || o.Host != m.Host || len(o.Assignment) != len(m.Assignment) {
			t.Errorf("%s: member %+v, want %+v", g.ID, o, m)
			continue
		}
		for i, tp := range o.Assignment {
			if tp.String() != m.Assignment[i] {
				t.Errorf("%s: %s has %s, want %s", g.ID, m.Member, tp, m.Assignment[i])
			}
		}
	}
	if g.Type == "Share" {
		return
	}
	offsets := map[model.TopicPartition]model.GroupOffset{}
	for _, o := range g.Offsets {
		offsets[o.TopicPartition] = o
	}
	if len(offsets) != len(w.Offsets) {
		t.Errorf("%s: %d offsets, want %d", g.ID, len(offsets), len(w.Offsets))
	}
	for _, o := range w.Offsets {
		have := offsets[model.TopicPartition{Topic: o.Topic, Partition: o.Partition}]
		if have.Committed != o.Offset || have.Metadata != o.Metadata || o.LeaderEpoch != nil && have.LeaderEpoch != *o.LeaderEpoch {
			t.Errorf("%s: %s-%d is %+v, want %+v", g.ID, o.Topic, o.Partition, have, o)
		}
	}
}
