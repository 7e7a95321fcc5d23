package logdir

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// The archive "zookeeper" is of Kafka 1.1.1: records of magic 0, 1 and 2, one partition with all three, an empty
// .kafka_cleanshutdown, and neither topic ids nor metadata. It was asked with the client of its day.
const zookeeperArchive = "zookeeper"

func TestZooKeeperBrokerIsReadAsItSaid(t *testing.T) {
	a := unpack(t, zookeeperArchive)
	d := openArchive(t, a, Options{})
	want, committed := map[model.TopicPartition][]trueRecord{}, map[model.TopicPartition][]trueRecord{}
	lines(t, filepath.Join(a.truth, "records.ndjson.gz"), func(r trueRecord) { want[r.tp()] = append(want[r.tp()], r) })
	lines(t, filepath.Join(a.truth, "committed.ndjson.gz"), func(r trueRecord) { committed[r.tp()] = append(committed[r.tp()], r) })
	for _, p := range load[[]truePartition](t, filepath.Join(a.truth, "partitions.json")) {
		tp := model.TopicPartition{Topic: p.Topic, Partition: p.Partition}
		start, end, err := d.Bounds(t.Context(), tp)
		must(t, err)
		internal := p.Topic == "__consumer_offsets" // the broker wrote on after it had been asked
		if start != p.LogStart || end != p.HighWatermark && !internal {
			t.Errorf("%s is %d to %d, want %d to %d", tp, start, end, p.LogStart, p.HighWatermark)
		}
		got := readAll(t, d, model.RecordQuery{TP: tp})
		if len(got) != len(want[tp]) && !internal || len(got) < len(want[tp]) {
			t.Errorf("%s: %d records, want %d", tp, len(got), len(want[tp]))
			continue
		}
		for i, r := range want[tp] {
			if diff := r.differs(got[i]); diff != "" {
				t.Errorf("%s: record %d: %s", tp, i, diff)
			}
		}
		some := readAll(t, d, model.RecordQuery{TP: tp, Committed: true})
		if len(some) != len(committed[tp]) && !internal {
			t.Errorf("%s: %d committed records, want %d", tp, len(some), len(committed[tp]))
		}
		for i, r := range committed[tp] {
			if i < len(some) && some[i].Offset != r.Offset {
				t.Errorf("%s: committed record %d is %d, want %d", tp, i, some[i].Offset, r.Offset)
			}
		}
	}
}

func TestZooKeeperBrokerIsSearchedByTime(t *testing.T) {
	a := unpack(t, zookeeperArchive)
	d := openArchive(t, a, Options{})
	asked := 0
	for _, q := range load[[]trueTime](t, filepath.Join(a.truth, "by-time.json")) {
		offset, found, err := d.AtTime(t.Context(), model.TopicPartition{Topic: q.Topic, Partition: q.Partition}, q.Time)
		must(t, err)
		if found != (q.Offset != nil) || found && offset != *q.Offset {
			t.Errorf("%s-%d at %d: %d %v, want %v", q.Topic, q.Partition, q.Time, offset, found, q.Offset)
		}
		asked++
	}
	if asked < 100 {
		t.Errorf("asked %d times", asked)
	}
}

func TestZooKeeperBrokerGroups(t *testing.T) {
	type commit struct {
		Group, Topic string
		Partition    int32
		Committed    int64
		Metadata     string
	}
	a := unpack(t, zookeeperArchive)
	d := openArchive(t, a, Options{})
	count := map[string]int{}
	for _, w := range load[[]commit](t, filepath.Join(a.truth, "commits.json")) {
		count[w.Group]++
		g, err := d.Group(t.Context(), w.Group)
		must(t, err)
		ok := false
		for _, o := range g.Offsets {
			ok = ok || o.Topic == w.Topic && o.Partition == w.Partition && o.Committed == w.Committed && o.Metadata == w.Metadata
		}
		if !ok {
			t.Errorf("%+v is not in %+v", w, g.Offsets)
		}
	}
	for id, n := range count {
		if g, err := d.Group(t.Context(), id); err != nil || len(g.Offsets) != n || g.State != model.GroupEmpty {
			t.Errorf("%s: %d offsets, %s, %v; want %d", id, len(g.Offsets), g.State, err, n)
		}
	}
}

// TestZooKeeperBrokerIsWhole: what a broker wrote and closed is neither damaged nor odd.
func TestZooKeeperBrokerIsWhole(t *testing.T) {
	d := openArchive(t, unpack(t, zookeeperArchive), Options{})
	sum, err := d.Verify(t.Context(), model.VerifyQuery{Partition: -1, Segment: model.Unknown}, func(e model.VerifyEvent) {
		if e.Fault != nil && e.Fault.Severity != model.SevInfo {
			t.Errorf("%+v", *e.Fault)
		}
	})
	must(t, err)
	if sum.Records < 1000 {
		t.Errorf("checked %d records", sum.Records)
	}
}

func TestZooKeeperBrokerOverview(t *testing.T) {
	d := openArchive(t, unpack(t, zookeeperArchive), Options{})
	over, err := d.Overview(t.Context())
	must(t, err)
	for name, want := range map[string]string{"mode": "ZooKeeper", "broker id": "0", "cluster id": "none", "last stop": "clean", "lock": "left behind"} {
		if got := factOf(over[0], name); got.Value != want || strings.Contains(got.Note, "killed") {
			t.Errorf("%s is %q (%s), want %q", name, got.Value, got.Note, want)
		}
	}
	if len(over[0].Faults) > 0 {
		t.Errorf("faults %+v", over[0].Faults)
	}
}
