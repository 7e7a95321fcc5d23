package groups

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

func TestValuesReadBackAsWritten(t *testing.T) {
	c := Committed{Commit: model.Commit{Offset: 1 << 60, LeaderEpoch: 7, Metadata: "m\x00\xff"}, At: 5, Expires: model.NoTime}
	if got, err := parseCommitted(appendCommitted(nil, c)); err != nil || got != c {
		t.Errorf("offset: %+v, %v", got, err)
	}
	tp := at(strings.Repeat("t", maxTopic), 1<<31-1)
	group := strings.Repeat("g", maxGroupID)
	key := appendOffsetKey(nil, group, tp)
	if len(key) > 32768 {
		t.Errorf("longest key has %d bytes, more than bbolt takes", len(key))
	}
	if g, p, err := parseOffsetKey(key); err != nil || g != group || p != tp {
		t.Errorf("key: %q %v %v", g, p, err)
	}
	g := groupRecord{EmptySince: model.NoTime, Generation: 3, Type: "Classic", ProtocolType: "consumer", Protocol: "range"}
	if got, err := parseGroupRecord(appendGroupRecord(nil, g)); err != nil || got != g {
		t.Errorf("group: %+v, %v", got, err)
	}
	m := map[string]string{"retention.ms": "60000", "cleanup.policy": "compact,delete", "": ""}
	if got, err := parseConfigs(appendConfigs(nil, m)); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("configs: %v, %v", got, err)
	}
	e := model.JournalEntry{Group: "g", At: 9, Who: "me@here", Where: "-10", UndoOf: 1, Undone: 3, Rows: []model.PlanRow{
		{TopicPartition: at("t", 1), From: 5, To: model.Unknown, Change: model.Exactly(-7), Note: "n", LeaderEpoch: -1, FromEpoch: 2, FromMetadata: "x", Metadata: "y"},
	}}
	if got, err := parseJournal(appendJournal(nil, e)); err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("journal: %+v, %v", got, err)
	}
}

func TestGroupsWithCommonPrefixAreApart(t *testing.T) {
	a, b := appendGroupPrefix(nil, "a"), appendOffsetKey(nil, "ab", at("t", 0))
	if bytes.HasPrefix(b, a) {
		t.Error("the keys of group ab begin like those of group a")
	}
}

// fuzzRoundTrip checks that whatever parses encodes to the same bytes.
func fuzzRoundTrip[T any](f *testing.F, parse func([]byte) (T, error), encode func([]byte, T) []byte) {
	f.Add([]byte{})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := parse(b)
		if err != nil {
			return
		}
		if got := encode(nil, v); !bytes.Equal(got, b) {
			t.Errorf("%x parsed as %+v, encoded as %x", b, v, got)
		}
	})
}

func FuzzCommitted(f *testing.F) {
	f.Add(appendCommitted(nil, Committed{Commit: model.Commit{Offset: 7, Metadata: "m"}}))
	fuzzRoundTrip(f, parseCommitted, appendCommitted)
}

func FuzzGroupRecord(f *testing.F) {
	f.Add(appendGroupRecord(nil, groupRecord{Type: "Classic", Protocol: "range"}))
	fuzzRoundTrip(f, parseGroupRecord, appendGroupRecord)
}

func FuzzConfigs(f *testing.F) {
	f.Add(appendConfigs(nil, map[string]string{"a": "1", "b": "2"}))
	fuzzRoundTrip(f, parseConfigs, appendConfigs)
}

func FuzzJournal(f *testing.F) {
	f.Add(appendJournal(nil, model.JournalEntry{Who: "w", Rows: []model.PlanRow{{From: 1, To: 2, Note: "n"}}}))
	fuzzRoundTrip(f, parseJournal, appendJournal)
}

func FuzzOffsetKey(f *testing.F) {
	type key struct {
		group string
		tp    model.TopicPartition
	}
	f.Add(appendOffsetKey(nil, "g", at("t", 1)))
	fuzzRoundTrip(f, func(b []byte) (key, error) {
		g, tp, err := parseOffsetKey(b)
		return key{g, tp}, err
	}, func(dst []byte, k key) []byte { return appendOffsetKey(dst, k.group, k.tp) })
}

// FuzzCheckFile feeds the walk over a bbolt file with damaged ones: it must say so, and never panic or run away.
func FuzzCheckFile(f *testing.F) {
	whole := sample(f, 300)
	f.Add(uint32(0), byte(1), uint32(len(whole)))
	f.Add(uint32(4096*3+20), byte(0xff), uint32(len(whole)))
	f.Add(uint32(5), byte(0), uint32(len(whole)/4))
	f.Fuzz(func(t *testing.T, pos uint32, x byte, size uint32) {
		b := bytes.Clone(whole[:min(int(size), len(whole))])
		if int(pos) < len(b) {
			b[pos] ^= x
		}
		_, _, _ = checkFile(bytes.NewReader(b), int64(len(b)))
	})
}
