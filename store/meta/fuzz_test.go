package meta

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/strata-kafka/strata/store/layout"
)

// again holds what was decoded of body against what its encoding decodes to.
func again(t *testing.T, s *schema, m Message, body []byte) {
	t.Helper()
	b := encode(s, m)
	r := reader{b: b}
	m2, err := s.read(&r, m.Version)
	if err != nil || m2.Rest != 0 || !reflect.DeepEqual(m.Fields, m2.Fields) && m.String() != m2.String() {
		t.Fatalf("%s\nencoded: %s, %v", m, m2, err)
	}
	if !bytes.Equal(encode(s, m2), b) {
		t.Fatalf("%s: its bytes do not stay", m)
	}
	if len(b) > len(body)-m.Rest {
		t.Fatalf("%s: %d bytes were %d", m, len(b), len(body)-m.Rest)
	}
}

// TestRecordsComeBackByteForByte encodes every message of the test data again.
func TestRecordsComeBackByteForByte(t *testing.T) {
	n := 0
	check := func(s *schema, m Message, err error, body []byte) {
		t.Helper()
		n++
		if err != nil || !bytes.Equal(encode(s, m), body) {
			t.Errorf("%s, %v: written otherwise than read", m, err)
		}
	}
	for _, dir := range []string{"clean", "older", "killed"} {
		for _, s := range logged(t, dir, layout.MetadataTopic) {
			if s.head.Control() {
				m, err := ParseControl(s.rec.Key, s.rec.Value)
				check(controlSchemas()[m.Type], m, err, s.rec.Value[2:])
				continue
			}
			m, err := ParseMetadataRecord(s.rec.Value)
			check(clusterSchemas()[m.Type], m.Message, err, s.rec.Value[3:])
		}
		for _, s := range logged(t, dir, layout.OffsetsTopic) {
			if s.head.Control() || s.rec.Value == nil {
				continue
			}
			k, err := ParseGroupKey(s.rec.Key)
			if err != nil {
				t.Fatal(err)
			}
			m, err := ParseGroupValue(k, s.rec.Value)
			check(groupValueSchemas()[k.Version], m, err, s.rec.Value[2:])
		}
	}
	if n < 1000 {
		t.Errorf("%d messages only", n)
	}
}

// TestCheckpoints reads the snapshots of the metadata, which are segments by another name.
func TestCheckpoints(t *testing.T) {
	for dir, name := range map[string]string{"clean": "metadata.checkpoint.gz", "older": "bootstrap.checkpoint.gz"} {
		features := 0
		for _, s := range batches(t, gunzip(t, dir, name)) {
			if s.head.Control() {
				if words := ControlText(s.rec.Key, s.rec.Value); words == "" || words[:4] == "not " {
					t.Errorf("%s: %s", name, words)
				}
				continue
			}
			m, err := ParseMetadataRecord(s.rec.Value)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, ok := m.Body.(FeatureLevelRecord); ok {
				features++
			}
		}
		if features == 0 {
			t.Errorf("%s sets no feature", name)
		}
	}
}

func FuzzMetadataRecord(f *testing.F) {
	for _, s := range logged(f, "clean", layout.MetadataTopic) {
		f.Add(s.rec.Value)
	}
	for _, b := range golden(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMetadataRecord(b)
		if err != nil {
			return
		}
		again(t, clusterSchemas()[m.Type], m.Message, b)
		Text(layout.MetadataTopic, nil, b)
	})
}

func FuzzGroupRecord(f *testing.F) {
	for _, s := range logged(f, "clean", layout.OffsetsTopic) {
		f.Add(s.rec.Key, s.rec.Value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		Text(layout.OffsetsTopic, key, value)
		var g Groups
		err := g.Apply(GroupRecord{Key: key, Value: value, ProducerID: -1})
		list := g.List(nil)
		if err != nil && len(list) > 0 {
			t.Fatalf("%v, but %d groups", err, len(list))
		}
		k, err := ParseGroupKey(key)
		if err != nil {
			return
		}
		m, err := ParseGroupValue(k, value)
		if err != nil {
			return
		}
		again(t, groupValueSchemas()[k.Version], m, value[2:])
		if k.Commit() {
			c, err := ParseOffsetCommit(value)
			if err != nil || c.Offset != m.Fields.number("offset", 0) || c.Metadata != m.Fields.text("metadata") ||
				c.TopicID != m.Fields.id("topicId") || int64(c.LeaderEpoch) != m.Fields.number("leaderEpoch", -1) ||
				c.ExpiresAt != m.Fields.number("expireTimestamp", -1) {
				t.Fatalf("%+v, %v, but %s", c, err, m)
			}
		}
	})
}

func FuzzProtocol(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x00\x00\x01\x00\x06orders\xff\xff\xff\xff\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x01\x00\x00\x00\x01\x00\x06orders\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for id := range int16(2) {
			m, err := parseProtocol(id, b)
			if err == nil {
				m.Version = min(m.Version, 3)
				again(t, protocolSchemas()[id], m, b[2:])
			}
		}
		if a, _ := ParseAssignment(b); len(a.Partitions) > len(b) {
			t.Fatal("more partitions than bytes")
		}
	})
}

func FuzzTransaction(f *testing.F) {
	for _, s := range logged(f, "clean", layout.TransactionsTopic) {
		f.Add(s.rec.Key, s.rec.Value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		Text(layout.TransactionsTopic, key, value)
		m, err := parseValue(txnValueSchemas(), 0, value)
		if err != nil {
			return
		}
		again(t, txnValueSchemas()[0], m, value[2:])
		if _, err := ParseTransactionValue(value); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzShareRecord(f *testing.F) {
	for _, s := range logged(f, "clean", layout.ShareTopic) {
		f.Add(s.rec.Key, s.rec.Value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		Text(layout.ShareTopic, key, value)
		var g Groups
		g.ApplyShare(key, value)
		k, err := ParseShareKey(key)
		if err != nil {
			return
		}
		if m, err := parseValue(shareValueSchemas(), k.Version, value); err == nil {
			again(t, shareValueSchemas()[k.Version], m, value[2:])
		}
	})
}

func FuzzControl(f *testing.F) {
	for _, s := range logged(f, "clean", layout.MetadataTopic) {
		if s.head.Control() {
			f.Add(s.rec.Key, s.rec.Value)
		}
	}
	f.Add([]byte{0, 0, 0, 1}, []byte{0, 0, 0, 0, 0, 7})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		ControlText(key, value)
		if m, err := ParseControl(key, value); err == nil {
			again(t, controlSchemas()[m.Type], m, value[2:])
		}
	})
}
