package meta

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// truth is a group as Kafka's admin client described it.
type truth struct {
	Group, Type, State, Assignor string
	Members                      []struct {
		Member, Client, Host string
		Instance             *string
		Assignment           []string
	}
	Offsets []struct {
		Topic       string
		Partition   int32
		Offset      *int64
		StartOffset *int64
		LeaderEpoch *int32
		Metadata    string
	}
}

func readTruth(t *testing.T, dir string) []truth {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", dir, "groups.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []truth
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// groupRecord makes of a stored record what Apply takes.
func groupRecord(s stored) GroupRecord {
	return GroupRecord{
		Partition: s.partition, Offset: s.rec.Offset, Timestamp: s.rec.Timestamp, Key: s.rec.Key, Value: s.rec.Value,
		Transactional: s.head.Transactional(), ProducerID: s.head.ProducerID, Control: s.head.Control(),
	}
}

// replayed applies a directory's records.
func replayed(t *testing.T, dir string) *Groups {
	t.Helper()
	var g Groups
	for _, s := range logged(t, dir, layout.OffsetsTopic) {
		if err := g.Apply(groupRecord(s)); err != nil {
			t.Fatalf("%s@%d: %v", s.file, s.rec.Offset, err)
		}
	}
	return &g
}

func TestGroupsAreWhatTheBrokerSaid(t *testing.T) {
	for _, dir := range []string{"clean", "older", "killed"} {
		t.Run(dir, func(t *testing.T) {
			g := replayed(t, dir)
			if dir == "clean" {
				for _, s := range logged(t, dir, layout.ShareTopic) {
					if err := g.ApplyShare(s.rec.Key, s.rec.Value); err != nil {
						t.Fatal(err)
					}
				}
			}
			have := g.List(topicNames(t, dir))
			want := readTruth(t, dir)
			if len(have) != len(want) || g.Len() != len(want) {
				t.Errorf("%d groups, Len %d, want %d", len(have), g.Len(), len(want))
			}
			for _, w := range want {
				i := slices.IndexFunc(have, func(m model.Group) bool { return m.ID == w.Group })
				if i < 0 {
					t.Errorf("%s is missing", w.Group)
					continue
				}
				sameGroup(t, have[i], w)
			}
		})
	}
}

func sameGroup(t *testing.T, have model.Group, want truth) {
	t.Helper()
	if string(have.State) != want.State || have.Type != want.Type || have.Protocol != want.Assignor {
		t.Errorf("%s is %s %s %q, want %s %s %q", have.ID, have.Type, have.State, have.Protocol, want.Type, want.State, want.Assignor)
	}
	if len(have.Members) != len(want.Members) {
		t.Errorf("%s has %d members, want %d", have.ID, len(have.Members), len(want.Members))
	}
	owner := map[string]string{}
	for _, w := range want.Members {
		i := slices.IndexFunc(have.Members, func(m model.Member) bool { return m.ID == w.Member })
		if i < 0 {
			t.Errorf("%s: member %s is missing", have.ID, w.Member)
			continue
		}
		m := have.Members[i]
		instance := ""
		if w.Instance != nil {
			instance = *w.Instance
		}
		var assigned []string
		for _, tp := range m.Assignment {
			assigned = append(assigned, tp.String())
			owner[tp.String()] = m.ID
		}
		if m.Client != w.Client || m.Host != w.Host || m.Instance != instance || !reflect.DeepEqual(assigned, w.Assignment) {
			t.Errorf("%s: member %+v, want %+v", have.ID, m, w)
		}
	}
	if len(have.Offsets) != len(want.Offsets) {
		t.Errorf("%s has %d offsets, want %d: %+v", have.ID, len(have.Offsets), len(want.Offsets), have.Offsets)
		return
	}
	for i, w := range want.Offsets {
		h := have.Offsets[i]
		epoch, offset := int32(-1), int64(-1)
		if w.LeaderEpoch != nil {
			epoch = *w.LeaderEpoch
		}
		if w.Offset != nil {
			offset = *w.Offset
		} else if w.StartOffset != nil {
			offset = *w.StartOffset
		}
		if h.Topic != w.Topic || h.Partition != w.Partition || h.Committed != offset || h.LeaderEpoch != epoch || h.Metadata != w.Metadata {
			t.Errorf("%s: row %+v, want %+v at %d epoch %d", have.ID, h, w, offset, epoch)
		}
		if h.Member != owner[h.TopicPartition.String()] || h.LogEnd != model.Unknown || h.LogStart != model.Unknown {
			t.Errorf("%s: row %+v", have.ID, h)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	var records []GroupRecord
	for _, s := range logged(b, "older", layout.OffsetsTopic) {
		records = append(records, groupRecord(s))
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		var g Groups
		for _, r := range records {
			if err := g.Apply(r); err != nil {
				b.Fatal(err)
			}
		}
		n += len(records)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "records/s")
}
